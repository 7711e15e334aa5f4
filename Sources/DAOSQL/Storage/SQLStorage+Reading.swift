import DAOCore

extension SQLStorage {
    func read(_ query: Query<Record>) throws -> [Record] {
        let resolved = try query.resolvedWithRelated()
        if resolved.isEmpty { return try nothing([]) }
        return try reading(resolved) { session, known in
            let shaped = try ShapedQuery(resolved, of: known, tables(session, resolved))
            let choice = try PathChoice(shaped, known, session)
            return try records(resolved, session, known) { query in
                try known.plans.text(.rows(hint: choice?.path.hint ?? ""), of: shaped.shape, binding: shaped.values) {
                    try known.table.using(choice).select(query, shaped.related)
                }
            }
        }
    }

    /// Returns the rows of a query, by a statement that reads the declared columns.
    func records(
        _ query: ResolvedQuery, _ session: SQLSession, _ known: KnownTable, _ select: (ResolvedQuery) throws -> SQLText
    ) throws -> [Record] {
        let divided = try query.divided(for: known.table)
        let statement = try session.statement(try select(divided.query), entity: entity.name, divided)
        defer { statement.giveBack() }
        var records: [Record] = []
        if let limit = query.limit { records.reserveCapacity(min(limit, 16)) }
        try schema.decode(reader(of: statement, known.table.entity, divided.selection), into: &records)
        return records
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
            if !session.isWriter { try session.connection.beginReading() }
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
        let resolved = try query.resolvedWithRelated()
        if resolved.isEmpty { return try nothing([]) }
        return try reading(resolved) { session, known in
            let (_, table, related) = try planned(resolved, known, session)
            return try keys(resolved, session, table, related)
        }
    }

    /// Returns the keys of a query's rows.
    func keys(
        _ query: ResolvedQuery, _ session: SQLSession, _ table: SQLTable, _ related: RelatedTables
    ) throws -> [Key] {
        let key = entity.keyIndex
        let divided = try query.divided(for: table)
        let isWhole = divided.selection == nil
        let sql =
            isWhole
            ? try table.select([key], query, related)
            : try table.select(only: divided.fields + [key], divided.query, related)
        let statement = try session.statement(sql, entity: entity.name, divided)
        defer { statement.giveBack() }
        let reader = statement.makeReader(of: entity, firstField: isWhole ? key : 0, keyColumn: isWhole ? 0 : key)
        reader.selection = divided.selection
        var keys: [Key] = []
        while try reader.advance() {
            guard let found = reader.currentKey else {
                throw reader.corruptedValue(at: key, "it cannot be a key")
            }
            keys.append(found)
        }
        return keys
    }

    func count(_ query: Query<Record>) throws -> Int {
        let resolved = try query.resolvedWithRelated()
        if resolved.isEmpty { return try nothing(0) }
        return try reading(resolved) { session, known in
            var all = 0
            if try resolved.filter.divided(for: known.table).rest == nil {
                let unsorted = ResolvedQuery(filter: resolved.filter, order: [])
                let (_, table, related) = try planned(unsorted, known, session)
                let sql = try table.count(resolved.filter, related)
                try session.forEachRow(sql, entity: entity.name) { all = Int($0.integer(inColumn: 0)) }
            } else {
                let unsorted = ResolvedQuery(filter: resolved.filter, order: [])
                all = try keys(unsorted, session, known.table, tables(session, unsorted)).count
            }
            let rest = max(all - min(resolved.offset, all), 0)
            return min(rest, resolved.limit ?? rest)
        }
    }

    func readFields(_ fields: [Int], _ query: Query<Record>, _ body: (RowReader) throws -> Void) throws {
        let resolved = try query.resolvedWithRelated()
        if resolved.isEmpty { return try nothing(()) }
        let key = entity.keyIndex
        // The error of an unreadable value needs the key of its row. An index on a field contains the key too.
        try reading(resolved) { session, known in
            let divided = try resolved.divided(for: known.table)
            let (_, table, related) = try planned(resolved, known, session)
            let sql = try table.select(only: fields + divided.fields + [key], divided.query, related)
            let statement = try session.statement(sql, entity: entity.name, divided)
            defer { statement.giveBack() }
            let reader = statement.makeReader(of: entity, keyColumn: key)
            reader.selection = divided.selection
            while try reader.advance() { try body(reader) }
        }
    }

    func groups(
        of fields: [Int], counted: Bool, where condition: Condition<Record>, _ body: (RowReader, Int) throws -> Void
    ) throws {
        let resolved = try Query(where: condition).resolvedWithRelated()
        if resolved.isEmpty { return try nothing(()) }
        try reading(resolved) { session, known in
            let filter = try evaluated(resolved, session, known.table).filter
            let (sql, countColumn) = try known.table.groups(
                of: fields, counted: counted, where: filter, try tables(session, resolved))
            let statement = try session.statement(sql, entity: entity.name)
            defer { statement.giveBack() }
            let reader = statement.makeReader(of: entity, keyColumn: -1)
            while try reader.advance() { try body(reader, Int(reader.integer(inColumn: countColumn))) }
        }
    }

    /// Returns a query whose filter the engine evaluates: the keys of the rows, when it cannot evaluate the filter.
    func evaluated(_ query: ResolvedQuery, _ session: SQLSession, _ table: SQLTable) throws -> ResolvedQuery {
        if try query.filter.divided(for: table).rest == nil { return query }
        if !session.isWriter { try session.connection.beginReading() }
        let keys = ValueSet(try keys(query, session, table, tables(session, query)).map(\.value))
        return ResolvedQuery(filter: .isIn(field: entity.keyIndex, keys, isNegated: false), order: query.order)
    }

    /// Returns the path that was chosen for a query, nil when the engine chooses; the table in statements that read it through
    /// the path; and what the query's conditions on related rows read.
    func planned(
        _ query: ResolvedQuery, _ known: KnownTable, _ session: SQLSession
    ) throws -> (choice: PathChoice?, table: SQLTable, related: RelatedTables) {
        let shaped = try ShapedQuery(query, of: known, tables(session, query))
        let choice = try PathChoice(shaped, known, session)
        return (choice, known.table.using(choice), shaped.related)
    }

    /// What conditions on related rows read.
    func tables(_ session: SQLSession, _ query: ResolvedQuery) throws -> RelatedTables {
        try RelatedTables(query, owner.instance, session)
    }

    /// Returns the result of a query without rows and does not ask the engine; a closed database still
    /// throws.
    private func nothing<Result>(_ result: Result) throws -> Result { try reading { _, _ in result } }
}

extension ResolvedQuery {
    /// Whether the query cannot have rows.
    var isEmpty: Bool { filter == .none || limit == 0 }
}
