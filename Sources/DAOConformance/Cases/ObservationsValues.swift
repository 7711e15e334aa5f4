import DAOCore
import Foundation

/// O5: observations of a row and of the value of a closure. O1, O2 and O4 hold for them.
enum ObservationsValues {
    static let cases: [ConformanceCase] = rows + values + entities + commits + ends

    private typealias Results = Observations.Results

    private static let rows: [ConformanceCase] = [
        ConformanceCase(
            concurrent: "O.row", "O1", "O5", title: "an observation of a key gives its row, nil when it is erased, and its return"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            var results = Results(dao.observe(byPrimaryKey: 7))
            var row = try await results.next("the first result")
            try expectEqual(row, nil, "a key that is not stored")
            try await dao.create(Item.make(6...8))
            row = try await results.next("a result after an insert")
            try expectEqual(row?.name, "Item #7", "the inserted row")
            // None of these gives a result: it would arrive before the result of the next write.
            try await dao.update(where: { $0.id == 6 }) { $0.name = "another row" }
            try await dao.persist(Item.make([7]))
            try await dao.erase(byPrimaryKey: 8)
            try await dao.update(where: { $0.id == 7 }) { $0.note = "changed" }
            row = try await results.next("a result after an update")
            try expectEqual(row?.note, "changed", "the updated row")
            try await dao.erase()
            row = try await results.next("a result after an erase")
            try expectEqual(row, nil, "the erased row")
            try await database.transaction {
                try dao.create(Item.make([7]))
                try dao.erase(byPrimaryKey: 7)
            }
            try await dao.create(Item.make([7]))
            row = try await results.next("a result after the row came back")
            try expectEqual(row?.id, 7, "the row that came back")
        },
        ConformanceCase(
            concurrent: "O.rowRelated", "O5", "R2", title: "an observation of a key sees changes of the related rows"
        ) { context in
            let (database, topics) = try context.open(with: Topic.self)
            try await topics.persist(Topic(id: "t", owner: Person(id: 1, name: "Ada"), posts: Post.make([1, 2])))
            var results = Results(topics.observe(byPrimaryKey: "t"))
            _ = try await results.next("the first result")
            try await database.dao(Post.self).update(where: { $0.id == 2 }) { $0.text = "changed" }
            var topic = try await results.next("a result after a change of a child")
            try expectEqual(topic?.posts.last?.text, "changed", "the text of the child")
            try await database.dao(Person.self).erase(byPrimaryKey: 1)
            topic = try await results.next("a result after the related row was erased")
            try expectEqual(topic?.owner, nil, "the erased row")
        },
        ConformanceCase(concurrent: "O.rowKey", "O5", "K1", title: "an observation of an impossible key throws invalidKey") {
            context in
            let dao = try context.dao(Item.self)
            var results = dao.observe(byPrimaryKey: "seven").makeAsyncIterator()
            try await expectAsyncError(.invalidKey, "the first result", entity: "item", key: "seven") {
                _ = try await results.next()
            }
            let after = try await results.next()
            try expect(after == nil, "nothing after the error")
        },
    ]

    private struct Totals: Equatable {
        var count: Int
        var sum: Int
        var average: Double?
        var least: Int?
        var greatest: Int?
        var hasNote: Bool

        init(_ items: DAO<Item>) throws {
            count = try items.count()
            sum = try items.sum(\.number) { $0.id < 100 }
            average = try items.average(\.number)
            least = try items.min(\.number)
            greatest = try items.max(\.number)
            hasNote = try items.exists { $0.note != nil }
        }
    }

    private static let values: [ConformanceCase] = [
        ConformanceCase(
            concurrent: "O.count", "O1", "O5", title: "an observation of a count gives a new count only when it differs"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try await dao.create(Item.make(1...3))
            var results = Results(database.observe { try dao.count { $0.number >= 20 } })
            var count = try await results.next("the first count")
            try expectEqual(count, 2, "the first count")
            // The count stays the same.
            try await dao.update(where: { $0.id == 3 }) { $0.name = "changed" }
            try await database.transaction {
                try dao.erase(byPrimaryKey: 2)
                try dao.create(Item.make([4]))
            }
            try await dao.create(Item.make([5, 6]))
            count = try await results.next("the next count")
            try expectEqual(count, 4, "the next count")
            try await dao.erase()
            count = try await results.next("a count after an erase")
            try expectEqual(count, 0, "the count of nothing")
        },
        ConformanceCase(
            concurrent: "O.totals", "O5", "Q7", title: "several totals in one closure are observed as one value"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            var results = Results(database.observe { try Totals(dao) })
            var totals = try await results.next("the first totals")
            try expectEqual(totals, try Totals(dao), "the totals of nothing")
            for change: @Sendable () throws -> Void in [
                { try dao.create(Item.make([1, 2, 200])) },
                { _ = try dao.update(where: { $0.id == 2 }) { $0.number = 500 } },
                { _ = try dao.update(where: { $0.id == 200 }) { $0.note = "noted" } },
                { _ = try dao.erase(byPrimaryKey: 1) },
            ] {
                try change()
                totals = try await results.next("the next totals")
                try expectEqual(totals, try Totals(dao), "the totals after a change")
            }
        },
        ConformanceCase(
            concurrent: "O.everyRead", "O5", title: "each way to read is a read of the closure"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            let query = Query<Item>(where: Condition { $0.number > 0 })
            let reads: [(String, @Sendable () throws -> Int)] = [
                ("read", { try dao.read().count }),
                ("first", { try dao.first()?.id ?? 0 }),
                ("key", { try dao.read(byPrimaryKey: 1)?.id ?? 0 }),
                ("keys", { try dao.read(byPrimaryKeys: [1, 2]).count }),
                ("page", { try dao.page(limit: 3).elements.count }),
                ("exists", { try dao.exists(byPrimaryKey: 1) ? 1 : 0 }),
                ("count", { try dao.count(query) }),
                ("sum", { try dao.sum(\.number) }),
                ("max", { try dao.max(\.number) ?? 0 }),
                ("storage keys", { try dao.storage.keys(query).count }),
                ("storage key", { try dao.storage.contains(key: .integer(1)) ? 1 : 0 }),
                (
                    "walk",
                    {
                        nonisolated(unsafe) var count = 0
                        try dao.forEach { _ in count += 1 }
                        return count
                    }
                ),
            ]
            for (name, read) in reads {
                var results = Results(database.observe(read))
                let before = try await results.next("the first value of \(name)")
                try expectEqual(before, 0, "the first value of \(name)")
                try await dao.create(Item.make([1]))
                let after = try await results.next("the next value of \(name)")
                try expect(after > 0, "a greater value of \(name)")
                try await dao.erase()
            }
        },
    ]

    private static let entities: [ConformanceCase] = [
        ConformanceCase(
            concurrent: "O.conditionalReads", "O5", title: "the entities that a closure reads may differ from run to run"
        ) { context in
            let database = try context.open()
            let (items, counters) = (try database.dao(Item.self), try database.dao(Counter.self))
            // While there are items, it reads counters; otherwise it reads items only.
            var results = Results(
                database.observe { try items.count() == 0 ? -1 : (try counters.read(byPrimaryKey: 1)?.value ?? 0) })
            func next(_ expected: Int, _ what: String) async throws {
                let value = try await results.next("a value \(what)")
                try expectEqual(value, expected, what)
            }
            try await next(-1, "at first")
            try await counters.create(Counter(id: 1, value: 1))
            try await items.create(Item.make([1]))
            try await next(1, "after the second entity began to be read")
            try await counters.persist(Counter(id: 1, value: 2))
            try await next(2, "after a commit of the second entity")
            try await items.erase()
            try await next(-1, "after the second entity is no longer read")
            try await counters.persist(Counter(id: 1, value: 3))
            try await items.create(Item.make([1]))
            try await next(3, "after it is read again")
        },
        ConformanceCase(
            concurrent: "O.closureRelated", "O5", "P5", title: "a closure that reads related rows sees their changes"
        ) { context in
            let (database, topics) = try context.open(with: Topic.self)
            let posts = try database.dao(Post.self)
            try await topics.persist([Topic(id: "s", posts: Post.make([1])), Topic(id: "t", posts: Post.make([2]))])
            var counts = Results(database.observe { try topics.count { $0.posts.contains { $0.isRead } } })
            var texts = Results(database.observe { try topics.read().flatMap(\.posts).map(\.text) })
            var count = try await counts.next("the first count")
            try expectEqual(count, 0, "the first count")
            _ = try await texts.next("the first texts")
            try await posts.update(where: { $0.id == 1 }) { ($0.isRead, $0.text) = (true, "read") }
            count = try await counts.next("a count after a change of a child")
            try expectEqual(count, 1, "the count after a change of a child")
            var text = try await texts.next("texts after a change of a child")
            try expectEqual(text.first, "read", "the first text")
            try await posts.erase(byPrimaryKey: 1)
            count = try await counts.next("a count after a child was erased")
            try expectEqual(count, 0, "the count after a child was erased")
            text = try await texts.next("texts after a child was erased")
            try expectEqual(text.count, 1, "the texts")
        },
        ConformanceCase(
            concurrent: "O.severalDatabases", "O5", title: "a closure can read DAOs of several databases"
        ) { context in
            let (database, here) = try context.open(with: Counter.self)
            let other = try context.openOther()
            let there = try other.dao(Counter.self)
            var results = Results(database.observe { try [here.sum(\.value), there.sum(\.value)] })
            func next(_ expected: [Int], _ what: String) async throws {
                let value = try await results.next("a value \(what)")
                try expectEqual(value, expected, what)
            }
            try await next([0, 0], "at first")
            try await there.create(Counter(id: 1, value: 2))
            try await next([0, 2], "after a commit in the other database")
            try await here.create(Counter(id: 1, value: 1))
            try await next([1, 2], "after a commit in this database")
            try await there.create(Counter(id: 2, value: 2))
            try await next([1, 4], "after another commit in the other database")
            try other.close()
            try await expectAsyncError(.closed, "a result after the other database was closed") {
                _ = try await results.next("closed")
            }
        },
    ]

    private static let commits: [ConformanceCase] = [
        ConformanceCase(
            concurrent: "O.oneSnapshot", "O5", "T3", title: "all reads of one run belong to one commit",
            requires: [.snapshotReads]
        ) { context in
            let database = try context.open()
            let (items, counters) = (try database.dao(Item.self), try database.dao(Counter.self))
            try await counters.create(Counter(id: 1, value: 0))
            let writer = Task.detached(executorPreference: TaskThreads.shared) {
                for value in 1...100 {
                    try await database.transaction {
                        try items.create(Item.make([value]))
                        try counters.persist(Counter(id: 1, value: value))
                    }
                }
            }
            for try await pair in database.observe({ try [items.count(), counters.max(\.value) ?? 0] }) {
                try expectEqual(pair[0], pair[1], "two reads of one run")
                if pair[0] == 100 { break }
            }
            try await writer.value
        },
        ConformanceCase(
            concurrent: "O.firstRead", "O2", "O5", title: "no commit is missed while an entity is read for the first time"
        ) { context in
            let (database, other) = (try context.open(), try context.openOther())
            let (here, there) = (try database.dao(Counter.self), try other.dao(Counter.self))
            for round in 1...40 {
                let writer = Task.detached(executorPreference: TaskThreads.shared) {
                    for dao in round % 2 == 0 ? [here, there] : [there, here] {
                        try await dao.persist(Counter(id: 1, value: round))
                    }
                }
                for try await values in database.observe({
                    // The other database is read once the first is written.
                    let first = try here.read(byPrimaryKey: 1)?.value ?? 0
                    return first < round ? [first] : [first, try there.read(byPrimaryKey: 1)?.value ?? 0]
                }) where values == [round, round] { break }
                try await writer.value
            }
        },
        ConformanceCase(
            concurrent: "O.commitInARun", "O2", "O5",
            title: "a commit between the reads of a run, to an entity that the run has not read yet, gives another result",
            requires: [.snapshotReads]
        ) { context in
            let database = try context.open()
            let (items, counters) = (try database.dao(Item.self), try database.dao(Counter.self))
            try await counters.create(Counter(id: 1, value: 0))
            let isFirst = Lock(true)
            var results = Results(
                database.observe {
                    // The snapshot of the run begins with its first read.
                    let count = try items.count()
                    let isFirstRun = isFirst.withLock { isFirst in
                        defer { isFirst = false }
                        return isFirst
                    }
                    if isFirstRun {
                        try onThreads(1) { _ in try counters.persist(Counter(id: 1, value: 1)) }
                    }
                    return [count, try counters.read(byPrimaryKey: 1)?.value ?? -1]
                })
            var last = try await results.next("the first value")
            try expectEqual(last, [0, 0], "the value of the first run")
            last = try await results.next("the value after the commit")
            try expectEqual(last, [0, 1], "the value after the commit")
            try await counters.persist(Counter(id: 1, value: 2))
            last = try await results.next("the value after another commit")
            try expectEqual(last, [0, 2], "the value after another commit")
        },
        ConformanceCase(
            concurrent: "O.commitsInARun", "O1", "O2",
            title: "of two commits in a run, the first, to an entity that was read, gives another result",
            requires: [.snapshotReads]
        ) { context in
            let database = try context.open()
            let (items, counters) = (try database.dao(Item.self), try database.dao(Counter.self))
            try await counters.create(Counter(id: 1, value: 0))
            let isFirst = Lock(true)
            var results = Results(
                database.observe {
                    let value = try counters.read(byPrimaryKey: 1)?.value ?? -1
                    let isFirstRun = isFirst.withLock { isFirst in
                        defer { isFirst = false }
                        return isFirst
                    }
                    if isFirstRun {
                        try onThreads(1) { _ in
                            try counters.persist(Counter(id: 1, value: 1))
                            try items.create(Item.make(1...1))
                        }
                    }
                    return value
                })
            var value = try await results.next("the first value")
            try expectEqual(value, 0, "the first value")
            value = try await results.next("the value after the commits")
            try expectEqual(value, 1, "the value after the commits")
        },
        ConformanceCase(
            concurrent: "O.slowValues", "O2", "O5", title: "values never go back in time, and the last one arrives"
        ) { context in
            let (database, dao) = try context.open(with: Counter.self)
            try await dao.create(Counter(id: 1, value: 0))
            var results = Results(database.observe { try dao.read(byPrimaryKey: 1)?.value ?? -1 })
            var last = try await results.next("the first value")
            let writer = Task.detached(executorPreference: TaskThreads.shared) {
                for value in 1...200 { try await dao.persist(Counter(id: 1, value: value)) }
            }
            while last < 200 {
                let value = try await results.next("a later value")
                try expect(value > last, "values in the order of commits, not \(value) after \(last)")
                last = value
            }
            try await writer.value
        },
        ConformanceCase(
            concurrent: "O.fromTransaction", "O5", "T5",
            title: "an observation that begins inside a transaction sees commits only"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            let seen: Task<[Int], any Error> = try await database.transaction {
                try dao.create(Item.make([1]))
                // The task inherits the transaction, which is not its own.
                return Task(executorPreference: TaskThreads.shared) {
                    var counts: [Int] = []
                    for try await count in database.observe({ try dao.count() }) {
                        counts.append(count)
                        if count == 2 { break }
                    }
                    return counts
                }
            }
            try await dao.create(Item.make([2]))
            let counts = try await seen.value
            try expect(counts.last == 2 && counts == counts.sorted(), "rising counts of commits, not \(counts)")
        },
    ]

    private static let ends: [ConformanceCase] = [
        ConformanceCase(
            concurrent: "O.closureWrites", "O5", title: "a closure that writes gets invalidTransaction, and nothing is written"
        ) { context in
            let (database, here) = try context.open(with: Item.self)
            let there = try context.openOther().dao(Item.self)
            for dao in [here, there] {
                let writes: [(String, @Sendable () throws -> Void)] = [
                    ("create", { try dao.create(Item.make([1])) }),
                    ("persist", { try dao.persist(Item.make([1])) }),
                    ("erase", { _ = try dao.erase() }),
                    ("update", { _ = try dao.update(where: { $0.id == 1 }) { $0.number = 2 } }),
                    ("transaction", { try dao.storage.database.transaction { try dao.create(Item.make([1])) } }),
                ]
                for (name, write) in writes {
                    var results = Results(
                        database.observe {
                            try write()
                            return try here.count()
                        })
                    try await expectAsyncError(.invalidTransaction, name) { _ = try await results.next("a value") }
                }
                let count = try await dao.count()
                try expectEqual(count, 0, "rows")
                try await dao.create(Item.make([1]))
                try await dao.erase()
            }
        },
        ConformanceCase(
            concurrent: "O.closureThrows", "O4", "O5", title: "an error of the closure ends the observation, unchanged"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            let counts = database.observe {
                let count = try dao.count()
                if count == 2 { throw DeliberateError(number: count) }
                return count
            }
            var results = counts.makeAsyncIterator()
            let first = try await results.next()
            try expectEqual(first, 0, "the first count")
            try await dao.create(Item.make([1, 2]))
            do {
                _ = try await results.next()
                throw fail("expected the error of the closure")
            } catch let error as DeliberateError {
                try expectEqual(error.number, 2, "the number of the error")
            }
            let after = try await results.next()
            try expectEqual(after, nil, "nothing after the error")
            try await dao.create(Item.make([3]))
            var again = Results(counts)
            let count = try await again.next("the first count of another iteration")
            try expectEqual(count, 3, "the count")
        },
        ConformanceCase(
            concurrent: "O.closeValues", "O4", "O5", "L2", title: "closing the database ends observations of values with closed"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            var rows = Results(dao.observe(byPrimaryKey: 1))
            var counts = Results(database.observe { try dao.count() })
            var constants = Results(database.observe { 1 })
            _ = try await (rows.next("the first"), counts.next("the first"), constants.next("the first"))
            try database.close()
            try await expectAsyncError(.closed, "a row") { _ = try await rows.next("closed") }
            try await expectAsyncError(.closed, "a count") { _ = try await counts.next("closed") }
            if database.capabilities.hasSnapshotReads {
                try await expectAsyncError(.closed, "a constant") { _ = try await constants.next("closed") }
            }
        },
        ConformanceCase(
            concurrent: "O.cancelValues", "O4", "O5", title: "cancelling the task ends an observation of a value"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            let (started, wait) = AsyncStream<Void>.makeStream()
            let task = Task.detached(executorPreference: TaskThreads.shared) {
                for try await _ in database.observe({ try dao.count() }) { wait.yield() }
            }
            for await _ in started { break }
            task.cancel()
            do {
                try await task.value
            } catch is CancellationError {}
            try await dao.create(Item.make([1]))
        },
    ]
}
