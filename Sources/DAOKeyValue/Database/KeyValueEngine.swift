import DAOCore

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
        let state = EngineState(name: store.traits.name, sharesCommits: store.traits.isPersistent)
        let tables = KnownTables(path: path, observations: state.observations)
        self.store = store
        self.tables = tables
        coordinator = TransactionCoordinator(
            state, path: path,
            beginWriting: { try tables.begin(canWrite: true) { try store.begin(.write) } },
            beginReading: { try tables.begin(canWrite: false) { try store.begin(.read) } },
            beginWaiting: { timeout in try tables.begin(canWrite: true) { try store.beginWriting(waiting: timeout) } })
        if store.traits.isMultiProcess { state.observations.watchOthers { { try store.commitCount() ?? 0 } } }
        try coordinator.read { try Catalog($0.transaction, path: path).check() }
    }

    /// Closes the store. No transaction is running.
    package func close() {
        coordinator.engineState.observations.stopWatchingOthers()
        store.close()
    }

    /// Whether no catalog entry has changed since before a transaction began.
    func isCurrent(_ handle: KeyValueHandle) -> Bool { tables.isCurrent(handle.generation) }

    /// The table of an entity as a transaction sees it, with all stored fields; nil when the database does not
    /// have it.
    ///
    /// - Parameters:
    ///   - name: The entity.
    ///   - handle: The transaction.
    func table(named name: String, in handle: KeyValueHandle) throws -> Table? {
        if let change = handle.change(of: name) { return change.table }
        let known = tables.named(name)
        if let known, known.isCurrent, isCurrent(handle) { return known }
        guard let stored = try Catalog(handle.transaction, path: store.traits.path).entity(named: name) else { return nil }
        // The storages that have the known table learn of changes through it.
        if let known, known.entry.stored == stored { return known }
        return tables.add(try Table(stored, state: .stored, path: store.traits.path), ifStill: handle.generation)
    }

    /// The table of an entity for a model, as a transaction sees it; nil when the database does not have it.
    ///
    /// - Throws: `.schemaMismatch` when the model cannot use the entity as it is stored.
    func table(for declaration: EntityDeclaration, in handle: KeyValueHandle) throws -> Table? {
        guard let stored = try table(named: declaration.description.name, in: handle) else { return nil }
        return try laidOut(stored, for: declaration)
    }

    private func laidOut(_ stored: Table, for declaration: EntityDeclaration) throws -> Table {
        guard let table = try stored.laidOut(for: declaration) else {
            throw StorageError.outdated(declaration.description.name, path: store.traits.path)
        }
        return table
    }

    /// The table of an entity for a model. The transaction adds it when it is missing.
    ///
    /// - Throws: `.schemaMismatch` when the model cannot use the entity as it is stored.
    func makeTable(for declaration: EntityDeclaration, in handle: KeyValueHandle) throws -> Table {
        if let table = try table(for: declaration, in: handle) { return table }
        handle.writeCount += 1
        let path = store.traits.path
        let catalog = Catalog(handle.transaction, path: path)
        if !declaration.whole.isOwn {
            try EntityDescription.checkPlace(of: catalog.entities().map(\.description), path: path)
        }
        let table = try Table(catalog.add(declaration.whole), state: .provisional, path: path)
        handle.add(table)
        return try laidOut(table, for: declaration)
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
        // An older snapshot has the links of its own catalog.
        if isCurrent(handle), let table = tables.links(named: name) { return table }
        let path = store.traits.path
        guard let stored = try Catalog(handle.transaction, path: path).links(named: name) else { return nil }
        let table = try LinkTable(stored, name: name, path: path)
        tables.add(table, ifStill: handle.generation)
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
}

/// The tables and links with committed catalog entries, by name.
final class KnownTables: Sendable {
    private struct State {
        /// The tables with all stored fields.
        var tables: [String: Table] = [:]
        var links: [String: LinkTable] = [:]

        mutating func apply(_ changes: [TableChange], _ links: [LinkTableChange]) {
            for change in changes { tables[change.name] = change.table }
            for change in links { self.links[change.name] = change.table }
        }
    }

    /// The hub that is told which commits were made here.
    let observations: ObservationHub
    private let path: String?
    private let state = Lock(State())
    /// Handles of transactions that have read, for the next ones: making one takes as long as a short read.
    let handles = Spares<KeyValueHandle>()
    /// Whether read transactions of the store can begin again, as far as known. To ask costs more than a short read.
    private let canRenew = Atomic(true)
    /// Changes when a catalog entry is changed or removed, and is odd while a transaction of this process does so, until the
    /// tables know of its commit. A transaction uses and keeps what is cached only when it began with the current
    /// generation and that is even. Changed with the lock held.
    private let generation = Atomic<UInt64>(0)
    /// The newest commit that was checked for changes of other processes.
    private let checked = Atomic<UInt64>(0)
    /// The number of changes of entities at that commit.
    private let changeCount = Atomic<UInt64>(0)
    /// Whether the database is known to have the format that this library writes.
    private let hasCurrentFormat = Atomic(false)

    /// Creates tables of which none is known.
    ///
    /// - Parameters:
    ///   - path: The path for errors.
    ///   - observations: The hub that is told which commits were made here.
    init(path: String?, observations: ObservationHub) {
        self.path = path
        self.observations = observations
    }

    /// Begins a transaction.
    ///
    /// - Parameters:
    ///   - canWrite: Whether it may write.
    ///   - begin: Begins the transaction of the store.
    @inline(__always) func begin(canWrite: Bool, _ begin: () throws -> any KeyValueTransaction) throws -> KeyValueHandle {
        // The generation is read before the transaction begins, because the transaction can miss later changes.
        let generation = currentGeneration
        if !canWrite, let handle = handles.take() {
            // Whatever another process has changed since is found by the number of the commit.
            if let number = try handle.renew(generation: generation), number > checked.load(ordering: .acquiring) {
                try refresh(handle.transaction)
            }
            return handle
        }
        let transaction = try begin()
        try refresh(transaction)
        if canWrite, !hasCurrentFormat.load(ordering: .acquiring) { try raiseFormat(transaction) }
        return KeyValueHandle(transaction, canWrite: canWrite, generation: generation, tables: self)
    }

    /// A transaction that reads, when it can begin again.
    func renewable(_ transaction: any KeyValueTransaction) -> (any RenewableTransaction)? {
        guard canRenew.load(ordering: .relaxed) else { return nil }
        if let renewable = transaction as? any RenewableTransaction { return renewable }
        canRenew.store(false, ordering: .relaxed)
        return nil
    }

    var currentGeneration: UInt64 { generation.load(ordering: .acquiring) }

    /// Whether a transaction that began with a generation sees the catalog of which the tables are known.
    @inline(__always) func isCurrent(_ generation: UInt64) -> Bool { generation == currentGeneration && generation % 2 == 0 }

    /// Records that the transaction that writes changes or removes catalog entries.
    func beginChange() { state.withLock { _ in _ = generation.add(1, ordering: .acquiringAndReleasing) } }

    /// Records that this transaction has ended.
    ///
    /// - Parameters:
    ///   - changes: What it has committed.
    ///   - links: The changes of links that it has committed.
    func endChange(_ changes: [TableChange], _ links: [LinkTableChange]) {
        state.withLock { state in
            state.apply(changes, links)
            generation.add(1, ordering: .releasing)
        }
    }

    func named(_ name: String) -> Table? { state.withLock { $0.tables[name] } }

    func links(named name: String) -> LinkTable? { state.withLock { $0.links[name] } }

    /// Adds a table that a transaction has read.
    ///
    /// - Returns: The table of the entity, which another thread can have added. A table that cannot be added
    ///   serves one call: it is void, so every call looks for its table again.
    func add(_ table: Table, ifStill generation: UInt64) -> Table {
        state.withLock { state in
            guard isCurrent(generation) else {
                table.entry.state.store(.void, ordering: .releasing)
                return table
            }
            let name = table.description.name
            if let known = state.tables[name], known.entry.stored == table.entry.stored { return known }
            state.tables[name] = table
            return table
        }
    }

    func add(_ table: LinkTable, ifStill generation: UInt64) {
        state.withLock { if isCurrent(generation) { $0.links[table.name] = table } }
    }

    /// Adds the tables and links that a transaction has committed, which has changed and removed none.
    func apply(_ changes: [TableChange], _ links: [LinkTableChange]) { state.withLock { $0.apply(changes, links) } }

    /// Raises the format of a database that an earlier build has made. Ends the transaction when that fails.
    private func raiseFormat(_ transaction: any KeyValueTransaction) throws {
        do {
            if try Catalog(transaction, path: path).raiseFormat() { hasCurrentFormat.store(true, ordering: .releasing) }
        } catch {
            transaction.abort()
            throw error
        }
    }

    /// Removes the tables that another process has changed since the last check.
    ///
    /// Ends the transaction when the check fails.
    private func refresh(_ transaction: any KeyValueTransaction) throws {
        guard let number = transaction.snapshotNumber, number > checked.load(ordering: .acquiring) else { return }
        do {
            let catalog = Catalog(transaction, path: path)
            let count = try catalog.changeCount()
            if count > changeCount.load(ordering: .acquiring) {
                try state.withLock { state in
                    for (name, table) in state.tables {
                        if let stored = try catalog.entity(named: name), table.entry.stored == stored { continue }
                        table.entry.state.store(.void, ordering: .releasing)
                        state.tables[name] = nil
                    }
                    state.links = [:]
                    generation.add(2, ordering: .releasing)
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
