import DAOCore
import DAOKeyValue

/// The stores that are open, by name.
private let stores = SharedStores()

extension DatabaseDriver {
    package static let mine = DatabaseDriver(scheme: "mine") { configuration in
        try stores.open(configuration.path, configuration: configuration) { SortedArrayStore() }
    }
}
