import DAOCore
import DAOSQL
import DAOSystemSQLite

extension SQLiteDatabase {
    /// Runs a closure with the `sqlite3` handle that the calling code reads with: that of the running
    /// transaction, otherwise that of a reader.
    ///
    /// - Parameter body: The closure. The handle is valid only inside it. The closure must not begin or end
    ///   transactions.
    package func withReaderHandle<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        try lifetime.call { try instance.coordinator.read { try body(handle(of: $0)) } }
    }

    /// Runs a closure with the `sqlite3` handle that writes, outside a transaction unless a transaction is
    /// running.
    ///
    /// - Parameter body: The closure. The handle is valid only inside it. The closure must not begin or end
    ///   transactions.
    package func withWriterHandle<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        try lifetime.call {
            try instance.coordinator.write(.statement) { session in
                guard let connection = session.connection as? SQLiteConnection else { return try body(handle(of: session)) }
                return try connection.parked.without { try body(connection.handle) }
            }
        }
    }

    /// How often a query's statement was found in the cache, and how often it had to be prepared, on the
    /// connection that the calling code reads with.
    package var statementStatistics: (hits: Int, misses: Int) {
        get throws { try lifetime.call { try instance.coordinator.read { $0.cacheStatistics } } }
    }

    private func handle(of session: SQLSession) throws -> OpaquePointer {
        guard let handle = session.connection.underlyingHandle as? SQLiteHandle else {
            throw refusal(of: SQLiteHandle.self)
        }
        return handle.connection
    }
}
