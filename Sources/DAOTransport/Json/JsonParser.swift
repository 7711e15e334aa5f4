import Foundation

extension Json {
    /// Parses a JSON text of any kind, fragments included.
    ///
    /// Like Foundation's decoder, it accepts a comma before a closing bracket, which the standard does not.
    /// An object in which a key occurs twice is an error: nobody can say which value was meant. Keys compare as
    /// Swift strings. The text is UTF-8, with or without a byte order mark, and at most 512 levels deep.
    ///
    /// - Throws: `DecodingError.dataCorrupted`, with the position of the byte and what was expected there.
    public init(parsing data: Data) throws {
        try self.init(parsing: Array(data))
    }

    /// Parses a JSON text. See ``init(parsing:)-(Data)``.
    public init(parsing text: String) throws {
        try self.init(parsing: Array(text.utf8))
    }

    private init(parsing bytes: [UInt8]) throws {
        do {
            try self.init(locating: bytes)
        } catch let problem as JsonProblem {
            let found = problem.isAtEnd ? "the text ended" : "there was something else"
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: [],
                    debugDescription: "At byte \(problem.position) of the JSON text \(found): expected \(problem.expected)."))
        }
    }

    /// Parses a part of a larger text. See ``init(parsing:)-(Data)``.
    ///
    /// - Throws: ``JsonProblem``.
    package init(locating bytes: [UInt8]) throws {
        var parser = JsonParser(bytes: bytes)
        self = try parser.parse()
    }
}

/// What is not as JSON asks for.
package struct JsonProblem: Error {
    /// The position of the byte.
    package let position: Int
    /// What was expected there.
    package let expected: String
    /// Whether the text has ended there.
    package let isAtEnd: Bool
}

/// Parses a JSON text, byte by byte.
struct JsonParser {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0
    private static let deepest = 512

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func parse() throws -> Json {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        let value = try parseValue()
        skipSpace()
        guard position == bytes.count else { throw failure("the end of the text") }
        return value
    }

    private mutating func parseValue() throws -> Json {
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return try nested { parser in try parser.parseObject() }
        case UInt8(ascii: "["): return try nested { parser in try parser.parseArray() }
        case UInt8(ascii: "\""): return .string(try parseString())
        case UInt8(ascii: "t"): return try parse(word: "true", as: .bool(true))
        case UInt8(ascii: "f"): return try parse(word: "false", as: .bool(false))
        case UInt8(ascii: "n"): return try parse(word: "null", as: .null)
        default: return try parseNumber()
        }
    }

    private mutating func nested(_ body: (inout JsonParser) throws -> Json) throws -> Json {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw failure("at most \(Self.deepest) levels of nesting") }
        return try body(&self)
    }

    private mutating func parseObject() throws -> Json {
        position += 1
        var members: [String: Json] = [:]
        while true {
            skipSpace()
            if take("}") { return .object(members) }
            guard peek == UInt8(ascii: "\"") else { throw failure("a key or '}'") }
            let start = position
            let key = try parseString()
            skipSpace()
            guard take(":") else { throw failure("':' after the key \"\(key)\"") }
            let count = members.count
            members[key] = try parseValue()
            guard members.count > count else {
                position = start
                throw failure("a key that the object does not have yet, not \"\(key)\" again")
            }
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw failure("',' or '}'") }
        }
    }

    private mutating func parseArray() throws -> Json {
        position += 1
        var elements: [Json] = []
        while true {
            skipSpace()
            if take("]") { return .array(elements) }
            elements.append(try parseValue())
            skipSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { throw failure("',' or ']'") }
        }
    }

    private mutating func parse(word: StaticString, as value: Json) throws -> Json {
        let text = word.description.utf8
        guard bytes[position...].starts(with: text) else { throw failure("a value") }
        position += text.count
        return value
    }

    private mutating func parseNumber() throws -> Json {
        let start = position
        while let byte = peek, Self.isPartOfNumber(byte) { position += 1 }
        let written = bytes[start..<position]
        guard Json.Number.isNumber(written) else {
            position = start
            throw failure("a value")
        }
        return .number(Json.Number(validated: String(decoding: written, as: UTF8.self)))
    }

    private static func isPartOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private mutating func parseString() throws -> String {
        let start = position
        position += 1
        var text: [UInt8] = []
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                guard let string = String(bytes: text, encoding: .utf8) else {
                    position = start
                    throw failure("a string of valid UTF-8")
                }
                return string
            case UInt8(ascii: "\\"):
                position += 1
                text.append(contentsOf: try parseEscape())
            case 0..<0x20:
                throw failure("no bare control character inside a string")
            default:
                text.append(byte)
                position += 1
            }
        }
        throw failure("the closing quote of a string")
    }

    private mutating func parseEscape() throws -> [UInt8] {
        guard let byte = peek else { throw failure("an escape") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return Array(String(Character(try parseScalar())).utf8)
        default:
            position -= 1
            throw failure("one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u")
        }
    }

    /// The scalar of `\uXXXX`, or of the two escapes that make a surrogate pair.
    private mutating func parseScalar() throws -> Unicode.Scalar {
        let first = try parseHex()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard (0xD800..<0xDC00).contains(first), take("\\"), take("u") else {
            throw failure("a pair of surrogates")
        }
        let second = try parseHex()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw failure("a pair of surrogates") }
        return scalar
    }

    private mutating func parseHex() throws -> UInt32 {
        guard position + 4 <= bytes.count else { throw failure("four hexadecimal digits") }
        var value: UInt32 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw failure("four hexadecimal digits") }
            value = value << 4 | UInt32(digit)
        }
        position += 4
        return value
    }

    private var peek: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: scalar) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private func failure(_ expected: String) -> JsonProblem {
        JsonProblem(position: position, expected: expected, isAtEnd: peek == nil)
    }
}
