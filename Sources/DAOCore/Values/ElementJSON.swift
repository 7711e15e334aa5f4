import Foundation

/// The JSON of one element of an embedded array.
enum ElementJSON: Decodable, Equatable {
    case null
    case integer(Int64)
    case unsigned(UInt64)
    case double(Double)
    case string(String)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = .unsigned(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else {
            self = .double(try container.decode(Double.self))
        }
    }
}

extension ElementJSON {

    /// Returns the elements of the JSON of an array of scalars.
    ///
    /// - Throws: An error when the text is not the JSON of such an array.
    static func elements(of json: String) throws -> [ElementJSON] {
        var json = json
        return try json.withUTF8 { bytes in
            var scanner = ElementScanner(rest: bytes[...])
            return scanner.elements()
        } ?? EmbeddedJSON.decode([ElementJSON].self, from: json)
    }

    /// Returns the canonical JSON of an array of scalars.
    static func array(of elements: [ElementJSON]) -> String {
        var json: [UInt8] = []
        json.reserveCapacity(2 + 8 * elements.count)
        json.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { json.append(UInt8(ascii: ",")) }
            switch element {
            case .null: json += "null".utf8
            case .integer(let value): json += String(value).utf8
            case .unsigned(let value): json += String(value).utf8
            case .string(let value): CanonicalJSON.append(value, to: &json)
            case .double(let value) where value.isFinite: json += CanonicalJSON.number(value).utf8
            // The texts that are read as these numbers.
            case .double(let value): json += (value.isNaN ? "\"NaN\"" : value < 0 ? "\"-Infinity\"" : "\"Infinity\"").utf8
            }
        }
        json.append(UInt8(ascii: "]"))
        return String(decoding: json, as: UTF8.self)
    }
}

/// Reads the arrays that applications store most: of plain strings, of whole numbers and of fractions. All others are left to
/// Foundation, whose decoder costs twenty times as much for a short array.
private struct ElementScanner {
    var rest: Slice<UnsafeBufferPointer<UInt8>>

    /// Returns the elements, or nil when the text is no array, or one for Foundation to decide.
    mutating func elements() -> [ElementJSON]? {
        var elements: [ElementJSON] = []
        guard skip("[") else { return nil }
        if skip("]") { return rest.isEmpty ? elements : nil }
        repeat {
            guard let element = element() else { return nil }
            elements.append(element)
        } while skip(",")
        return skip("]") && rest.isEmpty ? elements : nil
    }

    private mutating func element() -> ElementJSON? {
        switch rest.first {
        case UInt8(ascii: "\""): string()
        case UInt8(ascii: "n"): "null".unicodeScalars.allSatisfy { skip($0) } ? .null : nil
        default: number()
        }
    }

    private mutating func string() -> ElementJSON? {
        rest.removeFirst()
        guard let end = rest.firstIndex(where: { !$0.isPlainInJSON }), rest[end] == UInt8(ascii: "\"") else { return nil }
        defer { rest = rest[(end + 1)...] }
        return .string(String(decoding: rest[..<end], as: UTF8.self))
    }

    private mutating func number() -> ElementJSON? {
        let token = rest.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "]") }
        rest = rest[token.endIndex...]
        let isNegative = token.first == UInt8(ascii: "-")
        let digits = isNegative ? token.dropFirst() : token
        let whole = digits.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !whole.isEmpty, whole.first != UInt8(ascii: "0") || whole.count == 1 else { return nil }
        guard whole.endIndex == digits.endIndex else {
            // A fraction or an exponent, which can stand for a whole number too.
            let fraction = digits[whole.endIndex...].dropFirst()
            guard digits[whole.endIndex] == UInt8(ascii: "."), !fraction.isEmpty,
                fraction.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
                let value = Double(String(decoding: token, as: UTF8.self)), value != value.rounded()
            else { return nil }
            return .double(value)
        }
        guard whole.count < 19 else { return nil }
        let value = whole.reduce(0 as Int64) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        return isNegative && value == 0 ? nil : .integer(isNegative ? -value : value)
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }
}
