/// One open database: it vends storages and runs transactions.
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
/// A database may be used from any thread or task. Databases opened with the same configuration in one process share what is
/// underneath (contract C3); each is closed on its own, and dropping the last reference closes it too.
public protocol Database: AnyObject, Sendable {

    /// What the database was opened with.
    var configuration: DatabaseConfiguration { get }

    /// What it can do beyond what every database can.
    var capabilities: Capabilities { get }

    /// The state of the engine below: where asynchronous calls run, and who observes. All databases on one engine
    /// return the same.
    var engineState: EngineState { get }

    /// Makes a storage of a model's own rows, without related ones: what `storage(for:)` stands on. The first call for a model creates what is
    /// missing in the database.
    ///
    /// Applications call `storage(for:)`, which adds relationships; a database supplies this.
    ///
    /// - Throws: `.invalidSchema` when the model's declaration contradicts itself, `.schemaMismatch` when the stored entity differs.
    func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record>

    /// Makes a storage of one relationship's links. By default they are rows of a hidden entity, in the database's own storage for it.
    ///
    /// - Parameter relation: The relationship; both of its entities have been made.
    func makeLinks(for relation: RelationDescription) throws -> any LinkStorage

    /// Runs a body as one transaction, here and now: what `transaction` does.
    ///
    /// Applications call `transaction`, in one of its two forms; a database supplies this.
    func runTransaction<Result>(_ body: () throws -> Result) throws -> Result

    /// Runs a body in which every read sees the same state, here and now: what `snapshot` does.
    func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result

    /// Runs a call that consists of several: the body is this library's and none of the application's.
    ///
    /// Outside of a transaction it is one, in which the calls need no savepoints, and which may run again from the beginning when the space of a store
    /// runs out that can be made larger. Inside one the body just runs, and makes sure itself that it is all or nothing. By default it is
    /// ``runTransaction(_:)``.
    func runStep<Result>(_ body: () throws -> Result) throws -> Result

    /// A number that is another one whenever entities or relationships are others, whichever process made them so, as the running transaction sees it.
    ///
    /// Nil when no other process can change them, or when the database cannot tell: what another process declares is then not known here until the
    /// database is opened again. That is the default.
    func catalogVersion() throws -> UInt64?

    /// Gives the engine's own handle of the running transaction to a body: what `underlying(as:)` does for the types among
    /// ``Capabilities/underlyingTypes``. By default there are none.
    func runUnderlying<Handle: UnderlyingHandle, Result>(
        as type: Handle.Type, touching entities: TouchedEntities, _ body: (Handle) throws -> Result
    ) throws -> Result

    /// The entities that are stored, read without the application's types (contract E1).
    func entities() throws -> [EntityDescription]

    /// Runs a body with entities and rows without the application's types: what migrations and copies are made of.
    ///
    /// A database that does not offer it leaves it to the default, which throws `.unsupported`.
    ///
    /// - Parameters:
    ///   - access: Whether the body writes. It then runs as one transaction, all or nothing.
    ///   - body: Gets the store for as long as it runs. Where it writes and the space of a store runs out that can be made larger, it runs again, from
    ///     the beginning.
    /// - Throws: What the body throws; `.invalidTransaction` for writing from inside a transaction or a snapshot of this database.
    func withEntityStore<Result>(_ access: EntityStoreAccess, _ body: (any EntityStore) throws -> Result) throws -> Result

    /// Waits for running calls and closes. Afterwards every call is `.closed`; closing again does nothing.
    ///
    /// - Throws: `.invalidTransaction` from inside a transaction of this database.
    func close() throws
}

// Both forms stand beside each other here, so that `await` chooses between them on every database. Were the synchronous ones requirements,
// a class's own method would be preferred to the asynchronous one, `await` or not.
extension Database {
    /// The rows of a model, with what is related to them. The first call for a model creates what is missing in the database, for related
    /// models too.
    ///
    /// - Throws: `.invalidSchema` when a declaration contradicts itself, `.schemaMismatch` when the stored entity differs.
    public func storage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> { try GraphStorage<Record>(self) }

    /// Runs a body as one transaction: all of its writes, or none when it throws (contract T1).
    ///
    /// The body runs here, once, on this thread. DAOs and storages that it uses join by themselves; a transaction inside is a
    /// savepoint (T2). Reads in the body see its writes; reads elsewhere see the last commit and never wait (T3).
    ///
    /// - Throws: What the body throws, unchanged; `.busy` when another process keeps the database locked.
    public func transaction<Result>(_ body: () throws -> Result) throws -> Result { try runTransaction(body) }

    /// Runs a body as one transaction on the database's own writer thread, without blocking the calling task's.
    ///
    /// Nothing in the body suspends. When the task is cancelled before the body began, it does not run.
    ///
    /// - Throws: What the body throws, unchanged; `CancellationError`.
    public func transaction<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await engineState.executor.write { try self.runTransaction(body) }
    }

    /// Runs the body as a transaction.
    public func runStep<Result>(_ body: () throws -> Result) throws -> Result { try runTransaction(body) }

    /// Knows of no number.
    public func catalogVersion() throws -> UInt64? { nil }

    /// Runs a body in which every read sees the same state, whatever is committed meanwhile. Writes in it are `.invalidTransaction`.
    public func snapshot<Result>(_ body: () throws -> Result) throws -> Result { try runSnapshot(body) }

    /// Runs a body in which every read sees the same state, without blocking the calling task's thread.
    public func snapshot<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await engineState.executor.read { try self.runSnapshot(body) }
    }
}
