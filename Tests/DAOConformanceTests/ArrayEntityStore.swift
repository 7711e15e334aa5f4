import DAOCore

extension ArrayDatabase {
    func withEntityStore<Result>(_ access: EntityStoreAccess, _ body: (any EntityStore) throws -> Result) throws -> Result {
        guard capabilities.hasEvolution else { throw StorageError(.unsupported, "no evolution") }
        if access == .read { return try read { try body(ArrayEntityStore($0, self)) } }
        if access == .write, engine.coordinator.isInside { throw StorageError.evolutionInsideTransaction(nil) }
        return try engine.coordinator.write(access == .write ? .migration : .compositeCall) {
            try body(ArrayEntityStore($0, self))
        }
    }
}

/// Entities and rows in arrays: the evolution of the database that the suite is tested on.
final class ArrayEntityStore: EntityStore {
    private static let properties = EntityDescription(
        name: "dao_properties",
        fields: [
            FieldDescription(name: "name", type: FieldType(.string), isPrimaryKey: true),
            FieldDescription(name: "value", type: FieldType(.string)),
        ])
    private let transaction: ArrayTransaction

    private let database: ArrayDatabase

    init(_ transaction: ArrayTransaction, _ database: ArrayDatabase) {
        self.transaction = transaction
        self.database = database
    }

    func links(of relation: RelationDescription) throws -> any LinkStorage { try database.makeLinks(for: relation) }

    func entities() throws -> [EntityDescription] {
        transaction.tables.values.compactMap(\.entity).filter { $0 != Self.properties }.sorted { $0.name < $1.name }
    }

    func property(_ name: String) throws -> String? {
        let row = transaction.tables[Self.properties.name]?.rows.first { $0.key == .string(name) }
        guard case .string(let text) = row?.values[1] else { return nil }
        return text
    }

    func setProperty(_ name: String, to value: String?) throws {
        var table = transaction.tables[Self.properties.name] ?? ArrayTable(entity: Self.properties)
        table.rows.removeAll { $0.key == .string(name) }
        if let value { table.rows.append(.init(key: .string(name), values: [.string(name), .string(value)])) }
        transaction.tables[Self.properties.name] = table
    }

    /// Who observes the entity is told.
    private func touch(_ entity: String) throws { try database.write(touching: entity) { _ in } }

    func create(_ entity: EntityDescription) throws {
        try touch(entity.name)
        try entity.checkName(among: entities(), path: nil)
        transaction.tables[entity.name] = ArrayTable(entity: entity)
    }

    func drop(_ entity: String) throws {
        try touch(entity)
        transaction.tables[entity] = nil
    }

    func rename(_ entity: String, to name: String) throws {
        try touch(entity)
        try touch(name)
        var table = transaction.tables.removeValue(forKey: entity)
        table?.entity?.name = name
        transaction.tables[name] = table
    }

    func alter(_ change: EntityChange) throws -> Bool {
        try touch(change.stored.name)
        try touch(change.wanted.name)
        let name = change.wanted.name
        let rows = try values(of: change.stored.name)
        transaction.tables[name] = ArrayTable(entity: change.wanted)
        do {
            try store(rows.map { change.row($0.values) }, in: name, replaces: false)
        } catch {
            transaction.tables[name] = ArrayTable(entity: change.stored)
            try store(rows.map(\.values), in: name, replaces: false)
            throw error
        }
        return true
    }

    func count(_ entity: String) throws -> Int { try table(entity).table.rows.count }

    func forEachRow(of entity: String, after key: Key?, _ body: (Key, [Value]) throws -> Bool) throws {
        for (rowKey, values) in try values(of: entity) {
            if let key, !(key < rowKey) { continue }
            if try !body(rowKey, values) { return }
        }
    }

    func store(_ rows: [[Value]], in entity: String, replaces: Bool) throws {
        try touch(entity)
        let (description, stored) = try table(entity)
        var table = stored
        // Changed in place, when there is no other reference.
        transaction.tables[entity] = nil
        defer { transaction.tables[entity] = table }
        for values in rows {
            let writer = ValueRowWriter(count: description.fields.count)
            try description.write(values, to: writer)
            let row = ArrayTable.Row(key: try description.key(of: values), values: writer.values)
            let place = table.position(of: row.key)
            if place.isThere, !replaces {
                throw StorageError.duplicateKey(description, UniqueID(row.key))
            }
            try table.checkUnique(row, description)
            table.put(row)
        }
    }

    func erase(_ keys: [Key], from entity: String) throws {
        let keys = Set(keys)
        if keys.isEmpty { return }
        try touch(entity)
        transaction.tables[entity]?.rows.removeAll { keys.contains($0.key) }
    }

    private func table(_ entity: String) throws -> (EntityDescription, table: ArrayTable) {
        guard let table = transaction.tables[entity], let description = table.entity else {
            throw StorageError(.schemaMismatch, "there is no such entity", entity: entity)
        }
        return (description, table)
    }

    private func values(of entity: String) throws -> [(key: Key, values: [Value])] {
        let (description, table) = try table(entity)
        return try table.rows.map { row in
            let reader = ValueRowReader(entity: description, values: row.values)
            return (row.key, try description.fields.indices.map { try reader.readValue(at: $0) })
        }
    }
}

extension ArrayTable {
    /// Refuses a row that has the values of a unique index of another row.
    func checkUnique(_ row: Row, _ entity: EntityDescription) throws {
        try entity.checkUnique(row.values, of: row.key, among: rows.lazy.map { (key: $0.key, value: $0.values) })
    }
}
