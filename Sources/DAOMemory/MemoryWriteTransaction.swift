import DAOCore
import DAOKeyValue
import Foundation

/// The single write transaction of a ``MemoryStore``. It works on a private state until it commits.
final class MemoryWriteTransaction: MemoryTransaction {

    private var editor: TreeEditor
    private let store: MemoryStore
    private let thread = pthread_self()

    /// Begins to change a state.
    init(_ tree: Tree, stamp: UInt64, store: MemoryStore) {
        editor = TreeEditor(tree, stamp: stamp)
        self.store = store
        super.init(tree)
    }

    deinit { abort() }

    /// Checks that the transaction is running and belongs to this thread.
    @inline(__always)
    private func check() throws {
        guard top != nil else { throw Self.ended }
        guard pthread_equal(thread, pthread_self()) != 0 else {
            throw StorageError(.invalidTransaction, "A write transaction is used on the thread that began it, and on no other.")
        }
    }

    private func check(_ key: UnsafeRawBufferPointer) throws {
        try check()
        guard 1...511 ~= key.count else {
            throw StorageError(.invalidKey, "A stored key has 1 to 511 bytes; this one has \(key.count).")
        }
    }

    // MARK: Writing

    override func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        try check(key)
        _ = editor.put(key, value, replaces: true)
        show(editor.tree)
    }

    override func insert(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool {
        try check(key)
        guard editor.put(key, value, replaces: false) else { return false }
        show(editor.tree)
        return true
    }

    override func delete(_ key: UnsafeRawBufferPointer) throws -> Bool {
        try check(key)
        guard editor.delete(key) else { return false }
        show(editor.tree)
        return true
    }

    // MARK: Savepoints

    override func beginSavepoint() throws {
        try check()
        editor.beginSavepoint()
    }

    override func releaseSavepoint() throws {
        try checkSavepoint()
        editor.releaseSavepoint()
    }

    override func rollbackSavepoint() throws {
        try checkSavepoint()
        editor.rollbackSavepoint()
        show(editor.tree)
    }

    private func checkSavepoint() throws {
        try check()
        guard editor.savepointCount > 0 else {
            throw StorageError(.invalidTransaction, "There is no open savepoint to end; every end needs a beginning.")
        }
    }

    // MARK: The end

    override func commit() throws {
        try check()
        guard editor.savepointCount == 0 else {
            abort()
            throw StorageError(.invalidTransaction, "A savepoint was still open at the end; the transaction was undone.")
        }
        end(publishing: editor.tree)
    }

    override func abort() {
        if top != nil { end(publishing: nil) }
    }

    private func end(publishing tree: Tree?) {
        show(nil)
        // Freed when this function returns, outside the store's lock.
        let replaced = store.endWriting(publishing: tree, lastStamp: editor.lastStamp)
        editor = TreeEditor(Tree(), stamp: 0)
        _ = consume replaced
    }
}
