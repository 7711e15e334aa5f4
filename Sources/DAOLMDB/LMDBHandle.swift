import DAOCore
import DAOSystemLMDB

/// LMDB's own transaction: what `underlying(as: LMDBHandle.self)` gives for a database in a file kept by LMDB.
///
/// ```swift
/// let pages = try database.snapshot {
///     try database.underlying(as: LMDBHandle.self) { handle in
///         var statistics = MDB_stat()
///         guard mdb_stat(handle.transaction, handle.database, &statistics) == MDB_SUCCESS else { return 0 }
///         return statistics.ms_leaf_pages
///     }
/// }
/// ```
///
/// Inside a transaction it is a child transaction, ended by the database when the body returns. Keys and values are in the database's own
/// form: reading them is safe, writing is for who keeps to that form, checksums and index entries included. A pointer that LMDB returns is
/// good until the next write in the transaction, the DAO's included.
public struct LMDBHandle: UnderlyingHandle {
    /// LMDB's `MDB_txn *`.
    public let transaction: OpaquePointer
    /// LMDB's `MDB_env *`.
    public let environment: OpaquePointer
    /// The one tree that everything is in.
    public let database: UInt32
}
