import DAOCore
import DAOSQL

/// A database in an SQLite file: real tables, columns and indexes, which every other tool can read and write.
///
/// ```swift
/// let database = try SQLiteDatabase(path: "/var/lib/app.db")
/// let messages = try database.storage(for: MessageModel.self)
/// ```
///
/// The file is a WAL database: one connection writes, others read the last commit beside it and never wait.
/// Databases on one file share their connections, whatever the paths are spelled like. A file that cannot be
/// written, or is in a directory that cannot, is opened for reading only; in such a directory, and with no
/// log beside it, nothing is locked and no file is made, and what another user's process writes meanwhile is
/// not seen reliably.
public final class SQLiteDatabase: SQLDatabase, @unchecked Sendable {
    // Sendable as its superclass is: it has nothing of its own.

    /// The files that databases are open on, by what they are: two paths to one file give one instance.
    private static let instances = SharedInstances<SQLInstance>()

    /// Opens the file at a path, or makes it.
    ///
    /// - Parameter path: A file; a relative path is looked up once, now.
    /// - Throws: As ``init(_:)``.
    public convenience init(path: String) throws {
        try self.init(DatabaseConfiguration(scheme: DatabaseDriver.sqlite.scheme, path: path))
    }

    /// Opens the file that a configuration describes.
    ///
    /// - Parameter configuration: Its path is that of a file.
    /// - Throws: `.notFound` when nothing is there and nothing is to be made, `.notADatabase`, `.corrupted`,
    ///   `.schemaIsNewer`, `.readOnly` when it cannot be made, `.busy`, `.io`, and `.unsupported` for a path
    ///   that names no file; each with the path.
    public init(_ configuration: DatabaseConfiguration) throws {
        let file = try DatabaseFile(configuration)
        let writes = file.isWritable && !configuration.isReadOnly
        let instance: SQLInstance
        do {
            instance = try Self.instances.acquire(file.identity) {
                try SQLInstance(SQLiteEngine(file, writes: writes), writes: writes)
            }
        } catch {
            file.removeIfUnused()
            throw error
        }
        try super.init(configuration, on: instance, writes: writes) { Self.instances.release(file.identity) { $0.close() } }
    }
}

extension DatabaseDriver {
    /// Opens SQLite files: `sqlite:relative/path`, `sqlite:///absolute/path`.
    public static let sqlite = DatabaseDriver(scheme: "sqlite") { try SQLiteDatabase($0) }
}
