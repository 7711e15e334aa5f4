import DAOCore
import Foundation

/// C2, L3, L4 and O1 with real processes.
enum Processes {
    static let cases: [ConformanceCase] = sharing + waiting + observing + killing + filling()

    private static let sharing: [ConformanceCase] = [
        ConformanceCase(
            "C.peersSee", "C2", title: "each process sees what the other has committed, and nothing else",
            requires: [.processes]
        ) { context in
            let ledger = try ProcessLedger(context.open())
            let peer = try context.startProcess()
            try expectEqual(try peer.ask("count"), "0", "the count of the other process")
            try ledger.increment()
            try expectEqual(try peer.ask("count"), "1", "the count of the other process")
            try expectEqual(try peer.ask("increment 2"), "done")
            try expectEqual(try ledger.count(), 3, "the count here")
            try expectEqual(try peer.ask("hold"), "holding")
            try expectEqual(try ledger.count(), 3, "the count here, while the other is in a transaction")
            try expectEqual(try peer.ask("rollback"), "ended")
            try expectEqual(try ledger.count(), 3, "the count here, after its rollback")
        },
        ConformanceCase(
            "C.peersCount", "C2", "T4", title: "increments by three processes are all there", requires: [.processes]
        ) {
            context in
            let ledger = try ProcessLedger(context.open())
            let peers = try (0..<2).map { _ in try context.startProcess() }
            for peer in peers { try peer.say("increment 100") }
            for _ in 0..<100 { try ledger.increment() }
            for peer in peers { try expectEqual(try peer.next(), "done", "the answer") }
            try expectEqual(try ledger.count(), 300, "the count")
        },
    ]

    private static let waiting: [ConformanceCase] = [
        ConformanceCase(
            "C.peerHolds", "C2", title: "a writer waits for another process as long as it is configured, then is busy",
            requires: [.processes, .configuration]
        ) { context in
            _ = try ProcessLedger(context.open())
            let peer = try context.startProcess()
            try expectEqual(try peer.ask("hold"), "holding")
            for (timeout, most) in [(Duration.zero, Duration.seconds(10)), (.milliseconds(400), .seconds(20))] {
                let hasty = try ProcessLedger(context.open { $0.busyTimeout = timeout })
                let began = ContinuousClock.now
                try expectError(.busy, path: context.path) { try hasty.increment() }
                let waited = ContinuousClock.now - began
                try expect(waited >= timeout && waited < most, "busy after \(timeout), not \(waited)")
                try expectEqual(try hasty.count(), 0, "the count")
            }
            let patient = try ProcessLedger(context.open { $0.busyTimeout = .seconds(100) })
            try peer.say("commit")
            try patient.increment()
            try expectEqual(try patient.count(), 1001, "the count")
        }
    ]

    private static let observing: [ConformanceCase] = [
        ConformanceCase(
            concurrent: "O.peer", "O1", "O2", "C2", title: "a commit of another process gives a new result",
            requires: [.processes]
        ) { context in
            let database = try context.open()
            let ledger = try ProcessLedger(database)
            try await ledger.counters.create(Counter(id: 1, value: 0))
            let peer = try context.startProcess()
            var results = ledger.counters.observe().makeAsyncIterator()
            _ = try await results.next()
            for number in 1...5 {
                try expectEqual(try peer.ask("increment 1"), "done")
                let values = try await results.next()?.map(\.value)
                try expectEqual(values ?? [], [number], "the result after a commit of another process")
            }
        }
    ]

    private static let killing: [ConformanceCase] = [
        ConformanceCase(
            "L.killedHolding", "L3", "C2",
            title: "a process killed in a transaction leaves nothing of it, and locks nobody out",
            requires: [.processes]
        ) { context in
            let ledger = try ProcessLedger(context.open())
            for round in 0..<3 {
                let peer = try context.startProcess()
                try expectEqual(try peer.ask("hold"), "holding")
                peer.kill()
                try expectEqual(try ledger.count(), round, "the count")
                try ledger.increment()
            }
            try expectEqual(try ledger.count(), 3, "the count")
        },
        ConformanceCase(
            "L.killed", "L3", "T6", title: "a process killed while it commits leaves exactly what it had committed",
            requires: [.processes, .persistence]
        ) { context in
            var database = try context.open()
            for round in 0..<8 {
                let peer = try context.startProcess()
                try peer.say("commit")
                var acknowledged = 0
                for _ in 0...round * 3 { acknowledged = try require(Int(peer.next()), "a number") }
                peer.kill()
                // What it said before it was killed, and nobody has read yet.
                while let line = try peer.line(within: 60) { acknowledged = try require(Int(line), "a number") }
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
                        "without space a write is outOfSpace and leaves nothing, reading goes on, and with space so does writing",
                    requires: [.processes, .file]
                ) { context in
                    var database = try context.open()
                    let posts = try database.dao(Post.self)
                    let words = try context.startProcess().ask("fill").split(separator: " ")
                    try expectEqual(words.first.map(String.init) ?? "", "outOfSpace", "the error, and the rest of '\(words)'")
                    let count = try require(words.last.flatMap { Int($0) }, "a number of rows")
                    try expect(count > 1, "more than \(count) rows")
                    // Here, where there was room all the time, and in the file.
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
    /// Starts another process that has this case's database open; needs
    /// ``ConformanceCase/Requirement/processes``.
    func startProcess() throws -> any ConformanceProcess {
        guard let start = target.startProcess else { throw fail("the target has no way to start another process") }
        let peer = try start(location)
        try expectEqual(try peer.next(), "open", "the first words of the other process")
        return peer
    }
}

extension ConformanceProcess {
    /// The next line, which has to come.
    func next() throws -> String { try require(line(within: 60), "a line from the other process") }

    /// Says one thing and returns the answer.
    func ask(_ line: String) throws -> String {
        try say(line)
        return try next()
    }
}
