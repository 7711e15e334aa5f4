import DAOCore

/// The groups of rows with equal values of some fields, from an index that has these fields beside each other, after fields
/// with one value in all rows.
///
/// The entries of a group are beside each other. Where the rows are not counted, the first entry of a group leads to the next
/// group, so the cost follows the number of groups. One row of each group is read, for its values.
struct IndexGroups {
    private let table: Table
    private let transaction: any KeyValueTransaction
    private let fields: [Int]
    private let index: Table.Index
    private let path: AccessPath
    /// The number of the index's components before those of the fields.
    private let start: Int
    private let access: RowAccess

    /// Creates the groups of a query's rows; nil when no index has all that its condition and the groups need.
    ///
    /// - Parameters:
    ///   - fields: The positions of the fields.
    ///   - run: The query.
    init?(of fields: [Int], _ run: QueryRun) {
        guard let (path, index, start) = run.planner.pathForGroups(of: fields) else { return nil }
        (table, transaction) = (run.table, run.transaction)
        self.start = start
        self.fields = fields
        self.index = index
        self.path = path
        access = RowAccess(transaction: run.transaction, table: run.table, filter: nil, verifies: run.verifies)
    }

    /// Calls a closure for each group, with a reader at one of its rows and the number of its rows.
    ///
    /// - Parameters:
    ///   - reader: The reader.
    ///   - counted: Whether the number of rows is needed; otherwise it is 1.
    ///   - body: The closure. Groups ascend by the fields in turn.
    func forEach(_ reader: RecordReader, counted: Bool, _ body: (RowReader, Int) throws -> Void) throws {
        reader.plan = Plan(path: path, order: .path)
        let isAscending = index.components[start].isAscending
        var walk = try RangeWalk(path.ranges, isAscending: isAscending, transaction, access.check(index))
        var group: [UInt8] = []
        var isThere = try walk.next()
        while isThere {
            guard let values = index.values(in: walk.key, fixed: start, count: start + fields.count) else {
                throw table.corruptedIndex(index)
            }
            group.removeAll(keepingCapacity: true)
            group.append(contentsOf: walk.key[..<values.end])
            if values.isCut {
                isThere = try forEachCut(&walk, group, reader, body)
                continue
            }
            let first = try primaryKey(walk.key)
            var count = 1
            if counted {
                isThere = try walk.next()
                while isThere, walk.key.begins(with: group) {
                    count += 1
                    isThere = try walk.next()
                }
                reader.lookedAt += count - 1
            } else {
                isThere = try isAscending ? walk.seek(group.successor) : walk.seekBefore(group)
                // A group can be in several ranges.
                while try !isThere && walk.next() { isThere = !walk.key.begins(with: group) }
            }
            try show(first, in: reader)
            try body(reader, count)
        }
    }

    /// Calls a closure for each group among the rows whose values begin alike and are truncated in the index, and moves the
    /// walk behind them.
    private func forEachCut(
        _ walk: inout RangeWalk, _ beginning: [UInt8], _ reader: RecordReader, _ body: (RowReader, Int) throws -> Void
    ) throws -> Bool {
        var groups: [[Value]: (key: UnsafeRawBufferPointer, count: Int)] = [:]
        var isThere = true
        while isThere, walk.key.begins(with: beginning) {
            let key = try primaryKey(walk.key)
            try show(key, in: reader)
            groups[try fields.map { try reader.readValue(at: $0) }, default: (key, 0)].count += 1
            isThere = try walk.next()
        }
        for (_, group) in groups.sorted(by: { $0.key.isOrdered(before: $1.key) }) {
            try show(group.key, in: reader)
            try body(reader, group.count)
        }
        return isThere
    }

    private func primaryKey(_ entry: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer {
        guard let offset = index.keyOffset(in: entry) else { throw table.corruptedIndex(index) }
        return entry.from(offset)
    }

    private func show(_ primaryKey: UnsafeRawBufferPointer, in reader: RecordReader) throws {
        guard try access.show(primaryKey, in: reader) else { throw table.corruptedIndex(index) }
    }
}

extension Planner {
    /// The path through an index that has fields beside each other, in one direction, after fields with one value in all
    /// rows, where no row has to be looked at; nil when there is none.
    fileprivate func pathForGroups(of fields: [Int]) -> (path: AccessPath, index: Table.Index, start: Int)? {
        for path in paths().sorted(by: isBetter) {
            guard case .index(let index) = path.target, index.elements == nil, path.residual.isEmpty else { continue }
            for start in 0...path.fixedCount where start + fields.count <= index.components.count {
                let part = index.components[start..<start + fields.count]
                let isAscending = part.first?.isAscending
                if part.map(\.field) == fields, part.allSatisfy({ $0.isAscending == isAscending }) { return (path, index, start) }
            }
        }
        return nil
    }
}
