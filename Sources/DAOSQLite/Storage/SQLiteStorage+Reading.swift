import DAOCore
import DAOSQL
import DAOSystemSQLite

extension SQLiteStorage {
    func read(_ query: Query<Record>) throws -> [Record] {
        let resolved = try query.resolved()
        if resolved.isEmpty { return try nothing([]) }
        let sql = try table.select(resolved)
        return try reading { connection in
            let statement = try connection.statement(sql, entity: entity.name)
            defer { statement.finish() }
            var records: [Record] = []
            try schema.decode(reader(of: statement, connection), into: &records)
            return records
        }
    }

    func read(key: Key) throws -> Record? {
        try reading { connection in
            let statement = try connection.rows(number, table).takeSelect()
            defer { statement.finish() }
            return try row(key, statement, connection).map { try schema.decode($0) }
        }
    }

    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] {
        if keys.count == 1 { return try read(key: keys[0]).map { [$0] } ?? [] }
        return try reading { connection in
            // Rows are read one by one, and have to be of one commit.
            if !connection.isWriter { try connection.beginSnapshot() }
            let statement = try connection.rows(number, table).takeSelect()
            defer { statement.finish() }
            var records: [Record] = []
            records.reserveCapacity(keys.count)
            var seen = Set<Key>(minimumCapacity: keys.count)
            for key in keys where seen.insert(key).inserted {
                if let row = try row(key, statement, connection) { records.append(try schema.decode(row)) }
                sqlite3_reset(statement.pointer)
            }
            return records
        }
    }

    func keys(_ query: Query<Record>) throws -> [Key] {
        let resolved = try query.resolved()
        if resolved.isEmpty { return try nothing([]) }
        return try reading { try keys(resolved, $0) }
    }

    /// The keys of a query's rows.
    func keys(_ query: ResolvedQuery, _ connection: SQLiteConnection) throws -> [Key] {
        let key = entity.keyIndex
        let statement = try connection.statement(try table.select([key], query), entity: entity.name)
        defer { statement.finish() }
        let reader = SQLiteRowReader(statement, connection, entity, firstField: key, keyColumn: 0)
        var keys: [Key] = []
        while try reader.advance() {
            guard let found = reader.key(inColumn: 0) else {
                throw reader.corruptedValue(at: key, "it cannot be a key")
            }
            keys.append(found)
        }
        return keys
    }

    func count(_ query: Query<Record>) throws -> Int {
        let resolved = try query.resolved()
        if resolved.isEmpty { return try nothing(0) }
        let sql = try table.count(resolved.filter)
        return try reading { connection in
            let statement = try connection.statement(sql, entity: entity.name)
            defer { statement.finish() }
            let code = sqlite3_step(statement.pointer)
            guard code == SQLITE_ROW else { throw connection.failure(code, entity: entity.name) }
            let all = Int(sqlite3_column_int64(statement.pointer, 0))
            let rest = max(all - min(resolved.offset, all), 0)
            return min(rest, resolved.limit ?? rest)
        }
    }

    func values(of field: Int, _ query: Query<Record>, _ body: (Value) throws -> Void) throws {
        let resolved = try query.resolved()
        if resolved.isEmpty { return try nothing(()) }
        let key = entity.keyIndex
        // The key names the row of a value that cannot be read; an index that has the field has it too.
        let sql = try table.select(field == key ? [field] : [field, key], resolved)
        try reading { connection in
            let statement = try connection.statement(sql, entity: entity.name)
            defer { statement.finish() }
            let reader = SQLiteRowReader(statement, connection, entity, firstField: field, keyColumn: field == key ? 0 : 1)
            while try reader.advance() {
                if reader.isNull(at: field), !entity.fields[field].type.isOptional {
                    throw reader.corruptedValue(at: field, "NULL is stored")
                }
                try body(try reader.readValue(at: field))
            }
        }
    }

    /// The row with a key, on a statement made for that; nil when there is none.
    func row(_ key: Key, _ statement: Statement, _ connection: SQLiteConnection) throws -> SQLiteRowReader? {
        connection.arena.reset()
        let code = statement.bind(key, at: 1, connection.arena)
        if code != SQLITE_OK { throw connection.failure(code, entity: entity.name) }
        let reader = reader(of: statement, connection)
        return try reader.advance() ? reader : nil
    }

    /// The result of a query that has no rows, without asking the engine; a closed database says so all the same.
    private func nothing<Result>(_ result: Result) throws -> Result { try reading { _ in result } }
}

extension ResolvedQuery {
    /// Whether no row can be in it.
    var isEmpty: Bool { filter == .none || limit == 0 }
}
