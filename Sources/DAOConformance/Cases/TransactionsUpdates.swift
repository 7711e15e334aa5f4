import DAOCore
import DAOTestSupport

/// T4: writers never lose an update.
enum TransactionsUpdates {
    static let cases: [ConformanceCase] = [
        lostUpdates("T.lostUpdate", threads: 4, increments: 50, isHeavy: false),
        lostUpdates("T.lostUpdateLong", threads: 8, increments: 500, isHeavy: true),
        ConformanceCase(
            "T.lostUpdateByMerge", "T4", title: "merging persists from four threads lose no increment", requires: [.serialWriters]
        ) { context in
            let storage = try context.storage(Item.self)
            try storage.insert([Item(id: 1, name: "counter")])
            let dao = DAO(
                storage: storage, translator: ScriptedTranslator(merge: { plain, model in model.number &+= plain.number }))
            try onThreads(4) { _ in for _ in 0..<50 { try dao.persist(Item(id: 1, name: "", number: 1)) } }
            try expectEqual(try storage.read().map(\.number), [200])
            try expectEqual(try storage.count(predicatedBy: Condition { $0.number == 200 }), 1, "rows through the index")
        },
        ConformanceCase(
            "T.lostUpdateByUpdate", "T4", title: "updates by query from four threads lose no increment",
            requires: [.serialWriters]
        ) { context in
            let dao = try context.dao(Item.self)
            try dao.create((1...5).map { Item(id: $0, name: "counter") })
            try onThreads(4) { _ in for _ in 0..<25 { try dao.update(where: { $0.id > 0 }) { $0.number &+= 1 } } }
            try expectEqual(try dao.read().map(\.number), [100, 100, 100, 100, 100])
        },
        ConformanceCase(concurrent: "T.lostUpdateAsync", "T4", title: "eight tasks' transactions lose no increment") { context in
            let (database, dao) = try context.open(with: Counter.self)
            try await dao.create(Counter(id: 1, value: 0))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<25 {
                            let _: Void = try await database.transaction(retrying: database.retries) {
                                var counter = try require(try dao.read(byPrimaryKey: 1), "the counter")
                                counter.value &+= 1
                                try dao.persist(counter)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let value = try await dao.read(byPrimaryKey: 1)?.value
            try expectEqual(value, 200)
        },
        ConformanceCase("T.writeSkew", "T4", title: "of two doctors on call at most one leaves, in every schedule") { context in
            let (database, dao) = try context.open(with: Account.self)
            for round in 0..<20 {
                try dao.persist([Account(id: "a", balance: 1, mirror: 1), Account(id: "b", balance: 1, mirror: 1)])
                try onThreads(2) { thread in
                    try database.transaction(retrying: database.retries) {
                        guard try dao.count(where: { $0.balance == 1 }) > 1 else { return }
                        try dao.persist(Account(id: thread == 0 ? "a" : "b", balance: 0, mirror: 0))
                    }
                }
                try expectEqual(try dao.count { $0.balance == 1 }, 1, "on call after round \(round)")
            }
        },
        ConformanceCase("T.transfers", "T4", "C1", title: "transfers between accounts keep the sum for all readers") { context in
            let (database, dao) = try context.open(with: Account.self)
            try dao.create((0..<10).map { Account(id: "account \($0)", balance: 100, mirror: 100) })
            let isDone = Shared(false)
            let reader = Background {
                while !isDone.value {
                    let accounts = try dao.read()
                    try expectEqual(accounts.map(\.balance).reduce(0, &+), 1000, "the sum of all balances")
                    try expect(
                        accounts.allSatisfy { $0.balance == $0.mirror }, "two fields that are written together to be equal")
                }
            }
            defer { isDone.change { $0 = true } }
            try onThreads(4) { thread in
                var random = SeededGenerator(seed: UInt64(thread))
                for _ in 0..<50 {
                    try database.transaction(retrying: database.retries) {
                        let (from, to) = (Int.random(in: 0..<10, using: &random), Int.random(in: 0..<10, using: &random))
                        for (index, change) in [(from, -7), (to, 7)] {
                            var account = try require(try dao.read(byPrimaryKey: "account \(index)"), "the account")
                            account.balance &+= change
                            account.mirror &+= change
                            try dao.persist(account)
                        }
                    }
                }
            }
            isDone.change { $0 = true }
            try reader.wait(seconds: 30, "the reader")
            try expectEqual(try dao.sum(\.balance), 1000)
        },
        ConformanceCase(
            "T.findOrCreateOnce", "T4", "W1", title: "eight threads' findOrCreate calls create one row",
            requires: [.serialWriters]
        ) { context in
            let dao = try context.dao(Item.self)
            let made = Shared(0)
            try onThreads(8) { thread in
                for id in 1...20 {
                    let item = try dao.findOrCreate(byPrimaryKey: id) {
                        made.change { $0 += 1 }
                        return Item(id: id, name: "made by \(thread)")
                    }
                    try expectEqual(item.id, id)
                }
            }
            try expectEqual(made.value, 20, "values made")
            try expectEqual(try dao.count(), 20)
        },
        ConformanceCase(
            "T.createRace", "T4", "W1",
            title: "of eight threads that create one key, one succeeds and the remaining threads get duplicateKey"
        ) { context in
            let dao = try context.dao(Item.self)
            let (created, refused) = (Shared(0), Shared(0))
            try onThreads(8) { thread in
                for id in 1...20 {
                    do {
                        try dao.create(Item(id: id, name: "by \(thread)"))
                        created.change { $0 += 1 }
                    } catch let error as StorageError where error.kind == .duplicateKey {
                        refused.change { $0 += 1 }
                    }
                }
            }
            try expectEqual(created.value, 20, "successes")
            try expectEqual(refused.value, 140, "refusals")
        },
        ConformanceCase(
            "T.persistRace", "T4", "W1", title: "eight threads may persist one new key: one row", requires: [.serialWriters]
        ) { context in
            let dao = try context.dao(Item.self)
            try onThreads(8) { thread in
                for id in 1...20 { try dao.persist(Item(id: id, name: "by \(thread)", number: thread)) }
            }
            try expectEqual(try dao.read().map(\.id), Array(1...20))
            try expectEqual(try dao.count { $0.number >= 0 }, 20, "rows through the index")
        },
        ConformanceCase("T.uniqueRace", "T4", "W6", title: "of eight threads with one unique value, one succeeds") { context in
            let dao = try context.dao(Member.self)
            let refused = Shared(0)
            try onThreads(8) { thread in
                for round in 0..<10 {
                    do {
                        try dao.create(Member(id: thread * 100 + round, email: "email \(round)", badge: thread * 100 + round))
                    } catch let error as StorageError where error.kind == .uniqueViolation {
                        refused.change { $0 += 1 }
                    }
                }
            }
            try expectEqual(try dao.count(), 10)
            try expectEqual(refused.value, 70, "refusals")
        },
    ]

    private static func lostUpdates(_ id: String, threads: Int, increments: Int, isHeavy: Bool) -> ConformanceCase {
        ConformanceCase(
            id, "T4", title: "\(threads) threads × \(increments) increments in transactions all count", isHeavy: isHeavy
        ) { context in
            let (database, dao) = try context.open(with: Counter.self)
            try dao.create(Counter(id: 1, value: 0))
            try onThreads(threads) { _ in
                for _ in 0..<increments {
                    try database.transaction(retrying: database.retries) {
                        var counter = try require(try dao.read(byPrimaryKey: 1), "the counter")
                        counter.value &+= 1
                        try dao.persist(counter)
                    }
                }
            }
            try expectEqual(try dao.read(byPrimaryKey: 1)?.value, threads * increments)
        }
    }
}
