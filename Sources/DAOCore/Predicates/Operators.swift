import Foundation

// The operators of typed conditions. Both operands have the type of the field, so a wrong literal is a
// compiler error at that literal.

/// A type whose values have an order. Only fields of such a type can be sorted and compared with `<`.
///
/// An enumeration that is declared with this protocol is ordered by its raw value:
///
/// ```swift
/// enum Priority: Int, OrderedFieldValue { case low, normal, high }
///
/// try messages.read(orderedBy: .descending(\.priority)) { $0.priority > .low }
/// ```
public protocol OrderedFieldValue: FieldValue {
    /// The type of the values that are not nil: the wrapped type of an optional, otherwise the type itself.
    associatedtype Present: OrderedFieldValue = Self
    /// The value; nil when it is nil.
    var present: Present? { get }
}

extension OrderedFieldValue where Present == Self {
    /// The value itself.
    @inlinable public var present: Self? { self }
}

extension Bool: OrderedFieldValue {}
extension Int: OrderedFieldValue {}
extension Int8: OrderedFieldValue {}
extension Int16: OrderedFieldValue {}
extension Int32: OrderedFieldValue {}
extension Int64: OrderedFieldValue {}
extension UInt: OrderedFieldValue {}
extension UInt8: OrderedFieldValue {}
extension UInt16: OrderedFieldValue {}
extension UInt32: OrderedFieldValue {}
extension UInt64: OrderedFieldValue {}
extension Double: OrderedFieldValue {}
extension Float: OrderedFieldValue {}
extension Decimal: OrderedFieldValue {}
extension String: OrderedFieldValue {}
extension Data: OrderedFieldValue {}
extension UUID: OrderedFieldValue {}
extension URL: OrderedFieldValue {}
extension Date: OrderedFieldValue {}
extension Duration: OrderedFieldValue {}
extension Optional: OrderedFieldValue where Wrapped: OrderedFieldValue {
    /// The value itself.
    @inlinable public var present: Wrapped? { self }
}

/// A type whose values are text for `contains`, `hasPrefix`, `hasSuffix` and `matches`.
public protocol TextFieldValue: FieldValue {}
extension String: TextFieldValue {}
extension URL: TextFieldValue {}
extension Optional: TextFieldValue where Wrapped: TextFieldValue {}

/// The condition that a field equals a value. Nil equals nil.
public func == <Record, Value>(field: FieldExpression<Record, Value>, value: Value) -> Condition<Record> {
    field.compared(.equal, to: value)
}

/// The condition that a field differs from a value. Nil differs from every value except nil.
public func != <Record, Value>(field: FieldExpression<Record, Value>, value: Value) -> Condition<Record> {
    field.compared(.notEqual, to: value)
}

/// The condition that a field is less than a value. It is false when either is nil.
public func < <Record, Value: OrderedFieldValue>(field: FieldExpression<Record, Value>, value: Value) -> Condition<Record> {
    field.compared(.less, to: value)
}

/// The condition that a field is less than or equal to a value. It is false when either is nil.
public func <= <Record, Value: OrderedFieldValue>(field: FieldExpression<Record, Value>, value: Value) -> Condition<Record> {
    field.compared(.lessOrEqual, to: value)
}

/// The condition that a field is greater than a value. It is false when either is nil.
public func > <Record, Value: OrderedFieldValue>(field: FieldExpression<Record, Value>, value: Value) -> Condition<Record> {
    field.compared(.greater, to: value)
}

/// The condition that a field is greater than or equal to a value. It is false when either is nil.
public func >= <Record, Value: OrderedFieldValue>(field: FieldExpression<Record, Value>, value: Value) -> Condition<Record> {
    field.compared(.greaterOrEqual, to: value)
}

/// Not available: a field that is not optional is never nil.
@available(*, unavailable, message: "a field that is not optional is never nil")
public func == <Record, Value>(
    field: FieldExpression<Record, Value>, value: _OptionalNilComparisonType
) -> Condition<Record> { .none }

/// Not available: a field that is not optional is never nil.
@available(*, unavailable, message: "a field that is not optional is never nil")
public func != <Record, Value>(
    field: FieldExpression<Record, Value>, value: _OptionalNilComparisonType
) -> Condition<Record> { .all }

/// The condition that two fields of a row are equal. Nil equals nil.
public func == <Record, Value>(
    left: FieldExpression<Record, Value>, right: FieldExpression<Record, Value>
) -> Condition<Record> { left.compared(.equal, with: right) }

/// The condition that two fields of a row differ. Nil differs from every value except nil.
public func != <Record, Value>(
    left: FieldExpression<Record, Value>, right: FieldExpression<Record, Value>
) -> Condition<Record> { left.compared(.notEqual, with: right) }

/// The condition that the left field of a row is less than the right field. It is false when either is nil.
public func < <Record, Value: OrderedFieldValue>(
    left: FieldExpression<Record, Value>, right: FieldExpression<Record, Value>
) -> Condition<Record> { left.compared(.less, with: right) }

/// The condition that the left field of a row is less than or equal to the right field. It is false when
/// either is nil.
public func <= <Record, Value: OrderedFieldValue>(
    left: FieldExpression<Record, Value>, right: FieldExpression<Record, Value>
) -> Condition<Record> { left.compared(.lessOrEqual, with: right) }

/// The condition that the left field of a row is greater than the right field. It is false when either is
/// nil.
public func > <Record, Value: OrderedFieldValue>(
    left: FieldExpression<Record, Value>, right: FieldExpression<Record, Value>
) -> Condition<Record> { left.compared(.greater, with: right) }

/// The condition that the left field of a row is greater than or equal to the right field. It is false when
/// either is nil.
public func >= <Record, Value: OrderedFieldValue>(
    left: FieldExpression<Record, Value>, right: FieldExpression<Record, Value>
) -> Condition<Record> { left.compared(.greaterOrEqual, with: right) }

/// The condition that both conditions hold.
public func && <Left: ConditionConvertible, Right: ConditionConvertible>(
    left: Left, right: Right
) -> Condition<Left.Record> where Left.Record == Right.Record {
    Condition(left.condition.tree.joined(right.condition.tree, isAnd: true))
}

/// The condition that at least one of two conditions holds.
public func || <Left: ConditionConvertible, Right: ConditionConvertible>(
    left: Left, right: Right
) -> Condition<Left.Record> where Left.Record == Right.Record {
    Condition(left.condition.tree.joined(right.condition.tree, isAnd: false))
}

/// Not available: a condition is one for all rows; choose it before.
@available(*, unavailable, message: "choose the condition before: Condition(unlessNil: value) { $0.field == $1 }, or with 'if'")
public func || <Right: ConditionConvertible>(left: Bool, right: Right) -> Condition<Right.Record> { right.condition }

/// The condition that holds for exactly the rows that do not meet the operand.
public prefix func ! <Operand: ConditionConvertible>(operand: Operand) -> Condition<Operand.Record> {
    Condition(operand.condition.tree.negated)
}

extension FieldExpression {
    fileprivate func compared(_ comparison: Comparison, with other: FieldExpression) -> Condition<Record> {
        guard let left = index, problem == nil else { return node { _ in .constant(false) } }
        guard let right = other.index, other.problem == nil else { return other.node { _ in .constant(false) } }
        guard counted == nil, other.counted == nil else {
            return Condition(.invalid(PredicateProblem("a number of related rows compares with a number, not with a field")))
        }
        guard parts.isEmpty, other.parts.isEmpty else {
            return Condition(.invalid(PredicateProblem("a part of an embedded value compares with a value, not with a field")))
        }
        if path == other.path { return node { .compareFields($0, comparison, right) } }
        // One of both is a field of the related row of the other's row.
        if let relation = other.path.last, path[...] == other.path.dropLast() {
            return node { .compareRelated(field: $0, comparison, relation: relation, relatedField: right) }
        }
        if let relation = path.last, other.path[...] == path.dropLast() {
            return other.node { .compareRelated(field: $0, comparison.mirrored, relation: relation, relatedField: left) }
        }
        return Condition(
            .invalid(PredicateProblem("a field of a related row compares with one of that row, or of the row that refers to it")))
    }

    /// Returns the condition that the value of the field is in a list. A nil in the list matches nil.
    ///
    /// - Parameter values: Any number of values. An empty list matches nothing; 100,000 values and more are
    ///   allowed.
    public func `in`(_ values: some Sequence<Value>) -> Condition<Record> {
        counted != nil
            ? Condition(.or(values.map { compared(.equal, to: $0).node }))
            : node { .isIn(field: $0, values.map(\.fieldValue)) }
    }
}

extension Sequence where Element: FieldValue {
    /// Not available: a condition asks the field.
    @available(*, unavailable, message: "a condition asks the field: $0.field.in(values)")
    public func contains<Record>(_ field: FieldExpression<Record, Element>) -> Condition<Record> { field.in(self) }
}

extension FieldExpression where Value: OrderedFieldValue {
    /// Returns the condition that the field is between two values, inclusive. It matches nothing when the
    /// bounds are reversed or nil.
    ///
    /// - Parameters:
    ///   - lower: The smallest value that matches.
    ///   - upper: The greatest value that matches.
    public func between(_ lower: Value, and upper: Value) -> Condition<Record> {
        Condition(.and([compared(.greaterOrEqual, to: lower).node, compared(.lessOrEqual, to: upper).node]))
    }
}

extension FieldExpression where Value: TextFieldValue {
    /// Returns the condition that the text of the field equals a text under the options. Nil matches nothing.
    public func equals(_ text: String, _ options: TextOptions) -> Condition<Record> {
        node { .text(field: $0, .equals, text, options) }
    }

    /// Returns the condition that the text of the field equals one of some texts under the options. Nil matches nothing, and an
    /// empty list, too.
    public func `in`(_ texts: some Sequence<String>, _ options: TextOptions) -> Condition<Record> {
        Condition(.or(texts.map { text in node { .text(field: $0, .equals, text, options) }.node }))
    }

    /// Returns the condition that the text of the field contains a text. Without options, bytes are compared.
    /// Nil matches nothing.
    public func contains(_ text: String, _ options: TextOptions = []) -> Condition<Record> {
        node { .text(field: $0, .contains, text, options) }
    }

    /// Returns the condition that the text of the field begins with a text. Without options, bytes are
    /// compared. Nil matches nothing.
    public func hasPrefix(_ text: String, _ options: TextOptions = []) -> Condition<Record> {
        node { .text(field: $0, .hasPrefix, text, options) }
    }

    /// Returns the condition that the text of the field ends with a text. Without options, bytes are
    /// compared. Nil matches nothing.
    public func hasSuffix(_ text: String, _ options: TextOptions = []) -> Condition<Record> {
        node { .text(field: $0, .hasSuffix, text, options) }
    }

    /// Returns the condition that the complete text of the field matches a pattern with `*` and `?`; see
    /// ``TextMatch/matches``. Nil matches nothing.
    public func matches(_ pattern: String, _ options: TextOptions = []) -> Condition<Record> {
        node { .text(field: $0, .matches, pattern, options) }
    }
}
