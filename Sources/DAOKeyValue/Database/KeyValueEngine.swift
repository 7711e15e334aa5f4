import DAOCore
import Synchronization

/// An open store with its transactions and its catalog, shared by all databases of the process on this store.
package final class KeyValueEngine: Sendable {
    /// The store.
    package let store: any OrderedKeyValueStore
    let coordinator: TransactionCoordinator<KeyValueHandle>
    private let tables: KnownTables

    /// Creates an engine on a store, and checks that this library can read its format.
    ///
    /// - Throws: `.schemaIsNewer`, `.notADatabase`, `.corrupted`, or the store's error. The store is not
    ///   closed in that case.
    package init(_ store: any OrderedKeyValueStore) throws {
        let path = store.traits.path
        let tables = KnownTables()
        self.store = store
        self.tables = tables
        let state = EngineState(name: store.traits.name)
        // The generation of links is read before the transaction begins, because the transaction can miss
        // later changes.
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

    /// Closes the store. No transaction is running.
    package func close() {
        coordinator.engineState.observations.stopWatchingOthers()
        store.close()
    }

    /// The committed table of an entity, if this process has read it.
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
    /// - Throws: `.schemaMismatch` when the stored entity differs.
    func table(for description: EntityDescription, in handle: KeyValueHandle) throws -> Table? {
        guard let table = try table(named: description.name, in: handle) else { return nil }
        if description != table.description { throw outdated(description) }
        return table
    }

    /// The table of an entity. The transaction adds it when it is missing.
    ///
    /// - Throws: `.schemaMismatch` when the stored entity differs.
    func makeTable(for description: EntityDescription, in handle: KeyValueHandle) throws -> Table {
        if let table = try table(for: description, in: handle) { return table }
        handle.writeCount += 1
        let path = store.traits.path
        let table = try Table(Catalog(handle.transaction, path: path).add(description), state: .provisional, path: path)
        handle.add(table)
        return table
    }

    /// The table of a relationship's links, as a transaction sees it; nil when the database has none yet.
    ///
    /// - Throws: `.schemaMismatch` when the stored links have keys of other kinds.
    func links(of relation: RelationDescription, in handle: KeyValueHandle) throws -> LinkTable? {
        let name = StoredLinks.name(of: relation)
        if let table = try links(named: name, in: handle) {
            try table.check(relation)
            return table
        }
        return nil
    }

    /// The table of a relationship's links, by the name of the relationship.
    func links(named name: String, in handle: KeyValueHandle) throws -> LinkTable? {
        if let change = handle.linkChange(of: name) { return change.table }
        if let table = tables.links(named: name) { return table }
        let path = store.traits.path
        guard let stored = try Catalog(handle.transaction, path: path).links(named: name) else { return nil }
        let table = try LinkTable(stored, name: name, path: path)
        tables.add(table, ifStill: handle.linkGeneration)
        return table
    }

    /// The table of a relationship's links. The transaction adds it when it is missing.
    func makeLinks(of relation: RelationDescription, in handle: KeyValueHandle) throws -> LinkTable {
        if let table = try links(of: relation, in: handle) { return table }
        handle.writeCount += 1
        let path = store.traits.path
        let name = StoredLinks.name(of: relation)
        let table = try LinkTable(Catalog(handle.transaction, path: path).addLinks(relation), name: name, path: path)
        handle.setLinks(name, to: table)
        return table
    }

    /// The error of a storage whose entity was changed after the storage was created.
    private func outdated(_ description: EntityDescription) -> StorageError {
        .outdated(description.name, path: store.traits.path)
    }
}

/// The tables and links with committed catalog entries, by name.
private final class KnownTables: Sendable {
    private let byName = Mutex<[String: Table]>([:])
    private let links = Mutex<[String: LinkTable]>([:])
    /// The number of removals of links. A transaction may cache a table of links only when it began with the
    /// current number. Changed with the lock of the links held.
    private let generation = Atomic<UInt64>(0)
    /// The newest commit that was checked for changes of other processes.
    private let checked = Atomic<UInt64>(0)
    /// The number of changes of entities at that commit.
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

    /// Removes the tables that another process has changed since the last check.
    ///
    /// Ends the transaction when the check fails.
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
    /// Whether the table was made from a catalog entry.
    fileprivate func isMade(of entity: StoredEntity) -> Bool {
        entity.description == description && entity.keyspace == keyspace && entity.slotCount == slotCount
            && entity.slots.elementsEqual((0..<fieldCount).map { slots[$0] })
            && indexes.allSatisfy { entity.indexes[name(of: $0)] == $0.keyspace }
    }
}
