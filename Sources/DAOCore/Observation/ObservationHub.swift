import Synchronization

/// Tells observations which entities a commit touched. Every engine instance has one.
///
/// It says no more than that: an observation reads its query again and finds out by itself whether its result changed, so that commits of this
/// process, commits of another and rolled-back savepoints are all the same to it.
public final class ObservationHub: Sendable {
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

    /// The relationships of the engine instance.
    let relations = RelationRegistry()

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

    /// Adds an observer.
    ///
    /// - Parameters:
    ///   - entities: The entities it looks at.
    ///   - wake: Called after commits that touch them, from any thread; returns at once.
    /// - Returns: What to remove it by.
    func add(_ entities: Set<String>, wake: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.nextID += 1
            state.observers[state.nextID] = Observer(entities: entities, wake: wake)
            count.store(state.observers.count, ordering: .relaxed)
            return state.nextID
        }
    }

    /// Removes an observer.
    func remove(_ id: Int) {
        state.withLock { state in
            state.observers[id] = nil
            count.store(state.observers.count, ordering: .relaxed)
        }
    }

    private func wake(_ isConcerned: (Observer) -> Bool) {
        let observers = state.withLock { $0.observers.values.filter(isConcerned) }
        for observer in observers { observer.wake() }
    }
}
