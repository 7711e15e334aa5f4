import Foundation

/// Runs a test that waits for other processes on a separate thread, so that it does not block other tests.
func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withTaskExecutorPreference(WaitingThreads.shared) { try body() }
}

/// Threads that can block, unlike the threads of the cooperative pool.
private final class WaitingThreads: TaskExecutor {
    static let shared = WaitingThreads()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// How often a test on generated input runs, and its seed. The environment can set both.
enum Rounds {
    /// The value of `SEED` in the environment, otherwise a random seed.
    static var seed: UInt64 {
        ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
    }

    static func count(_ usual: Int) -> Int {
        ProcessInfo.processInfo.environment["ROUNDS"].flatMap { Int($0) } ?? usual
    }
}
