import DAOCore

/// A database on an SQL engine: real tables, columns and indexes, which every other tool can read and write.
///
/// A backend supplies an ``SQLEngine`` and a driver. Databases with the same path share the engine:
///
/// ```swift
/// private let instances = SharedInstances<SQLInstance>()
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
open class SQLDatabase: Database, @unchecked Sendable {
    // Sendable because all it has is constant, and Sendable itself; a subclass adds initializers and methods
    // only.

    /// What the database was opened with.
    public final let configuration: DatabaseConfiguration
    /// What it can do beyond what every database can.
    public final let capabilities: Capabilities

    /// What it shares with other databases on the engine.
    package final let instance: SQLInstance
    /// The time in which it is open.
    package final let lifetime: DatabaseLifetime<SQLSession>
    /// What its write transactions begin with; nil when it only reads.
    final let settings: SQLWriteSettings?

    /// Opens a database on an instance.
    ///
    /// - Parameters:
    ///   - configuration: What the database reports as its configuration.
    ///   - instance: What it shares with other databases on the engine.
    ///   - writes: Whether it writes.
    ///   - release: Called once, when this database no longer needs the instance, or could not be opened.
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
            hasEvolution: true, isReadOnly: !writes, maximumValueLength: traits.maximumValueLength,
            underlyingTypes: traits.underlyingType.map { [$0] } ?? [])
    }

    /// The state of the engine below.
    public final var engineState: EngineState { lifetime.engineState }

    /// Makes a storage of a model's own rows. The first call for a model creates its table, adopts one that
    /// is exactly what it would have created, or changes the stored one as the model declares it.
    ///
    /// - Throws: `.invalidSchema`, `.schemaMismatch` with every difference that takes a migration step,
    ///   `.uniqueViolation` when rows collide in a field that becomes unique, and `.readOnly` when the table
    ///   is missing or older and nothing can be written.
    public final func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> {
        let schema = Record.schema
        if let problem = schema.problem { throw problem }
        return try lifetime.call {
            SQLStorage<Record>(self, try instance.table(for: schema.declaration, settings))
        }
    }

    /// Makes a storage of a relationship's links, in a join table named after the entity and the field. The
    /// first call for a relationship creates it, or adopts one that is exactly what it would have created.
    ///
    /// - Throws: `.schemaMismatch` when there is a table of that name and another form.
    public final func makeLinks(for relation: RelationDescription) throws -> any LinkStorage {
        try lifetime.call {
            let known = try instance.links(for: relation, settings)
            return SQLLinkStorage(owner: self, links: known.links, number: known.number)
        }
    }

    /// Runs a body as one transaction. See ``DAOCore/Database``.
    public final func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        try lifetime.call {
            try instance.coordinator.write(.body) { session in
                try begin(session)
                return try body()
            }
        }
    }

    /// Runs a call that consists of several. See ``DAOCore/Database``.
    public final func runStep<Result>(_ body: () throws -> Result) throws -> Result {
        try lifetime.call {
            try instance.coordinator.write(.compositeCall) { session in
                try begin(session)
                return try body()
            }
        }
    }

    /// Runs a body in which every read sees the last commit of now.
    public final func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try lifetime.call {
            try instance.coordinator.snapshot {
                // The session is the one that the body's reads will find.
                try instance.coordinator.read { try $0.connection.beginReading() }
                return try body()
            }
        }
    }

    /// Gives the engine's own handle in the running transaction to a body. See ``DAOCore/Database``.
    public final func runUnderlying<Handle: UnderlyingHandle, Result>(
        as type: Handle.Type, touching entities: TouchedEntities, _ body: (Handle) throws -> Result
    ) throws -> Result {
        try lifetime.call {
            try instance.coordinator.inside(touching: entities) { session in
                guard let handle = session.connection.underlyingHandle as? Handle else { throw refusal(of: type) }
                let result: Result
                do {
                    result = try body(handle)
                } catch {
                    // The body's error tells more, but the transaction is gone all the same.
                    try? session.connection.checkTransaction()
                    throw error
                }
                try session.connection.checkTransaction()
                return result
            }
        }
    }

    /// The entities that are stored, from the catalog in the database.
    public final func entities() throws -> [EntityDescription] { try lifetime.call { try instance.entities() } }

    /// The version that the database has of its schema, which goes up with every change of tables and of the
    /// catalog.
    public final func catalogVersion() throws -> UInt64? {
        try lifetime.call { try instance.coordinator.read { try $0.connection.schemaVersion() } }
    }

    /// Waits for running calls, ends cursors and closes.
    public final func close() throws { try lifetime.close() }

    /// Begins the write transaction of a call, with this database's settings.
    @inline(__always) final func begin(_ session: SQLSession, _ scope: SQLWrite.Scope = .any) throws {
        guard let settings else { throw StorageError.readOnly(instance.path) }
        try instance.begin(session, settings, scope)
    }
}
