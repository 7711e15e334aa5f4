import DAOTransport
import Dispatch

/// A clock that can run work later: a queue, or a manual clock in tests.
public protocol DelayScheduler: Sendable {
    /// The time since a fixed moment. It never decreases.
    var uptime: Duration { get }

    /// Runs work after a delay, on no particular thread unless the scheduler specifies a thread.
    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void)
}

extension DispatchQueue: DelayScheduler {
    /// The time since the system started, without the time it was asleep.
    public var uptime: Duration {
        .nanoseconds(DispatchTime.now().uptimeNanoseconds)
    }

    /// Runs work on this queue after a delay.
    public func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        let (seconds, attoseconds) = delay.components
        let nanoseconds = min(Double(seconds) * 1e9 + Double(attoseconds) / 1e9, Double(Int.max / 2))
        asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds)), execute: work)
    }
}

extension Observer {
    /// Runs listeners, and the closures of later operators, on a queue.
    ///
    /// No listener runs on the emitting thread, so that thread is never blocked.
    public final func dispatch(on queue: DispatchQueue) -> Observer<Model> {
        let result = AsyncContext<Model>().on(queue)
        forward(to: result)
        return result
    }

    /// Runs listeners on a queue. Same as ``dispatch(on:)``.
    public final func dispatchOn(_ queue: DispatchQueue) -> Observer<Model> {
        dispatch(on: queue)
    }

    /// Emits data that is not followed by other data, or an error, within a time.
    ///
    /// The delay restarts with each emission of data. An error is emitted immediately and replaces waiting
    /// data. When this observer finishes, waiting data is emitted immediately.
    ///
    /// - Parameters:
    ///   - scheduler: measures the delay and runs the listeners.
    ///   - delay: how long no other data may follow.
    public final func debounce(
        on scheduler: any DelayScheduler = DispatchQueue.global(qos: .utility),
        after delay: Duration
    ) -> Observer<Model> {
        let result = Context<Model>()
        let debounced = Debounced(result)
        listen(for: result) { event in
            if let generation = debounced.receive(event) { scheduler.schedule(after: delay) { debounced.letGo(generation) } }
        }
        return result
    }

    /// Drops data that follows the last emitted data within a time.
    ///
    /// The first data is emitted immediately and starts the interval. Data within the interval is dropped.
    /// Errors are always emitted and do not start the interval.
    ///
    /// - Parameters:
    ///   - interval: how long data is dropped after emitted data.
    ///   - scheduler: measures the time.
    public final func throttle(
        next interval: Duration,
        on scheduler: any DelayScheduler = DispatchQueue.global(qos: .utility)
    ) -> Observer<Model> {
        let last = Locked<Duration?>(nil)
        return bind { outcome in
            guard case .success = outcome else { return .emit(outcome) }
            let isDue = last.withLock { last in
                let now = scheduler.uptime
                if let last, now - last < interval { return false }
                last = now
                return true
            }
            return isDue ? .emit(outcome) : .nothing
        }
    }
}

/// The data that ``Observer/debounce(on:after:)`` holds back.
///
/// Its end and the end of a delay come from different threads. Events are let go under a lock, and delivered behind it by one thread, in
/// that order: data that was let go is neither lost by the end nor overtaken by an error.
private final class Debounced<Model: Sendable>: Sendable {
    private struct State {
        /// The number of data that came, or were dropped.
        var generation = 0
        var data: Model?
        /// What was let go and not delivered.
        var events: [Event<Model>] = []
        var isDelivering = false

        mutating func letGo() {
            if let data { events.append(.data(data)) }
            data = nil
        }
    }

    private let state = Locked(State())
    private let result: Context<Model>

    init(_ result: Context<Model>) { self.result = result }

    /// Holds data back, and delivers other events.
    ///
    /// - Returns: The number of the data; nil for another event.
    func receive(_ event: Event<Model>) -> Int? {
        var generation: Int?
        change { state in
            switch event {
            case .data(let data):
                state.generation += 1
                state.data = data
                generation = state.generation
            case .error, .cancelled:
                state.generation += 1
                state.data = nil
                state.events.append(event)
            case .finished:
                state.letGo()
                state.events.append(event)
            }
        }
        return generation
    }

    /// Delivers the data with a number, unless other data or an error followed.
    func letGo(_ generation: Int) {
        change { if $0.generation == generation { $0.letGo() } }
    }

    private func change(_ body: (inout State) -> Void) {
        let isMine = state.withLock { state in
            body(&state)
            if state.isDelivering { return false }
            state.isDelivering = true
            return true
        }
        guard isMine else { return }
        func next() -> Event<Model>? {
            state.withLock { state in
                if state.events.isEmpty {
                    state.isDelivering = false
                    return nil
                }
                return state.events.removeFirst()
            }
        }
        while let event = next() { result.receive(event) }
    }
}
