import DAOCore
import DAOKeyValue
import Foundation

/// Databases in an LMDB file.
///
/// ```swift
/// let database = try LMDBDatabase.open(path: "/var/lib/app.lmdb")
/// ```
public enum LMDBDatabase {
    /// The engines by their environment. The identity of the file changes when it is compacted.
    private static let engines = SharedInstances<ObjectIdentifier, KeyValueEngine>()

    /// Whether any process has a file open. Each has locked the first byte of the lock file.
    static func isOpen(_ path: String, _ identity: FileIdentity) -> Bool {
        EnvironmentRegistry.shared.isOpen(identity) || ProcessLock.isHeldElsewhere(path + "-lock", in: 0..<1)
    }

    /// Opens the database in a file, and creates the file when it does not exist.
    ///
    /// - Parameter path: The path of the file.
    public static func open(path: String) throws -> KeyValueDatabase {
        try open(DatabaseConfiguration(scheme: "lmdb", path: path))
    }

    /// Opens the database that a configuration describes.
    ///
    /// Databases on the same file share a store in this process, regardless of the text of their paths.
    ///
    /// - Throws: `StorageError` with the path: `.notFound`, `.notADatabase`, `.corrupted`, `.schemaIsNewer`,
    ///   `.readOnly`, `.outOfSpace`, `.busy` or `.io`; `.invalidConfiguration` for an invalid option.
    public static func open(_ configuration: DatabaseConfiguration) throws -> KeyValueDatabase {
        let configuration = try configuration.withAbsolutePath()
        // LMDB reads pages in place from the map, so that nothing can decrypt them on the way.
        if configuration.encryption != nil {
            throw StorageError.encryptionUnsupported(
                "'lmdb' databases", "use SQLite, or an encrypted volume", path: configuration.path)
        }
        _ = try configuration.size("pinnedLimit")
        let options = KeyValueOptions(usesChecksums: try configuration.flag("checksums") ?? true)
        let store = try LMDBStore(path: configuration.path, options: LMDBOptions(configuration))
        let identity = ObjectIdentifier(store.environment)
        do {
            let engine = try engines.acquire(identity) { try KeyValueEngine(store) }
            // The file can already be open in this process, with another store.
            if engine.store !== store { store.close() }
            return KeyValueDatabase(engine: engine, configuration: configuration, options: options) {
                engines.release(identity) { $0.close() }
            }
        } catch {
            store.close()
            throw error
        }
    }
}

extension DatabaseDriver {
    /// Opens databases in an LMDB file: `lmdb:///path/to/file`.
    ///
    /// Options: `mapSize` (the size of the address range in bytes, or with `K`, `M` or `G`; by default a size
    /// that need not grow), `maxReaders` (the maximum number of concurrent reads), `checksums` (`true`, the
    /// default, or `false`), `check` (`true` to check the structure of every page when the file is opened,
    /// regardless of its size; by default files of up to 1 GiB are checked), `mode` (the permissions of created files,
    /// as an octal number), `pinnedLimit` (from how many bytes of the file on it is reported that snapshots keep them:
    /// `CallReport.pinnedBytes`).
    public static let lmdb = DatabaseDriver(
        scheme: "lmdb", optionNames: ["mapSize", "maxReaders", "checksums", "check", "mode", "pinnedLimit"]
    ) {
        try LMDBDatabase.open($0)
    }
}

extension LMDBOptions {
    /// Creates the store options of a configuration.
    fileprivate init(_ configuration: DatabaseConfiguration) throws {
        self.init(
            durability: configuration.durability == .full ? .full : .relaxed,
            isReadOnly: configuration.isReadOnly,
            createIfMissing: configuration.createsIfMissing,
            initialMapSize: try configuration.size("mapSize"),
            maximumReaders: try configuration.count("maxReaders", in: 1...100_000) ?? 1022,
            writeTimeout: max(0, configuration.busyTimeout / .seconds(1)),
            checksWholeFile: try configuration.flag("check") ?? false,
            fileMode: try configuration.fileMode())
    }
}
