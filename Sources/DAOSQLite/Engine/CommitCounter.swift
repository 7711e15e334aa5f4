import DAOCore
import DAOSystemSQLite

/// Counts the commits to a file, whoever makes them, on a connection of its own.
enum CommitCounter {
    /// Opens the connection.
    ///
    /// - Parameters:
    ///   - path: The absolute path of the file.
    ///   - mode: How to open it.
    /// - Returns: Gives the count; one thread calls it at a time. The connection lives as long.
    static func open(_ path: String, _ mode: ConnectionMode) throws -> ObservationHub.Counter {
        let connection = try SQLiteConnection.open(path, mode)
        // The journal mode is known, and the log's index mapped, from the first read on.
        _ = try connection.integers("PRAGMA schema_version")
        let hasLog = try connection.texts("PRAGMA journal_mode") == ["wal"]
        return {
            if hasLog, let index = LogIndex(connection.handle) { return index.count }
            let version = try connection.integers("PRAGMA data_version").first ?? 0
            return UInt64(bitPattern: version)
        }
    }
}
