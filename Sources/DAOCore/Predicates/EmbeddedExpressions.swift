// Conditions on the elements of arrays: `$0.tags.contains("x")`, `$0.tags.contains { $0.hasPrefix("x") }`.

/// The rows of a condition on the elements of an array: an element is the only field. It is never stored.
public struct ListElement<Value: FieldValue>: Model {
    let value: Value

    /// A schema with the element as the only field. It has no key, so there is no storage for it.
    public static var schema: Schema<Self> { Schema("element", Self.init, Field("value", \.value)) }
}

extension FieldExpression where Value: ListValue, Value.ListedValue: FieldValue {
    /// An element, in the closure of `contains(_:)`.
    public typealias Element = FieldExpression<ListElement<Value.ListedValue>, Value.ListedValue>

    /// Returns the condition that an element of the array equals a value. It is false when the array is nil.
    ///
    /// ```swift
    /// try messages.read { $0.tags.contains("urgent") }
    /// ```
    ///
    /// - Parameter element: The value. Nil equals nil.
    public func contains(_ element: Value.ListedValue) -> Condition<Record> {
        any(.compare(field: 0, .equal, element.fieldValue))
    }

    /// Returns the condition that an element of the array meets a condition. It is false when the array is nil.
    ///
    /// ```swift
    /// try messages.read { $0.tags.contains { $0.hasPrefix("project/") } }
    /// ```
    ///
    /// - Parameter condition: A closure that makes the condition from the element.
    public func contains(
        _ condition: (Element) -> some ConditionConvertible<ListElement<Value.ListedValue>>
    ) -> Condition<Record> { any(condition(Element(elementOf: Value.self)).condition.node) }

    /// Returns the condition that all elements of the array meet a condition. It is true when there are none, also when
    /// the array is nil.
    ///
    /// - Parameter condition: A closure that makes the condition from the element.
    public func allSatisfy(
        _ condition: (Element) -> some ConditionConvertible<ListElement<Value.ListedValue>>
    ) -> Condition<Record> { !any(condition(Element(elementOf: Value.self)).condition.node.negated) }

    private func any(_ condition: PredicateNode) -> Condition<Record> {
        FieldExpression<Record, Value.ListedValue>(self, .anyElement(Value.ListedValue.fieldType)).node { _ in condition }
    }
}
