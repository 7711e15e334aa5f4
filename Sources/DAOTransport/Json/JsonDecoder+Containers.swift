/// A key that no type declares: of a dictionary, a list or a superclass.
struct JsonKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init(stringValue: String) { self.init(stringValue) }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
}

/// The members of an object.
struct JsonKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let settings: JsonDecodingSettings
    private let path: JsonPath?
    private let members: [String: Json]
    /// Keys that several members have after their conversion, such as `book_list` and `bookList`.
    private let doubled: Set<String>

    init(_ members: [String: Json], of decoder: JsonDecoder) {
        settings = decoder.settings
        path = decoder.path
        let convert: (String) -> String
        switch settings.keys {
        case .convertFromSnakeCase where members.keys.contains { $0.utf8.contains(UInt8(ascii: "_")) }:
            convert = settings.convertedFromSnakeCase
        case .custom(let strategy):
            let outer = path?.keys ?? []
            convert = { strategy(outer + [JsonKey($0)]).stringValue }
        default:
            self.members = members
            doubled = []
            return
        }
        var converted: [String: Json] = [:]
        var doubled: Set<String> = []
        converted.reserveCapacity(members.count)
        for (name, member) in members {
            let name = convert(name)
            if converted.updateValue(member, forKey: name) != nil { doubled.insert(name) }
        }
        self.members = converted
        self.doubled = doubled
    }

    var codingPath: [any CodingKey] { path?.keys ?? [] }
    var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try child(key).decodeNil() }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try child(key).decode(type) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try child(key).decode(type) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try child(key).decode(type) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try child(key).decode(type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try child(key).decode(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try child(key).decode(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try child(key).decode(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try child(key).decode(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try child(key).decode(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try child(key).decode(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try child(key).decode(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try child(key).decode(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try child(key).decode(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try child(key).decode(type) }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try child(key).decode(type) }

    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try child(key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try child(key).unkeyedContainer() }
    func superDecoder() -> any Decoder { optionalChild(JsonKey("super")) }
    func superDecoder(forKey key: Key) -> any Decoder { optionalChild(key) }

    private func child(_ key: Key) throws -> JsonDecoder {
        let name = key.stringValue
        guard let member = members[name] else {
            let context = DecodingError.Context(codingPath: codingPath, debugDescription: "There is no key \"\(name)\".")
            throw DecodingError.keyNotFound(key, context)
        }
        let child = JsonDecoder(member, settings: settings, parent: path, key: key)
        guard doubled.isEmpty || !doubled.contains(name) else {
            throw DecodingError.dataCorrupted(child.context("Two keys of the object are converted to \"\(name)\"."))
        }
        return child
    }

    private func optionalChild(_ key: any CodingKey) -> JsonDecoder {
        JsonDecoder(members[key.stringValue] ?? .null, settings: settings, parent: path, key: key)
    }
}

/// The elements of a list.
struct JsonUnkeyedContainer: UnkeyedDecodingContainer {
    private let settings: JsonDecodingSettings
    private let path: JsonPath?
    private let elements: [Json]
    private(set) var currentIndex = 0

    init(_ elements: [Json], of decoder: JsonDecoder) {
        settings = decoder.settings
        path = decoder.path
        self.elements = elements
    }

    var codingPath: [any CodingKey] { path?.keys ?? [] }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    mutating func decodeNil() throws -> Bool {
        let isNil = try element(Any.self).decodeNil()
        if isNil { currentIndex += 1 }
        return isNil
    }
    mutating func decode(_ type: Bool.Type) throws -> Bool { try next { try $0.decode(type) } }
    mutating func decode(_ type: String.Type) throws -> String { try next { try $0.decode(type) } }
    mutating func decode(_ type: Double.Type) throws -> Double { try next { try $0.decode(type) } }
    mutating func decode(_ type: Float.Type) throws -> Float { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int.Type) throws -> Int { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next { try $0.decode(type) } }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next { try $0.decode(type) } }

    mutating func nestedContainer<Nested>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try next { try $0.container(keyedBy: type) }
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next { try $0.unkeyedContainer() } }
    mutating func superDecoder() throws -> any Decoder { try next { $0 } }

    /// Reads the next element. An element that cannot be read stays the next one.
    private mutating func next<Value>(_ read: (JsonDecoder) throws -> Value) throws -> Value {
        let value = try read(element(Value.self))
        currentIndex += 1
        return value
    }

    private func element(_ type: Any.Type) throws -> JsonDecoder {
        let key = JsonKey(index: currentIndex)
        guard !isAtEnd else {
            let context = DecodingError.Context(
                codingPath: codingPath + [key], debugDescription: "The list has no more elements.")
            throw DecodingError.valueNotFound(type, context)
        }
        return JsonDecoder(elements[currentIndex], settings: settings, parent: path, key: key)
    }
}

// MARK: Integers of 128 bits

@available(macOS 15, iOS 18, tvOS 18, visionOS 2, *)
extension JsonKeyedContainer {
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try child(key).decode(type) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try child(key).decode(type) }
}

@available(macOS 15, iOS 18, tvOS 18, visionOS 2, *)
extension JsonUnkeyedContainer {
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try next { try $0.decode(type) } }
}
