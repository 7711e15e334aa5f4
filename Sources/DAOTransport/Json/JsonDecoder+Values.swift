import Foundation

extension JsonDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool {
        if case .null = value { true } else { false }
    }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .bool(let value) = value else { throw mismatch(type) }
        return value
    }

    func decode(_ type: String.Type) throws -> String {
        guard case .string(let value) = value else { throw mismatch(type) }
        return value
    }

    func decode(_ type: Double.Type) throws -> Double { try float() }
    func decode(_ type: Float.Type) throws -> Float { try float() }
    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let special: Any? =
            if type == Json.self {
                value
            } else if type == Date.self {
                try date()
            } else if type == Data.self {
                try data()
            } else if type == URL.self {
                try url()
            } else if type == Decimal.self {
                try decimal()
            } else if let dictionary = type as? any StringKeyedDictionary.Type {
                try dictionary.decoded(from: self)
            } else {
                nil
            }
        if let special, let value = special as? Value { return value }
        return try Value(from: self)
    }

    /// The error for a value of another kind than the type needs.
    func mismatch(_ type: Any.Type) -> DecodingError {
        let found =
            switch value {
            case .null: "null"
            case .bool: "a boolean"
            case .number: "a number"
            case .string: "a string"
            case .array: "a list"
            case .object: "an object"
            }
        let context = context("Expected a value of type \(type), found \(found).")
        return decodeNil() ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    private func unfit(_ number: Json.Number, _ type: Any.Type) -> DecodingError {
        .dataCorrupted(context("The number \(number.text.prefix(50)) does not fit in \(type)."))
    }

    private func integer<Value: FixedWidthInteger>() throws -> Value {
        guard case .number(let number) = value else { throw mismatch(Value.self) }
        guard let integer = number.integer(as: Value.self) else { throw unfit(number, Value.self) }
        return integer
    }

    private func float<Value: BinaryFloatingPoint & LosslessStringConvertible>() throws -> Value {
        switch value {
        case .number(let number):
            guard let value = Value(number.text), value.isFinite else { throw unfit(number, Value.self) }
            return value
        case .string(let text):
            guard case .convertFromString(let positive, let negative, let nan) = settings.numbers else { break }
            if text == positive { return .infinity }
            if text == negative { return -.infinity }
            if text == nan { return .nan }
        default: break
        }
        throw mismatch(Value.self)
    }

    private func decimal() throws -> Decimal {
        guard case .number(let number) = value else { throw mismatch(Decimal.self) }
        guard let decimal = number.roundedDecimal else { throw unfit(number, Decimal.self) }
        return decimal
    }

    private func date() throws -> Date {
        switch settings.dates {
        case .secondsSince1970: return Date(timeIntervalSince1970: try float())
        case .millisecondsSince1970: return Date(timeIntervalSince1970: try float() / 1000)
        case .iso8601:
            let text = try decode(String.self)
            guard let date = try? Date(text, strategy: .iso8601) else {
                throw DecodingError.dataCorrupted(context("Expected a date in the format of ISO 8601."))
            }
            return date
        #if canImport(Darwin)
            case .formatted(let formatter):
                guard let date = formatter.date(from: try decode(String.self)) else {
                    throw DecodingError.dataCorrupted(context("Expected a date in the format of the decoder's formatter."))
                }
                return date
        #endif
        case .custom(let decode): return try decode(self)
        default: return try Date(from: self)
        }
    }

    private func data() throws -> Data {
        switch settings.data {
        case .base64:
            guard let data = Data(base64Encoded: try decode(String.self)) else {
                throw DecodingError.dataCorrupted(context("Expected bytes in Base64."))
            }
            return data
        case .custom(let decode): return try decode(self)
        default: return try Data(from: self)
        }
    }

    private func url() throws -> URL {
        guard let url = URL(string: try decode(String.self)) else {
            throw DecodingError.dataCorrupted(context("Expected a URL."))
        }
        return url
    }
}

/// A dictionary with any keys of the wire, which no decoder converts.
protocol StringKeyedDictionary {
    static func decoded(from decoder: JsonDecoder) throws -> Self
}

extension Dictionary: StringKeyedDictionary where Key == String, Value: Decodable {
    static func decoded(from decoder: JsonDecoder) throws -> [String: Value] {
        guard case .object(let members) = decoder.value else { throw decoder.mismatch([String: Any].self) }
        let path = decoder.path
        var values: [String: Value] = [:]
        values.reserveCapacity(members.count)
        for (name, member) in members {
            let child = JsonDecoder(member, settings: decoder.settings, parent: path, key: JsonKey(name))
            values[name] = try child.decode(Value.self)
        }
        return values
    }
}

// MARK: Integers of 128 bits

@available(macOS 15, iOS 18, tvOS 18, visionOS 2, *)
extension JsonDecoder {
    func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }
}
