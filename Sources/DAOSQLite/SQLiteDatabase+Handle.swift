import DAOCore
import DAOSystemSQLite

extension SQLiteDatabase {
    /// Runs a body with the `sqlite3` handle that the calling code reads with: the transaction's inside one, else a reader's.
    ///
    /// - Parameter body: Gets the handle for as long as it runs. It leaves transactions alone.
    package func withReaderHandle<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        try lifetime.call { try engine.coordinator.read { try body($0.handle) } }
    }

    /// Runs a body with the `sqlite3` handle that writes, outside of a transaction unless one runs already.
    ///
    /// - Parameter body: Gets the handle for as long as it runs. It leaves transactions alone.
    package func withWriterHandle<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        try lifetime.call { try engine.coordinator.write(.statement) { try body($0.handle) } }
    }

    /// How often the statement of a query was found, and had to be made, on the connection that the calling code reads with.
    package var statementStatistics: (hits: Int, misses: Int) {
        get throws { try lifetime.call { try engine.coordinator.read { $0.cacheStatistics } } }
    }
}
