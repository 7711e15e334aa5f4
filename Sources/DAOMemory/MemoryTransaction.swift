import DAOCore
import DAOKeyValue

/// A transaction that reads a committed state of a ``MemoryStore``. ``MemoryWriteTransaction`` adds writing.
///
/// Only one thread uses it at a time. The state that it reads never changes.
class MemoryTransaction: RenewableTransaction {

    // Keeps the memory of `top` alive; nil after the end, and in a transaction that writes, whose editor does.
    @exclusivity(unchecked) private final var state: MemoryState?
    // The root's memory, read without reference counting. Nil after the end.
    @exclusivity(unchecked) private(set) final var top: NodePointer?
    // Counts the changes that invalidate cursors: every write, and the end.
    @exclusivity(unchecked) private(set) final var version = 0

    final let store: MemoryStore

    /// Begins to read a state of a store.
    convenience init(_ state: MemoryState, _ store: MemoryStore) {
        self.init(state.tree, store)
        self.state = state
    }

    /// Begins to read a tree that another object keeps alive.
    init(_ tree: Tree, _ store: MemoryStore) {
        top = tree.top
        self.store = store
    }

    final func renew() throws -> UInt64? {
        let state = try store.newest()
        show(state.tree.top)
        self.state = consume state
        return nil
    }

    /// Switches to another tree, which another object keeps alive; nil ends the transaction.
    final func show(_ top: NodePointer?) {
        self.top = top
        version += 1
    }

    /// The error of a call after the end.
    static var ended: StorageError {
        .storeTransactionEnded(nil)
    }

    private static var cannotWrite: StorageError {
        .storeTransactionIsReadOnly(nil)
    }

    // MARK: Reading

    final func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        guard let top else { throw Self.ended }
        return top.value(of: SearchKey(key))
    }

    final func cursor() throws -> KeyValueCursor {
        guard top != nil else { throw Self.ended }
        return MemoryCursor(self)
    }

    func entryCount(of first: UInt8) -> Int? { state?.counts[Int(first)] }

    // MARK: Writing, refused by a read transaction

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws { throw Self.cannotWrite }

    func insert(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool { throw Self.cannotWrite }

    func delete(_ key: UnsafeRawBufferPointer) throws -> Bool { throw Self.cannotWrite }

    func beginSavepoint() throws { throw Self.cannotWrite }

    func releaseSavepoint() throws { throw Self.cannotWrite }

    func rollbackSavepoint() throws { throw Self.cannotWrite }

    // MARK: The end

    func commit() throws {
        guard top != nil else { throw Self.ended }
        abort()
    }

    func abort() {
        show(nil)
        state = nil
    }
}
