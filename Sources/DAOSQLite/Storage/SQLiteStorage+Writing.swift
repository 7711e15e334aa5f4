import DAOCore
import DAOSQL
import DAOSystemSQLite

extension SQLiteStorage {
    func insert(_ records: [Record]) throws { try store(records, mayReplace: false) { try $0.insert() } }

    func upsert(_ records: [Record]) throws { try store(records, mayReplace: true) { try $0.upsert() } }

    func erase(keys: [Key]) throws -> Int {
        if keys.isEmpty { return try writing(.statement) { _ in 0 } }
        return try writing(keys.count == 1 ? .statement : .call) { connection in
            let statement = try connection.rows(number, table).takeDelete()
            defer { statement.finish() }
            var count = 0
            for key in keys {
                connection.arena.reset()
                var code = statement.bind(key, at: 1, connection.arena)
                if code == SQLITE_OK { code = sqlite3_step(statement.pointer) }
                guard code == SQLITE_DONE else { throw connection.failure(code, entity: entity.name) }
                count += Int(sqlite3_changes(connection.handle))
                sqlite3_reset(statement.pointer)
            }
            return count
        }
    }

    func erase(_ query: Query<Record>) throws -> Int {
        let resolved = try query.resolved()
        if resolved.isEmpty { return try writing(.statement) { _ in 0 } }
        let sql = try table.delete(resolved)
        return try writing(.statement) { connection in
            let statement = try connection.statement(sql, entity: entity.name)
            defer { statement.finish() }
            let code = sqlite3_step(statement.pointer)
            guard code == SQLITE_DONE else { throw connection.failure(code, entity: entity.name) }
            return Int(sqlite3_changes(connection.handle))
        }
    }

    /// Stores rows with a statement that takes one.
    private func store(_ records: [Record], mayReplace: Bool, _ take: (RowStatements) throws -> RowInsert) throws {
        if records.isEmpty { return try writing(.statement) { _ in } }
        try checkOrder(records)
        try writing(records.count == 1 ? .statement : .call) { connection in
            let row = try take(try connection.rows(number, table))
            defer { row.statement.finish() }
            try records.withUnsafeBufferPointer { buffer in
                for index in buffer.indices {
                    try check(buffer[index])
                    row.writer.begin()
                    // The array holds the row in place for as long as the closure runs; `index` is one of its own.
                    try schema.encode(at: buffer.baseAddress! + index, to: row.writer)
                    let code = sqlite3_step(row.statement.pointer)
                    if code != SQLITE_DONE {
                        throw failure(code, buffer[index], row.statement, connection, mayReplace: mayReplace)
                    }
                    sqlite3_reset(row.statement.pointer)
                }
            }
        }
    }

    /// The error for a row that could not be stored.
    ///
    /// - Parameter mayReplace: Whether a row with the same key would have been replaced.
    func failure(
        _ code: Int32, _ record: Record, _ statement: Statement, _ connection: SQLiteConnection, mayReplace: Bool = true
    ) -> any Error {
        let failure = connection.failure(code, entity: entity.name)
        guard var error = failure as? StorageError else { return failure }
        let key = schema.key(of: record)
        error.key = UniqueID(key)
        sqlite3_reset(statement.pointer)
        switch code {
        case ExtendedCode.constraintPrimaryKey, ExtendedCode.constraintRowID: return duplicateKey(key, error)
        case ExtendedCode.constraintUnique:
            // Of a key and a value that are both taken SQLite may look at the value first, even where one row has both.
            if !mayReplace, (try? isStored(key, connection)) == true { return duplicateKey(key, error) }
            // SQLite names the column in words only, and not the other row: both are looked up.
            for field in entity.fields.indices where entity.fields[field].isUnique {
                let value = schema.value(at: field, of: record)
                guard let other = try? holder(of: value, in: field, except: key, connection) else { continue }
                return StorageError(
                    .uniqueViolation, "another row has this value in '\(entity.fields[field].name)', which is unique",
                    entity: entity.name, key: UniqueID(key), conflictingKey: UniqueID(other), field: entity.fields[field].name,
                    path: connection.path, engineCode: error.engineCode, engineMessage: error.engineMessage)
            }
            return StorageError(
                .uniqueViolation, "another row has the same value in a column that is unique", entity: entity.name,
                key: UniqueID(key), path: connection.path, engineCode: error.engineCode, engineMessage: error.engineMessage)
        default: return error
        }
    }

    private func duplicateKey(_ key: Key, _ error: StorageError) -> StorageError {
        StorageError(
            .duplicateKey, "a row with this key is stored already, or given twice: persist it, or choose another key",
            entity: entity.name, key: UniqueID(key), field: entity.fields[entity.keyIndex].name, path: error.path,
            engineCode: error.engineCode, engineMessage: error.engineMessage)
    }

    private func isStored(_ key: Key, _ connection: SQLiteConnection) throws -> Bool {
        let statement = try connection.rows(number, table).takeSelect()
        defer { statement.finish() }
        return try row(key, statement, connection) != nil
    }

    /// The key of another row that has a value in a field.
    private func holder(of value: Value, in field: Int, except key: Key, _ connection: SQLiteConnection) throws -> Key? {
        if value.isNull { return nil }
        let sql = SQLText(table.conflict(in: field), [.value(value), .value(key.value)])
        let statement = try connection.statement(sql, entity: entity.name)
        defer { statement.finish() }
        let reader = SQLiteRowReader(statement, connection, entity, firstField: entity.keyIndex, keyColumn: 0)
        return try reader.advance() ? reader.currentKey : nil
    }
}
