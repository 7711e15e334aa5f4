import DAOTransport

/// Reads JSON objects: one in each line, which is JSON Lines, or the elements of one array, one after the other.
struct JSONReader {
    private var bytes: ByteReader
    private let limit: Int
    /// Whether the file is an array; nil before its first byte was read.
    private var isArray: Bool?
    private var isFirst = true

    /// - Parameters:
    ///   - bytes: The file.
    ///   - limit: The maximum size of an object in bytes, so that a bracket that is never closed does not read the whole file.
    init(_ bytes: ByteReader, limit: Int = 1 << 28) { (self.bytes, self.limit) = (bytes, limit) }

    /// Returns the members of the next object, and its line; nil at the end.
    ///
    /// - Throws: ``ImportError`` with the place of what is no JSON, or no object.
    mutating func object() throws -> (line: Int, members: [String: Json])? {
        try skipSpace()
        if isArray == nil { isArray = try bytes.take(UInt8(ascii: "[")) }
        guard isArray == true else {
            guard try bytes.peek() != nil else { return nil }
            return try parse { _, byte in byte == .lineFeed || byte == .carriageReturn }
        }
        if !isFirst {
            // As Foundation's decoder does, a comma before the closing bracket is accepted.
            try skipSpace()
            let hasMore = try bytes.take(UInt8(ascii: ","))
            try skipSpace()
            if try !hasMore && bytes.peek() != UInt8(ascii: "]") { throw problem("expected ',' or ']'") }
        }
        try skipSpace()
        if try bytes.take(UInt8(ascii: "]")) {
            try skipSpace()
            if try bytes.peek() != nil { throw problem("expected the end of the file after ']'") }
            // It stays at the end.
            isArray = false
            return nil
        }
        isFirst = false
        return try parse { depth, byte in depth == 0 && (byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]")) }
    }

    private mutating func parse(until isEnd: (_ depth: Int, UInt8) -> Bool) throws -> (line: Int, members: [String: Json]) {
        let (line, column) = (bytes.line, bytes.column)
        var text: [UInt8] = []
        var (depth, isString, isEscaped) = (0, false, false)
        while let byte = try bytes.peek() {
            if isString && isArray == true {
                if byte == .quote, !isEscaped { isString = false }
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            } else if isEnd(depth, byte) {
                break
            } else if byte == .quote {
                isString = true
            } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                depth += 1
            } else if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
                depth -= 1
            }
            text.append(byte)
            guard text.count <= limit else {
                throw ImportError(
                    bytes.file, line: line, column: "column \(column)",
                    "the object has more than \(counted(limit, "byte")); expected its end")
            }
            _ = try bytes.next()
        }
        do {
            guard case .object(let members) = try Json(locating: text) else {
                throw ImportError(bytes.file, line: line, column: "column \(column)", "expected a JSON object, as in {\"id\": 1}")
            }
            return (line, members)
        } catch let problem as JsonProblem {
            var reader = try ByteReader(Array(text.prefix(problem.position)), file: bytes.file)
            while try reader.next() != nil {}
            let isLine = isArray == false && problem.isAtEnd
            throw ImportError(
                bytes.file, line: line + reader.line - 1,
                column: "column \(reader.line == 1 ? column + reader.column - 1 : reader.column)",
                "expected \(problem.expected)\(isLine ? "; each line is an object, and objects in several lines stand in an array" : "")"
            )
        }
    }

    private mutating func skipSpace() throws {
        while let byte = try bytes.peek(), " \t\r\n".utf8.contains(byte) { _ = try bytes.next() }
    }

    private func problem(_ what: String) -> ImportError {
        ImportError(bytes.file, line: bytes.line, column: "column \(bytes.column)", what)
    }
}
