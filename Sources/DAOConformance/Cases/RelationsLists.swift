import DAOCore
import DAOTestSupport
import Foundation

/// R1, R2, R5: lists keep their order, and children are separate rows.
enum RelationsLists {
    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "R.order", "R1", title: "a list keeps its order, also after reopening",
            requires: [.persistence]
        ) { context in
            var database = try context.open()
            try database.dao(Topic.self).persist(Topic(id: "t", posts: Post.make([3, 1, 2])))
            database = try context.reopen(database)
            try expectEqual(try database.posts("t"), [3, 1, 2])
        },
        ConformanceCase(
            "R.exactly", "R1",
            title: "after a persist a list is exactly the given list: longer, shorter, reordered or empty"
        ) { context in
            let (database, dao) = try context.open(with: Topic.self)
            let lists = [[1], [1, 2, 3], [3, 2, 1], [0, 3, 2, 1], [0, 9, 3, 1], [1, 3], [], [7], [7, 8], [8, 7]]
            for list in lists {
                try dao.persist(Topic(id: "t", posts: Post.make(list)))
                try expectEqual(try database.posts("t"), list, "the list")
            }
        },
        ConformanceCase("R.distantParents", "R1", title: "parents have their lists, however far their keys are apart") {
            context in
            let dao = try context.dao(Digest.self)
            let keys = [.min, .min + 1, -2, -1, 0, 1, 2, 3, 1 << 40, .max - 1, .max]
            for keys in [keys, Array(keys.prefix(10)), Array(keys.dropFirst()), Array(keys[1..<10])] {
                let digests = keys.enumerated().map { index, key in Digest(id: key, posts: Post.make([index * 2, index * 2 + 1]))
                }
                try dao.persist(digests)
                try expectSame(try dao.read(byPrimaryKeys: keys.map { UniqueID($0) }), digests)
                try dao.erase { $0.id != 0 || $0.id == 0 }
            }
        },
        ConformanceCase("R.emptyKeys", "R1", "K3", title: "the empty text is a key as others, of a parent and of a child") {
            context in
            let (database, dao) = try context.open(with: KeyRing.self)
            let (empty, other) = (KeyedBy(id: "", note: "empty"), KeyedBy(id: "a", note: "other"))
            let rings = [KeyRing(id: "", keys: [other, empty]), KeyRing(id: "b", keys: [empty]), KeyRing(id: "c")]
            try dao.persist(rings)
            try expectSame(try dao.read(), rings)
            try expectEqual(try dao.read { $0.keys.contains { $0.id == "" } }.map(\.id), ["", "b"], "parents by the child")
            try expectEqual(try dao.count { $0.keys.count == 1 }, 1, "parents by the number of children")
            try expectEqual(try database.dao(KeyedBy<String>.self).erase(byPrimaryKey: ""), 1)
            try expectEqual(try dao.read().map { $0.keys.map(\.id) }, [["a"], [], []], "the lists without the child")
            try expectEqual(try dao.erase(byPrimaryKey: ""), 1)
            try expectEqual(try database.dao(KeyedBy<String>.self).count(), 1, "the children")
        },
        ConformanceCase("R.repeats", "R1", title: "a child may be in a list several times") { context in
            let (database, dao) = try context.open(with: Topic.self)
            for list in [[1, 1], [1, 2, 1], [2, 1, 1, 2, 2]] {
                try dao.persist(Topic(id: "t", posts: Post.make(list)))
                try expectEqual(try database.posts("t"), list, "the list")
            }
            try expectEqual(try database.storage(for: Post.self).count(), 2, "rows of children")
        },
        ConformanceCase("R.randomLists", "R1", title: "after 200 random changes each list is the list last given") { context in
            let dao = try context.dao(Topic.self)
            let labels = (0..<12).map { Label.make($0) }
            var expected: [String: [UUID]] = [:]
            var random = SeededGenerator(seed: 12)
            for _ in 0..<200 {
                let id = ["a", "b", "c"][Int.random(in: 0..<3, using: &random)]
                let list = (0..<Int.random(in: 0...8, using: &random)).map { _ in
                    labels[Int.random(in: 0..<12, using: &random)]
                }
                expected[id] = list.map(\.id)
                try dao.persist(Topic(id: id, labels: list))
            }
            for topic in try dao.read() { try expectEqual(topic.labels.map(\.id), expected[topic.id] ?? [], topic.id) }
        },
        ConformanceCase("R.many", "R1", "R5", title: "a list of 10,000 children keeps all in order", isHeavy: true) { context in
            let database = try context.open()
            let ids = (1...10_000).map { ($0 * 7919) % 10_007 }
            try database.dao(Topic.self).persist(Topic(id: "t", posts: Post.make(ids)))
            try expectEqual(try database.posts("t"), ids)
            try expectEqual(try database.dao(Topic.self).count { $0.posts.count == 10_000 }, 1)
        },
        ConformanceCase("R.keys", "R1", "K1", "K3", title: "parents and children have keys of every type and length") { context in
            let (database, topics) = try context.open(with: Topic.self)
            let longest = String(repeating: "k", count: 254)
            let ids = [
                "", "\0", "\0\0", "a", "a\0", "a\0b", "é", "e\u{301}", longest + "\0\0", longest + "\0\u{1}", "a:1", "a.b",
            ]
            for (number, id) in ids.enumerated() {
                try topics.persist(Topic(id: id, posts: Post.make([number, number + 1])))
            }
            for (number, id) in ids.enumerated() {
                try expectEqual(try database.posts(id), [number, number + 1], Dump.text(of: id))
            }
            let bands = try database.dao(Band.self)
            let players: [UInt64] = [UInt64.max, 0, UInt64(Int64.max) + 1, UInt64(Int64.max)]
            try bands.persist(Band(id: .min, name: "", players: players.map { Player(id: $0, name: "") }))
            try expectEqual(try bands.read().first?.players?.map(\.id), players)
            // This key is the beginning of another key, and its row has other children.
            try topics.erase(byPrimaryKey: "a")
            try expectEqual(try database.posts("a\0"), [4, 5])
            try expectEqual(try database.posts("a\0b"), [5, 6])
        },
        ConformanceCase("R.rows", "R2", title: "the DAO of the children reads, changes and counts them") { context in
            let (database, topics) = try context.open(with: Topic.self)
            let posts = try database.dao(Post.self)
            try topics.persist(Topic(id: "t", posts: Post.make([1, 2])))
            try expectSame(try posts.read(), Post.make([1, 2]))
            try posts.persist(Post(id: 2, text: "changed", isRead: true))
            try expectSame(
                try topics.read(), [Topic(id: "t", posts: Post.make([1]) + [Post(id: 2, text: "changed", isRead: true)])])
            try expectEqual(try posts.count { $0.isRead }, 1)
        },
        ConformanceCase("R.mergedByKey", "R2", title: "a child that is given again is the same row, changed") { context in
            let (database, topics) = try context.open(with: Topic.self)
            try topics.persist(Topic(id: "a", posts: [Post(id: 1, text: "first")]))
            try topics.persist(Topic(id: "b", posts: [Post(id: 1, text: "second")]))
            try expectSame(try database.dao(Post.self).read(), [Post(id: 1, text: "second")])
            try expectEqual(try topics.read().map { $0.posts.map(\.text) }, [["second"], ["second"]])
        },
        ConformanceCase("R.shared", "R2", "R4", title: "parents share a child until the last of them drops it") { context in
            let topics = try context.dao(Topic.self)
            let shared = Label.make(1, "shared")
            try topics.persist([Topic(id: "a", labels: [shared]), Topic(id: "b", labels: [shared, Label.make(2)])])
            try topics.erase(byPrimaryKey: "a")
            try expectSame(try topics.read(), [Topic(id: "b", labels: [shared, Label.make(2)])])
        },
        ConformanceCase("R.toOne", "R1", "R2", title: "a related row can be set, replaced and removed") { context in
            let (database, topics) = try context.open(with: Topic.self)
            let (ada, ben) = (Person(id: 1, name: "Ada", age: 36), Person(id: 2, name: "Ben"))
            for owner in [ada, ben, nil, ben, ada] {
                try topics.persist(Topic(id: "t", owner: owner))
                try expectSame(try topics.read(), [Topic(id: "t", owner: owner)])
            }
            try expectSame(try database.dao(Person.self).read(), [ada, ben])
        },
        ConformanceCase("R.deep", "R1", "R2", title: "children of children are written and read with their parents") { context in
            let (database, topics) = try context.open(with: Topic.self)
            let ada = Person(id: 1, name: "Ada")
            let topic = Topic(
                id: "t", owner: ada,
                posts: [
                    Post(id: 1, text: "a", author: ada), Post(id: 2, text: "b"),
                    Post(id: 3, text: "c", author: Person(id: 2, name: "Ben")),
                ])
            try topics.persist(topic)
            try expectSame(try topics.read(), [topic])
            try expectSame(try topics.read(byPrimaryKey: "t"), topic)
            try expectEqual(try database.storage(for: Person.self).count(), 2, "people")
        },
        ConformanceCase("R.readers", "R1", "Q4", "Q6", title: "every way of reading a parent gives its children") { context in
            let (database, topics) = try context.open(with: Topic.self)
            let all = (1...5).map { Topic(id: "t\($0)", posts: Post.make([$0 * 10, $0])) }
            try topics.create(all)
            try expectSame(try topics.read(), all)
            try expectSame(try topics.read(byPrimaryKeys: ["t3", "t1", "gone"]), [all[2], all[0]])
            try expectSame(try topics.read(orderedBy: .descending(\.id), limit: 2), [all[4], all[3]])
            try expectSame(try topics.first { $0.id == "t2" }, all[1])
            let page = try topics.page(limit: 2)
            try expectSame(page.elements + (try topics.page(limit: 9, after: page.next)).elements, all)
            try expectSame(try database.storage(for: Topic.self).read(predicatedBy: .all), all)
        },
        ConformanceCase(
            concurrent: "R.stream", "R1", "Q6", title: "a stream gives parents with the children of its snapshot",
            requires: [.snapshotReads]
        ) { context in
            let (database, topics) = try context.open(with: Topic.self)
            let all = (100...999).map { Topic(id: "t\($0)", title: "old", posts: Post.make([$0, $0 + 1000])) }
            try await topics.create(all)
            var seen: [Topic] = []
            for try await topic in topics.stream() {
                if seen.isEmpty { try await topics.erase() }
                seen.append(topic)
            }
            try expectSame(seen, all)
            try expectEqual(try database.storage(for: Post.self).count(), 0, "children left")
        },
    ]
}

extension Database {
    /// Returns the keys of the posts of a topic, in order.
    func posts(_ topic: String) throws -> [Int] {
        try require(dao(Topic.self).read(byPrimaryKey: topic), "the topic '\(topic)'").posts.map(\.id)
    }
}
