import Dispatch

/// What an observer passes on to whoever stands below it.
enum Event<Model: Sendable>: Sendable {
    case data(Model)
    case error(any Error)
    case cancelled
    /// Nothing more will come.
    case finished
}

/// A call to a listener that has been decided on and not made yet.
struct Delivery: Sendable {
    /// Whether it tells of an outcome, so that a cancellation takes it back.
    let isRevocable: Bool
    let call: @Sendable () -> Void
}

/// First in, first out.
struct DeliveryQueue {
    // A delivery that has been taken out leaves nil behind, so that it is released by whoever took it.
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

    /// Takes out what a cancellation revokes, and returns it, so that it is released outside of the lock.
    mutating func removeRevocable() -> [Delivery] {
        let pending = deliveries[head...].compactMap { $0 }
        deliveries = pending.filter { !$0.isRevocable }
        head = 0
        return pending.filter(\.isRevocable)
    }
}

/// Everything an observer has to remember; its owner guards it with a lock.
///
/// Listeners are chosen when something happens, not when it is delivered: who subscribes before an emission gets it live, who
/// subscribes after it gets it from the slot, and nobody gets it twice.
struct EmissionState<Model: Sendable> {
    /// Whether every listener is kept, or one for each kind of event.
    let isMulticast: Bool
    /// Whether every outcome waits for a listener, or the latest one.
    var keepsAll: Bool
    /// Where listeners are called; nil for the thread that emits.
    var queue: DispatchQueue?

    private(set) var listeners = Listeners<Model>()
    /// The outcomes a late listener is told: the latest one, or all that nobody has been told yet.
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

    /// - Returns: the outcomes that were replaced, to be released outside of the lock.
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

    /// Nothing more will come, so that there is nothing left above to cancel.
    ///
    /// - Returns: the ways up, to be released outside of the lock.
    mutating func finish() -> [@Sendable () -> Void] {
        guard !isCancelled, !isFinished else { return [] }
        isFinished = true
        for listener in listeners.finished { pending.append(Delivery(isRevocable: true, call: listener)) }
        defer { upstreams = [:] }
        return Array(upstreams.values)
    }

    /// - Returns: what to call and what to let go of, outside of the lock.
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

    /// Each of these returns the listeners before it, to be released outside of the lock.

    /// Adds the given listeners, or puts each in the place of its kind, and tells them what has been waiting, in order.
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

    // MARK: Standing below others

    /// Remembers how to cancel what this observer gets its outcomes from, unless nothing more comes from there; nil when it is cancelled
    /// already.
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

/// The closures that wait for an observer's events.
struct Listeners<Model: Sendable>: Sendable {
    var completed: [@Sendable (Model) -> Void] = []
    var failed: [@Sendable (any Error) -> Void] = []
    var cancelled: [@Sendable () -> Void] = []
    var deferred: [@Sendable () -> Void] = []
    var finished: [@Sendable () -> Void] = []
}
