import DAOCore
import DAOSystemSQLite

/// Counts the commits of all processes to a file, on a separate connection.
enum CommitCounter {
    /// Opens the connection.
    ///
    /// - Parameters:
    ///   - path: The absolute path of the file.
    ///   - mode: How the connection is opened.
    ///   - settings: The settings of all connections of the engine.
    /// - Returns: A closure that returns the count. One thread calls it at a time. The connection lives as
    ///   long as the closure.
    static func open(_ path: String, _ mode: ConnectionMode, _ settings: SQLiteSettings) throws -> ObservationHub.Counter {
        let connection = try SQLiteConnection.open(path, mode, settings)
        // The first read makes the journal mode known, and maps the index of the log.
        _ = try connection.integers("PRAGMA schema_version")
        let hasLog = try connection.texts("PRAGMA journal_mode") == ["wal"]
        return {
            if hasLog, let index = LogIndex(connection.handle) { return index.count }
            let version = try connection.integers("PRAGMA data_version").first ?? 0
            return UInt64(bitPattern: version)
        }
    }
}
