import DAOCore
import DAOKeyValue
import Foundation

/// The single write transaction of a ``MemoryStore``. It works on a private state until it commits.
final class MemoryWriteTransaction: MemoryTransaction {

    private var editor: TreeEditor
    private let thread = pthread_self()

    /// Begins to change a state.
    init(_ state: MemoryState, stamp: UInt64, store: MemoryStore) {
        editor = TreeEditor(state, stamp: stamp)
        super.init(state.tree, store)
    }

    deinit { abort() }

    /// Checks that the transaction is running and belongs to this thread.
    @inline(__always)
    private func check() throws {
        guard top != nil else { throw Self.ended }
        guard pthread_equal(thread, pthread_self()) != 0 else {
            throw StorageError.foreignThread(nil)
        }
    }

    private func check(_ key: UnsafeRawBufferPointer) throws {
        try check()
        guard 1...511 ~= key.count else {
            throw StorageError.storedKeyLength(key.count, path: nil)
        }
    }

    override func entryCount(of first: UInt8) -> Int? { editor.counts[Int(first)] }

    // MARK: Writing

    override func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        try check(key)
        _ = editor.put(key, value, replaces: true)
        show(editor.tree.top)
    }

    override func insert(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool {
        try check(key)
        guard editor.put(key, value, replaces: false) else { return false }
        show(editor.tree.top)
        return true
    }

    override func delete(_ key: UnsafeRawBufferPointer) throws -> Bool {
        try check(key)
        guard editor.delete(key) else { return false }
        show(editor.tree.top)
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
        show(editor.tree.top)
    }

    private func checkSavepoint() throws {
        try check()
        guard editor.savepointCount > 0 else {
            throw StorageError.noSavepoint(nil)
        }
    }

    // MARK: The end

    override func commit() throws {
        try check()
        guard editor.savepointCount == 0 else {
            abort()
            throw StorageError.openSavepoint(nil)
        }
        end(publishing: MemoryState(tree: editor.tree, counts: editor.counts))
    }

    override func abort() {
        if top != nil { end(publishing: nil) }
    }

    private func end(publishing state: MemoryState?) {
        show(nil)
        // Freed when this function returns, outside the store's lock.
        let replaced = store.endWriting(publishing: state, lastStamp: editor.lastStamp)
        editor = TreeEditor(.empty, stamp: 0)
        _ = consume replaced
    }
}
