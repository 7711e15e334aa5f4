import DAOCore
import Foundation

/// W1 and W5: the classic operations of storages and DAOs, and the tests of the earlier libraries.
enum WritesClassic {
    static let cases: [ConformanceCase] = tests + surface

    /// The classic tests, by their numbers.
    private static let tests: [ConformanceCase] = [
        ConformanceCase("W.classic1", "W1", title: "create with a block returns and stores the block's values") { context in
            let storage = try context.storage(User.self)
            let user = try storage.create { user in
                user.id = 1
                user.name = "Name #1"
                user.age = 11
            }
            try expectSame(user, User(id: 1, name: "Name #1", age: 11))
            try expectSame(try storage.read(), [user])
        },
        ConformanceCase("W.classic2", "W1", title: "create(count:) stores a thousand users, equal field by field") { context in
            let storage = try context.storage(User.self)
            let made = try storage.create(count: 1000) { user, index in
                user.id = Int64(index + 1)
                user.name = "Name #\(index + 1)"
                user.age = index + 11
            }
            try expectSame(made, User.make(1000), "the returned users")
            try expectSame(try storage.read(), User.make(1000))
        },
        ConformanceCase("W.classic3", "W1", "Q1", title: "a thousand users by ascending key are already in order") { context in
            let storage = try thousand(context)
            try expectSame(try storage.read(orderedBy: "id", ascending: true), User.make(0..<1000))
            try expectSame(try storage.read(orderedBy: "id", ascending: false), User.make(0..<1000).reversed())
            try expectSame(try DAO(storage: storage).read(orderedBy: "id", ascending: true), User.make(0..<1000))
        },
        ConformanceCase("W.classic4", "W1", title: "of a thousand users 994 have an id above 5, in any order") { context in
            let storage = try thousand(context)
            let predicate = Condition<User>("id > 5")
            let expected = User.make(6..<1000)
            try expectSame(try storage.read(predicatedBy: predicate), expected)
            try expectSame(
                try storage.read(predicatedBy: predicate, sortDescriptors: [.descending(\.age)]), expected.reversed())
            try expectSame(try storage.read(predicatedBy: predicate, orderedBy: "age", ascending: false), expected.reversed())
            try expectEqual(try storage.count(predicatedBy: predicate), 994)
            try expectSame(
                try DAO(storage: storage).read(predicatedBy: predicate, orderedBy: "name", ascending: true).count, 994)
        },
        ConformanceCase("W.classic5", "W1", title: "the user with key 5 exists") { context in
            let storage = try thousand(context)
            try expectSame(try storage.read(byPrimaryKey: 5), User(id: 5, name: "Name #5", age: 15))
            try expectSame(
                try storage.read(byPrimaryKey: "5", includeSubentities: false), User(id: 5, name: "Name #5", age: 15))
            try expect(try storage.isEntityExist(primaryKey: 5), "key 5 to exist")
            try expect(try !storage.isEntityExist(primaryKey: 1000), "key 1000 not to exist")
        },
        ConformanceCase("W.classic6", "W1", title: "persisting users with a new age keeps count, ids and names") { context in
            let storage = try thousand(context)
            try storage.persist(objects: storage.read().map { User(id: $0.id, name: $0.name, age: 14) })
            try expectSame(try storage.read(), User.make(0..<1000).map { User(id: $0.id, name: $0.name, age: 14) })
        },
        ConformanceCase("W.classic7", "W1", "W5", title: "persisting by predicate changes exactly its rows") { context in
            let storage = try thousand(context)
            let changed = try storage.persist(predicatedBy: Condition("id > %@", 5)) { $0.age = 13 }
            try expectEqual(changed, 994, "changed rows")
            try expectSame(
                try storage.read(), User.make(0..<1000).map { User(id: $0.id, name: $0.name, age: $0.id > 5 ? 13 : $0.age) })
        },
        ConformanceCase("W.classic8", "W1", title: "create(count:) without a block stores nothing until it is persisted") {
            context in
            let storage = try context.storage(User.self)
            var users = try storage.create(count: 1000)
            try expectEqual(try storage.count(), 0, "stray default rows")
            for index in users.indices {
                users[index] = User(id: Int64(index + 1), name: "Name #\(index + 1)", age: index + 11)
            }
            try storage.persist(objects: users)
            try expectSame(try storage.read(), User.make(1000))
        },
        ConformanceCase("W.classic9", "W1", title: "persisting each user by key with a new age changes all users") { context in
            let storage = try context.storage(User.self)
            try storage.insert(User.make(100))
            for id in Int64(1)...100 {
                let wasThere = try storage.persist(withPrimaryKey: id) { $0?.age = 13 }
                try expect(wasThere, "user \(id) to exist")
            }
            try expectSame(try storage.read(), User.make(100).map { User(id: $0.id, name: $0.name, age: 13) })
        },
        ConformanceCase(
            "W.classic12", "W5", title: "of ten users five remain after an erase by predicate, and none after erases by key"
        ) { context in
            let storage = try context.storage(User.self)
            try storage.insert(User.make(10))
            try expectEqual(try storage.erase(predicatedBy: Condition("id < 6")), 5)
            try expectEqual(try storage.read().map(\.id), [6, 7, 8, 9, 10])
            for id in 6...10 { try expectEqual(try storage.erase(byPrimaryKey: id), 1) }
            try expectEqual(try storage.count(), 0)
        },
        ConformanceCase(
            "W.classic16", "W1", "C1", title: "every classic operation works from eight threads at once",
            requires: [.serialWriters]
        ) { context in
            let database = try context.open()
            let storage = try database.storage(for: User.self)
            try onThreads(8) { thread in
                let base = Int64(thread * 1000)
                let dao = DAO(storage: storage)
                let users = (base + 1...base + 20).map { User(id: $0, name: "Name #\($0)", age: Int($0) + 10) }
                try dao.create(users)
                _ = try storage.create { $0 = User(id: base, name: "extra", age: 0) }
                let own = Condition<User> { $0.id >= base && $0.id < base + 1000 }
                try expectEqual(try dao.count(predicatedBy: own), 21, "thread \(thread)'s rows")
                try expectEqual(try storage.persist(predicatedBy: own) { $0.age = 13 }, 21)
                try expect(try dao.read(predicatedBy: own).allSatisfy { $0.age == 13 }, "all of age 13")
                try dao.persist(users)
                try expectSame(try dao.read(byPrimaryKeys: users.map(\.id)), users)
                try expectEqual(try dao.erase(byPrimaryKeys: users.prefix(10).map(\.id)), 10)
                try expectEqual(try dao.erase(predicatedBy: own), 11)
            }
            try expectEqual(try storage.count(), 0)
        },
    ]

    private static func thousand(_ context: ConformanceContext) throws -> any Storage<User> {
        let storage = try context.storage(User.self)
        try storage.insert(User.make(0..<1000))
        return storage
    }

    private static let surface: [ConformanceCase] = [
        ConformanceCase("W.createBlockThrows", "W3", title: "a create whose block throws stores nothing") { context in
            let storage = try context.storage(User.self)
            try expectDeliberate { try storage.create { _ in throw DeliberateError() } }
            for place in [0, 5, 9] {
                try expectDeliberate(DeliberateError(number: place)) {
                    try storage.create(count: 10) { user, index in
                        user.id = Int64(index)
                        if index == place { throw DeliberateError(number: place) }
                    }
                }
            }
            try expectEqual(try storage.count(), 0)
        },
        ConformanceCase("W.createBlockSameKey", "W4", title: "create(count:) with one key twice is duplicateKey") { context in
            let storage = try context.storage(User.self)
            try expectError(.duplicateKey, entity: "user", key: 1, field: "id") {
                try storage.create(count: 2) { user, _ in user.id = 1 }
            }
            try expectEqual(try storage.count(), 0)
        },
        ConformanceCase(
            "W.createDefaults", "W1", title: "a created record has the declared defaults, and empty values without them"
        ) {
            context in
            let articles = try context.storage(ArticleModel.self)
            try expectSame(try articles.create(), ArticleModel(id: 0, title: "", body: "", draft: nil, views: 7))
            try expectSame(try articles.create(count: 0).count, 0)
            try expectError(.invalidQuery, "a negative count", entity: "article") { try articles.create(count: -1) }
            try expectError(.invalidSchema, "a field of type URL, which has no empty value", entity: "scalars", field: "url") {
                try context.storage(Scalars.self).create()
            }
            try expectEqual(try articles.count(), 0)
        },
        ConformanceCase(
            "W.persistMissingKey", "W1", title: "persisting by a missing key calls the block with nil and stores nothing"
        ) { context in
            let storage = try context.storage(User.self)
            var calls = 0
            let wasThere = try storage.persist(withPrimaryKey: 5) { user in
                calls += 1
                try expect(user == nil, "nil")
                user = User(id: 5, name: "made", age: 1)
            }
            try expect(!wasThere, "false, since the row does not exist")
            try expectEqual(calls, 1, "calls of the block")
            try expectEqual(try storage.count(), 0)
        },
        ConformanceCase("W.persistBlockThrows", "W3", title: "a persist whose block throws changes nothing") { context in
            let storage = try context.storage(User.self)
            try storage.insert(User.make(10))
            try expectDeliberate {
                try storage.persist(withPrimaryKey: 5) { user in
                    user?.age = 0
                    throw DeliberateError()
                }
            }
            try expectDeliberate {
                try storage.persist(predicatedBy: Condition { $0.id > 0 }) { user in
                    user.age = 0
                    if user.id == 10 { throw DeliberateError() }
                }
            }
            try expectError(.keyChanged, entity: "user", key: 5, field: "id") {
                try storage.persist(withPrimaryKey: 5) { $0?.id = 50 }
            }
            try expectSame(try storage.read(), User.make(10))
        },
        ConformanceCase("W.persistObject", "W1", title: "persist(object:) upserts, erase(object:) erases by key") { context in
            let storage = try context.storage(User.self)
            try storage.persist(object: User(id: 1, name: "a", age: 1))
            try storage.persist(object: User(id: 1, name: "b", age: 2))
            try expectSame(try storage.read(), [User(id: 1, name: "b", age: 2)])
            try expectEqual(try storage.erase(object: User(id: 1, name: "other", age: 0)), 1)
            try expectEqual(try storage.erase(object: User(id: 1, name: "other", age: 0)), 0)
        },
        ConformanceCase("W.equals", "K1", title: "plains are equal by id, across types") { context in
            let dao = try context.dao(User.self)
            try dao.create(User.make(1))
            let user = try require(try dao.read(byPrimaryKey: 1), "the user")
            try expect(user.equals(User(id: 1, name: "another", age: 0)), "the same id to be equal")
            try expect(user.equals(Item(id: 1, name: "an item")), "the same id of another type to be equal")
            try expect(!user.equals(User(id: 2, name: user.name, age: user.age)), "another id not to be equal")
        },
        ConformanceCase(
            "W.translatorArrays", "W2", title: "array forms of translators pair their rows and refuse different counts"
        ) { context in
            let storage = try context.storage(ArticleModel.self)
            let translator = ArticleTranslator()
            try storage.insert(try translator.translate(plains: (1...3).map { Article(id: $0, title: "t", body: "b") }))
            var models = try storage.read()
            try translator.translate(from: (1...3).map { Article(id: $0, title: "n\($0)", body: "") }, to: &models)
            try expectSame(models.map(\.title), ["n1", "n2", "n3"])
            try expectError(.invalidQuery, entity: "article") { try translator.translate(from: [], to: &models) }
            try expectSame(try translator.translate(models: models).map(\.title), ["n1", "n2", "n3"])
        },
    ]
}
