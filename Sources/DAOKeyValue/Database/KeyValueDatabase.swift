import DAOCore

/// A whole database on any ordered key-value store: records, indexes, queries, transactions and a catalog.
///
/// ```swift
/// let database = try KeyValueDatabase(store: MyStore())
/// let tags = try database.storage(for: Tag.self)
/// ```
///
/// Backends that are opened by a configuration come with drivers; see `MemoryDatabase` and `LMDBDatabase`.
public final class KeyValueDatabase: Database {
    /// What the database was opened with.
    public let configuration: DatabaseConfiguration
    /// What it can do beyond what every database can.
    public let capabilities: Capabilities
    /// The state of the engine below.
    public var engineState: EngineState { engine.coordinator.engineState }

    let engine: KeyValueEngine
    let options: KeyValueOptions
    let lifetime: DatabaseLifetime<KeyValueHandle>

    /// Makes a database of a store of one's own. Closing the database closes the store.
    ///
    /// - Parameters:
    ///   - store: The store; it is not used for anything else.
    ///   - configuration: What to report as the configuration; by default what the store says of itself. With `isReadOnly` every write
    ///     is refused.
    ///   - options: How records are kept.
    /// - Throws: `.schemaIsNewer`, `.notADatabase` or `.corrupted` when the store holds something else; it is closed then.
    public convenience init(
        store: any OrderedKeyValueStore, configuration: DatabaseConfiguration? = nil, options: KeyValueOptions = KeyValueOptions()
    ) throws {
        let traits = store.traits
        let scheme = traits.name.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        do {
            let engine = try KeyValueEngine(store)
            self.init(
                engine: engine, configuration: configuration ?? DatabaseConfiguration(scheme: scheme, path: traits.path ?? ""),
                options: options, release: { engine.close() })
        } catch {
            store.close()
            throw error
        }
    }

    /// Makes a database on an engine that others may share.
    ///
    /// - Parameter release: Called once, when this database no longer needs the engine.
    package init(
        engine: KeyValueEngine, configuration: DatabaseConfiguration, options: KeyValueOptions,
        release: @escaping @Sendable () -> Void
    ) {
        let traits = engine.store.traits
        self.engine = engine
        self.configuration = configuration
        self.options = options
        lifetime = DatabaseLifetime(engine.coordinator, path: traits.path, release: release)
        capabilities = Capabilities(
            engine: traits.name, isPersistent: traits.isPersistent, isMultiProcess: traits.isMultiProcess,
            hasChecksums: options.usesChecksums, hasEvolution: true, isReadOnly: traits.isReadOnly || configuration.isReadOnly,
            underlyingTypes: traits.underlyingType.map { [$0] } ?? [])
    }

    /// Makes a storage of a model's own rows. The first call for a model creates what is missing in the database, or brings up to date what was stored by an
    /// earlier version of it.
    ///
    /// - Throws: `.invalidSchema` when the model's declaration contradicts itself, `.schemaMismatch` when the stored entity differs in what
    ///   takes a migration step, `.uniqueViolation` when rows collide in a field that becomes unique.
    public func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> {
        if let problem = Record.schema.problem { throw problem }
        let description = Record.schema.storedDescription
        let (stored, canAdd) = try read { handle in
            (try engine.table(named: description.name, in: handle), handle.canWrite || !engine.coordinator.isInside)
        }
        let table: Table
        if let stored {
            table = stored.description == description ? stored : try bringUpToDate(stored, Record.schema.declaration)
        } else if canAdd, !capabilities.isReadOnly {
            table = try write(.call) { try engine.makeTable(for: description, in: $0) }
        } else {
            table = try Table(.absent(description), state: .void)
        }
        return KeyValueStorage<Record>(database: self, table: table)
    }

    /// Makes a storage of a relationship's links, which have keyspaces of their own. The first call for a relationship adds them to the catalog.
    ///
    /// - Throws: `.schemaMismatch` when links are stored between keys of other kinds.
    public func makeLinks(for relation: RelationDescription) throws -> any LinkStorage {
        let (isKnown, canAdd) = try read { handle in
            (try engine.links(of: relation, in: handle) != nil, handle.canWrite || !engine.coordinator.isInside)
        }
        if !isKnown, canAdd, !capabilities.isReadOnly {
            try write(.call) { _ = try engine.makeLinks(of: relation, in: $0) }
        }
        return KeyValueLinks(database: self, relation: relation)
    }

    /// Runs a body as one transaction; see ``Database``.
    public func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        try write(.body) { _ in try body() }
    }

    /// Runs a call that consists of several; see ``Database``.
    public func runStep<Result>(_ body: () throws -> Result) throws -> Result {
        try write(.compositeCall) { _ in try body() }
    }

    /// Runs a body in which every read sees the same state; see ``Database``.
    public func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try lifetime.call { try engine.coordinator.snapshot(body) }
    }

    /// Gives the store's own handle of the running transaction to a body; see ``Database``.
    public func runUnderlying<Handle: UnderlyingHandle, Result>(
        as type: Handle.Type, touching entities: TouchedEntities, _ body: (Handle) throws -> Result
    ) throws -> Result {
        try lifetime.call {
            try engine.coordinator.inside(touching: entities) { handle in
                guard let underlying = handle.transaction.underlyingHandle as? Handle else {
                    throw StorageError(
                        .unsupported, "this transaction of \(engine.store.traits.name) has no \(type)",
                        path: engine.store.traits.path)
                }
                // Whatever was read in place may have moved.
                defer { handle.writeCount += 1 }
                return try body(underlying)
            }
        }
    }

    /// The entities that are stored, read without the application's types.
    public func entities() throws -> [EntityDescription] {
        try read { try Catalog($0.transaction, path: engine.store.traits.path).entities().map(\.description) }
    }

    /// What the catalog's entries of the format and of changes make: every entity and relationship that is added or changed changes one of them.
    public func catalogVersion() throws -> UInt64? {
        guard capabilities.isMultiProcess else { return nil }
        return try read { try Catalog($0.transaction, path: engine.store.traits.path).version() }
    }

    /// Waits for running calls, ends live cursors and closes; see ``Database``.
    public func close() throws { try lifetime.close() }
}

extension KeyValueDatabase {
    /// How often a call is run again after the store ran out of space, which it may then have made.
    private static let attempts = 12

    /// Runs a body that reads and does not call the application.
    func read<Result>(_ body: (KeyValueHandle) throws -> Result) throws -> Result {
        try lifetime.read(body)
    }

    /// Runs a body that writes.
    ///
    /// A store whose space is limited makes more of it when the next transaction begins. So a body without code of the application, in a
    /// transaction of its own, is run again when space ran out: nobody has seen anything of the first time.
    func write<Result>(
        _ kind: WriteKind, touching entity: String? = nil, _ body: (KeyValueHandle) throws -> Result
    ) throws -> Result {
        try lifetime.call {
            if configuration.isReadOnly {
                throw StorageError(.readOnly, "the database was opened to be read only", path: engine.store.traits.path)
            }
            return try writeRetrying(kind, touching: entity, body)
        }
    }

    private func writeRetrying<Result>(
        _ kind: WriteKind, touching entity: String?, _ body: (KeyValueHandle) throws -> Result
    ) throws -> Result {
        var attempt = 1
        while true {
            // A transaction that could not even begin would not begin the next time either.
            var hasBegun = false
            do {
                return try engine.coordinator.write(kind, touching: entity, waiting: configuration.busyTimeout) { handle in
                    hasBegun = true
                    return try body(handle)
                }
            } catch let error as StorageError where error.kind == .outOfSpace && hasBegun && attempt < Self.attempts {
                guard kind.mayRunAgain, !engine.coordinator.isInside else { throw error }
                attempt += 1
            }
        }
    }
}
