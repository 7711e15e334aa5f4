/// A predicate in the form that backends interpret: checked against the schema, literals in their fields' own types, negations pushed
/// down to the leaves, constants folded.
///
/// The one meaning of every case is ``matches(_:)``; a backend that evaluates a part itself gives exactly that (contract P7).
public indirect enum Filter: Sendable, Hashable {
    /// Every row.
    case all
    /// No row.
    case none
    /// All of them; two or more, none of them an `and`, `all` or `none`.
    case and([Filter])
    /// Any of them; two or more, none of them an `or`, `all` or `none`.
    case or([Filter])
    /// Whether the field is nil, or is not.
    case isNull(field: Int, Bool)
    /// The field against a value that is not null and of the field's type. A nil field matches `.notEqual` only.
    case compare(field: Int, Comparison, Value)
    /// The field against another field of comparable type; the flag says that the outcome is to be turned round.
    case compareFields(Int, Comparison, Int, isNegated: Bool)
    /// Whether the field's value is in a set; a nil field is in no set. The flag says that the outcome is to be turned round.
    case isIn(field: Int, ValueSet, isNegated: Bool)
    /// Whether the field's text matches; a nil field does not. The flag says that the outcome is to be turned round.
    case text(field: Int, TextPattern, isNegated: Bool)
}

extension Filter {
    /// Whether a row matches: the reference evaluator.
    ///
    /// - Parameter row: Gives a field of the row by its position.
    public func matches(_ row: (Int) throws -> Value) rethrows -> Bool {
        switch self {
        case .all: return true
        case .none: return false
        case .and(let filters):
            for filter in filters where try !filter.matches(row) { return false }
            return true
        case .or(let filters):
            for filter in filters where try filter.matches(row) { return true }
            return false
        case .isNull(let field, let expected): return try row(field).isNull == expected
        case .compare(let field, let comparison, let value):
            let stored = try row(field)
            if stored.isNull { return comparison == .notEqual }
            return comparison.holds(Value.order(stored, value))
        case .compareFields(let left, let comparison, let right, let isNegated):
            let (left, right) = (try row(left), try row(right))
            let holds: Bool
            if left.isNull || right.isNull {
                switch comparison {
                case .equal: holds = left.isNull && right.isNull
                case .notEqual: holds = left.isNull != right.isNull
                default: holds = false
                }
            } else {
                holds = comparison.holds(Value.order(left, right))
            }
            return holds != isNegated
        case .isIn(let field, let set, let isNegated): return try set.contains(row(field)) != isNegated
        case .text(let field, let pattern, let isNegated):
            guard case .string(let text) = try row(field) else { return isNegated }
            return pattern.matches(text) != isNegated
        }
    }

    /// The fields the filter looks at.
    public var fields: Set<Int> {
        switch self {
        case .all, .none: []
        case .and(let filters), .or(let filters): filters.reduce(into: []) { $0.formUnion($1.fields) }
        case .isNull(let field, _), .compare(let field, _, _), .isIn(let field, _, _), .text(let field, _, _): [field]
        case .compareFields(let left, _, let right, _): [left, right]
        }
    }
}
