extension ResolvedQuery {
    /// Returns the rows of an array that the query selects, in its order. This method defines the meaning of
    /// a query.
    ///
    /// A storage that keeps its rows in an array can implement `read` with this call. The conformance suite
    /// compares every other storage with it.
    ///
    /// - Parameter records: All rows, in any order.
    /// - Throws: `CancellationError` when the task was cancelled (contract C5).
    /// - Complexity: O(n log n) in the number of matching rows.
    public func evaluate<Record: Model>(over records: [Record]) throws -> [Record] {
        let schema = Record.schema
        return try evaluate(over: records) { schema.value(at: $0, of: $1) }
    }

    /// Returns the rows of an array that the query selects, in its order. The rows can have any form.
    ///
    /// - Parameters:
    ///   - rows: All rows, in any order.
    ///   - value: A closure that returns the value of a field, given by its position, in a row.
    /// - Throws: Any error of the closure; `CancellationError` when the task was cancelled (contract C5).
    /// - Complexity: O(n log n) in the number of matching rows.
    public func evaluate<Row>(over rows: [Row], _ value: (Int, Row) throws -> Value) throws -> [Row] {
        var matching: [(row: Row, terms: [Value])] = []
        for (number, row) in rows.enumerated() {
            if number & 255 == 255 { try CallCancellation.check() }
            guard try filter.matches({ try value($0, row) }) else { continue }
            matching.append((row, try order.map { try $0.value { try value($0, row) } }))
        }
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
