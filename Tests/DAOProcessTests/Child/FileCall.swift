import DAOChildProcesses
import DAOFileCalls
import DAOTestSupport
import Foundation

/// A change of files that a program has asked the operating system for.
enum FileCall {
    case create(file: UInt64, name: String)
    case write(file: UInt64, offset: Int, bytes: [UInt8])
    /// The end of a write whose bytes are durable when it returns (`O_DSYNC`). It follows the write.
    case syncWrite(file: UInt64)
    case truncate(file: UInt64, length: Int)
    case sync(file: UInt64)
    /// The directory was synced.
    case syncNames
    case rename(from: String, to: String)
    case remove(name: String)
    case link(from: String, to: String)
    /// The file can be written without further calls.
    case map(file: UInt64)
    /// A text of the program.
    case mark(String)

    /// Returns the calls of a program on the files of a directory, in order.
    static func record(in place: Place, _ body: () throws -> Void) throws -> [FileCall] {
        let log = Place()
        let output = open(log.path("calls"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw ChildFailure("the calls cannot be recorded") }
        defer { close(output) }
        dao_calls_watch(place.directory.path)
        dao_calls_record(output)
        defer { dao_calls_watch(nil) }
        try body()
        dao_calls_record(-1)
        return try parse(Data(contentsOf: URL(fileURLWithPath: log.path("calls"))))
    }

    private static func parse(_ log: Data) throws -> [FileCall] {
        try log.withUnsafeBytes { log in
            var calls: [FileCall] = []
            var position = 0
            while position < log.count {
                guard log.count - position >= MemoryLayout<dao_record>.size else { throw ChildFailure("a record is cut") }
                let record = log.loadUnaligned(fromByteOffset: position, as: dao_record.self)
                position += MemoryLayout<dao_record>.size
                guard log.count - position >= Int(record.length) else { throw ChildFailure("a record is cut") }
                let bytes = UnsafeRawBufferPointer(rebasing: log[position..<position + Int(record.length)])
                position += bytes.count
                calls.append(try FileCall(record, bytes))
                if record.is_synced != 0 { calls.append(.syncWrite(file: record.file)) }
            }
            return calls
        }
    }

    private init(_ record: dao_record, _ bytes: UnsafeRawBufferPointer) throws {
        // Only the calls that have paths are asked for them: the bytes that are written are no text.
        func name(_ number: Int) -> String {
            URL(fileURLWithPath: String(decoding: bytes.split(separator: 0)[number], as: UTF8.self)).lastPathComponent
        }
        let file = record.file
        switch Int(record.kind) {
        case DAO_RECORD_CREATE: self = .create(file: file, name: name(0))
        case DAO_RECORD_WRITE: self = .write(file: file, offset: Int(record.offset), bytes: Array(bytes))
        case DAO_RECORD_TRUNCATE: self = .truncate(file: file, length: Int(record.offset))
        case DAO_RECORD_SYNC: self = .sync(file: file)
        case DAO_RECORD_SYNC_NAMES: self = .syncNames
        case DAO_RECORD_RENAME: self = .rename(from: name(0), to: name(1))
        case DAO_RECORD_REMOVE: self = .remove(name: name(0))
        case DAO_RECORD_LINK: self = .link(from: name(0), to: name(1))
        case DAO_RECORD_MAP: self = .map(file: file)
        case DAO_RECORD_MARK: self = .mark(String(decoding: bytes, as: UTF8.self))
        case let kind: throw ChildFailure("there is no call of kind \(kind)")
        }
    }
}
