import DAOCore
import DAOKeyValue
import DAOSystemLMDB

/// The base of read and write transactions on LMDB: reading.
///
/// Pointers from LMDB point into the map, or into private memory for pages that this transaction wrote. They
/// are valid until the next write or the end.
class LMDBTransaction: KeyValueTransaction {

    /// The file.
    final let environment: LMDBEnvironment
    /// The trees of the file.
    @exclusivity(unchecked) private(set) final var trees: Trees
    private final var replacements: Int
    /// LMDB's innermost transaction; nil after the end.
    @exclusivity(unchecked) final var handle: OpaquePointer?
    /// Counts the ends of savepoints and of the transaction; each end invalidates cursors.
    @exclusivity(unchecked) final var epoch = 0

    /// Takes over a running transaction.
    init(_ handle: OpaquePointer, _ environment: LMDBEnvironment) {
        self.handle = handle
        self.environment = environment
        trees = environment.trees
        replacements = environment.replacements
    }

    /// Takes over another running transaction, after its own has ended.
    @inline(__always) final func resume(_ handle: OpaquePointer) {
        self.handle = handle
        if replacements != environment.replacements { (trees, replacements) = (environment.trees, environment.replacements) }
    }

    /// The number of the last commit that the transaction sees. LMDB gives a write transaction the number of
    /// its future commit.
    var snapshotNumber: UInt64? { handle.map { UInt64(mdb_txn_id($0)) &- 1 } }

    /// The error of a call after the end.
    final var ended: StorageError {
        .storeTransactionEnded(environment.errors.path)
    }

    private var cannotWrite: StorageError {
        .storeTransactionIsReadOnly(environment.errors.path)
    }

    // MARK: Reading

    func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        guard let handle else { throw ended }
        let tree = trees[key]
        var key = MDB_val(key)
        var value = MDB_val()
        return try found(mdb_get(handle, tree, &key, &value), value)
    }

    /// The value that was looked for; nil when it is not there.
    @inline(__always) final func found(_ code: CInt, _ value: MDB_val) throws -> UnsafeRawBufferPointer? {
        if code == 0 { return UnsafeRawBufferPointer(value) }
        if code == MDB_NOTFOUND { return nil }
        throw environment.errors.error(code, "reading")
    }

    final func cursor() throws -> KeyValueCursor {
        guard handle != nil else { throw ended }
        return LMDBCursor(self)
    }

    func entryCount(of first: UInt8) -> Int? {
        guard let handle, first < Trees.count - 1 else { return nil }
        var statistics = MDB_stat()
        return mdb_stat(handle, trees.handles[Int(first)], &statistics) == 0 ? statistics.ms_entries : nil
    }

    var pinnedBytes: Int? { handle == nil ? nil : environment.oldestSnapshot.flatMap(environment.pinnedBytes(since:)) }

    /// Opens an LMDB cursor of a tree in the innermost transaction. The caller returns it once.
    func openCursor(_ tree: Int) throws -> OpaquePointer {
        guard let handle else { throw ended }
        var cursor: OpaquePointer?
        let code = mdb_cursor_open(handle, trees.handles[tree], &cursor)
        guard code == 0, let cursor else { throw environment.errors.error(code, "opening a cursor") }
        return cursor
    }

    /// Takes back a cursor.
    ///
    /// - Parameters:
    ///   - cursor: LMDB's cursor.
    ///   - tree: Its tree.
    ///   - nesting: The nested transaction in which it was opened.
    func closeCursor(_ cursor: OpaquePointer, tree: Int, nesting: Int) {}

    // MARK: Trees

    // A bit for each tree that can have entries.
    @exclusivity(unchecked) private var filled: UInt32 = 0
    // Whether `filled` has been read from the file.
    @exclusivity(unchecked) private var knowsFilled = false

    /// Notes that a tree has an entry.
    @inline(__always) final func fill(_ tree: Int) { filled |= 1 << UInt32(truncatingIfNeeded: tree) }

    /// Reads anew which trees have entries.
    final func forgetFilled() { (filled, knowsFilled) = (0, false) }

    /// The next tree that can have entries.
    ///
    /// - Parameters:
    ///   - tree: A tree.
    ///   - step: 1 for greater keys, -1 for smaller keys.
    final func tree(after tree: Int, step: Int) throws -> Int? {
        if !knowsFilled {
            for tree in 0..<Trees.count {
                var statistics = MDB_stat()
                let code = mdb_stat(handle, trees.handles[tree], &statistics)
                guard code == 0 else { throw environment.errors.error(code, "reading") }
                if statistics.ms_entries > 0 { fill(tree) }
            }
            knowsFilled = true
        }
        var next = tree + step
        while next >= 0, next < Trees.count {
            if filled & (1 << UInt32(next)) != 0 { return next }
            next += step
        }
        return nil
    }

    /// The number of the innermost savepoint. Numbers are unique.
    var level: Int { 0 }

    /// Whether a savepoint is still open.
    func isOpen(level: Int) -> Bool { handle != nil }

    /// The number of LMDB's innermost nested transaction. Numbers are unique.
    var nesting: Int { 0 }

    /// Whether a nested transaction is still open.
    func isOpen(nesting: Int) -> Bool { handle != nil }

    /// LMDB's transaction for direct access by the application.
    func handleForApplication() -> OpaquePointer? { handle }

    final var underlyingHandle: (any UnderlyingHandle)? {
        guard let handle = handleForApplication() else { return nil }
        // The application can write to any tree.
        (filled, knowsFilled) = (.max, true)
        return LMDBHandle(transaction: handle, environment: environment.handle, databases: trees.handles)
    }

    // MARK: Writing, refused by a read transaction

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws { throw cannotWrite }

    func insert(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool { throw cannotWrite }

    func delete(_ key: UnsafeRawBufferPointer) throws -> Bool { throw cannotWrite }

    func beginSavepoint() throws { throw cannotWrite }

    func releaseSavepoint() throws { throw cannotWrite }

    func rollbackSavepoint() throws { throw cannotWrite }

    // MARK: The end

    func commit() throws {
        guard handle != nil else { throw ended }
        abort()
    }

    func abort() {}

    var countAfterCommit: UInt64? { nil }
}

extension MDB_val {
    /// Points to bytes that LMDB only reads, during the call.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes of an LMDB value, valid as long as LMDB guarantees.
    @inline(__always)
    init(_ value: MDB_val) {
        self.init(start: value.mv_data, count: value.mv_size)
    }
}
