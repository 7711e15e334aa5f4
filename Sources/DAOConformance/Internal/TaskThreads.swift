import Foundation

/// Runs tasks that a blocked thread waits for. Each of their steps has a thread of its own, since the threads of all
/// other tasks may be blocked while it waits, and Dispatch has a limit for those it starts.
///
/// Executors of tasks begin with macOS 15 and iOS 18. On an older system the tasks share the threads of all others.
package final class TaskThreads: Sendable {
    package static let shared = TaskThreads()

    /// Runs a closure on a new thread.
    static func startThread(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread { body() }
        thread.name = "conformance"
        thread.stackSize = 8 << 20
        thread.start()
    }
}

@available(macOS 15, iOS 18, tvOS 18, visionOS 2, *)
private final class ThreadExecutor: TaskExecutor {
    static let shared = ThreadExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        TaskThreads.startThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Calls a closure whose steps have threads of their own.
package func withTaskExecutorPreference<Result, Failure: Error>(
    _ threads: TaskThreads, isolation: isolated (any Actor)? = #isolation, operation: () async throws(Failure) -> Result
) async throws(Failure) -> Result {
    guard #available(macOS 15, iOS 18, tvOS 18, visionOS 2, *) else { return try await operation() }
    return try await _Concurrency.withTaskExecutorPreference(ThreadExecutor.shared, isolation: isolation, operation: operation)
}

extension Task where Failure == any Error {
    /// Begins a task whose steps have threads of their own.
    @discardableResult package init(
        executorPreference: TaskThreads, operation: sending @escaping () async throws -> Success
    ) {
        if #available(macOS 15, iOS 18, tvOS 18, visionOS 2, *) {
            self.init(executorPreference: ThreadExecutor.shared, operation: operation)
        } else {
            self.init(operation: operation)
        }
    }

    /// Begins a detached task whose steps have threads of their own.
    @discardableResult package static func detached(
        executorPreference: TaskThreads, operation: sending @escaping () async throws -> Success
    ) -> Task {
        guard #available(macOS 15, iOS 18, tvOS 18, visionOS 2, *) else { return detached(operation: operation) }
        return detached(executorPreference: ThreadExecutor.shared, operation: operation)
    }
}

extension Task where Failure == Never {
    /// Begins a task whose steps have threads of their own.
    @discardableResult package init(executorPreference: TaskThreads, operation: sending @escaping () async -> Success) {
        if #available(macOS 15, iOS 18, tvOS 18, visionOS 2, *) {
            self.init(executorPreference: ThreadExecutor.shared, operation: operation)
        } else {
            self.init(operation: operation)
        }
    }

    /// Begins a detached task whose steps have threads of their own.
    @discardableResult package static func detached(
        executorPreference: TaskThreads, operation: sending @escaping () async -> Success
    ) -> Task {
        guard #available(macOS 15, iOS 18, tvOS 18, visionOS 2, *) else { return detached(operation: operation) }
        return detached(executorPreference: ThreadExecutor.shared, operation: operation)
    }
}
