import Foundation

/// Decodes a type from a JSON value, with the settings of a `JSONDecoder`.
///
/// A body and a raw value are read by the same parser, and decoded here from what it made of them. Foundation's
/// decoder has a parser of its own, with other rules: for a key that occurs twice, and for numbers.
struct JsonDecoder {
    let value: Json
    let settings: JsonDecodingSettings
    /// Where the container of the value is; nil for the root.
    let parent: JsonPath?
    /// The value's key in its container; nil for the root.
    let key: (any CodingKey)?

    init(_ value: Json, settings: JsonDecodingSettings, parent: JsonPath? = nil, key: (any CodingKey)? = nil) {
        self.value = value
        self.settings = settings
        self.parent = parent
        self.key = key
    }

    var path: JsonPath? { key.map { JsonPath($0, in: parent) } ?? parent }

    func context(_ description: String) -> DecodingError.Context {
        DecodingError.Context(codingPath: codingPath, debugDescription: description)
    }
}

extension Json {
    /// Decodes a type from this value, with the settings of a decoder.
    func decode<Value: Decodable>(_ type: Value.Type, with decoder: JSONDecoder) throws -> Value {
        try JsonDecoder(self, settings: JsonDecodingSettings(decoder)).decode(type)
    }
}

/// The place of a value: keys from the innermost to the outermost.
final class JsonPath {
    private let key: any CodingKey
    private let parent: JsonPath?

    init(_ key: any CodingKey, in parent: JsonPath?) {
        self.key = key
        self.parent = parent
    }

    /// The keys from the outermost to the innermost.
    var keys: [any CodingKey] {
        var keys: [any CodingKey] = []
        var place: JsonPath? = self
        while let next = place {
            keys.append(next.key)
            place = next.parent
        }
        return keys.reversed()
    }
}

/// The settings of a `JSONDecoder`, read once for all values of a root.
final class JsonDecodingSettings {
    let dates: JSONDecoder.DateDecodingStrategy
    let data: JSONDecoder.DataDecodingStrategy
    let numbers: JSONDecoder.NonConformingFloatDecodingStrategy
    let keys: JSONDecoder.KeyDecodingStrategy
    let userInfo: [CodingUserInfoKey: Any]
    private var converted: [String: String] = [:]

    init(_ decoder: JSONDecoder) {
        dates = decoder.dateDecodingStrategy
        data = decoder.dataDecodingStrategy
        numbers = decoder.nonConformingFloatDecodingStrategy
        keys = decoder.keyDecodingStrategy
        userInfo = decoder.userInfo
    }

    /// `book_list` as `bookList`, as Foundation converts it: underscores at both ends stay.
    func convertedFromSnakeCase(_ key: String) -> String {
        if let known = converted[key] { return known }
        let leading = key.prefix { $0 == "_" }
        let rest = key.dropFirst(leading.count)
        let trailing = rest.reversed().prefix { $0 == "_" }
        let words = rest.dropLast(trailing.count).split(separator: "_")
        var name = key
        if words.count > 1 {
            name = leading + words[0].lowercased() + words.dropFirst().map(\.capitalized).joined() + String(trailing)
        }
        converted[key] = name
        return name
    }
}

extension JsonDecoder: Decoder {
    var codingPath: [any CodingKey] { path?.keys ?? [] }
    var userInfo: [CodingUserInfoKey: Any] { settings.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = value else { throw mismatch([String: Any].self) }
        return KeyedDecodingContainer(JsonKeyedContainer(members, of: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw mismatch([Any].self) }
        return JsonUnkeyedContainer(elements, of: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}
