import DAOCore
import Foundation

/// T3: a transaction reads its own writes; outside, readers see the last commit.
enum TransactionsIsolation {
    static let cases: [ConformanceCase] = inside + outside + snapshots

    private static let inside: [ConformanceCase] = [
        ConformanceCase("T.ownWrites", "T3", title: "every way of reading sees the transaction's own inserts") { context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make([1, 3, 5]))
            try database.transaction {
                try dao.create(Item.make([2, 4, 6]))
                try expectEqual(try dao.read().map(\.id), [1, 2, 3, 4, 5, 6], "all")
                try expectSame(try dao.read(byPrimaryKey: 4)?.name, "Item #4", "by key")
                try expectEqual(try dao.read(byPrimaryKeys: [6, 1]).map(\.id), [6, 1], "by keys")
                try expect(try dao.exists(byPrimaryKey: 2), "key 2 to exist")
                try expect(try dao.exists { $0.number == 60 }, "a row with number 60")
                try expectEqual(
                    try dao.read { $0.number > 10 && $0.number <= 40 }.map(\.id), [2, 3, 4], "rows by index range")
                try expectEqual(try dao.read { $0.name == "Item #6" }.map(\.id), [6], "by scan")
                try expectEqual(try dao.read(orderedBy: .descending(\.number), limit: 2).map(\.id), [6, 5], "sorted")
                try expectEqual(try dao.count(), 6, "count")
                try expectEqual(try dao.count { $0.number >= 40 }, 3, "count by index")
                try expectEqual(try dao.sum(\.number), 210, "sum")
                try expectEqual(try dao.max(\.number), 60, "max")
                try expectEqual(try dao.min(\.number), 10, "min")
                try expectEqual(try dao.first { $0.number > 50 }?.id, 6, "first")
                try expectEqual(try dao.page(limit: 4).elements.map(\.id), [1, 2, 3, 4], "a page")
                var seen: [Int] = []
                try dao.forEach { seen.append($0.id) }
                try expectEqual(seen, [1, 2, 3, 4, 5, 6], "rows read one by one")
            }
        },
        ConformanceCase("T.ownChanges", "T3", title: "every read sees the transaction's own updates and erases") { context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make(1...6))
            try database.transaction {
                try dao.erase(byPrimaryKey: 1)
                try dao.update(where: { $0.id == 2 }) { $0.number = 65 }
                try dao.persist(Item(id: 3, name: "changed", number: 1))
                try expect(try dao.read(byPrimaryKey: 1) == nil, "row 1 to be erased")
                try expect(try !dao.exists(byPrimaryKey: 1), "key 1 not to exist")
                try expectEqual(try dao.read { $0.number > 0 }.map(\.id), [2, 3, 4, 5, 6])
                try expectEqual(try dao.read(orderedBy: .ascending(\.number)).map(\.id), [3, 4, 5, 6, 2])
                try expectEqual(try dao.read { $0.number == 20 }.map(\.id), [])
                try expectEqual(try dao.read { $0.number >= 60 }.map(\.id), [2, 6])
                try expectEqual(try dao.count { $0.number < 40 }, 1)
                try expectEqual(try dao.update(where: { $0.number == 65 }) { $0.number = 66 }, 1)
                try expectEqual(try dao.erase { $0.number > 60 }, 1)
                try dao.create(Item(id: 1, name: "again", number: 5))
                try expectEqual(try dao.read(orderedBy: .ascending(\.number)).map(\.id), [3, 1, 4, 5, 6])
            }
            try expectEqual(try dao.read(orderedBy: .ascending(\.number)).map(\.id), [3, 1, 4, 5, 6])
        },
        ConformanceCase(
            "T.writeWhileReading", "T3", "Q6",
            title: "rows written during the walk of a query neither end it nor appear twice"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make(1...600))
            try database.transaction {
                var seen: [Int] = []
                try dao.forEach(Query(where: Condition { $0.number <= 6000 })) { item in
                    seen.append(item.id)
                    if seen.count > 2000 { throw fail("the walk does not end") }
                    try dao.persist(Item(id: item.id &+ 10_000, name: "later", number: item.number))
                    try dao.erase(byPrimaryKey: item.id)
                }
                let original = seen.filter { $0 <= 600 }
                try expectEqual(original, Array(1...600), "the rows from before the walk, each once and in order")
            }
            try expectEqual(try dao.count { $0.id > 10_000 }, try dao.count(), "rows with new keys")
        },
    ]

    private static let outside: [ConformanceCase] = [
        ConformanceCase(
            "T.readersSeeTheLastCommit", "T3",
            title: "readers see the last commit during an open transaction, and do not wait",
            requires: [.snapshotReads]
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make(1...3))
            let (written, finish) = (Signal(), Signal())
            let writer = Background {
                try database.transaction {
                    try dao.create(Item.make([4]))
                    try dao.update(where: { $0.id == 1 }) { $0.number = 99 }
                    try dao.erase(byPrimaryKey: 2)
                    written.send()
                    _ = finish.wait(seconds: 30)
                }
            }
            defer { finish.send() }
            try expect(written.wait(), "the writer to begin")
            let reader = Background {
                try expectEqual(try dao.read().map(\.id), [1, 2, 3], "all")
                try expectEqual(try dao.read(byPrimaryKey: 1)?.number, 10, "by key")
                try expectEqual(try dao.read { $0.number == 99 }.map(\.id), [], "rows by the new indexed value")
                try expectEqual(try dao.read { $0.number <= 30 }.map(\.id), [1, 2, 3], "rows by the old indexed values")
                try expectEqual(try dao.count(), 3, "count")
                try expect(try !dao.exists(byPrimaryKey: 4), "the uncommitted row not to exist")
            }
            try reader.wait(seconds: 10, "a reader during an open transaction")
            finish.send()
            try writer.wait(seconds: 10, "the writer")
            try expectEqual(try dao.read().map(\.id), [1, 3, 4], "the rows after the commit")
        },
        ConformanceCase(
            "T.secondHandleSeesTheLastCommit", "T3", "C3",
            title: "a second handle sees a commit immediately, and nothing before the commit",
            requires: [.snapshotReads]
        ) { context in
            let (first, second) = (try context.open(), try context.open())
            let (one, two) = (try first.dao(Item.self), try second.dao(Item.self))
            for round in 1...20 {
                try one.create(Item.make([round]))
                try expectEqual(try two.count(), round, "rows seen by the second handle")
            }
            let (written, finish) = (Signal(), Signal())
            let writer = Background {
                try first.transaction {
                    try one.erase()
                    written.send()
                    _ = finish.wait(seconds: 30)
                }
            }
            defer { finish.send() }
            try expect(written.wait(), "the writer to begin")
            let reader = Background { try expectEqual(try two.count(), 20, "rows seen by the second handle") }
            try reader.wait(seconds: 10, "a reader during an open transaction")
            finish.send()
            try writer.wait(seconds: 10, "the writer")
            try expectEqual(try two.count(), 0)
        },
        ConformanceCase(
            "T.cursorBesideWriter", "T3", "Q6", title: "a cursor keeps its rows while other calls change them",
            requires: [.snapshotReads]
        ) { context in
            let database = try context.open()
            let storage = try database.storage(for: Item.self)
            try storage.insert(Item.make(1...1000))
            let cursor = try storage.cursor(Query(where: Condition { $0.number > 0 }))
            var ids = try cursor.next(10).map(\.id)
            try onThreads(1) { _ in
                _ = try storage.update(Query()) { $0.number = -1 }
                _ = try storage.erase(Query(where: Condition { $0.id > 500 }))
                try storage.insert([Item(id: 5000, name: "new", number: 1)])
            }
            try cursor.forEachBatch(of: 100) { batch in
                ids += batch.map(\.id)
                try expect(batch.allSatisfy { $0.number == $0.id &* 10 }, "unchanged rows")
            }
            try expectEqual(ids, Array(1...1000), "the ids the cursor gave")
            cursor.close()
            try expectEqual(try storage.count(), 501)
        },
    ]

    private static let snapshots: [ConformanceCase] = [
        ConformanceCase(
            "T.snapshotStays", "T3", title: "a snapshot stays the same during a hundred commits", requires: [.snapshotReads]
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make(1...5))
            let before = try Dump.rows(of: dao.storage)
            try database.snapshot {
                for round in 1...10 {
                    try onThreads(1) { _ in
                        for step in 1...10 { try dao.persist(Item(id: step, name: "round \(round)", number: -round)) }
                    }
                    try expectEqual(try Dump.rows(of: dao.storage), before, "the rows in round \(round)")
                    try expectEqual(try dao.count { $0.number < 0 }, 0, "rows through the index in round \(round)")
                    try expect(try dao.read(byPrimaryKey: 10) == nil, "no new row in round \(round)")
                }
            }
            try expectEqual(try dao.count { $0.number == -10 }, 10, "rows of the last commit")
        },
        ConformanceCase(
            "T.snapshotOverEntities", "T3", title: "a snapshot covers every entity of the database",
            requires: [.snapshotReads]
        ) { context in
            let database = try context.open()
            let (items, users) = (try database.dao(Item.self), try database.dao(User.self))
            try items.create(Item.make(1...2))
            try users.create(User.make(2))
            let counts = try database.snapshot {
                let first = try items.count()
                try onThreads(1) { _ in
                    try database.transaction {
                        try items.erase()
                        try users.erase()
                    }
                }
                return (first, try items.count(), try users.count())
            }
            try expect(counts == (2, 2, 2), "2, 2 and 2, got \(counts)")
            try expectEqual(try items.count() + users.count(), 0)
        },
        ConformanceCase(
            "T.snapshotRefusesWrites", "T3", "T5", title: "writing inside a snapshot is invalidTransaction",
            requires: [.snapshotReads]
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make([1]))
            try database.snapshot {
                try expectError(.invalidTransaction, "create") { try dao.create(Item.make([2])) }
                try expectError(.invalidTransaction, "persist") { try dao.persist(Item.make([1])) }
                try expectError(.invalidTransaction, "update") { try dao.update(where: { $0.id == 1 }) { $0.number = 0 } }
                try expectError(.invalidTransaction, "set") { try dao.set(\.number, to: 0) { $0.id == 1 } }
                try expectError(.invalidTransaction, "erase") { try dao.erase(byPrimaryKey: 1) }
                try expectError(.invalidTransaction, "transaction") { try database.transaction { try dao.erase() } }
                try expectEqual(try dao.count(), 1, "rows that can still be read")
            }
            try expectSame(try dao.read(), Item.make([1]))
        },
        ConformanceCase(
            "T.snapshotInTransaction", "T3", title: "a snapshot inside a transaction sees the writes of the transaction",
            requires: [.snapshotReads]
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try database.transaction {
                try dao.create(Item.make([1]))
                try expectEqual(try database.snapshot { try dao.count() }, 1)
                try dao.create(Item.make([2]))
            }
            try expectEqual(try dao.count(), 2)
        },
        ConformanceCase(
            "T.snapshotInSnapshot", "T3", title: "a snapshot inside a snapshot is the same snapshot",
            requires: [.snapshotReads]
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make([1]))
            try database.snapshot {
                try expectEqual(try dao.count(), 1)
                try onThreads(1) { _ in try dao.create(Item.make([2])) }
                try expectEqual(try database.snapshot { try dao.count() }, 1, "rows in the inner snapshot")
            }
            try expectEqual(try dao.count(), 2)
        },
        ConformanceCase(
            "T.snapshotThrows", "T3", title: "an error that the closure of a snapshot throws is rethrown unchanged",
            requires: [.snapshotReads]
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try expectDeliberate(DeliberateError(number: 9)) { try database.snapshot { throw DeliberateError(number: 9) } }
            try dao.create(Item.make([1]))
            try expectEqual(try database.snapshot { try dao.count() }, 1)
        },
        ConformanceCase(
            "T.snapshotsRefused", "T3", title: "without snapshot reads a snapshot is unsupported", lacks: [.snapshotReads]
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try expectError(.unsupported) { try database.snapshot { try dao.count() } }
            try dao.create(Item.make([1]))
            try expectEqual(try dao.count(), 1)
        },
        ConformanceCase(
            concurrent: "T.asyncSnapshot", "T3", title: "the asynchronous snapshot reads a single state",
            requires: [.snapshotReads]
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try await dao.create(Item.make(1...4))
            let counts: [Int] = try await database.snapshot {
                let first = try dao.count()
                try onThreads(1) { _ in try dao.erase() }
                return [first, try dao.count()]
            }
            try expectEqual(counts, [4, 4])
            let left = try await dao.count()
            try expectEqual(left, 0)
        },
    ]
}
