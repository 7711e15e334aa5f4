/// What a search reads of a field.
package struct SearchableField: Sendable {
    /// How often an occurrence counts.
    package let weight: Int
    /// Reads the texts of the field at a position.
    package let texts: @Sendable (RowReader, Int) throws -> [String]

    init<Value: FieldValue>(_ weight: Int, _ texts: @escaping @Sendable (Value) -> [String]) {
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

extension FieldOption where Value: SearchableValue {
    /// Lets searches look into the field (contract chapter S). The package's product `DAOSearch` has the calls.
    ///
    /// ```swift
    /// Field("title", \.title, .searchable(weight: 3)), Field("text", \.text, .searchable)
    /// ```
    ///
    /// The database does not store the declaration: it can be added and removed at any time.
    public static var searchable: FieldOption { searchable(weight: 1) }

    /// Lets searches look into the field, and says how much it counts (contract chapter S).
    ///
    /// - Parameter weight: As how many occurrences one counts, beside the other searchable fields; 1 to 1000.
    public static func searchable(weight: Int) -> FieldOption {
        FieldOption(meaning: .searchable(SearchableField(weight) { (value: Value) in value.searchedTexts }))
    }
}

extension FieldOption {
    /// Not available: only texts are searchable.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "only texts are searchable: a field of type String, String? or [String]")
    public static var searchable: FieldOption { FieldOption(meaning: .indexed) }

    /// Not available: only texts are searchable.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "only texts are searchable: a field of type String, String? or [String]")
    public static func searchable(weight: Int) -> FieldOption { FieldOption(meaning: .indexed) }
}
