import DAOCore
import Synchronization

/// The state that all databases on an engine share in this process: the connection for writing, the pool of
/// connections for reading, and the known tables.
///
/// A driver keeps its instances in ``DAOCore/SharedInstances``, and creates an ``SQLDatabase`` for each
/// configuration.
public final class SQLInstance: Sendable {
    /// The engine.
    package let engine: any SQLEngine
    /// Transactions and their rules.
    package let coordinator: TransactionCoordinator<SQLSession>
    /// The engine's way of writing.
    let dialect: any SQLDialect
    /// The table in which the database describes itself.
    let catalog: SQLCatalog
    /// The path that errors name.
    let path: String
    /// The tables that were found or made, by the name of the entity, one for each model.
    let tables = Mutex<[String: [KnownTable]]>([:])
    /// The version of the catalog that the known tables were last compared with.
    let catalogVersion = Atomic<UInt64>(.max)
    /// The relationships whose links were found or made.
    let links = Mutex<[RelationDescription: KnownLinks]>([:])
    /// Counts the tables.
    let numbers = Atomic<Int>(0)

    private let writer: WriterSession
    private let readers: SessionPool

    /// Creates an instance. It owns the engine.
    ///
    /// - Parameters:
    ///   - engine: The engine.
    ///   - writes: Whether to open the connection that writes now; else it is opened with the first database
    ///     that writes.
    /// - Throws: The error of the engine when it cannot connect or finds damage. The engine is closed then.
    public init(_ engine: any SQLEngine, writes: Bool) throws {
        let path = engine.traits.path
        let state = EngineState(name: path)
        let writer = WriterSession(engine, state.observations)
        let readers = SessionPool { SQLSession(try engine.connect(.read), path: path) }
        self.engine = engine
        self.writer = writer
        self.readers = readers
        self.path = path
        dialect = engine.dialect
        catalog = SQLCatalog(dialect: engine.dialect)
        coordinator = TransactionCoordinator(
            state, beginWriting: { try writer.get() }, beginReading: { try readers.take() })
        do {
            if let open = engine.commitCounter { state.observations.watchOthers(open) }
            if writes { try writer.open() }
            try coordinator.read { try engine.check($0.connection) }
        } catch {
            close()
            throw error
        }
    }

    /// Opens the connection that writes, if only readers were open so far.
    func openWriter() throws { try writer.open() }

    /// Closes the connections, the writer last, and the engine.
    public func close() {
        coordinator.engineState.observations.stopWatchingOthers()
        readers.close()
        writer.close()
        engine.close()
    }

    /// Begins the write transaction of a call.
    ///
    /// - Parameters:
    ///   - session: The session that writes.
    ///   - settings: Those of the database whose call it is.
    ///   - scope: How much is written.
    @inline(__always) func begin(_ session: SQLSession, _ settings: SQLWriteSettings, _ scope: SQLWrite.Scope = .any) throws {
        let isObserved = coordinator.engineState.observations.isObserved
        try session.connection.beginWriting(SQLWrite(scope: scope, settings: settings, isObserved: isObserved))
        // A single statement that stores no new row needs no column but those it names.
        if scope != .statement { try checkCatalog(session) }
    }
}

/// The one session that writes, opened when it is first wanted.
private final class WriterSession: Sendable {
    private let engine: any SQLEngine
    private let observations: ObservationHub
    private let session = Mutex<SQLSession?>(nil)

    init(_ engine: any SQLEngine, _ observations: ObservationHub) {
        self.engine = engine
        self.observations = observations
    }

    func open() throws {
        try session.withLock { session in
            guard session == nil else { return }
            session = SQLSession(try engine.connect(.write), path: engine.traits.path, observations: observations)
        }
    }

    func get() throws -> SQLSession {
        guard let session = session.withLock({ $0 }) else {
            throw StorageError.readOnly(engine.traits.path)
        }
        return session
    }

    func close() { session.withLock { $0 = nil } }
}
