import DAOTransport
import Dispatch

/// The result of a node. It emits data or an error now, later, or several times.
///
/// The caller holds the observer; the node holds it as a ``Context`` and emits. Work starts when the node's
/// `process` is called, with or without a listener. An outcome that was emitted before the first listener
/// subscribed is kept for that listener.
///
/// ```swift
/// loadDialogs.process()
///     .map { dialogs in dialogs.count }
///     .onCompleted { count in print("\(count) dialogs") }
///     .onError { error in print("failed: \(error)") }
///     .onCancelled { print("cancelled") }
///     .defer { print("done") }
/// ```
///
/// **Listeners.** There is one listener for each kind of event: a second `onCompleted` replaces the first.
/// Use ``multicast()`` for several listeners. A late listener is called immediately, on its own thread, with
/// the latest outcome, unless that outcome was already delivered to another late listener. Data replaces an
/// earlier error, and an error replaces earlier data. An outcome that was delivered live stays available to a
/// replacement of its listener. Some observers keep every outcome until a listener subscribes; their
/// documentation states it, and the observers that operators make from them do the same.
///
/// **Threads.** All methods can be called from any thread. Listeners are called one at a time, in the order
/// of the events, without a lock held. They run on the thread that emits (or subscribes late), or, when
/// another thread is delivering at that moment, on that thread directly afterwards. ``dispatch(on:)`` moves
/// them to a queue.
///
/// **Cancellation.** After ``cancel()`` only `onCancelled` and `defer` are called, each once. Cancellation
/// propagates up to the sources of the outcomes, and down to the observers made from this observer. It does
/// not propagate up after this observer has finished, because the work is done.
public class Observer<Model: Sendable>: @unchecked Sendable {
    // Sendable because all mutable state is in `state`, behind its lock. Subclasses add no mutable state.
    let state: Locked<EmissionState<Model>>

    init(isMulticast: Bool = false, keepsAll: Bool = false, queue: DispatchQueue? = nil) {
        state = Locked(EmissionState(isMulticast: isMulticast, keepsAll: keepsAll, queue: queue))
    }

    deinit {
        // No emitter is left, so the observers below finish.
        let waiting = state.withLock { state in
            state.isFinished || state.isCancelled ? [] : state.listeners.finished
        }
        for listener in waiting { listener() }
    }

    /// Calls a closure with each emission of data.
    @discardableResult
    public final func onCompleted(_ listener: @escaping @Sendable (Model) -> Void) -> Self {
        change { $0.subscribe(Listeners(completed: [listener])) }
    }

    /// Calls a closure with every error.
    @discardableResult
    public final func onError(_ listener: @escaping @Sendable (any Error) -> Void) -> Self {
        change { $0.subscribe(Listeners(failed: [listener])) }
    }

    /// Calls a closure when the observer is cancelled, or immediately when it is already cancelled.
    @discardableResult
    public final func onCancelled(_ listener: @escaping @Sendable () -> Void) -> Self {
        change { $0.subscribe(cancelled: listener) }
    }

    /// Calls a closure after the listeners of every emission, and after `onCancelled`. It belongs to this
    /// observer only; operators do not inherit it.
    @discardableResult
    public final func `defer`(_ listener: @escaping @Sendable () -> Void) -> Self {
        change { $0.subscribe(deferred: listener) }
    }

    /// Removes all listeners. They can still receive pending events.
    @discardableResult
    public final func unsubscribe() -> Self {
        change { $0.unsubscribe() }
    }

    /// Cancels the work of this observer. Later emissions are dropped. A second call has no effect.
    public final func cancel() {
        let (upstreams, released) = state.withLock { $0.cancel() }
        deliver()
        for upstream in upstreams { upstream() }
        withExtendedLifetime(released) {}
    }

    /// Whether the observer is cancelled.
    public final var isCancelled: Bool {
        state.withLock { $0.isCancelled }
    }

    // MARK: Contexts and operators

    final func emit(_ outcome: Result<Model, any Error>) {
        let replaced = state.withLock { $0.emit(outcome) }
        deliver()
        withExtendedLifetime(replaced) {}
    }

    /// Emits the data that a closure takes from elsewhere, in one step with taking it: no other thread's event comes between.
    ///
    /// - Parameter take: A closure that runs under the lock of this observer, and calls none of it; nil emits nothing.
    final func emit(taking take: () -> Model?) {
        let replaced = state.withLock { state in take().map { state.emit(.success($0)) } }
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

    /// Makes a closure the listener of all events except `defer`.
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

    /// Calls a closure when this observer is cancelled, or immediately when it is already cancelled.
    ///
    /// - Returns: a closure that removes the link.
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

    /// Whether every outcome waits for a listener. Observers made from this observer inherit it.
    final var keepsAll: Bool {
        state.withLock { $0.keepsAll }
    }

    /// A multicast always delivers the latest outcome to late listeners, so it keeps only that outcome.
    final func keepAll() {
        state.withLock { if !$0.isMulticast { $0.keepsAll = true } }
    }

    /// Makes a closure the listener of all events except `defer`. The closure emits for a derived observer.
    ///
    /// Cancelling the derived observer cancels this observer, and the derived observer keeps every outcome as
    /// soon as this observer does. This observer keeps the derived observer alive, not the reverse: the
    /// emitter keeps a chain alive.
    final func listen<Output>(for other: Observer<Output>, _ receive: @escaping @Sendable (Event<Model>) -> Void) {
        other.link { [weak self] in self?.cancel() }
        listen { [weak self] event in
            if self?.keepsAll == true { other.keepAll() }
            receive(event)
        }
    }

    /// Forwards all events to another observer, and its cancellation back.
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

    // MARK: Delivery

    @discardableResult
    private func change(_ body: (inout EmissionState<Model>) -> Listeners<Model>) -> Self {
        let released = state.withLock(body)
        deliver()
        withExtendedLifetime(released) {}
        return self
    }

    /// Makes the pending calls, unless another thread is already making them.
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
    /// Calls a closure with the first event only.
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
