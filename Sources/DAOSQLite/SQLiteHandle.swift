import DAOCore
import DAOSystemSQLite

/// SQLite's own connection, inside the running transaction: what `underlying(as: SQLiteHandle.self)` gives.
///
/// ```swift
/// try database.transaction {
///     try database.underlying(as: SQLiteHandle.self, touching: .models(Message.self)) { handle in
///         try handle.execute("UPDATE message SET isRead = 1 WHERE date < strftime('%s', 'now') - 86400")
///     }
/// }
/// ```
///
/// A model's table has the name of its entity, and a column for each field with that field's name. Whatever
/// is prepared with the connection is finalised before the body returns. `BEGIN`, `COMMIT` and `ROLLBACK` are
/// the database's to say; savepoints of one's own are fine when they end in the body. In a snapshot it is a
/// connection that only reads.
public struct SQLiteHandle: UnderlyingHandle {
    /// SQLite's `sqlite3 *`, for its C interface.
    public let connection: OpaquePointer
    private let path: String

    init(_ connection: SQLiteConnection) {
        self.connection = connection.handle
        path = connection.path
    }

    /// Runs one or more statements, and drops their rows.
    ///
    /// - Returns: How many rows the last `INSERT`, `UPDATE` or `DELETE` touched.
    /// - Throws: `StorageError` with SQLite's code and words; what the statements did until then is undone
    ///   when it leaves the body.
    @discardableResult
    public func execute(_ sql: String) throws -> Int {
        let code = sqlite3_exec(connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else {
            throw SQLiteError.error(code, String(cString: sqlite3_errmsg(connection)), path: path)
        }
        return Int(sqlite3_changes(connection))
    }
}
