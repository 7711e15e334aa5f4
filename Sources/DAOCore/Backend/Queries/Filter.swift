/// A predicate in the form that backends interpret. It is checked against the schema. Literals have the types
/// of their fields, negations are pushed down to the leaves, and constants are folded.
///
/// ``matches(_:)`` defines the meaning of every case. A backend that evaluates a part itself must return
/// exactly the same (contract P7).
public indirect enum Filter: Sendable, Hashable {
    /// All rows.
    case all
    /// No row.
    case none
    /// The conjunction of two or more filters, none of which is an `and`, `all` or `none`.
    case and([Filter])
    /// The disjunction of two or more filters, none of which is an `or`, `all` or `none`.
    case or([Filter])
    /// Whether the field is nil (`true`) or is not nil (`false`).
    case isNull(field: Int, Bool)
    /// A comparison of the field with a value that is not null and has the type of the field. A nil field
    /// matches only `.notEqual`.
    case compare(field: Int, Comparison, Value)
    /// A comparison of the field with another field of a comparable type. The flag negates the result.
    case compareFields(Int, Comparison, Int, isNegated: Bool)
    /// Whether the value of the field is in a set. A nil field is in no set. The flag negates the result.
    case isIn(field: Int, ValueSet, isNegated: Bool)
    /// Whether the text of the field matches. A nil field does not match. The flag negates the result.
    case text(field: Int, TextPattern, isNegated: Bool)
    /// A condition on the related rows, in the queries of SQL engines. The flag negates the result.
    case related(RelatedFilter, isNegated: Bool)
    /// A condition on a part of an embedded value. The flag negates the result.
    case embedded(EmbeddedFilter, isNegated: Bool)
}

extension Filter {
    /// The parts that all have to match.
    @inlinable package var conjuncts: [Filter] {
        switch self {
        case .all: []
        case .and(let parts): parts
        default: [self]
        }
    }

    /// Returns whether a row matches. This is the reference evaluator.
    ///
    /// - Parameter row: A closure that returns a field of the row by its position.
    public func matches(_ row: (Int) throws -> Value) rethrows -> Bool {
        // The leaves are elsewhere: they would make the frame of every level larger.
        switch self {
        case .and(let filters):
            for filter in filters where try !filter.matches(row) { return false }
            return true
        case .or(let filters):
            for filter in filters where try filter.matches(row) { return true }
            return false
        default: return try leafMatches(row)
        }
    }

    private func leafMatches(_ row: (Int) throws -> Value) rethrows -> Bool {
        switch self {
        case .all: return true
        case .none: return false
        case .and, .or: return try matches(row)
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
        // The values of a row do not tell.
        case .related: return false
        case .embedded(let filter, let isNegated): return try filter.matches(row(filter.field)) != isNegated
        }
    }

    /// The fields whose whole value the filter compares with a value or another field.
    package var comparedFields: Set<Int> {
        switch self {
        case .and(let filters), .or(let filters): filters.reduce(into: []) { $0.formUnion($1.comparedFields) }
        case .compare(let field, _, _), .isIn(let field, _, _): [field]
        case .compareFields(let left, _, let right, _): [left, right]
        case .all, .none, .isNull, .text, .related, .embedded: []
        }
    }

    /// The fields that the filter uses.
    public var fields: Set<Int> {
        switch self {
        case .all, .none, .related: []
        case .and(let filters), .or(let filters): filters.reduce(into: []) { $0.formUnion($1.fields) }
        case .isNull(let field, _), .compare(let field, _, _), .isIn(let field, _, _), .text(let field, _, _): [field]
        case .compareFields(let left, _, let right, _): [left, right]
        case .embedded(let filter, _): [filter.field]
        }
    }
}
