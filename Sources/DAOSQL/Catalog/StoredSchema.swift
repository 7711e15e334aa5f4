import DAOCore

/// The catalog and the tables of a database, as one session sees them.
struct StoredSchema {
    /// The session.
    let session: SQLSession
    /// The SQL dialect of the engine.
    let dialect: any SQLDialect
    /// The table in which the database describes itself.
    let catalog: SQLCatalog

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
        guard try hasCatalog() else { return nil }
        var description: EntityDescription?
        try readCatalog(SQLText(catalog.select, [.value(.string(entity))]), entity: entity) { description = $0 }
        return description
    }

    /// Whether the catalog exists. Once a session that reads has seen it, nothing is asked: ``readCatalog(_:entity:_:)`` notices
    /// that it is gone. A transaction that writes may have created it, and be rolled back.
    private func hasCatalog() throws -> Bool {
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
            throw StorageError(
                .corrupted, "the table in which the database describes itself lacks a column; restore the database from a backup",
                path: path, engineCode: missing.underlying.engineCode, engineMessage: missing.underlying.engineMessage)
        }
    }

    /// Creates the table and its indexes, or adopts a table that another tool has created, and adds it to the
    /// catalog.
    func create(_ table: SQLTable) throws {
        let name = table.entity.name
        try table.entity.checkName(among: entities().filter { !$0.name.hasSameBytes(as: name) }, path: path)
        if let found = try connection.table(of: name, dialect) {
            try found.check(table)
        } else {
            try connection.makeRoom(for: name)
            try connection.execute(table.createTable)
            for index in table.entity.allIndexes { try create(index, of: table) }
        }
        for elements in table.elementTables {
            try removeRemains(of: elements)
            try create(elements)
        }
        try describe(table.stored)
    }

    /// Creates an index.
    func create(_ index: IndexDescription, of table: SQLTable) throws {
        try connection.execute(table.create(index, named: connection.freeName(table.indexName(index), dialect)))
    }

    /// Adds an entity to the catalog, or replaces its description.
    func describe(_ entity: EntityDescription) throws {
        try connection.execute(catalog.create)
        let values: [Value] = [.string(entity.name), .string(try catalog.encoded(entity)), .integer(SQLCatalog.format)]
        try session.run(SQLText(catalog.upsert, values.map(SQLBinding.value)), entity: entity.name)
        // Adopting an existing table changes no table, so other processes would not notice it without this
        // call.
        try connection.catalogDidChange()
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
