import DAOCore

/// Entities and rows of a database without the application's types, in one transaction.
final class SQLEntityStore: EntityStore {
    /// The entities whose description has changed since the beginning.
    private(set) var changed: Set<String> = []

    let schema: StoredSchema
    private let touch: (String) throws -> Void
    private let makeLinks: ((RelationDescription) throws -> any LinkStorage)?
    private var descriptions: [String: EntityDescription] = [:]
    private var inserts: [String: SQLRowBatch] = [:]
    private var upserts: [String: SQLRowBatch] = [:]

    var session: SQLSession { schema.session }
    var connection: any SQLConnection { schema.session.connection }
    var path: String { schema.path }

    /// Creates the store for a session that is in a transaction.
    ///
    /// - Parameters:
    ///   - schema: The catalog and the tables as the session sees them.
    ///   - makeLinks: Creates the storage of a relationship's links; nil while only the entities themselves
    ///     are changed.
    ///   - touch: Called with every entity whose rows are written.
    init(
        _ schema: StoredSchema, makeLinks: ((RelationDescription) throws -> any LinkStorage)? = nil,
        touch: @escaping (String) throws -> Void
    ) {
        self.schema = schema
        self.makeLinks = makeLinks
        self.touch = touch
    }

    // MARK: The catalog

    func entities() throws -> [EntityDescription] { try schema.entities() }

    func property(_ name: String) throws -> String? {
        guard try connection.hasTable(SQLProperties.name) else { return nil }
        var value: String?
        let select = SQLText(SQLProperties(dialect: schema.dialect).select, [.value(.string(name))])
        try session.forEachRow(select, entity: "") { value = $0.text(inColumn: 0) }
        return value
    }

    func setProperty(_ name: String, to value: String?) throws {
        try beginWriting()
        let properties = SQLProperties(dialect: schema.dialect)
        try schema.makeCatalog()
        try connection.execute(properties.create)
        if let value {
            try session.run(SQLText(properties.upsert, [.value(.string(name)), .value(.string(value))]), entity: "")
        } else {
            try session.run(SQLText(properties.delete, [.value(.string(name))]), entity: "")
        }
    }

    func create(_ entity: EntityDescription) throws {
        try beginWriting(entity.name)
        if try schema.description(of: entity.name) != nil {
            throw StorageError.entityExists(entity.name, path: path)
        }
        try schema.create(SQLTable(entity, dialect: schema.dialect))
    }

    func drop(_ entity: String) throws {
        try beginWriting(entity)
        let table = try table(entity)
        for elements in table.elementTables { try schema.drop(elements) }
        try connection.execute("DROP TABLE \(table.name)")
        try schema.remove(entity)
        forget(entity)
    }

    func rename(_ entity: String, to name: String) throws {
        try beginWriting(entity)
        try beginWriting(name)
        let table = try table(entity)
        // The table is about to be replaced, which would drop the objects that other tools have attached to
        // it.
        if name.hasPrefix("dao_") { try checkTies(to: entity) }
        for elements in table.elementTables { try schema.drop(elements) }
        try connection.makeRoom(for: name)
        try connection.execute("ALTER TABLE \(table.name) RENAME TO \(schema.dialect.quoted(name))")
        try schema.remove(entity)
        var renamed = table.stored
        renamed.name = name
        for elements in SQLTable(renamed, dialect: schema.dialect).elementTables { try schema.create(elements) }
        try schema.describe(renamed)
        forget(entity)
    }

    func alter(_ change: EntityChange) throws -> Bool {
        guard let alteration = try TableAlteration(change, schema) else { return false }
        try beginWriting(change.wanted.name)
        try alteration.run(schema)
        try schema.describe(change.wanted)
        forget(change.wanted.name)
        return true
    }

    /// Refuses to replace a table to which other tools have attached objects.
    private func checkTies(to table: String) throws {
        let ties = try connection.ties(to: table)
        guard !ties.isEmpty else { return }
        throw StorageError(
            .schemaMismatch,
            "the table '\(table)' has to be replaced, and \(ties.joined(separator: ", ")) would be lost; remove what another tool has added, "
                + "and add it again afterwards. Nothing was changed",
            entity: table, path: path)
    }

    // MARK: Rows

    var fillsIndexesLater: Bool { true }

    func count(_ entity: String) throws -> Int {
        var count = 0
        try session.forEachRow(try table(entity).count(.all), entity: entity) { count = Int($0.integer(inColumn: 0)) }
        return count
    }

    func forEachRow(of entity: String, after key: Key?, _ body: (Key, [Value]) throws -> Bool) throws {
        let table = try table(entity)
        let statement = try session.statement(table.selectInKeyOrder(after: key), entity: entity)
        defer { statement.giveBack() }
        try statement.stream()
        let reader = statement.makeReader(of: table.entity, keyColumn: table.entity.keyIndex)
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
        let batch = try batch(replaces ? .upsert : .insert, table)
        defer { batch.finish() }
        var number = 0
        do {
            while number < rows.count {
                _ = try table.entity.key(of: rows[number])
                batch.begin()
                try table.entity.write(rows[number], to: batch)
                try batch.add()
                number += 1
            }
            try batch.send()
        } catch let refused as SQLRefusedRow {
            throw try conflict(refused, rows[refused.number ?? min(number, rows.count - 1)], table, replaces: replaces)
        } catch let missing as SQLMissingTable {
            throw missing.underlying
        }
    }

    func erase(_ keys: [Key], from entity: String) throws {
        try beginWriting(entity)
        let statement = try session.statement(SQLText(table(entity).deleteByKey), entity: entity)
        defer { statement.giveBack() }
        _ = try statement.run(forEach: keys)
    }

    // MARK: Links

    func links(of relation: RelationDescription) throws -> any LinkStorage {
        guard let makeLinks else {
            throw StorageError(
                .invalidTransaction, "links cannot be used while an entity is brought up to date; use them afterwards", path: path
            )
        }
        return try makeLinks(relation)
    }

    func moveLinks(_ moves: [LinkMove]) throws {
        for move in moves { try beginWriting(move.old.entity) }
        // Renames through temporary names, since two relationships may exchange their names.
        var renames: [(temporary: String, new: LinkName)] = []
        for (number, move) in moves.enumerated() {
            let old = SQLLinks.name(move.old)
            guard try connection.hasTable(old) else { continue }
            guard let new = move.new else {
                try connection.execute("DROP TABLE \(schema.dialect.quoted(old))")
                continue
            }
            renames.append(("dao_links.\(number)", new))
            try rename(old, renames[renames.count - 1].temporary)
        }
        for (temporary, new) in renames {
            let name = SQLLinks.name(new)
            // The table may be left from an earlier relationship of that name.
            if try connection.hasTable(name) { try connection.execute("DROP TABLE \(schema.dialect.quoted(name))") }
            try rename(temporary, name)
        }
    }

    private func rename(_ table: String, _ name: String) throws {
        try connection.execute("ALTER TABLE \(schema.dialect.quoted(table)) RENAME TO \(schema.dialect.quoted(name))")
    }

    // MARK: Errors

    /// Returns the error of a refused row, with the keys of both rows when it conflicts with another row.
    private func conflict(_ refused: SQLRefusedRow, _ values: [Value], _ table: SQLTable, replaces: Bool) throws -> any Error {
        let entity = table.entity
        let key = try entity.key(of: values)
        if !replaces, try self.key(table.selectByKey, [key.value], column: entity.keyIndex, table) != nil {
            return StorageError.duplicateKey(entity, UniqueID(key))
        }
        for index in entity.uniqueIndexes {
            let fields = entity.positions(of: index)
            if fields.contains(where: { values[$0].isNull }) { continue }
            if let condition = index.filter(of: entity), !condition.matches({ values[$0] }) { continue }
            let text = table.conflict(in: index)
            guard let other = try self.key(text, fields.map { values[$0] } + [key.value], column: 0, table) else { continue }
            return StorageError.collision(key, other, field: entity.names(of: fields), of: entity.name, path: path)
        }
        return refused.underlying
    }

    /// Returns the key in the first row of a statement; nil when there is no row.
    func key(_ text: String, _ values: [Value], column: Int, _ table: SQLTable) throws -> Key? {
        let statement = try session.statement(SQLText(text, values.map(SQLBinding.value)), entity: table.entity.name)
        defer { statement.giveBack() }
        let reader = statement.makeReader(of: table.entity, keyColumn: column)
        return try reader.advance() ? reader.currentKey : nil
    }

    // MARK: Shared helpers

    private func beginWriting(_ entity: String? = nil) throws {
        guard session.isWriter else {
            throw StorageError.entitiesAreReadOnly(path)
        }
        guard let entity else { return }
        try touch(entity)
    }

    func table(_ name: String) throws -> SQLTable {
        let entity: EntityDescription
        if let known = descriptions[name] {
            entity = known
        } else {
            guard let stored = try schema.description(of: name) else {
                throw StorageError.noEntity(name, path: path)
            }
            guard try connection.hasTable(name) else {
                throw StorageError.corrupted(path, "the table of '\(name)' is gone", entity: name)
            }
            entity = stored
            descriptions[name] = stored
        }
        return SQLTable(entity, dialect: schema.dialect)
    }

    /// Returns the batch that stores the rows of an entity. It is created once.
    private func batch(_ write: SQLRowWrite, _ table: SQLTable) throws -> SQLRowBatch {
        let known = write == .insert ? inserts[table.entity.name] : upserts[table.entity.name]
        if let known { return known }
        let made = try connection.batch(write, of: table)
        if write == .insert { inserts[table.entity.name] = made } else { upserts[table.entity.name] = made }
        return made
    }

    /// Forgets the table of an entity that has changed.
    private func forget(_ entity: String) {
        changed.insert(entity)
        descriptions[entity] = nil
        inserts[entity] = nil
        upserts[entity] = nil
    }
}

extension StorageError {
    /// Returns the error for two rows with the same value in a unique field.
    static func collision(_ key: Key, _ other: Key, field: String, of entity: String, path: String) -> StorageError {
        .uniqueViolation(entity, field: field, key: UniqueID(key), conflictingKey: UniqueID(other))
    }
}
