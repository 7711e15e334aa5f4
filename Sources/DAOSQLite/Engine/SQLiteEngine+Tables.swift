import DAOCore
import DAOSQL
import DAOSystemSQLite
import Synchronization

/// A table that was found or made.
struct KnownTable: Sendable {
    /// The statements about it.
    let table: SQLTable
    /// Its small number in this engine, by which connections keep its statements.
    let number: Int
    /// Whether its entity has become another since.
    let outdated = Outdated()

    /// A mark that storages look at in every call.
    final class Outdated: Sendable {
        private let flag = Atomic(false)

        var isSet: Bool { flag.load(ordering: .relaxed) }
        func set() { flag.store(true, ordering: .relaxed) }
    }
}

extension SQLiteEngine {
    static let dialect = SQLiteDialect()
    static let catalog = SQLCatalog(dialect: dialect)

    /// The table of an entity: known, found in the file, brought up to date, adopted, or made.
    ///
    /// - Parameters:
    ///   - declaration: What the model declares.
    ///   - settings: For the transaction that makes it; nil when nothing may be written.
    /// - Throws: `.schemaMismatch` when the stored entity differs in what takes a migration step; `.readOnly` when it is missing or of an earlier
    ///   version and nothing can be written.
    func table(
        for declaration: @autoclosure () throws -> EntityDeclaration, _ entity: EntityDescription, _ settings: WriteSettings?
    )
        throws -> KnownTable
    {
        if let known = tables.withLock({ $0[entity.name] }), known.table.entity == entity { return known }
        let table = SQLTable(entity, dialect: Self.dialect)
        if case .differs(let stored) = try coordinator.read({ try Self.state(of: table, $0) }) {
            try bringUpToDate(stored, declaration(), settings)
        } else {
            try make(table, settings)
        }
        return tables.withLock { tables in
            // Another thread may have been first. A number belongs to one form of one entity for good.
            if let known = tables[entity.name] {
                if known.table.entity == entity { return known }
                known.outdated.set()
            }
            let known = KnownTable(table: table, number: numbers.add(1, ordering: .relaxed).oldValue)
            tables[entity.name] = known
            return known
        }
    }

    /// Forgets what is known of entities that have changed; storages that have their tables find out at their next call.
    func forget(_ names: Set<String>) {
        tables.withLock { tables in
            for name in names { tables.removeValue(forKey: name)?.outdated.set() }
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
        try coordinator.write(.call) { connection in
            try connection.apply(settings)
            try connection.beginWriting()
            if try Self.isStored(table, connection) { return }
            try Self.create(table, connection)
        }
    }

    /// Makes a stored entity what a model declares, in one transaction.
    private func bringUpToDate(_ stored: EntityDescription, _ declaration: EntityDeclaration, _ settings: WriteSettings?) throws {
        let name = declaration.description.name
        let change = EntityChange(from: stored, to: declaration)
        guard change.obstacles.isEmpty else { throw change.mismatch(path: file.path) }
        guard let settings else { throw change.readOnly(path: file.path) }
        if coordinator.isInside { throw change.insideTransaction(path: file.path) }
        let table = SQLTable(declaration.description, dialect: Self.dialect)
        try coordinator.write(.call, touching: name) { connection in
            try connection.apply(settings)
            try connection.beginWriting()
            switch try Self.state(of: table, connection) {
            case .same: break
            case .missing: try Self.create(table, connection)
            case .differs(let stored):
                // Another process may have changed it meanwhile.
                let store = SQLiteEntityStore(connection, path: file.path) { _ in }
                try store.apply(EntityChange(from: stored, to: declaration), path: file.path)
            }
        }
    }

    /// The entities that the catalog describes.
    func entities() throws -> [EntityDescription] {
        try coordinator.read { try Self.entities($0) }
    }

    private static func entities(_ connection: SQLiteConnection) throws -> [EntityDescription] {
        guard try hasCatalog(connection) else { return [] }
        return try connection.rows(catalog.selectAll) {
            try catalog.decoded(SQLiteConnection.text($0, 0), format: sqlite3_column_int64($0, 1))
        }
    }

    static func hasCatalog(_ connection: SQLiteConnection) throws -> Bool {
        try !connection.texts("SELECT name FROM sqlite_master WHERE type = 'table' AND name = '\(SQLCatalog.name)'").isEmpty
    }

    /// What the catalog and the file have of a table.
    enum TableState {
        /// Nothing, or a catalog entry whose table is gone.
        case missing
        /// What the model declares.
        case same
        /// Another version of the entity.
        case differs(EntityDescription)
    }

    /// Looks for a table in the catalog and in the file.
    ///
    /// - Throws: `.schemaMismatch` when the file does not have what the catalog says.
    static func state(of table: SQLTable, _ connection: SQLiteConnection) throws -> TableState {
        guard let stored = try description(of: table.entity.name, connection),
            let found = try StoredTable(table.entity.name, connection)
        else { return .missing }
        try found.check(stored == table.entity ? table : SQLTable(stored, dialect: dialect))
        return stored == table.entity ? .same : .differs(stored)
    }

    /// What the catalog says of an entity; nil when it has none of the name.
    static func description(of entity: String, _ connection: SQLiteConnection) throws -> EntityDescription? {
        guard try hasCatalog(connection) else { return nil }
        let statement = try connection.statement(SQLText(catalog.select, [.value(.string(entity))]), entity: entity)
        defer { statement.finish() }
        let code = sqlite3_step(statement.pointer)
        if code == SQLITE_DONE { return nil }
        guard code == SQLITE_ROW else { throw connection.failure(code, entity: entity) }
        return try catalog.decoded(
            SQLiteConnection.text(statement.pointer, 0), format: sqlite3_column_int64(statement.pointer, 1))
    }

    /// Whether the table is in the catalog and in the file, as the model declares it.
    ///
    /// - Throws: `.schemaMismatch` when it is there but different.
    private static func isStored(_ table: SQLTable, _ connection: SQLiteConnection) throws -> Bool {
        switch try state(of: table, connection) {
        case .missing: return false
        case .same: return true
        case .differs: throw outdated(table.entity.name, path: connection.path)
        }
    }

    /// The error of a storage whose entity was changed under it.
    static func outdated(_ entity: String, path: String) -> StorageError {
        StorageError(
            .schemaMismatch,
            "the stored '\(entity)' was changed by another version of the application while this one was using it: "
                + "ask the database for the storage again",
            entity: entity, path: path)
    }

    /// Makes the table and its indexes, or adopts one that another tool has made, and writes it into the catalog.
    static func create(_ table: SQLTable, _ connection: SQLiteConnection) throws {
        let name = table.entity.name
        try table.entity.checkName(among: entities(connection).filter { !$0.name.hasSameBytes(as: name) }, path: connection.path)
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
        try describe(table.entity, connection)
    }

    /// Writes an entity into the catalog.
    static func describe(_ entity: EntityDescription, _ connection: SQLiteConnection) throws {
        try connection.execute(catalog.create)
        try connection.run(
            catalog.upsert,
            [.string(entity.name), .string(try catalog.encoded(entity)), .integer(SQLCatalog.format)], entity: entity.name)
        // A table that was there already was adopted without a change of tables, by which other processes would notice.
        try connection.execute("PRAGMA schema_version = \((try connection.schemaVersion() + 1) & 0x7FFF_FFFF)")
    }
}

extension SQLiteConnection {
    /// Runs a statement with values that gives no rows.
    func run(_ text: String, _ values: [Value], entity: String) throws {
        let statement = try statement(SQLText(text, values.map(SQLBinding.value)), entity: entity)
        defer { statement.finish() }
        let code = sqlite3_step(statement.pointer)
        if code != SQLITE_DONE { throw failure(code, entity: entity) }
    }
}
