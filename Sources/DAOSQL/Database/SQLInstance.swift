import DAOCore
import Foundation

/// The state that all databases on an engine share in this process: the connection for writing, the pool of
/// connections for reading, and the known tables.
///
/// A driver keeps its instances in ``/DAOCore/SharedInstances``, and creates an ``SQLDatabase`` for each
/// configuration.
public final class SQLInstance: Sendable {
    /// The engine.
    package let engine: any SQLEngine
    /// Runs transactions and enforces their rules.
    package let coordinator: TransactionCoordinator<SQLSession>
    /// The SQL dialect of the engine.
    let dialect: any SQLDialect
    /// The table in which the database describes itself.
    let catalog: SQLCatalog
    /// Whether the suite chooses the paths of queries.
    let hasSearchPaths: Bool
    /// The path in errors.
    let path: String
    /// The tables that were found or created, one for each model, by the name of their entity.
    let tables = Lock<[String: [KnownTable]]>([:])
    /// The version of the catalog that the known tables were last compared with.
    let catalogVersion = Atomic<UInt64>(.max)
    /// The tables of links that were found or created, by their relationship.
    let links = Lock<[RelationDescription: KnownLinks]>([:])
    /// The tables of another program that models read in a file that has no catalog, by their entities.
    let lent = Lock<[String: EntityDescription]>([:])
    /// Counts the tables.
    let numbers = Atomic<Int>(0)

    private let writer: WriterSession
    private let readers: SessionPool
    /// The sessions that read from replicas; nil when there are none.
    private let replicas: SessionPool?
    /// The sessions that write side by side; nil when only one writes.
    private let writers: SessionPool?

    /// Creates an instance. It owns the engine.
    ///
    /// - Parameters:
    ///   - engine: The engine.
    ///   - writes: Whether to open the connection for writing now; otherwise the first database that writes
    ///     opens it.
    /// - Throws: The error of the engine when it cannot connect or finds damage. The engine is then closed.
    public init(_ engine: any SQLEngine, writes: Bool) throws {
        let path = engine.traits.path
        let traits = engine.traits
        let isShared = traits.maximumWriters > 1
        let state = EngineState(name: path, hasConcurrentWriters: isShared, sharesCommits: traits.sharesCommits)
        let observations = state.observations
        let writer = WriterSession(engine, observations)
        let readers = SessionPool(
            traits, maximum: traits.maximumReaders, capacity: 8,
            open: {
                observations.resumeWatchingOthers()
                return SQLSession(try engine.connect(.read), path: path)
            }, didRead: { engine.didRead() }, allowsKeptSnapshots: { engine.allowsKeptSnapshots })
        engine.useToEndSnapshots { [weak readers] in readers?.endSnapshots() }
        let replicas =
            traits.hasReplicas
            ? SessionPool(
                traits, maximum: traits.maximumReaders, capacity: 8,
                open: {
                    observations.resumeWatchingOthers()
                    return SQLSession(try engine.connectToReplica(), path: path)
                }) : nil
        let writers =
            isShared
            ? SessionPool(traits, maximum: traits.maximumWriters, capacity: traits.maximumWriters) {
                observations.resumeWatchingOthers()
                return SQLSession(try engine.connect(.write), path: path, observations: observations)
            } : nil
        self.engine = engine
        self.writer = writer
        self.readers = readers
        self.replicas = replicas
        self.writers = writers
        self.path = path
        hasSearchPaths = traits.hasSearchPaths
        dialect = engine.dialect
        catalog = SQLCatalog(dialect: engine.dialect)
        coordinator = TransactionCoordinator(
            state, path: path, beginWriting: { try writers?.take() ?? writer.get() },
            beginReading: { try replicas?.takeCaughtUp() ?? readers.take() },
            conflictLimit: isShared ? traits.busyTimeout : nil)
        writer.setOptimizing { [weak coordinator, weak writer] in
            guard let coordinator, let writer else { return }
            DispatchQueue.global(qos: .utility).async { writer.optimize(coordinator) }
        } resting: { [weak coordinator, weak writer] in
            DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + 1) { [weak coordinator, weak writer] in
                guard let coordinator, let writer else { return }
                writer.rest(coordinator)
            }
        }
        do {
            if let open = engine.commitCounter { state.observations.watchOthers(open) }
            if writes { try openWriter() }
            try coordinator.read { try engine.check($0.connection) }
        } catch {
            close()
            throw error
        }
    }

    /// The error of a write to a database that may only be read.
    var readOnly: StorageError { engine.writeRefusal ?? .readOnly(path) }

    /// Opens the connection for writing, if only readers were open so far.
    func openWriter() throws { if writers == nil { try writer.open() } }

    /// Closes the connections, the connection for writing last, and lets the next call open them again.
    ///
    /// - Throws: `.busy` when reads do not end in time.
    func suspend() throws {
        func end() {
            coordinator.engineState.observations.pauseWatchingOthers()
            writer.suspend()
            engine.suspend()
        }
        func closeAll() throws {
            try ([readers, replicas, writers] as [SessionPool?]).compactMap { $0 }.withoutSessions(end)
        }
        try writer.withoutOptimizing {
            // No write transaction runs meanwhile.
            if writer.isOpen { try coordinator.write(.statement) { _ in try closeAll() } } else { try closeAll() }
        }
    }

    /// Closes the connections, the connection for writing last, and then the engine.
    public func close() {
        coordinator.engineState.observations.stopWatchingOthers()
        readers.close()
        replicas?.close()
        writers?.close()
        writer.close()
        engine.close()
    }

    /// Begins the write transaction of a call.
    ///
    /// - Parameters:
    ///   - session: The session that writes.
    ///   - settings: The settings of the database that makes the call.
    ///   - scope: The statements that the transaction runs.
    ///   - changesTables: Whether it is begun to change tables.
    ///   - isOneCall: Whether the transaction, where none is running, is one call of a storage.
    @inline(__always) func begin(
        _ session: SQLSession, _ settings: SQLWriteSettings, _ scope: SQLWrite.Scope = .any, changesTables: Bool = false,
        isOneCall: Bool = false
    ) throws {
        let isObserved = coordinator.engineState.observations.isObserved
        if changesTables { session.forgetTables = { [weak self] in self?.forgetTables() } }
        var settings = settings
        settings.busyTimeout = CallDeadline.remaining(of: settings.busyTimeout)
        let version = isOneCall ? catalogVersion.load(ordering: .acquiring) : .max
        try CallTrace.waiting {
            try session.connection.beginWriting(
                SQLWrite(
                    scope: scope, settings: settings, isObserved: isObserved, changesTables: changesTables,
                    knownVersion: version == .max ? nil : version))
        }
        // A single statement that stores no new row needs no column but those it names.
        if scope != .statement { try checkCatalog(session) }
    }
}

/// The only session that writes. It is opened when it is first needed.
private final class WriterSession: Sendable {
    private let engine: any SQLEngine
    private let observations: ObservationHub
    private let session = Lock<SQLSession?>(nil)
    private let isSuspended = Atomic(false)
    /// Held while the database is optimized, so that closing it waits.
    private let optimizing = NSLock()
    private let optimizeLater = Lock<(@Sendable () -> Void)?>(nil)
    private let restLater = Lock<(@Sendable () -> Void)?>(nil)

    init(_ engine: any SQLEngine, _ observations: ObservationHub) {
        self.engine = engine
        self.observations = observations
    }

    func open() throws {
        try session.withLock { session in
            guard session == nil else { return }
            observations.resumeWatchingOthers()
            let new = SQLSession(try engine.connect(.write), path: engine.traits.path, observations: observations)
            new.optimizeLater = optimizeLater.withLock { $0 }
            new.restLater = restLater.withLock { $0 }
            session = new
            isSuspended.store(false, ordering: .releasing)
        }
    }

    /// Whether the session is open.
    var isOpen: Bool { session.withLock { $0 != nil } }

    /// Runs a closure while the database is not optimized in the background.
    func withoutOptimizing(_ body: () throws -> Void) rethrows { try optimizing.withLock(body) }

    /// Closes the session, until it is needed again. The transaction of the caller can have it open until its end.
    func suspend() {
        session.withLock { session in
            guard let old = session else { return }
            (old.optimizeLater, old.restLater) = (nil, nil)
            old.connection.willClose()
            isSuspended.store(true, ordering: .releasing)
            session = nil
        }
    }

    /// Sets how ``optimize(_:)`` and ``rest(_:)`` are called later.
    func setOptimizing(_ later: @escaping @Sendable () -> Void, resting: @escaping @Sendable () -> Void) {
        optimizeLater.withLock { $0 = later }
        restLater.withLock { $0 = resting }
    }

    /// Lets the connection rest, unless it was closed, when no write transaction runs; or later, when it has worked meanwhile.
    func rest(_ coordinator: TransactionCoordinator<SQLSession>) {
        optimizing.withLock {
            guard isOpen else { return }
            try? coordinator.write(.statement) { session in
                let later = restLater.withLock { $0 }
                if session.connection.rest() { session.restLater = later } else { later?() }
            }
        }
    }

    /// Optimizes the database, unless it was closed, when no write transaction runs.
    func optimize(_ coordinator: TransactionCoordinator<SQLSession>) {
        // What fails now, such as because another process writes, is tried again after a later commit.
        optimizing.withLock {
            // A suspended database is left alone.
            guard isOpen else { return }
            try? coordinator.write(.statement) { session in
                session.optimizeLater = optimizeLater.withLock { $0 }
                try session.connection.optimize()
            }
        }
    }

    func get() throws -> SQLSession {
        if isSuspended.load(ordering: .acquiring) { try open() }
        guard let session = session.withLock({ $0 }) else {
            throw engine.writeRefusal ?? StorageError.readOnly(engine.traits.path)
        }
        return session
    }

    func close() {
        optimizing.withLock {
            session.withLock { session in
                session?.connection.willClose()
                session = nil
            }
        }
    }
}
