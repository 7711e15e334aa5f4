import DAOCore
import Foundation

/// W2: fields that the plain does not have survive, and translators may read and write.
enum WritesMerging {
    static let cases: [ConformanceCase] = [
        ConformanceCase("W.draftSurvives", "W2", title: "a merging persist keeps fields that the plain lacks") { context in
            let storage = try context.storage(ArticleModel.self)
            let dao = DAO(storage: storage, translator: ArticleTranslator())
            try storage.insert([ArticleModel(id: 1, title: "old", body: "old", draft: "a draft", views: 12)])
            try dao.persist(Article(id: 1, title: "new", body: "newer"))
            try expectSame(
                try storage.read(), [ArticleModel(id: 1, title: "new", body: "newer", draft: "a draft", views: 12)])
            try expectEqual(try storage.count(predicatedBy: Condition { $0.title == "new" }), 1, "rows by the new title")
            try expectEqual(try storage.count(predicatedBy: Condition { $0.title == "old" }), 0, "rows by the old title")
            try expectEqual(try storage.count(predicatedBy: Condition { $0.views == 12 }), 1, "rows by the kept field")
        },
        ConformanceCase("W.mergeCreates", "W2", "W1", title: "a merging persist of a new key creates the record") { context in
            let storage = try context.storage(ArticleModel.self)
            let dao = DAO(storage: storage, translator: ArticleTranslator())
            try dao.persist(Article(id: 1, title: "t", body: "b"))
            try expectSame(try storage.read(), [ArticleModel(id: 1, title: "t", body: "b", draft: nil, views: 0)])
        },
        ConformanceCase("W.mergeMany", "W2", title: "a merging persist of many rows keeps each row's local fields") { context in
            let storage = try context.storage(ArticleModel.self)
            let dao = DAO(storage: storage, translator: ArticleTranslator())
            try storage.insert(
                (1...100).map {
                    ArticleModel(id: $0, title: "t\($0)", body: "", draft: $0 % 2 == 0 ? "d\($0)" : nil, views: $0)
                })
            try dao.persist((51...150).map { Article(id: $0, title: "new \($0)", body: "b") })
            let rows = try storage.read()
            try expectEqual(rows.count, 150)
            for row in rows {
                let expected = ArticleModel(
                    id: row.id, title: row.id > 50 ? "new \(row.id)" : "t\(row.id)", body: row.id > 50 ? "b" : "",
                    draft: row.id <= 100 && row.id % 2 == 0 ? "d\(row.id)" : nil, views: row.id <= 100 ? row.id : 0)
                try expectSame(row, expected, "row \(row.id)")
            }
        },
        ConformanceCase(
            "W.replaces", "W10", "W2", "W3", "W4", "Q14",
            title: "rows are replaced by those given, and the call tells the difference"
        ) { context in
            let (database, items) = try context.open(with: Item.self)
            func ids(_ ids: Int...) -> [UniqueID] { ids.map { UniqueID($0) } }
            func item(_ id: Int, _ number: Int, _ name: String = "a") -> Item { Item(id: id, name: name, number: number) }
            try items.create([item(1, 1), item(2, 1), item(3, 1), item(4, 2), item(5, 1)])
            // Row 4 does not meet the condition, and neither do the new ones need to.
            let changes = try items.replace(
                where: { $0.number == 1 }, with: [item(9, 1), item(4, 1), item(2, 1), item(1, 3), item(7, 5), item(9, 8)])
            try expectEqual(changes, RowChanges(inserted: ids(9, 7), updated: ids(4, 1), erased: ids(3, 5)), "what has changed")
            try expectSame(try items.read(), [item(1, 3), item(2, 1), item(4, 1), item(7, 5), item(9, 8)])
            try expectEqual(try items.replace(where: { $0.number == 1 }, with: [item(2, 1), item(4, 1)]).isEmpty, true)
            try expectEqual(
                try items.replace(where: .none, with: [item(2, 1), item(3, 1)]), RowChanges(inserted: ids(3)), "without erasing")
            // In a scope, too, every row that meets the condition is meant.
            let scoped = items.scoped { $0.number > 1 }
            try expectEqual(
                try scoped.replace(where: { $0.number < 3 }, with: [item(7, 5), item(2, 2)]),
                RowChanges(updated: ids(2), erased: ids(3, 4)), "in a scope")
            try expectEqual(try items.replace(where: .all, with: []).erased, ids(1, 2, 7, 9), "with nothing")
            try expectEqual(try items.replace(where: .all, with: []), RowChanges(), "nothing with nothing")
            let articles = try database.storage(for: ArticleModel.self)
            try articles.insert([
                ArticleModel(id: 1, title: "old", body: "b", draft: "d", views: 1),
                ArticleModel(id: 2, title: "same", body: "b", draft: "e", views: 1),
                ArticleModel(id: 3, title: "gone", body: "b", draft: nil, views: 1),
            ])
            let merged = try DAO(storage: articles, translator: ArticleTranslator()).replace(
                where: { $0.views == 1 },
                with: [Article(id: 2, title: "same", body: "b"), Article(id: 1, title: "new", body: "b")])
            try expectEqual(merged, RowChanges(updated: ids(1), erased: ids(3)), "through a translator that merges")
            try expectSame(
                try articles.read(),
                [
                    ArticleModel(id: 1, title: "new", body: "b", draft: "d", views: 1),
                    ArticleModel(id: 2, title: "same", body: "b", draft: "e", views: 1),
                ])
        },
        ConformanceCase(
            "W.replacesRelated", "W10", "W6", "R4", "R10",
            title: "a replacement erases first, with what goes along, and then stores"
        ) { context in
            let (database, topics) = try context.open(with: Topic.self)
            let posts = try database.dao(Post.self)
            func post(_ id: Int, _ text: String = "t") -> Post { Post(id: id, text: text) }
            try topics.create([
                Topic(id: "a", title: "x", posts: [post(1), post(2)]), Topic(id: "b", title: "x", posts: [post(3)]),
                Topic(id: "c", title: "y", posts: [post(4)]),
            ])
            let changes = try topics.replace(
                where: { $0.posts.contains { $0.id < 4 } },
                with: [Topic(id: "a", title: "x", posts: [post(2), post(1)]), Topic(id: "d", title: "z", posts: [post(3, "u")])])
            try expectEqual(
                changes,
                RowChanges(inserted: [UniqueID("d")], updated: [UniqueID("a")], erased: [UniqueID("b")]),
                "a list in another order")
            try expectEqual(try topics.read().map { $0.posts.map(\.id) }, [[2, 1], [4], [3]], "the lists")
            try expectEqual(
                try posts.read().map(\.text), ["t", "t", "u", "t"], "a row that an erasure took along, and the lists brought back"
            )
            let members = try database.dao(Member.self)
            try members.create([
                Member(id: 1, email: "a", badge: 1), Member(id: 2, email: "b", badge: 2), Member(id: 3, email: "c", badge: 3),
            ])
            try expectEqual(
                try members.replace(
                    where: { $0.id < 3 }, with: [Member(id: 4, email: "a", badge: 4), Member(id: 2, email: "x", badge: 2)]),
                RowChanges(inserted: [UniqueID(4)], updated: [UniqueID(2)], erased: [UniqueID(1)]),
                "the unique value of an erased row")
            try expectError(
                .uniqueViolation, "the unique value of a row that stays", entity: "member", key: 5, conflictingKey: 3,
                field: "email"
            ) { try members.replace(where: { $0.id != 3 }, with: [Member(id: 5, email: "c", badge: 5)]) }
            try expectEqual(try members.read().map(\.email), ["x", "c", "a"], "nothing of a refused replacement")
        },
        ConformanceCase("W.replacingTranslator", "W2", title: "a translator without merge replaces the record") { context in
            let storage = try context.storage(ArticleModel.self)
            let dao = DAO(storage: storage, translator: ReplacingArticleTranslator())
            try storage.insert([ArticleModel(id: 1, title: "old", body: "old", draft: "a draft", views: 12)])
            try dao.persist(Article(id: 1, title: "new", body: "new"))
            try expectSame(try storage.read(), [ArticleModel(id: 1, title: "new", body: "new", draft: nil, views: 0)])
        },
        ConformanceCase(
            "W.replacingTranslatorThatMerges", "W2", title: "a replacing translator with a merge keeps what the plain lacks"
        ) { context in
            let storage = try context.storage(ArticleModel.self)
            let dao = DAO(storage: storage, translator: MergingArticleTranslator())
            try storage.insert([ArticleModel(id: 1, title: "old", body: "old", draft: "a draft", views: 12)])
            try dao.persist(Article(id: 1, title: "new", body: "new"))
            try expectSame(try storage.read(), [ArticleModel(id: 1, title: "new", body: "new", draft: "a draft", views: 12)])
        },
        ConformanceCase("W.mergeEveryKind", "W2", title: "a merge stores the one field that has changed, of every kind") {
            context in
            let notes = try context.dao(NoteWithEverything.self)
            var note = NoteWithEverything(
                id: 1, title: "a", rank: 1, mark: nil, flag: true, tiny: 1, least: 1, most: 1, ratio: 0.1, edge: 1, real: 0.3,
                price: 1, text: "a", bytes: Data([1]), uuid: NoteWithEverything.uuidValue, link: NoteWithEverything.link,
                date: Date(timeIntervalSinceReferenceDate: 1), timeout: .seconds(1), list: [1], mood: .calm, maybe: nil, number: 1
            )
            try notes.persist(note)
            let changes: [(String, (inout NoteWithEverything) -> Void)] = [
                ("text", { $0.title = "b" }), ("text after nil", { $0.mark = "" }), ("text to nil", { $0.mark = nil }),
                ("bool", { $0.flag = false }), ("int8", { $0.tiny = -1 }), ("int64", { $0.least = .min }),
                ("uint64", { $0.most = .max }), ("double", { $0.ratio = .nan }), ("another double", { $0.edge = 1.5 }),
                ("float", { $0.real = -.infinity }),
                ("decimal", { $0.price = Decimal(sign: .plus, exponent: -2, significand: 1) }),
                ("a longer text", { $0.text = "a\0" }), ("data", { $0.bytes = Data() }),
                ("uuid", { $0.uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1)) }),
                ("url", { $0.link = URL(fileURLWithPath: "/b") }), ("date", { $0.date += 0.001 }),
                ("duration", { $0.timeout = .nanoseconds(1) }), ("array", { $0.list = [] }),
                ("enumeration", { $0.mood = .other }),
                ("number to nil", { $0.number = nil }),
            ]
            for (kind, change) in changes {
                change(&note)
                try notes.persist(note)
                try expectSame(try notes.read(), [note], kind)
            }
        },
        ConformanceCase(
            "W.mergeWritesItself", "W2", "W9", "Q9",
            title: "what a closure has changed is stored, whatever it has stored there before"
        ) { context in
            let database = try context.open()
            let storage = try database.storage(for: Item.self)
            try storage.insert(Item.make(1...5))
            for (round, id) in [3, 1, 9, 5].enumerated() {
                let stored = try storage.merge(keys: [.integer(Int64(id))]) { _, record in
                    try storage.upsert([Item(id: id, name: "meanwhile", number: -id, note: String(repeating: "x", count: 500))])
                    if round == 1 { _ = try storage.erase(keys: [.integer(Int64(id))]) }
                    record = Item(id: id, name: "merged", number: 1000 + id)
                }
                try expectEqual(stored, 1)
                // The note was left as it was read, where a row was read and is stored.
                let note = round == 1 || id > 5 ? nil : String(repeating: "x", count: 500)
                try expectSame(
                    try storage.read(key: .integer(Int64(id))), Item(id: id, name: "merged", number: 1000 + id, note: note),
                    "row \(id)")
                try expectEqual(try storage.keys(Query(where: Condition { $0.number == 1000 + id })), [.integer(Int64(id))])
                try expectEqual(try storage.keys(Query(where: Condition { $0.number == -id })), [], "rows by the number before")
            }
            try expectEqual(try storage.count(Query()), 6, "the rows")
            try database.expectVerified()
        },
        ConformanceCase(
            "W.mergeSeesItsClosure", "W2", "Q9",
            title: "a merge of rows that follow each other sees what its closure has written to those that it has not reached"
        ) { context in
            let database = try context.open()
            let storage = try database.storage(for: Item.self)
            let stored = Item.make(1...14).filter { ![6, 7, 13].contains($0.id) }
            try storage.insert(stored)
            struct Stop: Error {}
            func write(_ id: Int) throws { try storage.upsert([Item(id: id, name: "written", number: id)]) }
            var seen: [String] = []
            let keys = [Array(1...16), [13, 2]].joined().map { Key.integer(Int64($0)) }
            let count = try storage.merge(keys: keys) { index, record in
                seen.append(record.map { $0.name.hasPrefix("written") ? $0.name : "stored" } ?? "none")
                let id = index + 1
                switch id {
                case 2: try write(3)
                case 3: _ = try storage.erase(keys: [.integer(4)])
                case 6: try write(7)
                case 8:
                    // The merge itself writes nothing here.
                    try write(9)
                    record = nil
                case 10:
                    try? database.transaction {
                        try write(11)
                        throw Stop()
                    }
                case 11: try write(10)
                case 12: try write(13)
                case 15: try write(16)
                default: break
                }
                record?.name += "+\(id)"
            }
            let asked = (1...16).map {
                [4, 6, 15].contains($0) ? "none" : [3, 7, 9, 13, 16].contains($0) ? "written" : "stored"
            }
            try expectEqual(seen, asked + ["written+13", "stored"], "what the closure was given")
            try expectEqual(count, 14, "the number of stored rows")
            let named = try storage.read().map { "\($0.id) \($0.name.hasPrefix("written") ? $0.name : "stored")" }
            try expectEqual(
                named,
                [
                    "1 stored", "2 stored", "3 written+3", "5 stored", "7 written+7", "8 stored", "9 written+9", "10 written",
                    "11 stored", "12 stored", "13 written+13+17", "14 stored", "16 written+16",
                ], "the rows")
        },
        ConformanceCase(
            "W.updateErasesOthers", "W5", "W2",
            title: "an update whose closure erases rows that follow returns how many it has stored, and none of those is back"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make(1...6))
            let count = try dao.storage.update(Query()) { item in
                if item.id == 2 { try dao.erase(byPrimaryKeys: [1, 3, 5]) }
                item.name = "updated"
            }
            try expectEqual(count, 4, "the number of rows")
            try expectEqual(try dao.read().map { "\($0.id) \($0.name)" }, ["2 updated", "4 updated", "6 updated"], "the rows")
            let topics = try database.dao(Topic.self)
            try topics.create((1...4).map { Topic(id: "t\($0)", posts: Post.make([$0])) })
            let topicCount = try topics.storage.update(Query()) { topic in
                if topic.id == "t1" { try topics.erase(byPrimaryKey: "t3") }
                topic.title = "updated"
            }
            try expectEqual(topicCount, 3, "the number of rows with lists")
            try expectEqual(try topics.read().map(\.id), ["t1", "t2", "t4"], "the rows with lists")
        },
        ConformanceCase(
            "W.mergeWritesItsList", "W2", "W9", "R1",
            title: "a list and a related row that a closure has changed are stored, whatever it has stored there before"
        ) { context in
            let (database, dao) = try context.open(with: Topic.self)
            let (ada, bob, eve) = (Person(id: 1, name: "Ada"), Person(id: 2, name: "Bob"), Person(id: 3, name: "Eve"))
            let storage = dao.storage
            for (posts, owner) in [([1, 2], eve), ([2, 1, 3], bob), ([], nil), (nil, bob)] as [([Int]?, Person?)] {
                let original = Topic(id: "t", title: "first", owner: ada, posts: Post.make([1, 2]))
                try dao.persist(original)
                _ = try storage.merge(keys: [.string("t")]) { _, record in
                    try storage.upsert([Topic(id: "t", title: "meanwhile", owner: bob, posts: Post.make([8, 1]))])
                    // Nil leaves the list and the related row as they were read.
                    guard let posts else { return }
                    record?.posts = Post.make(posts)
                    record?.owner = owner
                }
                try expectEqual(try database.posts("t"), posts ?? [8, 1], "the list")
                let merged = Topic(id: "t", title: "meanwhile", owner: owner, posts: Post.make(posts ?? [8, 1]))
                try expectSame(try dao.read(byPrimaryKey: "t"), merged, "the row")
            }
        },
        ConformanceCase(
            "W.mergeRepeatedKey", "W2", "W4",
            title: "when a merging persist repeats a key, the later value is merged into the result of the earlier value"
        ) { context in
            let storage = try context.storage(Item.self)
            try storage.insert([Item(id: 1, name: "stored", number: 1)])
            let dao = DAO(
                storage: storage,
                translator: ScriptedTranslator(merge: { plain, model in
                    model.name += "+" + plain.name
                    model.number &+= plain.number
                }))
            try dao.persist([
                Item(id: 1, name: "a", number: 10), Item(id: 2, name: "new", number: 5), Item(id: 1, name: "b", number: 100),
                Item(id: 2, name: "c", number: 50),
            ])
            try expectSame(try storage.read().map(\.name), ["stored+a+b", "new+c"])
            try expectSame(try storage.read().map(\.number), [111, 55])
            try expectEqual(
                try storage.count(predicatedBy: Condition { $0.number.in([1, 11, 5]) }), 0, "rows by intermediate values")
        },
        ConformanceCase(
            "W.mergeSeesStored", "W2",
            title: "the translator merges into the row that is stored now, not into a row read earlier"
        ) { context in
            let storage = try context.storage(Item.self)
            let dao = DAO(
                storage: storage, translator: ScriptedTranslator(merge: { plain, model in model.number &+= plain.number }))
            try dao.persist(Item(id: 1, name: "counter", number: 1))
            for _ in 0..<100 { try dao.persist(Item(id: 1, name: "", number: 1)) }
            try expectEqual(try storage.read().map(\.number), [101])
        },
        ConformanceCase("W.mergeKeepsNilAndEmpty", "W2", title: "a merge keeps nil and empty values apart") { context in
            let storage = try context.storage(ArticleModel.self)
            let dao = DAO(storage: storage, translator: ArticleTranslator())
            try storage.insert([
                ArticleModel(id: 1, title: "", body: "", draft: "", views: 0),
                ArticleModel(id: 2, title: "", body: "", draft: nil, views: 0),
            ])
            try dao.persist([Article(id: 1, title: "x", body: ""), Article(id: 2, title: "x", body: "")])
            try expectSame(try storage.read().map(\.draft), ["", nil])
        },
        ConformanceCase(
            "W.storageMergeSkipsNil", "W2",
            title: "a storage's merge stores the result of the closure; a nil result is not stored"
        ) { context in
            let storage = try context.storage(Item.self)
            try storage.insert(Item.make(1...3))
            let stored = try storage.merge(keys: [.integer(1), .integer(9), .integer(3), .integer(10)]) { index, record in
                if index == 3 { record = Item(id: 10, name: "made") } else { record?.name = "merged" }
            }
            try expectEqual(stored, 3, "stored rows")
            try expectSame(try storage.read().map(\.name), ["merged", "Item #2", "merged", "made"])
        },
        ConformanceCase(
            "W.translatorReadsUncommitted", "W2", "T3",
            title: "a translator that reads its own storage sees the earlier rows of the call"
        ) { context in
            let storage = try context.storage(Item.self)
            let dao = DAO(
                storage: storage,
                translator: ScriptedTranslator(merge: { _, model in model.name = "number \(try storage.count())" }))
            try storage.insert(Item.make(1...3))
            try dao.persist(Item.make(1...3))
            try expectSame(try storage.read().map(\.name), ["number 3", "number 3", "number 3"])
        },
        ConformanceCase(
            "W.translatorWritesElsewhere", "W2", "W3", "T1",
            title: "a translator's writes through another DAO are part of its call"
        ) { context in
            let database = try context.open()
            let (storage, counters) = (try database.storage(for: Item.self), try database.dao(Counter.self))
            let dao = DAO(
                storage: storage,
                translator: ScriptedTranslator(make: { plain in
                    try counters.persist(Counter(id: plain.id, value: plain.number))
                    if plain.id == 3 { throw DeliberateError(number: 3) }
                    return plain
                }))
            try expectDeliberate(DeliberateError(number: 3)) { try dao.create(Item.make(1...3)) }
            try expectEqual(try counters.count(), 0, "rows of the other entity after the failure")
            try dao.create(Item.make(1...2))
            try expectSame(try counters.read().map(\.value), [10, 20])
            try expectEqual(try storage.count(), 2)
        },
    ]
}
