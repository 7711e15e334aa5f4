extension Filter {
    /// The depth to which parts are compared.
    private static let implicationDepth = 8

    /// Whether every row that this filter matches is known to match another filter. False also when it is not known.
    ///
    /// A partial index serves the queries whose filters imply that of the index.
    ///
    /// ```swift
    /// query.filter.implies(condition)  // a part of the query is the condition, or a narrower one on the same field
    /// ```
    ///
    /// - Parameter other: A filter of comparisons with values, nil, `in`, and their conjunctions and disjunctions. Any
    ///   other part is implied only by an equal part.
    /// - Complexity: The product of the sizes of both filters.
    public func implies(_ other: Filter) -> Bool { implies(other, Self.implicationDepth) }

    private func implies(_ other: Filter, _ depth: Int) -> Bool {
        if self == other { return true }
        guard depth > 0 else { return false }
        if case .and(let parts) = other { return parts.allSatisfy { implies($0, depth - 1) } }
        if case .and(let parts) = self { return parts.contains { $0.implies(other, depth - 1) } }
        if case .or(let parts) = self { return parts.allSatisfy { $0.implies(other, depth - 1) } }
        if case .or(let parts) = other { return parts.contains { implies($0, depth - 1) } }
        return leafImplies(other)
    }

    /// Whether a condition on one field implies another one on the same field.
    private func leafImplies(_ other: Filter) -> Bool {
        let fields = fields
        guard fields.count == 1, other.fields == fields else { return false }
        func excludes(_ value: Value) -> Bool { !matches { _ in value } }
        switch self {
        // Only some values match.
        case .isNull(_, true): return other.matches { _ in .null }
        case .compare(_, .equal, let value): return other.matches { _ in value }
        case .isIn(_, let set, isNegated: false): return set.values.allSatisfy { value in other.matches { _ in value } }
        case .compare(_, let comparison, let value):
            if case .compare(_, let wider, let bound) = other, wider != .equal, wider != .notEqual {
                let order = Value.order(value, bound)
                switch (comparison, wider) {
                case (.less, .less), (.less, .lessOrEqual), (.lessOrEqual, .lessOrEqual): return order <= 0
                case (.lessOrEqual, .less): return order < 0
                case (.greater, .greater), (.greater, .greaterOrEqual), (.greaterOrEqual, .greaterOrEqual): return order >= 0
                case (.greaterOrEqual, .greater): return order > 0
                default: return false
                }
            }
        default: break
        }
        // All values match the other filter but some, none of which matches this one.
        switch other {
        case .isNull(_, false): return excludes(.null)
        case .compare(_, .notEqual, let value): return excludes(value)
        case .isIn(_, let set, isNegated: true): return set.values.allSatisfy(excludes)
        default: return false
        }
    }
}
