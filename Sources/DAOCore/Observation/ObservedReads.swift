/// The entities that an observation read, and the signal that wakes it after a commit that touched one of them.
///
/// Every run records its reads anew, so that an entity that is read in some runs only is followed while it
/// matters.
final class ObservedReads: Sendable {
    /// The observation whose closure is running.
    static var current: ObservedReads? { isUsed.load(ordering: .relaxed) ? ofTask : nil }
    @TaskLocal private static var ofTask: ObservedReads?
    /// Whether an observation compares two values: References are then equal when their rows are equal, too.
    static var comparesRows: Bool { isUsed.load(ordering: .relaxed) && comparesRowsInTask }
    @TaskLocal private static var comparesRowsInTask = false
    /// Whether the process has ever observed. Where it has not, a read does not look at the task.
    private static let isUsed = Atomic(false)

    /// What is followed in an engine.
    private struct Followed: Sendable {
        let hub: ObservationHub
        let id: Int
        /// The entities that the last run read.
        var read = TouchedEntities.none
        /// The entities that commits touched during the current run. Its reads may be from before them.
        var touched = TouchedEntities.none
    }

    private struct State: Sendable {
        var engines: [ObjectIdentifier: Followed] = [:]
        var isRunning = false
    }

    /// Raised when the value may have changed. It is raised for the first run.
    let signal = Signal()
    private let state = Lock(State())
    /// The engine that is followed even when nothing of it was read, since closing it ends the observation.
    private let engine: ObjectIdentifier

    /// Begins to follow an engine.
    init(of engine: EngineState) {
        self.engine = ObjectIdentifier(engine)
        Self.isUsed.store(true, ordering: .relaxed)
        signal.raise()
        willRead(.none, in: engine)
    }

    deinit { stop { _, _ in true } }

    /// Runs a closure, and records what it reads.
    func record<Result>(_ body: () throws -> Result) throws -> Result {
        state.withLock { state in
            state.isRunning = true
            for key in state.engines.keys {
                state.engines[key]?.read = .none
                state.engines[key]?.touched = .none
            }
        }
        defer { didRun() }
        return try Self.$ofTask.withValue(self) { try body() }
    }

    /// Runs a closure that compares two values of an observation.
    static func comparingRows(_ body: () -> Bool) -> Bool { $comparesRowsInTask.withValue(true) { body() } }

    /// Records a read. It is called before the read, and before the snapshot begins that the read uses: every
    /// commit that the read does not see is then announced to this observation.
    ///
    /// - Parameters:
    ///   - entities: The entities that the result depends on.
    ///   - engine: The engine of the entities.
    func willRead(_ entities: TouchedEntities, in engine: EngineState) {
        let key = ObjectIdentifier(engine)
        let isFollowed = state.withLock { state in
            state.engines[key]?.read.formUnion(entities)
            return state.engines[key] != nil
        }
        if isFollowed { return }
        // The lock is not held here: the call can open a connection, and commits wait for the lock.
        let hub = engine.observations
        let id = hub.add { [weak self] in self?.didTouch($0, in: key) }
        let isFirst = state.withLock { state in
            let isFirst = state.engines[key] == nil
            state.engines[key, default: Followed(hub: hub, id: id)].read.formUnion(entities)
            return isFirst
        }
        if !isFirst { hub.remove(id) }
    }

    private func didTouch(_ entities: TouchedEntities, in key: ObjectIdentifier) {
        let isConcerned = state.withLock { state in
            guard state.isRunning else { return state.engines[key]?.read.overlaps(touched: entities) ?? false }
            state.engines[key]?.touched.formUnion(entities)
            return false
        }
        if isConcerned { signal.raise() }
    }

    private func didRun() {
        let isConcerned = state.withLock { state in
            state.isRunning = false
            return state.engines.values.contains { $0.read.overlaps(touched: $0.touched) }
        }
        if isConcerned { signal.raise() }
        stop { $0 != engine && $1.read == .none }
    }

    private func stop(_ isOver: (ObjectIdentifier, Followed) -> Bool) {
        let over = state.withLock { state in
            let over = state.engines.filter(isOver)
            for key in over.keys { state.engines[key] = nil }
            return over.values
        }
        for followed in over { followed.hub.remove(followed.id) }
    }
}

extension TouchedEntities {
    /// Whether a reader of these entities has to read again after a commit.
    fileprivate func overlaps(touched: TouchedEntities) -> Bool {
        guard let touched = touched.names else { return true }
        guard let names else { return !touched.isEmpty }
        return !names.isDisjoint(with: touched)
    }
}
