import DAOCore
import Foundation
import Testing

@Suite(.timeLimit(.minutes(30))) struct ExecutorTests {
    @Test func cancelledWorkInTheQueueDoesNotRun() async throws {
        let executor = DatabaseExecutor(name: "test")
        let (release, begun) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let first = Task {
            try await executor.write {
                begun.signal()
                release.wait()
                return 1
            }
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                begun.wait()
                continuation.resume()
            }
        }
        let second = Task { try await executor.write { 2 } }
        let third = Task { try await executor.write { 3 } }
        try await Task.sleep(for: .milliseconds(50))
        second.cancel()
        first.cancel()
        release.signal()
        #expect(try await first.value == 1, "running work is completed")
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(try await third.value == 3)
    }
}
