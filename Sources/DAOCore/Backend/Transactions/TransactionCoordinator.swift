import Foundation

/// The transaction of an engine, for reading or writing. A ``TransactionCoordinator`` runs it.
public protocol TransactionHandle: AnyObject {
    /// Makes the writes durable and ends the transaction.
    func commit() throws
    /// Rolls back the writes, if any, and ends the transaction.
    func rollback()
    /// Ends the transaction of a call that only read, which gives up the handle. By default it calls ``rollback()``. A backend that
    /// keeps handles for other calls can keep this one without counting a reference.
    consuming func endReading()
    /// Begins a savepoint. Savepoints can be nested.
    func beginSavepoint() throws
    /// Ends the innermost savepoint and keeps its writes.
    func releaseSavepoint() throws
    /// Ends the innermost savepoint and rolls back its writes.
    func rollbackSavepoint() throws
    /// Whether a read that failed on this handle may succeed on another one. By default false.
    func shouldReadAgain(after error: any Error) -> Bool
    /// Whether the last write of the transaction has committed it, so that nothing can undo it any more. By default false.
    var hasCommitted: Bool { get }
    /// How many bytes of the file, or of its log, cannot be used again because of snapshots: of its own for a handle that reads,
    /// of all for one that writes. Nil, the default, where the engine does not tell.
    var pinnedBytes: Int? { get }
}

extension TransactionHandle {
    /// By default it calls ``rollback()``.
    public consuming func endReading() { rollback() }

    /// By default false.
    public func shouldReadAgain(after error: any Error) -> Bool { false }

    /// By default false.
    public var hasCommitted: Bool { false }

    /// By default nil.
    public var pinnedBytes: Int? { nil }
}

/// The transaction rules of the contract for any engine: a single writer, or writers side by side, concurrent readers,
/// joining, savepoints, and the detection of misuse.
///
/// A backend has one coordinator for each engine instance and gets the handle of every call from it.
public final class TransactionCoordinator<Handle: TransactionHandle>: Sendable {
    private var observations: ObservationHub { engineState.observations }
    private var relations: RelationRegistry { engineState.relations }
    private let beginWriting: @Sendable () throws -> Handle
    private let beginWaiting: (@Sendable (Duration) throws -> Handle)?
    private let beginReading: @Sendable () throws -> Handle
    /// Held while a write transaction runs, including its closure (contract T4); nil when they run side by side.
    private let writerLock: WriterLock?
    /// How long a call is run again that meets another write transaction; nil when none can meet.
    private let conflictLimit: Duration?

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
    ///   - conflictLimit: With a value, write transactions run side by side, and the engine ends one of two that cannot both
    ///     be with `.conflict`. A call that runs no code of the application is then run again, for this time.
    public init(
        _ engineState: EngineState, path: String? = nil, beginWriting: @escaping @Sendable () throws -> Handle,
        beginReading: @escaping @Sendable () throws -> Handle, beginWaiting: (@Sendable (Duration) throws -> Handle)? = nil,
        conflictLimit: Duration? = nil
    ) {
        self.beginWriting = beginWriting
        self.beginReading = beginReading
        self.beginWaiting = beginWaiting
        self.engineState = engineState
        self.conflictLimit = conflictLimit
        writerLock = conflictLimit == nil ? WriterLock(path: path) : nil
    }

    /// Runs a closure with the ambient transaction, or with a separate read transaction when there is none.
    ///
    /// The closure must not call code of the application. It runs twice when ``TransactionHandle/shouldReadAgain(after:)`` says
    /// so.
    public func read<Result>(_ body: (Handle) throws -> Result) throws -> Result {
        if let ambient = try ambient() {
            try ambient.checkCancellation()
            return try body(handle(of: ambient))
        }
        do {
            let handle = try beginReading()
            do {
                let result = try body(handle)
                handle.endReading()
                return result
            } catch {
                let isRunAgain = handle.shouldReadAgain(after: error)
                handle.endReading()
                guard isRunAgain else { throw error }
                CallTrace.willRunAgain()
            }
        }
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
        if let ambient = try ambient() {
            guard ambient.canWrite else {
                throw ObservedReads.current == nil ? StorageError.writeInsideSnapshot : .writeInsideObservation
            }
            try ambient.checkCancellation()
            ambient.touch(entity)
            ambient.writeCount &+= 1
            let handle = handle(of: ambient)
            return kind.needsSavepoint && !ambient.isOneCall ? try inSavepoint(handle, body) : try body(handle)
        }
        if ObservedReads.current != nil { throw StorageError.writeInsideObservation }
        if AmbientTransaction.isWriting(inSetOf: engineState) { throw StorageError.transactionOfTwoTenants }
        guard let conflictLimit, kind.mayRunAgain else { return try writeOnce(kind, entity, busyTimeout, body) }
        let deadline = ContinuousClock.now + CallDeadline.remaining(of: conflictLimit)
        while true {
            do {
                return try writeOnce(kind, entity, busyTimeout, body)
            } catch let error as StorageError where error.isMeeting && .now < deadline {
                CallTrace.willRunAgain()
                // Two calls that have met do not meet again at the next moment.
                usleep(.random(in: 0...2000))
            }
        }
    }

    private func writeOnce<Result>(
        _ kind: WriteKind, _ entity: String?, _ busyTimeout: Duration?, _ body: (Handle) throws -> Result
    ) throws -> Result {
        guard let writerLock else { return try writeLocked(kind, entity, busyTimeout, body) }
        if writerLock.acquireAtOnce() {
            defer { writerLock.release() }
            return try writeLocked(kind, entity, busyTimeout, body)
        }
        // What it waits here counts when it waits for other processes next.
        let made = CallDeadline.made ?? .now
        try CallTrace.waiting { try writerLock.acquire() }
        defer { writerLock.release() }
        return try CallDeadline.$made.withValue(made) { try writeLocked(kind, entity, busyTimeout, body) }
    }

    private func writeLocked<Result>(
        _ kind: WriteKind, _ entity: String?, _ busyTimeout: Duration?, _ body: (Handle) throws -> Result
    ) throws -> Result {
        let handle = try CallTrace.waiting {
            if let beginWaiting, let busyTimeout {
                try beginWaiting(CallDeadline.remaining(of: busyTimeout))
            } else {
                try beginWriting()
            }
        }
        // Only one writer at a time can say that it has looked at the catalog.
        if writerLock != nil { relations.transactionDidBegin() }
        defer { if writerLock != nil { relations.transactionDidEnd() } }
        let ambient =
            kind.entersTransaction
            ? AmbientTransaction(
                owner: ObjectIdentifier(self), engine: engineState, handle: handle, canWrite: true,
                isOneCall: kind == .compositeCall, notesTouched: observations.isObserved) : nil
        let result: Result
        do {
            result = if let ambient { try ambient.run { try body(handle) } } else { try body(handle) }
            // The commit that now begins is not cancelled.
            if ambient != nil, !handle.hasCommitted { try CallCancellation.check() }
        } catch {
            handle.rollback()
            relations.didUndo()
            throw error
        }
        CallTrace.notePinned(handle.pinnedBytes)
        do {
            try observations.committing { try handle.commit() }
        } catch {
            relations.didUndo()
            throw error
        }
        if observations.isObserved {
            var touched = ambient?.touched ?? []
            if let entity { touched.insert(entity) }
            // Who observes since the transaction began gets to know all that it has touched.
            let isKnown = ambient.map { $0.notesTouched && !$0.hasTouchedAll } ?? true
            if isKnown { observations.didCommit(touched) } else { observations.wakeAll() }
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
        guard let ambient = try ambient() else {
            throw StorageError.handleOutsideTransaction
        }
        let handle = handle(of: ambient)
        guard ambient.canWrite else { return try body(handle) }
        ambient.writeCount &+= 1
        if let names = entities.names { ambient.touched.formUnion(names) } else { ambient.hasTouchedAll = true }
        return try inSavepoint(handle, body)
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
        if try ambient() != nil { return try body() }
        let handle = try beginReading()
        defer {
            CallTrace.notePinned(handle.pinnedBytes)
            handle.rollback()
        }
        return try within(handle, body)
    }

    /// Begins a read transaction that outlives the call. The caller ends it with `rollback()`. The result is
    /// nil inside a transaction.
    public func beginLongRead() throws -> Handle? { try ambient() == nil ? try beginReading() : nil }

    /// Runs a closure in which all reads use a long read transaction. The caller ensures that the transaction
    /// does not end in the meantime.
    public func within<Result>(_ handle: Handle, _ body: () throws -> Result) throws -> Result {
        let ambient = AmbientTransaction(owner: ObjectIdentifier(self), engine: engineState, handle: handle, canWrite: false)
        return try ambient.run(body)
    }

    /// Whether the calling code is inside a transaction or a snapshot.
    public var isInside: Bool { (try? ambient()) != nil }

    @inline(__always) private func ambient() throws -> AmbientTransaction? {
        try AmbientTransaction.find(owner: ObjectIdentifier(self))
    }

    @inline(__always) private func handle(of ambient: AmbientTransaction) -> Handle {
        // Only this coordinator creates ambient transactions with its identity, and all of them contain a
        // `Handle`.
        unsafeDowncast(ambient.handle, to: Handle.self)
    }
}

extension StorageError {
    /// Whether the engine has ended the transaction because another one ran beside it.
    fileprivate var isMeeting: Bool { kind == .conflict && engineCode != nil }
}
