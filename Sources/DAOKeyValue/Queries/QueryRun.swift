import DAOCore

/// The execution of a query on a transaction.
struct QueryRun {
    let table: Table
    let query: ResolvedQuery
    let transaction: any KeyValueTransaction
    /// Whether checksums are verified.
    let verifies: Bool

    /// The planner of the query.
    var planner: Planner { Planner(table: table, query: query, transaction: transaction, verifies: verifies) }

    /// The plan, with the number of rows that its path leads to, counted up to ``Plan/countedRows``.
    func explanation() throws -> QueryPlan {
        let plan = try planner.plan()
        guard let path = plan.path else { return plan.description(table) }
        if path.shape == .all, let knownCount = countOfTable { return plan.description(table, estimatedRows: knownCount) }
        var walk = try RangeWalk(path.ranges, isAscending: true, transaction)
        var count = 0
        while count < Plan.countedRows, try walk.next() { count += 1 }
        return plan.description(table, estimatedRows: count)
    }

    /// Runs a closure that reads the rows, and tells the instruments of the running call.
    func reporting<Result>(_ reader: RecordReader, _ body: () throws -> Result) rethrows -> Result {
        guard let timer = StatementTimer.begin() else { return try body() }
        defer {
            let plan = reader.plan.map { " \($0.description(table))" } ?? ""
            timer.end(table.description.name + plan, rowsLookedAt: reader.lookedAt)
        }
        return try body()
    }

    /// The rows in the query's order, without the rows that its offset skips; nil when there are none.
    ///
    /// - Parameter reader: The reader that the source moves.
    func source(_ reader: RecordReader) throws -> RowSource? {
        let plan = try planner.plan()
        reader.plan = plan
        guard let path = plan.path else { return nil }
        let rows: RowSource =
            if let race = plan.race {
                try RacingSource(source(path, plan, reader)) { path in
                    let plan = Plan(path: path, order: .sort, entries: race.entriesOfWinner)
                    reader.plan = plan
                    return try source(path, plan, reader)
                }
            } else {
                try source(path, plan, reader)
            }
        for _ in 0..<query.offset {
            guard try rows.nextKey(reader) else { return nil }
        }
        return rows
    }

    /// The number of rows.
    func count(_ reader: RecordReader) throws -> Int {
        if let all = knownCount { return max(0, min(all, planner.wanted ?? .max) - query.offset) }
        reader.plan = try planner.planForCounting()
        guard let path = reader.plan?.path else { return 0 }
        let wanted = planner.wanted ?? .max
        var count = 0
        if path.residual.isEmpty {
            var walk = try RangeWalk(path, of: table, transaction, verifies: verifies)
            while count < wanted, try walk.next() { count += 1 }
            reader.lookedAt += count
        } else {
            let source = try unordered(path, access(path))
            while count < wanted, try source.next(reader) { count += 1 }
        }
        return max(0, count - query.offset)
    }

    /// The number of rows before the limit and the offset, where it is known without a walk.
    var knownCount: Int? { query.filter == .all ? countOfTable : nil }

    /// The number of all rows, where the store knows it.
    private var countOfTable: Int? {
        table.keyspace.length == 1 ? transaction.entryCount(of: UInt8(table.keyspace.number)) : nil
    }

    private func source(_ path: AccessPath, _ plan: Plan, _ reader: RecordReader) throws -> RowSource {
        let access = access(path, plan.race)
        let wanted = planner.wanted ?? .max
        guard plan.order == .path else {
            let candidates = Candidates(access, order: query.order, wanted: wanted, expected: plan.entries?.count ?? 0)
            try candidates.collect(unordered(path, access, plan.entries), reader)
            return candidates
        }
        switch path.target {
        case .table: return try TableSource(access, path.ranges, isAscending: query.order.first?.isAscending ?? true)
        case .index(let index):
            guard let order = IndexOrder(query.order, index, fixedCount: path.fixedCount), !order.isOneForwardGroup else {
                return try unordered(path, access)
            }
            return try IndexOrderSource(access, index, path.ranges, order, terms: query.order, wanted: wanted)
        }
    }

    private func unordered(
        _ path: AccessPath, _ access: RowAccess, _ entries: [UnsafeRawBufferPointer]? = nil
    ) throws -> RowSource {
        switch path.target {
        case .table: try TableSource(access, path.ranges, isAscending: true)
        case .index(let index): try IndexSource(access, index, path, entries)
        }
    }

    private func access(_ path: AccessPath, _ race: PathRace? = nil) -> RowAccess {
        var filter: RowFilter?
        if !path.residual.isEmpty {
            let rows = RowFilter(path.residual.count == 1 ? path.residual[0] : .and(path.residual), table)
            filter = race.map { RowFilter(rows, $0) } ?? rows
        }
        return RowAccess(transaction: transaction, table: table, filter: filter, verifies: verifies)
    }
}
