import DAOCore
import Foundation

/// N6, N7 and N8: transactions of several clients, of which one is another process.
enum ServersTransactions {
    static let cases: [ConformanceCase] = ([oneAfterAnother] + sideBySide + reading).requiring(.processes)

    private static let oneAfterAnother = ConformanceCase(
        "N.oneAfterAnother", "N6", "T4",
        title: "a transaction begins when that of another process has ended, sees what it has stored, and runs once",
        requires: [.serialWriters]
    ) { context in
        let (ledger, process) = try pair(context, [0])
        try expectEqual(try process.ask("transaction"), "begun")
        try expectEqual(try process.ask("get 1"), "0")
        let runs = Shared(0)
        let waiting = Background {
            try ledger.database.transaction {
                runs.change { $0 += 1 }
                try ledger.set(1, to: try ledger.value(1) + 1)
            }
        }
        try expectEqual(try process.ask("set 1 5"), "done")
        Thread.sleep(forTimeInterval: 0.1)
        try expectEqual(runs.value, 0, "the runs of the closure while the other process is in a transaction")
        try expectEqual(try ledger.value(1), 0, "what a read sees meanwhile")
        try expectEqual(try process.ask("commit"), "committed")
        try waiting.wait(seconds: 20)
        try expectEqual(runs.value, 1, "the runs of the closure")
        try expectEqual(try ledger.value(1), 6, "the number")
    }

    private static let sideBySide: [ConformanceCase] = [
        ConformanceCase(
            "N.lostUpdate", "N7", "T4", title: "an update of a row that another process has updated since is a conflict",
            lacks: [.serialWriters]
        ) { context in
            let (ledger, process) = try pair(context, [0])
            try expectConflict(of: ledger) {
                try expectEqual(try ledger.value(1), 0, "the number")
            } during: {
                try process.commit(["get 1": "0"], ["set 1 1"])
            } then: {
                try ledger.set(1, to: 10)
            }
            try expectEqual(try ledger.value(1), 1, "the number")
        },
        ConformanceCase(
            "N.writeSkew", "N7", "T4", title: "of two that each read what the other writes, one is a conflict",
            lacks: [.serialWriters]
        ) { context in
            // Each goes when the other stays.
            let (ledger, process) = try pair(context, [1, 1])
            try expectConflict(of: ledger) {
                try expectEqual(try ledger.value(2), 1, "the number")
            } during: {
                try process.commit(["get 1": "1"], ["set 2 0"])
            } then: {
                try ledger.set(1, to: 0)
            }
            try expectEqual(try ledger.sum(), 1, "how many stay")
        },
        ConformanceCase(
            "N.phantom", "N7", "T4", title: "of two that each add a row to what the other has read, one is a conflict",
            lacks: [.serialWriters]
        ) { context in
            let (ledger, process) = try pair(context, [])
            try expectConflict(of: ledger) {
                try expectEqual(try ledger.sum(), 0, "the sum")
            } during: {
                try process.commit(["sum": "0"], ["set 10 1"])
            } then: {
                try ledger.set(11, to: 1)
            }
            try expectEqual(try ledger.sum(), 1, "the sum")
        },
    ]

    private static let reading: [ConformanceCase] = [
        ConformanceCase(
            "N.readOnlyAnomaly", "N8", "N7", "T4", title: "what a transaction that only reads has seen is part of the order",
            lacks: [.serialWriters]
        ) { context in
            // A withdrawal sees neither a deposit nor who has seen it: the three fit into no order.
            let (ledger, process) = try pair(context, [0, 0])
            try expectConflict(of: ledger) {
                try expectEqual(try [ledger.value(1), ledger.value(2)], [0, 0], "the numbers")
            } during: {
                try process.commit([:], ["set 2 20"])
                try process.commit(["get 1": "0", "get 2": "20"], [])
            } then: {
                try ledger.set(1, to: -11)
            }
        },
        ConformanceCase(
            "N.snapshotBeside", "N8", "T3",
            title: "a snapshot sees one commit, waits for no writer of another process, and is no conflict",
            requires: [.snapshotReads]
        ) { context in
            let (ledger, process) = try pair(context, [0, 0])
            try expectEqual(try process.ask("transaction"), "begun")
            try expectEqual(try process.ask("set 1 1"), "done")
            try ledger.database.snapshot {
                try expectEqual(try ledger.value(1), 0, "the first number while the other process writes")
                try expectEqual(try process.ask("set 2 1"), "done")
                try expectEqual(try process.ask("commit"), "committed")
                try expectEqual(try [ledger.value(1), ledger.value(2)], [0, 0], "the numbers in the snapshot")
            }
            try expectEqual(try [ledger.value(1), ledger.value(2)], [1, 1], "the numbers after the snapshot")
        },
    ]

    /// Opens the database with numbers in rows from key 1, and another process.
    private static func pair(_ context: ConformanceContext, _ numbers: [Int]) throws -> (ProcessLedger, any ConformanceProcess) {
        let ledger = try ProcessLedger(context.open())
        try ledger.counters.create(numbers.enumerated().map { Counter(id: $0 + 1, value: $1) })
        return (ledger, try context.startProcess())
    }

    /// Expects that a transaction is a conflict and runs once, between whose halves another process has committed.
    private static func expectConflict(
        of ledger: ProcessLedger, file: StaticString = #fileID, line: UInt = #line, _ first: () throws -> Void,
        during other: () throws -> Void, then last: () throws -> Void
    ) throws {
        var runs = 0
        try expectKind(.conflict, "the transaction", file: file, line: line) {
            try ledger.database.transaction {
                runs += 1
                if runs > 1 { throw fail("expected one run of the closure", file: file, line: line) }
                try first()
                try other()
                try last()
            }
        }
    }
}

extension ConformanceProcess {
    /// Runs a transaction in the process: reads with their answers, then writes.
    fileprivate func commit(_ reads: KeyValuePairs<String, String>, _ writes: [String]) throws {
        try expectEqual(try ask("transaction"), "begun")
        for (read, answer) in reads { try expectEqual(try ask(read), answer, "the answer to '\(read)'") }
        for write in writes { try expectEqual(try ask(write), "done", "the answer to '\(write)'") }
        try expectEqual(try ask("commit"), "committed")
    }
}
