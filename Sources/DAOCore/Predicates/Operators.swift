import Foundation

// The operators of the typed form. Both sides have the field's own type, so a wrong literal is a compiler error at that literal.

/// A type whose values have an order: `<` and sorting take only fields of these.
public protocol OrderedFieldValue: FieldValue {}
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
extension Optional: OrderedFieldValue where Wrapped: OrderedFieldValue {}

/// A type whose values are text to `contains`, `hasPrefix`, `hasSuffix` and `matches`.
public protocol TextFieldValue: FieldValue {}
extension String: TextFieldValue {}
extension URL: TextFieldValue {}
extension Optional: TextFieldValue where Wrapped: TextFieldValue {}

/// Whether a field equals a value; nil equals nil.
public func == <Record, Value>(field: FieldExpression<Record, Value>, value: Value) -> Condition<Record> {
    field.node { .compare(field: $0, .equal, value.fieldValue) }
}

/// Whether a field differs from a value; nil differs from every value but nil.
public func != <Record, Value>(field: FieldExpression<Record, Value>, value: Value) -> Condition<Record> {
    field.node { .compare(field: $0, .notEqual, value.fieldValue) }
}

/// Whether a field is less than a value; false when either is nil.
public func < <Record, Value: OrderedFieldValue>(field: FieldExpression<Record, Value>, value: Value) -> Condition<Record> {
    field.node { .compare(field: $0, .less, value.fieldValue) }
}

/// Whether a field is at most a value; false when either is nil.
public func <= <Record, Value: OrderedFieldValue>(field: FieldExpression<Record, Value>, value: Value) -> Condition<Record> {
    field.node { .compare(field: $0, .lessOrEqual, value.fieldValue) }
}

/// Whether a field is greater than a value; false when either is nil.
public func > <Record, Value: OrderedFieldValue>(field: FieldExpression<Record, Value>, value: Value) -> Condition<Record> {
    field.node { .compare(field: $0, .greater, value.fieldValue) }
}

/// Whether a field is at least a value; false when either is nil.
public func >= <Record, Value: OrderedFieldValue>(field: FieldExpression<Record, Value>, value: Value) -> Condition<Record> {
    field.node { .compare(field: $0, .greaterOrEqual, value.fieldValue) }
}

/// Whether two fields of a row are equal; nil equals nil.
public func == <Record, Value>(
    left: FieldExpression<Record, Value>, right: FieldExpression<Record, Value>
) -> Condition<Record> { left.compared(.equal, with: right) }

/// Whether two fields of a row differ; nil differs from every value.
public func != <Record, Value>(
    left: FieldExpression<Record, Value>, right: FieldExpression<Record, Value>
) -> Condition<Record> { left.compared(.notEqual, with: right) }

/// Whether one field of a row is less than another; false when either is nil.
public func < <Record, Value: OrderedFieldValue>(
    left: FieldExpression<Record, Value>, right: FieldExpression<Record, Value>
) -> Condition<Record> { left.compared(.less, with: right) }

/// Whether one field of a row is at most another; false when either is nil.
public func <= <Record, Value: OrderedFieldValue>(
    left: FieldExpression<Record, Value>, right: FieldExpression<Record, Value>
) -> Condition<Record> { left.compared(.lessOrEqual, with: right) }

/// Whether one field of a row is greater than another; false when either is nil.
public func > <Record, Value: OrderedFieldValue>(
    left: FieldExpression<Record, Value>, right: FieldExpression<Record, Value>
) -> Condition<Record> { left.compared(.greater, with: right) }

/// Whether one field of a row is at least another; false when either is nil.
public func >= <Record, Value: OrderedFieldValue>(
    left: FieldExpression<Record, Value>, right: FieldExpression<Record, Value>
) -> Condition<Record> { left.compared(.greaterOrEqual, with: right) }

/// Both conditions.
public func && <Left: ConditionConvertible, Right: ConditionConvertible>(
    left: Left, right: Right
) -> Condition<Left.Record> where Left.Record == Right.Record {
    Condition(.both([left.condition.node, right.condition.node]))
}

/// Either condition.
public func || <Left: ConditionConvertible, Right: ConditionConvertible>(
    left: Left, right: Right
) -> Condition<Left.Record> where Left.Record == Right.Record {
    Condition(.either([left.condition.node, right.condition.node]))
}

/// Exactly the rows that do not meet a condition.
public prefix func ! <Operand: ConditionConvertible>(operand: Operand) -> Condition<Operand.Record> {
    Condition(.not(operand.condition.node))
}

extension FieldExpression {
    fileprivate func compared(_ comparison: Comparison, with other: FieldExpression) -> Condition<Record> {
        guard let right = other.index else { return other.node { _ in .constant(false) } }
        guard path == other.path else {
            return Condition(.invalid(PredicateProblem("a field of a related row does not compare with one of another row")))
        }
        return node { .compareFields($0, comparison, right) }
    }

    /// Whether the field's value is one of these; nil among them matches nil.
    ///
    /// - Parameter values: From none, which matches nothing, to 100,000 and more.
    public func `in`(_ values: some Sequence<Value>) -> Condition<Record> {
        node { .isIn(field: $0, values.map(\.fieldValue)) }
    }
}

extension FieldExpression where Value: OrderedFieldValue {
    /// Whether the field is between two values, both included; nothing when the bounds are reversed or nil.
    ///
    /// - Parameters:
    ///   - lower: The least value that matches.
    ///   - upper: The greatest value that matches.
    public func between(_ lower: Value, and upper: Value) -> Condition<Record> {
        node {
            .and([
                .compare(field: $0, .greaterOrEqual, lower.fieldValue), .compare(field: $0, .lessOrEqual, upper.fieldValue),
            ])
        }
    }
}

extension FieldExpression where Value: TextFieldValue {
    /// Whether the field's text equals another under the options; nil matches nothing.
    public func equals(_ text: String, _ options: TextOptions) -> Condition<Record> {
        node { .text(field: $0, .equals, text, options) }
    }

    /// Whether the field's text has a text somewhere in it, by bytes unless options say otherwise; nil matches nothing.
    public func contains(_ text: String, _ options: TextOptions = []) -> Condition<Record> {
        node { .text(field: $0, .contains, text, options) }
    }

    /// Whether the field's text begins with a text, by bytes unless options say otherwise; nil matches nothing.
    public func hasPrefix(_ text: String, _ options: TextOptions = []) -> Condition<Record> {
        node { .text(field: $0, .hasPrefix, text, options) }
    }

    /// Whether the field's text ends with a text, by bytes unless options say otherwise; nil matches nothing.
    public func hasSuffix(_ text: String, _ options: TextOptions = []) -> Condition<Record> {
        node { .text(field: $0, .hasSuffix, text, options) }
    }

    /// Whether the field's whole text matches a pattern of `*` and `?`; see ``TextMatch/matches``. Nil matches nothing.
    public func matches(_ pattern: String, _ options: TextOptions = []) -> Condition<Record> {
        node { .text(field: $0, .matches, pattern, options) }
    }
}
