import Dispatch

/// Runs tasks that a blocked thread waits for. They run on separate threads, since the threads of all other
/// tasks may be blocked while it waits.
package final class TaskThreads: TaskExecutor {
    package static let shared = TaskThreads()

    private let queue = DispatchQueue(label: "conformance.tasks", attributes: .concurrent)

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
