import DAOCore
import Foundation

/// A file that cannot be imported: where, and what was expected there.
struct ImportError: Error, CustomStringConvertible {
    let description: String

    /// - Parameters:
    ///   - file: The file, as somebody has typed it.
    ///   - line: The line, from 1; nil for the whole file.
    ///   - column: The place in the line.
    ///   - what: What was found and expected.
    init(_ file: String, line: Int? = nil, column: String? = nil, _ what: String) {
        let place = ["'\(file)'"] + (line.map { ["line \($0)"] } ?? []) + (column.map { [$0] } ?? [])
        description = "\(place.joined(separator: ", ")): \(what); nothing was stored"
    }
}

/// Reads a file of UTF-8 in parts, and counts its lines. They end with LF, CR, or CR and LF.
struct ByteReader {
    /// The file, as somebody has typed it.
    let file: String
    /// The line of the next byte, from 1.
    private(set) var line = 1
    /// The character of the next byte in its line, from 1.
    private(set) var column = 1
    private let handle: FileHandle?
    private var buffer: [UInt8]
    private var position = 0
    private var last: UInt8 = 0

    /// Reads a file, without its byte order mark.
    ///
    /// - Throws: ``ImportError`` for a file that cannot be read, and for one that is no text of UTF-8 as its first bytes say.
    init(_ handle: FileHandle, file: String) throws {
        (self.handle, self.file, buffer) = (handle, file, [])
        // A pipe can give a byte at a time.
        while buffer.count < 4, case let part = try read(), !part.isEmpty { buffer += part }
        try begin()
    }

    /// Reads a text.
    init(_ bytes: [UInt8], file: String) throws {
        (handle, self.file, buffer) = (nil, file, bytes)
        try begin()
    }

    private mutating func begin() throws {
        if buffer.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        if buffer.starts(with: [0xFF, 0xFE]) || buffer.starts(with: [0xFE, 0xFF]) {
            throw ImportError(file, "it is UTF-16, and UTF-8 was expected; convert it, as in 'iconv -f UTF-16 -t UTF-8'")
        }
        if buffer.starts(with: Array("PK\u{3}\u{4}".utf8)) {
            throw ImportError(file, "it is a workbook or a compressed file; save its table as 'CSV UTF-8', or unpack it")
        }
    }

    private func read() throws -> [UInt8] {
        do {
            return try Array(handle?.read(upToCount: 1 << 16) ?? Data())
        } catch {
            throw ImportError(file, "it cannot be read; check that it is a file, and its permissions")
        }
    }

    /// The next byte, which stays the next; nil at the end.
    mutating func peek() throws -> UInt8? {
        if position == buffer.count {
            (buffer, position) = (try read(), 0)
            if buffer.isEmpty { return nil }
        }
        return buffer[position]
    }

    /// Takes the next byte; nil at the end.
    mutating func next() throws -> UInt8? {
        guard let byte = try peek() else { return nil }
        position += 1
        if byte == .lineFeed && last == .carriageReturn {
            column = 1
        } else if byte == .lineFeed || byte == .carriageReturn {
            (line, column) = (line + 1, 1)
        } else if byte & 0xC0 != 0x80 {
            column += 1
        }
        last = byte
        return byte
    }

    /// Takes the next byte if it is a given one.
    mutating func take(_ byte: UInt8) throws -> Bool {
        guard try peek() == byte else { return false }
        _ = try next()
        return true
    }

    /// Returns bytes of the file as text.
    ///
    /// - Throws: ``ImportError`` when they are not UTF-8.
    func text(_ bytes: [UInt8], line: Int, _ column: String? = nil) throws -> String {
        guard let text = bytes.withUnsafeBytes({ String(checking: $0) }) else {
            throw ImportError(
                file, line: line, column: column,
                "it is not UTF-8; save the file as 'CSV UTF-8', or convert it, as in 'iconv -f WINDOWS-1252 -t UTF-8'")
        }
        return text
    }
}

extension UInt8 {
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let quote = UInt8(ascii: "\"")
}
