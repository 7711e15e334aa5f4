/// An open database. It creates storages and runs transactions.
///
/// ```swift
/// let database = try DatabaseDrivers(.memory, .sqlite, .lmdb).open("sqlite:///var/lib/app.db")
/// let messages = DAO(storage: try database.storage(for: MessageModel.self), translator: MessageTranslator())
/// try database.transaction {
///     try dialogs.persist(dialog)
///     try messages.erase { $0.date < cutoff }
/// }
/// ```
///
/// Any thread or task can use a database. Databases that are opened with the same configuration in one
/// process share one engine (contract C3). Each of them is closed separately. Dropping the last reference to
/// a database also closes it.
public protocol Database: AnyObject, Sendable, CustomStringConvertible {

    /// The configuration that the database was opened with.
    var configuration: DatabaseConfiguration { get }

    /// The optional features of the database.
    var capabilities: Capabilities { get }

    /// The state of the engine: the executor of asynchronous calls, and the observers. All databases on one
    /// engine return the same state.
    var engineState: EngineState { get }

    /// Creates a storage of a model's rows, without related rows; `storage(for:)` uses it. The first call for
    /// a model creates its entity in the database.
    ///
    /// Applications call `storage(for:)`, which adds relationships. Backends implement this method.
    ///
    /// - Throws: `.invalidSchema` when the model's declaration contradicts itself, `.schemaMismatch` when the
    ///   stored entity differs.
    func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record>

    /// Creates a storage of the links of a relationship. The default stores links as rows of a hidden entity.
    ///
    /// - Parameter relation: The relationship. The storages of both entities have been created.
    func makeLinks(for relation: RelationDescription) throws -> any LinkStorage

    /// Runs a closure as a transaction on the current thread. It implements `transaction`.
    ///
    /// Applications call one of the two forms of `transaction`. Backends implement this method.
    func runTransaction<Result>(_ body: () throws -> Result) throws -> Result

    /// Runs a closure in which every read sees the same state, on the current thread. It implements
    /// `snapshot`.
    func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result

    /// Runs a call that consists of several reads, in which every read sees the same state. The closure is part of this library
    /// and not of the application. The default is ``runSnapshot(_:)``.
    func runReads<Result>(_ body: () throws -> Result) throws -> Result

    /// Runs a call that consists of several calls. The closure is part of this library and not of the
    /// application.
    ///
    /// Outside a transaction, the call runs as a transaction. Its inner calls need no savepoints, and it can
    /// run again from the beginning when a store that can grow runs out of space. Inside a transaction, the
    /// closure runs directly and ensures atomicity itself. The default is ``runTransaction(_:)``.
    func runStep<Result>(_ body: () throws -> Result) throws -> Result

    /// A version that changes with every change of entities or relationships, however it came to be and by any process, as
    /// the running transaction sees it (contract E9).
    ///
    /// The default makes it of ``entities()``. A database that counts changes of its catalog is quicker. It may use a version
    /// again that was rolled back.
    func catalogVersion() throws -> UInt64

    /// Passes the engine's handle of the running transaction to a closure. It implements `underlying(as:)`
    /// for the types in ``Capabilities/underlyingTypes``. The default has no handles.
    func runUnderlying<Handle: UnderlyingHandle, Result>(
        as type: Handle.Type, touching entities: TouchedEntities, _ body: (Handle) throws -> Result
    ) throws -> Result

    /// Returns the stored entities, which are read without the application's types (contract E1).
    func entities() throws -> [EntityDescription]

    /// Runs a closure with entities and rows without the application's types. Migrations and copies use it.
    ///
    /// The default throws `.unsupported`.
    ///
    /// - Parameters:
    ///   - access: What the closure does. A closure that writes runs as one atomic transaction.
    ///   - body: A closure that gets the store, which is valid while the closure runs. A closure that writes
    ///     can run again from the beginning when a store that can grow runs out of space.
    /// - Throws: Any error of the closure; `.invalidTransaction` for ``EntityStoreAccess/write`` inside a
    ///   transaction or a snapshot of this database.
    func withEntityStore<Result>(_ access: EntityStoreAccess, _ body: (any EntityStore) throws -> Result) throws -> Result

    /// Copies the last commit into a file. It implements `backup(to:)`. The default throws `.unsupported`.
    ///
    /// - Parameters:
    ///   - path: The path of the file. ``BackupFile`` replaces it.
    ///   - onProgress: A closure that is called from time to time. An error that it throws ends the backup.
    func runBackup(to path: String, onProgress: (BackupProgress) throws -> Void) throws

    /// Makes the file of the database as small as its content allows. It implements `compact()`. The default
    /// does nothing, for an engine that has no space to give back.
    func runCompaction() throws -> CompactionReport

    /// Gives up every lock on the files of the database until the next call. It implements `suspend()`. The default does
    /// nothing, for an engine without files.
    func runSuspension() throws

    /// Returns what became of a transaction whose commit was not answered. Any client of the database may ask. The default
    /// throws `.unsupported`, for a database that is on no server.
    ///
    /// ```swift
    /// do {
    ///     try database.transaction { try orders.create(order) }
    /// } catch let error as StorageError where error.kind == .outcomeUnknown {
    ///     waitForTheServer()
    ///     if try database.outcome(of: error.commitToken ?? "") == .rolledBack { try orders.create(order) }
    /// }
    /// ```
    ///
    /// - Parameter commitToken: The token of an error of the kind `outcomeUnknown`.
    /// - Throws: `.unreachable` when no server can be asked; `.busy` while the server is still committing the transaction;
    ///   `.notFound` for a token that the server does not know, or not any more; `.readOnly` where the database can only be
    ///   read.
    func outcome(of commitToken: String) throws -> CommitOutcome

    /// The position in the history of the database that its reads see at least, as a short text: that of the commits of this database,
    /// and of what its reads have shown. Nil, the default, for a database whose reads see every commit of every process.
    ///
    /// A process that opens the database with it as ``DatabaseConfiguration/seenPosition`` reads nothing older (contract C7):
    ///
    /// ```swift
    /// try orders.create(order)
    /// session["seen"] = try database.position          // the next request may come to another process
    ///
    /// configuration.seenPosition = session["seen"]
    /// let database = try drivers.open(configuration)   // its reads see the order, also on a standby
    /// ```
    ///
    /// - Throws: `.unreachable` when the server has to be asked and does not answer.
    var position: String? { get throws }

    /// Waits for running calls and closes the database. Later calls throw `.closed`. A second `close` does
    /// nothing.
    ///
    /// - Throws: `.invalidTransaction` inside a transaction of this database.
    func close() throws
}

// Both forms are extension methods, so that `await` selects the form on every database. If the synchronous
// forms were requirements, the compiler would prefer the method of a class to the asynchronous form, with or
// without `await`.
extension Database {
    /// Returns the storage of a model with its related rows. The first call for a model creates its entity
    /// and those of related models in the database.
    ///
    /// - Throws: `.invalidSchema` when a declaration contradicts itself, `.schemaMismatch` when the stored
    ///   entity differs.
    public func storage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> {
        guard CallTrace.isUsed.load(ordering: .relaxed) else { return try GraphStorage<Record>(self) }
        let storage = try reporting(.open, of: Record.schema.description.name) { try GraphStorage<Record>(self) }
        return ReportingStorage(storage, configuration.listeners) ?? storage
    }

    /// Runs a closure as a transaction. When the closure throws, none of its writes is kept (contract T1).
    ///
    /// The closure runs once, on the current thread; `transaction(retrying:_:)` runs it again
    /// after a conflict. DAOs and storages that it uses join the transaction. A
    /// transaction inside the closure is a savepoint (T2). Reads in the closure see its writes. Reads
    /// elsewhere see the last commit and never wait (T3).
    ///
    /// - Throws: Any error of the closure, unchanged; `.busy` when another process keeps the database locked.
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try reporting(.transaction) { try runTransaction(body) }
    }

    /// Runs a closure as a transaction on the writer thread of the database. It does not block the thread of
    /// the calling task.
    ///
    /// The closure is synchronous. When the task is cancelled before the closure begins, the closure does not
    /// run.
    ///
    /// - Throws: Any error of the closure, unchanged; `CancellationError`.
    public func transaction<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await writeOnce { try self.reporting(.transaction) { try self.runTransaction(body) } }
    }

    /// Runs a single atomic call on the writer thread. Calls that wait at the same time can share a commit (contract T9).
    ///
    /// - Parameters:
    ///   - mayRunAgain: Whether the call runs no code of the application.
    ///   - body: The call.
    func writeOnce<Result: Sendable>(
        mayRunAgain: Bool = false, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let state = engineState
        return try await state.executor.write(
            sharing: state.sharesCommits && sharesCommits ? self : nil, mayRunAgain: mayRunAgain, body)
    }

    /// Instruments are told of a call when it has ended, so their calls do not wait for others.
    private var sharesCommits: Bool {
        let configuration = configuration
        return configuration.durability == .full
            && configuration.listeners == nil
            // Each transaction of a shared commit is a savepoint.
            && capabilities.hasSavepoints
    }

    /// Runs a closure as a transaction, and runs it again when it throws `.conflict` (contract T8).
    ///
    /// Each run is a separate transaction, so that its reads see the last commit. The writes of a failed run are
    /// rolled back, but nothing else that the closure did: do no more in it than read and write this database.
    /// Inside a transaction of this database the closure runs once, as a savepoint, because another run would
    /// see the same state; the outer transaction decides.
    ///
    /// ```swift
    /// try database.transaction(retrying: 3) {
    ///     guard var ticket = try tickets.read(byPrimaryKey: 7) else { return }
    ///     ticket.isOpen = false
    ///     try tickets.persist(ticket)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - count: The maximum number of further runs. A negative number counts as zero.
    ///   - body: The closure.
    /// - Throws: Any error of the last run, unchanged; `CancellationError` instead of another run when the
    ///   current task is cancelled.
    public func transaction<Result>(retrying count: Int, _ body: () throws -> Result) throws -> Result {
        var remaining = AmbientTransaction.isInside(engineState) ? 0 : count
        while true {
            do {
                return try reporting(.transaction) { try runTransaction(body) }
            } catch let error as StorageError where error.kind == .conflict && remaining > 0 {
                try Task.checkCancellation()
                remaining -= 1
            }
        }
    }

    /// Runs a closure as a transaction on the writer thread of the database, and runs it again when it throws
    /// `.conflict`. Other writers can run between two runs. It does not block the thread of the calling task.
    ///
    /// - Parameters:
    ///   - count: The maximum number of further runs. A negative number counts as zero.
    ///   - body: The closure. It is synchronous.
    /// - Throws: Any error of the last run, unchanged; `CancellationError` when the task is cancelled before a
    ///   run.
    public func transaction<Result: Sendable>(
        retrying count: Int, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        var remaining = count
        while true {
            do {
                return try await writeOnce { try self.reporting(.transaction) { try self.runTransaction(body) } }
            } catch let error as StorageError where error.kind == .conflict && remaining > 0 {
                remaining -= 1
            }
        }
    }

    /// The engine and the URL, and a line for each stored entity with its fields. The entities are read from the database.
    ///
    /// ```swift
    /// print(database)  // SQLite 3.45.1, sqlite:app.db
    ///                  //   tag(id int64 key, name string unique)
    /// ```
    public var description: String {
        let lines: [String]
        do {
            lines = try entities().map(\.description)
        } catch {
            lines = ["\((error as? StorageError)?.message ?? "\(error)")"]
        }
        return (["\(capabilities.engine), \(configuration)"] + lines).joined(separator: "\n  ")
    }

    /// Returns nil.
    public var position: String? { get throws { nil } }

    /// Runs the closure as a transaction.
    public func runStep<Result>(_ body: () throws -> Result) throws -> Result { try runTransaction(body) }

    /// Runs the closure as a snapshot.
    public func runReads<Result>(_ body: () throws -> Result) throws -> Result { try runSnapshot(body) }

    /// Returns a hash of the entities.
    public func catalogVersion() throws -> UInt64 {
        var hasher = Hasher()
        hasher.combine(try entities())
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Runs a closure in which every read sees the same state, regardless of commits in the meantime. A write
    /// in the closure throws `.invalidTransaction`.
    public func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        ObservedReads.current?.willRead(.none, in: engineState)
        return try reporting(.snapshot) { try runSnapshot(body) }
    }

    /// Says that what is read depends on the rows of an entity, for calls that read others in their place.
    package func willRead(_ entity: String) {
        ObservedReads.current?.willRead(TouchedEntities(names: [entity]), in: engineState)
    }

    /// Runs a call of this library that consists of several reads.
    package func reads<Result>(_ body: () throws -> Result) throws -> Result {
        ObservedReads.current?.willRead(.none, in: engineState)
        return try reporting(.snapshot) { try runReads(body) }
    }

    /// Runs a closure in which every read sees the same state. It does not block the thread of the calling
    /// task.
    public func snapshot<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await engineState.executor.read { try self.reporting(.snapshot) { try self.runSnapshot(body) } }
    }
}
