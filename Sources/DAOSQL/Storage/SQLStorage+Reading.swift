import DAOCore

extension SQLStorage {
    func read(_ query: Query<Record>) throws -> [Record] {
        let resolved = try schema.resolved(query, withRelated: true)
        if resolved.isEmpty { return try nothing([]) }
        var records: [Record] = []
        try reading(resolved) { session, known in records = try rows(of: resolved, session, known) }
        return records
    }

    /// Returns the rows of a query.
    func rows(of query: ResolvedQuery, _ session: SQLSession, _ known: KnownTable) throws -> [Record] {
        var records: [Record] = []
        try shaping(query, session, known) { shaped in
            let divided = try query.divided(for: known.table)
            let sql = try text(.rows, shaped, session, known) { try $0.select(divided.query, shaped.related) }
            records = try rows(of: sql, divided, session, known)
        }
        return records
    }

    /// Calls a closure with the shape of a query. It is called again where the choices of the last queries were not good for
    /// this one.
    ///
    /// It has no result: in code that is not compiled for a model, the type of a result is looked up in each call.
    private func shaping(
        _ query: ResolvedQuery, _ session: SQLSession, _ known: KnownTable, _ body: (ShapedQuery) throws -> Void
    ) throws {
        let assumed = try RelatedTables(query, of: known, owner.instance, session, assumesFew: true)
        let shaped = try ShapedQuery(query, of: known, assumed)
        if try shaped.repeatingChoices(on: session.connection, { try body(shaped) }) { return }
        if assumed.countsNothing { return try body(shaped) }
        let counted = try tables(session, query, known)
        let areFew = counted.isSame(as: assumed)
        shaped.plan.choices.learn(isAsBefore: areFew)
        try body(areFew ? shaped : ShapedQuery(query, of: known, counted))
    }

    /// Returns the rows of a statement that reads the declared columns.
    func rows(
        of sql: SQLText, _ query: DividedQuery, _ session: SQLSession, _ known: KnownTable
    ) throws -> [Record] {
        let statement = try session.statement(sql, entity: entity.name, query)
        defer { statement.giveBack() }
        var records: [Record] = []
        try schema.decode(
            reader(of: statement, known.table.entity, query.selection), expecting: min(query.query.limit ?? 0, 64), into: &records
        )
        return records
    }

    /// Returns a statement of a query.
    ///
    /// - Parameters:
    ///   - kind: What the statement reads.
    ///   - shaped: The query.
    ///   - choosesPath: Whether the statement reads by the path that is chosen for the query.
    ///   - fields: The only fields that it reads; nil for whole rows.
    ///   - compose: Composes the statement, over the table as it is read through the path.
    func text(
        _ kind: ShapePlan.Statement.Kind, _ shaped: ShapedQuery, choosesPath: Bool = true,
        reading fields: @autoclosure () -> Set<Int>? = nil, _ session: SQLSession, _ known: KnownTable,
        _ compose: (SQLTable) throws -> SQLText
    ) throws -> SQLText {
        let choice = choosesPath ? try PathChoice(shaped, known, session, reading: fields()) : nil
        return try shaped.plan.text(
            ShapePlan.Statement(kind: kind, hint: choice?.path.hint ?? ""), binding: shaped.values
        ) { try compose(known.table.using(choice)) }
    }

    func read(key: Key) throws -> Record? {
        var found: Record?
        try reading { session, known in
            let (statement, reader) = try session.rows(known.number, known.table).takeSelect()
            defer { statement.giveBack() }
            try statement.bind(key)
            if try reader.advance() { try schema.decode(reader, to: &found) }
        }
        return found
    }

    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] {
        if keys.count == 1 { return try read(key: keys[0]).map { [$0] } ?? [] }
        return try reading { session, known in
            // Rows may be read one by one, and all reads have to see the same commit.
            try session.beginReading()
            let (statement, reader) = try session.rows(known.number, known.table).takeSelect()
            defer { statement.giveBack() }
            try statement.prefetch(keys)
            var records: [Record] = []
            records.reserveCapacity(keys.count)
            var seen = Set<Key>(minimumCapacity: keys.count)
            for key in keys where seen.insert(key).inserted {
                try statement.bind(key)
                if try reader.advance() { records.append(try schema.decode(reader)) }
                statement.reset()
            }
            return records
        }
    }

    func keys(_ query: Query<Record>) throws -> [Key] {
        let resolved = try schema.resolved(query, withRelated: true)
        if resolved.isEmpty { return try nothing([]) }
        return try reading(resolved) { session, known in try keys(of: resolved, session, known) }
    }

    /// Returns the keys of a query's rows.
    func keys(of query: ResolvedQuery, _ session: SQLSession, _ known: KnownTable) throws -> [Key] {
        let key = entity.keyIndex
        var keys: [Key] = []
        try shaping(query, session, known) { shaped in
            let divided = try query.divided(for: known.table)
            let isWhole = divided.selection == nil
            let sql = try text(.keys, shaped, session, known) { table in
                isWhole
                    ? try table.select([key], query, shaped.related)
                    : try table.select(only: divided.fields + [key], divided.query, shaped.related)
            }
            let statement = try session.statement(sql, entity: entity.name, divided)
            defer { statement.giveBack() }
            let reader = statement.makeReader(of: entity, firstField: isWhole ? key : 0, keyColumn: isWhole ? 0 : key)
            reader.selection = divided.selection
            keys = try reader.keys()
        }
        return keys
    }

    func count(_ query: Query<Record>) throws -> Int {
        let resolved = try schema.resolved(query, withRelated: true)
        if resolved.isEmpty { return try nothing(0) }
        return try reading(resolved) { try count(resolved, $0, $1) }
    }

    func count(_ resolved: ResolvedQuery, _ session: SQLSession, _ known: KnownTable) throws -> Int {
        var unsorted = ResolvedQuery(filter: resolved.filter, order: [])
        var all = 0
        if try resolved.filter.divided(for: known.table).rest == nil {
            if let limit = resolved.limit { (unsorted.limit, unsorted.offset) = (limit, resolved.offset) }
            try shaping(unsorted, session, known) { shaped in
                let sql = try text(.count, shaped, reading: unsorted.filter.fields, session, known) {
                    try $0.count(unsorted, shaped.related)
                }
                try session.forEachRow(sql, entity: entity.name) { all = Int($0.integer(inColumn: 0)) }
            }
            if resolved.limit != nil { return all }
        } else {
            all = try keys(of: unsorted, session, known).count
        }
        let rest = max(all - min(resolved.offset, all), 0)
        return min(rest, resolved.limit ?? rest)
    }

    func readFields(_ fields: [Int], _ query: Query<Record>, _ body: (RowReader) throws -> Void) throws {
        let resolved = try schema.resolved(query, withRelated: true)
        if resolved.isEmpty { return try nothing(()) }
        let key = entity.keyIndex
        // The error of an unreadable value needs the key of its row. An index on a field contains the key too.
        try reading(resolved) { session, known in
            let shaped = try ShapedQuery(resolved, of: known, tables(session, resolved, known))
            let divided = try resolved.divided(for: known.table)
            func all() -> Set<Int> {
                Set(fields + divided.fields + [key] + resolved.order.compactMap(\.subject.field)).union(resolved.filter.fields)
            }
            let sql = try text(.fields(fields), shaped, reading: all(), session, known) {
                try $0.select(only: fields + divided.fields + [key], divided.query, shaped.related)
            }
            let statement = try session.statement(sql, entity: entity.name, divided)
            defer { statement.giveBack() }
            let reader = statement.makeReader(of: entity, keyColumn: key)
            reader.selection = divided.selection
            while try reader.advance() { try body(reader) }
        }
    }

    func groups(_ query: GroupQuery<Record>, _ body: (RowReader, [Int]) throws -> Void) throws {
        let resolved = try schema.resolved(Query(where: query.condition), withRelated: true)
        let counts = try query.counts.map { count -> SQLGroupCount in
            switch count {
            case .rows: .rows
            case .rowsMeeting(let condition): .rowsMeeting(try schema.resolved(Query(where: condition)).filter)
            case .values(let field): .values(field: field)
            }
        }
        if resolved.isEmpty { return try nothing(()) }
        let isDone = try reading(resolved) { session, known in
            for case .rowsMeeting(let filter) in counts {
                guard try filter.divided(for: known.table).rest == nil else { return false }
            }
            let evaluated = try evaluated(resolved, session, known)
            func fields() -> Set<Int> {
                counts.reduce(into: evaluated.filter.fields.union(query.fields)) { fields, count in
                    switch count {
                    case .rows: break
                    case .rowsMeeting(let filter): fields.formUnion(filter.fields)
                    case .values(let field): fields.insert(field)
                    }
                }
            }
            let (shaped, table) = try counted(evaluated, reading: fields(), session, known)
            let terms = query.order.map { (column: $0.count, isAscending: $0.isAscending) }
            let (sql, countColumn) = try table.groups(
                by: query.fields, counting: counts, where: shaped.query.filter, shaped.related, order: terms, limit: query.limit)
            let statement = try session.statement(sql, entity: entity.name)
            defer { statement.giveBack() }
            let reader = statement.makeReader(of: entity, keyColumn: -1)
            while try reader.advance() {
                try body(reader, counts.indices.map { Int(reader.integer(inColumn: countColumn + $0)) })
            }
            return true
        }
        if !isDone { try groupsInMemory(query, body) }
    }

    /// Returns a query with its table, read through the path that is chosen by counting.
    ///
    /// - Parameter fields: The only fields that the statement reads; nil for whole rows.
    func counted(
        _ query: ResolvedQuery, reading fields: @autoclosure () -> Set<Int>? = nil, _ session: SQLSession, _ known: KnownTable
    ) throws -> (query: ShapedQuery, table: SQLTable) {
        let shaped = try ShapedQuery(query, of: known, tables(session, query, known))
        let choice =
            try PathChoice(shaped, known, session, reading: fields())
            ?? PathChoice(covering: fields(), shaped, known, session)
        return (shaped, known.table.using(choice))
    }

    /// Returns a query whose filter the engine evaluates: the keys of the rows, when it cannot evaluate the filter.
    func evaluated(_ query: ResolvedQuery, _ session: SQLSession, _ known: KnownTable) throws -> ResolvedQuery {
        if try query.filter.divided(for: known.table).rest == nil { return query }
        try session.beginReading()
        let keys = ValueSet(try keys(of: query, session, known).map(\.value))
        return ResolvedQuery(filter: .isIn(field: entity.keyIndex, keys, isNegated: false), order: query.order)
    }

    /// What conditions on related rows read.
    func tables(_ session: SQLSession, _ query: ResolvedQuery, _ known: KnownTable) throws -> RelatedTables {
        try RelatedTables(query, of: known, owner.instance, session)
    }

    /// Returns the result of a query without rows and does not ask the engine; a closed database still
    /// throws.
    func nothing<Result>(_ result: Result) throws -> Result { try reading { _, _ in result } }
}

extension SQLRowReader {
    /// Returns the keys of the rows.
    ///
    /// - Throws: `.corruptedValue` for a value that cannot be a key, unless such values are reported.
    func keys() throws -> [Key] {
        var keys: [Key] = []
        while try advance() {
            if let key = currentKey {
                keys.append(key)
                continue
            }
            let error = corruptedValue(at: entity.keyIndex, "it cannot be a key")
            guard let report = UnreadableKeys.current?.report else { throw error }
            report(error)
        }
        return keys
    }
}

extension ResolvedQuery {
    /// Whether the query cannot have rows.
    var isEmpty: Bool { filter == .none || limit == 0 }
}
