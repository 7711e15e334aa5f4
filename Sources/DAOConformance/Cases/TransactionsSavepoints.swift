import DAOCore
import DAOTestSupport

/// T2: transactions inside transactions.
enum TransactionsSavepoints {
    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "T.undoneDeclaration", "T2", "E9", "R1",
            title: "an entity and a list that an undone inner transaction has declared are declared anew by the outer one",
            requires: [.savepoints]
        ) { context in
            let posts = Post.make([1, 2])
            for isNested in [false, true] {
                var database = try context.openOther("\(isNested)")
                try database.transaction {
                    func undone() throws {
                        try expectDeliberate {
                            try database.transaction {
                                try database.dao(Digest.self).create(Digest(id: 9, posts: Post.make([8, 9])))
                                throw DeliberateError()
                            }
                        }
                    }
                    if isNested { try database.transaction { try undone() } } else { try undone() }
                    try database.dao(Digest.self).persist(Digest(id: 1, posts: posts))
                    try database.dao(Bulletin.self).persist(Bulletin(id: 1, posts: [posts[1]]))
                }
                for round in 1...2 {
                    try expectEqual(
                        try database.dao(Digest.self).read(), [Digest(id: 1, posts: posts)], "the list in opening \(round)")
                    try expectEqual(
                        try database.dao(Bulletin.self).read(), [Bulletin(id: 1, posts: [posts[1]])],
                        "the other list in opening \(round)")
                    try expectEqual(
                        try database.dao(Post.self).read().map(\.id), [1, 2], "the rows of the lists in opening \(round)")
                    try database.expectVerified()
                    if round == 1 { try context.renew(&database, other: "\(isNested)") }
                }
                try database.close()
            }
        },
        ConformanceCase(
            "T.innerFails", "T2", title: "an inner transaction fails without the outer transaction", requires: [.savepoints]
        ) { context in
            let (database, dao) = try opened(context)
            try database.transaction {
                try dao.create(Item.make([1]))
                try expectRollback(of: database) {
                    try dao.create(Item.make([2]))
                    try dao.erase(byPrimaryKey: 1)
                }
                try expectEqual(try dao.read().map(\.id), [1], "the rows inside, after the inner failure")
                try dao.create(Item.make([3]))
            }
            try expectEqual(try dao.read().map(\.id), [1, 3])
        },
        ConformanceCase(
            "T.outerFails", "T2", "T1", title: "a rollback of the outer transaction undoes committed inner transactions",
            requires: [.savepoints]
        ) { context in
            let (database, dao) = try opened(context)
            try expectRollback(of: database) {
                try dao.create(Item.make([1]))
                try database.transaction { try dao.create(Item.make([2])) }
                try database.transaction { try dao.create(Item.make([3])) }
                try expectEqual(try dao.count(), 3)
            }
            try expectEqual(try dao.count(), 0)
        },
        ConformanceCase(
            "T.innerUncaught", "T2", "T1", title: "an error of an inner transaction that is not caught undoes everything",
            requires: [.savepoints]
        ) { context in
            let (database, dao) = try opened(context)
            try expectDeliberate(DeliberateError(number: 2)) {
                try database.transaction {
                    try dao.create(Item.make([1]))
                    try database.transaction {
                        try dao.create(Item.make([2]))
                        throw DeliberateError(number: 2)
                    }
                }
            }
            try expectEqual(try dao.count(), 0)
        },
        ConformanceCase(
            "T.threeLevels", "T2",
            title: "three levels of transactions, with every combination of failures, keep the rows of the reference model",
            requires: [.savepoints]
        ) { context in
            let (database, dao) = try opened(context)
            for failures in 0..<8 {
                try dao.erase()
                var expected: Set<Int> = []
                func level(_ depth: Int) throws -> Set<Int> {
                    var kept: Set<Int> = [depth * 10]
                    try dao.create(Item.make([depth * 10]))
                    if depth < 3 {
                        do {
                            try database.transaction { kept.formUnion(try level(depth + 1)) }
                        } catch is DeliberateError {}
                    }
                    try dao.create(Item.make([depth * 10 + 1]))
                    kept.insert(depth * 10 + 1)
                    if failures & (1 << (depth - 1)) != 0 { throw DeliberateError() }
                    return kept
                }
                do {
                    try database.transaction { expected = try level(1) }
                } catch is DeliberateError { expected = [] }
                try expectEqual(try dao.read().map(\.id), expected.sorted(), "the rows with failures at \(failures)")
            }
        },
        ConformanceCase(
            "T.siblings", "T2", title: "of many inner transactions only the failed are undone", requires: [.savepoints]
        ) { context in
            let (database, dao) = try opened(context)
            try database.transaction {
                for round in 1...60 {
                    do {
                        try database.transaction {
                            try dao.create(Item.make([round, round + 100]))
                            try dao.update(where: { $0.id == 1 }) { $0.number &+= 1 }
                            if round % 3 == 0 { throw DeliberateError() }
                        }
                    } catch is DeliberateError {}
                }
            }
            let expected = (1...60).filter { $0 % 3 != 0 }
            try expectEqual(try dao.read().map(\.id), expected + expected.map { $0 + 100 })
            try expectEqual(try dao.read(byPrimaryKey: 1)?.number, 10 + 40, "the number of kept updates")
        },
        ConformanceCase("T.fiftyDeep", "T2", title: "fifty levels deep, only the last is undone", requires: [.savepoints]) {
            context in
            let (database, dao) = try opened(context)
            func descend(_ depth: Int) throws {
                try dao.create(Item.make([depth]))
                if depth == 50 { throw DeliberateError() }
                do {
                    try database.transaction { try descend(depth + 1) }
                } catch is DeliberateError where depth == 49 {}
            }
            try database.transaction { try descend(1) }
            try expectEqual(try dao.read().map(\.id), Array(1...49))
        },
        ConformanceCase(
            "T.writesAroundInner", "T2", "T1", "W3",
            title:
                "writes of every kind, before, inside and after inner transactions that end in either way, keep the rows of a model",
            requires: [.savepoints]
        ) { context in
            let (database, dao) = try opened(context)
            var random = SeededGenerator(seed: 11)
            var rows: [Int: Item] = [:]
            func item(_ id: Int) -> Item { Item(id: id, name: "\(random.below(1000))", number: random.below(4)) }
            func write() throws {
                let id = random.below(400)
                switch random.below(6) {
                case 0, 1:
                    let new = item(id)
                    try dao.persist(new)
                    rows[id] = new
                case 2:
                    let new = [item(id), item(id + 1), item(random.below(400))]
                    try dao.persist(new)
                    for each in new { rows[each.id] = each }
                case 3:
                    try expectEqual(try dao.erase(byPrimaryKey: id), rows[id] == nil ? 0 : 1, "erased rows")
                    rows[id] = nil
                case 4:
                    try dao.set(\.note, to: "set") { $0.id == id }
                    rows[id]?.note = "set"
                default:
                    // A call that is refused after it has written is undone by itself.
                    guard let taken = rows.keys.min() else { return }
                    try expectError(.duplicateKey, entity: "item", key: UniqueID(taken), field: "id") {
                        try dao.create([item(500 + id), item(taken)])
                    }
                }
            }
            func level(_ depth: Int) throws {
                for _ in 0..<2 + random.below(4) {
                    guard depth < 4, random.chance(45) else {
                        try write()
                        continue
                    }
                    let before = rows
                    do {
                        try database.transaction {
                            try level(depth + 1)
                            if random.chance(45) { throw DeliberateError() }
                        }
                    } catch is DeliberateError { rows = before }
                }
            }
            for round in 0..<25 {
                let before = rows
                do {
                    try database.transaction {
                        // What the transaction itself has written before is under the inner ones.
                        let new = (0..<4).flatMap { step in (0..<30).map { item($0 * 13 + step + round % 3) } }
                        try dao.persist(new)
                        for each in new { rows[each.id] = each }
                        try level(1)
                        try expectSame(try dao.read(), rows.values.sorted { $0.id < $1.id }, "the rows inside of round \(round)")
                        if round % 5 == 4 { throw DeliberateError() }
                    }
                } catch is DeliberateError { rows = before }
                let expected = rows.values.sorted { $0.id < $1.id }
                try expectSame(try dao.read(), expected, "the rows after round \(round)")
                for number in 0..<4 {
                    try expectEqual(
                        try dao.read { $0.number == number }.map(\.id), expected.filter { $0.number == number }.map(\.id),
                        "the rows with the number \(number) after round \(round)")
                }
            }
        },
        ConformanceCase(
            "T.innerIndexes", "T2", title: "an inner rollback restores indexes and unique values", requires: [.savepoints]
        ) { context in
            let database = try context.open()
            let (items, members) = (try database.dao(Item.self), try database.dao(Member.self))
            try items.create(Item.make(1...5))
            try members.create(Member(id: 1, email: "a", badge: 1))
            try database.transaction {
                try items.update(where: { $0.id == 5 }) { $0.number = 55 }
                try expectRollback(of: database) {
                    try items.update(where: { $0.id > 0 }) { $0.number = 0 }
                    try members.erase()
                    try members.create(Member(id: 2, email: "b", badge: 2))
                }
                try expectEqual(try items.read { $0.number > 30 }.map(\.number), [40, 55])
                try expectError(.uniqueViolation, entity: "member", key: 3, conflictingKey: 1, field: "email") {
                    try members.create(Member(id: 3, email: "a", badge: 3))
                }
                try members.create(Member(id: 2, email: "b", badge: 2))
            }
            try expectEqual(try items.read(orderedBy: .descending(\.number)).map(\.number), [55, 40, 30, 20, 10])
            try expectEqual(try members.count(), 2)
        },
        ConformanceCase(
            "T.innerEraseAll", "T2", title: "an inner erase of all rows is undone row by row", requires: [.savepoints]
        ) { context in
            let (database, dao) = try opened(context)
            try dao.create(Item.make(1...300))
            let before = try Dump.rows(of: dao.storage)
            try database.transaction {
                try dao.create(Item.make([1000]))
                try expectRollback(of: database) {
                    try expectEqual(try dao.erase(), 301)
                    try dao.create(Item.make(1...10))
                }
                try dao.erase(byPrimaryKey: 1000)
            }
            try expectEqual(try Dump.rows(of: dao.storage), before, "the rows after the rollback")
        },
        ConformanceCase(
            "T.innerResult", "T2",
            title: "an inner transaction sees the writes of the outer transaction and returns its result",
            requires: [.savepoints]
        ) { context in
            let (database, dao) = try opened(context)
            let sum = try database.transaction {
                try dao.create(Item.make([1]))
                let inner = try database.transaction {
                    try dao.create(Item.make([2]))
                    return try dao.sum(\.number)
                }
                return inner &+ (try dao.count())
            }
            try expectEqual(sum, 32)
        },
        ConformanceCase(
            "T.undoneAfterReopening", "T2", "T1",
            title: "nothing that an inner or outer transaction undid is back after reopening",
            requires: [.savepoints, .persistence]
        ) { context in
            var (database, dao) = try opened(context)
            var (kept, number) = ([1: Item(id: 1, name: "")], 1)
            try dao.create([Item(id: 1, name: "")])
            /// Inserts, changes and erases rows, and does the same in an inner transaction, three levels deep. The bits
            /// of `failures` say which levels fail. Returns the rows afterwards.
            func level(_ depth: Int, _ failures: Int, _ before: [Int: Item]) throws -> [Int: Item] {
                var rows = before
                func write() throws {
                    number += 1
                    for item in [Item(id: 1, name: "\(number)", number: number), Item(id: number, name: "new", number: -number)] {
                        try dao.persist(item)
                        rows[item.id] = item
                    }
                    guard let oldest = rows.keys.filter({ $0 != 1 }).min(), rows.count > 6 else { return }
                    try expectEqual(try dao.erase(byPrimaryKey: oldest), 1, "erased rows")
                    rows[oldest] = nil
                }
                try write()
                if depth < 3 {
                    do {
                        try database.transaction { rows = try level(depth + 1, failures, rows) }
                    } catch is DeliberateError {}
                    try write()
                }
                if failures & (1 << (depth - 1)) != 0 { throw DeliberateError() }
                return rows
            }
            for pair in 0..<64 {
                // Between the two transactions with failures is one without.
                for failures in [pair / 8, 0, pair % 8] {
                    do {
                        try database.transaction { kept = try level(1, failures, kept) }
                    } catch is DeliberateError {}
                }
                let expected = kept.values.sorted { $0.id < $1.id }
                try expectSame(try dao.read(), expected, "the rows with failures at \(pair / 8), then \(pair % 8)")
                database = try context.reopen(database)
                dao = try database.dao(Item.self)
                try expectSame(try dao.read(), expected, "the same rows after reopening")
                try expectEqual(
                    try dao.read { $0.number > 0 }.map(\.id), [1], "the rows found by the index after reopening")
            }
        },
        ConformanceCase(
            "T.savepointsRefused", "T2", title: "without savepoints an inner transaction is unsupported", lacks: [.savepoints]
        ) { context in
            let (database, dao) = try opened(context)
            try database.transaction {
                try dao.create(Item.make([1]))
                try expectError(.unsupported) { try database.transaction { try dao.create(Item.make([2])) } }
                try dao.create(Item.make([3]))
            }
            try expectEqual(try dao.read().map(\.id), [1, 3])
        },
    ]

    private static func opened(_ context: ConformanceContext) throws -> (any Database, DAO<Item>) {
        let database = try context.open()
        return (database, try database.dao(Item.self))
    }
}
