import Foundation

/// Runs tasks that a blocked thread waits for. Each of their steps has a thread of its own, since the threads of all
/// other tasks may be blocked while it waits, and Dispatch has a limit for those it starts.
package final class TaskThreads: TaskExecutor {
    package static let shared = TaskThreads()

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Self.startThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs a closure on a new thread.
    static func startThread(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread { body() }
        thread.name = "conformance"
        thread.stackSize = 8 << 20
        thread.start()
    }
}
