extension ResolvedQuery {
    /// The rows of an array that the query gives, in its order: the one meaning of a query.
    ///
    /// A storage that keeps its rows in an array has its whole `read` in this call; the conformance suite compares every other
    /// storage with it.
    ///
    /// - Parameter records: All rows, in any order.
    /// - Complexity: O(n log n) in the number of matching rows.
    public func evaluate<Record: Model>(over records: [Record]) -> [Record] {
        let schema = Record.schema
        var matching = records.filter { record in filter.matches { schema.value(at: $0, of: record) } }
        matching.sort { left, right in
            for term in order {
                let result = Value.order(schema.value(at: term.field, of: left), schema.value(at: term.field, of: right))
                if result != 0 { return (result < 0) == term.isAscending }
            }
            return false
        }
        let rest = matching.dropFirst(offset)
        return Array(limit.map { rest.prefix($0) } ?? rest)
    }
}
