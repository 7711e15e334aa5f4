import Synchronization

/// Tells observations which entities a commit touched. Every engine instance has one.
///
/// It says no more than that: an observation reads its query again and finds out by itself whether its result changed, so that commits of this
/// process, commits of another and rolled-back savepoints are all the same to it.
public final class ObservationHub: Sendable {
    /// Gives a number that every commit changes, whichever process makes it, once the commit can be read. Called by one thread at a time;
    /// returns at once.
    public typealias Counter = @Sendable () throws -> UInt64
    /// Makes a counter, which is let go of when nobody observes any more.
    public typealias OpenCounter = @Sendable () throws -> Counter

    private struct Observer: Sendable {
        let entities: Set<String>
        let wake: @Sendable () -> Void
    }

    private struct State: Sendable {
        var observers: [Int: Observer] = [:]
        var nextID = 0
    }

    private let state = Mutex(State())
    private let count = Atomic<Int>(0)
    private let others = CommitWatch()

    /// Creates a hub without observers.
    public init() {}

    /// Whether anybody observes. Costs one atomic load.
    public var isObserved: Bool { count.load(ordering: .relaxed) > 0 }

    /// Wakes the observers of these entities. Called in the order of commits.
    public func didCommit(_ entities: Set<String>) {
        guard isObserved else { return }
        wake { !$0.entities.isDisjoint(with: entities) }
    }

    /// Wakes every observer: the database was closed, or somebody may have committed who does not tell.
    public func wakeAll() { wake { _ in true } }

    /// Lets observers learn of commits by other processes, within a tenth of a second. Called once, before anybody observes.
    ///
    /// - Parameter open: How to count commits while somebody observes.
    public func watchOthers(_ open: @escaping OpenCounter) { others.set(open) }

    /// Stops counting commits. Called before the engine is closed; no counter runs when it returns.
    public func stopWatchingOthers() { others.stop(forGood: true) }

    /// Says that the counter changed because of a commit of this process. Without it observers look once more, and find nothing.
    ///
    /// - Parameters:
    ///   - before: The count before the commit.
    ///   - after: The count that the commit made of it, when nobody else committed in between.
    public func didCommitHere(from before: UInt64, to after: UInt64) {
        if isObserved { others.didCommitHere(from: before, to: after) }
    }

    /// Runs a commit of this process, in which ``didCommitHere(from:to:)`` may be called.
    @inline(__always) func committing(_ commit: () throws -> Void) rethrows {
        guard isObserved else { return try commit() }
        others.isCommitting.store(true, ordering: .releasing)
        defer { others.isCommitting.store(false, ordering: .releasing) }
        try commit()
    }

    /// Adds an observer.
    ///
    /// - Parameters:
    ///   - entities: The entities it looks at.
    ///   - wake: Called after commits that touch them, from any thread; returns at once.
    /// - Returns: What to remove it by.
    func add(_ entities: Set<String>, wake: @escaping @Sendable () -> Void) -> Int {
        let id = state.withLock { state in
            state.nextID += 1
            state.observers[state.nextID] = Observer(entities: entities, wake: wake)
            count.store(state.observers.count, ordering: .relaxed)
            return state.nextID
        }
        // Not with the lock held: it may open a connection, and commits wake observers.
        others.start { [weak self] in self?.wakeAll() }
        // Whoever left meanwhile was perhaps the last, and has found nothing to stop.
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

    private func wake(_ isConcerned: (Observer) -> Bool) {
        let observers = state.withLock { $0.observers.values.filter(isConcerned) }
        for observer in observers { observer.wake() }
    }
}
