import DAOCore
import Foundation

// Steps on several threads, and in the wrong hands.

extension DatabaseRunner {
    /// Deals steps out to threads that begin at once, and waits for all of them.
    ///
    /// - Parameter handles: What the threads use, in turn.
    func race(_ operation: Step, _ handles: [Handle]) -> [Outcome] {
        // This thread touches neither until the others have ended; they only read what both hold.
        nonisolated(unsafe) let (runner, handles) = (self, handles)
        let outcomes = Shared<[Outcome]>(operation.inner.map { _ in .wrong("the step did not end") })
        let count = max(1, operation.number ?? 2)
        let arrived = Shared(0)
        let threads = (0..<count).map { thread in
            Background {
                // No thread waits to be woken: they would begin one after the other.
                arrived.change { $0 += 1 }
                while arrived.value < count { sched_yield() }
                for index in stride(from: thread, to: operation.inner.count, by: count) {
                    let outcome = runner.perform(operation.inner[index], on: handles[thread % handles.count])
                    outcomes.change { $0[index] = outcome }
                }
            }
        }
        // What has not ended in time says so itself.
        for thread in threads { try? thread.wait(seconds: patience) }
        return outcomes.value
    }

    /// Does steps in a task that inherits a transaction which is not its own.
    func outlive(_ operation: Step, on handle: Handle) -> Outcome {
        // This thread touches neither until the task has ended.
        nonisolated(unsafe) let (runner, handle) = (self, handle)
        let outcomes = Shared<[Outcome]>([])
        let own = Outcome.of {
            try RandomProof.inherit(in: handle.database, whileItRuns: operation.flag, patience: patience) {
                for step in operation.inner {
                    let outcome = runner.perform(step, on: handle)
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
            !database.capabilities.underlyingTypes.contains(UnderlyingType(RandomProof.UnknownHandle.self)),
            "no promise of a handle that no database has")
        try database.underlying(as: RandomProof.UnknownHandle.self) { _ in }
        return .done
    }
}

extension RandomProof {
    /// A handle of an engine that no database has.
    public struct UnknownHandle: UnderlyingHandle {}

    /// Runs a body in a task that inherits a transaction, and waits for it.
    ///
    /// - Parameters:
    ///   - database: Whose transaction it is.
    ///   - whileItRuns: Whether the transaction waits for the body; otherwise the body begins after its end.
    ///   - patience: How many seconds the body has.
    ///   - body: What to do with a transaction that is not its own.
    /// - Throws: What the transaction throws, or that the body does not end.
    public static func inherit(
        in database: any Database, whileItRuns: Bool, patience: Double = 60, _ body: @escaping () -> Void
    ) throws {
        // This thread touches nothing of the body's until that has ended.
        nonisolated(unsafe) let body = body
        let (begin, ended) = (AsyncStream<Void>.makeStream(), Signal())
        func wait() throws { try expect(ended.wait(seconds: patience), "the task that inherited a transaction to end") }
        try database.transaction {
            Task(executorPreference: TaskThreads.shared) {
                for await _ in begin.stream { break }
                body()
                ended.send()
            }
            guard whileItRuns else { return }
            begin.continuation.finish()
            try wait()
        }
        begin.continuation.finish()
        try wait()
    }
}
