import Foundation

/// Encodes values as canonical JSON: two values with the same content have the same text (contract V4).
///
/// Foundation's encoder cannot tell a set from an array, and sorts keys otherwise on each of its platforms. Dates, data,
/// decimal numbers and URLs are encoded as Foundation encodes them, so that its decoder reads them.
package struct CanonicalEncoder {

    /// Returns the canonical JSON of a value.
    ///
    /// - Throws: `EncodingError` for a value without a JSON form; any error of the value.
    package static func json(of value: some Encodable) throws -> String {
        guard let node = try node(of: value, Path.root) else {
            throw EncodingError.invalidValue(
                value, EncodingError.Context(codingPath: [], debugDescription: "the value encodes nothing"))
        }
        var bytes: [UInt8] = []
        try node.write(to: &bytes)
        // Values can make containers inside containers without coming by `node(of:_:)`.
        if bytes.withUnsafeBytes(NestedJSON.isTooDeep) { throw tooDeep(value, Path.root) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the JSON of a value; nil when it encodes nothing.
    fileprivate static func node<Encoded: Encodable>(of value: Encoded, _ path: Path) throws -> Node? {
        if Encoded.self == String.self, let text = value as? String { return .string(text) }
        if Encoded.self == Int.self, let number = value as? Int { return .text(String(number)) }
        if Encoded.self == Double.self, let number = value as? Double { return Node(number) }
        if Encoded.self == Data.self, let data = value as? Data { return .string(data.base64EncodedString()) }
        if Encoded.self == URL.self, let url = value as? URL { return .string(url.absoluteString) }
        if Encoded.self == Decimal.self, let number = value as? Decimal {
            // Its decoder has no form for it.
            guard !number.isNaN else {
                throw EncodingError.invalidValue(
                    number,
                    EncodingError.Context(
                        codingPath: path.keys, debugDescription: "a decimal NaN has no JSON; store nil or a number"))
            }
            return .text(CanonicalJSON.number(number.storedText) ?? number.storedText)
        }
        if path.depth > NestedJSON.maximumDepth { throw tooDeep(value, path) }
        let encoder = NodeEncoder(path, of: Encoded.self)
        try value.encode(to: encoder)
        return encoder.node
    }

    /// The error of a value that no decoder could read back.
    private static func tooDeep(_ value: some Encodable, _ path: Path) -> EncodingError {
        EncodingError.invalidValue(
            value,
            EncodingError.Context(
                codingPath: path.keys,
                debugDescription:
                    "a value nests more than \(NestedJSON.maximumDepth) levels of arrays and objects; store its parts as rows"))
    }
}

/// The place of a value, for errors of the application.
private final class Path: Sendable {
    static let root = Path(nil, nil)
    private let parent: Path?
    private let key: (any CodingKey)?
    /// The number of arrays and objects around the value.
    let depth: Int

    init(_ parent: Path?, _ key: (any CodingKey)?) {
        (self.parent, self.key) = (parent, key)
        depth = parent.map { $0.depth + 1 } ?? 0
    }

    var keys: [any CodingKey] { (parent?.keys ?? []) + (key.map { [$0] } ?? []) }
}

/// The JSON of a value before its objects and sets are in order.
private enum Node {
    /// JSON of a number, a Boolean or null.
    case text(String)
    case string(String)
    case array(ArrayNode)
    case object(ObjectNode)
    /// The value that an encoder holds when the whole is written.
    case later(NodeEncoder)

    init(_ number: Double) {
        // These texts are what the decoder takes for the numbers.
        self =
            number.isFinite
            ? .text(CanonicalJSON.number(number)) : .string(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
    }

    func write(to bytes: inout [UInt8]) throws {
        switch self {
        case .text(let text): bytes += text.utf8
        case .string(let text): CanonicalJSON.append(text, to: &bytes)
        case .array(let array): try array.write(to: &bytes)
        case .object(let object): try object.write(to: &bytes)
        case .later(let encoder):
            if let node = encoder.node { try node.write(to: &bytes) } else { bytes += "{}".utf8 }
        }
    }
}

private final class ArrayNode {
    enum Order {
        /// As the value gives the elements.
        case given
        /// The elements are a set.
        case set
        /// The elements are keys and values in turn.
        case pairs
    }
    let order: Order
    var elements: [Node] = []

    init(_ order: Order) { self.order = order }

    func write(to bytes: inout [UInt8]) throws {
        bytes.append(UInt8(ascii: "["))
        if order == .given || elements.count < 2 {
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                try element.write(to: &bytes)
            }
        } else {
            var parts: [[UInt8]] = []
            for (index, element) in elements.enumerated() {
                if order == .set || index % 2 == 0 { parts.append([]) } else { parts[parts.count - 1].append(UInt8(ascii: ",")) }
                try element.write(to: &parts[parts.count - 1])
            }
            // No JSON of a value is the beginning of another one's, so keys decide the order of pairs, except for numbers,
            // where any order does.
            parts.sort { $0.lexicographicallyPrecedes($1) }
            bytes += parts.joined(separator: [UInt8(ascii: ",")])
        }
        bytes.append(UInt8(ascii: "]"))
    }
}

private final class ObjectNode {
    var members: [(key: String, value: Node)] = []

    func set(_ key: String, to value: Node) { members.append((key, value)) }

    /// The value that an encoder set last counts for a key.
    func value(of key: String) -> Node? { members.last { $0.key.hasSameBytes(as: key) }?.value }

    func write(to bytes: inout [UInt8]) throws {
        let order = members.indices.sorted {
            let order = members[$0].key.orderOfBytes(against: members[$1].key)
            return order == 0 ? $0 < $1 : order < 0
        }
        bytes.append(UInt8(ascii: "{"))
        var isFirst = true
        for (place, index) in order.enumerated() {
            let (key, value) = members[index]
            if place + 1 < order.count, members[order[place + 1]].key.hasSameBytes(as: key) { continue }
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            CanonicalJSON.append(key, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            try value.write(to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }
}

/// The encoder of one value.
private final class NodeEncoder: Encoder {
    let path: Path
    /// The type of the value, which says whether its elements have an order.
    let type: Any.Type
    var node: Node?

    init(_ path: Path, of type: Any.Type) { (self.path, self.type) = (path, type) }

    var codingPath: [any CodingKey] { path.keys }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .object(let object) = node { return KeyedEncodingContainer(KeyedNodes<Key>(object: object, path: path)) }
        let object = ObjectNode()
        node = .object(object)
        return KeyedEncodingContainer(KeyedNodes<Key>(object: object, path: path))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .array(let array) = node { return UnkeyedNodes(array: array, path: path) }
        let order: ArrayNode.Order =
            type is any AnySet.Type ? .set : type is any AnyDictionary.Type ? .pairs : .given
        let array = ArrayNode(order)
        node = .array(array)
        return UnkeyedNodes(array: array, path: path)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleNode(encoder: self) }
}

private protocol AnySet {}
extension Set: AnySet {}
private protocol AnyDictionary {}
extension Dictionary: AnyDictionary {}

/// What the three containers encode alike.
private protocol NodeContainer {
    var path: Path { get }
}

extension NodeContainer {
    var codingPath: [any CodingKey] { path.keys }
}

private struct SingleNode: NodeContainer, SingleValueEncodingContainer {
    let encoder: NodeEncoder
    var path: Path { encoder.path }

    func encodeNil() { encoder.node = .text("null") }
    func encode(_ value: Bool) { encoder.node = .text(value ? "true" : "false") }
    func encode(_ value: String) { encoder.node = .string(value) }
    func encode(_ value: Double) { encoder.node = Node(value) }
    func encode(_ value: Float) { encoder.node = Node(value) }
    func encode(_ value: Int) { encoder.node = .text(String(value)) }
    func encode(_ value: Int8) { encoder.node = .text(String(value)) }
    func encode(_ value: Int16) { encoder.node = .text(String(value)) }
    func encode(_ value: Int32) { encoder.node = .text(String(value)) }
    func encode(_ value: Int64) { encoder.node = .text(String(value)) }
    func encode(_ value: UInt) { encoder.node = .text(String(value)) }
    func encode(_ value: UInt8) { encoder.node = .text(String(value)) }
    func encode(_ value: UInt16) { encoder.node = .text(String(value)) }
    func encode(_ value: UInt32) { encoder.node = .text(String(value)) }
    func encode(_ value: UInt64) { encoder.node = .text(String(value)) }
    func encode<Encoded: Encodable>(_ value: Encoded) throws {
        encoder.node = try CanonicalEncoder.node(of: value, path) ?? .object(ObjectNode())
    }
}

private struct UnkeyedNodes: NodeContainer, UnkeyedEncodingContainer {
    let array: ArrayNode
    let path: Path
    var count: Int { array.elements.count }

    private func add(_ node: Node) { array.elements.append(node) }

    func encodeNil() { add(.text("null")) }
    func encode(_ value: Bool) { add(.text(value ? "true" : "false")) }
    func encode(_ value: String) { add(.string(value)) }
    func encode(_ value: Double) { add(Node(value)) }
    func encode(_ value: Float) { add(Node(value)) }
    func encode(_ value: Int) { add(.text(String(value))) }
    func encode(_ value: Int8) { add(.text(String(value))) }
    func encode(_ value: Int16) { add(.text(String(value))) }
    func encode(_ value: Int32) { add(.text(String(value))) }
    func encode(_ value: Int64) { add(.text(String(value))) }
    func encode(_ value: UInt) { add(.text(String(value))) }
    func encode(_ value: UInt8) { add(.text(String(value))) }
    func encode(_ value: UInt16) { add(.text(String(value))) }
    func encode(_ value: UInt32) { add(.text(String(value))) }
    func encode(_ value: UInt64) { add(.text(String(value))) }
    func encode<Encoded: Encodable>(_ value: Encoded) throws {
        add(try CanonicalEncoder.node(of: value, element) ?? .object(ObjectNode()))
    }

    private var element: Path { Path(path, NodeKey(intValue: count)) }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let object = ObjectNode()
        let path = element
        add(.object(object))
        return KeyedEncodingContainer(KeyedNodes<Key>(object: object, path: path))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        let nested = ArrayNode(.given)
        let path = element
        add(.array(nested))
        return UnkeyedNodes(array: nested, path: path)
    }

    func superEncoder() -> any Encoder {
        let encoder = NodeEncoder(element, of: Any.self)
        add(.later(encoder))
        return encoder
    }
}

private struct KeyedNodes<Key: CodingKey>: NodeContainer, KeyedEncodingContainerProtocol {
    let object: ObjectNode
    let path: Path

    private func set(_ key: Key, to node: Node) { object.set(key.stringValue, to: node) }

    func encodeNil(forKey key: Key) { set(key, to: .text("null")) }
    func encode(_ value: Bool, forKey key: Key) { set(key, to: .text(value ? "true" : "false")) }
    func encode(_ value: String, forKey key: Key) { set(key, to: .string(value)) }
    func encode(_ value: Double, forKey key: Key) { set(key, to: Node(value)) }
    func encode(_ value: Float, forKey key: Key) { set(key, to: Node(value)) }
    func encode(_ value: Int, forKey key: Key) { set(key, to: .text(String(value))) }
    func encode(_ value: Int8, forKey key: Key) { set(key, to: .text(String(value))) }
    func encode(_ value: Int16, forKey key: Key) { set(key, to: .text(String(value))) }
    func encode(_ value: Int32, forKey key: Key) { set(key, to: .text(String(value))) }
    func encode(_ value: Int64, forKey key: Key) { set(key, to: .text(String(value))) }
    func encode(_ value: UInt, forKey key: Key) { set(key, to: .text(String(value))) }
    func encode(_ value: UInt8, forKey key: Key) { set(key, to: .text(String(value))) }
    func encode(_ value: UInt16, forKey key: Key) { set(key, to: .text(String(value))) }
    func encode(_ value: UInt32, forKey key: Key) { set(key, to: .text(String(value))) }
    func encode(_ value: UInt64, forKey key: Key) { set(key, to: .text(String(value))) }
    func encode<Encoded: Encodable>(_ value: Encoded, forKey key: Key) throws {
        set(key, to: try CanonicalEncoder.node(of: value, Path(path, NodeKey(key))) ?? .object(ObjectNode()))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        let path = Path(path, NodeKey(key))
        if case .object(let object) = object.value(of: key.stringValue) {
            return KeyedEncodingContainer(KeyedNodes<Nested>(object: object, path: path))
        }
        let nested = ObjectNode()
        set(key, to: .object(nested))
        return KeyedEncodingContainer(KeyedNodes<Nested>(object: nested, path: path))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        let path = Path(path, NodeKey(key))
        if case .array(let array) = object.value(of: key.stringValue) { return UnkeyedNodes(array: array, path: path) }
        let nested = ArrayNode(.given)
        set(key, to: .array(nested))
        return UnkeyedNodes(array: nested, path: path)
    }

    func superEncoder() -> any Encoder { nested(NodeKey(stringValue: "super")) }

    func superEncoder(forKey key: Key) -> any Encoder { nested(NodeKey(key)) }

    private func nested(_ key: NodeKey) -> any Encoder {
        let encoder = NodeEncoder(Path(path, key), of: Any.self)
        object.set(key.stringValue, to: .later(encoder))
        return encoder
    }
}

extension Node {
    init(_ number: Float) {
        // The shortest text of a float is read as that float.
        self = number.isFinite ? .text(CanonicalJSON.number(number.description) ?? number.description) : Node(Double(number))
    }
}

private struct NodeKey: CodingKey {
    let stringValue: String
    let intValue: Int?
    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = ("Index \(intValue)", intValue) }
    init(_ key: some CodingKey) { (stringValue, intValue) = (key.stringValue, key.intValue) }
}

// MARK: Integers of 128 bits

@available(macOS 15, iOS 18, tvOS 18, visionOS 2, *)
extension SingleNode {
    func encode(_ value: Int128) { encoder.node = .text(String(value)) }
    func encode(_ value: UInt128) { encoder.node = .text(String(value)) }
}

@available(macOS 15, iOS 18, tvOS 18, visionOS 2, *)
extension UnkeyedNodes {
    func encode(_ value: Int128) { add(.text(String(value))) }
    func encode(_ value: UInt128) { add(.text(String(value))) }
}

@available(macOS 15, iOS 18, tvOS 18, visionOS 2, *)
extension KeyedNodes {
    func encode(_ value: Int128, forKey key: Key) { set(key, to: .text(String(value))) }
    func encode(_ value: UInt128, forKey key: Key) { set(key, to: .text(String(value))) }
}
