import DAOCore
import Foundation

/// C2, L3, L4 and O1 with real processes.
enum Processes {
    static let cases: [ConformanceCase] = sharing + waiting + observing + killing + filling()

    private static let sharing: [ConformanceCase] = [
        ConformanceCase(
            "C.processesSeeCommits", "C2",
            title: "each process sees the commits of the other process, and nothing uncommitted",
            requires: [.processes]
        ) { context in
            let ledger = try ProcessLedger(context.open())
            let process = try context.startProcess()
            try expectEqual(try process.ask("count"), "0", "the count of the other process")
            try ledger.increment()
            try expectEqual(try process.ask("count"), "1", "the count of the other process")
            try expectEqual(try process.ask("increment 2"), "done")
            try expectEqual(try ledger.count(), 3, "the count in this process")
            try expectEqual(try process.ask("hold"), "holding")
            try expectEqual(try ledger.count(), 3, "the count in this process while the other process is in a transaction")
            try expectEqual(try process.ask("rollback"), "ended")
            try expectEqual(try ledger.count(), 3, "the count in this process after the rollback of the other process")
        },
        ConformanceCase(
            "C.processesIncrement", "C2", "T4", title: "increments by three processes all count", requires: [.processes]
        ) {
            context in
            let ledger = try ProcessLedger(context.open())
            let processes = try (0..<2).map { _ in try context.startProcess() }
            for process in processes { try process.say("increment 100") }
            for _ in 0..<100 { try ledger.increment() }
            for process in processes { try expectEqual(try process.next(), "done", "the answer") }
            try expectEqual(try ledger.count(), 300, "the count")
        },
        ConformanceCase(
            "C.freshReads", "C4", title: "a read after many others sees each commit of this and of another process",
            requires: [.processes]
        ) { context in
            let ledger = try ProcessLedger(context.open())
            let process = try context.startProcess()
            for round in 0..<30 {
                for _ in 0..<100 { _ = try ledger.count() }
                try expectEqual(try process.ask("increment 1"), "done")
                try expectEqual(try ledger.count(), 2 * round + 1, "the count after a commit of the other process")
                try ledger.increment()
                try expectEqual(try ledger.count(), 2 * round + 2, "the count after a commit of this process")
            }
        },
        ConformanceCase(
            "E.processAddsIndex", "E2", "C2",
            title: "a row that is stored right after another process has added an index is in the index",
            requires: [.processes, .evolution]
        ) { context in
            let database = try context.open()
            let ledger = try ProcessLedger(database)
            try expectEqual(try ledger.publish(.older, 1, 1), "done")
            let process = try context.startProcess()
            try expectEqual(try process.ask("count"), "0", "the count")
            try expectEqual(try ledger.publish(.older, 2, 2), "done")
            // One commit; the next one is of this process, with nothing in between.
            try expectEqual(try process.ask("pamphlets indexed"), "1 t1 -, 2 t2 -", "what the other process reads")
            try expectEqual(try ledger.publish(.older, 3, 3), "done")
            try expectEqual(try process.ask("pamphlets indexed"), "1 t1 -, 2 t2 -, 3 t3 -", "what it reads by its index")
            try database.expectVerified()
        },
    ]

    private static let waiting: [ConformanceCase] = [
        ConformanceCase(
            "C.processHoldsLock", "C2", title: "a writer waits for another process until its timeout, then throws busy",
            requires: [.processes, .configuration, .serialWriters]
        ) { context in
            _ = try ProcessLedger(context.open())
            let process = try context.startProcess()
            try expectEqual(try process.ask("hold"), "holding")
            var refused: [ProcessLedger] = []
            for (timeout, most) in [(Duration.zero, Duration.seconds(10)), (.milliseconds(400), .seconds(20))] {
                let hasty = try ProcessLedger(context.open { $0.busyTimeout = timeout })
                let began = ContinuousClock.now
                try expectError(.busy, path: context.path) { try hasty.increment() }
                let waited = ContinuousClock.now - began
                try expect(waited >= timeout && waited < most, "busy after \(timeout), not \(waited)")
                try expectEqual(try hasty.count(), 0, "the count")
                refused.append(hasty)
            }
            let patient = try ProcessLedger(context.open { $0.busyTimeout = .seconds(100) })
            try process.say("commit")
            try patient.increment()
            try expectEqual(try patient.count(), 1001, "the count")
            // What was busy works on, from its next call on.
            for (number, hasty) in refused.enumerated() {
                try hasty.increment()
                try hasty.increment()
                try expectEqual(try hasty.count(), 1003 + 2 * number, "the count of a database that was busy")
            }
        },
        ConformanceCase(
            "C.processHoldsLockLater", "C2", "L11",
            title: "a writer waits until its timeout also after a compaction and an undone write",
            requires: [.processes, .configuration, .serialWriters]
        ) { context in
            let timeout = Duration.milliseconds(600)
            let database = try context.open { $0.busyTimeout = timeout }
            let ledger = try ProcessLedger(database)
            try ledger.increment()
            for what in ["a compaction", "an undone write", "a verification"] {
                switch what {
                case "a compaction": _ = try database.compact()
                case "an undone write": try expectRollback(of: database) { try ledger.increment() }
                default: try database.expectVerified()
                }
                let process = try context.startProcess()
                try expectEqual(try process.ask("hold"), "holding")
                let began = ContinuousClock.now
                try expectError(.busy, path: context.path) { try ledger.increment() }
                try expect(ContinuousClock.now - began >= timeout, "busy after \(ContinuousClock.now - began) beside \(what)")
                process.kill()
            }
            try expectEqual(try ledger.count(), 1, "the count")
        },
        ConformanceCase(
            concurrent: "C.processHoldsQueue", "C2",
            title: "writes that wait in a queue for another process are busy together, not one timeout after another",
            requires: [.processes, .configuration, .serialWriters]
        ) { context in
            let ledger = try ProcessLedger(context.open())
            let process = try context.startProcess()
            try expectEqual(try process.ask("hold"), "holding")
            let database = try context.open { $0.busyTimeout = .milliseconds(500) }
            let hasty = try ProcessLedger(database)
            let began = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<12 {
                    group.addTask {
                        try await expectAsyncError(.busy, path: context.path) {
                            try await database.transaction { try hasty.increment() }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let waited = ContinuousClock.now - began
            try expect(waited < .seconds(3), "twelve writes with a timeout of 0.5 s are busy after \(waited)")
            process.kill()
            try expectEqual(try ledger.count(), 0, "the count")
        },
    ]

    private static let observing: [ConformanceCase] = [
        ConformanceCase(
            concurrent: "O.otherProcess", "O1", "O2", "O5", "C2", title: "a commit of another process gives a new result",
            requires: [.processes]
        ) { context in
            let database = try context.open()
            let ledger = try ProcessLedger(database)
            try await ledger.counters.create(Counter(id: 1, value: 0))
            let process = try context.startProcess()
            var results = ledger.counters.observe().makeAsyncIterator()
            var sums = database.observe { try ledger.counters.sum(\.value) }.makeAsyncIterator()
            _ = try await (results.next(), sums.next())
            for number in 1...5 {
                try expectEqual(try process.ask("increment 1"), "done")
                let values = try await results.next()?.map(\.value)
                try expectEqual(values ?? [], [number], "the result after a commit of another process")
                let sum = try await sums.next()
                try expectEqual(sum, number, "the sum after a commit of another process")
            }
        },
        ConformanceCase(
            concurrent: "O.otherProcessBeforeOwn", "O1", "O2", "C2",
            title: "a commit of another process is noticed when one of this process to another entity follows at once",
            requires: [.processes]
        ) { context in
            let database = try context.open()
            let (ledger, others) = (try ProcessLedger(database), try database.dao(Item.self))
            try await ledger.counters.create(Counter(id: 1, value: 0))
            let process = try context.startProcess()
            var results = ledger.counters.observe().makeAsyncIterator()
            _ = try await results.next()
            for number in 1...10 {
                try expectEqual(try process.ask("increment 1"), "done")
                try await others.persist(Item(id: 1, name: "\(number)"))
                let values = try await results.next()?.map(\.value)
                try expectEqual(values ?? [], [number], "the result after a commit of another process")
            }
        },
    ]

    private static let killing: [ConformanceCase] = [
        ConformanceCase(
            "L.killedHolding", "L3", "C2",
            title: "a process killed in a transaction leaves nothing of the transaction and no lock",
            requires: [.otherProcess, .persistence]
        ) { context in
            var ledger = try ProcessLedger(context.open())
            for round in 0..<3 {
                try context.handOver(ledger.database)
                let process = try context.startProcess()
                try expectEqual(try process.ask("hold"), "holding")
                process.kill()
                if let reopened = try context.takeBack(ledger.database) { ledger = try ProcessLedger(reopened) }
                try expectEqual(try ledger.count(), round, "the count")
                try ledger.increment()
            }
            try expectEqual(try ledger.count(), 3, "the count")
        },
        ConformanceCase(
            "L.killed", "L3", "T6", title: "a process killed during commits leaves exactly the committed transactions",
            requires: [.otherProcess, .persistence]
        ) { context in
            var database = try context.open()
            for round in 0..<8 {
                try context.handOver(database)
                let process = try context.startProcess()
                try process.say("commit")
                var acknowledged = 0
                for _ in 0...round * 3 { acknowledged = try require(Int(process.next()), "a number") }
                process.kill()
                // The lines that the process wrote before it was killed, and that are still unread.
                while let line = try process.line(within: 60) { acknowledged = try require(Int(line), "a number") }
                if let reopened = try context.takeBack(database) { database = reopened }
                if round % 2 == 1 { database = try context.reopen(database) }
                let ledger = try ProcessLedger(database)
                let count = try ledger.count()
                try expect(
                    count == acknowledged || count == acknowledged + 1,
                    "\(acknowledged) transactions or one more, not \(count)")
                try ledger.expectWhole()
                _ = try ledger.commitBatch()
                try ledger.expectWhole()
            }
        },
    ]
}

extension Processes {
    #if os(Linux) || os(macOS)
        private static func filling() -> [ConformanceCase] {
            [
                ConformanceCase(
                    "L.outOfSpace", "L4", "W3",
                    title:
                        "without free space a write is outOfSpace and leaves nothing; reads work, and with free space writes work again",
                    requires: [.otherProcess, .file]
                ) { context in
                    var (database, posts) = try context.open(with: Post.self)
                    try context.handOver(database)
                    let process = try context.startProcess()
                    let words = try process.ask("fill").split(separator: " ")
                    process.kill()
                    if let reopened = try context.takeBack(database) {
                        (database, posts) = (reopened, try reopened.dao(Post.self))
                    }
                    try expectEqual(
                        words.first.map(String.init) ?? "", "outOfSpace", "the error, and the remaining words of '\(words)'")
                    let count = try require(words.last.flatMap { Int($0) }, "a number of rows")
                    try expect(count > 1, "more than \(count) rows")
                    // The rows are complete in this process, which always had space, and in the file.
                    try expectSame(try posts.read(), (0..<count).map(Filling.post), "the rows")
                    try posts.create(Filling.post(count))
                    database = try context.reopen(database)
                    try expectSame(try database.dao(Post.self).read(), (0...count).map(Filling.post), "the rows after reopening")
                }
            ]
        }
    #else
        private static func filling() -> [ConformanceCase] { [] }
    #endif
}

extension ConformanceContext {
    /// Starts another process that has the database of this case open, or the one that ``openOther(_:)`` opens; needs
    /// ``ConformanceCase/Requirement/processes``.
    func startProcess(at suffix: String? = nil) throws -> any ConformanceProcess {
        guard let start = target.startProcess else { throw fail("the target has no way to start another process") }
        let process = try start(suffix.map(location.appending) ?? location)
        try expectEqual(try process.next(), "open", "the first line of the other process")
        return process
    }
}

extension ConformanceProcess {
    /// Returns the next line; throws when there is none.
    func next() throws -> String { try require(line(within: 60), "a line from the other process") }

    /// Sends one line and returns the answer.
    func ask(_ line: String) throws -> String {
        try say(line)
        return try next()
    }
}
