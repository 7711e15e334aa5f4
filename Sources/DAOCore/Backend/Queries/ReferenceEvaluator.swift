extension ResolvedQuery {
    /// Returns the rows of an array that the query selects, in its order. This method defines the meaning of
    /// a query.
    ///
    /// A storage that keeps its rows in an array can implement `read` with this call. The conformance suite
    /// compares every other storage with it.
    ///
    /// - Parameter records: All rows, in any order.
    /// - Complexity: O(n log n) in the number of matching rows.
    public func evaluate<Record: Model>(over records: [Record]) -> [Record] {
        let schema = Record.schema
        return evaluate(over: records) { schema.value(at: $0, of: $1) }
    }

    /// Returns the rows of an array that the query selects, in its order. The rows can have any form.
    ///
    /// - Parameters:
    ///   - rows: All rows, in any order.
    ///   - value: A closure that returns the value of a field, given by its position, in a row.
    /// - Complexity: O(n log n) in the number of matching rows.
    public func evaluate<Row>(over rows: [Row], _ value: (Int, Row) throws -> Value) rethrows -> [Row] {
        var matching = try rows.filter { row in try filter.matches { try value($0, row) } }
            .map { row in (row: row, terms: try order.map { try $0.value { try value($0, row) } }) }
        matching.sort { left, right in
            for (number, term) in order.enumerated() {
                let result = term.order(left.terms[number], right.terms[number])
                if result != 0 { return result < 0 }
            }
            return false
        }
        let rest = matching.dropFirst(offset)
        return (limit.map { rest.prefix($0) } ?? rest).map(\.row)
    }
}
