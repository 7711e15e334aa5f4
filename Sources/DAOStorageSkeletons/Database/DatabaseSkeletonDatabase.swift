import DAOCore

/// The open engines, by path.
private let engines = SharedInstances<String, DatabaseSkeletonEngine>()

extension DatabaseDriver {
    /// Opens databases of DatabaseSkeleton, as in `databaseskeleton:name`.
    public static let databaseskeleton = DatabaseDriver(scheme: "databaseskeleton") { try DatabaseSkeletonDatabase($0) }
}

/// A database of whole rows.
final class DatabaseSkeletonDatabase: Database {
    let configuration: DatabaseConfiguration
    let capabilities = Capabilities(engine: "DatabaseSkeleton", isPersistent: false, hasEvolution: false)
    var engineState: EngineState { lifetime.engineState }

    private let engine: DatabaseSkeletonEngine
    private let lifetime: DatabaseLifetime<DatabaseSkeletonTransaction>

    init(_ configuration: DatabaseConfiguration) throws {
        self.configuration = configuration
        let path = configuration.path
        engine = try engines.acquire(path) { DatabaseSkeletonEngine() }
        lifetime = DatabaseLifetime(engine.coordinator, path: nil) { engines.release(path) { _ in } }
    }

    func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> {
        if let problem = Record.schema.problem { throw problem }
        // Stores the entity when it is new, and compares it with the stored one.
        return DatabaseSkeletonStorage<Record>(owner: self)
    }

    func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        try lifetime.call { try engine.coordinator.write(.body) { _ in try body() } }
    }

    func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try lifetime.call { try engine.coordinator.snapshot(body) }
    }

    func entities() throws -> [EntityDescription] { throw unfinished() }

    func close() throws { try lifetime.close() }

    /// Runs a read in the current transaction or snapshot, or in one of its own.
    func read<Result>(_ body: (DatabaseSkeletonTransaction) throws -> Result) throws -> Result { try lifetime.read(body) }

    /// Runs a write in the current transaction, or in one of its own.
    func write<Result>(touching entity: String, _ body: (DatabaseSkeletonTransaction) throws -> Result) throws -> Result {
        try lifetime.call { try engine.coordinator.write(.call, touching: entity, body) }
    }
}

/// What databases with the same path share: the data, and the lock of the writer.
private final class DatabaseSkeletonEngine: Sendable {
    let coordinator = TransactionCoordinator<DatabaseSkeletonTransaction>(
        EngineState(name: "DatabaseSkeleton"), beginWriting: { DatabaseSkeletonTransaction() },
        beginReading: { DatabaseSkeletonTransaction() })
}

/// A transaction of the engine.
final class DatabaseSkeletonTransaction: TransactionHandle {
    func commit() throws { throw unfinished() }

    func rollback() {}

    func beginSavepoint() throws { throw unfinished() }

    func releaseSavepoint() throws { throw unfinished() }

    func rollbackSavepoint() throws { throw unfinished() }
}

/// The rows of one model.
struct DatabaseSkeletonStorage<Record: Model>: Storage {
    let owner: DatabaseSkeletonDatabase

    var database: any Database { owner }

    func read(_ query: Query<Record>) throws -> [Record] { try owner.read { _ in throw unfinished() } }

    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] { try owner.read { _ in throw unfinished() } }

    func insert(_ records: [Record]) throws { try write { _ in throw unfinished("insert") } }

    func upsert(_ records: [Record]) throws { try write { _ in throw unfinished("upsert") } }

    func erase(keys: [Key]) throws -> Int { try write { _ in throw unfinished("erase") } }

    private func write<Result>(_ body: (DatabaseSkeletonTransaction) throws -> Result) throws -> Result {
        try owner.write(touching: Record.schema.description.name, body)
    }
}

/// The error of a method that is still to be written.
private func unfinished(_ method: String = #function) -> StorageError {
    StorageError(.unsupported, "'\(method)' of DatabaseSkeleton is still to be implemented")
}
