import Dispatch

/// The asynchronous writes of an engine, which run one after another on a serial queue, or side by side.
///
/// Calls that wait at the same time and may share a commit run in one transaction (contract T9): a commit that waits for a
/// disk then takes as long for 64 calls as for one. In that transaction each of them is atomic, as every call in a
/// transaction is.
final class WriteQueue: Sendable {
    /// The greatest number of calls in a shared commit.
    private static let longestGroup = 64
    /// The time after which no further call joins a shared commit.
    private static let longestWait = Duration.milliseconds(5)

    private let queue: DispatchQueue
    private let waiting = Lock(Waiting())

    /// Writes in the order of their arrival. Taking the first one takes constant time on average, however many wait.
    private struct Waiting {
        private var arrived: [any QueuedWrite] = []
        /// Those before the arrived ones, the first one last.
        private var next: [any QueuedWrite] = []

        var first: (any QueuedWrite)? { next.last ?? arrived.first }

        mutating func append(_ write: any QueuedWrite) { arrived.append(write) }

        mutating func popFirst() -> (any QueuedWrite)? {
            if next.isEmpty {
                next = arrived.reversed()
                arrived = []
            }
            return next.popLast()
        }
    }

    /// - Parameters:
    ///   - label: The name of the queue in a debugger.
    ///   - isConcurrent: Whether writes run side by side, in an engine that does not share commits.
    init(label: String, isConcurrent: Bool) {
        queue = DispatchQueue(label: label, qos: .userInitiated, attributes: isConcurrent ? .concurrent : [])
    }

    func add(_ write: any QueuedWrite) {
        waiting.withLock { $0.append(write) }
        queue.async { self.runNext() }
    }

    /// Runs the first write, with those behind it that may share its commit. There is nothing left to do for a write that has
    /// shared that of another.
    private func runNext() {
        guard let first = takeNext() else { return }
        if let database = first.sharing, isNext(of: database), runGroup(first, of: database) { return }
        runAlone(first)
    }

    private func runAlone(_ write: any QueuedWrite) {
        CallDeadline.$made.withValue(write.made) { write.run() }
        write.end(nil)
    }

    /// Runs writes in one transaction.
    ///
    /// - Returns: False when the transaction could not begin, and the first write, which has not run, can still begin alone.
    private func runGroup(_ first: any QueuedWrite, of database: any Database) -> Bool {
        var group: [any QueuedWrite] = []
        var failure: (any Error)?
        do {
            try CallDeadline.$made.withValue(first.made) {
                try database.runTransaction {
                    let end = ContinuousClock.now + Self.longestWait
                    var next: (any QueuedWrite)? = first
                    while let write = next {
                        group.append(write)
                        write.run()
                        next = group.count < Self.longestGroup && ContinuousClock.now < end ? takeNext(of: database) : nil
                    }
                }
            }
        } catch {
            failure = error
        }
        let kind = (failure as? StorageError)?.kind
        if group.isEmpty {
            // It has waited for others as long as it may.
            guard kind == .busy else { return false }
            first.end(failure)
        }
        for write in group {
            // One call that does not fit is not the end of its neighbours. Nothing of the transaction is stored.
            if kind == .outOfSpace, write.mayRunAgain { runAlone(write) } else { write.end(failure) }
        }
        return true
    }

    private func takeNext() -> (any QueuedWrite)? {
        waiting.withLock { $0.popFirst() }
    }

    private func takeNext(of database: any Database) -> (any QueuedWrite)? {
        waiting.withLock { $0.first?.sharing === database ? $0.popFirst() : nil }
    }

    private func isNext(of database: any Database) -> Bool { waiting.withLock { $0.first?.sharing === database } }
}

/// A write that waits in a ``WriteQueue``.
protocol QueuedWrite: AnyObject, Sendable {
    /// The database of a single atomic call that may share the commit of others; nil for any other work.
    var sharing: (any Database)? { get }
    /// Whether it runs no code of the application, so that it can run again alone.
    var mayRunAgain: Bool { get }
    /// When the call was made.
    var made: ContinuousClock.Instant { get }
    /// Runs the write, and keeps its result.
    func run()
    /// Returns to the caller, with the error of the shared commit if there is one. A write that has not run has one.
    func end(_ failure: (any Error)?)
}
