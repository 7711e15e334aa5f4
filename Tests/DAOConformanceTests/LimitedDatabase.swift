import DAOCore

/// A working database that declares that it lacks some features, and refuses them: the base of the suite's
/// negative cases.
final class LimitedDatabase: Database {
    private let base: ArrayDatabase

    init(_ name: String) throws {
        var limits = ArrayDatabase.Limits()
        limits.maximumValueLength = 8 << 20
        limits.hasEvolution = false
        base = try ArrayDatabase(name, limits: limits)
    }

    var configuration: DatabaseConfiguration { base.configuration }
    var engineState: EngineState { base.engineState }

    var capabilities: Capabilities {
        var capabilities = base.capabilities
        capabilities.hasSavepoints = false
        capabilities.hasSnapshotReads = false
        return capabilities
    }

    func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> { try base.makeStorage(for: model) }

    func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        if base.engine.coordinator.isInside { throw StorageError(.unsupported, "there are no transactions inside transactions") }
        return try base.transaction(body)
    }

    func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
        // A closed database throws this error first.
        _ = try base.entities()
        throw StorageError(.unsupported, "there are no snapshots")
    }

    func entities() throws -> [EntityDescription] { try base.entities() }

    func close() throws { try base.close() }
}
