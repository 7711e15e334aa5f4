import Foundation

extension RawEncodable where Self: Encodable, Raw == Json {
    /// The JSON object that Foundation's encoder makes of this value.
    ///
    /// Keys whose value is nil are left out; a `Date` is seconds since 2001, `Data` base64, a `URL` its text.
    ///
    /// - Throws: ``MappingError/cantMapObjectToRaw`` when the value encodes to anything but an object, else the encoder's error.
    public func toRaw() throws -> Json {
        try JsonMapping.encode(self, with: JSONEncoder())
    }
}

extension RawDecodable where Self: Decodable, Raw == Json {
    /// The value that Foundation's decoder reads from a JSON object.
    ///
    /// Unknown keys are ignored, `null` reads as nil, keys are taken as they are written.
    ///
    /// - Throws: `DecodingError` when a key is missing, of another type, or an enum has no such raw value.
    public static func from(raw: Json) throws -> Self {
        try JsonMapping.decode(Self.self, from: raw, with: JSONDecoder())
    }
}

/// An entry that brings coders of its own: for another key case, another date format and the like.
///
/// This is the one place where keys are converted. Neither the mapping nodes nor ``FromRaw`` convert them again.
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
    /// The JSON object that the entry's own encoder makes of this value.
    ///
    /// - Throws: ``MappingError/cantMapObjectToRaw`` when the value encodes to anything but an object, else the encoder's error.
    public func toRaw() throws -> Json {
        try JsonMapping.encode(self, with: Self.jsonEncoder)
    }
}

extension RawDecodable where Self: Decodable & JsonCodingSettings, Raw == Json {
    /// The value that the entry's own decoder reads from a JSON object.
    ///
    /// - Throws: `DecodingError` when a key is missing, of another type, or an enum has no such raw value.
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
        try decoder.decode(type, from: raw.data())
    }
}
