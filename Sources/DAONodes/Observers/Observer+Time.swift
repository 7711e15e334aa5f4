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
        let waiting = Locked<(generation: Int, data: Model?)>((0, nil))
        @Sendable func emit(_ generation: Int? = nil) {
            result.emit(taking: {
                waiting.withLock { waiting in
                    guard generation == nil || generation == waiting.generation else { return nil }
                    defer { waiting.data = nil }
                    return waiting.data
                }
            })
        }
        listen(for: result) { event in
            switch event {
            case .data(let data):
                let generation = waiting.withLock { waiting in
                    waiting = (waiting.generation + 1, data)
                    return waiting.generation
                }
                scheduler.schedule(after: delay) { emit(generation) }
            case .error, .cancelled:
                waiting.withLock { $0 = ($0.generation + 1, nil) }
                result.receive(event)
            case .finished:
                emit()
                result.finish()
            }
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
