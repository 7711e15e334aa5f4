import DAOCore
import DAOKeyValue
import Foundation

/// Databases in a file kept by LMDB.
///
/// ```swift
/// let database = try LMDBDatabase.open(path: "/var/lib/app.lmdb")
/// ```
public enum LMDBDatabase {
    /// The files that databases are open on, by what identifies a file.
    private static let engines = SharedInstances<KeyValueEngine>()

    /// Opens the database in a file, and creates it when there is none.
    ///
    /// - Parameter path: The path of the file.
    public static func open(path: String) throws -> KeyValueDatabase {
        try open(DatabaseConfiguration(scheme: "lmdb", path: path))
    }

    /// Opens the database that a configuration describes.
    ///
    /// Databases on one file share one store in this process, whatever the text of their paths.
    ///
    /// - Throws: `StorageError` with the path: `.notFound`, `.notADatabase`, `.corrupted`, `.schemaIsNewer`, `.readOnly`, `.outOfSpace`,
    ///   `.busy` or `.io`; `.invalidConfiguration` for an option that makes no sense.
    public static func open(_ configuration: DatabaseConfiguration) throws -> KeyValueDatabase {
        let options = KeyValueOptions(usesChecksums: try configuration.flag("checksums") ?? true)
        let store = try LMDBStore(path: configuration.path, options: LMDBOptions(configuration))
        let identity = store.identity
        do {
            let engine = try engines.acquire(identity) { try KeyValueEngine(store) }
            // The file may be open here already, with a store of its own.
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
    /// Opens databases in a file kept by LMDB: `lmdb:///path/to/file`.
    ///
    /// Options: `mapSize` (the size of the address range in bytes, or with `K`, `M` or `G`; by default one that need not grow), `maxReaders`
    /// (how many reads may run at once), `checksums` (`true`, the default, or `false`), `check` (`true` to look at the structure of every page when
    /// the file is opened, however large it is; by default up to 1 GiB).
    public static let lmdb = DatabaseDriver(scheme: "lmdb", optionNames: ["mapSize", "maxReaders", "checksums", "check"]) {
        try LMDBDatabase.open($0)
    }
}

extension LMDBOptions {
    /// The options of a store that a configuration asks for.
    fileprivate init(_ configuration: DatabaseConfiguration) throws {
        let timeout = configuration.busyTimeout.components
        self.init(
            durability: configuration.durability == .full ? .full : .relaxed,
            isReadOnly: configuration.isReadOnly,
            createIfMissing: configuration.createsIfMissing,
            initialMapSize: try configuration.size("mapSize"),
            maximumReaders: try configuration.count("maxReaders", in: 1...100_000) ?? 1022,
            writeTimeout: Double(timeout.seconds) + Double(timeout.attoseconds) / 1e18,
            checksWholeFile: try configuration.flag("check") ?? false)
    }
}
