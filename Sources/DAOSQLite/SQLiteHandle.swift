import DAOCore
import DAOSystemSQLite

/// The connection of SQLite inside the running transaction, for `underlying(as: SQLiteHandle.self)`.
///
/// ```swift
/// try database.transaction {
///     try database.underlying(as: SQLiteHandle.self, touching: .models(Message.self)) { handle in
///         try handle.execute("UPDATE message SET isRead = 1 WHERE date < strftime('%s', 'now') - 86400")
///     }
/// }
/// ```
///
/// The table of a model has the name of its entity, and a column for each field with the name of the field.
/// Finalise every statement that you prepare on the connection before the closure returns. Only the database
/// runs `BEGIN`, `COMMIT` and `ROLLBACK`; you may use savepoints that end inside the closure. In a snapshot
/// the connection can only read.
public struct SQLiteHandle: UnderlyingHandle {
    /// SQLite's `sqlite3 *`, for its C interface.
    public let connection: OpaquePointer
    private let path: String

    init(_ connection: SQLiteConnection) {
        self.connection = connection.handle
        path = connection.path
    }

    /// Runs one or more statements, and discards their rows.
    ///
    /// - Returns: The number of rows that the last `INSERT`, `UPDATE` or `DELETE` affected.
    /// - Throws: `StorageError` with SQLite's code and message. When the error leaves the closure, the
    ///   effects of earlier statements are undone.
    @discardableResult
    public func execute(_ sql: String) throws -> Int {
        let code = sqlite3_exec(connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else {
            throw SQLiteError.error(code, String(cString: sqlite3_errmsg(connection)), path: path)
        }
        return Int(sqlite3_changes(connection))
    }
}
