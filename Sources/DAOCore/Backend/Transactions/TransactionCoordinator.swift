import Foundation

/// What a ``TransactionCoordinator`` runs: a transaction of an engine, for reading or for writing.
public protocol TransactionHandle: AnyObject {
    /// Makes the writes durable and ends the transaction.
    func commit() throws
    /// Undoes the writes, if any, and ends the transaction.
    func rollback()
    /// Begins a savepoint; they nest.
    func beginSavepoint() throws
    /// Ends the innermost savepoint and keeps its writes.
    func releaseSavepoint() throws
    /// Ends the innermost savepoint and undoes its writes.
    func rollbackSavepoint() throws
}

/// Transactions as the contract has them, on any engine: one writer at a time, readers beside it, joining, savepoints, misuse.
///
/// A backend has one for each engine instance, and asks it for a handle in every call.
public final class TransactionCoordinator<Handle: TransactionHandle>: Sendable {
    private var observations: ObservationHub { engineState.observations }
    private var relations: RelationRegistry { engineState.relations }
    private let beginWriting: @Sendable () throws -> Handle
    private let beginWaiting: (@Sendable (Duration) throws -> Handle)?
    private let beginReading: @Sendable () throws -> Handle
    /// Held for as long as a write transaction runs, its body included (contract T4).
    private let writerLock = NSLock()
    /// The entities that the running write transaction has touched. Only used with the writer's lock held, by its thread.
    private nonisolated(unsafe) var touched: Set<String> = []
    /// Whether it may have touched any entity at all. As `touched`.
    private nonisolated(unsafe) var hasTouchedAll = false

    /// The state of the engine. Its observers learn of every commit, in the order of the commits.
    public let engineState: EngineState

    /// Creates a coordinator.
    ///
    /// - Parameters:
    ///   - engineState: The state of the engine.
    ///   - beginWriting: Begins the one write transaction. Called with the writer's lock held.
    ///   - beginReading: Begins a read transaction. It is ended with `rollback()`.
    ///   - beginWaiting: Begins the one write transaction where the caller says how long to wait for other processes; nil when an engine's
    ///     transactions all wait as long.
    public init(
        _ engineState: EngineState, beginWriting: @escaping @Sendable () throws -> Handle,
        beginReading: @escaping @Sendable () throws -> Handle, beginWaiting: (@Sendable (Duration) throws -> Handle)? = nil
    ) {
        self.beginWriting = beginWriting
        self.beginReading = beginReading
        self.beginWaiting = beginWaiting
        self.engineState = engineState
    }

    /// Runs a body with the ambient transaction, or else with a read transaction of its own.
    ///
    /// The body does not call code of the application.
    public func read<Result>(_ body: (Handle) throws -> Result) throws -> Result {
        if let ambient = try ambientHandle() { return try body(ambient.handle) }
        let handle = try beginReading()
        defer { handle.rollback() }
        return try body(handle)
    }

    /// Runs a body with the ambient transaction, or else with a new write transaction: atomically in either case.
    ///
    /// - Parameters:
    ///   - kind: What the body does.
    ///   - entity: The entity whose rows are written; nil when the calls inside the body tell.
    ///   - busyTimeout: How long to wait for other processes; nil for the engine's own time limit.
    ///   - body: The writes.
    public func write<Result>(
        _ kind: WriteKind, touching entity: String? = nil, waiting busyTimeout: Duration? = nil,
        _ body: (Handle) throws -> Result
    ) throws -> Result {
        if let ambient = try ambientHandle() {
            guard ambient.canWrite else {
                throw StorageError(.invalidTransaction, "nothing can be written inside a snapshot: use a transaction")
            }
            // Inside a write transaction this thread holds the writer's lock.
            if let entity { touched.insert(entity) }
            return kind.needsSavepoint && !ambient.isOneCall
                ? try inSavepoint(ambient.handle, body) : try body(ambient.handle)
        }
        writerLock.lock()
        defer { writerLock.unlock() }
        let handle =
            if let beginWaiting, let busyTimeout { try beginWaiting(busyTimeout) } else { try beginWriting() }
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

    /// Runs a body of the application's with the handle of the transaction or snapshot it is inside of. What a body in a transaction
    /// writes before it throws is undone.
    ///
    /// - Parameters:
    ///   - entities: Whose rows the body may write.
    ///   - body: Gets the handle, and may call the database again.
    /// - Throws: `.invalidTransaction` outside of one; what the body throws.
    public func inside<Result>(touching entities: TouchedEntities, _ body: (Handle) throws -> Result) throws -> Result {
        guard let ambient = try ambientHandle() else {
            throw StorageError(
                .invalidTransaction,
                "the engine's own handle is given inside a transaction or a snapshot only: begin one around this")
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

    /// Runs a body in which every read uses one read transaction; inside a transaction it is that one.
    public func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        if try ambientHandle() != nil { return try body() }
        let handle = try beginReading()
        defer { handle.rollback() }
        return try enter(handle, canWrite: false) { _ in try body() }
    }

    /// A read transaction that outlives the call: the caller ends it with `rollback()`. Nil inside a transaction.
    public func beginLongRead() throws -> Handle? { try ambientHandle() == nil ? try beginReading() : nil }

    /// Runs a body in which every read uses a long read transaction. The caller makes sure that nobody ends it meanwhile.
    public func within<Result>(_ handle: Handle, _ body: () throws -> Result) throws -> Result {
        try enter(handle, canWrite: false) { _ in try body() }
    }

    /// Whether the calling code is inside a transaction or a snapshot.
    public var isInside: Bool { AmbientTransaction.current != nil && (try? ambientHandle()) != nil }

    private func ambientHandle() throws -> (handle: Handle, canWrite: Bool, isOneCall: Bool)? {
        guard AmbientTransaction.current != nil,
            let ambient = try AmbientTransaction.find(owner: ObjectIdentifier(self))
        else { return nil }
        // Only this coordinator makes ambient transactions with its identity, all of them around a `Handle`.
        return (unsafeDowncast(ambient.handle, to: Handle.self), ambient.canWrite, ambient.isOneCall)
    }

    private func enter<Result>(
        _ handle: Handle, canWrite: Bool, isOneCall: Bool = false, _ body: (Handle) throws -> Result
    ) throws -> Result {
        let ambient = AmbientTransaction(
            owner: ObjectIdentifier(self), handle: handle, canWrite: canWrite, isOneCall: isOneCall)
        defer { ambient.end() }
        return try AmbientTransaction.$current.withValue(ambient) { try body(handle) }
    }
}
