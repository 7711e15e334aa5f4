import DAOCore
import DAOSQL
import DAOSystemSQLite

/// Entities and rows of an SQLite file without the application's types, in one transaction.
final class SQLiteEntityStore: EntityStore {
    /// The entities that are described otherwise than at the beginning.
    private(set) var changed: Set<String> = []

    private let connection: SQLiteConnection
    private let path: String
    private let touch: (String) throws -> Void
    private let makeLinks: ((RelationDescription) throws -> any LinkStorage)?
    private var descriptions: [String: EntityDescription] = [:]
    private var inserts: [String: RowInsert] = [:]
    private var upserts: [String: RowInsert] = [:]

    /// Looks at a file through a connection that is in a transaction.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - path: The file, for errors.
    ///   - makeLinks: Makes the links of a relationship; nil while only what entities look like is changed.
    ///   - touch: Told of every entity whose rows are written.
    init(
        _ connection: SQLiteConnection, path: String, makeLinks: ((RelationDescription) throws -> any LinkStorage)? = nil,
        touch: @escaping (String) throws -> Void
    ) {
        self.makeLinks = makeLinks
        self.connection = connection
        self.path = path
        self.touch = touch
    }

    // MARK: The catalog

    func entities() throws -> [EntityDescription] {
        guard try SQLiteEngine.hasCatalog(connection) else { return [] }
        return try connection.rows(SQLiteEngine.catalog.selectAll) {
            try SQLiteEngine.catalog.decoded(SQLiteConnection.text($0, 0), format: sqlite3_column_int64($0, 1))
        }
    }

    func property(_ name: String) throws -> String? {
        guard try !connection.texts("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'dao_properties'").isEmpty
        else { return nil }
        let statement = try connection.statement(
            SQLText("SELECT \"value\" FROM \"dao_properties\" WHERE \"name\" = ?", [.value(.string(name))]), entity: "")
        defer { statement.finish() }
        switch sqlite3_step(statement.pointer) {
        case SQLITE_ROW: return SQLiteConnection.text(statement.pointer, 0)
        case SQLITE_DONE: return nil
        case let code: throw connection.failure(code)
        }
    }

    func setProperty(_ name: String, to value: String?) throws {
        try beginWriting()
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS \"dao_properties\" (\n  \"name\" TEXT PRIMARY KEY,\n  \"value\" TEXT NOT NULL\n)")
        if let value {
            try connection.run(
                "INSERT INTO \"dao_properties\" (\"name\", \"value\") VALUES (?, ?) ON CONFLICT (\"name\") "
                    + "DO UPDATE SET \"value\" = excluded.\"value\"", [.string(name), .string(value)], entity: "")
        } else {
            try connection.run("DELETE FROM \"dao_properties\" WHERE \"name\" = ?", [.string(name)], entity: "")
        }
    }

    func create(_ entity: EntityDescription) throws {
        try beginWriting(entity.name)
        if try SQLiteEngine.description(of: entity.name, connection) != nil {
            throw StorageError(.schemaMismatch, "there is an entity '\(entity.name)' already", entity: entity.name, path: path)
        }
        try SQLiteEngine.create(SQLTable(entity, dialect: SQLiteEngine.dialect), connection)
    }

    func drop(_ entity: String) throws {
        try beginWriting(entity)
        let table = try table(entity)
        try connection.execute("DROP TABLE \(table.name)")
        try connection.run(SQLiteEngine.catalog.delete, [.string(entity)], entity: entity)
        forget(entity)
    }

    func rename(_ entity: String, to name: String) throws {
        try beginWriting(entity)
        try beginWriting(name)
        let table = try table(entity)
        // The table is about to be replaced: what others have tied to it would go with it.
        if name.hasPrefix("dao_") { try TableSurroundings(entity, connection).check(path: path) }
        try StoredTable.makeRoom(for: name, connection)
        try connection.execute("ALTER TABLE \(table.name) RENAME TO \(SQLiteEngine.dialect.quoted(name))")
        try connection.run(SQLiteEngine.catalog.delete, [.string(entity)], entity: entity)
        var renamed = table.entity
        renamed.name = name
        try SQLiteEngine.describe(renamed, connection)
        forget(entity)
    }

    func alter(_ change: EntityChange) throws -> Bool {
        guard let alteration = try TableAlteration(change, connection) else { return false }
        try beginWriting(change.wanted.name)
        try alteration.run(connection)
        try SQLiteEngine.describe(change.wanted, connection)
        forget(change.wanted.name)
        return true
    }

    // MARK: Rows

    func count(_ entity: String) throws -> Int {
        Int(try connection.integers("SELECT count(*) FROM \(table(entity).name)").first ?? 0)
    }

    func forEachRow(of entity: String, after key: Key?, _ body: (Key, [Value]) throws -> Bool) throws {
        let table = try table(entity)
        let column = table.columns[table.entity.keyIndex]
        let statement = try connection.statement(
            SQLText(
                "SELECT \(table.columns.joined(separator: ", ")) FROM \(table.name)" + (key == nil ? "" : " WHERE \(column) > ?")
                    + " ORDER BY \(column)", key.map { [.value($0.value)] } ?? []), entity: entity)
        defer { statement.finish() }
        let reader = SQLiteRowReader(statement, connection, table.entity, keyColumn: table.entity.keyIndex)
        while try reader.advance() {
            guard let key = reader.currentKey else {
                throw reader.corruptedValue(at: table.entity.keyIndex, "it cannot be a key")
            }
            if try !body(key, table.entity.fields.indices.map { try reader.readValue(at: $0) }) { return }
        }
    }

    func store(_ rows: [[Value]], in entity: String, replaces: Bool) throws {
        try beginWriting(entity)
        let table = try table(entity)
        let row = try replaces ? upsert(table) : insert(table)
        defer { row.statement.finish() }
        for values in rows {
            let key = try table.entity.key(of: values)
            row.writer.begin()
            try table.entity.write(values, to: row.writer)
            let code = sqlite3_step(row.statement.pointer)
            if code != SQLITE_DONE {
                let failure = connection.failure(code, entity: entity)
                sqlite3_reset(row.statement.pointer)
                throw try conflict(failure, code, key, values, table, replaces: replaces)
            }
            sqlite3_reset(row.statement.pointer)
        }
    }

    func erase(_ keys: [Key], from entity: String) throws {
        try beginWriting(entity)
        let table = try table(entity)
        for key in keys { try connection.run(table.deleteByKey, [key.value], entity: entity) }
    }

    // MARK: Links

    func links(of relation: RelationDescription) throws -> any LinkStorage {
        guard let makeLinks else {
            throw StorageError(.invalidTransaction, "links are not used while an entity is brought up to date", path: path)
        }
        return try makeLinks(relation)
    }

    func moveLinks(_ moves: [LinkMove]) throws {
        for move in moves { try beginWriting(move.old.entity) }
        // Through names that nobody has: two relationships may change places.
        var renames: [(temporary: String, new: LinkName)] = []
        for (number, move) in moves.enumerated() {
            let old = SQLLinks.name(move.old)
            guard try hasTable(old) else { continue }
            guard let new = move.new else {
                try connection.execute("DROP TABLE \(SQLiteEngine.dialect.quoted(old))")
                continue
            }
            renames.append(("dao_links.\(number)", new))
            try rename(old, renames[renames.count - 1].temporary)
        }
        for (temporary, new) in renames {
            let name = SQLLinks.name(new)
            // What a relationship of that name had left behind.
            if try hasTable(name) { try connection.execute("DROP TABLE \(SQLiteEngine.dialect.quoted(name))") }
            try rename(temporary, name)
        }
    }

    private func rename(_ table: String, _ name: String) throws {
        let dialect = SQLiteEngine.dialect
        try connection.execute("ALTER TABLE \(dialect.quoted(table)) RENAME TO \(dialect.quoted(name))")
    }

    private func hasTable(_ name: String) throws -> Bool {
        let text = "'" + name.replacing("'", with: "''") + "'"
        return try !connection.texts("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = \(text) COLLATE NOCASE").isEmpty
    }

    // MARK: Errors

    /// The error of a row that was refused, with the keys of both rows where another one is in its way.
    private func conflict(
        _ failure: any Error, _ code: Int32, _ key: Key, _ values: [Value], _ table: SQLTable, replaces: Bool
    ) throws -> any Error {
        guard [ExtendedCode.constraintPrimaryKey, ExtendedCode.constraintRowID, ExtendedCode.constraintUnique].contains(code)
        else { return (failure as? MissingTable)?.underlying ?? failure }
        let entity = table.entity
        if !replaces, try self.key(table.selectByKey, [key.value], column: entity.keyIndex, table) != nil {
            return StorageError(
                .duplicateKey, "two rows have the same key", entity: entity.name, key: UniqueID(key),
                field: entity.fields[entity.keyIndex].name, path: path)
        }
        for field in entity.fields.indices where entity.fields[field].isUnique && !values[field].isNull {
            guard let other = try self.key(table.conflict(in: field), [values[field], key.value], column: 0, table) else {
                continue
            }
            return StorageError.collision(key, other, field: entity.fields[field].name, of: entity.name, path: path)
        }
        return failure
    }

    /// The key in the first row of a statement; nil when there is none.
    private func key(_ text: String, _ values: [Value], column: Int, _ table: SQLTable) throws -> Key? {
        let statement = try connection.statement(SQLText(text, values.map(SQLBinding.value)), entity: table.entity.name)
        defer { statement.finish() }
        let reader = SQLiteRowReader(statement, connection, table.entity, keyColumn: column)
        return try reader.advance() ? reader.currentKey : nil
    }

    // MARK: What they share

    private func beginWriting(_ entity: String? = nil) throws {
        guard connection.isWriter else {
            throw StorageError(.invalidTransaction, "nothing can be written while entities are only read", path: path)
        }
        guard let entity else { return }
        try touch(entity)
    }

    private func table(_ name: String) throws -> SQLTable {
        let entity: EntityDescription
        if let known = descriptions[name] {
            entity = known
        } else {
            guard let stored = try SQLiteEngine.description(of: name, connection) else {
                throw StorageError(.schemaMismatch, "there is no entity '\(name)'", entity: name, path: path)
            }
            entity = stored
            descriptions[name] = stored
        }
        return SQLTable(entity, dialect: SQLiteEngine.dialect)
    }

    private func insert(_ table: SQLTable) throws -> RowInsert {
        if let known = inserts[table.entity.name] { return known }
        let made = RowInsert(try connection.prepare(table.insert, entity: table.entity.name), connection)
        inserts[table.entity.name] = made
        return made
    }

    private func upsert(_ table: SQLTable) throws -> RowInsert {
        if let known = upserts[table.entity.name] { return known }
        let made = RowInsert(try connection.prepare(table.upsert, entity: table.entity.name), connection)
        upserts[table.entity.name] = made
        return made
    }

    /// Forgets what is known of an entity that has changed.
    private func forget(_ entity: String) {
        changed.insert(entity)
        descriptions[entity] = nil
        inserts[entity] = nil
        upserts[entity] = nil
    }
}

extension StorageError {
    /// The error for two rows with one value in a field that is unique.
    static func collision(_ key: Key, _ other: Key, field: String, of entity: String, path: String) -> StorageError {
        StorageError(
            .uniqueViolation, "'\(field)' is unique, and two rows have the same value", entity: entity, key: UniqueID(key),
            conflictingKey: UniqueID(other), field: field, path: path)
    }
}
