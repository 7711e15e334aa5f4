import DAOCore
import Foundation

/// T5 to T7: misused transactions, durability, and the engine's own handle.
enum TransactionsMisuse {
    static let cases: [ConformanceCase] = misuse + durability + underneath

    /// Runs a closure in a task that inherits the running transaction, and waits for it on this thread.
    static func inChildTask(
        after signal: Signal? = nil, _ body: @escaping @Sendable () throws -> Void
    ) -> Background {
        let (ended, outcome) = (Signal(), Shared<Result<Void, any Error>?>(nil))
        Task(executorPreference: TaskThreads.shared) {
            if let signal { await Task.detached(executorPreference: TaskThreads.shared) { _ = signal.wait() }.value }
            let result = Result { try body() }
            outcome.change { $0 = result }
            ended.send()
        }
        return Background {
            try expect(ended.wait(seconds: 20), "the child task to end")
            try outcome.value?.get()
        }
    }

    private static let misuse: [ConformanceCase] = [
        ConformanceCase(
            "T.childTaskReads", "T5", title: "a child task that reads in an inherited transaction gets invalidTransaction"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try database.transaction {
                try dao.create(Item.make([1]))
                let child = inChildTask {
                    try expectError(.invalidTransaction, "read") { try dao.read() }
                    try expectError(.invalidTransaction, "read by key") { try dao.read(byPrimaryKey: 1) }
                    try expectError(.invalidTransaction, "count") { try dao.count() }
                    try expectError(.invalidTransaction, "cursor") { try dao.storage.cursor(Query()) }
                    try expectError(.invalidTransaction, "snapshot") { try database.snapshot { 1 } }
                }
                try child.wait(seconds: 20, "the child task")
                try dao.create(Item.make([2]))
            }
            try expectEqual(try dao.read().map(\.id), [1, 2], "the rows of the transaction, which continued")
        },
        ConformanceCase(
            "T.childTaskWrites", "T5", title: "a child task that writes in an inherited transaction gets invalidTransaction"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make([9]))
            try database.transaction {
                let child = inChildTask {
                    try expectError(.invalidTransaction, "create") { try dao.create(Item.make([1])) }
                    try expectError(.invalidTransaction, "persist") { try dao.persist(Item.make([1])) }
                    try expectError(.invalidTransaction, "update") { try dao.update(where: { $0.id > 0 }) { $0.number = 0 } }
                    try expectError(.invalidTransaction, "erase") { try dao.erase() }
                    try expectError(.invalidTransaction, "transaction") { try database.transaction { try dao.erase() } }
                }
                try child.wait(seconds: 20, "the child task")
            }
            try expectSame(try dao.read(), Item.make([9]))
        },
        ConformanceCase(
            "T.afterTheEnd", "T5", title: "a task that outlives the transaction it inherited gets invalidTransaction"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            let ended = Signal()
            let child = try database.transaction {
                try dao.create(Item.make([1]))
                return inChildTask(after: ended) {
                    try expectError(.invalidTransaction, "read") { try dao.read() }
                    try expectError(.invalidTransaction, "write") { try dao.create(Item.make([2])) }
                }
            }
            ended.send()
            try child.wait(seconds: 20, "the child task")
            try expectEqual(try dao.read().map(\.id), [1])
        },
        ConformanceCase(
            "T.afterRollback", "T5", title: "a task that outlives a rolled back transaction gets invalidTransaction"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            let ended = Signal()
            var child: Background?
            try expectRollback(of: database) {
                try dao.create(Item.make([1]))
                child = inChildTask(after: ended) {
                    try expectError(.invalidTransaction, "read") { try dao.read() }
                    try expectError(.invalidTransaction, "write") { try dao.create(Item.make([2])) }
                }
            }
            ended.send()
            try child?.wait(seconds: 20, "the child task")
            try expectEqual(try dao.count(), 0)
        },
        ConformanceCase(
            "T.snapshotAfterTheEnd", "T5", title: "a task that outlives an inherited snapshot gets invalidTransaction",
            requires: [.snapshotReads]
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            let ended = Signal()
            let child = try database.snapshot {
                inChildTask(after: ended) { try expectError(.invalidTransaction, "read") { try dao.read() } }
            }
            ended.send()
            try child.wait(seconds: 20, "the child task")
        },
        ConformanceCase(
            "T.detachedTask", "T5", "T3", title: "a detached task during a transaction reads the last commit",
            requires: [.snapshotReads]
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make([1]))
            try database.transaction {
                try dao.create(Item.make([2]))
                let other = Background {
                    try expectEqual(try dao.read().map(\.id), [1], "the rows that another thread reads")
                }
                try other.wait(seconds: 10, "another thread")
            }
        },
        ConformanceCase(
            "T.cursorAfterTheEnd", "T5", title: "a cursor that outlives its transaction gives its rows or a typed error"
        ) { context in
            let database = try context.open()
            let storage = try database.storage(for: Item.self)
            try storage.insert(Item.make(1...1000))
            let cursor = try database.transaction {
                let cursor = try storage.cursor(Query())
                _ = try cursor.next(10)
                return cursor
            }
            do {
                var ids: [Int] = []
                try cursor.forEachBatch(of: 100) { ids += $0.map(\.id) }
                try expectEqual(ids, Array(11...1000), "the ids the cursor gave")
            } catch let error as StorageError {
                try expectEqual(error.kind, .invalidTransaction, "the error's kind")
            }
            cursor.close()
            try storage.insert(Item.make([2000]))
        },
        ConformanceCase(
            "T.transactionInTranslator", "T5", "T1", title: "a translator may begin a transaction, which belongs to the call",
            requires: [.savepoints]
        ) { context in
            let database = try context.open()
            let (storage, counters) = (try database.storage(for: Item.self), try database.dao(Counter.self))
            let dao = DAO(
                storage: storage,
                translator: ScriptedTranslator(make: { plain in
                    try database.transaction { try counters.create(Counter(id: plain.id, value: 1)) }
                    if plain.id == 2 { throw DeliberateError() }
                    return plain
                }))
            try expectDeliberate { try dao.create(Item.make(1...2)) }
            try expectEqual(try counters.count(), 0)
            try dao.create(Item.make([1]))
            try expectEqual(try counters.count(), 1)
        },
        ConformanceCase(
            "T.callsInsideClosures", "T5", "T3", title: "the closures of updates, merges and walks may call the database"
        ) {
            context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...5))
            try dao.update(where: { $0.id == 1 }) { item in item.number = try dao.count() }
            try expectEqual(try dao.read(byPrimaryKey: 1)?.number, 5)
            _ = try dao.storage.merge(keys: [.integer(2)]) { _, record in
                record?.number = try dao.read(byPrimaryKey: 1)?.number ?? -1
            }
            try expectEqual(try dao.read(byPrimaryKey: 2)?.number, 5)
            var names: [String] = []
            try dao.forEach { item in names.append(try dao.read(byPrimaryKey: item.id)?.name ?? "none") }
            try expectEqual(names, (1...5).map { "Item #\($0)" })
            let made = try dao.findOrCreate(byPrimaryKey: 9) { Item(id: 9, name: "of \(try dao.count())") }
            try expectSame(made.name, "of 5")
        },
    ]

    private static let durability: [ConformanceCase] = [
        ConformanceCase(
            "T.reopened", "T6", "T1", title: "reopening finds exactly the committed rows", requires: [.persistence]
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make(1...3))
            try expectRollback(of: database) {
                try dao.erase()
            }
            _ = try database.transaction { try dao.erase(byPrimaryKey: 2) }
            let reopened = try context.reopen(database).dao(Item.self)
            try expectEqual(try reopened.read().map(\.id), [1, 3])
            try expectEqual(try reopened.read { $0.number >= 20 }.map(\.id), [3])
        },
        ConformanceCase(
            "T.durabilityLevels", "T6", title: "both levels of durability keep commits across reopening",
            requires: [.persistence, .configuration]
        ) { context in
            for (round, level) in DatabaseConfiguration.Durability.allCases.enumerated() {
                let database = try context.open { $0.durability = level }
                let dao = try database.dao(Item.self)
                try expectEqual(try dao.count(), round * 10, "rows of earlier openings")
                try dao.create(Item.make((round * 10 + 1)...(round * 10 + 10)))
                try database.close()
            }
            try expectEqual(try context.dao(Item.self).count(), 20)
        },
    ]

    private static let underneath: [ConformanceCase] = [
        ConformanceCase(
            "T.unknownHandle", "T7",
            title:
                "asking for an engine's handle of a type that the database does not have is unsupported, and keeps the transaction"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try expect(
                !database.capabilities.underlyingTypes.contains(UnderlyingType(UnknownHandle.self)),
                "the capabilities not to contain an unknown type")
            func refuse(_ what: String) throws {
                let error = try expectError(.unsupported, what) {
                    try database.underlying(as: UnknownHandle.self) { _ in throw fail("expected no handle") }
                }
                let hasNone = database.capabilities.underlyingTypes.isEmpty
                for words in ["UnknownHandle", hasNone ? "has no engine handle" : "ask for "] {
                    try expect(error.message.contains(words), "the error of \(what) to say '\(words)': \(error.message)")
                }
            }
            try refuse("a call outside a transaction")
            if database.capabilities.hasSnapshotReads { try database.snapshot { try refuse("a call in a snapshot") } }
            try database.transaction {
                try dao.create(Item.make([1]))
                try refuse("a call in a transaction")
                try expectEqual(try dao.count(), 1, "rows inside, after the refusal")
                try dao.create(Item.make([2]))
            }
            try expectEqual(try dao.read().map(\.id), [1, 2], "rows of the transaction")
        }
    ]
}
