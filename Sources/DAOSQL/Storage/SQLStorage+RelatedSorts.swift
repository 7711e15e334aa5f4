import DAOCore

// Sorts by a field of the related row. The rows are read and sorted, or the related rows are read in their order and lead to
// the rows, until there are as many as the query asks for.

extension SQLStorage {
    func read(_ query: Query<Record>, sortedBy sort: RelatedSort) throws -> [Record] {
        let resolved = try schema.resolved(query, withRelated: true)
        if resolved.isEmpty { return try nothing([]) }
        var records: [Record] = []
        try reading { session, known in
            do {
                let related = try tables(session, resolved, known)
                let shaped = try ShapedQuery(resolved, sortedBy: sort, of: known, related)
                let isRead = try shaped.repeatingChoices(on: session.connection) {
                    records = try joined(.rowsFirst, sort, shaped, session, known)
                }
                if isRead { return }
                records =
                    try followed(sort, shaped, session, known) ?? joined(.rowsFirst, sort, shaped, session, known)
            } catch let error as SQLMissingTable {
                guard error.isIndex else { throw RelatedConditionsUnavailable() }
                owner.instance.leavePlanning(of: sort.target.description.name)
                throw error
            }
        }
        return records
    }

    /// Returns the rows of a statement that joins them with the related rows.
    private func joined(
        _ join: RelatedJoin, _ sort: RelatedSort, _ shaped: ShapedQuery, _ session: SQLSession, _ known: KnownTable
    ) throws -> [Record] {
        let divided = try shaped.query.divided(for: known.table)
        // The related rows lead to the rows by a path of their own.
        let sql = try text(.sortedRows(join), shaped, choosesPath: join == .rowsFirst, session, known) {
            try $0.select(divided.query, sortedBy: sort, join, shaped.related)
        }
        return try rows(of: sql, divided, session, known)
    }

    /// Returns the rows of a query with a limit by reading the related rows in their order until there are enough. The rows
    /// without a value come before them, or after.
    ///
    /// - Returns: Nil when the rows are sooner read and sorted.
    private func followed(
        _ sort: RelatedSort, _ shaped: ShapedQuery, _ session: SQLSession, _ known: KnownTable
    ) throws -> [Record]? {
        let query = shaped.query
        guard let limit = query.limit else { return nil }
        let (wanted, overflows) = limit.addingReportingOverflow(query.offset)
        if overflows || wanted > LimitedReading.current.maximumWanted { return nil }
        let related = try owner.instance.table(for: sort.target, in: session)
        guard let path = try RelatedPath(sort, shaped, known, related, session) else { return nil }
        if case .indexes(let indexes) = path {
            let areFew = try indexes.hasShortRival(after: max(limit * 3, 64))
            shaped.plan.choices.learn(isAsBefore: areFew)
            if areFew { return nil }
        }
        let start = sort.start.map(\.value)
        // Where nil comes first, no row without a value comes after one with a value; where it comes last, none before.
        let (readsValues, readsOthers) = (sort.nilsFirst || start?.isNull != true, !sort.nilsFirst || start?.isNull != false)
        let others = readsOthers ? RowsWithoutValue(sort, shaped, known, related) : nil
        /// Returns the rows whose related rows have a value.
        func values(_ count: Int, ifNoneIsMissing: Bool = false) throws -> [Record]? {
            var part = query
            (part.limit, part.offset) = (count, 0)
            let isSame = part.limit == query.limit && query.offset == 0
            let shaped = isSame ? shaped : try ShapedQuery(part, sortedBy: sort, of: known, shaped.related)
            return try rowsWithValue(path, sort, shaped, ifNoneIsMissing: ifNoneIsMissing, session, known)
        }
        if let others, sort.nilsFirst, start == nil, others.areTold(by: path), !shaped.plan.hasMissing.load(ordering: .relaxed) {
            // Mostly no row lacks a related row, and one statement finds that too.
            guard let rows = try values(wanted, ifNoneIsMissing: true) else { return nil }
            if !rows.isEmpty { return query.offset == 0 ? rows : Array(rows.dropFirst(query.offset)) }
            shaped.plan.hasMissing.store(true, ordering: .relaxed)
        }
        if others != nil { try session.beginReading() }
        var found: [Record] = []
        /// Returns false when there are too many related rows without a value.
        func addOthers() throws -> Bool {
            guard let others, found.count < wanted else { return true }
            guard let query = try others.query(limit: wanted - found.count, path, session) else { return false }
            if !query.isEmpty { found += try rows(of: query, session, known) }
            return true
        }
        if sort.nilsFirst, try !addOthers() { return nil }
        if readsValues, found.count < wanted {
            guard let rows = try values(wanted - found.count) else { return nil }
            // A copy of each row is saved.
            if found.isEmpty { found = rows } else { found += rows }
        }
        if !sort.nilsFirst, try !addOthers() { return nil }
        return query.offset == 0 ? found : Array(found.dropFirst(query.offset))
    }

    /// Returns the rows whose related rows have a value.
    ///
    /// - Parameter ifNoneIsMissing: Whether none are read where a row without a related row exists.
    /// - Returns: Nil when the rows are sooner read and sorted.
    private func rowsWithValue(
        _ path: RelatedPath, _ sort: RelatedSort, _ shaped: ShapedQuery, ifNoneIsMissing: Bool, _ session: SQLSession,
        _ known: KnownTable
    ) throws -> [Record]? {
        guard case .indexes(let indexes) = path else { return try joined(.chosenByEngine, sort, shaped, session, known) }
        var steps = LimitedReading.current.steps
        while true {
            let found = try session.connection.interrupting(afterSteps: steps) {
                try joined(
                    .relatedFirst(hint: indexes.relatedHint, rowHint: indexes.rowHint, ifNoneIsMissing: ifNoneIsMissing), sort,
                    shaped, session, known)
            }
            if let found { return found }
            // Some ten steps for each row that was looked at, and to read and to sort one takes as many.
            if try indexes.hasShortRival(after: steps / 8, orTable: true) { return nil }
            steps *= 4
        }
    }
}

/// The rows without a related row, and those whose related row has no value in the field of a sort.
private struct RowsWithoutValue {
    private let sort: RelatedSort
    private let shaped: ShapedQuery
    private let known: KnownTable
    private let related: KnownTable
    /// The position of the key of the related row.
    private let link: Int

    /// - Returns: Nil when there are no such rows, because both fields always have a value.
    init?(_ sort: RelatedSort, _ shaped: ShapedQuery, _ known: KnownTable, _ related: KnownTable) {
        guard let link = known.table.entity.index(of: sort.relation.field) else { return nil }
        (self.sort, self.shaped, self.known, self.related, self.link) = (sort, shaped, known, related, link)
        if !canBeMissing, !hasOptionalValue { return nil }
    }

    /// Whether the index of a path tells whether there are such rows.
    func areTold(by path: RelatedPath) -> Bool {
        if case .indexes = path { !hasOptionalValue } else { false }
    }

    private var canBeMissing: Bool { known.table.entity.fields[link].type.isOptional }
    private var hasOptionalValue: Bool { related.table.entity.fields[sort.field].type.isOptional }

    /// Returns the query that reads them.
    ///
    /// - Returns: A query without rows when there are none; nil when there are too many related rows without a value.
    func query(limit: Int, _ path: RelatedPath, _ session: SQLSession) throws -> ResolvedQuery? {
        var filters: [Filter] = []
        if canBeMissing, try mayBeMissing(path, session) { filters.append(.isNull(field: link, true)) }
        if hasOptionalValue {
            let few = LimitedReading.current.few
            let keys = try relatedKeys(limit: few + 1, session)
            if keys.count > few { return nil }
            if !keys.isEmpty { filters.append(.isIn(field: link, ValueSet(keys), isNegated: false)) }
        }
        var query = shaped.query
        (query.limit, query.offset) = (limit, 0)
        let isOther: Filter = filters.isEmpty ? .none : filters.count == 1 ? filters[0] : .or(filters)
        let start = sort.start.flatMap { $0.value.isNull ? $0.filter : nil } ?? .all
        query.filter = filters.isEmpty ? .none : .every([query.filter, start, isOther])
        return query
    }

    /// Whether a row may have no related row. An index tells.
    private func mayBeMissing(_ path: RelatedPath, _ session: SQLSession) throws -> Bool {
        guard case .indexes(let indexes) = path else { return true }
        let sql = try shaped.plan.text(.init(kind: .hasMissing, hint: indexes.rowHint), binding: []) {
            known.table.hasNull(in: link, hint: indexes.rowHint)
        }
        return try session.hasRow(sql, entity: known.table.entity.name)
    }

    /// The keys of the related rows without a value.
    private func relatedKeys(limit: Int, _ session: SQLSession) throws -> [Value] {
        let (table, key) = (related.table, related.table.entity.keyIndex)
        let query = ResolvedQuery(filter: .isNull(field: sort.field, true), order: [], limit: limit)
        let statement = try session.statement(try table.select([key], query, nil), entity: table.entity.name)
        defer { statement.giveBack() }
        return try statement.makeReader(of: table.entity, firstField: key, keyColumn: 0).keys().map(\.value)
    }
}
