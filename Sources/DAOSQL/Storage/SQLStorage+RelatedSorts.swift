import DAOCore

// Sorts by a field of the related row. The rows are read and sorted, or the related rows are read in their order and lead to
// the rows, until there are as many as the query asks for.

extension SQLStorage {
    func read(_ query: Query<Record>, sortedBy sort: RelatedSort) throws -> [Record] {
        try reading(query, sort) { shaped, session, known in
            let (choice, table, _) = try planned(ResolvedQuery(filter: shaped.query.filter, order: []), known, session)
            return try records(shaped.query, session, known) { query in
                try known.plans.text(
                    .sortedRows(.rowsFirst, hint: choice?.path.hint ?? ""), of: shaped.shape, binding: shaped.values
                ) { try table.select(query, sortedBy: sort, .rowsFirst, shaped.related) }
            }
        } ?? []
    }

    func mayFollow(_ sort: RelatedSort, for query: Query<Record>) throws -> Bool {
        try reading(query, sort) { shaped, session, known in
            switch try path(sort, shaped, session, known) {
            case nil: false
            case .chosenByEngine: true
            case .indexes(let indexes): try !indexes.hasShortRival(after: max(min(query.limit ?? 0, 1_000_000) * 3, 64))
            }
        } ?? false
    }

    func follow(_ sort: RelatedSort, for query: Query<Record>) throws -> [Record]? {
        try reading(query, sort) { shaped, session, known in
            func rows(_ order: RelatedJoin) throws -> [Record] {
                try records(shaped.query, session, known) { query in
                    try known.plans.text(.sortedRows(order, hint: ""), of: shaped.shape, binding: shaped.values) {
                        try known.table.select(query, sortedBy: sort, order, shaped.related)
                    }
                }
            }
            switch try path(sort, shaped, session, known) {
            case nil: return nil
            case .chosenByEngine: return try rows(.chosenByEngine)
            case .indexes(let indexes):
                var steps = LimitedReading.current.steps
                while true {
                    let found = try session.connection.interrupting(afterSteps: steps) {
                        try rows(.relatedFirst(hint: indexes.relatedHint, rowHint: indexes.rowHint))
                    }
                    if let found { return found }
                    // Some ten steps for each row that was looked at, and to read and to sort one takes as many.
                    if try indexes.hasShortRival(after: steps / 8, orTable: true) { return nil }
                    steps *= 4
                }
            }
        } ?? nil
    }

    /// Runs a closure with a query that sorts by a field of the related row. Returns nil when the query has no rows.
    private func reading<Result>(
        _ query: Query<Record>, _ sort: RelatedSort, _ body: (ShapedQuery, SQLSession, KnownTable) throws -> Result
    ) throws -> Result? {
        let resolved = try query.resolvedWithRelated()
        if resolved.isEmpty { return nil }
        return try reading { session, known in
            do {
                return try body(ShapedQuery(resolved, sortedBy: sort, of: known, tables(session, resolved)), session, known)
            } catch let error as SQLMissingTable {
                guard error.isIndex else { throw RelatedConditionsUnavailable() }
                owner.instance.leavePlanning(of: sort.target.description.name)
                throw error
            }
        }
    }

    private func path(
        _ sort: RelatedSort, _ shaped: ShapedQuery, _ session: SQLSession, _ known: KnownTable
    ) throws -> RelatedPath? {
        try RelatedPath(sort, shaped, known, owner.instance.table(for: sort.target, in: session), session)
    }
}
