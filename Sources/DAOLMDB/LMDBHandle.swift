import DAOCore
import DAOSystemLMDB

/// LMDB's transaction. `underlying(as: LMDBHandle.self)` passes it for a database in an LMDB file.
///
/// ```swift
/// let pages = try database.snapshot {
///     try database.underlying(as: LMDBHandle.self) { handle in
///         handle.databases.reduce(0) { sum, database in
///             var statistics = MDB_stat()
///             guard mdb_stat(handle.transaction, database, &statistics) == MDB_SUCCESS else { return sum }
///             return sum + statistics.ms_leaf_pages
///         }
///     }
/// }
/// ```
///
/// Inside a transaction it is a child transaction, which the database ends when the body returns. Keys and
/// values are in the database's record format. Reading them is safe; writes must keep that format, including
/// checksums and index entries. A pointer from LMDB is valid until the next write in the transaction,
/// including the writes of DAOs.
public struct LMDBHandle: UnderlyingHandle {
    /// LMDB's `MDB_txn *`.
    public let transaction: OpaquePointer
    /// LMDB's `MDB_env *`.
    public let environment: OpaquePointer
    /// The handles of the file's trees, LMDB's named databases, in the order of their keys. Together they
    /// contain all data.
    public let databases: [UInt32]

    /// The handle of the tree that contains a key.
    ///
    /// - Parameter key: The whole key, or its beginning.
    public func database(of key: [UInt8]) -> UInt32 { key.withUnsafeBytes { databases[Trees.number(of: $0)] } }
}
