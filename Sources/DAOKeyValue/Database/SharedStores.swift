import DAOCore

/// The open stores of this process, so that databases with the same identity share a store (contract C3).
///
/// A driver has one registry for all of its databases:
///
/// ```swift
/// private let stores = SharedStores()
///
/// extension DatabaseDriver {
///     static let mine = DatabaseDriver(scheme: "mine") { configuration in
///         try stores.open(configuration.path, configuration: configuration) { MyStore() }
///     }
/// }
/// ```
public final class SharedStores: Sendable {
    private let engines = SharedInstances<String, KeyValueEngine>()

    /// Creates an empty registry.
    public init() {}

    /// Opens a database on the store with an identity. The store is created when no database is open on it,
    /// and closed with the last database.
    ///
    /// - Parameters:
    ///   - identity: The identity of the store: a name, or for files the device and inode, not the text of a
    ///     path.
    ///   - configuration: The configuration that the database reports.
    ///   - options: How records are stored. The options of the first database on a store apply.
    ///   - makeStore: Creates the store.
    public func open(
        _ identity: String, configuration: DatabaseConfiguration, options: KeyValueOptions = KeyValueOptions(),
        makeStore: () throws -> any OrderedKeyValueStore
    ) throws -> KeyValueDatabase {
        let engine = try engines.acquire(identity) {
            let store = try makeStore()
            do {
                return try KeyValueEngine(store)
            } catch {
                store.close()
                throw error
            }
        }
        return KeyValueDatabase(engine: engine, configuration: configuration, options: options) { [engines] in
            engines.release(identity) { $0.close() }
        }
    }
}
