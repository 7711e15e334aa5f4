import DAOCore
import Foundation

/// Chapter O: an observation delivers results and differences after every commit that changes them, and only
/// then.
enum Observations {
    static let cases: [ConformanceCase] = results + commits + differences + ends

    /// Reads results from an observation one by one. Each read has a timeout that no result ever needs.
    struct Results<Sequence: AsyncSequence>: @unchecked Sendable where Sequence.Element: Sendable {
        // One task uses the iterator at a time: every case awaits a result before it asks for the next.
        private var iterator: Sequence.AsyncIterator

        init(_ sequence: Sequence) { iterator = sequence.makeAsyncIterator() }

        mutating func next(_ what: String) async throws -> Sequence.Element {
            guard let element = try await iterator.next() else { throw fail("expected \(what), and the observation ended") }
            return element
        }
    }

    private static let results: [ConformanceCase] = [
        ConformanceCase(concurrent: "O.first", "O1", title: "an observation begins with the result, even if empty") { context in
            let dao = try context.open().dao(Item.self)
            var empty = Results(dao.observe())
            let none = try await empty.next("the first result")
            try expectEqual(none.count, 0, "the empty result")
            try await dao.create(Item.make(1...3))
            var full = Results(dao.observe { $0.id > 1 })
            let two = try await full.next("the first result")
            try expectEqual(two.map(\.id), [2, 3], "the first result")
        },
        ConformanceCase(concurrent: "O.commit", "O1", title: "every commit that changes the result gives a new one") { context in
            let dao = try context.open().dao(Item.self)
            try await dao.create(Item.make(1...3))
            var results = Results(dao.observe(orderedBy: .descending(\.number), limit: 2) { $0.number >= 20 })
            var ids = try await results.next("the first result").map(\.id)
            try expectEqual(ids, [3, 2], "the first result")
            try await dao.create(Item.make([4]))
            ids = try await results.next("a result after an insert").map(\.id)
            try expectEqual(ids, [4, 3], "after an insert at the top")
            try await dao.update(where: { $0.id == 4 }) { $0.number = 25 }
            ids = try await results.next("a result after a move").map(\.id)
            try expectEqual(ids, [3, 4], "after a row moved")
            try await dao.erase(byPrimaryKey: 3)
            ids = try await results.next("a result after an erase").map(\.id)
            try expectEqual(ids, [4, 2], "after an erase, when the next row moves into the window")
            try await dao.update(where: { $0.id == 4 }) { $0.number = 0 }
            ids = try await results.next("a result after an update").map(\.id)
            try expectEqual(ids, [2], "after a row no longer matches the condition")
        },
        ConformanceCase(concurrent: "O.set", "O1", "W8", title: "setting a field of many rows gives a single result") { context in
            let dao = try context.open().dao(Item.self)
            try await dao.create(Item.make(1...3))
            var results = Results(dao.observe { $0.number > 10 })
            _ = try await results.next("the first result")
            let count = try await dao.set(\.number, to: 50) { $0.id < 3 }
            try expectEqual(count, 2, "the number of rows")
            var ids = try await results.next("a result").map(\.id)
            try expectEqual(ids, [1, 2, 3], "after two rows were set")
            try await dao.set(\.number, to: 0, where: Condition { $0.id == 2 })
            ids = try await results.next("a result").map(\.id)
            try expectEqual(ids, [1, 3], "after a row was set that no longer matches")
        },
        ConformanceCase(
            concurrent: "O.throughInverse", "O5", "R12",
            title: "a condition on the rows that refer to a related row is judged again when such a row alone is committed"
        ) { context in
            let (database, agendas) = try context.open(with: Agenda.self)
            try await database.dao(Person.self).create(Person(id: 1, name: "Ada"))
            try await database.dao(Errand.self).create(Errand(id: 1, owner: Reference(1)))
            try await agendas.create(Agenda(id: 1, next: Reference(1)))
            let receipts = try database.dao(Receipt.self)
            var results = Results(agendas.observe { $0.next[Errand.receipts].count > 0 })
            var ids = try await results.next("the first result").map(\.id)
            try expectEqual(ids, [], "before there is a receipt")
            try await receipts.create(Receipt(id: "a", errand: Reference(1)))
            ids = try await results.next("a result").map(\.id)
            try expectEqual(ids, [1], "after a receipt was stored")
            try await receipts.erase(byPrimaryKey: "a")
            ids = try await results.next("a result").map(\.id)
            try expectEqual(ids, [], "after it was erased")
        },
        ConformanceCase(concurrent: "O.oneCommit", "O1", title: "a transaction of many writes gives a single result") { context in
            let (database, dao) = try context.open(with: Item.self)
            var results = Results(dao.observe())
            _ = try await results.next("the first result")
            try await database.transaction {
                for id in 1...20 { try dao.create(Item.make([id])) }
                try dao.erase(byPrimaryKey: 7)
            }
            let count = try await results.next("a result").count
            try expectEqual(count, 19, "rows in the one result")
        },
        ConformanceCase(
            concurrent: "O.nothing", "O1",
            title: "a rollback, an identical write, a rolled-back savepoint or a change of an unrelated row gives no result"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            let counters = try database.dao(Counter.self)
            try await dao.create(Item.make(1...3))
            var results = Results(dao.observe { $0.id <= 2 })
            _ = try await results.next("the first result")
            do {
                let _: Void = try await database.transaction {
                    try dao.erase()
                    throw DeliberateError(number: 1)
                }
            } catch is DeliberateError {}
            try await dao.persist(Item.make(1...2))
            try await dao.update(where: { $0.id == 3 }) { $0.name = "outside" }
            try await counters.create(Counter(id: 1, value: 1))
            try await database.transaction {
                do {
                    try database.transaction {
                        try dao.erase()
                        throw DeliberateError(number: 2)
                    }
                } catch is DeliberateError {}
            }
            // A result of the writes above would arrive before the result of this write.
            try await dao.update(where: { $0.id == 1 }) { $0.name = "inside" }
            let names = try await results.next("the result of the last write").map(\.name)
            try expectEqual(names, ["inside", "Item #2"], "the next result")
        },
        ConformanceCase(
            concurrent: "O.slow", "O2",
            title: "a slow consumer may miss intermediate results, never the last, and results never go back in time"
        ) {
            context in
            let dao = try context.open().dao(Counter.self)
            try await dao.create(Counter(id: 1, value: 0))
            var results = Results(dao.observe())
            _ = try await results.next("the first result")
            let writer = Task.detached(executorPreference: TaskThreads.shared) {
                for value in 1...200 { try await dao.persist(Counter(id: 1, value: value)) }
            }
            var last = 0
            while last < 200 {
                let value = try await results.next("a later result").first?.value ?? -1
                try expect(value > last, "results in the order of commits, not \(value) after \(last)")
                last = value
            }
            try await writer.value
        },
        ConformanceCase(
            concurrent: "O.secondHandle", "O1", "C3", title: "commits through another handle of the same process are seen"
        ) { context in
            let (one, two) = (try context.open(), try context.open())
            let (observed, written) = (try one.dao(Item.self), try two.dao(Item.self))
            var results = Results(observed.observe())
            _ = try await results.next("the first result")
            try await written.create(Item.make([5]))
            let ids = try await results.next("a result").map(\.id)
            try expectEqual(ids, [5], "the row of the other handle")
        },
    ]

    private static let commits: [ConformanceCase] = [
        ConformanceCase(
            concurrent: "O.severalEntities", "O1",
            title: "a commit of several entities reaches the observations of each of them"
        ) { context in
            let database = try context.open()
            let (items, counters, users) = (
                try database.dao(Item.self), try database.dao(Counter.self), try database.dao(User.self)
            )
            var (ofItems, ofCounters, ofUsers) = (
                Results(items.observe()), Results(counters.observe()), Results(users.observe())
            )
            _ = try await (ofItems.next("the first"), ofCounters.next("the first"), ofUsers.next("the first"))
            try await database.transaction {
                try items.create(Item.make([1]))
                try counters.create(Counter(id: 2, value: 2))
                try users.create(User(id: 3, name: "three", age: 3))
            }
            let item = try await ofItems.next("a result of items").map(\.id)
            let counter = try await ofCounters.next("a result of counters").map(\.id)
            let user = try await ofUsers.next("a result of users").map(\.id)
            try expectEqual(item, [1], "the items")
            try expectEqual(counter, [2], "the counters")
            try expectEqual(user, [3], "the users")
        },
        ConformanceCase(
            concurrent: "O.neighbours", "O1", "O3",
            title: "a related row that moves to a neighbouring list or to-one gives a new result"
        ) { context in
            let (_, boards) = try context.open(with: Board.self)
            let label = Label.make(1)
            let moves = [
                Board(id: 1, todo: [label], done: [], author: nil, editor: nil),
                Board(id: 1, todo: [], done: [label], author: nil, editor: nil),
                Board(id: 1, todo: [], done: [], author: label, editor: nil),
                Board(id: 1, todo: [], done: [], author: nil, editor: label),
                Board(id: 1, todo: [], done: [label], author: nil, editor: nil),
            ]
            try await boards.create(moves[0])
            var (rows, row) = (Results(boards.observe()), Results(boards.observe(byPrimaryKey: 1)))
            for (number, board) in moves.enumerated() {
                if number > 0 { try await boards.persist(board) }
                let all = try await rows.next("the boards, move \(number)")
                try expectEqual(all, [board], "the boards, move \(number)")
                let one = try await row.next("the board, move \(number)")
                try expectEqual(one, board, "the board, move \(number)")
            }
        },
        ConformanceCase(concurrent: "O.reopened", "O1", "L2", title: "a reopened database can be observed as before") { context in
            let (first, before) = try context.open(with: Item.self)
            var results = Results(before.observe())
            _ = try await results.next("the first result")
            try first.close()
            let dao = try context.open().dao(Item.self)
            var again = Results(dao.observe { $0.id == 7 })
            _ = try await again.next("the first result of the second observation")
            try await dao.create(Item.make([7]))
            let ids = try await again.next("a result after an insert").map(\.id)
            try expectEqual(ids, [7], "the result")
        },
    ]

    private static let differences: [ConformanceCase] = [
        ConformanceCase(concurrent: "O.difference", "O3", title: "a change has inserted, updated and erased keys") { context in
            let (database, dao) = try context.open(with: Item.self)
            try await dao.create(Item.make(1...4))
            var changes = Results(dao.observeChanges(Query(where: Condition { $0.number < 100 })))
            let first = try await changes.next("the first result")
            try expectEqual(first.inserted, [1, 2, 3, 4], "keys inserted in the first change")
            try await database.transaction {
                try dao.erase(byPrimaryKeys: [1, 3])
                try dao.create(Item.make([7, 6]))
                try dao.update(where: { $0.id == 2 }) { $0.note = "changed" }
                try dao.update(where: { $0.id == 4 }) { $0.number = 1000 }
            }
            let change = try await changes.next("the change")
            try expectEqual(change.elements.map(\.id), [2, 6, 7], "the result")
            try expectEqual(change.inserted, [6, 7], "inserted")
            try expectEqual(change.updated, [2], "updated")
            try expectEqual(change.erased, [1, 3, 4], "keys that were erased or no longer match the condition")
        }
    ]

    private static let ends: [ConformanceCase] = [
        ConformanceCase(concurrent: "O.cancel", "O4", title: "cancelling the task ends a waiting observation") { context in
            let dao = try context.open().dao(Item.self)
            let (started, wait) = AsyncStream<Void>.makeStream()
            let task = Task.detached(executorPreference: TaskThreads.shared) {
                for try await _ in dao.observe() { wait.yield() }
            }
            for await _ in started { break }
            task.cancel()
            do {
                try await task.value
            } catch is CancellationError {}
            try await dao.create(Item.make([1]))
        },
        ConformanceCase(
            concurrent: "O.close", "O4", "L2", title: "closing the database ends a waiting observation with closed"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            let (started, wait) = AsyncStream<Void>.makeStream()
            let task = Task.detached(executorPreference: TaskThreads.shared) {
                for try await _ in dao.observe() { wait.yield() }
            }
            for await _ in started { break }
            try database.close()
            do {
                try await task.value
                throw fail("expected the observation to throw closed")
            } catch let error as StorageError {
                try expectEqual(error.kind, .closed, "the observation's error")
            }
        },
        ConformanceCase(
            concurrent: "O.many", "O1", "O4", title: "fifty observers that stop early miss nothing and block nothing"
        ) { context in
            let dao = try context.open().dao(Item.self)
            try await dao.create(Item.make([1]))
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        for try await items in dao.observe() where items.count >= 11 { return items.count }
                        return 0
                    }
                }
                for id in 2...11 { try await dao.create(Item.make([id])) }
                for try await count in group { try expectEqual(count, 11, "rows at the end") }
            }
            try await dao.erase()
        },
    ]
}

/// Two lists of one kind beside each other, and two related rows.
private struct Board: Plain, Model, Equatable {
    var id: Int
    var todo: [Label]
    var done: [Label]
    var author: Label?
    var editor: Label?

    static let schema = Schema(
        "board", Self.init, Field("id", \.id, .primaryKey), Field("todo", \.todo, .linked), Field("done", \.done, .linked),
        Field("author", \.author, .linked), Field("editor", \.editor, .linked))
}
