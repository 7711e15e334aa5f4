import DAOCore
import DAOSQL

/// A database in an SQLite file. It has real tables, columns and indexes, which every other tool can read and
/// write.
///
/// ```swift
/// let database = try SQLiteDatabase(path: "/var/lib/app.db")
/// let messages = try database.storage(for: MessageModel.self)
/// ```
///
/// The file is a WAL database: one connection writes; the others read the last commit and never wait for it.
/// Databases on one file share their connections, even when their paths differ. A file that cannot be
/// written, or whose directory cannot be written, is opened for reading only, and so is the file of another program, unless the
/// option `adopt` says otherwise. In a directory that cannot be written, when no process has the file open for writing, nothing is
/// locked and no file is created. A read that another user's process disturbs
/// is `.busy`; the next read sees what that process has committed.
public final class SQLiteDatabase: SQLDatabase, @unchecked Sendable {
    // Sendable as its superclass is: it adds no stored properties.

    /// The open files, by their identity: two paths to one file give one instance.
    static let instances = SharedInstances<FileIdentity, SQLInstance>()

    /// Whether any process has a file open, with a write-ahead log or without.
    static func isOpen(_ path: String, _ identity: FileIdentity) -> Bool {
        instances.contains(identity)
            || ProcessLock.isHeldElsewhere(path + "-shm", in: LogIndex.presence)
            || ProcessLock.isHeldElsewhere(path, in: sharedBytes)
    }

    /// The bytes of a file that connections lock; see "File Locking and Concurrency" in the documentation of SQLite.
    private static let sharedBytes = 0x4000_0000..<0x4000_0200

    /// Opens the file at a path, or creates it.
    ///
    /// - Parameter path: The path of the file. A relative path is resolved once, in this call.
    /// - Throws: The errors of ``init(_:)``.
    public convenience init(path: String) throws {
        try self.init(DatabaseConfiguration(scheme: DatabaseDriver.sqlite.scheme, path: path))
    }

    /// Opens the file that a configuration describes.
    ///
    /// - Parameter configuration: The configuration. Its path is that of a file.
    /// - Throws: `.notFound` when the file does not exist and may not be created, `.notADatabase`,
    ///   `.corrupted`, `.schemaIsNewer`, `.readOnly` when it cannot be created, `.busy`, `.io`,
    ///   `.unsupported` for a path that names no file, and `.invalidConfiguration` for an option that is wrong or
    ///   contradicts the file; each with the path.
    public init(_ configuration: DatabaseConfiguration) throws {
        // SQLite's name of a database that is in no file.
        if configuration.path == ":memory:" { throw StorageError.invalidPath(configuration.path) }
        let configuration = try configuration.withAbsolutePath()
        let settings = try SQLiteSettings(configuration)
        let file = try DatabaseFile(configuration, mode: settings.fileMode)
        var writes = file.isWritable && !configuration.isReadOnly
        // Deriving a key takes a tenth of a second, too long for the lock on the open files.
        if let cipher = settings.cipher, let beginning = try Self.instances.unlessOpen(file.identity, file.beginning) {
            cipher.prepare(beginning.isEmpty ? nil : (beginning[0], beginning[1]))
        }
        let instance: SQLInstance
        do {
            instance = try Self.instances.acquire(file.identity, isFailed: { ($0.engine as? SQLiteEngine)?.hasFailed == true }) {
                let engine = try SQLiteEngine(file, settings, writes: writes)
                return try SQLInstance(engine, writes: writes && engine.writeRefusal == nil)
            }
        } catch {
            file.removeIfUnused()
            throw error
        }
        do {
            if let engine = instance.engine as? SQLiteEngine {
                try engine.check(settings)
                if writes { writes = try !engine.isForeign(settings) }
            }
        } catch {
            Self.instances.release(file.identity) { $0.close() }
            throw error
        }
        try super.init(configuration, on: instance, writes: writes) { Self.instances.release(file.identity) { $0.close() } }
        guard writes, settings.adopts else { return }
        do {
            try makeCatalog()
        } catch {
            try? close()
            throw error
        }
    }
}

extension DatabaseDriver {
    /// Opens SQLite files: `sqlite:relative/path`, `sqlite:///absolute/path`.
    ///
    /// Options: `maxReaders` (the maximum number of concurrent reads, live cursors included, by default 120),
    /// `trustedSchema` (`true` for a file whose triggers and views may use virtual tables, such as those of full-text
    /// search, and any function; by default `false`), `mode` (the permissions of a created file, as an octal number),
    /// `adopt` (`true` for a file that another program has made: opening it gives it a write-ahead log and the tables
    /// `dao_catalog` and `dao_properties`. Without it such a file can only be read, until it was adopted once),
    /// `checksums` (`true` for a new file whose pages have checksums that are verified when they are read; such a file is
    /// always verified, except with `false`), `cache` (the memory that a connection uses for pages at most, in bytes, or with
    /// `K`, `M` or `G`; by default 16 MB for reading, and as much as a large import needs for writing, up to 256 MB and
    /// 1/64 of the machine's memory, which is given back a second later), `pinnedLimit` (from how many bytes of the log on it is
    /// reported that snapshots keep them: `CallReport.pinnedBytes`). The database that opens the file first decides.
    public static let sqlite = DatabaseDriver(
        scheme: "sqlite", optionNames: ["maxReaders", "trustedSchema", "adopt", "mode", "checksums", "cache", "pinnedLimit"],
        encrypts: true
    ) {
        try SQLiteDatabase($0)
    }
}
