/// Notifies observations of the entities that a commit touched. Every engine instance has a hub.
///
/// A notification contains no more information. An observation reads its query again and detects a changed
/// result itself. It therefore treats commits of this process, commits of other processes and rolled-back
/// savepoints alike.
public final class ObservationHub: Sendable {
    /// Returns a number that every commit of any process changes, once the commit is visible. Only one thread
    /// calls it at a time. It must return immediately.
    public typealias Counter = @Sendable () throws -> UInt64
    /// Opens a counter. The counter is released when the last observer is removed.
    public typealias OpenCounter = @Sendable () throws -> Counter

    private struct State: Sendable {
        var observers: [Int: @Sendable (TouchedEntities) -> Void] = [:]
        var nextID = 0
    }

    private let state = Lock(State())
    private let count = Atomic<Int>(0)
    private let others = CommitWatch()

    /// Creates a hub without observers.
    public init() {}

    /// Whether any observer exists. The cost is one atomic load.
    public var isObserved: Bool { count.load(ordering: .relaxed) > 0 }

    /// Wakes the observers of the given entities. It must be called in commit order.
    public func didCommit(_ entities: Set<String>) {
        if isObserved { notify(TouchedEntities(names: entities)) }
    }

    /// Wakes all observers: the database was closed, or an unreported commit may have happened.
    public func wakeAll() { notify(.all) }

    /// Enables the detection of commits of other processes, within a tenth of a second. It must be called
    /// once, before any observer is added.
    ///
    /// - Parameter open: A closure that opens a counter of commits while observers exist.
    public func watchOthers(_ open: @escaping OpenCounter) { others.set(open) }

    /// Ends the detection of commits. It must be called before the engine is closed. No counter is running
    /// when it returns.
    public func stopWatchingOthers() { others.stop(forGood: true) }

    /// Pauses the detection of commits of other processes, and releases the counter, until ``resumeWatchingOthers()``.
    public func pauseWatchingOthers() { others.pause() }

    /// Continues the detection of commits of other processes. Commits that were made in the pause wake observers.
    public func resumeWatchingOthers() { others.resume() }

    /// Attributes a change of the counter to a commit of this process. Without this call, observers read once
    /// more and find no change.
    ///
    /// - Parameters:
    ///   - before: The counter before the commit.
    ///   - after: The counter after the commit, when no other process committed in between.
    public func didCommitHere(from before: UInt64, to after: UInt64) {
        if isObserved { others.didCommitHere(from: before, to: after) }
    }

    /// Runs a commit of this process. The closure can call ``didCommitHere(from:to:)``.
    @inline(__always) func committing(_ commit: () throws -> Void) rethrows {
        guard isObserved else { return try commit() }
        others.isCommitting.store(true, ordering: .releasing)
        defer { others.isCommitting.store(false, ordering: .releasing) }
        try commit()
    }

    /// Adds an observer.
    ///
    /// - Parameter notify: A closure that is called after every commit with the entities that it touched, from any
    ///   thread. It must return immediately.
    /// - Returns: The id for ``remove(_:)``.
    func add(_ notify: @escaping @Sendable (TouchedEntities) -> Void) -> Int {
        let id = state.withLock { state in
            state.nextID += 1
            state.observers[state.nextID] = notify
            count.store(state.observers.count, ordering: .relaxed)
            return state.nextID
        }
        // The lock is not held here: the call can open a connection, and commits wake observers.
        others.start { [weak self] in self?.wakeAll() }
        // The last observer may have been removed in the meantime, before the watch was started.
        state.withLock { if $0.observers.isEmpty { others.stop() } }
        return id
    }

    /// Removes an observer.
    func remove(_ id: Int) {
        state.withLock { state in
            state.observers[id] = nil
            count.store(state.observers.count, ordering: .relaxed)
            if state.observers.isEmpty { others.stop() }
        }
    }

    private func notify(_ entities: TouchedEntities) {
        for notify in state.withLock({ $0.observers.values }) { notify(entities) }
    }
}
