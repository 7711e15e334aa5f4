import Dispatch

/// Runs the asynchronous calls outside the cooperative pool: writes on a serial queue, or side by side where the engine
/// allows it, reads on concurrent threads.
public final class DatabaseExecutor: Sendable {
    private let writer: WriteQueue
    private let readers: DispatchQueue

    /// Creates the queues.
    ///
    /// - Parameters:
    ///   - name: The name of the threads in a debugger.
    ///   - hasConcurrentWriters: Whether writes run side by side.
    public init(name: String, hasConcurrentWriters: Bool = false) {
        writer = WriteQueue(label: "dao.writer.\(name)", isConcurrent: hasConcurrentWriters)
        readers = DispatchQueue(label: "dao.readers.\(name)", qos: .userInitiated, attributes: .concurrent)
    }

    /// Runs a closure on the queue of the writer.
    ///
    /// - Throws: Any error of the closure; `CancellationError` when the task was cancelled before the closure
    ///   began.
    public func write<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await write(sharing: nil, body)
    }

    /// Runs a single atomic call on the serial queue of the writer. Calls with the same database that wait at the same time
    /// share a commit.
    ///
    /// - Parameters:
    ///   - database: The database; nil for work that shares no commit.
    ///   - mayRunAgain: Whether the call runs no code of the application. It then runs again alone when a call with which it shares
    ///     a commit does not fit into the file.
    ///   - body: The call.
    func write<Result: Sendable>(
        sharing database: (any Database)?, mayRunAgain: Bool = false, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await cancellable { continuation, cancellation in
            writer.add(Write(database, mayRunAgain, continuation, cancellation, body))
        }
    }

    /// Runs a closure concurrently with other readers.
    ///
    /// - Throws: Any error of the closure; `CancellationError` when the task was cancelled before the closure
    ///   began.
    public func read<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await read { _ in try body() }
    }

    /// Runs a long closure concurrently with other readers. The closure asks whether the task was cancelled, and ends.
    ///
    /// - Throws: Any error of the closure; `CancellationError` when the task was cancelled before the closure
    ///   began.
    func readCancellable<Result: Sendable>(
        _ body: @escaping @Sendable (_ isCancelled: () -> Bool) throws -> Result
    ) async throws -> Result {
        try await read { cancellation in try body { cancellation.isSet.load(ordering: .acquiring) } }
    }

    private func read<Result: Sendable>(
        _ body: @escaping @Sendable (CancellationFlag) throws -> Result
    ) async throws -> Result {
        try await cancellable { continuation, cancellation in
            readers.async { continuation.resume(with: Swift.Result { try cancellation.unlessSet(body) }) }
        }
    }

    /// Lets a closure begin work that returns to a continuation.
    private func cancellable<Result: Sendable>(
        _ begin: (CheckedContinuation<Result, any Error>, CancellationFlag) -> Void
    ) async throws -> Result {
        try Task.checkCancellation()
        let cancellation = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { begin($0, cancellation) }
        } onCancel: {
            cancellation.isSet.store(true, ordering: .releasing)
        }
    }
}

/// Informs work in a queue that its task was cancelled.
final class CancellationFlag: Sendable {
    let isSet = Atomic(false)

    /// Runs work, which may have waited for a long time, unless its task was cancelled.
    func unlessSet<Result>(_ body: (CancellationFlag) throws -> Result) throws -> Result {
        if isSet.load(ordering: .acquiring) { throw CancellationError() }
        return try CallCancellation.$flag.withValue(self) { try body(self) }
    }
}

/// Work of the writer and the task that waits for it.
private final class Write<Result: Sendable>: QueuedWrite {
    let sharing: (any Database)?
    let mayRunAgain: Bool
    let made = ContinuousClock.now
    private let continuation: CheckedContinuation<Result, any Error>
    private let cancellation: CancellationFlag
    private let body: @Sendable () throws -> Result
    private let state = Lock<(result: Swift.Result<Result, any Error>?, hasEnded: Bool)>((nil, false))

    init(
        _ sharing: (any Database)?, _ mayRunAgain: Bool, _ continuation: CheckedContinuation<Result, any Error>,
        _ cancellation: CancellationFlag,
        _ body: @escaping @Sendable () throws -> Result
    ) {
        self.sharing = sharing
        self.mayRunAgain = mayRunAgain
        self.continuation = continuation
        self.cancellation = cancellation
        self.body = body
    }

    func run() {
        let new = Swift.Result { try cancellation.unlessSet { _ in try body() } }
        state.withLock { $0.result = new }
    }

    func end(_ failure: (any Error)?) {
        // A database that wrongly runs a transaction twice must not make this return twice.
        let ending = state.withLock { state in
            defer { state.hasEnded = true }
            return state.hasEnded ? nil : failure.map { .failure($0) } ?? state.result
        }
        if let ending { continuation.resume(with: ending) }
    }
}

/// The cancellation of the running call, for loops over rows and engines that wait for a server.
package enum CallCancellation {
    /// That of an asynchronous call; nil in a synchronous one.
    @TaskLocal static var flag: CancellationFlag?

    /// Whether a task makes the call.
    package static var isPossible: Bool { flag != nil || withUnsafeCurrentTask { $0 != nil } }

    /// Whether the task was cancelled.
    package static var isRequested: Bool { flag?.isSet.load(ordering: .acquiring) == true || Task.isCancelled }

    /// Throws `CancellationError` when the task was cancelled (contract C5). A loop over rows asks every 256 rows: each
    /// question costs about as much as a row.
    package static func check() throws { if isRequested { throw CancellationError() } }
}
