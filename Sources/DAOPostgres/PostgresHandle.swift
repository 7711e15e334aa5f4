import DAOCore
import DAOSystemPostgres

/// The connection to PostgreSQL inside the running transaction, for `underlying(as: PostgresHandle.self)`.
///
/// ```swift
/// try database.transaction {
///     try database.underlying(as: PostgresHandle.self, touching: .models(Message.self)) { handle in
///         try handle.execute("UPDATE message SET \"isRead\" = TRUE WHERE date < 700000000")
///     }
/// }
/// ```
///
/// The table of a model has the name of its entity, and a column for each field with the name of the field. Only the
/// database runs `BEGIN`, `COMMIT` and `ROLLBACK`; you may use savepoints that end inside the closure. In a snapshot the
/// connection can only read.
public struct PostgresHandle: UnderlyingHandle {
    private let connection: PostgresConnection

    init(_ connection: PostgresConnection) { self.connection = connection }

    /// Runs one statement, and discards its rows.
    ///
    /// - Returns: The number of rows that an `INSERT`, `UPDATE` or `DELETE` affected.
    /// - Throws: `StorageError` with PostgreSQL's message. The statement has no effect then.
    @discardableResult
    public func execute(_ sql: String) throws -> Int {
        try connection.sendHeld()
        connection.didWrite(nil, of: "")
        do {
            return try connection.protected([.text(sql)], sql).first?.affected ?? 0
        } catch let error as ServerError {
            throw error.isCancelled ? CancellationError() : error.storageError(path: connection.path)
        }
    }
}
