/// The transaction of an engine, for reading or writing. A ``TransactionCoordinator`` runs it.
public protocol TransactionHandle: AnyObject {
    /// Makes the writes durable and ends the transaction.
    func commit() throws
    /// Rolls back the writes, if any, and ends the transaction.
    func rollback()
    /// Begins a savepoint. Savepoints can be nested.
    func beginSavepoint() throws
    /// Ends the innermost savepoint and keeps its writes.
    func releaseSavepoint() throws
    /// Ends the innermost savepoint and rolls back its writes.
    func rollbackSavepoint() throws
}

/// The transaction rules of the contract for any engine: a single writer, concurrent readers, joining,
/// savepoints, and the detection of misuse.
///
/// A backend has one coordinator for each engine instance and gets the handle of every call from it.
public final class TransactionCoordinator<Handle: TransactionHandle>: Sendable {
    private var observations: ObservationHub { engineState.observations }
    private var relations: RelationRegistry { engineState.relations }
    private let beginWriting: @Sendable () throws -> Handle
    private let beginWaiting: (@Sendable (Duration) throws -> Handle)?
    private let beginReading: @Sendable () throws -> Handle
    /// Held while a write transaction runs, including its closure (contract T4).
    private let writerLock: WriterLock
    /// The entities that the running write transaction has touched. Only the thread that holds the writer's
    /// lock accesses it.
    private nonisolated(unsafe) var touched: Set<String> = []
    /// Whether the running write transaction may have touched any entity. Only the thread that holds the
    /// writer's lock accesses it.
    private nonisolated(unsafe) var hasTouchedAll = false

    /// The state of the engine. Its observers are notified of every commit, in commit order.
    public let engineState: EngineState

    /// Creates a coordinator.
    ///
    /// - Parameters:
    ///   - engineState: The state of the engine.
    ///   - path: The path for errors; nil when there is none.
    ///   - beginWriting: Begins the write transaction. It is called while the writer's lock is held.
    ///   - beginReading: Begins a read transaction. `rollback()` ends it.
    ///   - beginWaiting: Begins the write transaction with a maximum time to wait for other processes; nil
    ///     when the engine has only one timeout.
    public init(
        _ engineState: EngineState, path: String? = nil, beginWriting: @escaping @Sendable () throws -> Handle,
        beginReading: @escaping @Sendable () throws -> Handle, beginWaiting: (@Sendable (Duration) throws -> Handle)? = nil
    ) {
        self.beginWriting = beginWriting
        self.beginReading = beginReading
        self.beginWaiting = beginWaiting
        self.engineState = engineState
        writerLock = WriterLock(path: path)
    }

    /// Runs a closure with the ambient transaction, or with a separate read transaction when there is none.
    ///
    /// The closure must not call code of the application.
    public func read<Result>(_ body: (Handle) throws -> Result) throws -> Result {
        if let ambient = try ambientHandle() { return try body(ambient.handle) }
        let handle = try beginReading()
        defer { handle.rollback() }
        return try body(handle)
    }

    /// Runs a closure atomically, with the ambient transaction, or with a new write transaction when there is
    /// none.
    ///
    /// - Parameters:
    ///   - kind: The kind of write.
    ///   - entity: The entity whose rows are written; nil when the calls in the closure report it.
    ///   - busyTimeout: The maximum time to wait for other processes; nil for the timeout of the engine.
    ///   - body: A closure that writes.
    public func write<Result>(
        _ kind: WriteKind, touching entity: String? = nil, waiting busyTimeout: Duration? = nil,
        _ body: (Handle) throws -> Result
    ) throws -> Result {
        if let ambient = try ambientHandle() {
            guard ambient.canWrite else {
                throw ObservedReads.current == nil ? StorageError.writeInsideSnapshot : .writeInsideObservation
            }
            // Inside a write transaction, this thread holds the writer's lock.
            if let entity { touched.insert(entity) }
            return kind.needsSavepoint && !ambient.isOneCall
                ? try inSavepoint(ambient.handle, body) : try body(ambient.handle)
        }
        if ObservedReads.current != nil { throw StorageError.writeInsideObservation }
        try CallTrace.waiting { try writerLock.acquire() }
        defer { writerLock.release() }
        let handle = try CallTrace.waiting {
            if let beginWaiting, let busyTimeout { try beginWaiting(busyTimeout) } else { try beginWriting() }
        }
        relations.transactionDidBegin()
        defer { relations.transactionDidEnd() }
        touched.removeAll(keepingCapacity: true)
        hasTouchedAll = false
        let result: Result
        do {
            result =
                kind.entersTransaction
                ? try enter(handle, canWrite: true, isOneCall: kind == .compositeCall, body) : try body(handle)
        } catch {
            handle.rollback()
            relations.didUndo()
            throw error
        }
        do {
            try observations.committing { try handle.commit() }
        } catch {
            relations.didUndo()
            throw error
        }
        if observations.isObserved {
            if let entity { touched.insert(entity) }
            if hasTouchedAll { observations.wakeAll() } else { observations.didCommit(touched) }
        }
        return result
    }

    /// Runs a closure of the application with the handle of the enclosing transaction or snapshot. When a
    /// closure in a transaction throws, its writes are rolled back.
    ///
    /// - Parameters:
    ///   - entities: The entities whose rows the closure may write.
    ///   - body: A closure that gets the handle. It can call the database again.
    /// - Throws: `.invalidTransaction` outside a transaction or snapshot; any error of the closure.
    public func inside<Result>(touching entities: TouchedEntities, _ body: (Handle) throws -> Result) throws -> Result {
        guard let ambient = try ambientHandle() else {
            throw StorageError.handleOutsideTransaction
        }
        guard ambient.canWrite else { return try body(ambient.handle) }
        if let names = entities.names { touched.formUnion(names) } else { hasTouchedAll = true }
        return try inSavepoint(ambient.handle, body)
    }

    private func inSavepoint<Result>(_ handle: Handle, _ body: (Handle) throws -> Result) throws -> Result {
        try handle.beginSavepoint()
        let result: Result
        do {
            result = try body(handle)
        } catch {
            relations.didUndo()
            try handle.rollbackSavepoint()
            throw error
        }
        try handle.releaseSavepoint()
        return result
    }

    /// Runs a closure in which all reads use one read transaction. Inside a transaction they use that
    /// transaction.
    public func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        if try ambientHandle() != nil { return try body() }
        let handle = try beginReading()
        defer { handle.rollback() }
        return try enter(handle, canWrite: false) { _ in try body() }
    }

    /// Begins a read transaction that outlives the call. The caller ends it with `rollback()`. The result is
    /// nil inside a transaction.
    public func beginLongRead() throws -> Handle? { try ambientHandle() == nil ? try beginReading() : nil }

    /// Runs a closure in which all reads use a long read transaction. The caller ensures that the transaction
    /// does not end in the meantime.
    public func within<Result>(_ handle: Handle, _ body: () throws -> Result) throws -> Result {
        try enter(handle, canWrite: false) { _ in try body() }
    }

    /// Whether the calling code is inside a transaction or a snapshot.
    public var isInside: Bool { AmbientTransaction.current != nil && (try? ambientHandle()) != nil }

    private func ambientHandle() throws -> (handle: Handle, canWrite: Bool, isOneCall: Bool)? {
        guard AmbientTransaction.current != nil,
            let ambient = try AmbientTransaction.find(owner: ObjectIdentifier(self))
        else { return nil }
        // Only this coordinator creates ambient transactions with its identity, and all of them contain a
        // `Handle`.
        return (unsafeDowncast(ambient.handle, to: Handle.self), ambient.canWrite, ambient.isOneCall)
    }

    private func enter<Result>(
        _ handle: Handle, canWrite: Bool, isOneCall: Bool = false, _ body: (Handle) throws -> Result
    ) throws -> Result {
        let ambient = AmbientTransaction(
            owner: ObjectIdentifier(self), engine: engineState, handle: handle, canWrite: canWrite, isOneCall: isOneCall)
        defer { ambient.end() }
        return try AmbientTransaction.$current.withValue(ambient) { try body(handle) }
    }
}
