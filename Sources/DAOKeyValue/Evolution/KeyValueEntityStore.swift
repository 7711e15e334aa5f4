import DAOCore

/// Entities and rows of a key-value database without the application's types, in one transaction.
final class KeyValueEntityStore: EntityStore {
    let database: KeyValueDatabase
    let handle: KeyValueHandle
    private let touch: (String) throws -> Void

    /// Creates an entity store on a transaction of a database.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - handle: The running transaction.
    ///   - touch: Called for every entity whose rows are written.
    init(_ database: KeyValueDatabase, _ handle: KeyValueHandle, touch: @escaping (String) throws -> Void) {
        self.database = database
        self.handle = handle
        self.touch = touch
    }

    private var path: String? { database.engine.store.traits.path }
    private var catalog: Catalog { Catalog(handle.transaction, path: path) }

    // MARK: The catalog

    func entities() throws -> [EntityDescription] { try catalog.entities().map(\.description) }

    func property(_ name: String) throws -> String? { try catalog.property(name) }

    func setProperty(_ name: String, to value: String?) throws {
        try beginWriting()
        try catalog.setProperty(name, to: value)
    }

    func create(_ entity: EntityDescription) throws {
        try beginWriting(entity.name)
        handle.add(try Table(catalog.add(entity), state: .provisional, path: path))
    }

    func drop(_ entity: String) throws {
        try beginWriting(entity)
        let (stored, table) = try stored(entity)
        try catalog.remove(entity)
        try catalog.countChange()
        handle.replace(entity, table, with: nil)
        for keyspace in [stored.keyspace] + stored.indexes.values.sorted() { try clear(Keyspace(keyspace)) }
    }

    func rename(_ entity: String, to name: String) throws {
        try beginWriting(entity)
        try touch(name)
        var (stored, table) = try stored(entity)
        try catalog.remove(entity)
        stored.description.name = name
        let renamed = try catalog.store { _ in stored }
        try catalog.countChange()
        handle.replace(entity, table, with: nil)
        handle.add(try Table(renamed, state: .provisional, path: path))
    }

    func alter(_ change: EntityChange) throws -> Bool {
        guard change.fills.allSatisfy({ $0 == nil }) else { return false }
        try beginWriting(change.wanted.name)
        let (old, oldTable) = try stored(change.stored.name)
        var layout = EntityLayout(old, change)
        let new = try catalog.store { nextKeyspace in
            layout.addIndexes(nextKeyspace)
            return try layout.finish(change, oldTable)
        }
        let table = try Table(new, state: .provisional, path: path)
        try catalog.countChange()
        handle.replace(change.wanted.name, oldTable, with: table)
        for keyspace in layout.droppedKeyspaces { try clear(Keyspace(keyspace)) }
        let added = table.indexes.filter { layout.addedKeyspaces.contains($0.keyspace.number) }
        if !added.isEmpty {
            try update(table) { update in
                try update.withLaterEntries(ofRows: LaterEntries.manyRows) { later in
                    try forEachKey(of: table.keyspace) {
                        try $0.withUnsafeBytes { try update.addEntries(to: added, for: $0, later) }
                    }
                }
            }
        }
        return true
    }

    // MARK: Rows

    func count(_ entity: String) throws -> Int {
        var count = 0
        try forEachEntry(of: stored(entity).table.keyspace) { _, _ in count += 1 }
        return count
    }

    func forEachRow(of entity: String, after key: Key?, _ body: (Key, [Value]) throws -> Bool) throws {
        let table = try stored(entity).table
        let reader = RecordReader(table: table, verifies: database.options.usesChecksums) { throw table.lacksDefault }
        var range = KeyRange(prefix: table.keyspace.prefix)
        if let key {
            range.lower = try KeyBuilder.with { builder in
                try builder.appendRow(key, of: table)
                // The first key after it.
                return Array(builder.bytes) + [0]
            }
        }
        let cursor = try handle.transaction.cursor()
        var isThere = try range.lower.withUnsafeBytes(cursor.seek)
        while isThere, cursor.key.order(against: range.upper) < 0 {
            try reader.show(cursor.value, key: cursor.key.from(table.keyspace.length))
            guard let key = reader.currentKey else { throw table.corruptedRecord(reader.key) }
            if try !body(key, table.description.fields.indices.map { try reader.readValue(at: $0) }) { return }
            isThere = try cursor.next()
        }
    }

    func store(_ rows: [[Value]], in entity: String, replaces: Bool) throws {
        try beginWriting(entity)
        let table = try stored(entity).table
        try update(table) { update in
            try update.withLaterEntries(ofRows: replaces ? 0 : rows.count) { later in
                for values in rows {
                    let row = try update.encode { try table.description.write(values, to: $0) }
                    if replaces { try update.upsert(row) } else { try update.insert(row, later) }
                }
            }
        }
    }

    func erase(_ keys: [Key], from entity: String) throws {
        try beginWriting(entity)
        let table = try stored(entity).table
        try update(table) { update in
            for key in keys { _ = try update.erase(update.storeKey(key)) }
        }
    }

    // MARK: Links

    func links(of relation: RelationDescription) throws -> any LinkStorage { try database.makeLinks(for: relation) }

    func moveLinks(_ moves: [LinkMove]) throws {
        for move in moves { try beginWriting(move.old.entity) }
        var found: [(links: StoredLinks, new: LinkName?)] = []
        // All are removed first, because two relationships can swap their names.
        for move in moves {
            let name = StoredLinks.name(move.old)
            guard let links = try catalog.links(named: name) else { continue }
            try catalog.setLinks(name, to: nil)
            handle.setLinks(name, to: nil)
            found.append((links, move.new))
        }
        if found.isEmpty { return }
        try catalog.countChange()
        for (links, new) in found {
            guard let new else {
                try clear(links)
                continue
            }
            let name = StoredLinks.name(new)
            // The remaining links of an earlier relationship with this name.
            if let stale = try catalog.links(named: name) { try clear(stale) }
            try catalog.setLinks(name, to: links)
            handle.setLinks(name, to: try LinkTable(links, name: name, path: path))
        }
    }

    private func clear(_ links: StoredLinks) throws {
        try clear(Keyspace(links.keyspace))
        try clear(Keyspace(links.keyspace &+ 1))
    }

    // MARK: Shared functions

    private func beginWriting(_ entity: String? = nil) throws {
        guard handle.canWrite else {
            throw StorageError.entitiesAreReadOnly(path)
        }
        handle.writeCount += 1
        if let entity { try touch(entity) }
    }

    /// The catalog entry and the table of an entity.
    func stored(_ name: String) throws -> (entity: StoredEntity, table: Table) {
        guard let entity = try catalog.entity(named: name), let table = try database.engine.table(named: name, in: handle) else {
            throw StorageError.noEntity(name, path: path)
        }
        return (entity, table)
    }

    private func update(_ table: Table, _ body: (RowUpdate) throws -> Void) throws {
        try database.withUpdate(of: table, handle, body)
    }

    private func clear(_ keyspace: Keyspace) throws {
        handle.writeCount += 1
        try forEachKey(of: keyspace) { try $0.withUnsafeBytes { _ = try handle.transaction.delete($0) } }
    }

    /// Passes every key of a keyspace to a closure that writes. Keys are copied from the store in batches.
    private func forEachKey(of keyspace: Keyspace, _ body: ([UInt8]) throws -> Void) throws {
        var range = KeyRange(prefix: keyspace.prefix)
        var keys: [[UInt8]] = []
        repeat {
            keys.removeAll(keepingCapacity: true)
            let cursor = try handle.transaction.cursor()
            var isThere = try range.lower.withUnsafeBytes(cursor.seek)
            while isThere, keys.count < 4096, cursor.key.order(against: range.upper) < 0 {
                keys.append(Array(cursor.key))
                isThere = try cursor.next()
            }
            for key in keys { try body(key) }
            if let last = keys.last { range.lower = last + [0] }
        } while !keys.isEmpty
    }
}
