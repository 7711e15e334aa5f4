import DAOCore
import DAOSQL

/// The engines that are open, by their paths.
private let instances = SharedInstances<SQLInstance>()

extension DatabaseDriver {
    /// Opens databases of an SQL engine.
    ///
    /// - Parameters:
    ///   - scheme: The scheme of its URLs.
    ///   - open: Makes the engine of a configuration. Databases with one path share it.
    package static func sql(
        _ scheme: String, open: @escaping @Sendable (DatabaseConfiguration) throws -> any SQLEngine
    ) -> DatabaseDriver {
        DatabaseDriver(scheme: scheme) { configuration in
            let writes = !configuration.isReadOnly
            let instance = try instances.acquire(configuration.path) { try SQLInstance(open(configuration), writes: writes) }
            return try SQLDatabase(configuration, on: instance, writes: writes) {
                instances.release(configuration.path) { $0.close() }
            }
        }
    }
}
