import DAOCore

/// A database whose calls fail when a test says so.
///
/// It is a database for the tests of an application: everything else goes to the database that it wraps.
///
/// ```swift
/// let database = FailingDatabase(try DatabaseDrivers(.memory).open("memory:"))
/// let mailbox = try Mailbox(database)
/// database.fail(.write, of: "message", after: 1, with: StorageError(.io, "the disk is full"))
/// ```
///
/// A failing call does nothing: a write stores nothing, and a transaction whose commit fails is rolled back. Rows of other models
/// that a write stores with its own are writes of their entities; the links of lists are not counted.
public final class FailingDatabase: Database {
    /// A kind of calls.
    public enum Call: Sendable, Hashable {
        /// A call that reads rows, or counts them.
        case read
        /// A call that stores, changes or erases rows.
        case write
        /// The end of a transaction, also of that of a single write. It has no entity.
        case commit
    }

    private struct Failure {
        let call: Call
        let entity: String?
        let error: StorageError
        var passing: Int
        var failing: Int
    }

    private let base: any Database
    private let failures = Lock<[Failure]>([])

    /// Wraps a database. Its calls succeed until ``fail(_:of:after:times:with:)``.
    public init(_ base: any Database) { self.base = base }

    /// Lets calls fail.
    ///
    /// - Parameters:
    ///   - call: The kind of the calls.
    ///   - entity: The entity of the calls; nil for any.
    ///   - count: How many such calls succeed before: 0 for the next call, 1 for the one after it.
    ///   - times: How many calls fail then, by default one.
    ///   - error: What they throw.
    public func fail(
        _ call: Call, of entity: String? = nil, after count: Int = 0, times: Int = 1,
        with error: StorageError = StorageError(.io, "the test lets this call fail")
    ) {
        failures.withLock {
            $0.append(Failure(call: call, entity: entity, error: error, passing: max(count, 0), failing: max(times, 0)))
        }
    }

    /// Lets all calls succeed again.
    public func succeed() { failures.withLock { $0 = [] } }

    fileprivate func check(_ call: Call, of entity: String? = nil) throws {
        let error: StorageError? = failures.withLock { failures in
            var error: StorageError?
            for index in failures.indices where failures[index].call == call && failures[index].failing > 0 {
                guard failures[index].entity == nil || failures[index].entity == entity else { continue }
                if failures[index].passing > 0 {
                    failures[index].passing -= 1
                } else if error == nil {
                    failures[index].failing -= 1
                    error = failures[index].error
                }
            }
            return error
        }
        if let error { throw error }
    }

    fileprivate func write<Result>(_ entity: String, _ body: () throws -> Result) throws -> Result {
        try check(.write, of: entity)
        return engineState.isInTransaction ? try body() : try runTransaction(body)
    }

    // MARK: Database

    /// The configuration of the wrapped database.
    public var configuration: DatabaseConfiguration { base.configuration }
    /// The features of the wrapped database.
    public var capabilities: Capabilities { base.capabilities }
    /// The state of the wrapped database.
    public var engineState: EngineState { base.engineState }

    /// Creates a storage whose calls can fail.
    public func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> {
        FailingStorage(base: try base.makeStorage(for: model), owner: self)
    }
    /// The links of the wrapped database.
    public func makeLinks(for relation: RelationDescription) throws -> any LinkStorage { try base.makeLinks(for: relation) }
    /// Runs a transaction, whose commit can fail.
    public func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        let isOuter = !engineState.isInTransaction
        return try base.runTransaction {
            let result = try body()
            if isOuter { try check(.commit) }
            return result
        }
    }
    /// Runs several calls, whose commit can fail.
    public func runStep<Result>(_ body: () throws -> Result) throws -> Result {
        let isOuter = !engineState.isInTransaction
        return try base.runStep {
            let result = try body()
            if isOuter { try check(.commit) }
            return result
        }
    }
    /// Runs a snapshot of the wrapped database.
    public func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result { try base.runSnapshot(body) }
    /// Runs reads of the wrapped database.
    public func runReads<Result>(_ body: () throws -> Result) throws -> Result { try base.runReads(body) }
    /// The version of the wrapped database.
    public func catalogVersion() throws -> UInt64? { try base.catalogVersion() }
    /// The handle of the wrapped database.
    public func runUnderlying<Handle: UnderlyingHandle, Result>(
        as type: Handle.Type, touching entities: TouchedEntities, _ body: (Handle) throws -> Result
    ) throws -> Result {
        try base.runUnderlying(as: type, touching: entities, body)
    }
    /// The entities of the wrapped database.
    public func entities() throws -> [EntityDescription] { try base.entities() }
    /// The entities and rows of the wrapped database.
    public func withEntityStore<Result>(_ access: EntityStoreAccess, _ body: (any EntityStore) throws -> Result) throws -> Result
    {
        try base.withEntityStore(access, body)
    }
    /// Copies the wrapped database.
    public func runBackup(to path: String, onProgress: (BackupProgress) throws -> Void) throws {
        try base.runBackup(to: path, onProgress: onProgress)
    }
    /// Makes the wrapped database smaller.
    public func runCompaction() throws -> CompactionReport { try base.runCompaction() }
    /// Gives up the locks of the wrapped database.
    public func runSuspension() throws { try base.runSuspension() }
    /// Asks the wrapped database.
    public func outcome(of commitToken: String) throws -> CommitOutcome { try base.outcome(of: commitToken) }
    /// Closes the wrapped database.
    public func close() throws { try base.close() }
}

private struct FailingStorage<Record: Model>: Storage {
    let base: any Storage<Record>
    let owner: FailingDatabase

    var database: any Database { owner }
    private var entity: String { Record.schema.description.name }

    private func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try owner.check(.read, of: entity)
        return try body()
    }

    func read(_ query: Query<Record>) throws -> [Record] { try reading { try base.read(query) } }
    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] {
        try reading { try base.read(keys: keys, includesSubentities: includesSubentities) }
    }
    func read(key: Key) throws -> Record? { try reading { try base.read(key: key) } }
    func contains(key: Key) throws -> Bool { try reading { try base.contains(key: key) } }
    func keys(_ query: Query<Record>) throws -> [Key] { try reading { try base.keys(query) } }
    func count(_ query: Query<Record>) throws -> Int { try reading { try base.count(query) } }
    func readFields(_ fields: [Int], _ query: Query<Record>, _ body: (RowReader) throws -> Void) throws {
        try reading { try base.readFields(fields, query, body) }
    }
    func groups(_ query: GroupQuery<Record>, _ body: (RowReader, [Int]) throws -> Void) throws {
        try reading { try base.groups(query, body) }
    }
    func cursor(_ query: Query<Record>) throws -> RowCursor<Record> { try reading { try base.cursor(query) } }
    func explain(_ query: Query<Record>) throws -> QueryPlan { try base.explain(query) }

    func insert(_ records: [Record]) throws { try owner.write(entity) { try base.insert(records) } }
    func insert(making records: () throws -> [Record]) throws { try owner.write(entity) { try base.insert(making: records) } }
    func upsert(_ records: [Record]) throws { try owner.write(entity) { try base.upsert(records) } }
    func upsert(making records: () throws -> [Record]) throws { try owner.write(entity) { try base.upsert(making: records) } }
    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        try owner.write(entity) { try base.merge(keys: keys, body) }
    }
    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int {
        try owner.write(entity) { try base.update(query, body) }
    }
    // `set` is the default, which leaves the change to `update`: so it is one write on every database.
    func erase(keys: [Key]) throws -> Int { try owner.write(entity) { try base.erase(keys: keys) } }
    func erase(_ query: Query<Record>) throws -> Int { try owner.write(entity) { try base.erase(query) } }
}
