import DAOCore
import Foundation

/// L2: closing, reopening and releasing databases.
enum LifeCycle {
    static let cases: [ConformanceCase] = closed + closing + reopening

    private static let closed: [ConformanceCase] = [
        ConformanceCase("L.closedReads", "L2", title: "after close every way of reading throws closed") { context in
            let (database, dao) = try opened(context)
            try database.close()
            try expectClosed([
                ("read", { _ = try dao.read() }), ("read by key", { _ = try dao.read(byPrimaryKey: 1) }),
                ("read by keys", { _ = try dao.read(byPrimaryKeys: [1, 2]) }),
                ("read by condition", { _ = try dao.read { $0.number > 0 } }),
                ("read sorted", { _ = try dao.read(orderedBy: "number", ascending: false) }),
                ("first", { _ = try dao.first { $0.id > 0 } }),
                ("page", { _ = try dao.page(limit: 1) }), ("forEach", { try dao.forEach { _ in } }),
                ("count", { _ = try dao.count() }),
                ("count by condition", { _ = try dao.count { $0.id > 0 } }), ("exists", { _ = try dao.exists { $0.id > 0 } }),
                ("exists by key", { _ = try dao.exists(byPrimaryKey: 1) }), ("sum", { _ = try dao.sum(\.number) }),
                ("average", { _ = try dao.average(\.number) }), ("min", { _ = try dao.min(\.number) }),
                ("max", { _ = try dao.max(\.number) }),
            ])
        },
        ConformanceCase("L.closedWrites", "L2", title: "after close every way of writing throws closed") { context in
            let (database, dao) = try opened(context)
            try database.close()
            let item = Item(id: 5, name: "five")
            try expectClosed([
                ("create", { try dao.create(item) }), ("create of several", { try dao.create([item]) }),
                ("persist", { try dao.persist(item) }), ("persist of several", { try dao.persist([item]) }),
                ("findOrCreate", { _ = try dao.findOrCreate(byPrimaryKey: 5) { item } }),
                ("update", { _ = try dao.update(where: { $0.id > 0 }) { $0.number = 0 } }),
                ("erase", { _ = try dao.erase() }),
                ("erase of a plain", { _ = try dao.erase(item) }), ("erase by key", { _ = try dao.erase(byPrimaryKey: 1) }),
                ("erase by keys", { _ = try dao.erase(byPrimaryKeys: [1]) }),
                ("erase by condition", { _ = try dao.erase { $0.id > 0 } }),
            ])
        },
        ConformanceCase("L.closedStorage", "L2", title: "after close every method of a storage throws closed") { context in
            let (database, dao) = try opened(context)
            let (storage, query, key) = (dao.storage, Query<Item>(), Key.integer(1))
            try database.close()
            try expectClosed([
                ("read", { _ = try storage.read(query) }),
                ("read by keys", { _ = try storage.read(keys: [key], includesSubentities: true) }),
                ("read by key", { _ = try storage.read(key: key) }), ("contains", { _ = try storage.contains(key: key) }),
                ("keys", { _ = try storage.keys(query) }), ("count", { _ = try storage.count(query) }),
                ("fields", { try storage.readFields([1], query) { _ in } }),
                ("groups", { try storage.groups(GroupQuery(by: [1], counting: [.rows])) { _, _ in } }),
                ("insert", { try storage.insert(Item.make([9])) }),
                ("insert making", { try storage.insert { Item.make([9]) } }),
                ("upsert", { try storage.upsert(Item.make([9])) }),
                ("upsert making", { try storage.upsert { Item.make([9]) } }),
                ("merge", { _ = try storage.merge(keys: [key]) { _, _ in } }),
                ("update", { _ = try storage.update(query) { $0.number = 0 } }),
                ("set", { _ = try dao.set(\.number, to: 0, where: .all) }), ("erase", { _ = try storage.erase(query) }),
                ("erase by keys", { _ = try storage.erase(keys: [key]) }),
                ("cursor", { _ = try storage.cursor(query).next(1) }),
                ("create with a block", { _ = try storage.create { $0.id = 9 } }),
                ("persist by predicate", { _ = try storage.persist(predicatedBy: .all) { $0.number = 0 } }),
                ("persist by key", { _ = try storage.persist(withPrimaryKey: 1) { $0?.number = 0 } }),
            ])
        },
        ConformanceCase("L.closedDatabase", "L2", title: "after close every method throws closed, no closure runs") { context in
            let (database, _) = try opened(context)
            try database.close()
            var runs = 0
            try expectClosed([
                ("a storage that was already open", { _ = try database.storage(for: Item.self) }),
                ("a new storage", { _ = try database.storage(for: User.self) }),
                ("transaction", { try database.transaction { runs += 1 } }),
                ("entities", { _ = try database.entities() }),
            ])
            if database.capabilities.hasSnapshotReads {
                try expectClosed([("snapshot", { try database.snapshot { runs += 1 } })])
            }
            try expectEqual(runs, 0, "bodies run")
        },
        ConformanceCase(concurrent: "L.closedAsync", "L2", title: "after close the asynchronous forms throw closed") { context in
            let (database, dao) = try context.open(with: Item.self)
            try database.close()
            try await expectAsyncError(.closed, "create") { try await dao.create(Item.make([1])) }
            try await expectAsyncError(.closed, "read") { _ = try await dao.read() }
            try await expectAsyncError(.closed, "transaction") { try await database.transaction {} }
            try await expectAsyncError(.closed, "stream") { for try await _ in dao.stream() {} }
        },
        ConformanceCase("L.closedIsSaid", "L2", title: "the error says it is closed, and gives the next step") { context in
            let (database, dao) = try opened(context)
            try database.close()
            let error = try expectError(.closed) { try dao.read() }
            try expect(
                error.message.contains("closed") && error.message.contains("open"),
                "a message with the next step: \(error.message)")
        },
    ]

    /// Expects that a close waits for a body, which calls its argument to give the close time to begin.
    private static func expectCloseWaits(
        of database: any Database, for name: String, _ body: @escaping @Sendable (_ pause: () -> Void) throws -> Void
    ) throws {
        let (inside, finish) = (Signal(), Signal())
        let running = Background {
            try body {
                inside.send()
                _ = finish.wait(seconds: 30)
            }
        }
        defer { finish.send() }
        try expect(inside.wait(), "\(name) to begin")
        let closer = Background { try database.close() }
        Thread.sleep(forTimeInterval: 0.2)
        try expect(!closer.hasEnded, "close to wait for \(name)")
        finish.send()
        try running.wait(seconds: 10, name)
        try closer.wait(seconds: 10, "close")
    }

    private static let closing: [ConformanceCase] = [
        ConformanceCase("L.closedFiles", "L2", title: "a closed database has no file open", requires: [.file]) { context in
            for round in 1...2 {
                let (database, dao) = try opened(context)
                for _ in 0..<64 { _ = try dao.read(byPrimaryKey: 1) }
                // The application keeps one that is closed, one that is at its end, and one that it was reading.
                let cursors = try (0..<3).map { _ in try dao.storage.cursor(Query()) }
                for (number, cursor) in cursors.enumerated() { _ = try cursor.next(number == 1 ? 10 : 1) }
                cursors[0].close()
                try database.transaction { try dao.persist(Item(id: 4, name: "round \(round)")) }
                try dao.erase()
                try expect(!openFiles(in: context.location.directory).isEmpty, "open files before close")
                try database.close()
                try withExtendedLifetime((database, dao, cursors)) {
                    try expectEqual(openFiles(in: context.location.directory), [], "open files after close, in round \(round)")
                }
            }
        },
        ConformanceCase("L.closeTwice", "L2", title: "closing twice is allowed, from eight threads too") { context in
            let (database, _) = try opened(context)
            try database.close()
            try database.close()
            let other = try context.open()
            try onThreads(8) { _ in try other.close() }
            try other.close()
        },
        ConformanceCase("L.closeWaits", "L2", title: "close waits for a running transaction, which commits") { context in
            let (database, dao) = try opened(context)
            let keeper = try context.open()
            try expectCloseWaits(of: database, for: "the transaction") { pause in
                try database.transaction {
                    try dao.create(Item.make([10]))
                    pause()
                    try dao.create(Item.make([11]))
                }
            }
            try expectEqual(try keeper.dao(Item.self).read { $0.id >= 10 }.map(\.id), [10, 11])
            try expectError(.closed) { try dao.read() }
        },
        ConformanceCase(
            "L.closeWaitsForSnapshot", "L2", title: "close waits for a running snapshot", requires: [.snapshotReads]
        ) { context in
            let (database, dao) = try opened(context)
            try expectCloseWaits(of: database, for: "the snapshot") { pause in
                try database.snapshot {
                    try expectEqual(try dao.count(), 3)
                    pause()
                    try expectEqual(try dao.count(), 3)
                }
            }
        },
        ConformanceCase(
            "L.closeWhileWriting", "L2", "W3",
            title: "a close during writes and reads leaves complete calls and calls that throw closed"
        ) { context in
            let keeper = try context.open()
            for round in 0..<5 {
                let (database, dao) = try context.open(with: Item.self)
                try dao.erase()
                let written = Shared(0)
                let writers = (0..<4).map { thread in
                    Background {
                        do {
                            for batch in 0..<200 {
                                try dao.create(
                                    Item.make((thread * 10_000 + batch * 10)..<(thread * 10_000 + batch * 10 + 10)))
                                written.change { $0 += 10 }
                                _ = try dao.count { $0.number >= 0 }
                            }
                        } catch let error as StorageError where error.kind == .closed {}
                    }
                }
                Thread.sleep(forTimeInterval: Double(round) * 0.004)
                try database.close()
                for writer in writers { try writer.wait(seconds: 30, "a writer") }
                try expectEqual(
                    try keeper.dao(Item.self).count(), written.value, "the rows of the calls that succeeded")
            }
        },
        ConformanceCase(
            "L.closeWithCursor", "L2", title: "close does not wait for an open cursor; the cursor then throws closed"
        ) {
            context in
            let (database, dao) = try opened(context)
            try dao.create(Item.make(100...2000))
            let cursor = try dao.storage.cursor(Query())
            try expectEqual(try cursor.next(3).count, 3)
            let closer = SendableBox(database)
            try Background { try closer.value.close() }.wait(seconds: 10, "close with an open cursor")
            try expectError(.closed, "the cursor") { try cursor.next(10) }
            cursor.close()
            cursor.close()
        },
        ConformanceCase(
            "L.closeInTransaction", "L2", "T5",
            title: "closing inside a transaction is invalidTransaction, and the transaction continues"
        ) { context in
            let (database, dao) = try opened(context)
            try database.transaction {
                try dao.create(Item.make([10]))
                try expectError(.invalidTransaction) { try database.close() }
                try dao.create(Item.make([11]))
            }
            try expectEqual(try dao.count(), 5)
            try database.close()
        },
        ConformanceCase(
            "L.closeInSnapshot", "L2", "T5", title: "closing inside a snapshot is invalidTransaction",
            requires: [.snapshotReads]
        ) { context in
            let (database, dao) = try opened(context)
            try database.snapshot {
                try expectError(.invalidTransaction) { try database.close() }
                try expectEqual(try dao.count(), 3)
            }
        },
        ConformanceCase("L.closeInCallback", "L2", "T5", title: "closing inside a callback is invalidTransaction") { context in
            let (database, dao) = try opened(context)
            try dao.update(where: { $0.id == 1 }) { item in
                try expectError(.invalidTransaction) { try database.close() }
                item.name = "updated"
            }
            try expectSame(try dao.read(byPrimaryKey: 1)?.name, "updated")
        },
    ]

    private static let reopening: [ConformanceCase] = [
        ConformanceCase(
            "L.reopen", "L2", "L1", title: "a reopened database has every row, and old handles stay closed",
            requires: [.persistence]
        ) { context in
            let (database, dao) = try opened(context)
            let before = try Dump.rows(of: dao.storage)
            let again = try context.reopen(database)
            try expectEqual(try Dump.rows(of: again.storage(for: Item.self)), before, "the rows")
            try expectError(.closed) { try dao.read() }
            try again.dao(Item.self).create(Item.make([50]))
            try expectEqual(try again.dao(Item.self).count(), 4)
        },
        ConformanceCase(
            "L.reopenOften", "L2", title: "a database that was opened, written and closed fifty times has every row",
            requires: [.persistence]
        ) { context in
            for round in 1...50 {
                let (database, dao) = try context.open(with: Item.self)
                try dao.create(Item.make([round]))
                try expectEqual(try dao.count(), round)
                try database.close()
            }
        },
        ConformanceCase(
            "L.forgotten", "L2", title: "without persistence the last close removes every row", lacks: [.persistence]
        ) { context in
            let (database, _) = try opened(context)
            let again = try context.reopen(database)
            try expectEqual(try again.dao(Item.self).count(), 0)
        },
        ConformanceCase(
            "L.dropped", "L2", title: "a database that is released without close keeps every commit", requires: [.persistence]
        ) { context in
            do {
                let (_, dao) = try opened(context)
                try dao.create(Item.make(10...20))
            }
            try expectEqual(try context.open().dao(Item.self).count(), 14)
        },
        ConformanceCase("L.daoKeepsItOpen", "L2", title: "a DAO keeps its database open, as the only reference") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...3))
            try expectEqual(try dao.count(), 3)
            try dao.storage.database.transaction { try dao.create(Item.make([4])) }
            try expectEqual(try dao.count { $0.number > 0 }, 4)
        },
        ConformanceCase("L.droppedMidCursor", "L2", title: "a cursor outlives the variable of its database") { context in
            let cursor = try {
                let storage = try context.storage(Item.self)
                try storage.insert(Item.make(1...600))
                return try storage.cursor(Query())
            }()
            var count = 0
            do {
                try cursor.forEachBatch(of: 100) { count += $0.count }
                try expectEqual(count, 600, "rows the cursor gave")
            } catch let error as StorageError {
                try expectEqual(error.kind, .closed, "the error's kind")
            }
        },
        ConformanceCase("L.openMany", "L2", title: "two hundred handles open at once share one database") { context in
            let databases = try (0..<200).map { _ in try context.open() }
            for (index, database) in databases.enumerated() { try database.dao(Item.self).create(Item.make([index])) }
            for database in databases.dropFirst() { try database.close() }
            try expectEqual(try databases[0].dao(Item.self).count(), 200)
        },
    ]

    private struct SendableBox: Sendable {
        let value: any Database
        init(_ value: any Database) { self.value = value }
    }

    /// Opens a database with three items.
    private static func opened(_ context: ConformanceContext) throws -> (any Database, DAO<Item>) {
        let (database, dao) = try context.open(with: Item.self)
        try dao.create(Item.make(1...3))
        return (database, dao)
    }

    private static func expectClosed(
        _ calls: [(String, () throws -> Void)], file: StaticString = #fileID, line: UInt = #line
    ) throws {
        for (name, call) in calls { try expectError(.closed, name, file: file, line: line, call) }
    }
}
