import DAOCore
import DAOKeyValue
import DAOSystemLMDB
import Foundation

/// The single write transaction of a file. It belongs to the thread that began it.
///
/// A savepoint is a position in a list of what to undo. Only when the application asks for LMDB's handle, whose writes
/// are not seen here, a nested LMDB transaction begins. It stays open as long as a savepoint around it: undoing that
/// savepoint aborts it. Nested transactions for all savepoints would exhaust LMDB's list of pages after some 500 MB.
final class LMDBWriteTransaction: LMDBTransaction {

    /// An LMDB transaction: the outermost, or a nested one.
    private struct Nesting {
        var handle: OpaquePointer
        var number: Int
        /// The length of the undo list when it began. The end of the list is undone with it.
        var undoStart: Int
        /// The reason why the transaction can only be ended; nil without a failure.
        var failure: StorageError?
    }

    private struct Savepoint {
        var number: Int
        var undoStart: Int
        /// Whether the innermost nested transaction but those of inner savepoints ends with this savepoint.
        var hasNesting = false
    }

    private let thread = pthread_self()
    private var nestings: [Nesting]
    private var savepoints: [Savepoint] = []
    private var undoList = UndoList()
    // The last number given to a savepoint or a nested transaction.
    private var lastNumber = 0
    // Of the innermost nested transaction.
    @exclusivity(unchecked) private var writeCursors = WriteCursors()
    // Whether the innermost nested transaction has failed; its `failure` has the reason.
    @exclusivity(unchecked) private var isFailed = false
    // Whether writes are noted in the undo list.
    @exclusivity(unchecked) private var isUndoable = false
    // The number of the commit, if a commit was made.
    private var committedNumber: UInt64?
    // Whether any write reached the end of the map.
    private var foundMapFull = false

    override init(_ handle: OpaquePointer, _ environment: LMDBEnvironment) {
        nestings = [Nesting(handle: handle, number: 0, undoStart: 0)]
        super.init(handle, environment)
    }

    deinit { abort() }

    // MARK: Checks

    /// LMDB's innermost transaction. Throws when it cannot be used or belongs to another thread.
    @inline(__always)
    private func usableHandle() throws -> OpaquePointer {
        guard let handle else { throw ended }
        guard pthread_equal(thread, pthread_self()) != 0 else { throw foreignThread }
        if isFailed, let failure = nestings[nestings.count - 1].failure { throw failure }
        return handle
    }

    private var foreignThread: StorageError {
        .foreignThread(environment.errors.path)
    }

    /// Records that a write failed, and returns the error.
    private func fail(_ code: CInt, _ action: String) -> StorageError {
        let error = environment.errors.error(code, action)
        // Invalid arguments are detected before any change.
        guard code != MDB_BAD_VALSIZE else { return error }
        if code == MDB_MAP_FULL { foundMapFull = true }
        nestings[nestings.count - 1].failure = error
        isFailed = true
        return error
    }

    // MARK: Reading

    override func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        guard handle != nil, pthread_equal(thread, pthread_self()) != 0, writeCursors.find(WriteCursors.table(of: key)) else {
            return try super.get(key)
        }
        let (code, value) = writeCursors.get(key)
        return try found(code, value)
    }

    // MARK: Writing

    override func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        try selectCursor(key)
        var code = writeCursors.append(key, value)
        if code == 0 {
            if isUndoable { undoList.add(key, nil) }
            return
        }
        if code == MDB_KEYEXIST {
            if isUndoable { undoList.add(key, try get(key)) }
            code = writeCursors.put(key, value, 0)
        }
        guard code == 0 else { throw fail(code, "writing") }
    }

    override func insert(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool {
        try selectCursor(key)
        var code = writeCursors.append(key, value)
        if code == MDB_KEYEXIST {
            code = writeCursors.put(key, value, UInt32(MDB_NOOVERWRITE))
            if code == MDB_KEYEXIST { return false }
        }
        guard code == 0 else { throw fail(code, "writing") }
        if isUndoable { undoList.add(key, nil) }
        return true
    }

    /// Makes the cursor of the key's table the one to write with.
    @inline(__always)
    private func selectCursor(_ key: UnsafeRawBufferPointer) throws {
        _ = try usableHandle()
        let table = WriteCursors.table(of: key)
        if !writeCursors.isLast(table) {
            let tree = Trees.number(of: key)
            fill(tree)
            try writeCursors.select(table) { try openCursor(tree) }
        }
    }

    override func delete(_ key: UnsafeRawBufferPointer) throws -> Bool {
        let handle = try usableHandle()
        if isUndoable {
            guard let value = try get(key) else { return false }
            undoList.add(key, value)
        }
        let code = remove(key, handle)
        if code == MDB_NOTFOUND { return false }
        guard code == 0 else { throw fail(code, "deleting") }
        return true
    }

    private func remove(_ key: UnsafeRawBufferPointer, _ handle: OpaquePointer) -> CInt {
        let tree = trees[key]
        var key = MDB_val(key)
        return mdb_del(handle, tree, &key, nil)
    }

    // MARK: Savepoints

    override func beginSavepoint() throws {
        _ = try usableHandle()
        lastNumber += 1
        savepoints.append(Savepoint(number: lastNumber, undoStart: undoList.count))
        isUndoable = true
    }

    override func releaseSavepoint() throws {
        _ = try usableHandle()
        try checkSavepoint()
        let inner = savepoints.removeLast()
        defer { leaveSavepoint() }
        guard inner.hasNesting else { return }
        // The undo list does not have what the application has written to the nested transaction.
        if let outer = savepoints.indices.last, !savepoints[outer].hasNesting {
            savepoints[outer].hasNesting = true
            return
        }
        let code = mdb_txn_commit(nestings.removeLast().handle)
        leaveNesting()
        guard code == 0 else { throw fail(code, "ending a savepoint") }
    }

    override func rollbackSavepoint() throws {
        guard handle != nil else { throw ended }
        guard pthread_equal(thread, pthread_self()) != 0 else { throw foreignThread }
        try checkSavepoint()
        let inner = savepoints.removeLast()
        defer { leaveSavepoint() }
        if inner.hasNesting {
            let nesting = nestings.removeLast()
            mdb_txn_abort(nesting.handle)
            undoList.removeAll(from: nesting.undoStart)
            leaveNesting()
        }
        // LMDB undoes the whole transaction after a failed write.
        guard !isFailed, let handle else { return undoList.removeAll(from: inner.undoStart) }
        // The cursors trust that nobody else writes.
        writeCursors.close()
        try undoList.undo(from: inner.undoStart) { key, value in
            let code: CInt
            if let value {
                let tree = trees[key]
                var (key, value) = (MDB_val(key), MDB_val(value))
                code = mdb_put(handle, tree, &key, &value, 0)
            } else {
                code = remove(key, handle)
            }
            // A key that was refused is not there.
            guard code == 0 || code == MDB_NOTFOUND else { throw fail(code, "undoing") }
        }
    }

    private func checkSavepoint() throws {
        guard !savepoints.isEmpty else {
            throw StorageError.noSavepoint(environment.errors.path)
        }
    }

    private func leaveSavepoint() {
        isUndoable = !savepoints.isEmpty
        if !isUndoable { undoList = UndoList() }
        epoch += 1
    }

    /// LMDB's handle for the application, of a nested transaction that ends with the savepoint.
    override func handleForApplication() -> OpaquePointer? {
        guard let handle, let savepoint = savepoints.indices.last, !savepoints[savepoint].hasNesting, !isFailed else {
            return handle
        }
        writeCursors.close()
        var child: OpaquePointer?
        let code = mdb_txn_begin(environment.handle, handle, 0, &child)
        guard code == 0, let child else {
            _ = fail(code, "beginning a savepoint")
            return handle
        }
        lastNumber += 1
        nestings.append(Nesting(handle: child, number: lastNumber, undoStart: undoList.count))
        savepoints[savepoint].hasNesting = true
        self.handle = child
        return child
    }

    /// Continues in the outer LMDB transaction after LMDB has ended the inner one and its cursors.
    private func leaveNesting() {
        writeCursors.forget()
        handle = nestings[nestings.count - 1].handle
        isFailed = nestings[nestings.count - 1].failure != nil
    }

    // MARK: Cursors

    override var level: Int { savepoints.last?.number ?? 0 }

    override func isOpen(level: Int) -> Bool {
        handle != nil && (level == 0 || savepoints.contains { $0.number == level })
    }

    override var nesting: Int { nestings.last?.number ?? 0 }

    override func isOpen(nesting: Int) -> Bool { handle != nil && nestings.contains { $0.number == nesting } }

    override func closeCursor(_ cursor: OpaquePointer, tree: Int, nesting: Int) {
        // LMDB frees the cursors of a write transaction at its end.
        if isOpen(nesting: nesting) { mdb_cursor_close(cursor) }
    }

    // MARK: The end

    override func commit() throws {
        let outermost = try usableHandle()
        guard savepoints.isEmpty else {
            abort()
            throw StorageError.openSavepoint(environment.errors.path)
        }
        let number = Int(mdb_txn_id(outermost))
        let code = mdb_txn_commit(outermost)
        guard code != 0 else {
            // A transaction without writes leaves its number to the next. No other transaction can have
            // committed yet, because the file is still locked.
            var information = MDB_envinfo()
            mdb_env_info(environment.handle, &information)
            if information.me_last_txnid == number { committedNumber = UInt64(number) }
            return end(failure: nil)
        }
        let error = environment.hasPanicked ? environment.errors.outcomeUnknown(code) : fail(code, "committing")
        if error.kind == .outcomeUnknown {
            end(failure: error)
            throw error
        }
        // The transaction is not stored: the meta page was not written. After another failed write the contents of
        // the disk are unknown until the file is opened and read again.
        end(failure: error.kind == .io || error.kind == .corrupted ? error : nil)
        throw error
    }

    override var countAfterCommit: UInt64? { committedNumber }

    override func abort() {
        guard handle != nil else { return }
        // Aborting the outermost transaction ends the nested transactions too.
        mdb_txn_abort(nestings[0].handle)
        end(failure: nil)
    }

    private func end(failure: StorageError?) {
        handle = nil
        writeCursors.forget()
        epoch += 1
        environment.endWriting(foundMapFull: foundMapFull, failure: failure)
    }
}
