import Dispatch

/// Detects commits of other processes while observers exist.
///
/// An engine has a counter that every commit changes, in memory that all processes share. The counter is read
/// twenty times a second. Data is read only after the counter has changed. File system events would be no
/// better: they arrive when a commit writes, before the commit is visible.
final class CommitWatch: Sendable {
    /// A server that has stopped answering keeps nobody else's watch waiting.
    private let queue = DispatchQueue(label: "dao.commits", qos: .userInitiated)
    private static let interval = 50
    /// The interval of checks while this process commits, and the maximum number of such checks before the
    /// change is reported.
    private static let (shortInterval, patience) = (3, 15)

    private struct State {
        var openCounter: ObservationHub.OpenCounter?
        var counter: ObservationHub.Counter?
        /// The counter after the last commit that observers know; nil when it could not be read.
        var seen: UInt64?
        var timer: (any DispatchSourceTimer)?
        /// The number of consecutive checks that deferred a change.
        var delays = 0
        var isPaused = false
    }

    private enum Look {
        case nothing
        case news
        case later
    }

    private let state = Lock(State())
    /// Whether this process is committing. Its commit may be visible before ``didCommitHere(from:to:)``
    /// attributes it.
    let isCommitting = Atomic(false)

    /// Sets the source of the counter. The counter is not read before ``start(_:)``.
    func set(_ open: @escaping ObservationHub.OpenCounter) { state.withLock { $0.openCounter = open } }

    /// Starts the checks, unless they are running or there is no counter.
    ///
    /// - Parameter news: A closure that is called after commits of other processes, on a queue of this
    ///   watch. It must return immediately.
    func start(_ news: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard state.timer == nil, state.openCounter != nil else { return }
            state.seen = Self.count(&state)
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(
                deadline: .now() + .milliseconds(Self.interval), repeating: .milliseconds(Self.interval),
                leeway: .milliseconds(10))
            timer.setEventHandler { [weak self] in self?.run(news) }
            state.timer = timer
            timer.resume()
        }
    }

    // The counter is released under the lock: nobody returns from these functions while another thread still closes what the
    // counter has open.

    /// Stops the checks and releases the counter. No check is running when it returns.
    ///
    /// - Parameter forGood: Whether the engine is about to be closed.
    func stop(forGood: Bool = false) {
        state.withLock { state in
            state.timer?.cancel()
            (state.timer, state.seen, state.counter) = (nil, nil, nil)
            if forGood { state.openCounter = nil }
        }
    }

    /// Releases the counter, and does not open it before ``resume()``.
    func pause() { state.withLock { ($0.isPaused, $0.counter) = (true, nil) } }

    /// Ends the pause.
    func resume() { state.withLock { $0.isPaused = false } }

    /// Records a commit of this process. Its observers are informed by ``ObservationHub/didCommit(_:)``.
    func didCommitHere(from before: UInt64, to after: UInt64) {
        state.withLock { if $0.seen == before { $0.seen = after } }
    }

    private func run(_ news: @escaping @Sendable () -> Void) {
        switch look() {
        case .nothing: break
        case .news: news()
        case .later:
            queue.asyncAfter(deadline: .now() + .milliseconds(Self.shortInterval)) { [weak self] in self?.run(news) }
        }
    }

    private func look() -> Look {
        state.withLock { state in
            guard state.timer != nil, let count = Self.count(&state), count != state.seen else {
                state.delays = 0
                return .nothing
            }
            if isCommitting.load(ordering: .acquiring), state.delays < Self.patience {
                state.delays += 1
                return .later
            }
            state.delays = 0
            state.seen = count
            return .news
        }
    }

    /// Returns the current counter; nil when it cannot be read. The next check then opens the counter again.
    private static func count(_ state: inout State) -> UInt64? {
        if state.isPaused { return nil }
        do {
            let counter = try state.counter ?? state.openCounter?()
            state.counter = counter
            return try counter?()
        } catch {
            state.counter = nil
            return nil
        }
    }
}
