import DAOChildProcesses
import DAOConformance
import DAOCore
import DAOFileCalls
import Dispatch
import Foundation

/// Commands that write in many tasks at once (contract T9).
enum Tasks {
    /// `tasks <url> <tasks> <milliseconds>`: stores numbers in so many tasks while a sync takes 5 ms, and answers with the
    /// number of calls; with 0 where calls cannot be watched.
    static func run(_ arguments: ArraySlice<String>) throws {
        let words = Array(arguments)
        guard words.count == 3, let tasks = Int(words[1]), let milliseconds = Int(words[2]) else {
            throw ChildFailure("a number of tasks and a time are missing")
        }
        dao_calls_watch(try Commands.directory(arguments))
        let ledger = try Commands.ledger(arguments)
        dao_calls_set_delay(5000)
        dao_calls_fail(Int32(DAO_CALLS_SYNC), 1, Int32(DAO_CALLS_DELAY), 1)
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        let count = Lock(0)
        try together(tasks) { task in
            var number = 0
            while ContinuousClock.now < end {
                number += 1
                try await ledger.tallies.persist(Tally(id: task, value: number))
            }
            count.withLock { $0 += number }
        }
        answer(dao_calls_are_watched() == 0 ? 0 : count.withLock { $0 })
    }

    /// `crash-tasks <url>`: stores rows two by two in 16 tasks until it is killed. It prints the number of a task for each
    /// call that has returned.
    static func commitUntilKilled(_ arguments: ArraySlice<String>) throws {
        let ledger = try Commands.ledger(arguments)
        try together(16) { task in
            var id = task * 1_000_000 + (try await ledger.entries.count { $0.batch == task })
            while true {
                try await ledger.entries.create((0..<2).map { Entry(id: id + $0, batch: task, text: "\(id)") })
                id += 2
                answer(task)
            }
        }
    }

    /// `failing-tasks <url>`: stores a row in each of 32 tasks while no sync succeeds, and answers with the kinds of errors.
    static func fail(_ arguments: ArraySlice<String>) throws {
        dao_calls_watch(try Commands.directory(arguments))
        let ledger = try Commands.ledger(arguments)
        dao_calls_fail(Int32(DAO_CALLS_SYNC), 1, EIO, 1)
        let kinds = Lock<Set<String>>([])
        try together(32) { task in
            do {
                try await ledger.tallies.persist(Tally(id: task, value: 1))
                kinds.withLock { _ = $0.insert("none") }
            } catch let error as StorageError {
                kinds.withLock { _ = $0.insert(error.kind.rawValue) }
            }
        }
        answer(kinds.withLock { $0.sorted().joined(separator: " ") })
    }

    /// `full-tasks <url>`: stores a small row in each of 195 tasks, beside five whose rows are longer than a file may be, and
    /// answers with the number of small rows that were refused, and of long ones that were not.
    static func fill(_ arguments: ArraySlice<String>) throws {
        let ledger = try Commands.ledger(arguments)
        try DAOConformance.Filling.limitFiles(to: 8 << 20)
        let wrong = Lock((refused: 0, accepted: 0))
        let long = String(repeating: "long ", count: 4 << 20)
        try together(200) { task in
            let isLong = task % 40 == 20
            do {
                if isLong {
                    try await ledger.entries.create([Entry(id: task, batch: task, text: long)])
                    wrong.withLock { $0.accepted += 1 }
                } else {
                    try await ledger.tallies.persist(Tally(id: task, value: task))
                }
            } catch let error as StorageError where error.kind == .outOfSpace {
                if !isLong { wrong.withLock { $0.refused += 1 } }
            }
        }
        try DAOConformance.Filling.limitFiles(to: nil)
        answer(wrong.withLock { "\($0.refused) \($0.accepted)" })
    }

    /// Runs tasks and waits for them.
    private static func together(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void) throws {
        let done = DispatchSemaphore(value: 0)
        let failure = Lock<(any Error)?>(nil)
        Task.detached {
            do {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<count { group.addTask { try await body(number) } }
                    try await group.waitForAll()
                }
            } catch {
                failure.withLock { $0 = error }
            }
            done.signal()
        }
        done.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
