import DAOCore

/// A running transaction of the store, with the state that the database keeps for it.
final class KeyValueHandle: TransactionHandle {
    /// The transaction of the store.
    let transaction: any KeyValueTransaction
    // The same transaction, when it can begin again.
    private let renewable: (any RenewableTransaction)?
    @exclusivity(unchecked) private var isRunning = true
    /// Whether it may write.
    let canWrite: Bool
    /// Increases with every write. Pointers that were read at another count can be dangling.
    @exclusivity(unchecked) var writeCount = 0
    /// The changes of catalog entries in this transaction, in order.
    @exclusivity(unchecked) private var changes: [TableChange] = []
    /// The changes of links of relationships in this transaction, in order.
    @exclusivity(unchecked) private var linkChanges: [LinkTableChange] = []
    /// The generation of the catalog before the transaction began. What the transaction reads from the catalog
    /// is not cached when the generation has changed.
    @exclusivity(unchecked) private(set) var generation: UInt64
    @exclusivity(unchecked) private var depth = 0
    /// Whether it has changed or removed catalog entries, also when that was undone.
    @exclusivity(unchecked) private var hasBegunChange = false
    @exclusivity(unchecked) private var scratches: [WriteScratch] = []
    // They outlive the handle, which they keep for other calls that read: a call or a cursor that has it keeps the engine.
    private let tables: Unmanaged<KnownTables>
    private let spares: SparePlaces<KeyValueHandle>
    /// A reader that no call uses. The thread of the handle takes it, so that it costs less than one of a storage.
    @exclusivity(unchecked) var spareReader: RecordReader?

    /// Creates a handle for a transaction.
    ///
    /// - Parameters:
    ///   - transaction: The running transaction.
    ///   - canWrite: Whether it may write.
    ///   - generation: The generation of the catalog before the transaction began.
    ///   - tables: The known tables, which learn of changes after the commit.
    init(_ transaction: any KeyValueTransaction, canWrite: Bool, generation: UInt64, tables: KnownTables) {
        self.transaction = transaction
        renewable = canWrite ? nil : tables.renewable(transaction)
        self.canWrite = canWrite
        self.generation = generation
        self.tables = .passUnretained(tables)
        spares = tables.handles.places
    }

    /// Begins the transaction of a handle that has ended again.
    ///
    /// - Returns: The number of the last commit that it sees; nil where the store has none.
    @inline(__always) func renew(generation: UInt64) throws -> UInt64? {
        let number = try renewable?.renew()
        isRunning = true
        self.generation = generation
        return number ?? nil
    }

    /// Whether another call can have the handle, with what it keeps.
    var isKept: Bool { canWrite || renewable != nil }

    func commit() throws {
        do {
            try transaction.commit()
        } catch {
            forgetAllTables()
            throw error
        }
        tables._withUnsafeGuaranteedRef { tables in
            if tables.observations.isObserved, let count = transaction.countAfterCommit {
                tables.observations.didCommitHere(from: count &- 1, to: count)
            }
        }
        if changes.isEmpty, linkChanges.isEmpty, !hasBegunChange { return }
        for change in changes { change.table?.entry.state.store(.stored, ordering: .releasing) }
        // A table that was created and replaced in this transaction no longer exists.
        for change in changes { change.replaced?.entry.state.store(.void, ordering: .releasing) }
        if hasBegunChange { endChange() } else { tables._withUnsafeGuaranteedRef { $0.apply(changes, linkChanges) } }
        changes = []
        linkChanges = []
    }

    private func beginChange() {
        if hasBegunChange { return }
        hasBegunChange = true
        tables._withUnsafeGuaranteedRef { $0.beginChange() }
    }

    private func endChange() {
        hasBegunChange = false
        tables._withUnsafeGuaranteedRef { $0.endChange(changes, linkChanges) }
    }

    /// Ends the transaction. Nobody uses the handle of one that reads afterwards: another call may have it.
    func rollback() {
        if !canWrite { return endReading() }
        transaction.abort()
        forgetAllTables()
    }

    consuming func endReading() {
        let spares = spares
        if end() { _ = spares.leave(self) }
    }

    /// Ends a transaction that reads.
    ///
    /// - Returns: Whether it can begin again.
    @inline(__always) private func end() -> Bool {
        transaction.abort()
        guard isRunning, renewable != nil else { return false }
        isRunning = false
        return true
    }

    var pinnedBytes: Int? { transaction.pinnedBytes }

    func beginSavepoint() throws {
        try transaction.beginSavepoint()
        depth += 1
    }

    func releaseSavepoint() throws {
        try transaction.releaseSavepoint()
        depth -= 1
        for index in changes.indices { changes[index].depth = min(changes[index].depth, depth) }
        for index in linkChanges.indices { linkChanges[index].depth = min(linkChanges[index].depth, depth) }
    }

    func rollbackSavepoint() throws {
        writeCount += 1
        depth -= 1
        forgetTables(from: depth + 1)
        try transaction.rollbackSavepoint()
    }

    /// Records a table whose catalog entry was written in this transaction.
    func add(_ table: Table) { changes.append(TableChange(name: table.description.name, table: table, depth: depth)) }

    /// Records a catalog entry that was replaced or removed.
    ///
    /// - Parameters:
    ///   - name: The entity.
    ///   - replaced: The previous table. Storages with this table detect the change at their next call.
    ///   - table: The new table; nil when the entry was removed.
    func replace(_ name: String, _ replaced: Table?, with table: Table?) {
        beginChange()
        replaced?.entry.state.store(.void, ordering: .releasing)
        changes.append(TableChange(name: name, table: table, replaced: replaced, depth: depth))
    }

    /// The last change of an entity's catalog entry in this transaction; nil without a change.
    func change(of name: String) -> TableChange? { changes.last { $0.name == name } }

    /// Records a catalog entry of links that was written or removed.
    ///
    /// - Parameters:
    ///   - name: The relationship's name.
    ///   - table: The table of the links; nil when the entry was removed.
    func setLinks(_ name: String, to table: LinkTable?) {
        if table == nil { beginChange() }
        linkChanges.append(LinkTableChange(name: name, table: table, depth: depth))
    }

    /// The last change of a relationship's catalog entry in this transaction; nil without a change.
    func linkChange(of name: String) -> LinkTableChange? { linkChanges.last { $0.name == name } }

    /// Returns buffers for a call that writes. Nested calls get other buffers. ``giveBack(_:)`` returns the
    /// buffers for reuse by the next call.
    func takeScratch(_ table: Table, isChecked: Bool) -> WriteScratch {
        guard let scratch = scratches.popLast() else { return WriteScratch(table, isChecked: isChecked) }
        return scratch.isChecked == isChecked ? scratch : WriteScratch(table, isChecked: isChecked)
    }

    /// Returns buffers for reuse.
    func giveBack(_ scratch: WriteScratch) { scratches.append(scratch) }

    private func forgetAllTables() {
        forgetTables(from: 0)
        if hasBegunChange { endChange() }
    }

    private func forgetTables(from depth: Int) {
        if changes.isEmpty, linkChanges.isEmpty { return }
        for change in changes.reversed() where change.depth >= depth {
            change.table?.entry.state.store(.void, ordering: .releasing)
            // The state before this transaction, or the state that the rest of this loop sets.
            change.replaced?.entry.state.store(.stored, ordering: .releasing)
        }
        changes.removeAll { $0.depth >= depth }
        linkChanges.removeAll { $0.depth >= depth }
    }
}

/// A change of the catalog entry of an entity in a transaction.
struct TableChange {
    /// The entity.
    let name: String
    /// The table of the new entry; nil when the entry was removed.
    let table: Table?
    /// The table of the previous entry.
    var replaced: Table?
    /// The savepoint depth of the change.
    var depth: Int
}

/// A change of the catalog entry of a relationship's links in a transaction.
struct LinkTableChange {
    /// The relationship's name.
    let name: String
    /// The table of the links; nil when the entry was removed.
    let table: LinkTable?
    /// The savepoint depth of the change.
    var depth: Int
}

/// A transaction that reads, and that can begin again when it has ended.
package protocol RenewableTransaction: KeyValueTransaction {
    /// Begins to read the newest commit.
    ///
    /// - Returns: ``KeyValueTransaction/snapshotNumber``
    func renew() throws -> UInt64?
}
