import Foundation

/// What a field of kind `embedded` contains, as far as a database can know it: an array of which elements, or a `Codable`
/// value, whose type only the application knows.
///
/// ```swift
/// let tags = try database.entities()[0].fields[2].content          // [string]
/// ```
public struct EmbeddedContent: Sendable, Hashable, Codable {
    /// The type of the elements of an array; nil for a `Codable` value.
    public let elements: FieldType?
    /// What the elements contain when they are arrays or `Codable` values; otherwise empty.
    private let inner: [EmbeddedContent]

    /// A `Codable` value.
    public static let value = EmbeddedContent(elements: nil, inner: [])

    /// An array.
    ///
    /// - Parameters:
    ///   - elements: The type of the elements.
    ///   - content: What elements of kind `embedded` contain.
    public static func array(of elements: FieldType, _ content: EmbeddedContent? = nil) -> EmbeddedContent {
        EmbeddedContent(elements: elements, inner: content.map { [$0] } ?? [])
    }

    private init(elements: FieldType?, inner: [EmbeddedContent]) { (self.elements, self.inner) = (elements, inner) }

    /// Returns the canonical JSON of a text (contract V4); nil when it is not JSON, or not an array of these elements.
    public func canonical(_ json: String) -> String? {
        guard let elements else { return CanonicalJSON.text(json) }
        if elements.kind == .string, json.withBytes(Self.isPlainArrayOfTexts) { return json }
        guard let text = CanonicalJSON.text(json), let reader = try? EmbeddedElements(json: text) else { return nil }
        let writer = ElementWriter()
        for index in 0..<reader.count {
            guard (try? write(reader, index, elements, to: writer)) != nil else { return nil }
        }
        return ElementJSON.array(of: writer.elements)
    }

    /// Returns the JSON that a text is stored as: canonical JSON with every digit of its numbers, also those that the elements
    /// cannot hold, since a model of another type can (contract E5); nil as ``canonical(_:)``.
    func stored(_ json: String) -> String? {
        guard let text = canonical(json) else { return nil }
        return keepsDigits ? CanonicalJSON.text(json) : text
    }

    /// Whether stored JSON can have digits that the elements cannot hold.
    package var keepsDigits: Bool {
        switch elements?.kind {
        case .double, .float, .date: true
        default: false
        }
    }

    /// Returns a stored value for a comparison: text as canonical JSON. A text that cannot be read stays as it is.
    package func canonicalOrSame(_ value: Value) -> Value {
        guard case .string(let json) = value, let text = canonical(json) else { return value }
        return .string(text)
    }

    /// Whether a text is quickly seen to be canonical.
    package func isCanonical(_ json: UnsafeRawBufferPointer) -> Bool {
        switch elements?.kind {
        case nil, .int64: CanonicalJSON.isPlainArray(json)
        case .string: Self.isPlainArrayOfTexts(json)
        default: false
        }
    }

    /// Whether the text is the canonical JSON of an array of plain strings.
    private static func isPlainArrayOfTexts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard CanonicalJSON.isPlainArray(bytes) else { return false }
        // After each comma outside of a text begins a text.
        var isInText = false
        var begins = true
        for byte in bytes.dropFirst().dropLast() {
            if begins, byte != UInt8(ascii: "\"") { return false }
            begins = !isInText && byte == UInt8(ascii: ",")
            if byte == UInt8(ascii: "\"") { isInText.toggle() }
        }
        return true
    }

    /// Writes an element as a field of its type writes the value.
    private func write(_ reader: EmbeddedElements, _ index: Int, _ type: FieldType, to writer: ElementWriter) throws {
        guard let value = try reader.checkedValue(at: index, type.kind) else {
            guard type.isOptional else { throw StorageError(.corruptedValue, "nil") }
            return try writer.writeNull(at: 0)
        }
        guard type.kind == .embedded else { return try Self.entity(of: type).write(value, at: 0, to: writer) }
        guard case .string(let json) = value, let text = (inner.first ?? .value).canonical(json) else {
            throw StorageError(.corruptedValue, "no embedded value")
        }
        try writer.writeString(text, at: 0)
    }

    private static func entity(of type: FieldType) -> EntityDescription {
        EntityDescription(name: "", fields: [FieldDescription(name: "", type: type)])
    }
}

extension EmbeddedContent: CustomStringConvertible {
    /// The type of an array in brackets, as `[int64?]`; `value` for a `Codable` value.
    public var description: String {
        guard let elements else { return "value" }
        guard elements.kind == .embedded else { return "[\(elements)]" }
        return "[\(inner.first ?? .value)\(elements.isOptional ? "?" : "")]"
    }
}

extension FieldValue {
    /// What a field of this type contains when it is embedded; otherwise nil.
    static var embeddedContent: EmbeddedContent? {
        guard fieldType.kind == .embedded else { return nil }
        func content<List: ListValue>(_ list: List.Type) -> EmbeddedContent? {
            (List.ListedValue.self as? any FieldValue.Type).map { .array(of: $0.fieldType, $0.embeddedContent) }
        }
        if let list = Self.self as? any ListValue.Type, let content = content(list) { return content }
        return (Self.self as? any WrappedEmbedded.Type)?.wrappedContent ?? .value
    }
}

/// An optional of an optional is stored as an array, and any other one as what it wraps.
private protocol WrappedEmbedded {
    static var wrappedContent: EmbeddedContent? { get }
}

extension Optional: WrappedEmbedded where Wrapped: Storable {
    static var wrappedContent: EmbeddedContent? {
        guard let wrapped = Wrapped.self as? any FieldValue.Type else { return nil }
        if Wrapped.self is any WrappedEmbedded.Type { return .array(of: wrapped.fieldType, wrapped.embeddedContent) }
        return wrapped.embeddedContent
    }
}

/// Writes the JSON of an embedded value anew, as the type of the field encodes it: only the type knows what is a set.
struct EmbeddedRecoding: Sendable, Equatable {
    /// Returns the text that the value is stored as; nil when it is not read by the type.
    let text: @Sendable (String) -> String?

    /// The closures of one declaration are the same.
    static func == (left: EmbeddedRecoding, right: EmbeddedRecoding) -> Bool { true }

    init<Stored: FieldValue>(_ type: Stored.Type) {
        let entity = EntityDescription(
            name: "", fields: [FieldDescription(name: "", type: FieldType(.embedded, isOptional: true))])
        text = { json in
            let reader = ValueRowReader(entity: entity, values: [.string(json)])
            guard let value = try? Stored.read(from: reader, at: 0), case .string(let text) = value.fieldValue else { return nil }
            return text
        }
    }
}
