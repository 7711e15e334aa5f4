/// What a search reads of a field.
package struct SearchableField: Sendable {
    /// How often an occurrence counts.
    package let weight: Int
    /// Reads the texts of the field at a position.
    package let texts: @Sendable (RowReader, Int) throws -> [String]

    package init<Value: FieldValue>(_ weight: Int, _ texts: @escaping @Sendable (Value) -> [String]) {
        self.weight = weight
        self.texts = { try texts(Value.read(from: $0, at: $1)) }
    }

    /// The largest weight.
    static let maximumWeight = 1000
}

/// A type of field that can be searched: `String`, `[String]` and their optionals.
///
/// ```swift
/// Field("tags", \.tags, .searchable)
/// ```
public protocol SearchableValue: FieldValue {
    /// The texts that a search reads.
    var searchedTexts: [String] { get }
}

extension String: SearchableValue {
    /// The text itself.
    public var searchedTexts: [String] { [self] }
}

extension Optional: SearchableValue where Wrapped: SearchableValue, Self: FieldValue {
    /// The texts of the value; none for nil.
    public var searchedTexts: [String] { self?.searchedTexts ?? [] }
}

extension Array: SearchableValue where Element == String {
    /// The elements.
    public var searchedTexts: [String] { self }
}

extension FieldOption {
    /// Lets searches look into the field.
    package static func searchable(_ field: SearchableField) -> FieldOption { FieldOption(meaning: .searchable(field)) }
}
