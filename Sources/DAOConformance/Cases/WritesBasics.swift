import DAOCore

/// W1, W4 and W5: creating, persisting and erasing rows.
enum WritesBasics {
    static let cases: [ConformanceCase] = creating + persisting + erasing

    private static let creating: [ConformanceCase] = [
        ConformanceCase("W.createAndRead", "W1", title: "a created row is found by key, by query and in all rows") { context in
            let dao = try context.dao(Item.self)
            let item = Item(id: 7, name: "seven", number: 70, note: "n")
            try dao.create(item)
            try expectSame(try dao.read(), [item])
            try expectSame(try dao.read(byPrimaryKey: 7), item)
            try expectSame(try dao.read { $0.number == 70 }, [item])
            try expect(try dao.read(byPrimaryKey: 8) == nil, "no row with another key")
        },
        ConformanceCase(
            "W.insertAndUpsert", "W1", "W6", title: "a storage inserts no stored key, and names the row that has a unique value"
        ) { context in
            let storage = try context.storage(Member.self)
            let members = [Member(id: 1, email: "a@x", badge: 1), Member(id: 2, email: "b@x", badge: 2)]
            try storage.insert(members)
            try expectError(.duplicateKey, entity: "member", key: 2, field: "id") {
                try storage.insert([Member(id: 3, email: "c@x", badge: 3), Member(id: 2, email: "d@x", badge: 4)])
            }
            for taken in [Member(id: 2, email: "a@x", badge: 3), Member(id: 1, email: "a@x", badge: 2)] {
                try expectError(.duplicateKey, "with a taken value, too", entity: "member", key: UniqueID(taken.id), field: "id")
                {
                    try storage.insert([taken])
                }
            }
            let chairs = try context.storage(Chair.self)
            try chairs.insert([Chair(id: "a", number: 1), Chair(id: "b", number: 2)])
            for number in [1, 2] {
                try expectError(.duplicateKey, "with the value of \(number)", entity: "chair", key: "a", field: "id") {
                    try chairs.insert([Chair(id: "a", number: number)])
                }
            }
            let third = [Member(id: 3, email: "a@x", badge: 3)]
            for isInsert in [true, false] {
                try expectError(.uniqueViolation, entity: "member", key: 3, conflictingKey: 1, field: "email") {
                    if isInsert { try storage.insert(third) } else { try storage.upsert(third) }
                }
            }
            try storage.upsert([Member(id: 2, email: "d@x", badge: 4)])
            try expectSame(try storage.read(Query()), [members[0], Member(id: 2, email: "d@x", badge: 4)])
        },
        ConformanceCase("W.createTwice", "W1", title: "creating a stored key is duplicateKey with entity and key") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item(id: 1, name: "first"))
            try expectError(.duplicateKey, entity: "item", key: 1, field: "id") {
                try dao.create(Item(id: 1, name: "second"))
            }
            try expectSame(try dao.read().map(\.name), ["first"])
        },
        ConformanceCase(
            "W.createTwiceInOneCall", "W4", title: "a key given twice in one create is duplicateKey; nothing is stored"
        ) { context in
            let dao = try context.dao(Item.self)
            try expectError(.duplicateKey, entity: "item", key: 1, field: "id") {
                try dao.create([Item(id: 1, name: "a"), Item(id: 2, name: "b"), Item(id: 1, name: "c")])
            }
            try expectEqual(try dao.count(), 0, "stored rows")
            try expectError(.duplicateKey, "the same row twice", entity: "item", key: 3, field: "id") {
                try dao.create([Item(id: 3, name: "x"), Item(id: 3, name: "x")])
            }
            try expectEqual(try dao.count(), 0, "stored rows")
        },
        ConformanceCase("W.createAfterRefusal", "W1", title: "after a refused create the database stays usable") { context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item(id: 1, name: "a"))
            try database.transaction {
                try expectError(.duplicateKey, entity: "item", key: 1, field: "id") { try dao.create(Item(id: 1, name: "b")) }
                try dao.create(Item(id: 2, name: "c"))
                try expectSame(try dao.read().map(\.name), ["a", "c"])
            }
            try expectSame(try dao.read().map(\.name), ["a", "c"])
        },
        ConformanceCase("W.createNothing", "W1", title: "creating, persisting and erasing no rows does nothing") { context in
            let dao = try context.dao(Item.self)
            try dao.create([])
            try dao.persist([])
            try expectEqual(try dao.erase([]), 0, "erased rows")
            try expectEqual(try dao.erase(byPrimaryKeys: [Int]()), 0, "erased rows")
            try expectSame(try dao.read(byPrimaryKeys: [Int]()), [])
            try expectEqual(try dao.count(), 0)
        },
        ConformanceCase("W.createMany", "W1", title: "ten thousand rows in one call are all stored", isHeavy: true) { context in
            let dao = try context.dao(Item.self)
            let items = Item.make(1...10_000)
            try dao.create(items)
            try expectEqual(try dao.count(), 10_000)
            try expectSame(try dao.read(), items)
        },
    ]

    private static let persisting: [ConformanceCase] = [
        ConformanceCase("W.persistInserts", "W1", title: "persisting a new key inserts it") { context in
            let dao = try context.dao(Item.self)
            try dao.persist(Item(id: 1, name: "a"))
            try dao.persist([Item(id: 3, name: "c"), Item(id: 2, name: "b")])
            try expectSame(try dao.read().map(\.name), ["a", "b", "c"])
        },
        ConformanceCase("W.persistReplaces", "W1", title: "persisting a stored key replaces all fields, nil too") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item(id: 1, name: "a", number: 1, note: "n"))
            try dao.persist(Item(id: 1, name: "b", number: 2, note: nil))
            try expectSame(try dao.read(), [Item(id: 1, name: "b", number: 2, note: nil)])
            try expectEqual(try dao.count { $0.number == 1 }, 0, "rows by the old indexed value")
            try expectEqual(try dao.count { $0.number == 2 }, 1, "rows by the new indexed value")
        },
        ConformanceCase("W.persistMixed", "W1", title: "one persist inserts new rows and replaces stored rows") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make([2, 4, 6]))
            try dao.persist((1...6).map { Item(id: $0, name: "new \($0)") })
            try expectSame(try dao.read().map(\.name), (1...6).map { "new \($0)" })
            try expectEqual(try dao.count { $0.number > 0 }, 0, "rows by old indexed values")
        },
        ConformanceCase("W.persistRepeatedKey", "W4", title: "when a persist repeats a key, its last row is stored") { context in
            let dao = try context.dao(Item.self)
            try dao.persist([
                Item(id: 1, name: "first", number: 1), Item(id: 2, name: "two", number: 2),
                Item(id: 1, name: "second", number: 3),
                Item(id: 1, name: "last", number: 4),
            ])
            try expectSame(try dao.read().map(\.name), ["last", "two"])
            try expectEqual(try dao.read { $0.number.in([1, 3, 4]) }.map(\.number), [4])
            try expectEqual(try dao.count(), 2)
        },
        ConformanceCase("W.persistRepeatedStoredKey", "W4", title: "of a stored key, the last row of a persist wins") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item(id: 1, name: "stored", number: 9))
            try dao.persist([Item(id: 1, name: "first", number: 1), Item(id: 1, name: "last", number: 9)])
            try expectSame(try dao.read(), [Item(id: 1, name: "last", number: 9)])
            try expectEqual(try dao.count { $0.number == 9 }, 1, "rows by the indexed value")
            try expectEqual(try dao.count { $0.number == 1 }, 0, "rows by the replaced value")
        },
        ConformanceCase("W.persistSame", "W1", title: "persisting unchanged rows changes nothing") { context in
            let dao = try context.dao(Item.self)
            let items = Item.make(1...50)
            try dao.create(items)
            for _ in 0..<3 { try dao.persist(items) }
            try expectSame(try dao.read(), items)
            try expectEqual(try dao.read { $0.number >= 10 && $0.number <= 500 }.count, 50, "rows through the index")
        },
        ConformanceCase("W.overAndOver", "W1", title: "a row rewritten a thousand times is one row, the last") { context in
            let dao = try context.dao(Item.self)
            for round in 1...1000 { try dao.persist(Item(id: 1, name: "round \(round)", number: round)) }
            try expectSame(try dao.read(), [Item(id: 1, name: "round 1000", number: 1000)])
            try expectEqual(try dao.count { $0.number > 0 }, 1, "rows through the index")
        },
        ConformanceCase("W.findOrCreate", "W1", title: "findOrCreate stores a row once and then finds it") { context in
            let dao = try context.dao(Item.self)
            let made = try dao.findOrCreate(byPrimaryKey: 5) { Item(id: 5, name: "made") }
            try expectSame(made, Item(id: 5, name: "made"))
            let found = try dao.findOrCreate(byPrimaryKey: "5") { throw DeliberateError() }
            try expectSame(found, made)
            try expectSame(try dao.read(), [made])
        },
        ConformanceCase("W.findOrCreateThrows", "W1", "W3", title: "a findOrCreate that throws stores nothing") { context in
            let dao = try context.dao(Item.self)
            try expectDeliberate(DeliberateError(number: 5)) {
                try dao.findOrCreate(byPrimaryKey: 5) { throw DeliberateError(number: 5) }
            }
            try expectEqual(try dao.count(), 0)
        },
        ConformanceCase(
            "W.findOrCreateByCondition", "W1", "W3",
            title: "findOrCreate by a condition finds the first row, or stores one that meets it"
        ) { context in
            let dao = try context.dao(Item.self)
            func find(_ number: Int, _ make: () throws -> Item) throws -> Item {
                try dao.findOrCreate(where: { $0.number == number }, make)
            }
            let made = try find(5) { Item(id: 9, name: "made", number: 5) }
            try expectSame(made, Item(id: 9, name: "made", number: 5))
            try expectSame(try find(5) { throw DeliberateError() }, made)
            try dao.create(Item(id: 3, name: "before", number: 5))
            try expectEqual(try find(5) { throw DeliberateError() }.id, 3, "the first in key order")
            try expectDeliberate(DeliberateError(number: 7)) { try find(7) { throw DeliberateError(number: 7) } }
            try expectError(.invalidQuery, "a row that does not meet the condition", entity: "item", key: 4) {
                try find(7) { Item(id: 4, name: "wrong", number: 8) }
            }
            try expectError(.duplicateKey, "a key that is stored", entity: "item", key: 3, field: "id") {
                try find(7) { Item(id: 3, name: "wrong", number: 7) }
            }
            try expectEqual(try dao.read().map(\.id), [3, 9], "what is stored")
            let hiding = dao.scoped { $0.number != 5 }
            try expectEqual(
                try hiding.findOrCreate(where: { $0.number == 5 }) { throw DeliberateError() }.id, 3, "a row that a scope hides")
            try dao.erase()
            try expectEqual(try dao.findOrCreate(where: .all) { Item(id: 1, name: "default") }.name, "default", "the only one")
        },
        ConformanceCase(
            "W.append", "W1", "W3", title: "append stores a row with the number after the greatest one that meets a condition"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            func item(_ id: Int, _ name: String) -> Item { Item(id: id, name: name, number: 99) }
            try expectEqual(try dao.append(item(1, "a"), by: \.number).number, 0, "the first one")
            try expectSame(try dao.append(item(2, "a"), by: \.number), Item(id: 2, name: "a", number: 1))
            try expectEqual(try dao.append(item(3, "b"), by: \.number) { $0.name == "b" }.number, 0, "the first of others")
            try dao.erase(byPrimaryKey: 1)
            try expectEqual(try dao.append(item(4, "a"), by: \.number) { $0.name == "a" }.number, 2, "after an erasure")
            try expectEqual(
                try dao.scoped { $0.name != "a" }.append(item(5, "a"), by: \.number).number, 3, "rows that a scope hides count")
            let stored = try dao.read()
            try expectError(.duplicateKey, entity: "item", key: 3, field: "id") {
                try dao.append(item(3, "c"), by: \.number)
            }
            try expectError(.invalidQuery, "the key", entity: "item", field: "id") { try dao.append(item(6, "c"), by: \.id) }
            try expectSame(try dao.read(), stored)
            try expectRollback(of: database) {
                try expectEqual(try dao.append(item(6, "a"), by: \.number).number, 4, "in a transaction")
                try expectEqual(try dao.append(item(7, "a"), by: \.number).number, 5, "in a transaction")
            }
            try dao.create(Item(id: 8, name: "last", number: .max))
            try expectError(.arithmeticOverflow, entity: "item", field: "number") { try dao.append(item(9, "c"), by: \.number) }
            try expectEqual(try dao.count(), stored.count + 1)
        },
        ConformanceCase(
            "W.appendFromThreads", "W1", "T4", title: "eight threads' appends give different numbers", requires: [.serialWriters]
        ) { context in
            let dao = try context.dao(Item.self)
            try onThreads(8) { thread in
                for round in 0..<5 { try dao.append(Item(id: thread * 10 + round, name: ""), by: \.number) }
            }
            try expectEqual(try dao.read(\.number).sorted(), Array(0..<40))
        },
        ConformanceCase("W.entitiesApart", "W1", title: "writing one entity keeps the rows of other entities") { context in
            let database = try context.open()
            let (items, users) = (try database.dao(Item.self), try database.dao(User.self))
            try items.create(Item.make(1...5))
            try users.create(User.make(5))
            let before = try Dump.rows(of: users.storage)
            try items.update(where: { $0.id > 2 }) { $0.name = "changed" }
            try items.erase { $0.id == 1 }
            try items.erase()
            try expectEqual(try Dump.rows(of: users.storage), before, "the other entity's rows")
            try expectEqual(try items.count(), 0)
        },
    ]

    private static let erasing: [ConformanceCase] = [
        ConformanceCase("W.eraseMissing", "W5", title: "erasing a missing row is no error and counts 0") { context in
            let dao = try context.dao(Item.self)
            try expectEqual(try dao.erase(), 0)
            try expectEqual(try dao.erase(Item(id: 1, name: "")), 0)
            try expectEqual(try dao.erase(Item.make(1...3)), 0)
            try expectEqual(try dao.erase(byPrimaryKey: 5), 0)
            try expectEqual(try dao.erase { $0.id > 0 }, 0)
            try dao.create(Item(id: 2, name: "two"))
            try expectEqual(try dao.erase(byPrimaryKeys: [1, 3]), 0)
            try expectEqual(try dao.count(), 1)
        },
        ConformanceCase("W.eraseCounts", "W5", title: "erases count the rows that existed") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...10))
            try expectEqual(try dao.erase(Item(id: 1, name: "whatever")), 1, "by plain")
            try expectEqual(try dao.erase(Item.make([1, 2, 11])), 1, "by plains, two of them missing")
            try expectEqual(
                try dao.erase(byPrimaryKeys: [3, 3, 2, 4]), 2, "by keys, a repeated and a missing key among them")
            try expectEqual(try dao.erase { $0.number > 80 }, 2, "by condition")
            try expectEqual(try dao.erase { $0.number > 80 }, 0, "by condition, a second time")
            try expectSame(try dao.read().map(\.id), [5, 6, 7, 8])
            try expectEqual(try dao.erase(), 4, "all")
            try expectEqual(try dao.count(), 0)
        },
        ConformanceCase("W.eraseClearsIndexes", "W5", title: "indexes lose erased rows, which may be stored again") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...20))
            try expectEqual(try dao.erase { $0.number > 100 }, 10)
            try expectSame(try dao.read(orderedBy: .descending(\.number)).map(\.id), (1...10).reversed())
            try expectEqual(try dao.count { $0.number == 150 }, 0)
            try dao.create(Item.make(11...20))
            try expectEqual(try dao.count { $0.number == 150 }, 1)
            try expectEqual(try dao.count(), 20)
        },
        ConformanceCase("W.eraseByIndex", "W5", title: "erasing through the index that a read walks skips no row") { context in
            let dao = try context.dao(Item.self)
            try dao.create((1...500).map { Item(id: $0, name: "n", number: $0 % 3) })
            try expectEqual(try dao.erase { $0.number == 1 }, 167)
            try expectEqual(try dao.erase { $0.number >= 0 }, 333)
            try expectEqual(try dao.count(), 0)
        },
        ConformanceCase("W.eraseWithLimit", "W5", title: "erasing by order and limit erases exactly those rows") { context in
            let storage = try context.storage(Item.self)
            try storage.insert(Item.make(1...10))
            try expectEqual(try storage.erase(Query(orderedBy: [.descending(\.number)], limit: 3)), 3)
            try expectSame(try storage.read().map(\.id), Array(1...7))
            try expectEqual(try storage.erase(Query(limit: 2, offset: 1)), 2)
            try expectSame(try storage.read().map(\.id), [1, 4, 5, 6, 7])
        },
        ConformanceCase(
            "W.manyKeys", "W5", title: "forty thousand keys in one call are written, read and erased", isHeavy: true
        ) {
            context in
            let dao = try context.dao(Item.self)
            let items = Item.make(1...40_000)
            try dao.persist(items)
            try expectEqual(try dao.read(byPrimaryKeys: items.map(\.id)).count, 40_000)
            try dao.persist(items.map { Item(id: $0.id, name: "again", number: -$0.id) })
            try expectEqual(try dao.count { $0.number < 0 }, 40_000)
            try expectEqual(try dao.erase(byPrimaryKeys: items.map(\.id) + [50_000]), 40_000)
            try expectEqual(try dao.count(), 0)
        },
        ConformanceCase("W.updateCounts", "W5", title: "an update counts the rows it matches, changed or not") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...10))
            try expectEqual(try dao.update(where: { $0.id > 5 }) { $0.note = "x" }, 5)
            try expectEqual(try dao.update(where: { $0.id > 5 }) { $0.note = "x" }, 5, "rows matched again, unchanged")
            try expectEqual(try dao.update(where: { $0.id > 10 }) { $0.note = "x" }, 0)
            try expectEqual(try dao.count { $0.note == "x" }, 5)
        },
        ConformanceCase("W.updateMovesInIndex", "W5", title: "updating the field of the condition visits rows once") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...200))
            try expectEqual(try dao.update(where: { $0.number > 0 }) { $0.number &+= 1000 }, 200)
            try expectEqual(try dao.read().map(\.number), (1...200).map { $0 * 10 + 1000 })
            try expectEqual(try dao.count { $0.number > 1000 }, 200)
            try expectEqual(try dao.count { $0.number <= 1000 }, 0)
        },
        ConformanceCase("W.updateWithLimit", "W5", title: "updating by order and limit changes exactly those rows") { context in
            let storage = try context.storage(Item.self)
            try storage.insert(Item.make(1...10))
            try expectEqual(try storage.update(Query(orderedBy: [.descending(\.number)], limit: 3)) { $0.note = "top" }, 3)
            try expectSame(try storage.read(Query(where: Condition { $0.note == "top" })).map(\.id), [8, 9, 10])
        },
    ]
}

/// A row with a text as its key and a unique value beside it.
private struct Chair: Plain, Model {
    var id: String
    var number: Int
    static let schema = Schema("chair", Self.init, Field("id", \.id, .primaryKey), Field("number", \.number, .unique))
}
