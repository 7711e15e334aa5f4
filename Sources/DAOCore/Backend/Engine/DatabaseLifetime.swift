import Foundation

/// The time while a database is open. Calls pass through it, and closing waits for them (contract L2).
///
/// Every ``Database`` has a separate lifetime, even if several databases share an engine: each is closed
/// separately.
///
/// ```swift
/// final class MyDatabase: Database {
///     let lifetime: DatabaseLifetime<MyTransaction>
///     var engineState: EngineState { lifetime.engineState }
///     func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
///         try lifetime.call { try lifetime.transactions.write(.body) { _ in try body() } }
///     }
///     func close() throws { try lifetime.close() }
/// }
/// ```
///
/// A call costs two atomic additions, to a count that other threads seldom use.
public final class DatabaseLifetime<Handle: TransactionHandle>: Sendable {
    /// The transactions of the engine.
    public let transactions: TransactionCoordinator<Handle>
    private let path: String?
    private let release: @Sendable () -> Void
    @usableFromInline let gate = CallGate()
    /// Whether all calls have ended after the gate was closed.
    private let isDrained = Atomic<Bool>(false)
    /// The objects that hold a snapshot of the engine. Closing ends them.
    private let snapshots = Lock<(lastID: Int, ends: [Int: @Sendable () -> Void])>((0, [:]))

    /// Begins the lifetime of a database whose engine is open.
    ///
    /// - Parameters:
    ///   - transactions: The transactions of the engine.
    ///   - path: The path for errors; nil when there is none.
    ///   - release: A closure that releases the engine. It is called once, when the database is closed or its
    ///     last reference is dropped.
    public init(_ transactions: TransactionCoordinator<Handle>, path: String?, release: @escaping @Sendable () -> Void) {
        self.transactions = transactions
        self.path = path
        self.release = release
    }

    deinit { if gate.close() { end() } }

    /// The state of the engine.
    public var engineState: EngineState { transactions.engineState }

    /// Runs a call, unless the database is closed. Closing waits for the call.
    ///
    /// A call inside a transaction runs even if another thread has begun to close the database. Closing waits
    /// for the transaction, so the database remains open until the transaction ends.
    ///
    /// - Throws: `.closed`; any error of the closure.
    @inlinable public func call<Result>(_ body: () throws -> Result) throws -> Result {
        if let lane = gate.enter() {
            defer { gate.leave(lane) }
            return try body()
        }
        try checkTransaction()
        return try body()
    }

    /// Runs a call that reads.
    @inlinable public func read<Result>(_ body: (Handle) throws -> Result) throws -> Result {
        try call { try transactions.read(body) }
    }

    @usableFromInline func checkTransaction() throws {
        if isDrained.load(ordering: .acquiring) || !transactions.isInside {
            throw StorageError.closed(path)
        }
    }

    /// Registers a snapshot that outlives its call, so that closing the database ends it.
    ///
    /// - Parameter end: A closure that ends the snapshot. It is called once, by ``endSnapshot(_:)`` or by
    ///   closing.
    /// - Returns: The id for ``endSnapshot(_:)``.
    public func keepSnapshot(_ end: @escaping @Sendable () -> Void) -> Int {
        snapshots.withLock { snapshots in
            snapshots.lastID += 1
            snapshots.ends[snapshots.lastID] = end
            return snapshots.lastID
        }
    }

    /// Ends a snapshot, unless it has already ended.
    public func endSnapshot(_ id: Int) { snapshots.withLock { $0.ends.removeValue(forKey: id) }?() }

    /// Closes the database: waits for running calls, ends snapshots, wakes observers and releases the engine.
    /// A second `close` does nothing.
    ///
    /// - Throws: `.invalidTransaction` inside a transaction of the engine.
    public func close() throws {
        if transactions.isInside {
            throw StorageError.closedInsideTransaction(path)
        }
        if gate.close() { end() }
    }

    private func end() {
        isDrained.store(true, ordering: .releasing)
        engineState.observations.wakeAll()
        let ends = snapshots.withLock { snapshots in
            defer { snapshots.ends = [:] }
            return snapshots.ends.values
        }
        for end in ends { end() }
        release()
    }
}

/// Admits calls until the database is closed. Closing waits for the admitted calls.
@usableFromInline struct CallGate: ~Copyable, Sendable {
    private let calls = CallLanes()
    private let isClosed = Atomic(false)
    private let ended = DispatchSemaphore(value: 0)

    init() {}

    /// Admits a call, unless the gate is closed.
    ///
    /// - Returns: The lane that the admitted call must leave; nil when it is not admitted.
    @usableFromInline func enter() -> Int? {
        let lane = ThreadLanes.own
        return calls.enter(lane) ? lane : nil
    }

    /// Ends an admitted call.
    @usableFromInline func leave(_ lane: Int) {
        if calls.leave(lane) { ended.signal() }
    }

    /// Closes the gate and waits until all admitted calls have ended.
    ///
    /// - Returns: False when the gate was already closed.
    func close() -> Bool {
        if isClosed.exchange(true, ordering: .acquiringAndReleasing) { return false }
        calls.set(isClosed: true)
        while calls.count > 0 { ended.wait() }
        return true
    }
}
