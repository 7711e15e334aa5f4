import DAOConformance
import Foundation

/// Runs a test that waits for other processes on a separate thread, so that it does not block other tests.
func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withTaskExecutorPreference(TaskThreads.shared) { try body() }
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
