import DAOCore
import DAOKeyValue
import DAOSystemLMDB

/// A snapshot to read from. When it ends, it goes back to its environment, to be begun again for little.
final class LMDBReadTransaction: LMDBTransaction {

    // LMDB's transaction while it is idle; it keeps its slot in the table of readers.
    private var idleHandle: OpaquePointer?
    // A cursor that nobody uses.
    private var spareCursor: OpaquePointer?

    deinit {
        guard handle != nil else { return discard() }
        discard()
        environment.leave()
    }

    override var snapshotNumber: UInt64? { handle.map { UInt64(mdb_txn_id($0)) } }

    // MARK: Idleness

    /// Begins again, on the newest snapshot. Only for one that is idle.
    ///
    /// - Returns: LMDB's code; unless it is zero, the transaction is of no more use.
    func renew() -> CInt {
        let code = mdb_txn_renew(idleHandle)
        if code == 0 {
            handle = idleHandle
            idleHandle = nil
        } else {
            discard()
        }
        return code
    }

    /// An idle transaction that takes over all that this idle one has.
    func successor() -> LMDBReadTransaction? {
        guard let idleHandle else { return nil }
        let successor = LMDBReadTransaction(idleHandle, environment)
        successor.handle = nil
        successor.idleHandle = idleHandle
        successor.spareCursor = spareCursor
        self.idleHandle = nil
        spareCursor = nil
        return successor
    }

    /// Gives everything back to LMDB.
    func discard() {
        if let spareCursor { mdb_cursor_close(spareCursor) }
        spareCursor = nil
        if let transaction = handle ?? idleHandle { mdb_txn_abort(transaction) }
        handle = nil
        idleHandle = nil
    }

    override func abort() {
        guard let handle else { return }
        mdb_txn_reset(handle)
        self.handle = nil
        idleHandle = handle
        epoch += 1
        environment.endReading(self)
    }

    /// The number of the commit that it sees.
    var number: UInt64 { handle.map { UInt64(mdb_txn_id($0)) } ?? 0 }

    // MARK: Cursors

    override func openCursor() throws -> OpaquePointer {
        guard let cursor = spareCursor else { return try super.openCursor() }
        spareCursor = nil
        let code = mdb_cursor_renew(handle, cursor)
        guard code == 0 else {
            mdb_cursor_close(cursor)
            throw environment.errors.error(code, "opening a cursor")
        }
        return cursor
    }

    override func closeCursor(_ cursor: OpaquePointer, level: Int) {
        if handle != nil, spareCursor == nil {
            spareCursor = cursor
        } else {
            // LMDB lets cursors of readers outlive their transaction.
            mdb_cursor_close(cursor)
        }
    }
}
