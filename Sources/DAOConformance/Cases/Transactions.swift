import DAOCore
import Foundation

/// T1: all or nothing.
enum Transactions {
    static let cases: [ConformanceCase] = committing + rollingBack + otherDatabases + asynchronous

    private static let committing: [ConformanceCase] = [
        ConformanceCase("T.commit", "T1", title: "the writes of several DAOs in one transaction are stored together") { context in
            let database = try context.open()
            let (items, users) = (try database.dao(Item.self), try database.dao(User.self))
            let result = try database.transaction {
                try items.create(Item.make(1...3))
                try users.create(User.make(2))
                try items.erase(byPrimaryKey: 2)
                return "result"
            }
            try expectEqual(result, "result", "the result of the closure")
            try expectEqual(try items.read().map(\.id), [1, 3])
            try expectSame(try users.read(), User.make(2))
        },
        ConformanceCase("T.empty", "T1", title: "an empty transaction does nothing, again and again") { context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make(1...2))
            for _ in 0..<100 { try database.transaction {} }
            try expectEqual(try dao.count(), 2)
        },
        ConformanceCase("T.runsOnceHere", "T1", title: "the closure runs exactly once, on the calling thread") { context in
            let database = try context.open()
            let caller = pthread_self()
            var runs = 0
            try database.transaction {
                runs += 1
                try expect(pthread_equal(caller, pthread_self()) != 0, "the closure to run on the calling thread")
            }
            try expectEqual(runs, 1, "runs of the closure")
        },
        ConformanceCase("T.thousands", "T1", title: "five thousand calls in one transaction commit together") { context in
            let (database, dao) = try context.open(with: Item.self)
            try database.transaction {
                for id in 1...2500 { try dao.persist(Item(id: id, name: "n", number: id)) }
                for id in 1...2500 { try dao.persist(Item(id: id, name: "m", number: -id)) }
            }
            try expectEqual(try dao.count { $0.number < 0 }, 2500)
            try expectEqual(try dao.count(), 2500)
        },
        ConformanceCase("T.swallowedFailure", "T1", title: "a closure that catches an error commits its writes") { context in
            let (database, dao) = try context.open(with: Item.self)
            try database.transaction {
                try dao.create(Item.make([1]))
                do {
                    try dao.create(Item.make([2, 1]))
                } catch {}
                do {
                    _ = try dao.read(byPrimaryKey: "not a number")
                } catch {}
                try dao.create(Item.make([3]))
            }
            try expectEqual(try dao.read().map(\.id), [1, 3])
        },
        ConformanceCase("T.storageMadeInside", "T1", title: "a storage opened in a transaction works there and later") {
            context in
            let database = try context.open()
            try database.transaction {
                let dao = try database.dao(Item.self)
                try dao.create(Item.make(1...2))
                try expectEqual(try dao.count(), 2)
            }
            try expectEqual(try database.dao(Item.self).read().map(\.id), [1, 2])
        },
    ]

    private static let rollingBack: [ConformanceCase] = [
        ConformanceCase("T.throwAtEveryStep", "T1", title: "a throw after any step changes no entity") { context in
            let database = try context.open()
            let (items, members) = (try database.dao(Item.self), try database.dao(Member.self))
            let articles = DAO(storage: try database.storage(for: ArticleModel.self), translator: ArticleTranslator())
            try items.create(Item.make(1...20))
            try members.create((1...10).map { Member(id: $0, email: "e\($0)", badge: $0) })
            try articles.create((1...5).map { Article(id: $0, title: "t\($0)", body: "b") })
            func dump() throws -> [String] {
                try Dump.rows(of: items.storage) + Dump.rows(of: members.storage) + Dump.rows(of: articles.storage)
            }
            let before = try dump()
            let steps: [() throws -> Void] = [
                { try items.create(Item.make(21...30)) },
                { try items.persist(Item.make([5, 40]).map { Item(id: $0.id, name: "p", number: 0) }) },
                { try items.update(where: { $0.number > 50 }) { $0.number = -1 } },
                { try items.erase { $0.id < 4 } },
                { try members.erase(byPrimaryKeys: [1, 2]) },
                { try members.create(Member(id: 11, email: "e1", badge: 1)) },
                { try articles.persist((3...8).map { Article(id: $0, title: "new", body: "new") }) },
                { try items.erase() },
                { try items.create(Item.make(1...3)) },
                { try members.update(where: { $0.id > 0 }) { $0.email = nil } },
            ]
            for failing in 0...steps.count {
                try expectDeliberate(DeliberateError(number: failing), "a throw after step \(failing)") {
                    try database.transaction {
                        for step in steps.prefix(failing) { try step() }
                        throw DeliberateError(number: failing)
                    }
                }
                try expectEqual(try dump(), before, "the rows after a throw after step \(failing)")
            }
            try database.transaction { for step in steps { try step() } }
            try expectEqual(try items.read().map(\.id), [1, 2, 3], "the items after the commit")
            try expectEqual(try members.count { $0.email == nil }, 9, "members after the commit")
        },
        ConformanceCase("T.rollbackRestoresIndexes", "T1", title: "a rollback restores indexes, order and counts") { context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make(1...10))
            try expectRollback(of: database) {
                try dao.update(where: { $0.id > 0 }) { $0.number = 1000 - $0.number }
                try dao.create(Item.make(11...20))
                try dao.erase { $0.number > 950 }
            }
            try expectEqual(try dao.read { $0.number >= 30 && $0.number < 60 }.map(\.id), [3, 4, 5])
            try expectEqual(try dao.read(orderedBy: .descending(\.number)).map(\.id), (1...10).reversed())
            try expectEqual(try dao.count { $0.number > 100 }, 0)
            try expectEqual(try dao.max(\.number), 100)
        },
        ConformanceCase("T.errorUnchanged", "T1", title: "an error of the closure is rethrown unchanged") { context in
            let (database, dao) = try context.open(with: Item.self)
            try expectDeliberate(DeliberateError(number: 7)) { try database.transaction { throw DeliberateError(number: 7) } }
            let own = StorageError(.outOfSpace, "made up by the application", entity: "none")
            let error = try expectError(.outOfSpace, entity: "none") { try database.transaction { throw own } }
            try expectEqual(error.message, own.message, "the error's message")
            try expectError(.duplicateKey, entity: "item", key: 1, field: "id") {
                try database.transaction {
                    try dao.create(Item.make([1]))
                    try dao.create(Item.make([1]))
                }
            }
            try expectEqual(try dao.count(), 0)
            do {
                try database.transaction { throw CancellationError() }
                throw fail("expected a CancellationError")
            } catch is CancellationError {}
        },
        ConformanceCase(
            "T.newEntityRolledBack", "T1", title: "a storage first opened in a rolled back transaction works afterwards"
        ) { context in
            let database = try context.open()
            var kept: (any Storage<Item>)?
            try expectRollback(of: database) {
                let storage = try database.storage(for: Item.self)
                try storage.insert(Item.make(1...2))
                kept = storage
            }
            let storage = try require(kept, "the storage")
            try expectEqual(try storage.count(), 0, "rows after the rollback")
            try storage.insert(Item.make([5]))
            try expectEqual(try database.dao(Item.self).read { $0.number == 50 }.map(\.id), [5])
        },
        ConformanceCase("T.commitAfterRollback", "T1", title: "rollbacks between commits keep the committed rows") { context in
            let (database, dao) = try context.open(with: Item.self)
            for round in 1...50 {
                let body: () throws -> Void = {
                    try dao.create(Item.make([round]))
                    if round % 2 == 0 { throw DeliberateError() }
                }
                if round % 2 == 0 {
                    try expectDeliberate { try database.transaction(body) }
                } else {
                    try database.transaction(body)
                }
            }
            try expectEqual(try dao.read().map(\.id), Array(stride(from: 1, to: 50, by: 2)))
        },
    ]

    private static let otherDatabases: [ConformanceCase] = [
        ConformanceCase("T.otherDatabase", "T1", title: "a DAO of another database is not part of a transaction") { context in
            let (here, there) = (try context.open(), try context.openOther())
            let (local, remote) = (try here.dao(Item.self), try there.dao(Item.self))
            try expectDeliberate {
                try here.transaction {
                    try local.create(Item.make([1]))
                    try remote.create(Item.make([2]))
                    throw DeliberateError()
                }
            }
            try expectEqual(try local.count(), 0, "rows of this database")
            try expectEqual(try remote.read().map(\.id), [2], "rows of the other database")
        },
        ConformanceCase("T.transactionsOfTwoDatabases", "T1", title: "transactions of two databases are independent") { context in
            let (first, second) = (try context.open(), try context.openOther())
            let (one, two) = (try first.dao(Item.self), try second.dao(Item.self))
            try expectDeliberate {
                try first.transaction {
                    try one.create(Item.make([1]))
                    try second.transaction {
                        try two.create(Item.make([2]))
                        try one.create(Item.make([3]))
                        try expectEqual(
                            try one.count(), 2, "rows of the outer transaction, read inside the inner transaction")
                    }
                    try two.create(Item.make([4]))
                    throw DeliberateError()
                }
            }
            try expectEqual(try one.count(), 0)
            try expectEqual(try two.read().map(\.id), [2, 4])
        },
    ]

    private static let asynchronous: [ConformanceCase] = [
        ConformanceCase(concurrent: "T.async", "T1", title: "the asynchronous form behaves as the synchronous form") { context in
            let (database, dao) = try context.open(with: Item.self)
            let count: Int = try await database.transaction {
                try dao.create(Item.make(1...3))
                return try dao.count()
            }
            try expectEqual(count, 3, "the result of the closure")
            do {
                let _: Void = try await database.transaction {
                    try dao.erase()
                    throw DeliberateError(number: 3)
                }
                throw fail("expected the error of the closure")
            } catch let error as DeliberateError {
                try expectEqual(error.number, 3, "the error's number")
            }
            let left = try await dao.count()
            try expectEqual(left, 3, "rows after the rollback")
        },
        ConformanceCase(concurrent: "T.cancelledBefore", "T1", title: "a cancelled task begins no transaction") { context in
            let (database, dao) = try context.open(with: Item.self)
            let task = Task(executorPreference: TaskThreads.shared) {
                withUnsafeCurrentTask { $0?.cancel() }
                let _: Void = try await database.transaction { try dao.create(Item.make([1])) }
            }
            do {
                try await task.value
                throw fail("expected a CancellationError")
            } catch is CancellationError {}
            let count = try await dao.count()
            try expectEqual(count, 0, "stored rows")
        },
        ConformanceCase(concurrent: "T.cancelledInside", "T1", title: "a task cancelled in its transaction commits") { context in
            let (database, dao) = try context.open(with: Item.self)
            let (inside, cancelled) = (Signal(), Signal())
            let task = Task(executorPreference: TaskThreads.shared) {
                let _: Void = try await database.transaction {
                    try dao.create(Item.make([1]))
                    inside.send()
                    _ = cancelled.wait()
                    try dao.create(Item.make([2]))
                }
            }
            await Task.detached(executorPreference: TaskThreads.shared) { _ = inside.wait() }.value
            task.cancel()
            cancelled.send()
            // Whether or not the caller gets the cancellation, both rows are stored or none is.
            _ = await task.result
            let count = try await dao.count()
            try expect(count == 0 || count == 2, "0 or 2 rows, got \(count)")
        },
    ]
}
