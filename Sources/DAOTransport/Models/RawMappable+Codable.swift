import Foundation

extension RawEncodable where Self: Encodable, Raw == Json {
    /// The JSON object that Foundation's encoder makes from this value.
    ///
    /// Keys with nil are omitted. A `Date` is encoded as seconds since 2001, `Data` as base64, a `URL` as its
    /// text.
    ///
    /// - Throws: ``MappingError/cantMapObjectToRaw`` when the value does not encode to an object; otherwise
    ///   the encoder's error.
    public func toRaw() throws -> Json {
        try JsonMapping.encode(self, with: JSONEncoder())
    }
}

extension RawDecodable where Self: Decodable, Raw == Json {
    /// The value that Foundation's decoder reads from a JSON object.
    ///
    /// Unknown keys are ignored, `null` is read as nil, and keys are not converted.
    ///
    /// - Throws: `DecodingError` when a key is missing, a value has another type, or an enum has no such raw
    ///   value.
    public static func from(raw: Json) throws -> Self {
        try JsonMapping.decode(Self.self, from: raw, with: JSONDecoder())
    }
}

/// An entry with custom coders, for example for another key case or date format.
///
/// Keys are converted only here. The mapping nodes and ``FromRaw`` do not convert them again.
///
/// ```swift
/// struct DialogEntry: Codable, RawMappable, JsonCodingSettings {
///     typealias Raw = Json
///     let id: String
///     let isPinned: Bool         // "is_pinned" on the wire
///
///     static var jsonDecoder: JSONDecoder { .convertingFromSnakeCase() }
///     static var jsonEncoder: JSONEncoder { .convertingToSnakeCase() }
/// }
/// ```
public protocol JsonCodingSettings {
    /// The encoder of the entry's raw form.
    static var jsonEncoder: JSONEncoder { get }

    /// The decoder of the entry's raw form.
    static var jsonDecoder: JSONDecoder { get }
}

extension RawEncodable where Self: Encodable & JsonCodingSettings, Raw == Json {
    /// The JSON object that the entry's encoder makes from this value.
    ///
    /// - Throws: ``MappingError/cantMapObjectToRaw`` when the value does not encode to an object; otherwise
    ///   the encoder's error.
    public func toRaw() throws -> Json {
        try JsonMapping.encode(self, with: Self.jsonEncoder)
    }
}

extension RawDecodable where Self: Decodable & JsonCodingSettings, Raw == Json {
    /// The value that the entry's decoder reads from a JSON object.
    ///
    /// - Throws: `DecodingError` when a key is missing, a value has another type, or an enum has no such raw
    ///   value.
    public static func from(raw: Json) throws -> Self {
        try JsonMapping.decode(Self.self, from: raw, with: Self.jsonDecoder)
    }
}

extension JSONDecoder {
    /// A decoder that reads `book_list` into `bookList`.
    public static func convertingFromSnakeCase() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }
}

extension JSONEncoder {
    /// An encoder that writes `bookList` as `book_list`.
    public static func convertingToSnakeCase() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return encoder
    }
}

enum JsonMapping {
    static func encode(_ value: some Encodable, with encoder: JSONEncoder) throws -> Json {
        let json = try Json(parsing: encoder.encode(value))
        guard case .object = json else { throw MappingError.cantMapObjectToRaw }
        return json
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from raw: Json, with decoder: JSONDecoder) throws -> Value {
        try raw.decode(type, with: decoder)
    }
}
