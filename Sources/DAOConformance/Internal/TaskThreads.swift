import Dispatch

/// Runs tasks that a thread waits for: on threads of their own, since those of all other tasks may be busy
/// for as long as it waits.
package final class TaskThreads: TaskExecutor {
    package static let shared = TaskThreads()

    private let queue = DispatchQueue(label: "conformance.tasks", attributes: .concurrent)

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
