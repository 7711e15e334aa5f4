import DAOCore

/// The rows of a query, read from the entries of an index that has all that the condition and the reader of the rows need, in
/// the order of the index.
struct IndexEntries {
    private let run: QueryRun
    private let reader: RecordReader
    private let entries: EntryReader
    private let index: Table.Index
    private let path: AccessPath

    /// Creates the rows; nil when no index has all of some fields and those of the condition, or when an index leads to fewer
    /// rows.
    ///
    /// - Parameters:
    ///   - fields: The positions of the fields.
    ///   - run: The query.
    ///   - reader: The reader that moves through the rows.
    init?(of fields: [Int], _ run: QueryRun, _ reader: RecordReader) {
        let paths = run.planner.paths().sorted(by: run.planner.isBetter)
        let fields = run.query.filter.fields.union(fields)
        for path in paths {
            // A path that conditions restrict more leads to fewer rows, which may as well be looked up.
            if let best = paths.first, path.shape != best.shape { return nil }
            guard case .index(let index) = path.target, let entries = EntryReader(of: fields, in: index, run, reader) else {
                continue
            }
            (self.run, self.reader, self.entries, self.index, self.path) = (run, reader, entries, index, path)
            return
        }
        return nil
    }

    /// Calls a closure with a reader at each row that meets the condition.
    func forEach(_ body: (RowReader) throws -> Void) throws {
        reader.plan = Plan(path: path, order: .path)
        let filter = Filter.every(path.residual)
        var walk = try RangeWalk(path, of: run.table, run.transaction, verifies: run.verifies)
        while try walk.next() {
            guard let offset = index.keyOffset(in: walk.key) else { throw run.table.corruptedIndex(index) }
            reader.show(entry: walk.key, key: walk.key.from(offset))
            try entries.show()
            if try filter.matches({ try entries.readValue(at: $0) }) { try body(entries) }
        }
    }
}
