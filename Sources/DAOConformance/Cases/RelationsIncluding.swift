import DAOCore

/// R11: a read brings the lists and References that it names.
enum RelationsIncluding {
    private static let ada = Person(id: 1, name: "Ada", age: 36)
    private static let bo = Person(id: 2, name: "Bo")

    /// Opens the case's database with errands: 2 is a part of 1, 3 is a part of 2.
    private static func open(_ context: ConformanceContext) throws -> (any Database, DAO<Errand>) {
        let (database, errands) = try context.open(with: Errand.self)
        try database.dao(Person.self).create([ada, bo])
        try errands.create([
            Errand(id: 1, owner: Reference(1)), Errand(id: 2, whole: Reference(1), owner: Reference(2), helper: Reference(1)),
            Errand(id: 3, whole: Reference(2), owner: Reference(1)),
        ])
        return (database, errands)
    }

    static let cases: [ConformanceCase] = [
        ConformanceCase("R.includingLists", "R11", "R6", title: "a read brings the lists that it names, and leaves the others") {
            context in
            let (database, topics) = try context.open(with: BriefTopic.self)
            let posts = [Post(id: 1, text: "one", author: ada), Post(id: 2, text: "two")]
            let whole = BriefTopic(id: "t", owner: bo, posts: posts, labels: [Label.make(1), Label.make(2)])
            let empty = BriefTopic(id: "u", posts: [], labels: [])
            try topics.create([whole, empty])
            let withPosts = try topics.including(\.posts)
            let bare = try topics.including()
            try expectSame(
                try withPosts.read(), [BriefTopic(id: "t", owner: bo, posts: posts), BriefTopic(id: "u", posts: [])], "with posts"
            )
            try expectSame(try bare.read(), [BriefTopic(id: "t", owner: bo), BriefTopic(id: "u")], "without lists")
            try expectSame(try topics.including(\.posts, \.labels).read(byPrimaryKey: "t"), whole, "with both lists")
            try expectSame(
                try topics.including(\.owner).first { $0.id == "t" }, BriefTopic(id: "t", owner: bo), "with an optional model")
            // What was not read is not written back, and what was read is.
            for dao in [withPosts, bare, topics] {
                for topic in try dao.read() { try topics.persist(topic) }
                try expectSame(try topics.read(), [whole, empty], "after a write of what was read")
            }
            for var topic in try withPosts.read() {
                topic.posts = topic.posts.map { Array($0.dropFirst()) }
                try withPosts.persist(topic)
            }
            try expectSame(
                try topics.read(byPrimaryKey: "t"), BriefTopic(id: "t", owner: bo, posts: [posts[1]], labels: whole.labels),
                "after a changed list")
            try bare.update(where: { $0.id == "t" }) { $0.labels?.append(Label.make(3)) }
            try expectEqual(
                try topics.read(byPrimaryKey: "t")?.labels, [Label.make(1), Label.make(2), Label.make(3)],
                "a change of a list that reads leave")
            try expectEqual(try database.dao(Post.self).count(), 1, "posts")
        },
        ConformanceCase("R.includingReferences", "R11", "R9", title: "a read brings the rows of the References that it names") {
            context in
            let (_, errands) = try open(context)
            let included = try errands.including(\.owner, \.whole)
            func check(_ found: [Errand], _ ids: [Int], _ what: String) throws {
                try expectEqual(found.map(\.id), ids, what)
                for errand in found {
                    try expectEqual(errand.owner.row, errand.id == 2 ? bo : ada, "\(what), the owner of \(errand.id)")
                    try expectEqual(
                        errand.whole?.row?.id, errand.id == 1 ? nil : errand.id &- 1, "\(what), the whole of \(errand.id)")
                    try expect(errand.whole?.row?.owner.row == nil, "\(what), no row of a row of \(errand.id)")
                    try expect(errand.helper?.row == nil, "\(what), no row of the helper of \(errand.id)")
                    try expectEqual(errand, try errands.read(byPrimaryKey: errand.id), "\(what), equal without rows")
                }
            }
            try check(try included.read(), [1, 2, 3], "read")
            try check(try included.read(orderedBy: .descending(\.owner, \.name)) { $0.owner.name != nil }, [2, 1, 3], "sorted")
            try check(try included.read(limit: 2) { $0.owner.name == "Ada" }, [1, 3], "a limit")
            try check(try included.read(byPrimaryKeys: [3, 1]), [3, 1], "by keys")
            try check(try included.read(byPrimaryKey: 2).map { [$0] } ?? [], [2], "by key")
            try check(try included.page(orderedBy: .descending(\.id), limit: 2).elements, [3, 2], "a page")
            var stream: [Errand] = []
            try included.forEach { stream.append($0) }
            try check(stream, [1, 2, 3], "a stream")
            // A row that is only shown is not written.
            for errand in stream { try included.persist(errand) }
            try check(try included.read(), [1, 2, 3], "after a write of what was read")
        },
        ConformanceCase("R.includingItself", "R11", "R5", title: "a model that refers to itself brings one level of rows") {
            context in
            let (_, folders) = try context.open(with: Folder.self)
            try folders.create(Folder(id: 1, children: [Folder(id: 2, children: [Folder(id: 3)]), Folder(id: 4)]))
            try folders.persist(
                Folder(id: 3, children: [Folder(id: 1, children: try folders.read(byPrimaryKey: 1)?.children)]))
            let level = try folders.including(\.children)
            try expectEqual(try level.read().map(\.outline), ["1[2 4]", "2[3]", "3[1]", "4"])
            for folder in try level.read() { try folders.persist(folder) }
            try expectEqual(try level.read().map(\.outline), ["1[2 4]", "2[3]", "3[1]", "4"], "after a write of what was read")
            try expectEqual(try folders.including().read().map(\.outline), ["1", "2", "3", "4"])
        },
        ConformanceCase("R.includingUnknown", "R11", title: "a key path that is not a stored field is invalidQuery") { context in
            let (_, topics) = try context.open(with: BriefTopic.self)
            try expectError(.invalidQuery, entity: "topic") { try topics.including(\.unreadPosts) }
        },
        ConformanceCase(
            concurrent: "O.including", "O1", "R11", title: "an observation sees a change of the row of a Reference that it names"
        ) { context in
            let (database, errands) = try open(context)
            let people = try database.dao(Person.self)
            var results = Observations.Results(try errands.including(\.helper).observe { $0.id == 2 })
            _ = try await results.next("the first result")
            try await people.persist(Person(id: 2, name: "not in the result"))
            try await people.persist(Person(id: 1, name: "changed"))
            let names = try await results.next("a result after a change").map { $0.helper?.row?.name }
            try expectEqual(names, ["changed"], "the helper's name")
        },
        ConformanceCase(
            concurrent: "O.includingInClosure", "O5", "R11",
            title: "an observed closure sees a change of the row of a Reference that its read names"
        ) { context in
            let (database, errands) = try open(context)
            let people = try database.dao(Person.self)
            let named = try errands.including(\.helper)
            var values = Observations.Results(database.observe { try named.read { $0.id == 2 } })
            var names = Observations.Results(database.observe { try named.read { $0.id == 2 }.map { $0.helper?.row?.name } })
            var sets = Observations.Results(database.observe { try Set(named.read { $0.id == 2 }.map(\.helper)) })
            var keys = Observations.Results(database.observe { try errands.read { $0.id == 2 } })
            _ = try await values.next("the first rows")
            _ = try await names.next("the first names")
            _ = try await sets.next("the first set")
            _ = try await keys.next("the first rows without the helper's row")
            try await people.persist(Person(id: 2, name: "not in the value"))
            try await people.persist(Person(id: 1, name: "changed"))
            let rows = try await values.next("rows after a change")
            try expectEqual(rows.map { $0.helper?.row?.name }, ["changed"], "the helper's name in a row")
            let name = try await names.next("names after a change")
            try expectEqual(name, ["changed"], "the helper's name")
            let helpers = try await sets.next("a set after a change")
            try expectEqual(helpers.map { $0?.row?.name }, ["changed"], "the helper's name in a set")
            try await errands.update(where: { $0.id == 2 }) { $0.title = "new" }
            let bare = try await keys.next("rows after a change of the errand")
            try expectEqual(bare.map(\.title), ["new"], "a read without the row sees no change of the row")
        },
    ]
}

extension BriefTopic {
    /// A property that is not stored.
    fileprivate var unreadPosts: [Post]? { posts?.filter { !$0.isRead } }
}
