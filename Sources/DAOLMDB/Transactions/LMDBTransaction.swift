import DAOCore
import DAOKeyValue
import DAOSystemLMDB

/// What reading and writing transactions on LMDB have in common: they read.
///
/// The pointers that LMDB returns lead into the map, or for pages that this transaction wrote into memory of its own; they
/// are good until the next write or the end.
class LMDBTransaction: KeyValueTransaction {

    /// The file.
    final let environment: LMDBEnvironment
    /// The one unnamed database.
    final let database: MDB_dbi
    /// LMDB's innermost transaction; nil after the end.
    @exclusivity(unchecked) final var handle: OpaquePointer?
    /// Counts the ends of savepoints and of the transaction, each of which takes cursors with it.
    @exclusivity(unchecked) final var epoch = 0

    /// Takes over a running transaction.
    init(_ handle: OpaquePointer, _ environment: LMDBEnvironment) {
        self.handle = handle
        self.environment = environment
        database = environment.database
    }

    /// The number of the last commit that the transaction sees. A writing one has the number of the commit that it will be.
    var snapshotNumber: UInt64? { handle.map { UInt64(mdb_txn_id($0)) &- 1 } }

    /// The error of a call that comes too late.
    final var ended: StorageError {
        .storeTransactionEnded(environment.errors.path)
    }

    private var cannotWrite: StorageError {
        .storeTransactionIsReadOnly(environment.errors.path)
    }

    // MARK: Reading

    final func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        guard let handle else { throw ended }
        var key = MDB_val(key)
        var value = MDB_val()
        let code = mdb_get(handle, database, &key, &value)
        if code == 0 { return UnsafeRawBufferPointer(value) }
        if code == MDB_NOTFOUND { return nil }
        throw environment.errors.error(code, "reading")
    }

    final func cursor() throws -> KeyValueCursor {
        guard handle != nil else { throw ended }
        return LMDBCursor(try openCursor(), self)
    }

    /// A cursor of LMDB's in the innermost transaction. Whoever gets it gives it back once.
    func openCursor() throws -> OpaquePointer {
        var cursor: OpaquePointer?
        let code = mdb_cursor_open(handle, database, &cursor)
        guard code == 0, let cursor else { throw environment.errors.error(code, "opening a cursor") }
        return cursor
    }

    /// Takes a cursor back.
    ///
    /// - Parameters:
    ///   - cursor: LMDB's cursor.
    ///   - level: In which savepoint it was opened.
    func closeCursor(_ cursor: OpaquePointer, level: Int) {}

    /// The number of the innermost savepoint; each has another.
    var level: Int { 0 }

    /// Whether a savepoint is still open.
    func isOpen(level: Int) -> Bool { handle != nil }

    final var underlyingHandle: (any UnderlyingHandle)? {
        guard let handle else { return nil }
        return LMDBHandle(transaction: handle, environment: environment.handle, database: database)
    }

    // MARK: Writing, which a transaction that reads refuses

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
    /// Points to bytes that LMDB only reads, for as long as the call.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
}

extension UnsafeRawBufferPointer {
    /// What LMDB points to, valid as long as LMDB says.
    @inline(__always)
    init(_ value: MDB_val) {
        self.init(start: value.mv_data, count: value.mv_size)
    }
}
