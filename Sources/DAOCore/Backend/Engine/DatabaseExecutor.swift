import Dispatch
import Synchronization

/// Runs the asynchronous calls outside the cooperative pool: writes on a serial queue, reads on concurrent
/// threads.
public final class DatabaseExecutor: Sendable {
    private let writer: DispatchQueue
    private let readers: DispatchQueue

    /// Creates the queues.
    ///
    /// - Parameter name: The name of the threads in a debugger.
    public init(name: String) {
        writer = DispatchQueue(label: "dao.writer.\(name)", qos: .userInitiated)
        readers = DispatchQueue(label: "dao.readers.\(name)", qos: .userInitiated, attributes: .concurrent)
    }

    /// Runs a closure on the serial queue of the writer.
    ///
    /// - Throws: Any error of the closure; `CancellationError` when the task was cancelled before the closure
    ///   began.
    public func write<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await run(on: writer) { _ in try body() }
    }

    /// Runs a closure concurrently with other readers.
    ///
    /// - Throws: Any error of the closure; `CancellationError` when the task was cancelled before the closure
    ///   began.
    public func read<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await run(on: readers) { _ in try body() }
    }

    /// Runs a long closure concurrently with other readers. The closure asks whether the task was cancelled, and ends.
    ///
    /// - Throws: Any error of the closure; `CancellationError` when the task was cancelled before the closure
    ///   began.
    func readCancellable<Result: Sendable>(
        _ body: @escaping @Sendable (_ isCancelled: () -> Bool) throws -> Result
    ) async throws -> Result {
        try await run(on: readers) { cancellation in try body { cancellation.isSet.load(ordering: .acquiring) } }
    }

    private func run<Result: Sendable>(
        on queue: DispatchQueue, _ body: @escaping @Sendable (CancellationFlag) throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        let cancellation = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.async {
                    continuation.resume(
                        with: Swift.Result {
                            // The work may have waited for a long time.
                            if cancellation.isSet.load(ordering: .acquiring) { throw CancellationError() }
                            return try body(cancellation)
                        })
                }
            }
        } onCancel: {
            cancellation.isSet.store(true, ordering: .releasing)
        }
    }
}

/// Informs work in a queue that its task was cancelled.
private final class CancellationFlag: Sendable {
    let isSet = Atomic(false)
}
