import DAOCore
import DAOKeyValue

/// Databases in memory. The rows are released when the last database with their identifier is closed.
/// Otherwise they behave like databases in files.
///
/// ```swift
/// let database = try MemoryDatabase.open()
/// let shared = try MemoryDatabase.open(identifier: "session")
/// ```
public enum MemoryDatabase {
    /// The open stores by identifier.
    private static let engines = SharedInstances<String, KeyValueEngine>()

    /// Opens a database.
    ///
    /// - Parameters:
    ///   - identifier: Databases with the same identifier share their rows while any of them is open. A
    ///     database with an empty identifier is never shared.
    ///   - options: How records are stored; by default without checksums, because only this process can
    ///     damage memory.
    public static func open(
        identifier: String = "", options: KeyValueOptions = KeyValueOptions(usesChecksums: false)
    ) throws -> KeyValueDatabase {
        try open(DatabaseConfiguration(scheme: "memory", path: identifier), options)
    }

    /// Opens the database that a configuration describes; its path is the identifier.
    ///
    /// - Throws: `.notFound` when the configuration does not allow creation and no database with the
    ///   identifier is open; `.invalidConfiguration` for an invalid option.
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
    /// Opens databases in memory: `memory:` for a private database, `memory:name` for a database that is
    /// shared by name.
    ///
    /// Options: `checksums` (`true` or `false`, the default).
    public static let memory = DatabaseDriver(scheme: "memory", optionNames: ["checksums"], encrypts: true) {
        try MemoryDatabase.open($0)
    }
}
