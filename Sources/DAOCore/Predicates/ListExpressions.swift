// The number of rows or elements in a list: `$0.messages.count > 3`, `$0.tags.isEmpty`.

/// The type of a field with a list: `[SomeModel]` is a to-many relationship, `[Element]` and `[Element]?` are arrays of
/// values.
///
/// Do not conform to this protocol directly.
public protocol ListValue: FieldValue {
    /// The type of the related rows, or of the elements.
    associatedtype ListedValue: Storable
    /// The type of their number: `Int`; `Int?` for an array that can be nil.
    associatedtype ListCount: FieldValue
}

extension Array: ListValue where Element: Storable {
    /// The type of the related rows, or of the elements.
    public typealias ListedValue = Element
    /// A list has a number of elements.
    public typealias ListCount = Int
}

extension Optional: ListValue where Wrapped: ListValue, Wrapped.ListCount == Int {
    /// The type of the elements.
    public typealias ListedValue = Wrapped.ListedValue
    /// Nil has no number of elements.
    public typealias ListCount = Int?
}

extension FieldExpression where Value: ListValue {
    /// The condition that there are no related rows, or no elements. It is false for an array that is nil.
    public var isEmpty: Condition<Record> {
        let count = count
        return count.node { .comparison(of: $0, count.counted, .equal, .integer(0)) }
    }

    /// The number of related rows, or of elements, for a comparison with a number. It is nil for an array that is nil.
    ///
    /// ```swift
    /// try discussions.read { $0.messages.count > 3 }
    /// ```
    public var count: FieldExpression<Record, Value.ListCount> { FieldExpression<Record, Value.ListCount>(countOf: self) }
}

extension FieldValue {
    /// The type of the elements when the type is an array of values; otherwise nil.
    package static var elementType: FieldType? {
        func type<List: ListValue>(_ list: List.Type) -> FieldType? { (List.ListedValue.self as? any FieldValue.Type)?.fieldType }
        return fieldType.kind == .embedded ? (Self.self as? any ListValue.Type).flatMap { type($0) } : nil
    }
}
