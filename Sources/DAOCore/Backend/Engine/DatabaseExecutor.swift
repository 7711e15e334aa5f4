import Dispatch
import Synchronization

/// Runs the asynchronous forms: writes one after another on one queue, reads on threads of their own, none of them in the
/// cooperative pool.
public final class DatabaseExecutor: Sendable {
    private let writer: DispatchQueue
    private let readers: DispatchQueue

    /// Creates the queues.
    ///
    /// - Parameter name: What threads are called in a debugger.
    public init(name: String) {
        writer = DispatchQueue(label: "dao.writer.\(name)", qos: .userInitiated)
        readers = DispatchQueue(label: "dao.readers.\(name)", qos: .userInitiated, attributes: .concurrent)
    }

    /// Runs a body on the writer's queue.
    ///
    /// - Throws: What the body throws; `CancellationError` when the task was cancelled before the body began.
    public func write<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await run(on: writer, body)
    }

    /// Runs a body beside other readers.
    ///
    /// - Throws: What the body throws; `CancellationError` when the task was cancelled before the body began.
    public func read<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await run(on: readers, body)
    }

    private func run<Result: Sendable>(
        on queue: DispatchQueue, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        let cancellation = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.async {
                    continuation.resume(
                        with: Swift.Result {
                            // It may have waited long for its turn.
                            if cancellation.isSet.load(ordering: .acquiring) { throw CancellationError() }
                            return try body()
                        })
                }
            }
        } onCancel: {
            cancellation.isSet.store(true, ordering: .releasing)
        }
    }
}

/// Tells work that waits on a queue that its task has been cancelled meanwhile.
private final class CancellationFlag: Sendable {
    let isSet = Atomic(false)
}
