/// A value that can be bound to a placeholder of a text predicate: any ``FieldValue``, and arrays, slices and
/// sets of field values for `IN` and `BETWEEN`.
///
/// Do not conform to this protocol directly. Every ``FieldValue`` conforms.
public protocol PredicateArgument: Sendable {
    /// The operand that the placeholder stands for.
    var predicateOperand: PredicateOperand { get }
}

/// The operand that a placeholder stands for: a value, or a list of values where the text expects a list.
public struct PredicateOperand: Sendable, Hashable {
    /// The operand where the text expects a value.
    public var value: Value
    /// The operand where the text expects a list; nil when the argument is not a list.
    public var list: [Value]?

    /// Creates an operand.
    ///
    /// - Parameters:
    ///   - value: The operand where the text expects a value.
    ///   - list: The operand where the text expects a list.
    public init(value: Value, list: [Value]? = nil) {
        self.value = value
        self.list = list
    }

    /// Returns the field values of a sequence. A nil element becomes null.
    static func list(of elements: some Sequence) -> [Value] { elements.map { ($0 as? any FieldValue)?.fieldValue ?? .null } }
}

extension FieldValue {
    /// The value as an operand.
    public var predicateOperand: PredicateOperand { PredicateOperand(value: fieldValue) }
}

extension Array where Element: Storable {
    /// The elements as a list. Where the text expects a value, the operand is the embedded array.
    public var predicateOperand: PredicateOperand {
        PredicateOperand(value: fieldValue, list: PredicateOperand.list(of: self))
    }
}

extension ArraySlice: PredicateArgument where Element: FieldValue {
    /// The elements as a list. Where the text expects a value, the operand is the embedded array.
    public var predicateOperand: PredicateOperand { Array(self).predicateOperand }
}

extension Set: PredicateArgument where Element: FieldValue {
    /// The elements as a list.
    public var predicateOperand: PredicateOperand { Array(self).predicateOperand }
}
