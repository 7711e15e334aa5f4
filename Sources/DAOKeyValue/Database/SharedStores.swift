import DAOCore

/// Stores that are open in this process, so that databases with the same identity share one (contract C3).
///
/// A driver has one for all of its databases:
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
    private let engines = SharedInstances<KeyValueEngine>()

    /// Creates an empty registry.
    public init() {}

    /// Opens a database on the store with an identity, which is made when no database is open on it, and closed with the last.
    ///
    /// - Parameters:
    ///   - identity: What the same stores have in common: a name, or for files the device and inode, not the text of a path.
    ///   - configuration: What the database reports as its configuration.
    ///   - options: How records are kept; those of the first database on a store count.
    ///   - makeStore: Makes the store.
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
