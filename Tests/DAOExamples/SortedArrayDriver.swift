import DAOCore
import DAOKeyValue

/// The open stores, by name.
private let stores = SharedStores()

extension DatabaseDriver {
    package static let mine = DatabaseDriver(scheme: "mine") { configuration in
        try stores.open(configuration.path, configuration: configuration) { SortedArrayStore() }
    }
}
