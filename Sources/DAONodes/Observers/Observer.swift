import DAOTransport
import Dispatch

/// The result of a node: something that emits data or an error now, later, or several times.
///
/// An observer is what the caller holds; the node holds it as a ``Context`` and emits. Work starts when the node is asked to
/// process, whether anybody listens or not. What was emitted before anybody listened is kept for the first who does.
///
/// ```swift
/// loadDialogs.process()
///     .map { dialogs in dialogs.count }
///     .onCompleted { count in print("\(count) dialogs") }
///     .onError { error in print("failed: \(error)") }
///     .onCancelled { print("never mind") }
///     .defer { print("that was it") }
/// ```
///
/// **Listeners.** There is one for each kind of event: a second `onCompleted` replaces the first. Use ``multicast()`` for
/// several. A listener that comes late is called at once, on its own thread, with the latest outcome nobody has been given
/// late yet; data replaces an error and the other way round. An outcome that was delivered to a listener as it happened stays
/// available to one that replaces it. A few observers keep every outcome until somebody listens; they say so, and so does what
/// the operators make of them.
///
/// **Threads.** Everything may be called from any thread. Listeners are called one at a time and in the order in which things
/// happened, without any lock held: on the thread that emits (or subscribes late), or, when another thread is in the middle of
/// delivering, on that one, right after. ``dispatch(on:)`` moves them to a queue.
///
/// **Cancellation.** After ``cancel()`` nothing but `onCancelled` and `defer` is called, each once. It travels up to whatever
/// the outcomes come from, and down to whatever was made of this observer. Nothing above hears of it once this observer has finished:
/// the work is done.
public class Observer<Model: Sendable>: @unchecked Sendable {
    // Sendable because everything that changes is in `state`, behind its lock. Subclasses add nothing that changes.
    let state: Locked<EmissionState<Model>>

    init(isMulticast: Bool = false, keepsAll: Bool = false, queue: DispatchQueue? = nil) {
        state = Locked(EmissionState(isMulticast: isMulticast, keepsAll: keepsAll, queue: queue))
    }

    deinit {
        // Nobody is left who could emit: whoever waits below learns that nothing more will come.
        let waiting = state.withLock { state in
            state.isFinished || state.isCancelled ? [] : state.listeners.finished
        }
        for listener in waiting { listener() }
    }

    /// Calls a closure with every piece of data.
    @discardableResult
    public final func onCompleted(_ listener: @escaping @Sendable (Model) -> Void) -> Self {
        change { $0.subscribe(Listeners(completed: [listener])) }
    }

    /// Calls a closure with every error.
    @discardableResult
    public final func onError(_ listener: @escaping @Sendable (any Error) -> Void) -> Self {
        change { $0.subscribe(Listeners(failed: [listener])) }
    }

    /// Calls a closure when the observer is cancelled, or at once when it has been.
    @discardableResult
    public final func onCancelled(_ listener: @escaping @Sendable () -> Void) -> Self {
        change { $0.subscribe(cancelled: listener) }
    }

    /// Calls a closure after the listeners of every emission, and after `onCancelled`. It belongs to this observer alone and is
    /// not taken over by the operators.
    @discardableResult
    public final func `defer`(_ listener: @escaping @Sendable () -> Void) -> Self {
        change { $0.subscribe(deferred: listener) }
    }

    /// Drops all listeners. What they have not been told yet they may still be told.
    @discardableResult
    public final func unsubscribe() -> Self {
        change { $0.unsubscribe() }
    }

    /// Cancels the work this observer stands for. Later emissions reach nobody. Canceling again does nothing.
    public final func cancel() {
        let (upstreams, released) = state.withLock { $0.cancel() }
        deliver()
        for upstream in upstreams { upstream() }
        withExtendedLifetime(released) {}
    }

    /// Whether the observer has been cancelled.
    public final var isCancelled: Bool {
        state.withLock { $0.isCancelled }
    }

    // MARK: For the contexts and operators

    final func emit(_ outcome: Result<Model, any Error>) {
        let replaced = state.withLock { $0.emit(outcome) }
        deliver()
        withExtendedLifetime(replaced) {}
    }

    final func finishEmitting() {
        let released = state.withLock { $0.finish() }
        deliver()
        withExtendedLifetime(released) {}
    }

    final func deliver(on queue: DispatchQueue) {
        state.withLock { $0.queue = queue }
    }

    /// Makes one closure the listener of everything but `defer`.
    final func listen(_ receive: @escaping @Sendable (Event<Model>) -> Void) {
        change { state in
            let before = state.subscribe(
                Listeners(
                    completed: [{ receive(.data($0)) }],
                    failed: [{ receive(.error($0)) }],
                    finished: [{ receive(.finished) }]
                )
            )
            _ = state.subscribe(cancelled: { receive(.cancelled) })
            return before
        }
    }

    /// Has a closure called when this observer is cancelled, or at once when it has been.
    ///
    /// - Returns: what undoes it.
    @discardableResult
    final func link(_ upstream: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        guard let id = state.withLock({ $0.link(upstream) }) else {
            upstream()
            return {}
        }
        return { [weak self] in
            let released = self?.state.withLock { $0.unlink(id) }
            withExtendedLifetime(released) {}
        }
    }

    /// Whether every outcome waits for a listener. What is made of an observer that does so does it too.
    final var keepsAll: Bool {
        state.withLock { $0.keepsAll }
    }

    /// Several listeners are always told of the latest outcome, so that a multicast keeps no more than that one.
    final func keepAll() {
        state.withLock { if !$0.isMulticast { $0.keepsAll = true } }
    }

    /// Makes one closure, which emits for an observer made of this one, the listener of everything but `defer`.
    ///
    /// The other's cancellation comes back here, and it keeps every outcome from the moment this one does. This observer keeps the other
    /// alive, not the other way round: what keeps a chain alive is whoever is going to emit.
    final func listen<Output>(for other: Observer<Output>, _ receive: @escaping @Sendable (Event<Model>) -> Void) {
        other.link { [weak self] in self?.cancel() }
        listen { [weak self] event in
            if self?.keepsAll == true { other.keepAll() }
            receive(event)
        }
    }

    /// Passes everything on to another observer, and its cancellation back.
    final func forward(to other: Observer<Model>) {
        listen(for: other) { event in other.receive(event) }
    }

    final func receive(_ event: Event<Model>) {
        switch event {
        case .data(let data): emit(.success(data))
        case .error(let error): emit(.failure(error))
        case .cancelled: cancel()
        case .finished: finishEmitting()
        }
    }

    // MARK: Delivering

    @discardableResult
    private func change(_ body: (inout EmissionState<Model>) -> Listeners<Model>) -> Self {
        let released = state.withLock(body)
        deliver()
        withExtendedLifetime(released) {}
        return self
    }

    /// Makes the pending calls, unless somebody is at it already.
    private func deliver() {
        let (isMine, queue) = state.withLock { state in
            guard !state.isDelivering, !state.pending.isEmpty else { return (false, DispatchQueue?.none) }
            state.isDelivering = true
            return (true, state.queue)
        }
        guard isMine else { return }
        if let queue {
            queue.async { self.deliverPending() }
        } else {
            deliverPending()
        }
    }

    private func deliverPending() {
        while let delivery = nextDelivery() { delivery.call() }
    }

    private func nextDelivery() -> Delivery? {
        state.withLock { state in
            guard let delivery = state.pending.popFirst() else {
                state.isDelivering = false
                return nil
            }
            return delivery
        }
    }
}

extension Observer {
    /// Calls a closure with the first event, and never again.
    final func firstEvent(_ handle: @escaping @Sendable (Event<Model>) -> Void) {
        let isHandled = Locked(false)
        listen { event in
            let isFirst = isHandled.withLock { isHandled in
                defer { isHandled = true }
                return !isHandled
            }
            if isFirst { handle(event) }
        }
    }
}
