import DAOTransport
import Dispatch

/// Something that knows the time and can do work later: a queue, or in tests a clock moved by hand.
public protocol DelayScheduler: Sendable {
    /// The time since some fixed moment. It never goes back.
    var uptime: Duration { get }

    /// Does work after a delay, on no particular thread unless the scheduler says so.
    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void)
}

extension DispatchQueue: DelayScheduler {
    /// The time since the system started, without the time it slept.
    public var uptime: Duration {
        .nanoseconds(DispatchTime.now().uptimeNanoseconds)
    }

    /// Does work on this queue after a delay.
    public func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        let (seconds, attoseconds) = delay.components
        let nanoseconds = min(Double(seconds) * 1e9 + Double(attoseconds) / 1e9, Double(Int.max / 2))
        asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds)), execute: work)
    }
}

extension Observer {
    /// Listeners, and the closures of operators after this one, run on a queue.
    ///
    /// Nothing runs on the thread that emits, which is therefore never blocked.
    public final func dispatch(on queue: DispatchQueue) -> Observer<Model> {
        let result = AsyncContext<Model>().on(queue)
        forward(to: result)
        return result
    }

    /// Listeners run on a queue: another spelling of ``dispatch(on:)``.
    public final func dispatchOn(_ queue: DispatchQueue) -> Observer<Model> {
        dispatch(on: queue)
    }

    /// Data that was not followed by other data, or an error, within a time.
    ///
    /// The delay starts anew with every piece of data. An error goes on at once and takes the place of the data that was
    /// waiting. When this observer finishes, what is waiting goes on at once.
    ///
    /// - Parameter scheduler: waits, and is where listeners run.
    public final func debounce(
        on scheduler: any DelayScheduler = DispatchQueue.global(qos: .utility),
        after delay: Duration
    ) -> Observer<Model> {
        let result = Context<Model>()
        let waiting = Locked<(generation: Int, data: Model?)>((0, nil))
        listen(for: result) { event in
            switch event {
            case .data(let data):
                let generation = waiting.withLock { waiting in
                    waiting = (waiting.generation + 1, data)
                    return waiting.generation
                }
                scheduler.schedule(after: delay) {
                    let data = waiting.withLock { waiting in
                        guard waiting.generation == generation else { return Model?.none }
                        defer { waiting.data = nil }
                        return waiting.data
                    }
                    if let data { result.emit(data: data) }
                }
            case .error, .cancelled:
                waiting.withLock { $0 = ($0.generation + 1, nil) }
                result.receive(event)
            case .finished:
                let data = waiting.withLock { waiting in
                    defer { waiting.data = nil }
                    return waiting.data
                }
                if let data { result.emit(data: data) }
                result.finish()
            }
        }
        return result
    }

    /// Data that did not come within a time after the last data that went on.
    ///
    /// The first piece goes on at once and starts the time; what comes before it is over is dropped. Errors always go on, and
    /// do not start it.
    ///
    /// - Parameter scheduler: tells the time.
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
