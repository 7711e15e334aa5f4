import Foundation
import Testing

@testable import DAOConformance

/// A test runner runs many tests at once, and each may compute for minutes on a thread of the pool that all tasks share. A store
/// that hangs may keep such threads for ever.
@Suite struct BusyPoolLatencyTests {
    @Test func casesNeedNoThreadOfTheSharedPool() async throws {
        let isDone = Shared(false)
        let busy = (0..<ProcessInfo.processInfo.activeProcessorCount).map { _ in
            Task.detached { while !isDone.value { usleep(100) } }
        }
        let hasAnotherRun = Shared(false)
        let another = Task.detached { hasAnotherRun.change { $0 = true } }
        let failures = Shared(["the suite did not end"])
        let suite = Background {
            let hasEnded = Signal()
            Task.detached(executorPreference: TaskThreads.shared) {
                let report = await Conformance.run(on: SuiteTests.array) {
                    // A list for a view follows its changes in a task that is the application's.
                    if case .concurrent = $0.body { !$0.isHeavy && $0.id != "O.list" } else { false }
                }
                failures.change { $0 = report.failures.map { "\($0.id): \($0.explanation)" } }
                hasEnded.send()
            }
            _ = hasEnded.wait(seconds: 200)
            if hasAnotherRun.value { failures.change { $0.append("the pool was not busy") } }
            isDone.change { $0 = true }
        }
        try await Task.detached(executorPreference: TaskThreads.shared) { try suite.wait(seconds: 240) }.value
        for task in busy + [another] { await task.value }
        #expect(failures.value == [])
    }
}
