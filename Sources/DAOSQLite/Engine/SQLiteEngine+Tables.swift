import CSQLite
import DAOCore
import DAOSQL

/// A table that was found or made.
struct KnownTable: Sendable {
    /// The statements about it.
    let table: SQLTable
    /// Its small number in this engine, by which connections keep its statements.
    let number: Int
}

extension SQLiteEngine {
    static let dialect = SQLiteDialect()
    private static let catalog = SQLCatalog(dialect: dialect)

    /// The table of an entity: known, found in the file, adopted, or made.
    ///
    /// - Parameters:
    ///   - entity: What the model declares.
    ///   - settings: For the transaction that makes it; nil when nothing may be written.
    /// - Throws: `.schemaMismatch` when the stored entity differs; `.readOnly` when it is missing and cannot be made.
    func table(for entity: EntityDescription, _ settings: WriteSettings?) throws -> KnownTable {
        if let known = tables.withLock({ $0[entity.name] }), known.table.entity == entity { return known }
        let table = SQLTable(entity, dialect: Self.dialect)
        try make(table, settings)
        return tables.withLock { tables in
            // Another thread may have been first. A number belongs to one form of one entity for good.
            if let known = tables[entity.name], known.table.entity == entity { return known }
            let known = KnownTable(table: table, number: numbers.add(1, ordering: .relaxed).oldValue)
            tables[entity.name] = known
            return known
        }
    }

    /// Makes a table that is not there, be it for the first time, or because the transaction that made it was rolled back.
    func make(_ table: SQLTable, _ settings: WriteSettings?) throws {
        if try coordinator.read({ try Self.isStored(table, $0) }) { return }
        guard let settings else {
            throw StorageError(
                .readOnly, "the entity '\(table.entity.name)' is not in the database yet, which can only be read",
                entity: table.entity.name,
                path: file.path)
        }
        try coordinator.write(callsOut: false) { connection in
            try connection.apply(settings)
            try connection.beginWriting()
            if try Self.isStored(table, connection) { return }
            try Self.create(table, connection)
        }
    }

    /// The entities that the catalog describes.
    func entities() throws -> [EntityDescription] {
        try coordinator.read { connection in
            guard try Self.hasCatalog(connection) else { return [] }
            return try connection.rows(Self.catalog.selectAll) {
                try Self.catalog.decoded(SQLiteConnection.text($0, 0), format: sqlite3_column_int64($0, 1))
            }
        }
    }

    private static func hasCatalog(_ connection: SQLiteConnection) throws -> Bool {
        try !connection.texts("SELECT name FROM sqlite_master WHERE type = 'table' AND name = '\(SQLCatalog.name)'").isEmpty
    }

    /// Whether the table is in the catalog and in the file, as the model declares it.
    ///
    /// - Throws: `.schemaMismatch` when it is there but different.
    private static func isStored(_ table: SQLTable, _ connection: SQLiteConnection) throws -> Bool {
        guard try hasCatalog(connection) else { return false }
        let statement = try connection.statement(
            SQLText(catalog.select, [.value(.string(table.entity.name))]), entity: table.entity.name)
        defer { statement.finish() }
        let code = sqlite3_step(statement.pointer)
        if code == SQLITE_DONE { return false }
        guard code == SQLITE_ROW else { throw connection.failure(code, entity: table.entity.name) }
        let stored = try catalog.decoded(
            SQLiteConnection.text(statement.pointer, 0), format: sqlite3_column_int64(statement.pointer, 1))
        let differences = SchemaDifference.between(stored, and: table.entity)
        guard differences.isEmpty else { throw SchemaDifference.error(differences, entity: table.entity.name) }
        guard let found = try StoredTable(table.entity.name, connection) else { return false }
        try found.check(table)
        return true
    }

    /// Makes the table and its indexes, or adopts one that another tool has made, and writes it into the catalog.
    private static func create(_ table: SQLTable, _ connection: SQLiteConnection) throws {
        let name = table.entity.name
        if let found = try StoredTable(name, connection) {
            try found.check(table)
        } else {
            try StoredTable.makeRoom(for: name, connection)
            try connection.execute(table.createTable)
            for field in table.indexedFields {
                let index = try StoredTable.freeName(name + "_" + table.entity.fields[field].name, connection)
                try connection.execute(table.createIndex(index, on: field))
            }
        }
        try connection.execute(catalog.create)
        let entry: [SQLBinding] = [
            .value(.string(name)), .value(.string(try catalog.encoded(table.entity))), .value(.integer(SQLCatalog.format)),
        ]
        let statement = try connection.statement(SQLText(catalog.upsert, entry), entity: name)
        defer { statement.finish() }
        let code = sqlite3_step(statement.pointer)
        if code != SQLITE_DONE { throw connection.failure(code, entity: name) }
    }
}
