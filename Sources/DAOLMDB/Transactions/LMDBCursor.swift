import DAOCore
import DAOKeyValue
import DAOSystemLMDB

/// A position in the trees of a transaction. It continues in the next tree only at the end of a tree.
final class LMDBCursor: KeyValueCursor {

    private let transaction: LMDBTransaction
    // The savepoint in which it was made.
    private let level: Int
    // The transaction's epoch in which the cursor was last valid.
    @exclusivity(unchecked) private var epoch: Int

    // LMDB's cursor; nil without a position. `tree` is its tree, and `nesting` the nested LMDB transaction in
    // which it was opened.
    @exclusivity(unchecked) private var cursor: OpaquePointer?
    @exclusivity(unchecked) private var tree = 0
    @exclusivity(unchecked) private var nesting = 0

    /// Creates a cursor without a position in the transaction's innermost savepoint.
    init(_ transaction: LMDBTransaction) {
        self.transaction = transaction
        level = transaction.level
        epoch = transaction.epoch
    }

    deinit { leaveTree() }

    /// Checks that neither the transaction nor the savepoint of the cursor has ended.
    @inline(__always)
    private func check() throws {
        if transaction.epoch != epoch { try checkLevel() }
    }

    private func checkLevel() throws {
        guard transaction.isOpen(level: level) else { throw ended }
        // LMDB has freed the cursors of ended nested transactions.
        if !transaction.isOpen(nesting: nesting) { cursor = nil }
        epoch = transaction.epoch
    }

    private var ended: StorageError {
        transaction.environment.errors.error(
            .invalidTransaction, "the transaction or savepoint of the cursor has ended; make another cursor")
    }

    // MARK: Moving

    /// Moves in the current tree and sets the current entry.
    @inline(__always)
    private func move(_ operation: MDB_cursor_op, _ target: UnsafeRawBufferPointer = .init(start: nil, count: 0)) throws -> Bool {
        guard let cursor else { throw ended }
        var key = MDB_val(target)
        var value = MDB_val()
        let code = mdb_cursor_get(cursor, &key, &value, operation)
        guard code == 0 else {
            if code == MDB_NOTFOUND { return false }
            throw transaction.environment.errors.error(code, "reading with a cursor")
        }
        self.key = UnsafeRawBufferPointer(key)
        self.value = UnsafeRawBufferPointer(value)
        return true
    }

    override func seek(_ key: UnsafeRawBufferPointer) throws -> Bool {
        try check()
        try enter(Trees.number(of: key))
        // LMDB has no empty key and refuses to search for it; every key is greater.
        return try (key.isEmpty ? move(MDB_FIRST) : move(MDB_SET_RANGE, key)) || continueAfter()
    }

    override func seekBefore(_ key: UnsafeRawBufferPointer) throws -> Bool {
        try check()
        guard !key.isEmpty else { return false }
        try enter(Trees.number(of: key))
        return try (move(MDB_SET_RANGE, key) ? move(MDB_PREV) : move(MDB_LAST)) || continueBefore()
    }

    override func next() throws -> Bool {
        try check()
        return try move(MDB_NEXT) || continueAfter()
    }

    override func previous() throws -> Bool {
        try check()
        return try move(MDB_PREV) || continueBefore()
    }

    // MARK: Trees

    /// Moves to the first entry of the trees after the current tree.
    @inline(never) private func continueAfter() throws -> Bool {
        while let next = try transaction.tree(after: tree, step: 1) {
            try enter(next)
            if try move(MDB_FIRST) { return true }
        }
        return false
    }

    /// Moves to the last entry of the trees before the current tree.
    @inline(never) private func continueBefore() throws -> Bool {
        while let next = try transaction.tree(after: tree, step: -1) {
            try enter(next)
            if try move(MDB_LAST) { return true }
        }
        return false
    }

    /// Enters a tree, without a position in it.
    @inline(__always)
    private func enter(_ tree: Int) throws {
        if cursor != nil, self.tree == tree { return }
        leaveTree()
        cursor = try transaction.openCursor(tree)
        self.tree = tree
        nesting = transaction.nesting
    }

    private func leaveTree() {
        guard let cursor else { return }
        transaction.closeCursor(cursor, tree: tree, nesting: nesting)
        self.cursor = nil
    }
}
