import DAOCore

/// A database on an SQL engine. It has real tables, columns and indexes, which every other tool can read and
/// write.
///
/// A backend supplies an ``SQLEngine`` and a driver. Databases with the same path share the engine:
///
/// ```swift
/// private let instances = SharedInstances<String, SQLInstance>()
///
/// extension DatabaseDriver {
///     static let mine = DatabaseDriver(scheme: "mine") { configuration in
///         let name = configuration.path
///         let writes = !configuration.isReadOnly
///         let instance = try instances.acquire(name) { try SQLInstance(MyEngine(name), writes: writes) }
///         return try SQLDatabase(configuration, on: instance, writes: writes) { instances.release(name) { $0.close() } }
///     }
/// }
/// ```
open class SQLDatabase: Database, LogAwareDatabase, @unchecked Sendable {
    // Sendable because all stored properties are constant and Sendable. A subclass adds only initializers and
    // methods.

    /// The configuration that the database was opened with.
    public final let configuration: DatabaseConfiguration
    /// The optional features of the database.
    public final let capabilities: Capabilities

    /// The state shared with other databases on the same engine.
    package final let instance: SQLInstance
    /// The state between opening and closing.
    package final let lifetime: DatabaseLifetime<SQLSession>
    /// The settings of write transactions; nil for a read-only database.
    final let settings: SQLWriteSettings?

    /// Opens a database on an instance.
    ///
    /// - Parameters:
    ///   - configuration: The configuration that the database reports.
    ///   - instance: The state shared with other databases on the same engine.
    ///   - writes: Whether the database can write.
    ///   - release: Called once, when this database no longer needs the instance or could not be opened.
    /// - Throws: The error of the engine when it cannot open the connection for writing.
    public init(
        _ configuration: DatabaseConfiguration, on instance: SQLInstance, writes: Bool, release: @escaping @Sendable () -> Void
    ) throws {
        do {
            if writes { try instance.openWriter() }
        } catch {
            release()
            throw error
        }
        self.instance = instance
        self.configuration = configuration
        lifetime = DatabaseLifetime(instance.coordinator, path: instance.path, release: release)
        settings =
            writes ? SQLWriteSettings(durability: configuration.durability, busyTimeout: configuration.busyTimeout) : nil
        let traits = instance.engine.traits
        capabilities = Capabilities(
            engine: traits.name, isPersistent: traits.isPersistent, isMultiProcess: traits.isMultiProcess,
            hasConcurrentWriters: traits.maximumWriters > 1,
            hasChecksums: traits.hasChecksums, hasEvolution: true, hasBackup: traits.hasBackup, isReadOnly: !writes,
            maximumValueLength: traits.maximumValueLength, underlyingTypes: traits.underlyingType.map { [$0] } ?? [])
    }

    /// The state of the engine.
    public final var engineState: EngineState { lifetime.engineState }

    /// Creates the storage of a model's rows, without its related rows. The first call for a model creates
    /// its table, adopts an existing table of another program in which the contract can be kept, or changes the stored
    /// table as the model declares it.
    ///
    /// - Throws: `.invalidSchema`; `.schemaMismatch` with every difference that needs a migration step;
    ///   `.uniqueViolation` when rows collide in a field that becomes unique; `.readOnly` when the table is
    ///   missing or of an earlier version and nothing can be written.
    public final func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> {
        let schema = Record.schema
        if let problem = schema.problem { throw problem }
        return try call {
            SQLStorage<Record>(self, try instance.table(for: schema.declaration, settings))
        }
    }

    /// Creates the storage of a relationship's links, in a join table named after the entity and the field.
    /// The first call for a relationship creates the table, or adopts an existing table that is exactly the
    /// table it would create.
    ///
    /// - Throws: `.schemaMismatch` when a table of that name has different columns.
    public final func makeLinks(for relation: RelationDescription) throws -> any LinkStorage {
        try call {
            let known = try instance.links(for: relation, settings)
            return SQLLinkStorage(owner: self, links: known.links, number: known.number)
        }
    }

    /// Makes the tables in which the database describes itself, where they are missing.
    package final func makeCatalog() throws {
        try call {
            if try instance.consistently({ try instance.schema($0).hasCatalog() }) { return }
            try instance.coordinator.write(.call) { session in
                try begin(session, changesTables: true)
                try instance.schema(session).makeCatalog()
            }
        }
    }

    /// Runs a closure as one transaction. See ``/DAOCore/Database``.
    public final func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        try call {
            try instance.coordinator.write(.body) { session in
                try begin(session)
                return try body()
            }
        }
    }

    /// Runs a call that consists of several operations. See ``/DAOCore/Database``.
    public final func runStep<Result>(_ body: () throws -> Result) throws -> Result {
        try call {
            try instance.coordinator.write(.compositeCall) { session in
                try begin(session)
                return try body()
            }
        }
    }

    /// Runs a closure in which every read sees the commit that is the last now.
    public final func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try call {
            try instance.coordinator.snapshot {
                // The reads of the closure find the same session.
                try instance.coordinator.read { try $0.connection.beginSnapshot() }
                return try body()
            }
        }
    }

    /// Runs a call that consists of several reads. See ``/DAOCore/Database``.
    public final func runReads<Result>(_ body: () throws -> Result) throws -> Result {
        try call {
            try instance.coordinator.snapshot {
                try instance.coordinator.read { try $0.connection.beginReading() }
                return try body()
            }
        }
    }

    /// Calls a closure with the engine's own handle in the running transaction. See ``/DAOCore/Database``.
    public final func runUnderlying<Handle: UnderlyingHandle, Result>(
        as type: Handle.Type, touching entities: TouchedEntities, _ body: (Handle) throws -> Result
    ) throws -> Result {
        try call {
            try instance.coordinator.inside(touching: entities) { session in
                guard let handle = session.connection.underlyingHandle as? Handle else { throw refusal(of: type) }
                session.willWrite()
                // A file with tables and without a catalog would be taken for that of another program.
                if session.isWriter, instance.engine.traits.hasBackup { try instance.schema(session).makeCatalog() }
                let result: Result
                do {
                    result = try body(handle)
                } catch {
                    // The error of the closure says more, but the transaction has to be checked all the same.
                    try? session.connection.checkTransaction()
                    throw error
                }
                try session.connection.checkTransaction()
                return result
            }
        }
    }

    /// Reads the stored entities from the catalog of the database.
    public final func entities() throws -> [EntityDescription] { try call { try instance.entities() } }

    /// The version of the database's schema. It increases with every change of the tables and of the catalog.
    public final func catalogVersion() throws -> UInt64 {
        try call { try instance.coordinator.read { try $0.connection.schemaVersion() } }
    }

    package func logNumber() throws -> Int64? {
        try call { try instance.coordinator.read { try $0.connection.transactionNumber() } }
    }

    package func logHorizon() throws -> (ended: Int64, next: Int64)? {
        try call { try instance.coordinator.read { try $0.connection.transactionHorizon() } }
    }

    /// Returns nil: reads see every commit. An engine whose reads can be older overrides it.
    open var position: String? { get throws { nil } }

    /// Throws `.unsupported`. A database on a server overrides it; see ``/DAOCore/Database``.
    open func outcome(of commitToken: String) throws -> CommitOutcome { throw withoutServer }

    /// Waits for running calls, ends cursors and closes the database.
    public final func close() throws { try lifetime.close() }

    /// Runs a call of the application. What engines throw for the storages alone does not leave it.
    @inline(__always) final func call<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try lifetime.call(body)
        } catch let missing as SQLMissingTable {
            throw missing.underlying
        } catch let refused as SQLRefusedRow {
            throw refused.underlying
        }
    }

    /// Begins the write transaction of a call with the settings of this database.
    @inline(__always) final func begin(
        _ session: SQLSession, _ scope: SQLWrite.Scope = .any, changesTables: Bool = false, isOneCall: Bool = false
    ) throws {
        guard let settings else { throw instance.readOnly }
        session.willWrite()
        try instance.begin(session, settings, scope, changesTables: changesTables, isOneCall: isOneCall)
    }
}
