import DAOCore

/// A running transaction of the store, with what the database keeps beside it while it runs.
final class KeyValueHandle: TransactionHandle {
    /// The transaction of the store.
    let transaction: any KeyValueTransaction
    /// Whether it may write.
    let canWrite: Bool
    /// Goes up with every write: pointers that were read at another count may be dangling.
    @exclusivity(unchecked) var writeCount = 0
    /// What this transaction did to catalog entries, in order.
    @exclusivity(unchecked) private var changes: [TableChange] = []
    /// The same for the links of relationships.
    @exclusivity(unchecked) private var linkChanges: [LinkTableChange] = []
    /// What was known of links when the transaction began: what it reads of the catalog is not kept once that has changed.
    let linkGeneration: UInt64
    @exclusivity(unchecked) private var depth = 0
    @exclusivity(unchecked) private var scratches: [WriteScratch] = []
    private let observations: ObservationHub
    private let publish: ([TableChange], [LinkTableChange]) -> Void

    /// Wraps a transaction.
    ///
    /// - Parameters:
    ///   - transaction: The running transaction.
    ///   - canWrite: Whether it may write.
    ///   - linkGeneration: What was known of links before the transaction began.
    ///   - observations: Learns which commits were made here.
    ///   - publish: Gets what was done to tables and links, once it is committed.
    init(
        _ transaction: any KeyValueTransaction, canWrite: Bool, linkGeneration: UInt64, observations: ObservationHub,
        publish: @escaping ([TableChange], [LinkTableChange]) -> Void
    ) {
        self.transaction = transaction
        self.canWrite = canWrite
        self.linkGeneration = linkGeneration
        self.observations = observations
        self.publish = publish
    }

    func commit() throws {
        do {
            try transaction.commit()
        } catch {
            forgetTables(from: 0)
            throw error
        }
        if observations.isObserved, let count = transaction.countAfterCommit {
            observations.didCommitHere(from: count &- 1, to: count)
        }
        if changes.isEmpty, linkChanges.isEmpty { return }
        for change in changes { change.table?.state.store(.stored, ordering: .releasing) }
        // A table that was made and replaced in this transaction is none any more.
        for change in changes { change.replaced?.state.store(.void, ordering: .releasing) }
        publish(changes, linkChanges)
        changes = []
        linkChanges = []
    }

    func rollback() {
        transaction.abort()
        forgetTables(from: 0)
    }

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

    /// Takes note of a table whose catalog entry was written here.
    func add(_ table: Table) { changes.append(TableChange(name: table.description.name, table: table, depth: depth)) }

    /// Takes note of a catalog entry that was written over, or removed.
    ///
    /// - Parameters:
    ///   - name: The entity.
    ///   - replaced: The table as others know it. Storages that have it find out at their next call.
    ///   - table: What took its place; nil when it was removed.
    func replace(_ name: String, _ replaced: Table?, with table: Table?) {
        replaced?.state.store(.void, ordering: .releasing)
        changes.append(TableChange(name: name, table: table, replaced: replaced, depth: depth))
    }

    /// What this transaction did last to the catalog entry of an entity; nil when it did nothing.
    func change(of name: String) -> TableChange? { changes.last { $0.name == name } }

    /// Takes note of a catalog entry of links that was written or removed.
    ///
    /// - Parameters:
    ///   - name: The relationship's name.
    ///   - table: Where its links are; nil when the entry was removed.
    func setLinks(_ name: String, to table: LinkTable?) {
        linkChanges.append(LinkTableChange(name: name, table: table, depth: depth))
    }

    /// What this transaction did last to the catalog entry of a relationship's links; nil when it did nothing.
    func linkChange(of name: String) -> LinkTableChange? { linkChanges.last { $0.name == name } }

    /// Buffers for a call that writes; calls inside of it get others. ``giveBack(_:)`` lets the next call use them again.
    func takeScratch(_ table: Table, isChecked: Bool) -> WriteScratch {
        guard let scratch = scratches.popLast() else { return WriteScratch(table, isChecked: isChecked) }
        return scratch.isChecked == isChecked ? scratch : WriteScratch(table, isChecked: isChecked)
    }

    /// Gives buffers back.
    func giveBack(_ scratch: WriteScratch) { scratches.append(scratch) }

    private func forgetTables(from depth: Int) {
        for change in changes.reversed() where change.depth >= depth {
            change.table?.state.store(.void, ordering: .releasing)
            // What it was before this transaction, or what the rest of this loop makes it.
            change.replaced?.state.store(.stored, ordering: .releasing)
        }
        changes.removeAll { $0.depth >= depth }
        linkChanges.removeAll { $0.depth >= depth }
    }
}

/// What a transaction did to the catalog entry of an entity.
struct TableChange {
    /// The entity.
    let name: String
    /// The table of the new entry; nil when the entry was removed.
    let table: Table?
    /// The table of the entry that was there.
    var replaced: Table?
    /// How many savepoints it was made inside of.
    var depth: Int
}

/// What a transaction did to the catalog entry of a relationship's links.
struct LinkTableChange {
    /// The relationship's name.
    let name: String
    /// Where its links are; nil when the entry was removed.
    let table: LinkTable?
    /// How many savepoints it was made inside of.
    var depth: Int
}
