import DAOCore
import DAOKeyValue
import DAOSystemLMDB

/// A read transaction on a snapshot. When it ends, it returns to its environment for cheap reuse.
final class LMDBReadTransaction: LMDBTransaction {

    // LMDB's transaction while it is idle; it keeps its slot in the reader table.
    private var idleHandle: OpaquePointer?
    // Whether the idle transaction keeps its snapshot.
    private var isParked = false
    // An unused cursor of each tree.
    @exclusivity(unchecked) private var spareCursors = [OpaquePointer?](repeating: nil, count: Trees.count)
    // The snapshot before the last renewal.
    private var lastNumber: UInt64 = 0
    /// Where the environment counts it.
    @exclusivity(unchecked) var lane = 0

    deinit {
        guard handle != nil else { return discard() }
        discard()
        environment.leave(lane)
    }

    override var snapshotNumber: UInt64? { handle.map { UInt64(mdb_txn_id($0)) } }

    // MARK: Idleness

    /// Begins again, on the newest snapshot. Only for an idle transaction.
    ///
    /// - Returns: LMDB's result code. Unless it is zero, the transaction can no longer be used.
    func renew() -> CInt {
        if isParked, let idleHandle, UInt64(mdb_txn_id(idleHandle)) == environment.lastCommit {
            handle = idleHandle
            self.idleHandle = nil
            isParked = false
            return 0
        }
        unpark()
        let code = mdb_txn_renew(idleHandle)
        if code == 0 {
            handle = idleHandle
            idleHandle = nil
            if number != lastNumber { forgetFilled() }
            lastNumber = number
        } else {
            discard()
        }
        return code
    }

    /// The number of the commit that the snapshot of an idle transaction has.
    var idleNumber: UInt64 { idleHandle.map { UInt64(mdb_txn_id($0)) } ?? 0 }

    /// Gives up the snapshot of an idle transaction.
    func unpark() {
        if isParked { mdb_txn_reset(idleHandle) }
        isParked = false
    }

    /// Returns an idle transaction that takes over the state of this idle transaction.
    func successor() -> LMDBReadTransaction? {
        guard let idleHandle else { return nil }
        let successor = LMDBReadTransaction(idleHandle, environment)
        successor.handle = nil
        successor.idleHandle = idleHandle
        successor.isParked = isParked
        successor.spareCursors = spareCursors
        self.idleHandle = nil
        forgetSpareCursors()
        return successor
    }

    /// Releases all LMDB resources.
    func discard() {
        for case let cursor? in spareCursors { mdb_cursor_close(cursor) }
        forgetSpareCursors()
        if let transaction = handle ?? idleHandle { mdb_txn_abort(transaction) }
        handle = nil
        idleHandle = nil
    }

    override func abort() {
        guard let handle else { return }
        self.handle = nil
        idleHandle = handle
        isParked = true
        epoch += 1
        environment.endReading(self)
    }

    /// The number of the commit that the snapshot has.
    var number: UInt64 { handle.map { UInt64(mdb_txn_id($0)) } ?? 0 }

    override var pinnedBytes: Int? { handle == nil ? nil : environment.pinnedBytes(since: number) }

    // MARK: Cursors

    private func forgetSpareCursors() { spareCursors = Array(repeating: nil, count: Trees.count) }

    override func openCursor(_ tree: Int) throws -> OpaquePointer {
        guard let handle, let cursor = spareCursors[tree] else { return try super.openCursor(tree) }
        spareCursors[tree] = nil
        let code = mdb_cursor_renew(handle, cursor)
        guard code == 0 else {
            mdb_cursor_close(cursor)
            throw environment.errors.error(code, "opening a cursor")
        }
        return cursor
    }

    override func closeCursor(_ cursor: OpaquePointer, tree: Int, nesting: Int) {
        if handle != nil, spareCursors[tree] == nil {
            spareCursors[tree] = cursor
        } else {
            // LMDB lets cursors of readers outlive their transaction.
            mdb_cursor_close(cursor)
        }
    }
}
