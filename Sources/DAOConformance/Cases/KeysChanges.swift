import DAOCore
import Foundation

/// K1 and K4: unique ids in every form, and keys that must not change.
enum KeysChanges {
    static let cases: [ConformanceCase] = [
        ConformanceCase("K.portableForms", "K1", title: "a key is found by integer, text and UniqueID alike") { context in
            let dao = try context.dao(KeyedBy<Int>.self)
            try dao.create(KeyedBy<Int>(id: 42, note: "it"))
            try expectSame(try dao.read(byPrimaryKey: "42")?.note, "it")
            try expectSame(try dao.read(byPrimaryKey: UInt8(42))?.note, "it")
            try expectSame(try dao.read(byPrimaryKey: UniqueID("42"))?.note, "it")
            try expectSame(try dao.read(byPrimaryKey: UniqueID(value: Int16(42)))?.note, "it")
            try expectSame(try dao.read(byPrimaryKeys: ["42"]).map(\.note), ["it"])
            try expectEqual(try dao.erase(byPrimaryKey: "42"), 1)
        },
        ConformanceCase("K.notCanonicalText", "K1", title: "'042', '+42' and ' 42' are not the integer key 42") { context in
            let dao = try context.dao(KeyedBy<Int>.self)
            try dao.create(KeyedBy<Int>(id: 42, note: "it"))
            for text in ["042", "+42", " 42", "42 ", "42.0", "4e1", "٤٢", ""] {
                try expectError(.invalidKey, "reading \(Dump.text(of: text))", entity: "byInt", key: UniqueID(text)) {
                    try dao.read(byPrimaryKey: text)
                }
            }
        },
        ConformanceCase("K.wrongKind", "K1", title: "an id of another type is invalidKey that names the type") { context in
            let database = try context.open()
            let (numbers, uuids) = (try database.dao(KeyedBy<Int>.self), try database.dao(KeyedBy<UUID>.self))
            try expectError(.invalidKey, entity: "byInt", key: "abc") { try numbers.read(byPrimaryKey: "abc") }
            try expectError(.invalidKey, entity: "byInt", key: "00000000-0000-0000-0000-000000000000") {
                try numbers.erase(byPrimaryKey: Scalars.zero)
            }
            try expectError(.invalidKey, entity: "byUUID", key: 5) { try uuids.read(byPrimaryKey: 5) }
            try expectError(.invalidKey, entity: "byUUID", key: "not a uuid") { try uuids.exists(byPrimaryKey: "not a uuid") }
        },
        ConformanceCase("K.outOfRange", "K1", title: "an id beyond the key's width is invalidKey, not truncated") { context in
            let database = try context.open()
            let (small, unsigned) = (try database.dao(KeyedBy<Int8>.self), try database.dao(KeyedBy<UInt64>.self))
            try small.create([KeyedBy<Int8>(id: 0, note: "zero"), KeyedBy<Int8>(id: -128, note: "least")])
            try expectError(.invalidKey, "256 as Int8", entity: "byInt8", key: 256) { try small.read(byPrimaryKey: 256) }
            try expectError(.invalidKey, "128 as Int8", entity: "byInt8", key: 128) { try small.read(byPrimaryKey: 128) }
            try expectError(.invalidKey, "-1 as UInt64", entity: "byUInt64", key: -1) { try unsigned.read(byPrimaryKey: -1) }
            try expectError(.invalidKey, "UInt64.max as Int", entity: "byInt", key: "18446744073709551615") {
                try database.dao(KeyedBy<Int>.self).read(byPrimaryKey: UInt64.max)
            }
        },
        ConformanceCase("K.uuidForms", "K1", title: "a UUID key is found by UUID and by its text in either case") { context in
            let dao = try context.dao(KeyedBy<UUID>.self)
            let id = try require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"), "a UUID")
            try dao.create(KeyedBy<UUID>(id: id, note: "it"))
            try expectSame(try dao.read(byPrimaryKey: id)?.note, "it")
            try expectSame(try dao.read(byPrimaryKey: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")?.note, "it")
            try expectSame(try dao.read(byPrimaryKey: UniqueID(id))?.note, "it")
            for text in [id.uuidString.lowercased(), "e621E1F8-C36C-495A-93FC-0C247A3E6E5F"] {
                try expectSame(try dao.read(byPrimaryKey: text)?.note, "it")
                try expectSame(try dao.read(predicatedBy: Condition("id == '\(text)' AND id IN {'\(text)'}")).map(\.note), ["it"])
            }
            try expectError(.invalidKey, "no UUID", entity: "byUUID", key: "e621e1f8-c36c-495a-93fc-0c247a3e6e5") {
                try dao.read(byPrimaryKey: "e621e1f8-c36c-495a-93fc-0c247a3e6e5")
            }
        },
        ConformanceCase("K.stringKeysTakeAnyID", "K1", title: "a string key is found by an id of a number or a UUID") { context in
            let dao = try context.dao(KeyedBy<String>.self)
            try dao.create([KeyedBy(id: "5", note: "five"), KeyedBy(id: Scalars.zero.uuidString, note: "zero")])
            try expectSame(try dao.read(byPrimaryKey: 5)?.note, "five")
            try expectSame(try dao.read(byPrimaryKey: UniqueID(value: 5))?.note, "five")
            try expectSame(try dao.read(byPrimaryKey: Scalars.zero)?.note, "zero")
        },
        ConformanceCase("K.uniqueIdRoundTrip", "K1", title: "a row has the unique id it was stored under") { context in
            let database = try context.open()
            let texts = ["", "5", "05", "\u{e9}", "e\u{301}", "a\0"]
            let dao = try database.dao(KeyedBy<String>.self)
            try dao.create(texts.map { KeyedBy(id: $0, note: "") })
            let ids = Set(try dao.read().map(\.uniqueId))
            try expectEqual(ids, Set(texts.map { UniqueID(rawValue: $0) }), "the unique ids")
        },
        ConformanceCase("K.translatorRewritesKey", "K4", title: "a merge that changes the key is keyChanged") { context in
            let storage = try context.storage(Item.self)
            try storage.insert(Item.make(1...3))
            let before = try Dump.rows(of: storage)
            let dao = DAO(storage: storage, translator: ScriptedTranslator(merge: { _, model in model.id = 99 }))
            try expectError(.keyChanged, entity: "item", key: 2, field: "id") { try dao.persist(Item(id: 2, name: "new")) }
            try expectEqual(try Dump.rows(of: storage), before, "the rows after the error")
        },
        ConformanceCase("K.translatorTakesAnotherKey", "K4", title: "taking the key of a stored row is keyChanged") { context in
            let storage = try context.storage(Item.self)
            try storage.insert(Item.make(1...3))
            let before = try Dump.rows(of: storage)
            let dao = DAO(storage: storage, translator: ScriptedTranslator(merge: { _, model in model.id = 3 }))
            try expectError(.keyChanged, entity: "item", key: 1, field: "id") { try dao.persist(Item.make(1...2)) }
            try expectEqual(try Dump.rows(of: storage), before, "the rows after the error")
        },
        ConformanceCase("K.lateKeyChange", "K4", "W3", title: "a changed key in the last row undoes the whole call") { context in
            let storage = try context.storage(Item.self)
            try storage.insert(Item.make(1...5))
            let before = try Dump.rows(of: storage)
            let dao = DAO(
                storage: storage,
                translator: ScriptedTranslator(merge: { plain, model in
                    model.name = "changed"
                    if plain.id == 5 { model.id = 6 }
                }))
            try expectError(.keyChanged, entity: "item", key: 5, field: "id") { try dao.persist(Item.make(1...5)) }
            try expectEqual(try Dump.rows(of: storage), before, "the rows after the error")
        },
        ConformanceCase("K.newRowWithAnotherKey", "K4", title: "a new record whose key differs is keyChanged") { context in
            let storage = try context.storage(Item.self)
            let dao = DAO(
                storage: storage,
                translator: ScriptedTranslator(make: { plain in Item(id: plain.id + 100, name: plain.name) }))
            try expectError(.keyChanged, entity: "item", key: 1, field: "id") { try dao.persist(Item(id: 1, name: "new")) }
            try expectEqual(try storage.count(Query()), 0, "stored rows")
        },
        ConformanceCase("K.updateRewritesKey", "K4", title: "an update of a key is keyChanged and changes no row") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...4))
            let before = try Dump.rows(of: dao.storage)
            try expectError(.keyChanged, entity: "item", key: 4, field: "id") {
                try dao.update(where: { $0.number >= 20 }) { item in
                    item.name = "changed"
                    if item.id == 4 { item.id = 40 }
                }
            }
            try expectEqual(try Dump.rows(of: dao.storage), before, "the rows after the error")
        },
        ConformanceCase("K.mergeRewritesKey", "K4", title: "a storage's merge that changes a key is keyChanged") { context in
            let storage = try context.storage(Item.self)
            try storage.insert(Item.make(1...2))
            let before = try Dump.rows(of: storage)
            try expectError(.keyChanged, entity: "item", key: 1, field: "id") {
                try storage.merge(keys: [.integer(1)]) { _, record in record = Item(id: 7, name: "seven") }
            }
            try expectEqual(try Dump.rows(of: storage), before, "the rows after the error")
        },
        ConformanceCase("K.findOrCreateWithAnotherKey", "K4", title: "findOrCreate refuses a value of another key") { context in
            let dao = try context.dao(Item.self)
            try expectError(.keyChanged, entity: "item", key: 1, field: "id") {
                try dao.findOrCreate(byPrimaryKey: 1) { Item(id: 2, name: "two") }
            }
            try expectEqual(try dao.count(), 0, "stored rows")
        },
        ConformanceCase(
            "K.copyWithNewKey", "K4", title: "persisting a record with a changed key inserts a new row; the old row stays"
        ) {
            context in
            let dao = try context.dao(Item.self)
            try dao.create(Item(id: 1, name: "one"))
            var copy = try require(try dao.read(byPrimaryKey: 1), "the row")
            copy.id = 2
            try dao.persist(copy)
            try expectSame(try dao.read().map(\.id), [1, 2])
            try expectSame(try dao.read().map(\.name), ["one", "one"])
        },
        ConformanceCase(
            "K.composedKeyChange", "K4", "K3", title: "replacing a composed é by a decomposed é in a key is a key change"
        ) {
            context in
            let storage = try context.storage(KeyedBy<String>.self)
            try storage.insert([KeyedBy(id: "\u{e9}", note: "composed")])
            try expectError(.keyChanged, entity: "byString", key: "é", field: "id") {
                try storage.merge(keys: [.string("\u{e9}")]) { _, record in record?.id = "e\u{301}" }
            }
            try expectSame(try storage.read(Query()).map(\.id), ["\u{e9}"])
        },
    ]
}
