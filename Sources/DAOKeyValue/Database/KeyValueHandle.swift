import DAOCore

/// A running transaction of the store, with what the database keeps beside it while it runs.
final class KeyValueHandle: TransactionHandle {
    /// The transaction of the store.
    let transaction: any KeyValueTransaction
    /// Whether it may write.
    let canWrite: Bool
    /// Goes up with every write: pointers that were read at another count may be dangling.
    @exclusivity(unchecked) var writeCount = 0
    /// Tables whose catalog entries this transaction wrote, with the depth of savepoints they were written at.
    @exclusivity(unchecked) private var newTables: [(table: Table, depth: Int)] = []
    /// The same for links.
    @exclusivity(unchecked) private var newLinks: [(table: LinkTable, depth: Int)] = []
    @exclusivity(unchecked) private var depth = 0
    @exclusivity(unchecked) private var scratches: [WriteScratch] = []
    private let publish: ([Table]) -> Void
    private let publishLinks: ([LinkTable]) -> Void

    /// Wraps a transaction.
    ///
    /// - Parameters:
    ///   - transaction: The running transaction.
    ///   - canWrite: Whether it may write.
    ///   - publish: Gets the tables that were added, once they are committed.
    ///   - publishLinks: Gets the links that were added, once they are committed.
    init(
        _ transaction: any KeyValueTransaction, canWrite: Bool, publish: @escaping ([Table]) -> Void,
        publishLinks: @escaping ([LinkTable]) -> Void
    ) {
        self.transaction = transaction
        self.canWrite = canWrite
        self.publish = publish
        self.publishLinks = publishLinks
    }

    func commit() throws {
        do {
            try transaction.commit()
        } catch {
            forgetTables(from: 0)
            throw error
        }
        if !newLinks.isEmpty { publishLinks(newLinks.map(\.table)) }
        newLinks = []
        if newTables.isEmpty { return }
        for entry in newTables { entry.table.state.store(.stored, ordering: .releasing) }
        publish(newTables.map(\.table))
        newTables = []
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
        for index in newTables.indices { newTables[index].depth = min(newTables[index].depth, depth) }
        for index in newLinks.indices { newLinks[index].depth = min(newLinks[index].depth, depth) }
    }

    func rollbackSavepoint() throws {
        writeCount += 1
        depth -= 1
        forgetTables(from: depth + 1)
        try transaction.rollbackSavepoint()
    }

    /// Takes note of a table whose catalog entry was written here.
    func add(_ table: Table) { newTables.append((table, depth)) }

    /// A table whose catalog entry was written here.
    func newTable(named name: String) -> Table? { newTables.last { $0.table.description.name == name }?.table }

    /// Takes note of links whose catalog entry was written here.
    func add(_ table: LinkTable) { newLinks.append((table, depth)) }

    /// Links whose catalog entry was written here.
    func newLinks(named name: String) -> LinkTable? { newLinks.last { $0.table.name == name }?.table }

    /// Buffers for a call that writes; calls inside of it get others. ``giveBack(_:)`` lets the next call use them again.
    func takeScratch(_ table: Table, isChecked: Bool) -> WriteScratch {
        guard let scratch = scratches.popLast() else { return WriteScratch(table, isChecked: isChecked) }
        return scratch.isChecked == isChecked ? scratch : WriteScratch(table, isChecked: isChecked)
    }

    /// Gives buffers back.
    func giveBack(_ scratch: WriteScratch) { scratches.append(scratch) }

    private func forgetTables(from depth: Int) {
        for entry in newTables where entry.depth >= depth { entry.table.state.store(.void, ordering: .releasing) }
        newTables.removeAll { $0.depth >= depth }
        newLinks.removeAll { $0.depth >= depth }
    }
}
