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
    /// The unnamed database.
    final let database: MDB_dbi
    /// LMDB's innermost transaction; nil after the end.
    @exclusivity(unchecked) final var handle: OpaquePointer?
    /// Counts the ends of savepoints and of the transaction; each end invalidates cursors.
    @exclusivity(unchecked) final var epoch = 0

    /// Takes over a running transaction.
    init(_ handle: OpaquePointer, _ environment: LMDBEnvironment) {
        self.handle = handle
        self.environment = environment
        database = environment.database
    }

    /// The number of the last commit that the transaction sees. LMDB gives a write transaction the number of
    /// its future commit.
    var snapshotNumber: UInt64? { handle.map { UInt64(mdb_txn_id($0)) &- 1 } }

    /// The error of a call after the end.
    final var ended: StorageError {
        environment.errors.error(.invalidTransaction, "The transaction has ended; begin another.")
    }

    private var cannotWrite: StorageError {
        environment.errors.error(.invalidTransaction, "The transaction only reads; begin one for writing.")
    }

    // MARK: Reading

    final func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        guard let handle else { throw ended }
        var key = MDB_val(key)
        var value = MDB_val()
        let code = mdb_get(handle, database, &key, &value)
        if code == 0 { return UnsafeRawBufferPointer(value) }
        if code == MDB_NOTFOUND { return nil }
        throw environment.errors.error(code, "Reading")
    }

    final func cursor() throws -> KeyValueCursor {
        guard handle != nil else { throw ended }
        return LMDBCursor(try openCursor(), self)
    }

    /// Opens an LMDB cursor in the innermost transaction. The caller returns it once.
    func openCursor() throws -> OpaquePointer {
        var cursor: OpaquePointer?
        let code = mdb_cursor_open(handle, database, &cursor)
        guard code == 0, let cursor else { throw environment.errors.error(code, "Opening a cursor") }
        return cursor
    }

    /// Takes back a cursor.
    ///
    /// - Parameters:
    ///   - cursor: LMDB's cursor.
    ///   - level: The savepoint in which it was opened.
    func closeCursor(_ cursor: OpaquePointer, level: Int) {}

    /// The number of the innermost savepoint. Numbers are unique.
    var level: Int { 0 }

    /// Whether a savepoint is still open.
    func isOpen(level: Int) -> Bool { handle != nil }

    final var underlyingHandle: (any UnderlyingHandle)? {
        guard let handle else { return nil }
        return LMDBHandle(transaction: handle, environment: environment.handle, database: database)
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
