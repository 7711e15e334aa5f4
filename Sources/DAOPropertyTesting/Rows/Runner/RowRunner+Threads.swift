import DAOConformance
import DAOCore
import Foundation

// Steps on several threads, and in the wrong hands.

extension RowRunner {
    /// Deals steps out to threads that begin at once, and waits for all of them.
    ///
    /// - Parameter opened: What the threads use, in turn.
    func race(_ operation: RowStep, _ opened: [OpenDatabase]) -> [Outcome] {
        // This thread touches neither until the others have ended; they only read what both hold.
        nonisolated(unsafe) let (runner, opened) = (self, opened)
        let outcomes = Shared<[Outcome]>(operation.inner.map { _ in .wrong("the step did not end") })
        let count = max(1, operation.number ?? 2)
        let arrived = Shared(0)
        let threads = (0..<count).map { thread in
            Background {
                // No thread waits to be woken: they would begin one after the other.
                arrived.change { $0 += 1 }
                while arrived.value < count { sched_yield() }
                for index in stride(from: thread, to: operation.inner.count, by: count) {
                    let outcome = Outcome.retrying { runner.perform(operation.inner[index], on: opened[thread % opened.count]) }
                    outcomes.change { $0[index] = outcome }
                }
            }
        }
        // What has not ended in time says so itself.
        for thread in threads { try? thread.wait(seconds: patience) }
        return outcomes.value
    }

    /// Does steps in a task that inherits a transaction which is not its own.
    func outlive(_ operation: RowStep, on opened: OpenDatabase) -> Outcome {
        // This thread touches neither until the task has ended.
        nonisolated(unsafe) let (runner, opened) = (self, opened)
        let outcomes = Shared<[Outcome]>([])
        let own = Outcome.of {
            try PropertyTesting.inherit(in: opened.database, whileItRuns: operation.flag, patience: patience) {
                for step in operation.inner {
                    let outcome = runner.perform(step, on: opened)
                    outcomes.change { $0.append(outcome) }
                }
            }
            return .done
        }
        return .nested(outcomes.value, own)
    }

    /// Asks for what no database has.
    func unpromised(_ database: any Database) throws -> Outcome {
        try expect(
            !database.capabilities.underlyingTypes.contains(UnderlyingType(UnknownHandle.self)),
            "no promise of a opened that no database has")
        try database.underlying(as: UnknownHandle.self) { _ in }
        return .done
    }
}
