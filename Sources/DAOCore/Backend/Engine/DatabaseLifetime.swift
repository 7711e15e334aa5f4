import Foundation
import Synchronization

/// The time in which one database is open: calls pass through it, and closing waits for them (contract L2).
///
/// Every ``Database`` has one of its own, also where several share an engine: each is closed alone.
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
/// A call costs two atomic additions.
public final class DatabaseLifetime<Handle: TransactionHandle>: Sendable {
    /// The transactions of the engine.
    public let transactions: TransactionCoordinator<Handle>
    private let path: String?
    private let release: @Sendable () -> Void
    @usableFromInline let gate = CallGate()
    /// Whether every call has left after the gate was closed.
    private let isDrained = Atomic<Bool>(false)
    /// What holds a snapshot of the engine. Closing ends it.
    private let snapshots = Mutex<(lastID: Int, ends: [Int: @Sendable () -> Void])>((0, [:]))

    /// Begins the lifetime of a database whose engine is open.
    ///
    /// - Parameters:
    ///   - transactions: The transactions of the engine.
    ///   - path: The path that errors name; nil when there is none.
    ///   - release: Lets go of the engine. Called once, when the database is closed or its last reference is dropped.
    public init(_ transactions: TransactionCoordinator<Handle>, path: String?, release: @escaping @Sendable () -> Void) {
        self.transactions = transactions
        self.path = path
        self.release = release
    }

    deinit { if gate.close() { end() } }

    /// The state of the engine.
    public var engineState: EngineState { transactions.engineState }

    /// Runs a call, unless the database is closed. Closing waits for it.
    ///
    /// A call inside a transaction runs even when another thread has begun to close the database: closing waits for the
    /// transaction, which finds the database open to its end.
    ///
    /// - Throws: `.closed`, or what the body throws.
    @inlinable public func call<Result>(_ body: () throws -> Result) throws -> Result {
        if gate.enter() {
            defer { gate.leave() }
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
            throw StorageError(.closed, "the database is closed: open it again to use it", path: path)
        }
    }

    /// Keeps a snapshot that outlives its call, so that closing the database ends it.
    ///
    /// - Parameter end: Ends the snapshot. Called once, by ``endSnapshot(_:)`` or by closing.
    /// - Returns: The number to end it by.
    public func keepSnapshot(_ end: @escaping @Sendable () -> Void) -> Int {
        snapshots.withLock { snapshots in
            snapshots.lastID += 1
            snapshots.ends[snapshots.lastID] = end
            return snapshots.lastID
        }
    }

    /// Ends a snapshot, unless it has ended.
    public func endSnapshot(_ id: Int) { snapshots.withLock { $0.ends.removeValue(forKey: id) }?() }

    /// Closes the database: waits for running calls, ends snapshots, wakes observers, and lets go of the engine.
    /// Closing again does nothing.
    ///
    /// - Throws: `.invalidTransaction` from inside a transaction of the engine.
    public func close() throws {
        if transactions.isInside {
            throw StorageError(
                .invalidTransaction, "a database cannot be closed inside its own transaction: close it afterwards", path: path)
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

/// Lets calls in until the database is closed, and lets closing wait for the calls inside.
@usableFromInline final class CallGate: Sendable {
    /// Twice the number of calls inside, plus one once it is closed.
    private let state = Atomic<Int>(0)
    private let drained = DispatchSemaphore(value: 0)

    init() {}

    /// Lets a call in, unless the gate is closed; ``leave()`` has to follow.
    ///
    /// - Returns: Whether the call is inside.
    @usableFromInline func enter() -> Bool {
        let before = state.add(2, ordering: .acquiringAndReleasing).oldValue
        if before & 1 == 0 { return true }
        leave()
        return false
    }

    /// Lets a call out.
    @usableFromInline func leave() {
        if state.subtract(2, ordering: .acquiringAndReleasing).newValue == 1 { drained.signal() }
    }

    /// Closes the gate and waits until every call inside has left.
    ///
    /// - Returns: False when it was closed before.
    func close() -> Bool {
        let before = state.bitwiseOr(1, ordering: .acquiringAndReleasing).oldValue
        if before & 1 == 1 { return false }
        while state.load(ordering: .acquiring) != 1 { drained.wait() }
        return true
    }
}
