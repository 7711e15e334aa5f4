import DAOCore

/// The catalog and the tables of a database, as one session sees them.
struct StoredSchema {
    /// The session.
    let session: SQLSession
    /// The engine's way of writing.
    let dialect: any SQLDialect
    /// The table in which the database describes itself.
    let catalog: SQLCatalog

    /// The path that errors name.
    var path: String { session.path }

    private var connection: any SQLConnection { session.connection }

    /// Looks for an entity in the catalog and its table in the database.
    ///
    /// - Returns: The description in the catalog; nil when there is none, or when its table is gone.
    /// - Throws: `.schemaMismatch` when the table is not what the catalog says.
    func entity(named name: String) throws -> EntityDescription? {
        guard let stored = try description(of: name), let found = try connection.table(of: name) else { return nil }
        try found.check(SQLTable(stored, dialect: dialect))
        return stored
    }

    /// The entities that the catalog describes.
    func entities() throws -> [EntityDescription] {
        guard try connection.hasTable(SQLCatalog.name) else { return [] }
        var entities: [EntityDescription] = []
        try session.forEachRow(SQLText(catalog.selectAll), entity: "") { entities.append(try catalog.entity(in: $0)) }
        return entities
    }

    /// What the catalog says of an entity; nil when it has none of the name.
    func description(of entity: String) throws -> EntityDescription? {
        guard try connection.hasTable(SQLCatalog.name) else { return nil }
        var description: EntityDescription?
        try session.forEachRow(SQLText(catalog.select, [.value(.string(entity))]), entity: entity) {
            description = try catalog.entity(in: $0)
        }
        return description
    }

    /// Makes the table and its indexes, or adopts one that another tool has made, and writes it into the
    /// catalog.
    func create(_ table: SQLTable) throws {
        let name = table.entity.name
        try table.entity.checkName(among: entities().filter { !$0.name.hasSameBytes(as: name) }, path: path)
        if let found = try connection.table(of: name) {
            try found.check(table)
        } else {
            try connection.makeRoom(for: name)
            try connection.execute(table.createTable)
            for field in table.indexedFields { try createIndex(on: field, of: table) }
        }
        try describe(table.entity)
    }

    /// Makes the index on a field.
    func createIndex(on field: Int, of table: SQLTable) throws {
        let name = try connection.freeName(table.entity.name + "_" + table.entity.fields[field].name)
        try connection.execute(table.createIndex(name, on: field))
    }

    /// Writes an entity into the catalog.
    func describe(_ entity: EntityDescription) throws {
        try connection.execute(catalog.create)
        let values: [Value] = [.string(entity.name), .string(try catalog.encoded(entity)), .integer(SQLCatalog.format)]
        try session.run(SQLText(catalog.upsert, values.map(SQLBinding.value)), entity: entity.name)
        // A table that was there already was adopted without a change of tables, by which other processes
        // would notice.
        try connection.catalogDidChange()
    }

    /// Takes an entity out of the catalog.
    func remove(_ entity: String) throws {
        try session.run(SQLText(catalog.delete, [.value(.string(entity))]), entity: entity)
    }
}

extension SQLCatalog {
    /// The entity that a row of the catalog describes.
    fileprivate func entity(in row: SQLRowReader) throws -> EntityDescription {
        try decoded(row.text(inColumn: 0), format: row.integer(inColumn: 1))
    }
}
