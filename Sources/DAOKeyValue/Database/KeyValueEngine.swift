import DAOCore
import Synchronization

/// One open store with its transactions and its catalog, shared by all databases of the process that are on it.
package final class KeyValueEngine: Sendable {
    /// The store.
    package let store: any OrderedKeyValueStore
    let coordinator: TransactionCoordinator<KeyValueHandle>
    private let tables: KnownTables

    /// Takes a store and looks whether its format is one that this library reads.
    ///
    /// - Throws: `.schemaIsNewer`, `.notADatabase`, `.corrupted`, or what the store throws. The store is not closed then.
    package init(_ store: any OrderedKeyValueStore) throws {
        let path = store.traits.path
        let tables = KnownTables()
        self.store = store
        self.tables = tables
        let state = EngineState(name: store.traits.name)
        // What was known of links is looked at before the transaction begins: what changes from there on, it may not see.
        let wrap: @Sendable (UInt64, any KeyValueTransaction, Bool) throws -> KeyValueHandle = {
            generation, transaction, canWrite in
            try tables.refresh(transaction, path: path)
            return KeyValueHandle(transaction, canWrite: canWrite, linkGeneration: generation, observations: state.observations) {
                tables.apply($0)
                tables.apply($1)
            }
        }
        coordinator = TransactionCoordinator(
            state,
            beginWriting: { try wrap(tables.linkGeneration, store.begin(.write), true) },
            beginReading: { try wrap(tables.linkGeneration, store.begin(.read), false) },
            beginWaiting: { try wrap(tables.linkGeneration, store.beginWriting(waiting: $0), true) })
        if store.traits.isMultiProcess { state.observations.watchOthers { { try store.commitCount() ?? 0 } } }
        try coordinator.read { _ = try Catalog($0.transaction, path: path).format() }
    }

    /// Closes the store. No transaction runs any more.
    package func close() {
        coordinator.engineState.observations.stopWatchingOthers()
        store.close()
    }

    /// The committed table of an entity, as far as this process has met it.
    func knownTable(named name: String) -> Table? { tables.named(name) }

    /// The table of an entity as a transaction sees it; nil when the database does not have it.
    ///
    /// - Parameters:
    ///   - name: The entity.
    ///   - handle: The transaction.
    func table(named name: String, in handle: KeyValueHandle) throws -> Table? {
        if let change = handle.change(of: name) { return change.table }
        if let table = knownTable(named: name) { return table }
        guard let stored = try Catalog(handle.transaction, path: store.traits.path).entity(named: name) else { return nil }
        let table = try Table(stored, state: .stored, path: store.traits.path)
        tables.add(table)
        return table
    }

    /// The table of an entity as a transaction sees it; nil when the database does not have it.
    ///
    /// - Throws: `.schemaMismatch` when what is stored differs.
    func table(for description: EntityDescription, in handle: KeyValueHandle) throws -> Table? {
        guard let table = try table(named: description.name, in: handle) else { return nil }
        if description != table.description { throw outdated(description) }
        return table
    }

    /// The table of an entity; what is missing is added by the transaction.
    ///
    /// - Throws: `.schemaMismatch` when what is stored differs.
    func makeTable(for description: EntityDescription, in handle: KeyValueHandle) throws -> Table {
        if let table = try table(for: description, in: handle) { return table }
        handle.writeCount += 1
        let path = store.traits.path
        let table = try Table(Catalog(handle.transaction, path: path).add(description), state: .provisional, path: path)
        handle.add(table)
        return table
    }

    /// Where the links of a relationship are, as a transaction sees it; nil when the database does not have any yet.
    ///
    /// - Throws: `.schemaMismatch` when they were stored between other kinds of keys.
    func links(of relation: RelationDescription, in handle: KeyValueHandle) throws -> LinkTable? {
        let name = StoredLinks.name(of: relation)
        if let table = try links(named: name, in: handle) {
            try table.check(relation)
            return table
        }
        return nil
    }

    /// Where the links of a relationship are, by its name.
    func links(named name: String, in handle: KeyValueHandle) throws -> LinkTable? {
        if let change = handle.linkChange(of: name) { return change.table }
        if let table = tables.links(named: name) { return table }
        let path = store.traits.path
        guard let stored = try Catalog(handle.transaction, path: path).links(named: name) else { return nil }
        let table = try LinkTable(stored, name: name, path: path)
        tables.add(table, ifStill: handle.linkGeneration)
        return table
    }

    /// Where the links of a relationship are; what is missing is added by the transaction.
    func makeLinks(of relation: RelationDescription, in handle: KeyValueHandle) throws -> LinkTable {
        if let table = try links(of: relation, in: handle) { return table }
        handle.writeCount += 1
        let path = store.traits.path
        let name = StoredLinks.name(of: relation)
        let table = try LinkTable(Catalog(handle.transaction, path: path).addLinks(relation), name: name, path: path)
        handle.setLinks(name, to: table)
        return table
    }

    /// The error of a storage whose entity was changed under it.
    private func outdated(_ description: EntityDescription) -> StorageError {
        .outdated(description.name, path: store.traits.path)
    }
}

/// Tables and links whose catalog entries are committed, by name.
private final class KnownTables: Sendable {
    private let byName = Mutex<[String: Table]>([:])
    private let links = Mutex<[String: LinkTable]>([:])
    /// How often any links were removed: what a transaction has to begin with to add some. Changed with their lock held.
    private let generation = Atomic<UInt64>(0)
    /// The newest commit that was looked at for changes of other processes.
    private let checked = Atomic<UInt64>(0)
    /// How often entities had been changed then.
    private let changeCount = Atomic<UInt64>(0)

    func named(_ name: String) -> Table? { byName.withLock { $0[name] } }

    func add(_ table: Table) { byName.withLock { $0[table.description.name] = table } }

    func apply(_ changes: [TableChange]) {
        byName.withLock { byName in
            for change in changes { byName[change.name] = change.table }
        }
    }

    func links(named name: String) -> LinkTable? { links.withLock { $0[name] } }

    var linkGeneration: UInt64 { generation.load(ordering: .acquiring) }

    func add(_ table: LinkTable, ifStill generation: UInt64) {
        links.withLock { if linkGeneration == generation { $0[table.name] = table } }
    }

    func apply(_ changes: [LinkTableChange]) {
        if changes.isEmpty { return }
        links.withLock { links in
            for change in changes { links[change.name] = change.table }
            if changes.contains(where: { $0.table == nil }) { generation.add(1, ordering: .releasing) }
        }
    }

    /// Forgets the tables that another process has changed since the last look.
    ///
    /// Ends the transaction when that fails.
    func refresh(_ transaction: any KeyValueTransaction, path: String?) throws {
        guard let number = transaction.snapshotNumber, number > checked.load(ordering: .acquiring) else { return }
        do {
            let catalog = Catalog(transaction, path: path)
            let count = try catalog.changeCount()
            if count > changeCount.load(ordering: .acquiring) {
                try byName.withLock { byName in
                    for (name, table) in byName {
                        if let stored = try catalog.entity(named: name), table.isMade(of: stored) { continue }
                        table.state.store(.void, ordering: .releasing)
                        byName[name] = nil
                    }
                }
                links.withLock { links in
                    links = [:]
                    generation.add(1, ordering: .releasing)
                }
                changeCount.store(count, ordering: .releasing)
            }
            checked.store(number, ordering: .releasing)
        } catch {
            transaction.abort()
            throw error
        }
    }
}

extension Table {
    /// Whether a catalog entry is the one that the table was made of.
    fileprivate func isMade(of entity: StoredEntity) -> Bool {
        entity.description == description && entity.keyspace == keyspace && entity.slotCount == slotCount
            && entity.slots.elementsEqual((0..<fieldCount).map { slots[$0] })
            && indexes.allSatisfy { entity.indexes[name(of: $0)] == $0.keyspace }
    }
}
