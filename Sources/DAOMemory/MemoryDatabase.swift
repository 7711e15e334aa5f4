import DAOCore
import DAOKeyValue

/// Databases in memory: gone when the last one on them is closed, and otherwise like any other.
///
/// ```swift
/// let database = try MemoryDatabase.open()
/// let shared = try MemoryDatabase.open(identifier: "session")
/// ```
public enum MemoryDatabase {
    /// The stores with an identifier that databases are open on.
    private static let engines = SharedInstances<KeyValueEngine>()

    /// Opens a database.
    ///
    /// - Parameters:
    ///   - identifier: Databases with the same one share their rows, for as long as one of them is open. An empty one is shared with nobody.
    ///   - options: How records are kept; without checksums by default, since nothing damages memory but this process.
    public static func open(
        identifier: String = "", options: KeyValueOptions = KeyValueOptions(usesChecksums: false)
    ) throws -> KeyValueDatabase {
        try open(DatabaseConfiguration(scheme: "memory", path: identifier), options)
    }

    /// Opens the database that a configuration describes; its path is the identifier.
    ///
    /// - Throws: `.notFound` when it may not be created and no database with the identifier is open; `.invalidConfiguration` for an
    ///   option that makes no sense.
    public static func open(_ configuration: DatabaseConfiguration) throws -> KeyValueDatabase {
        try open(configuration, KeyValueOptions(usesChecksums: configuration.flag("checksums") ?? false))
    }

    private static func open(_ configuration: DatabaseConfiguration, _ options: KeyValueOptions) throws -> KeyValueDatabase {
        let identifier = configuration.path
        func makeEngine() throws -> KeyValueEngine {
            guard configuration.createsIfMissing else {
                throw StorageError.notFound(identifier)
            }
            return try KeyValueEngine(MemoryStore(name: identifier))
        }
        if identifier.isEmpty {
            let engine = try makeEngine()
            return KeyValueDatabase(engine: engine, configuration: configuration, options: options) { engine.store.close() }
        }
        let engine = try engines.acquire(identifier, open: makeEngine)
        return KeyValueDatabase(engine: engine, configuration: configuration, options: options) {
            engines.release(identifier) { $0.store.close() }
        }
    }
}

extension DatabaseDriver {
    /// Opens databases in memory: `memory:` for one of its own, `memory:name` for one that is shared by its name.
    ///
    /// Options: `checksums` (`true` or `false`, the default).
    public static let memory = DatabaseDriver(scheme: "memory", optionNames: ["checksums"]) { try MemoryDatabase.open($0) }
}
