import DAOCore

extension RowCursor {
    /// Reads a cursor to its end, and fails when a batch is too long or the cursor does not end.
    ///
    /// - Parameters:
    ///   - count: The maximum number of rows of a batch.
    ///   - body: A closure that is called with each batch.
    func forEachBatch(
        of count: Int, file: StaticString = #fileID, line: UInt = #line, _ body: ([Record]) throws -> Void
    ) throws {
        // No case stores as many rows.
        for _ in 0..<20_000 {
            let rows = try next(count)
            try expect(rows.count <= count, "at most \(count) rows at once, not \(rows.count)", file: file, line: line)
            if rows.isEmpty { return }
            try body(rows)
        }
        throw fail("expected the cursor to end", file: file, line: line)
    }
}
