import DAOCore
import DAOKeyValue
import DAOSystemLMDB
import Foundation

/// The single write transaction of a file. It belongs to the thread that began it.
///
/// A savepoint is a nested LMDB transaction. All operations run in the innermost transaction.
final class LMDBWriteTransaction: LMDBTransaction {

    /// An LMDB transaction: the outermost, or a savepoint.
    private struct Level {
        var handle: OpaquePointer
        var number: Int
        /// The reason why the transaction can only be ended; nil without a failure.
        var failure: StorageError?
    }

    private let thread = pthread_self()
    private var levels: [Level]
    private var lastLevelNumber = 0
    // Of the innermost level.
    @exclusivity(unchecked) private var writeCursors = WriteCursors()
    // Whether the innermost level has failed; its `failure` has the reason.
    @exclusivity(unchecked) private var isFailed = false
    // The number of the commit, if a commit was made.
    private var committedNumber: UInt64?
    // Whether any level reached the end of the map.
    private var foundMapFull = false

    override init(_ handle: OpaquePointer, _ environment: LMDBEnvironment) {
        levels = [Level(handle: handle, number: 0)]
        super.init(handle, environment)
    }

    deinit { abort() }

    // MARK: Checks

    /// LMDB's innermost transaction. Throws when it cannot be used or belongs to another thread.
    @inline(__always)
    private func usableHandle() throws -> OpaquePointer {
        guard let handle else { throw ended }
        guard pthread_equal(thread, pthread_self()) != 0 else { throw foreignThread }
        if isFailed, let failure = levels[levels.count - 1].failure { throw failure }
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
        levels[levels.count - 1].failure = error
        isFailed = true
        return error
    }

    // MARK: Writing

    override func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        let code = try write(key, value, flags: 0)
        guard code == 0 else { throw fail(code, "writing") }
    }

    override func insert(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool {
        let code = try write(key, value, flags: UInt32(MDB_NOOVERWRITE))
        if code == MDB_KEYEXIST { return false }
        guard code == 0 else { throw fail(code, "writing") }
        return true
    }

    /// Writes through the cursor of the key's table.
    @inline(__always)
    private func write(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, flags: UInt32) throws -> CInt {
        _ = try usableHandle()
        let table = WriteCursors.table(of: key)
        if !writeCursors.isLast(table) {
            let tree = Trees.number(of: key)
            fill(tree)
            try writeCursors.select(table) { try openCursor(tree) }
        }
        return writeCursors.put(key, value, flags)
    }

    override func delete(_ key: UnsafeRawBufferPointer) throws -> Bool {
        let handle = try usableHandle()
        let tree = trees[key]
        var key = MDB_val(key)
        let code = mdb_del(handle, tree, &key, nil)
        if code == MDB_NOTFOUND { return false }
        guard code == 0 else { throw fail(code, "deleting") }
        return true
    }

    // MARK: Savepoints

    override func beginSavepoint() throws {
        let parent = try usableHandle()
        writeCursors.close()
        var child: OpaquePointer?
        let code = mdb_txn_begin(environment.handle, parent, 0, &child)
        guard code == 0, let child else { throw fail(code, "beginning a savepoint") }
        lastLevelNumber += 1
        levels.append(Level(handle: child, number: lastLevelNumber))
        handle = child
    }

    override func releaseSavepoint() throws {
        let child = try usableHandle()
        try checkSavepoint()
        let code = mdb_txn_commit(child)
        leaveLevel()
        guard code == 0 else { throw fail(code, "ending a savepoint") }
    }

    override func rollbackSavepoint() throws {
        guard let child = handle else { throw ended }
        guard pthread_equal(thread, pthread_self()) != 0 else { throw foreignThread }
        try checkSavepoint()
        mdb_txn_abort(child)
        leaveLevel()
    }

    private func checkSavepoint() throws {
        guard levels.count > 1 else {
            throw StorageError.noSavepoint(environment.errors.path)
        }
    }

    /// Continues in the outer level after LMDB has ended the inner level and its cursors.
    private func leaveLevel() {
        writeCursors.forget()
        levels.removeLast()
        handle = levels[levels.count - 1].handle
        isFailed = levels[levels.count - 1].failure != nil
        epoch += 1
    }

    // MARK: Cursors

    override var level: Int { levels.last?.number ?? 0 }

    override func isOpen(level: Int) -> Bool {
        handle != nil && levels.contains { $0.number == level }
    }

    override func closeCursor(_ cursor: OpaquePointer, tree: Int, level: Int) {
        // LMDB frees the cursors of a write transaction at its end.
        if isOpen(level: level) { mdb_cursor_close(cursor) }
    }

    // MARK: The end

    override func commit() throws {
        let outermost = try usableHandle()
        guard levels.count == 1 else {
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
        mdb_txn_abort(levels[0].handle)
        end(failure: nil)
    }

    private func end(failure: StorageError?) {
        handle = nil
        writeCursors.forget()
        epoch += 1
        environment.endWriting(foundMapFull: foundMapFull, failure: failure)
    }
}
