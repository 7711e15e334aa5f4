import Foundation

extension Json: Codable {
    /// Decodes any JSON value.
    ///
    /// Keys stay unchanged, even with a decoder that converts keys. Inside an entry or the root of an endpoint, the
    /// value is exactly what was parsed. With a decoder of your own, numbers of up to 38 digits are exact, and that
    /// decoder says what a key means that occurs twice.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? JsonDecoder {
            self = decoder.value
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let members = try? container.decode([String: Json].self) {
            self = .object(members)
        } else if let elements = try? container.decode([Json].self) {
            self = .array(elements)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = Json(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = Json(value)
        } else if let value = try? container.decode(Decimal.self), let number = Number(value) {
            self = .number(number)
        } else if let value = try? container.decode(Double.self), let number = Number(value) {
            self = .number(number)
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "Not a JSON value.")
        }
    }

    /// Encodes the value unchanged. A number is encoded as the first of `Int64`, `UInt64`, `Decimal` and
    /// `Double` that can hold it.
    ///
    /// - Throws: `EncodingError.invalidValue` for a number that none of these types can hold.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        case .number(let number):
            if let value = number.integer(as: Int64.self) {
                try container.encode(value)
            } else if let value = number.integer(as: UInt64.self) {
                try container.encode(value)
            } else if let value = number.decimal {
                try container.encode(value)
            } else if let value = number.double {
                try container.encode(value)
            } else {
                throw EncodingError.invalidValue(
                    number.text,
                    EncodingError.Context(
                        codingPath: encoder.codingPath, debugDescription: "\(number.text) is beyond every number type.")
                )
            }
        }
    }
}
