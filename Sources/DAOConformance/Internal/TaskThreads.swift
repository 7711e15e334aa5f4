import Dispatch

/// Runs tasks that a blocked thread waits for. They run on separate threads, since the threads of all other
/// tasks may be blocked while it waits.
package final class TaskThreads: TaskExecutor {
    package static let shared = TaskThreads()

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // A concurrent queue gets no thread while as many others are busy as there are cores. A serial queue does.
        DispatchQueue(label: "conformance.task").async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
