import DAOCore
import DAOKeyValue
import DAOSystemLMDB

/// A position in the tree of a transaction.
final class LMDBCursor: KeyValueCursor {

    private let cursor: OpaquePointer
    private let transaction: LMDBTransaction
    private let level: Int
    // The transaction's epoch in which the cursor was last valid.
    @exclusivity(unchecked) private var epoch: Int

    /// Takes over an LMDB cursor that was opened in the transaction's innermost savepoint.
    init(_ cursor: OpaquePointer, _ transaction: LMDBTransaction) {
        self.cursor = cursor
        self.transaction = transaction
        level = transaction.level
        epoch = transaction.epoch
    }

    deinit { transaction.closeCursor(cursor, level: level) }

    /// Checks that neither the transaction nor the savepoint of the cursor has ended.
    @inline(__always)
    private func check() throws {
        if transaction.epoch != epoch { try checkLevel() }
    }

    private func checkLevel() throws {
        guard transaction.isOpen(level: level) else {
            throw transaction.environment.errors.error(
                .invalidTransaction, "The transaction or savepoint of the cursor has ended; get another cursor.")
        }
        epoch = transaction.epoch
    }

    /// Moves the cursor and sets the current entry.
    @inline(__always)
    private func move(_ operation: MDB_cursor_op, _ target: UnsafeRawBufferPointer = .init(start: nil, count: 0)) throws -> Bool {
        var key = MDB_val(target)
        var value = MDB_val()
        let code = mdb_cursor_get(cursor, &key, &value, operation)
        guard code == 0 else {
            if code == MDB_NOTFOUND { return false }
            throw transaction.environment.errors.error(code, "Reading with a cursor")
        }
        self.key = UnsafeRawBufferPointer(key)
        self.value = UnsafeRawBufferPointer(value)
        return true
    }

    override func seek(_ key: UnsafeRawBufferPointer) throws -> Bool {
        try check()
        // LMDB has no empty key and refuses to search for it; every key is greater.
        return try key.isEmpty ? move(MDB_FIRST) : move(MDB_SET_RANGE, key)
    }

    override func seekBefore(_ key: UnsafeRawBufferPointer) throws -> Bool {
        try check()
        guard !key.isEmpty else { return false }
        return try move(MDB_SET_RANGE, key) ? move(MDB_PREV) : move(MDB_LAST)
    }

    override func next() throws -> Bool {
        try check()
        return try move(MDB_NEXT)
    }

    override func previous() throws -> Bool {
        try check()
        return try move(MDB_PREV)
    }
}
