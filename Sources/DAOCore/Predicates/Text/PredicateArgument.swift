/// A value that a placeholder of a text predicate can be bound to: any ``FieldValue``, and arrays, slices and sets of them for `IN` and
/// `BETWEEN`.
///
/// Nobody conforms to it directly: every ``FieldValue`` is one.
public protocol PredicateArgument: Sendable {
    /// What the placeholder stands for.
    var predicateOperand: PredicateOperand { get }
}

/// What a placeholder stands for: one value, or a list of them where the text wants a list.
public struct PredicateOperand: Sendable, Hashable {
    /// The value, where one is wanted.
    public var value: Value
    /// The values, where a list is wanted; nil for what is not a list.
    public var list: [Value]?

    /// Describes an argument.
    ///
    /// - Parameters:
    ///   - value: The value, where one is wanted.
    ///   - list: The values, where a list is wanted.
    public init(value: Value, list: [Value]? = nil) {
        self.value = value
        self.list = list
    }

    /// A list of whatever field values a sequence has; what is nil in it is null.
    static func list(of elements: some Sequence) -> [Value] { elements.map { ($0 as? any FieldValue)?.fieldValue ?? .null } }
}

extension FieldValue {
    /// The value.
    public var predicateOperand: PredicateOperand { PredicateOperand(value: fieldValue) }
}

extension Array where Element: Storable {
    /// The elements as a list; the embedded array where one value is wanted.
    public var predicateOperand: PredicateOperand {
        PredicateOperand(value: fieldValue, list: PredicateOperand.list(of: self))
    }
}

extension ArraySlice: PredicateArgument where Element: FieldValue {
    /// The elements as a list; the embedded array where one value is wanted.
    public var predicateOperand: PredicateOperand { Array(self).predicateOperand }
}

extension Set: PredicateArgument where Element: FieldValue {
    /// The elements as a list.
    public var predicateOperand: PredicateOperand { Array(self).predicateOperand }
}
