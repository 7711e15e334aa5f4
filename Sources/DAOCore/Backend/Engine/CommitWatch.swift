import Dispatch
import Synchronization

/// Looks for commits that nobody tells of, which are those of other processes, for as long as somebody observes.
///
/// Engines have a number that every commit changes, in memory that all processes share. It is read twenty times a second; the data is not
/// touched until it has changed. Events of the file system would be no better: they come when a commit writes, which is before it can be seen.
final class CommitWatch: Sendable {
    private static let queue = DispatchQueue(label: "dao.commits", qos: .userInitiated)
    private static let interval = 50
    /// How soon to look again while this process is committing, and how often at most before it counts as news.
    private static let (shortInterval, patience) = (3, 15)

    private struct State {
        var openCounter: ObservationHub.OpenCounter?
        var counter: ObservationHub.Counter?
        /// The count after the last commit that observers know of; nil when it could not be read.
        var seen: UInt64?
        var timer: (any DispatchSourceTimer)?
        /// How often in a row a change was left for later.
        var delays = 0
    }

    private enum Look {
        case nothing
        case news
        case later
    }

    private let state = Mutex(State())
    /// Whether this process is in the middle of a commit, which may be seen before ``didCommitHere(from:to:)`` says whose it is.
    let isCommitting = Atomic(false)

    /// Says how to count; nothing is counted before ``start(_:)``.
    func set(_ open: @escaping ObservationHub.OpenCounter) { state.withLock { $0.openCounter = open } }

    /// Begins to look, unless it has begun or there is nothing to look at.
    ///
    /// - Parameter news: Called after commits of others, on a queue that all watches share; returns at once.
    func start(_ news: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard state.timer == nil, state.openCounter != nil else { return }
            state.seen = Self.count(&state)
            let timer = DispatchSource.makeTimerSource(queue: Self.queue)
            timer.schedule(
                deadline: .now() + .milliseconds(Self.interval), repeating: .milliseconds(Self.interval),
                leeway: .milliseconds(10))
            timer.setEventHandler { [weak self] in self?.run(news) }
            state.timer = timer
            timer.resume()
        }
    }

    /// Stops looking and lets go of everything; a look that has begun is over when this returns.
    ///
    /// - Parameter forGood: Whether the engine is about to be closed.
    func stop(forGood: Bool = false) {
        let counter = state.withLock { state in
            state.timer?.cancel()
            state.timer = nil
            state.seen = nil
            if forGood { state.openCounter = nil }
            defer { state.counter = nil }
            return state.counter
        }
        _ = counter
    }

    /// Takes note of a commit of this process, whose observers are told otherwise.
    func didCommitHere(from before: UInt64, to after: UInt64) {
        state.withLock { if $0.seen == before { $0.seen = after } }
    }

    private func run(_ news: @escaping @Sendable () -> Void) {
        switch look() {
        case .nothing: break
        case .news: news()
        case .later:
            Self.queue.asyncAfter(deadline: .now() + .milliseconds(Self.shortInterval)) { [weak self] in self?.run(news) }
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

    /// The count now; nil when it cannot be read, which is tried again with another counter.
    private static func count(_ state: inout State) -> UInt64? {
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
