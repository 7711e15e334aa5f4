import DAOCore

/// A complete database on any ordered key-value store: records, indexes, queries, transactions and a catalog.
///
/// ```swift
/// let database = try KeyValueDatabase(store: MyStore())
/// let tags = try database.storage(for: Tag.self)
/// ```
///
/// Backends that open databases from a configuration have drivers; see `MemoryDatabase` and `LMDBDatabase`.
public final class KeyValueDatabase: Database, LogAwareDatabase {
    /// The configuration that the database was opened with.
    public let configuration: DatabaseConfiguration
    /// The optional features of the database.
    public let capabilities: Capabilities
    /// The state of the engine below.
    public var engineState: EngineState { engine.coordinator.engineState }

    let engine: KeyValueEngine
    let options: KeyValueOptions
    let lifetime: DatabaseLifetime<KeyValueHandle>

    /// Creates a database on a custom store. Closing the database closes the store.
    ///
    /// - Parameters:
    ///   - store: The store. Only this database may use it.
    ///   - configuration: The reported configuration; by default it is derived from the traits of the store.
    ///     With `isReadOnly` every write is refused.
    ///   - options: How records are stored.
    /// - Throws: `.schemaIsNewer`, `.notADatabase` or `.corrupted` when the store does not contain a readable
    ///   database. The store is closed in that case.
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

    /// Creates a database on an engine that other databases can share.
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
            hasChecksums: options.usesChecksums, detectsTruncation: traits.detectsTruncation, hasEvolution: true,
            hasBackup: traits.hasBackup,
            isReadOnly: traits.isReadOnly || configuration.isReadOnly,
            underlyingTypes: traits.underlyingType.map { [$0] } ?? [])
    }

    /// Creates a storage of a model's rows, without relationships. The first call for a model creates its
    /// entity in the database, or updates the stored entity to what the model declares.
    ///
    /// - Throws: `.invalidSchema` when the model's declaration is inconsistent, `.schemaMismatch` when the
    ///   stored entity has a difference that needs a migration step, `.uniqueViolation` when rows have equal
    ///   values in a field that becomes unique.
    public func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> {
        if let problem = Record.schema.problem { throw problem }
        let declaration = Record.schema.declaration
        let declared = declaration.description
        let (stored, canAdd) = try read { handle in
            (try engine.table(named: declared.name, in: handle), handle.canWrite || !engine.coordinator.isInside)
        }
        let table: Table
        if let stored {
            table = stored.entry.stored.description == declared ? stored : try bringUpToDate(stored, declaration)
        } else if canAdd, !capabilities.isReadOnly {
            try write(.call, touching: declared.name) { handle in
                // Another process can have added it meanwhile, as it declares it.
                if try engine.table(named: declared.name, in: handle) == nil {
                    _ = try engine.makeTable(for: declaration, in: handle)
                }
            }
            return try makeStorage(for: model)
        } else {
            table = try Table(.absent(declared), state: .void)
        }
        return KeyValueStorage<Record>(database: self, table: table)
    }

    /// Creates a storage of a relationship's links. Those of a to-one relationship are in the rows. Lists have
    /// separate keyspaces; the first call for such a relationship adds them to the catalog.
    ///
    /// - Throws: `.schemaMismatch` when the stored links have keys of other kinds.
    public func makeLinks(for relation: RelationDescription) throws -> any LinkStorage {
        if relation.isToOne { return KeyValueReferences(database: self, relation: relation) }
        let (isKnown, canAdd) = try read { handle in
            (try engine.links(of: relation, in: handle) != nil, handle.canWrite || !engine.coordinator.isInside)
        }
        if !isKnown, canAdd, !capabilities.isReadOnly {
            try write(.call) { _ = try engine.makeLinks(of: relation, in: $0) }
        }
        return KeyValueLinks(database: self, relation: relation)
    }

    /// Runs a closure as a transaction; see ``/DAOCore/Database``.
    public func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        try write(.body) { _ in try body() }
    }

    /// Runs a call that consists of several calls; see ``/DAOCore/Database``.
    public func runStep<Result>(_ body: () throws -> Result) throws -> Result {
        try write(.compositeCall) { _ in try body() }
    }

    /// Runs a closure in which every read sees the same state; see ``/DAOCore/Database``.
    public func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try lifetime.call { try engine.coordinator.snapshot(body) }
    }

    /// Passes the store's handle of the running transaction to a closure; see ``/DAOCore/Database``.
    public func runUnderlying<Handle: UnderlyingHandle, Result>(
        as type: Handle.Type, touching entities: TouchedEntities, _ body: (Handle) throws -> Result
    ) throws -> Result {
        try lifetime.call {
            try engine.coordinator.inside(touching: entities) { handle in
                guard let underlying = handle.transaction.underlyingHandle as? Handle else { throw refusal(of: type) }
                // Bytes that were read in place can have moved.
                defer { handle.writeCount += 1 }
                return try body(underlying)
            }
        }
    }

    /// Makes the file as small as its content allows; see ``/DAOCore/Database``.
    public func runCompaction() throws -> CompactionReport {
        try lifetime.call { try engine.store.compact(waiting: configuration.busyTimeout) }
    }

    /// A store with files that several processes share holds locks as long as it is open.
    public func runSuspension() throws {
        guard engine.store.traits.isMultiProcess else { return }
        throw StorageError(
            .unsupported, "\(engine.store.traits.name) holds its locks as long as the file is open; close the database instead",
            path: engine.store.traits.path)
    }

    /// Copies the last commit into a file; see ``/DAOCore/Database``.
    public func runBackup(to path: String, onProgress: (BackupProgress) throws -> Void) throws {
        try lifetime.call { try engine.store.writeBackup(to: path, onProgress: onProgress) }
    }

    /// The stored entities, read without the application's types.
    public func entities() throws -> [EntityDescription] {
        try read { try Catalog($0.transaction, path: engine.store.traits.path).entities().map(\.description) }
    }

    /// The version of the catalog, from its entries of the format and of changes. Every added or changed
    /// entity or relationship changes one of these entries.
    public func catalogVersion() throws -> UInt64 {
        try read { try Catalog($0.transaction, path: engine.store.traits.path).version() }
    }

    /// Waits for running calls, ends live cursors and closes; see ``/DAOCore/Database``.
    public func close() throws { try lifetime.close() }
}

extension KeyValueDatabase {
    /// The number of retries of a call after the store ran out of space. The store can make more space before
    /// a retry.
    private static let attempts = 12

    /// Runs a closure that reads and does not call application code.
    func read<Result>(_ body: (KeyValueHandle) throws -> Result) throws -> Result {
        try lifetime.read(body)
    }

    /// Runs a closure that writes.
    ///
    /// A store with limited space grows when the next transaction begins. A closure without application code,
    /// in a separate transaction, therefore runs again when space runs out: no effect of the first run is
    /// visible.
    func write<Result>(
        _ kind: WriteKind, touching entity: String? = nil, _ body: (KeyValueHandle) throws -> Result
    ) throws -> Result {
        try lifetime.call {
            if configuration.isReadOnly {
                throw StorageError.readOnly(engine.store.traits.path)
            }
            return try writeRetrying(kind, touching: entity, body)
        }
    }

    /// Calls a closure that stores and removes rows of a table, with buffers of the transaction.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - handle: The transaction.
    ///   - readers: The storage, whose rows are judged when the call ends (contract W6); nil where each is judged when it is
    ///     stored.
    ///   - waiting: The rows that are being stored because the call ends.
    ///   - body: The closure.
    func withUpdate(
        of table: Table, _ handle: KeyValueHandle, for readers: (any RecordReaders)? = nil, ending waiting: WaitingRows? = nil,
        _ body: (RowUpdate) throws -> Void
    ) throws {
        let scratch = handle.takeScratch(table, isChecked: options.usesChecksums)
        let larger = readers == nil || !table.hasUniqueIndexes ? waiting : waitingRows
        (scratch.waiting, scratch.readers) = (larger, readers)
        defer {
            (scratch.waiting, scratch.readers) = (nil, nil)
            handle.giveBack(scratch)
        }
        try body(RowUpdate(handle, table, scratch, verifies: options.usesChecksums))
        if larger == nil, let waiting = scratch.waiting { try waiting.end() }
    }

    private func writeRetrying<Result>(
        _ kind: WriteKind, touching entity: String?, _ body: (KeyValueHandle) throws -> Result
    ) throws -> Result {
        var attempt = 1
        while true {
            // A transaction that could not begin would fail again.
            var hasBegun = false
            do {
                return try engine.coordinator.write(kind, touching: entity, waiting: configuration.busyTimeout) { handle in
                    hasBegun = true
                    return try body(handle)
                }
            } catch let error as StorageError where error.kind == .outOfSpace && hasBegun && attempt < Self.attempts {
                guard kind.mayRunAgain, !engine.coordinator.isInside else { throw error }
                attempt += 1
                CallTrace.willRunAgain()
            }
        }
    }
}
