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
        }
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
