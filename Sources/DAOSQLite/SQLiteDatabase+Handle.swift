import DAOCore
import DAOSQL
import DAOSystemSQLite

extension SQLiteDatabase {
    /// Runs a body with the `sqlite3` handle that the calling code reads with: the transaction's inside one,
    /// else a reader's.
    ///
    /// - Parameter body: Gets the handle for as long as it runs. It leaves transactions alone.
    package func withReaderHandle<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        try lifetime.call { try instance.coordinator.read { try body(handle(of: $0)) } }
    }

    /// Runs a body with the `sqlite3` handle that writes, outside of a transaction unless one runs already.
    ///
    /// - Parameter body: Gets the handle for as long as it runs. It leaves transactions alone.
    package func withWriterHandle<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        try lifetime.call { try instance.coordinator.write(.statement) { try body(handle(of: $0)) } }
    }

    /// How often the statement of a query was found, and had to be made, on the connection that the calling
    /// code reads with.
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
