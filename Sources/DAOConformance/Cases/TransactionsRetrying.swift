import DAOCore
import Foundation

/// T8: a transaction that runs again after a conflict.
enum TransactionsRetrying {
    static let cases: [ConformanceCase] = [
        ConformanceCase("T.retries", "T8", "T1", title: "a retrying transaction runs again after a conflict, and undoes each run")
        {
            context in
            let (database, items) = try context.open(with: Item.self)
            for (retries, conflicts) in [(3, 0), (3, 2), (3, 3), (0, 0), (-1, 0), (1, 2), (0, 1), (-1, 1)] {
                try items.erase()
                var runs = 0
                func run() throws -> Int {
                    try database.transaction(retrying: retries) {
                        runs += 1
                        try items.create(Item.make([runs]))
                        if runs <= conflicts { throw conflict }
                        return runs
                    }
                }
                let what = "with \(conflicts) conflicts and \(retries) retries"
                if conflicts <= max(retries, 0) {
                    try expectEqual(try run(), conflicts + 1, "the result \(what)")
                    try expectEqual(try items.read().map(\.id), [conflicts + 1], "the rows \(what)")
                } else {
                    try expectError(.conflict, what, message: "deliberate") { try run() }
                    try expectEqual(runs, max(retries, 0) + 1, "runs \(what)")
                    try expectEqual(try items.count(), 0, "rows \(what)")
                }
            }
        },
        ConformanceCase(
            "T.retriesNothingElse", "T8", title: "other errors end a retrying transaction, and the plain form runs once"
        ) {
            context in
            let (database, items) = try context.open(with: Item.self)
            var runs = 0
            try expectDeliberate {
                try database.transaction(retrying: 5) {
                    runs += 1
                    throw DeliberateError()
                }
            }
            try expectError(.duplicateKey, entity: "item", key: 1, field: "id") {
                try database.transaction(retrying: 5) {
                    runs += 1
                    try items.create(Item.make([1, 1]))
                }
            }
            try expectError(.conflict, message: "deliberate") {
                try database.transaction {
                    runs += 1
                    throw conflict
                }
            }
            try expectEqual(runs, 3, "runs")
        },
        ConformanceCase(
            "T.retriesOutside", "T8", "T2", title: "inside a transaction a retrying one runs once, and the outer one runs again",
            requires: [.savepoints]
        ) { context in
            let (database, items) = try context.open(with: Item.self)
            var (outer, inner) = (0, 0)
            try database.transaction(retrying: 1) {
                outer += 1
                try items.create(Item.make([outer]))
                try database.transaction(retrying: 5) {
                    inner += 1
                    try items.create(Item.make([10 + inner]))
                    if inner == 1 { throw conflict }
                }
            }
            try expectEqual([outer, inner], [2, 2], "runs")
            try expectEqual(try items.read().map(\.id), [2, 12])
        },
        ConformanceCase("T.retriesAfterRead", "T8", "W7", title: "a retrying transaction that reads again stores its change") {
            context in
            let (database, proposals) = try context.open(with: Proposal.self)
            try proposals.create(Proposal(id: 1, title: "a"))
            var cached = try proposals.read(byPrimaryKey: 1)
            try proposals.update(where: { $0.id == 1 }) { $0.title = "b" }
            try database.transaction(retrying: 1) {
                var proposal = try require(cached ?? proposals.read(byPrimaryKey: 1), "the proposal")
                cached = nil
                proposal.title += "c"
                try proposals.persist(proposal)
            }
            try expectSame(try proposals.read(), [Proposal(id: 1, title: "bc", revision: 3)])
        },
        ConformanceCase(concurrent: "T.retriesAsync", "T8", title: "the asynchronous form runs again too, unless it is cancelled")
        {
            context in
            let (database, items) = try context.open(with: Item.self)
            let runs = Shared(0)
            let result = try await database.transaction(retrying: 2) {
                let run = runs.change {
                    $0 += 1
                    return $0
                }
                try items.create(Item.make([run]))
                if run < 3 { throw conflict }
                return run
            }
            try expectEqual(result, 3, "the result")
            let stored = try await items.read().map(\.id)
            try expectEqual(stored, [3])
            let task = Task(executorPreference: TaskThreads.shared) {
                try await database.transaction(retrying: .max) { () throws -> Void in
                    runs.change { $0 += 1 }
                    throw conflict
                }
            }
            let deadline = ContinuousClock.now + .seconds(10)
            while runs.value < 10, .now < deadline { try await Task.sleep(for: .milliseconds(1)) }
            task.cancel()
            let ended = await task.result
            guard case .failure(let error) = ended, error is CancellationError else {
                throw fail("expected a CancellationError, got \(ended)")
            }
        },
    ]

    private static var conflict: StorageError { StorageError(.conflict, "deliberate") }
}
