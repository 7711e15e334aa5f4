import DAOSystemLMDB

/// A transaction of LMDB that only reads, with its slot in the reader table. When a read ends, its environment keeps it for
/// another one.
final class LMDBReader {
    /// LMDB's transaction.
    let handle: OpaquePointer
    /// Where the environment counts the read that has it.
    @exclusivity(unchecked) var lane = 0
    // Whether it keeps its snapshot while it is idle.
    @exclusivity(unchecked) private var isParked = false
    // An unused cursor of each tree.
    @exclusivity(unchecked) private var spareCursors = [OpaquePointer?](repeating: nil, count: Trees.count)

    /// Takes over a running transaction.
    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit {
        for case let cursor? in spareCursors { mdb_cursor_close(cursor) }
        mdb_txn_abort(handle)
    }

    /// The number of the commit that the snapshot has.
    var number: UInt64 { UInt64(mdb_txn_id(handle)) }

    /// Begins again, on the newest snapshot. Only for an idle reader.
    ///
    /// - Returns: LMDB's result code. Unless it is zero, the reader can no longer be used.
    @inline(__always) func renew(_ environment: LMDBEnvironment) -> CInt {
        if isParked, number == environment.lastCommit {
            isParked = false
            return 0
        }
        unpark()
        return mdb_txn_renew(handle)
    }

    /// Becomes idle.
    @inline(__always) func end(keepsSnapshot: Bool) {
        isParked = keepsSnapshot
        if !keepsSnapshot { mdb_txn_reset(handle) }
    }

    /// Gives up the snapshot of an idle reader.
    func unpark() {
        if isParked { mdb_txn_reset(handle) }
        isParked = false
    }

    /// Takes an unused cursor of a tree; nil when there is none.
    func takeCursor(_ tree: Int) -> OpaquePointer? { spareCursors[tree].take() }

    /// Keeps an unused cursor of a tree, or closes it.
    func leaveCursor(_ cursor: OpaquePointer, _ tree: Int) {
        if spareCursors[tree] == nil { spareCursors[tree] = cursor } else { mdb_cursor_close(cursor) }
    }
}
