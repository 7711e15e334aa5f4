import DAOCore

/// R7: what writing a parent writes of its related rows.
enum RelationsWriting {
    static let cases: [ConformanceCase] = [
        ConformanceCase("R.linkedStays", "R7", title: "a stale copy of a linked row in a parent does not overwrite the row") {
            context in
            let (database, topics) = try context.open(with: Topic.self)
            let (people, labels) = (try database.dao(Person.self), try database.dao(Label.self))
            let headlines = DAO(storage: try database.storage(for: Topic.self), translator: OwnerTranslator())
            try topics.create(Topic(id: "t", owner: Person(id: 1, name: "old"), labels: [Label.make(1, "old")]))
            let stale = try require(topics.read(byPrimaryKey: "t"), "the topic")
            let (ada, label) = (Person(id: 1, name: "Ada", age: 36), Label.make(1, "new"))
            try people.persist(ada)
            try labels.persist(label)
            func expectUnchanged(_ what: String) throws {
                try expectSame(try people.read(), [ada], "people after \(what)")
                try expectSame(try labels.read(), [label], "labels after \(what)")
            }
            try topics.persist(stale)
            try expectUnchanged("persist")
            try topics.persist([stale, Topic(id: "u", owner: stale.owner, labels: stale.labels + stale.labels)])
            try expectUnchanged("persist of several")
            try topics.create(Topic(id: "v", owner: stale.owner, labels: stale.labels))
            try expectUnchanged("create")
            try headlines.persist(stale)
            try expectUnchanged("a merge")
            try topics.update(where: { $0.id == "t" }) { $0 = stale }
            try expectUnchanged("an update")
            try expectEqual(try topics.read().map(\.owner), [ada, ada, ada])
            try expectEqual(try topics.read().map(\.labels.count), [1, 2, 1])
        },
        ConformanceCase("R.linkedInserted", "R7", title: "linked rows that are missing are inserted, with their related rows") {
            context in
            let (database, bookmarks) = try context.open(with: Bookmark.self)
            let (topics, people) = (try database.dao(Topic.self), try database.dao(Person.self))
            let stored = Topic(id: "a", title: "stored", owner: Person(id: 1, name: "Ada"), posts: Post.make([1]))
            try topics.create(stored)
            let missing = Topic(
                id: "b", title: "missing", owner: Person(id: 2, name: "Ben"),
                posts: [Post(id: 2, text: "p", author: Person(id: 1, name: "renamed"))])
            try bookmarks.persist(Bookmark(id: 1, topics: [missing, Topic(id: "a", posts: Post.make([7])), missing]))
            try expectEqual(try bookmarks.read().map { $0.topics.map(\.id) }, [["b", "a", "b"]])
            try expectEqual(try database.posts("a"), [1], "the list of a linked row that was stored")
            try expectEqual(try database.posts("b"), [2], "the list of a linked row that was missing")
            try expectEqual(try database.storage(for: Post.self).count(), 2, "posts")
            try expectEqual(try people.read().map(\.name), ["renamed", "Ben"])
        },
        ConformanceCase("R.ownedWritten", "R7", title: "owned rows are written with their parent, those of several levels too") {
            context in
            let (database, topics) = try context.open(with: Topic.self)
            try topics.create(Topic(id: "t", posts: [Post(id: 1, text: "a", author: Person(id: 1, name: "a"))]))
            try topics.persist(Topic(id: "t", posts: [Post(id: 1, text: "b", author: Person(id: 1, name: "b"))]))
            try expectSame(try database.dao(Post.self).read().map(\.text), ["b"])
            try expectSame(try database.dao(Person.self).read().map(\.name), ["b"])
        },
        ConformanceCase("R.ownedBeforeLinked", "R7", "R2", title: "where one call owns and links a row, the owned value counts") {
            context in
            let (database, topics) = try context.open(with: Topic.self)
            let topic = Topic(
                id: "t", owner: Person(id: 1, name: "linked"),
                posts: [Post(id: 1, text: "p", author: Person(id: 1, name: "owned"))])
            for _ in 0..<2 {
                try topics.persist(topic)
                try expectSame(try database.dao(Person.self).read().map(\.name), ["owned"])
            }
        },
        ConformanceCase("R.ownedAsRead", "R7", "W2", title: "a merge does not write an owned row that it leaves as it was read") {
            context in
            let database = try context.open()
            let (posts, people) = (try database.dao(Post.self), try database.dao(Person.self))
            let author = Person(id: 1, name: "author")
            try database.dao(Topic.self).create(
                Topic(id: "t", posts: [Post(id: 1, text: "a", author: author), Post(id: 2, text: "b", author: author)]))
            // The translator changes rows through their own DAOs before it changes the list.
            let topics = DAO(
                storage: try database.storage(for: Topic.self),
                translator: TopicTranslator { topic in
                    try posts.persist(Post(id: 1, text: "changed elsewhere", author: author))
                    try people.persist(Person(id: 1, name: "renamed"))
                    try expectEqual(topic.posts.map(\.id), [1, 2], "the posts to merge with")
                    topic.posts[1].text = "changed here"
                    topic.posts.append(Post(id: 3, text: "added"))
                })
            try topics.persist(Topic(id: "t"))
            try expectEqual(try posts.read().map(\.text), ["changed elsewhere", "changed here", "added"])
            try expectEqual(try people.read().map(\.name), ["renamed"])
            try expectEqual(try database.posts("t"), [1, 2, 3])
            // A row that is erased before it is left in the list is stored again.
            let restoring = DAO(
                storage: try database.storage(for: Topic.self),
                translator: TopicTranslator { topic in
                    try posts.erase(byPrimaryKey: 1)
                    topic.posts.reverse()
                })
            try restoring.persist(Topic(id: "t"))
            try expectEqual(try database.posts("t"), [3, 2, 1])
        },
        ConformanceCase(
            "R.changedDeep", "R7", "W2", title: "a merge writes the owned row that it changed below one that it did not"
        ) {
            context in
            let (database, topics) = try context.open(with: Topic.self)
            let posts = try database.dao(Post.self)
            try topics.create(Topic(id: "t", posts: [Post(id: 1, text: "a", author: Person(id: 1, name: "a"))]))
            let merging = DAO(
                storage: try database.storage(for: Topic.self),
                translator: TopicTranslator { topic in
                    try posts.update(where: { $0.id == 1 }) { $0.text = "changed elsewhere" }
                    try expectEqual(topic.posts.map(\.id), [1], "the posts to merge with")
                    topic.posts[0].author?.name = "changed here"
                })
            try merging.persist(Topic(id: "t"))
            try expectSame(
                try topics.read().map(\.posts),
                [[Post(id: 1, text: "changed elsewhere", author: Person(id: 1, name: "changed here"))]])
        },
        ConformanceCase("R.undecided", "R7", title: "a relationship that is neither owned nor linked, or both, is invalidSchema")
        {
            context in
            let database = try context.open()
            func refuses<Record: Model>(_ model: Record.Type) throws {
                let entity = Record.schema.description.name
                try expectError(
                    .invalidSchema, entity: entity, field: "labels",
                    message:
                        "the relationship 'labels' of '\(entity)' must be either .owned or .linked; choose .owned when its rows "
                        + "are parts of '\(entity)' and are written with it, and .linked when they exist on their own and are only "
                        + "referred to"
                ) { try database.storage(for: model) }
            }
            try refuses(Undecided.self)
            try refuses(Contradictory.self)
            try refuses(CascadingLink.self)
            try expectEqual(try database.entities().count, 0, "entities left behind")
        },
        ConformanceCase("R.ownedOrLinked", "R7", "E1", title: "models of one entity may own or link the same rows") { context in
            let database = try context.open()
            try database.dao(LinkingBookmark.self).persist(LinkingBookmark(id: 1, labels: [Label.make(1, "a")]))
            try database.dao(LinkingBookmark.self).persist(LinkingBookmark(id: 1, labels: [Label.make(1, "b")]))
            try expectSame(try database.dao(Label.self).read(), [Label.make(1, "a")])
            try database.dao(OwningBookmark.self).persist(OwningBookmark(id: 1, labels: [Label.make(1, "c")]))
            try expectSame(try database.dao(Label.self).read(), [Label.make(1, "c")])
        },
    ]
}

/// A translator that lets a closure change the stored topic.
private struct TopicTranslator: Translator {
    let change: @Sendable (inout Topic) throws -> Void

    init(_ change: @escaping @Sendable (inout Topic) throws -> Void) { self.change = change }

    func translate(model: Topic) throws -> Topic { model }
    func translate(plain: Topic) throws -> Topic { plain }
    func translate(from plain: Topic, to model: inout Topic) throws { try change(&model) }
}

/// A translator that writes the whole value into the stored topic.
private struct OwnerTranslator: Translator {
    func translate(model: Topic) throws -> Topic { model }
    func translate(plain: Topic) throws -> Topic { plain }
    func translate(from plain: Topic, to model: inout Topic) throws { model = plain }
}

private struct Bookmark: Plain, Model {
    var id: Int
    var topics: [Topic]
    static let schema = Schema("bookmark", Self.init, Field("id", \.id, .primaryKey), Field("topics", \.topics, .linked))
}

private struct LinkingBookmark: Plain, Model {
    var id: Int
    var labels: [Label]
    static let schema = Schema("label_bookmark", Self.init, Field("id", \.id, .primaryKey), Field("labels", \.labels, .linked))
}

private struct OwningBookmark: Plain, Model {
    var id: Int
    var labels: [Label]
    static let schema = Schema("label_bookmark", Self.init, Field("id", \.id, .primaryKey), Field("labels", \.labels, .owned))
}

private struct Undecided: Model {
    var id: Int
    var labels: [Label]
    static let schema = Schema("undecided", Self.init, Field("id", \.id, .primaryKey), Field("labels", \.labels))
}

private struct Contradictory: Model {
    var id: Int
    var labels: [Label]
    static let schema = Schema(
        "contradictory", Self.init, Field("id", \.id, .primaryKey), Field("labels", \.labels, .owned, .linked))
}

private struct CascadingLink: Model {
    var id: Int
    var labels: [Label]
    static let schema = Schema(
        "cascading_link", Self.init, Field("id", \.id, .primaryKey), Field("labels", \.labels, .cascade, .linked))
}
