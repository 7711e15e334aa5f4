import DAOCore
import DAOSQL

/// The open engines, by identity.
private let instances = SharedInstances<String, SQLInstance>()

extension DatabaseDriver {
    /// Opens databases of an SQL engine.
    ///
    /// - Parameters:
    ///   - scheme: The scheme of the URLs.
    ///   - identity: Identifies the engine of a configuration, for files by device and inode.
    ///   - open: Creates the engine of a configuration.
    package static func sql(
        _ scheme: String, identity: @escaping @Sendable (DatabaseConfiguration) throws -> String,
        open: @escaping @Sendable (DatabaseConfiguration) throws -> any SQLEngine
    ) -> DatabaseDriver {
        DatabaseDriver(scheme: scheme) { configuration in
            let identity = try identity(configuration)
            let writes = !configuration.isReadOnly
            let instance = try instances.acquire(identity) { try SQLInstance(open(configuration), writes: writes) }
            return try SQLDatabase(configuration, on: instance, writes: writes) {
                instances.release(identity) { $0.close() }
            }
        }
    }
}
