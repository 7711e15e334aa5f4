import DAOConformance
import DAOCore
import DAOKeyValue

/// The open stores, by name.
private let stores = SharedStores()

extension DatabaseDriver {
    package static let mine = DatabaseDriver(scheme: "mine") { configuration in
        try stores.open(configuration.path, configuration: configuration) { SortedArrayStore() }
    }
}

#if os(Linux) || os(macOS)
    /// The main file of a program that runs the conformance suite.
    func conformanceProgram() async -> Never {
        await ConformanceProgram.run(.mine)
    }
#endif
