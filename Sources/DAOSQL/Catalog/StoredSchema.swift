import DAOCore
import Foundation

/// The catalog and the tables of a database, as one session sees them.
struct StoredSchema {
    /// The session.
    let session: SQLSession
    /// The SQL dialect of the engine.
    let dialect: any SQLDialect
    /// The table in which the database describes itself.
    let catalog: SQLCatalog
    /// The entities of tables that are read without being in the catalog.
    var lent: [String: EntityDescription] = [:]

    /// The path in errors.
    var path: String { session.path }

    private var connection: any SQLConnection { session.connection }

    /// Finds an entity in the catalog and its table in the database.
    ///
    /// - Returns: The description in the catalog; nil when there is none, or when the table does not exist.
    /// - Throws: `.schemaMismatch` when the table differs from its description in the catalog.
    func entity(named name: String) throws -> EntityDescription? {
        guard let stored = try description(of: name), let found = try connection.table(of: name, dialect) else { return nil }
        let table = SQLTable(stored, dialect: dialect)
        try found.check(table)
        try checkElements(of: table)
        return stored
    }

    /// The entities that the catalog describes.
    func entities() throws -> [EntityDescription] {
        guard try hasCatalog() else { return [] }
        var entities: [EntityDescription] = []
        try readCatalog(SQLText(catalog.selectAll), entity: "") { entities.append($0) }
        return entities
    }

    /// Reads the description of an entity from the catalog; nil when there is none.
    func description(of entity: String) throws -> EntityDescription? {
        guard try hasCatalog() else { return lent[entity] }
        var description: EntityDescription?
        try readCatalog(SQLText(catalog.select, [.value(.string(entity))]), entity: entity) { description = $0 }
        return description ?? lent[entity]
    }

    /// Whether the catalog exists. Once a session that reads has seen it, nothing is asked: ``readCatalog(_:entity:_:)`` notices
    /// that it is gone. A transaction that writes may have created it, and be rolled back.
    func hasCatalog() throws -> Bool {
        if session.hasSeenCatalog { return true }
        let found = try connection.hasTable(SQLCatalog.name)
        session.hasSeenCatalog = found && !session.isWriter
        return found
    }

    /// Calls a closure with each entity that a statement on the catalog finds.
    private func readCatalog(_ sql: SQLText, entity: String, _ body: (EntityDescription) -> Void) throws {
        func read() throws { try session.forEachRow(sql, entity: entity) { body(try catalog.entity(in: $0, path: path)) } }
        do {
            do {
                try read()
            } catch let missing as SQLMissingTable where missing.isStatement {
                // It failed before its first row.
                try read()
            }
        } catch let missing as SQLMissingTable {
            session.hasSeenCatalog = false
            if missing.isTable { return }
            if !missing.isColumn { throw missing.underlying }
            throw StorageError.corrupted(
                path, "the table in which the database describes itself lacks a column",
                engineCode: missing.underlying.engineCode, engineMessage: missing.underlying.engineMessage)
        }
    }

    /// Creates the table and its indexes, or adopts a table that another tool has created, and adds it to the
    /// catalog.
    func create(_ table: SQLTable) throws {
        let name = table.entity.name
        try table.entity.checkName(among: entities().filter { !$0.name.hasSameBytes(as: name) }, path: path)
        var stored = table.stored.asNew
        if let found = try connection.table(of: name, dialect) {
            try checkAdoption(of: found, table)
            stored.textIndex = stored.textIndex?.withoutIndex
        } else {
            try connection.makeRoom(for: name)
            try connection.execute(table.createTable)
            for index in table.entity.allIndexes { try create(index, of: table) }
        }
        for elements in table.elementTables {
            try removeRemains(of: elements)
            try create(elements)
        }
        try describe(stored)
    }

    /// Checks that a table that another program has made is the one that the suite would make, and that every rule can be kept
    /// in it.
    ///
    /// - Throws: `.schemaMismatch`, with every difference, or with every clause that stands against it.
    func checkAdoption(of found: SQLStoredTable, _ table: SQLTable) throws {
        try found.check(table)
        let obstacles = try connection.obstacles(to: table, beside: entities().map(\.name))
        if !obstacles.isEmpty { throw Self.unkept(obstacles, in: table.entity.name, path) }
    }

    /// Returns the error for a table in which the contract cannot be kept.
    static func unkept(_ obstacles: [String], in table: String, _ path: String) -> StorageError {
        StorageError(
            .schemaMismatch,
            "the table '\(table)' of another program cannot be used as it is: \(obstacles.joined(separator: "; ")); change the "
                + "table, or copy its rows into a new one. The table was not changed", entity: table, path: path)
    }

    /// Creates an index.
    func create(_ index: IndexDescription, of table: SQLTable) throws {
        if index.isUnique || index.condition != nil {
            let others = try connection.columnsNotComparedByBytes(in: table.entity.name, table.entity)
            if let column = others.sorted().first(where: index.allFields.contains) {
                throw StorageError(
                    .schemaMismatch,
                    "the column '\(column)' compares texts in another way than by bytes, so it can be in no unique and no partial "
                        + "index; declare the column without COLLATE. Nothing was changed",
                    entity: table.entity.name, field: column, path: path)
            }
        }
        try connection.execute(table.create(index, named: connection.freeName(table.indexName(index), dialect)))
    }

    /// Adds an entity to the catalog, or replaces its description.
    func describe(_ entity: EntityDescription) throws {
        try makeCatalog()
        let values: [Value] = [
            .string(entity.name), .string(try catalog.encoded(entity)), .integer(SQLCatalog.format(of: entity)),
        ]
        try session.run(SQLText(catalog.upsert, values.map(SQLBinding.value)), entity: entity.name)
        // Adopting an existing table changes no table, so other processes would not notice it without this
        // call.
        try connection.catalogDidChange()
    }

    /// Makes the tables in which the database describes itself, and gives it its identity, unless it has a catalog.
    func makeCatalog() throws {
        if try hasCatalog() { return }
        let properties = SQLProperties(dialect: dialect)
        try connection.execute(catalog.create)
        try connection.execute(properties.create)
        let identity: [Value] = [.string(SQLProperties.identity), .string(UUID().uuidString)]
        try session.run(SQLText(properties.insertMissing, identity.map(SQLBinding.value)), entity: "")
    }

    /// Removes an entity from the catalog.
    func remove(_ entity: String) throws {
        try session.run(SQLText(catalog.delete, [.value(.string(entity))]), entity: entity)
    }
}

extension SQLCatalog {
    /// Decodes the entity in a row of the catalog.
    fileprivate func entity(in row: SQLRowReader, path: String) throws -> EntityDescription {
        try decoded(row.text(inColumn: 0), format: row.integer(inColumn: 1), of: row.text(inColumn: 2), path: path)
    }
}
