import DAOCore
import Foundation

/// R2, R4, R6: circular rows, and rows read without their related rows.
enum RelationsShapes {
    static let cases: [ConformanceCase] = [
        ConformanceCase("R.tree", "R1", "R2", title: "a tree of rows of one model is written and read completely") { context in
            let folders = try context.dao(Folder.self)
            let tree = Folder(
                id: 1, name: "root",
                children: [
                    Folder(id: 5, children: [Folder(id: 9), Folder(id: 2, children: [Folder(id: 7)])]), Folder(id: 3),
                ])
            try folders.persist(tree)
            try expectSame(try folders.read(byPrimaryKey: 1), tree)
            try expectEqual(try folders.read().map(\.outline), ["1[5[9 2[7]] 3]", "2[7]", "3", "5[9 2[7]]", "7", "9"])
            try folders.persist(Folder(id: 5, children: [Folder(id: 9)]))
            try expectEqual(try folders.read(byPrimaryKey: 1)?.outline, "1[5[9] 3]")
            try expectEqual(try folders.count(), 4, "folders without the children that the cascade erased")
        },
        ConformanceCase(
            "R.selfReference", "R4", title: "a row in its own list is read there without its list, and is erased in one call"
        ) {
            context in
            let folders = try context.dao(Folder.self)
            try folders.persist(Folder(id: 1, name: "me", children: [Folder(id: 1, name: "not me"), Folder(id: 2)]))
            let read = try require(folders.read(byPrimaryKey: 1), "the folder")
            try expectEqual(read.outline, "1[1 2]")
            try expectEqual(read.name, "me", "the name: of two values with one key, the outermost counts")
            try folders.persist(read)
            try expectEqual(try folders.read(byPrimaryKey: 1)?.outline, "1[1 2]")
            try folders.erase(byPrimaryKey: 1)
            try expectEqual(try folders.count(), 0)
        },
        ConformanceCase("R.twoCycle", "R2", "R4", title: "two models in a cycle are written, read and erased") { context in
            let (database, bands) = try context.open(with: Band.self)
            let players = try database.dao(Player.self)
            try bands.persist(Band(id: 1, name: "b1", players: [Player(id: 1, name: "p1"), Player(id: 2, name: "p2")]))
            try players.persist(Player(id: 2, name: "p2", bands: [Band(id: 2, name: "b2")]))
            var band = try require(bands.read(byPrimaryKey: 1), "the band")
            try expectEqual(band.players?.map(\.name), ["p1", "p2"])
            try expectEqual(band.players?[1].bands?.map(\.name), ["b2"])
            // A cycle: the bands of the second player get the first band.
            band.players?[1].bands?.append(Band(id: 1, name: "inner"))
            try bands.persist(band)
            let again = try require(bands.read(byPrimaryKey: 1), "the band")
            try expectEqual(again.name, "b1")
            let inner = again.players?.last?.bands
            try expectEqual(inner?.map(\.name), ["b2", "b1"])
            try expectEqual(inner?.last.map { $0.players == nil }, true, "the players of the band inside itself are unread")
            try bands.persist(again)
            try expectSame(try bands.read(byPrimaryKey: 1), again)
            try bands.erase(byPrimaryKey: 1)
            try expectEqual(try players.read(byPrimaryKey: 2)?.bands?.map(\.name), ["b2"])
        },
        ConformanceCase(
            "R.toOneInCycle", "R2", "R4", title: "a row inside itself has no lists, but the rows that it refers to"
        ) { context in
            let (database, stations) = try context.open(with: Station.self)
            let storage = try database.storage(for: Station.self)
            let owners = [1: Person(id: 1, name: "Ada"), 2: Person(id: 2, name: "Ben")]
            try stations.persist(owners.map { Station(id: $0, owner: $1) })
            for (id, next) in [(1, 2), (2, 1)] {
                let next = try storage.read(keys: [.integer(Int64(next))], includesSubentities: false)
                try stations.persist(Station(id: id, next: next, owner: owners[id]))
            }
            for (id, other) in [(1, 2), (2, 1)] {
                let station = try require(stations.read(byPrimaryKey: id), "the station")
                try expectEqual(station.owner, owners[id])
                try expectEqual(station.next?.map(\.owner), [owners[other]], "the next one's")
                try expectEqual(station.next?.first?.next?.map(\.id), [id], "back")
                try expectEqual(station.next?.first?.next?.map(\.owner), [owners[id]], "that of the station inside itself")
                try expectEqual(station.next?.first?.next?.map { $0.next == nil }, [true], "its list is unread")
            }
            let all = try stations.read()
            try expectEqual(all.map { $0.next?.first?.owner?.name }, ["Ben", "Ada"], "in an answer of both")
        },
        ConformanceCase("R.longCycle", "R4", title: "a cycle of 1,000 rows is read and erased in finite time", isHeavy: true) {
            context in
            let (database, folders) = try context.open(with: Folder.self)
            let storage = try database.storage(for: Folder.self)
            try folders.persist((0..<1000).map { Folder(id: $0) })
            for id in 0..<1000 {
                let next = try storage.read(keys: [.integer(Int64((id + 1) % 1000))], includesSubentities: false)
                try folders.persist(Folder(id: id, children: next))
            }
            try expectEqual(try folders.read().map { $0.children?.count }, Array(repeating: 1, count: 1000))
            try expectEqual(try folders.read(byPrimaryKey: 500)?.children?.first?.children?.first?.id, 502)
            // Every row has a parent. The call erases row 7 and then, by cascade, every row that only
            // erased rows held.
            try expectEqual(try folders.erase(byPrimaryKey: 7), 1)
            try expectEqual(try folders.count(), 0)
        },
        ConformanceCase(
            "R.deepChain", "R1", "R6",
            title: "a chain deeper than the nesting limit is read in part, and written back without loss", isHeavy: true
        ) {
            context in
            let (database, folders) = try context.open(with: Folder.self)
            let storage = try database.storage(for: Folder.self)
            let length = 1100
            for id in stride(from: length, to: 0, by: -1) {
                let next = try storage.read(keys: [.integer(Int64(id + 1))], includesSubentities: false)
                try folders.persist(Folder(id: id, children: next))
            }
            func depth(_ folder: Folder) -> Int {
                var (depth, next) = (0, [folder])
                while let folder = next.first { (depth, next) = (depth + 1, folder.children ?? []) }
                return depth
            }
            var first = try require(folders.read(byPrimaryKey: 1), "the first folder")
            try expect((500..<length).contains(depth(first)), "a depth of hundreds, not \(depth(first))")
            first.name = "changed"
            try folders.persist(first)
            // In either direction: rows that were assembled earlier are not nested deeper.
            for order in [Sort<Folder>.ascending(\.id), .descending(\.id)] {
                let all = try folders.read(orderedBy: order)
                try expectEqual(all.count, length)
                try expectEqual(all.filter { $0.children?.count == 1 }.count, length - 1, "folders with a child")
                try expect(all.allSatisfy { depth($0) <= 600 }, "a depth of hundreds at most")
            }
        },
        ConformanceCase(
            "R.deepestLevel", "R4", "R6",
            title: "the row at level 512 of a chain has its list, and the one below it is given without", isHeavy: true
        ) { context in
            let folders = try context.open().dao(Folder.self)
            let length = 515
            // A chain is written from its end, so that no call has more than two levels.
            for id in (1...length).reversed() {
                try folders.persist(Folder(id: id, children: id == length ? [] : [Folder(id: id + 1, children: nil)]))
            }
            for first in [length - 510, length - 511, length - 512, length - 513, 1] {
                let count = length - first + 1
                var levels: [Folder] = []
                var next = try folders.read(byPrimaryKey: first)
                while let folder = next {
                    levels.append(folder)
                    next = folder.children?.first
                }
                try expectEqual(levels.map(\.id), Array((first...length).prefix(513)), "the rows of a chain of \(count)")
                let last = try require(levels.last, "the last row")
                try expectEqual(last.children == nil, count > 512, "whether the last row of a chain of \(count) lacks its list")
            }
        },
        ConformanceCase(
            "R.shallow", "R6",
            title: "lists that a read leaves out are nil, and writing the result back keeps the stored lists"
        ) {
            context in
            let database = try context.open()
            let storage = try database.storage(for: BriefTopic.self)
            let whole = BriefTopic(
                id: "t", title: "old", owner: Person(id: 1, name: "Ada"), posts: Post.make([2, 1]), labels: [Label.make(1)])
            try storage.persist(object: whole)
            let readings: [() throws -> BriefTopic?] = [
                { try storage.read(byPrimaryKey: "t", includeSubentities: false) },
                { try storage.read(predicatedBy: .all, includeSubentities: false).first },
                { try storage.read(keys: [.string("t")], includesSubentities: false).first },
            ]
            for (number, read) in readings.enumerated() {
                var topic = try require(read(), "the topic")
                try expect(topic.posts == nil && topic.labels == nil, "the lists are unread")
                topic.title = "new \(number)"
                try storage.persist(object: topic)
                var expected = whole
                expected.title = topic.title
                try expectSame(try storage.read(), [expected])
            }
        },
        ConformanceCase(
            "R.shallowPosts", "R6", title: "a row that was read without subentities and then written keeps its related rows"
        ) {
            context in
            let (database, topics) = try context.open(with: Topic.self)
            let ada = Person(id: 1, name: "Ada")
            try topics.persist(Topic(id: "t", posts: [Post(id: 1, text: "a", author: ada)]))
            let storage = try database.storage(for: Post.self)
            var post = try require(storage.read(byPrimaryKey: 1, includeSubentities: false), "the post")
            post.isRead = true
            try storage.persist(object: post)
            try expectSame(try storage.read(), [Post(id: 1, text: "a", isRead: true, author: ada)])
        },
        ConformanceCase(
            "R.unread", "R6", "R3", title: "no change of a list that was not read loses a row, and a copy of the row is as unread"
        ) { context in
            let (database, topics) = try context.open(with: BriefTopic.self)
            let whole = BriefTopic(id: "t", title: "old", posts: Post.make([2, 3, 1]), labels: [Label.make(1)])
            try topics.create(whole)
            let changes: [(String, (inout BriefTopic) -> Void)] = [
                ("nothing", { _ in }), ("a sort", { $0.posts?.sort { $0.id < $1.id } }),
                ("a filter", { $0.posts = $0.posts?.filter(\.isRead) }),
                ("an appended row", { $0.posts?.append(Post(id: 9, text: "")) }),
                ("a removed row", { $0.posts?.removeAll() }), ("a map", { $0.posts = $0.posts?.map { $0 } }),
                ("a set", { $0.posts = $0.posts.map { Array(Dictionary(grouping: $0, by: \.id).values.joined()) } }),
            ]
            for (what, change) in changes {
                var topic = try require(topics.including().read(byPrimaryKey: "t"), "the topic")
                change(&topic)
                topic.title = what
                try topics.persist(topic)
                try expectSame(
                    try topics.read(byPrimaryKey: "t"),
                    BriefTopic(id: "t", title: what, posts: whole.posts, labels: whole.labels), what)
            }
            try expect(
                try topics.including().read() != [BriefTopic(id: "t", title: "a set", posts: [], labels: [])], "nil is not []")
            // Nil says nothing of a list, also in a value that was never read.
            try topics.persist(BriefTopic(id: "t", title: "made", labels: []))
            try expectSame(
                try topics.read(byPrimaryKey: "t"), BriefTopic(id: "t", title: "made", posts: whole.posts, labels: []),
                "one of two lists")
            try topics.create(BriefTopic(id: "u", title: "new"))
            try expectSame(
                try topics.read(byPrimaryKey: "u"), BriefTopic(id: "u", title: "new", posts: [], labels: []),
                "a new row has no rows in it")
            try expectEqual(try database.dao(Post.self).count(), 3, "posts")
        },
        ConformanceCase(
            "R.unreadThroughTranslator", "R6", "W2", title: "a merging translator keeps the lists that were not read"
        ) { context in
            let database = try context.open()
            let topics = DAO(storage: try database.storage(for: BriefTopic.self), translator: BriefTranslator())
            try topics.create(BriefPlain(id: "t", title: "old", posts: [2, 3, 1]))
            var brief = try require(topics.including().read(byPrimaryKey: "t"), "the topic")
            try expect(brief.posts == nil, "the posts are unread")
            brief.title = "new"
            try topics.persist(brief)
            try expectEqual(try topics.read(byPrimaryKey: "t"), BriefPlain(id: "t", title: "new", posts: [2, 3, 1]))
            brief.posts = []
            try topics.persist(brief)
            try expectEqual(try topics.read(byPrimaryKey: "t")?.posts, [], "an empty list is one")
        },
        ConformanceCase(
            "R.alwaysRead", "R6", "R4", "R11",
            title: "a list that is not optional is in every read: one that leaves it out is refused"
        ) { context in
            let (database, topics) = try context.open(with: Topic.self)
            let whole = Topic(id: "t", posts: Post.make([2, 1]), labels: [Label.make(1)])
            try topics.create(whole)
            let storage = topics.storage
            let calls: [(String, String, () throws -> Void)] = [
                ("including nothing", "posts", { _ = try topics.including() }),
                ("including one of two", "labels", { _ = try topics.including(\.posts) }),
                ("by key", "posts", { _ = try storage.read(byPrimaryKey: "t", includeSubentities: false) }),
                ("by a query", "posts", { _ = try storage.read(Query(includesSubentities: false)) }),
                ("by a cursor", "posts", { _ = try storage.cursor(Query(includesSubentities: false)) }),
            ]
            for (what, field, call) in calls {
                let error = try expectError(.invalidQuery, what, entity: "topic", field: field, call)
                try expect(error.message.contains("]?"), "the way out in: \(error.message)")
            }
            try expectSame(try topics.including(\.posts, \.labels).read(), [whole], "a read that brings them all")
            // A write has all lists.
            _ = try storage.update(Query(includesSubentities: false)) { $0.title = "changed" }
            try expectEqual(try topics.set(\.title, to: "set", where: .all), 1)
            try expectSame(
                try topics.read(), [Topic(id: "t", title: "set", posts: whole.posts, labels: whole.labels)], "after writes")
            // The rows that a read brings are without their own lists.
            let rings = try database.dao(TopicHolder.self)
            try expectError(.invalidQuery, "the row of a list", entity: "topic", field: "posts") {
                _ = try rings.including(\.topics)
            }
            try expectError(.invalidSchema, "a list in a cycle", entity: "ring", field: "rings") {
                _ = try database.storage(for: Ring.self)
            }
        },
        ConformanceCase("R.emptied", "R6", "R1", title: "a list that was read and then emptied is stored as empty") { context in
            let topics = try context.dao(Topic.self)
            try topics.persist(Topic(id: "t", labels: [Label.make(1)]))
            var topic = try require(topics.read().first, "the topic")
            topic.labels = []
            try topics.persist(topic)
            try expectEqual(try topics.read().first?.labels.count, 0)
            try topics.persist(Topic(id: "t", labels: [Label.make(1)]))
            topic = try require(topics.read().first, "the topic")
            topic.labels.removeAll(keepingCapacity: true)
            try topics.persist(topic)
            try expectEqual(try topics.read().first?.labels.count, 0)
        },
        ConformanceCase("R.merged", "R6", "W2", title: "a merging persist keeps related rows that the plain lacks") { context in
            let database = try context.open()
            let storage = try database.storage(for: Topic.self)
            let topic = Topic(
                id: "t", title: "old", owner: Person(id: 1, name: "Ada"), posts: Post.make([2, 1]), labels: [Label.make(1)])
            try storage.persist(object: topic)
            try DAO(storage: storage, translator: HeadlineTranslator()).persist([
                Headline(id: "t", title: "new"), Headline(id: "u", title: "fresh"),
            ])
            var expected = topic
            expected.title = "new"
            try expectSame(try storage.read(), [expected, Topic(id: "u", title: "fresh")])
        },
        ConformanceCase("R.updated", "R1", "W5", title: "an update changes lists of matching rows, and counts them") { context in
            let (database, topics) = try context.open(with: Topic.self)
            try topics.create((1...3).map { Topic(id: "t\($0)", posts: Post.make([$0, 10])) })
            let count = try topics.update(where: { $0.id != "t2" }) { $0.posts = Array($0.posts.dropLast()) }
            try expectEqual(count, 2)
            try expectEqual(try topics.read().map { $0.posts.map(\.id) }, [[1], [2, 10], [3]])
            try topics.update(where: { $0.id == "t2" }) { topic in
                topic.posts.append(contentsOf: Post.make([11]))
                topic.posts[0].text = "changed"
            }
            try expectEqual(try database.posts("t2"), [2, 10, 11])
            try expectEqual(try database.dao(Post.self).read(byPrimaryKey: 2)?.text, "changed")
            try expectEqual(try database.storage(for: Post.self).count(), 5, "posts")
        },
        ConformanceCase(
            "R.computed", "R6", "E1", title: "a computed list that is not nil where it was not read is invalidSchema"
        ) { context in
            let database = try context.open()
            let error = try expectError(.invalidSchema, entity: "shelf", field: "labels") { try database.open(Shelf.self) }
            try expect(error.message.contains("stored property"), "the way out in: \(error.message)")
            // The initializer refuses made-up values, so that the first row tells.
            let boxes = try database.dao(Box.self)
            try boxes.create(Box(id: 1, size: .small, labels: [Label.make(1)]))
            try expectError(.invalidSchema, "a read", entity: "box", field: "labels") { try boxes.read() }
            try expectError(.invalidSchema, "an update", entity: "box", field: "labels") {
                try boxes.update(where: { $0.id == 1 }) { $0.size = .large }
            }
            try expectEqual(try database.dao(Label.self).count(), 1, "the labels")
        },
        ConformanceCase("R.classes", "R1", "R6", title: "a model that is a class has relationships as any other has") { context in
            let (database, cabinets) = try context.open(with: Cabinet.self)
            let labels = [Label.make(2), Label.make(1)]
            try cabinets.create(Cabinet(id: 1, size: .small, title: "old", labels: labels))
            try expectSame(try cabinets.read().map(\.labels), [labels])
            let storage = try database.storage(for: Cabinet.self)
            let shallow = try require(storage.read(byPrimaryKey: 1, includeSubentities: false), "the cabinet")
            try expect(shallow.labels == nil, "the labels are unread")
            try storage.persist(object: Cabinet(id: 1, size: .small, title: "new", labels: shallow.labels))
            try expectSame(try cabinets.read().map(\.labels), [labels], "after a shallow read was written")
            try expectEqual(try cabinets.read().map(\.title), ["new"])
            try cabinets.persist(Cabinet(id: 1, size: .large, title: "new", labels: []))
            try expectSame(try cabinets.read().map(\.labels), [[]], "after it was emptied")
        },
        ConformanceCase(
            "R.refused", "R1", title: "a field that nests models in any other type is refused before anything is stored"
        ) {
            context in
            let database = try context.open()
            try expectError(.invalidSchema, entity: "nested_lists", field: "lists") { try database.open(NestedLists.self) }
        },
    ]
}

extension Database {
    fileprivate func open<Record: Model>(_ model: Record.Type) throws -> any Storage<Record> { try storage(for: model) }
}

/// A plain for a list of topics, without their children.
private struct Headline: Plain {
    var id: String
    var title: String
    var uniqueId: UniqueID { UniqueID(id) }
}

private struct HeadlineTranslator: Translator {
    func translate(model: Topic) throws -> Headline { Headline(id: model.id, title: model.title) }
    func translate(plain: Headline) throws -> Topic { Topic(id: plain.id, title: plain.title) }
    func translate(from plain: Headline, to model: inout Topic) throws { model.title = plain.title }
}

/// A plain with a list of keys that a read can leave out.
private struct BriefPlain: Plain, Equatable {
    var id: String
    var title: String
    var posts: [Int]?
    var uniqueId: UniqueID { UniqueID(id) }
}

private struct BriefTranslator: Translator {
    func translate(model: BriefTopic) throws -> BriefPlain {
        BriefPlain(id: model.id, title: model.title, posts: model.posts?.map(\.id))
    }
    func translate(plain: BriefPlain) throws -> BriefTopic {
        BriefTopic(id: plain.id, title: plain.title, posts: plain.posts.map { Post.make($0) })
    }
    func translate(from plain: BriefPlain, to model: inout BriefTopic) throws {
        model.title = plain.title
        if let posts = plain.posts { model.posts = Post.make(posts) }
    }
}

/// A model whose rows have rows with lists that are in every read.
private struct TopicHolder: Model {
    var id: Int
    var topics: [Topic]?
    static let schema = Schema("holder", Self.init, Field("id", \.id, .primaryKey), Field("topics", \.topics, .linked))
}

/// A model that leads back to itself by a list that cannot say that it was not read.
private struct Ring: Model {
    var id: Int
    var rings: [Ring]
    static let schema = Schema("ring", Self.init, Field("id", \.id, .primaryKey), Field("rings", \.rings, .linked))
}

private enum Size: String, FieldValue { case small, large }

/// A model that is a class, with a field that has few values: it cannot be made of made-up ones.
private final class Cabinet: Plain, Model {
    let id: Int
    let size: Size
    let title: String
    let labels: [Label]?

    init(id: Int, size: Size, title: String, labels: [Label]?) {
        (self.id, self.size, self.title, self.labels) = (id, size, title, labels)
    }

    static let schema = Schema(
        "cabinet", Cabinet.init, Field("id", \.id, .primaryKey), Field("size", \.size), Field("title", \.title),
        Field("labels", \.labels, .owned))
}

/// A model with a computed list.
private struct Shelf: Plain, Model {
    var id: Int
    private var content: [UUID: Label] = [:]
    var labels: [Label]? { content.values.sorted { $0.name < $1.name } }

    init(id: Int, labels: [Label]?) {
        self.id = id
        for label in labels ?? [] { content[label.id] = label }
    }

    static let schema = Schema("shelf", Self.init, Field("id", \.id, .primaryKey), Field("labels", \.labels, .owned))
}

/// A model with a computed list, and a field that has few values.
private struct Box: Plain, Model {
    var id: Int
    var size: Size
    private var content: [UUID: Label] = [:]
    var labels: [Label]? { content.values.sorted { $0.name < $1.name } }

    init(id: Int, size: Size, labels: [Label]?) {
        (self.id, self.size) = (id, size)
        for label in labels ?? [] { content[label.id] = label }
    }

    static let schema = Schema(
        "box", Self.init, Field("id", \.id, .primaryKey), Field("size", \.size), Field("labels", \.labels, .owned))
}

private struct NestedLists: Model {
    var id: Int
    var lists: [[Label]]
    static let schema = Schema("nested_lists", Self.init, Field("id", \.id, .primaryKey), Field("lists", \.lists))
}

private struct Station: Plain, Model, Equatable {
    var id: Int
    var next: [Station]? = []
    var owner: Person?
    static let schema = Schema(
        "station", Self.init, Field("id", \.id, .primaryKey), Field("next", \.next, .linked), Field("owner", \.owner, .linked))
}
