import Dispatch

/// An event that an observer passes to the observers and listeners below it.
enum Event<Model: Sendable>: Sendable {
    case data(Model)
    case error(any Error)
    case cancelled
    /// No more events follow.
    case finished
}

/// A pending call of a listener.
struct Delivery: Sendable {
    /// Whether the call delivers an outcome, which a cancellation revokes.
    let isRevocable: Bool
    let call: @Sendable () -> Void
}

/// A first-in, first-out queue.
struct DeliveryQueue {
    // A removed delivery is replaced by nil, so that the caller that removed it releases it.
    private var deliveries: [Delivery?] = []
    private var head = 0

    var isEmpty: Bool { head == deliveries.count }

    mutating func append(_ delivery: Delivery) {
        deliveries.append(delivery)
    }

    mutating func popFirst() -> Delivery? {
        guard !isEmpty else { return nil }
        let delivery = deliveries[head]
        deliveries[head] = nil
        head += 1
        if isEmpty {
            deliveries.removeAll(keepingCapacity: deliveries.count < 64)
            head = 0
        }
        return delivery
    }

    /// Removes the deliveries that a cancellation revokes and returns them, so that they are released outside
    /// the lock.
    mutating func removeRevocable() -> [Delivery] {
        let pending = deliveries[head...].compactMap { $0 }
        deliveries = pending.filter { !$0.isRevocable }
        head = 0
        return pending.filter(\.isRevocable)
    }
}

/// The state of an observer. The owner protects it with a lock.
///
/// Listeners are selected when an event occurs, not when it is delivered. A listener that subscribes before
/// an emission receives it live, a listener that subscribes afterwards receives it from the slot, and no
/// listener receives it twice.
struct EmissionState<Model: Sendable> {
    /// Whether every listener is kept, or only one for each kind of event.
    let isMulticast: Bool
    /// Whether every outcome waits for a listener, or only the latest.
    var keepsAll: Bool
    /// The queue of the listeners; nil for the emitting thread.
    var queue: DispatchQueue?

    private(set) var listeners = Listeners<Model>()
    /// The outcomes for a late listener: the latest outcome, or all outcomes that have not been delivered.
    private var slot: [Result<Model, any Error>] = []
    private var hasEmitted = false
    private var owesDefer = false
    private var owesCancelled = false
    private(set) var isCancelled = false
    private(set) var isFinished = false
    private var upstreams: [Int: @Sendable () -> Void] = [:]
    private var nextUpstream = 0

    var pending = DeliveryQueue()
    var isDelivering = false

    init(isMulticast: Bool, keepsAll: Bool, queue: DispatchQueue?) {
        self.isMulticast = isMulticast
        self.keepsAll = keepsAll
        self.queue = queue
    }

    // MARK: Emitting

    /// - Returns: the replaced outcomes, to be released outside the lock.
    mutating func emit(_ outcome: Result<Model, any Error>) -> [Result<Model, any Error>] {
        guard !isCancelled, !isFinished else { return [] }
        var replaced: [Result<Model, any Error>] = []
        if !keepsAll {
            replaced = slot
            slot = [outcome]
        } else if !hasListener(for: outcome) {
            slot.append(outcome)
        }
        hasEmitted = true
        deliver(outcome, to: listeners)
        owesDefer = listeners.deferred.isEmpty
        for listener in listeners.deferred { pending.append(Delivery(isRevocable: true, call: listener)) }
        return replaced
    }

    private func hasListener(for outcome: Result<Model, any Error>) -> Bool {
        switch outcome {
        case .success: !listeners.completed.isEmpty
        case .failure: !listeners.failed.isEmpty
        }
    }

    private mutating func deliver(_ outcome: Result<Model, any Error>, to listeners: Listeners<Model>) {
        switch outcome {
        case .success(let data):
            for listener in listeners.completed { pending.append(Delivery(isRevocable: true) { listener(data) }) }
        case .failure(let error):
            for listener in listeners.failed { pending.append(Delivery(isRevocable: true) { listener(error) }) }
        }
    }

    /// Marks the observer as finished. Its sources need no cancellation afterwards.
    ///
    /// - Returns: the cancellation closures of the sources, to be released outside the lock.
    mutating func finish() -> [@Sendable () -> Void] {
        guard !isCancelled, !isFinished else { return [] }
        isFinished = true
        for listener in listeners.finished { pending.append(Delivery(isRevocable: true, call: listener)) }
        defer { upstreams = [:] }
        return Array(upstreams.values)
    }

    /// - Returns: the closures to call and the values to release, outside the lock.
    mutating func cancel() -> (upstreams: [@Sendable () -> Void], released: [Any]) {
        guard !isCancelled else { return ([], []) }
        isCancelled = true
        let released: [Any] = [pending.removeRevocable(), listeners, slot]
        slot = []
        owesCancelled = listeners.cancelled.isEmpty
        for listener in listeners.cancelled { pending.append(Delivery(isRevocable: false, call: listener)) }
        owesDefer = listeners.deferred.isEmpty
        for listener in listeners.deferred { pending.append(Delivery(isRevocable: false, call: listener)) }
        listeners = Listeners()
        defer { upstreams = [:] }
        return (Array(upstreams.values), released)
    }

    // MARK: Subscribing

    /// Each of these methods returns the previous listeners, to be released outside the lock.

    /// Adds the given listeners, or replaces the listener of each kind, and delivers the waiting outcomes in
    /// order.
    mutating func subscribe(_ added: Listeners<Model>) -> Listeners<Model> {
        let before = listeners
        guard !isCancelled else { return before }
        if !added.completed.isEmpty { listeners.completed = kept(listeners.completed) + added.completed }
        if !added.failed.isEmpty { listeners.failed = kept(listeners.failed) + added.failed }
        if !added.finished.isEmpty { listeners.finished = kept(listeners.finished) + added.finished }
        for outcome in slot { deliver(outcome, to: added) }
        if !isMulticast {
            slot.removeAll { outcome in
                switch outcome {
                case .success: !added.completed.isEmpty
                case .failure: !added.failed.isEmpty
                }
            }
        }
        if isFinished {
            for listener in added.finished { pending.append(Delivery(isRevocable: true, call: listener)) }
        }
        return before
    }

    private func kept<Listener>(_ listeners: [Listener]) -> [Listener] {
        isMulticast ? listeners : []
    }

    mutating func subscribe(cancelled listener: @escaping @Sendable () -> Void) -> Listeners<Model> {
        let before = listeners
        if !isCancelled {
            listeners.cancelled = isMulticast ? listeners.cancelled + [listener] : [listener]
        } else if owesCancelled || isMulticast {
            owesCancelled = false
            pending.append(Delivery(isRevocable: false, call: listener))
        }
        return before
    }

    mutating func subscribe(deferred listener: @escaping @Sendable () -> Void) -> Listeners<Model> {
        let before = listeners
        if !isCancelled { listeners.deferred = isMulticast ? listeners.deferred + [listener] : [listener] }
        if owesDefer || (isMulticast && (hasEmitted || isCancelled)) {
            owesDefer = false
            pending.append(Delivery(isRevocable: !isCancelled, call: listener))
        }
        return before
    }

    mutating func unsubscribe() -> Listeners<Model> {
        defer { listeners = Listeners() }
        return listeners
    }

    // MARK: Sources

    /// Stores the closure that cancels a source, unless this observer has finished. Returns nil when this
    /// observer is already cancelled.
    mutating func link(_ upstream: @escaping @Sendable () -> Void) -> Int? {
        guard !isCancelled else { return nil }
        nextUpstream += 1
        if !isFinished { upstreams[nextUpstream] = upstream }
        return nextUpstream
    }

    mutating func unlink(_ id: Int) -> (@Sendable () -> Void)? {
        upstreams.removeValue(forKey: id)
    }
}

/// The closures that receive an observer's events.
struct Listeners<Model: Sendable>: Sendable {
    var completed: [@Sendable (Model) -> Void] = []
    var failed: [@Sendable (any Error) -> Void] = []
    var cancelled: [@Sendable () -> Void] = []
    var deferred: [@Sendable () -> Void] = []
    var finished: [@Sendable () -> Void] = []
}
