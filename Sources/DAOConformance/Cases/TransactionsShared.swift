import DAOCore
import Foundation

/// T9: asynchronous calls that share a commit.
enum TransactionsShared {
    static let cases: [ConformanceCase] = [
        ConformanceCase(
            concurrent: "T.sharedCommits", "T9", "W3",
            title: "of many asynchronous writes that wait at once each has its own error, and is there when it returns"
        ) { context in
            let database = try context.open()
            let (dao, other) = (try database.dao(Item.self), try context.dao(Item.self))
            try await dao.create(Item.make([0]))
            for round in 0..<3 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    // The others wait meanwhile.
                    group.addTask { try await database.transaction { Thread.sleep(forTimeInterval: 0.02) } }
                    for number in 1...40 {
                        group.addTask { try await write(Item.make([round * 1000 + number * 10]), number, dao, other, database) }
                    }
                    try await group.waitForAll()
                }
            }
            let ids = (0..<3).flatMap { round in (1...40).filter { $0 % 4 < 2 }.map { round * 1000 + $0 * 10 } }
            let found = try await dao.read().map(\.id)
            try expectEqual(found, ([0] + ids).sorted(), "the keys of all rows")
        },
        ConformanceCase(
            concurrent: "T.sharedCommitsCancelled", "T9", "C5", "W3",
            title:
                "of asynchronous writes that wait at once those that are cancelled take no other with them"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            for round in 0..<5 {
                let mayEnd = Signal()
                let hasBegun = Signal()
                // The others wait meanwhile.
                let holder = Background {
                    try database.transaction {
                        hasBegun.send()
                        _ = mayEnd.wait(seconds: 20)
                    }
                }
                try expect(hasBegun.wait(), "a transaction")
                let tasks = (1...24).map { number in
                    Task(executorPreference: TaskThreads.shared) { try await dao.create(Item.make([round * 100 + number])) }
                }
                try await Task.sleep(for: .milliseconds(20))
                for (index, task) in tasks.enumerated() where index % 3 == round % 3 { task.cancel() }
                mayEnd.send()
                try holder.wait(seconds: 30, "the transaction")
                var stored: [Int] = []
                for (index, task) in tasks.enumerated() {
                    let isCancelled = index % 3 == round % 3
                    do {
                        try await task.value
                        stored.append(round * 100 + index + 1)
                    } catch is CancellationError {
                        try expect(isCancelled, "row \(index + 1) of round \(round) is not cancelled with others")
                    }
                }
                let found = try await dao.read { $0.id >= round * 100 && $0.id < round * 100 + 100 }.map(\.id)
                try expectEqual(found, stored, "the rows of the calls of round \(round) that have returned without an error")
            }
        },
    ]

    /// Writes in one of four ways; half of them fail.
    private static func write(
        _ items: [Item], _ number: Int, _ dao: DAO<Item>, _ other: DAO<Item>,
        _ database: any Database
    ) async throws {
        switch number % 4 {
        case 0:
            try await dao.create(items)
            try expectSame(try read(items, other), items, "the row of a call that has returned")
        case 1:
            try await database.transaction { try dao.create(items) }
            try expectSame(try read(items, other), items, "the row of a transaction that has returned")
        case 2:
            // The first row is stored before the second fails.
            try await expectAsyncError(.duplicateKey, entity: "item", key: 0, field: "id") {
                try await dao.create(items + Item.make([0]))
            }
        default:
            do {
                try await database.transaction {
                    try dao.create(items)
                    throw DeliberateError(number: number)
                }
                throw fail("expected the error of the closure")
            } catch let error as DeliberateError {
                try expectEqual(error.number, number, "the error of the closure")
            }
        }
    }

    private static func read(_ items: [Item], _ dao: DAO<Item>) throws -> [Item] {
        try dao.read(byPrimaryKeys: items.map(\.id))
    }
}
