import DAOCore
import Foundation

/// Q14: a DAO whose reads see only the rows that meet a condition.
enum QueriesScopes {
    static let cases: [ConformanceCase] = [
        ConformanceCase("Q.scope", "Q14", title: "every read of a scoped DAO sees only the rows that meet its condition") {
            context in
            let (database, all) = try context.open(with: Item.self)
            try all.create(Item.make(1...9))
            let dao = all.scoped { $0.number < 50 }
            func check() throws {
                try expectSame(try dao.read(), Item.make(1...4))
                try expectEqual(try dao.read { $0.id > 2 }.map(\.id), [3, 4], "a condition")
                try expectEqual(try dao.read { $0.id == 2 || $0.number > 60 }.map(\.id), [2], "either of two conditions")
                try expectEqual(
                    try dao.read(orderedBy: .descending(\.number), limit: 2, offset: 1).map(\.id), [3, 2], "an order")
                try expectEqual(try dao.first(orderedBy: .descending(\.id))?.id, 4, "the last")
                try expectEqual(try dao.read(byPrimaryKey: 4)?.id, 4, "a key")
                try expectEqual(try dao.read(byPrimaryKey: 5)?.id, nil, "the key of a hidden row")
                try expectEqual(try dao.read(byPrimaryKeys: [9, 3, 1, 3, 12]).map(\.id), [3, 1], "keys")
                try expectEqual(try dao.exists(byPrimaryKey: 1), true)
                try expectEqual(try dao.exists(byPrimaryKey: 9), false)
                try expectEqual(try dao.count(), 4)
                try expectEqual(try dao.count { $0.id.in([1, 9]) }, 1)
                try expectEqual(try dao.exists { $0.number == 90 }, false)
                try expectEqual(try dao.sum(\.number), 100)
                try expectEqual(try dao.max(\.number), 40)
                try expectEqual(try dao.min(\.number) { $0.id > 5 }, nil)
                try expectEqual(try dao.read(\.id, where: { $0.id != 1 }), [2, 3, 4], "a field")
                try expectEqual(try dao.distinct(\.number), [10, 20, 30, 40])
                let groups = try dao.groups(by: \.number, totals: .count) { $0.id > 3 }
                try expectSame(groups.map { "\($0.0) \($0.1)" }, ["40 1"], "the groups")
                var (pages, after): ([[Int]], PageCursor?) = ([], nil)
                repeat {
                    let page = try dao.page(orderedBy: .descending(\.number), limit: 3, after: after)
                    pages.append(page.elements.map(\.id))
                    after = page.next
                } while after != nil
                try expectEqual(pages, [[4, 3, 2], [1]], "pages")
                var streamed: [Int] = []
                try dao.forEach { streamed.append($0.id) }
                try expectEqual(streamed, [1, 2, 3, 4], "a stream")
                let twice = dao.scoped { $0.id != 2 }
                try expectEqual(try twice.read().map(\.id), [1, 3, 4], "both conditions of a DAO that is scoped twice")
                try expectEqual(try twice.count { $0.number == 20 || $0.number == 70 }, 0)
                try expectEqual(try dao.scoped(where: .none).read().count, 0)
                try expectEqual(try all.count(), 9, "the DAO without a scope")
            }
            try check()
            if database.capabilities.hasSnapshotReads { try database.snapshot { try check() } }
            try database.transaction { try check() }
        },
        ConformanceCase("Q.scopeWrites", "Q14", "W1", "W2", "W5", title: "writes of a scoped DAO see every row") { context in
            let dao = try context.dao(ArticleModel.self)
            let articles = DAO(storage: dao.storage, translator: ArticleTranslator())
            try dao.create((1...4).map { ArticleModel(id: $0, title: "t", body: "", draft: "d", views: $0) })
            let visible = articles.scoped { $0.views < 3 }
            try expectError(.duplicateKey, entity: "article", key: 4, field: "id") {
                try visible.create(Article(id: 4, title: "new", body: ""))
            }
            try visible.persist(Article(id: 4, title: "merged", body: ""))
            try expectSame(
                try dao.read(byPrimaryKey: 4), ArticleModel(id: 4, title: "merged", body: "", draft: "d", views: 4),
                "a hidden row")
            try expectEqual(
                try visible.findOrCreate(byPrimaryKey: 4) { Article(id: 4, title: "other", body: "") }.title, "merged")
            try expectEqual(try visible.update(where: .all) { $0.body = "u" }, 4, "an update of all rows")
            try expectEqual(try visible.set(\.title, to: "s") { $0.views > 2 }, 2)
            try expectEqual(try visible.update(.increase(\.views, by: 1), where: .all), 4)
            try expectEqual(try visible.read().map(\.title), ["t"], "the row that is still below 3")
            try expectEqual(try visible.erase { $0.title == "s" }, 2, "hidden rows")
            try expectEqual(try visible.erase(byPrimaryKey: 2), 1, "a hidden row by its key")
            try expectSame(try dao.read().map(\.id), [1])
        },
        ConformanceCase(
            "Q.scopeTwiceWrites", "Q14", "W1", "W2", title: "writes of a DAO that is scoped twice see what both scopes hide"
        ) { context in
            let all = try context.dao(Item.self)
            try all.create(Item.make(1...9))
            let twice = all.scoped { $0.number < 80 }.scoped { $0.id < 5 }
            let added = try twice.append(Item(id: 20, name: "added"), by: \.number)
            try expectEqual(added.number, 91, "the next number of all rows")
            let found = try twice.findOrCreate(where: { $0.number == 90 }) { Item(id: 21, name: "made", number: 90) }
            try expectEqual(found.id, 9, "the row that the first scope hides")
            let other = try twice.findOrCreate(where: { $0.number == 60 }) { Item(id: 22, name: "made", number: 60) }
            try expectEqual(other.id, 6, "the row that the second scope hides")
            try expectEqual(try all.read().map(\.id), Array(1...9) + [20], "the rows")
            try expectError(.duplicateKey, entity: "item", key: 9, field: "id") { try twice.create(Item(id: 9, name: "again")) }
        },
        ConformanceCase(
            "Q.scopeSeveralTimes", "Q14", "R12", "R13",
            title: "every read of a DAO that is scoped several times has all conditions"
        ) { context in
            let (database, posts) = try context.open(with: Post.self)
            let authors = [Person(id: 1, name: "Ada"), Person(id: 2, name: "Bo")]
            let rows = (1...24).map {
                Post(id: $0, text: "\($0 % 5)", isRead: $0 % 2 == 0, author: $0 % 4 == 3 ? nil : authors[$0 % 3 % 2])
            }
            try posts.create(rows)
            try database.dao(Topic.self).create(Topic(id: "t", posts: rows.filter { $0.id % 5 != 0 }))
            let scopes: [(Condition<Post>, (Post) -> Bool)] = [
                (Condition { !$0.isRead }, { !$0.isRead }), (Condition { $0.text != "3" }, { $0.text != "3" }),
                (Condition { $0.author.name == "Ada" }, { $0.author?.id == 1 }), (Condition { $0.id > 4 }, { $0.id > 4 }),
            ]
            for order in [[0, 1], [1, 0], [0, 2], [2, 0], [3, 0, 1], [2, 3, 0], [0, 1, 2, 3]] {
                let dao = order.reduce(posts) { $0.scoped(where: scopes[$1].0) }
                let expected = rows.filter { row in order.allSatisfy { scopes[$0].1(row) } }
                let (what, ids) = ("in the scopes \(order)", expected.map(\.id))
                try expectSame(try dao.read(), expected, what)
                try expectEqual(try dao.read(byPrimaryKeys: rows.map { UniqueID($0.id) }).map(\.id), ids, "keys \(what)")
                for row in rows {
                    try expectEqual(
                        try dao.read(byPrimaryKey: row.id) != nil, ids.contains(row.id), "row \(row.id) \(what)")
                }
                try expectEqual(try dao.count(), ids.count, "the number \(what)")
                try expectEqual(try dao.count { $0.id < 13 }, ids.filter { $0 < 13 }.count, "the number of a condition \(what)")
                try expectEqual(try dao.sum(\.id), ids.reduce(0, +), "the sum \(what)")
                try expectEqual(try dao.read(\.id, where: .all), ids, "a field \(what)")
                try expectEqual(try dao.distinct(\.text), Set(expected.map(\.text)).sorted(), "the values \(what)")
                let groups = try dao.groups(by: \.text, totals: .count)
                try expectEqual(groups.map(\.1).reduce(0, +), ids.count, "the groups \(what)")
                let firsts = try dao.groups(by: \.isRead, first: 30, orderedBy: .ascending(\.id))
                try expectEqual(firsts.flatMap { $0.1.map(\.id) }.sorted(), ids, "the rows of groups \(what)")
                let page = try dao.page(orderedBy: .descending(\.id), limit: 2)
                try expectEqual(page.elements.map(\.id), Array(ids.reversed().prefix(2)), "the first page \(what)")
                let next = try dao.page(orderedBy: .descending(\.id), limit: 30, after: page.next)
                if page.next != nil {
                    try expectEqual(next.elements.map(\.id), Array(ids.reversed().dropFirst(2)), "the next page \(what)")
                }
                var streamed: [Int] = []
                try dao.forEach { streamed.append($0.id) }
                try expectEqual(streamed, ids, "a stream \(what)")
                try expectEqual(
                    try dao.read(Person.posts, of: [2, 1]).map { $0.map(\.id) },
                    [2, 1].map { author in expected.filter { $0.author?.id == author }.map(\.id) },
                    "the rows of an inverse \(what)")
                let first = try dao.read(Person.posts, of: [1, 2], orderedBy: .descending(\.id), first: 1) { $0.id < 20 }
                try expectEqual(
                    first.map { $0.map(\.id) },
                    [1, 2].map { author in
                        Array(expected.filter { $0.author?.id == author && $0.id < 20 }.map(\.id).suffix(1))
                    },
                    "the last row of an inverse \(what)")
                let totals = try dao.read(with: Post.topics, totals: .count)
                try expectEqual(totals.map(\.0.id), ids, "the rows with totals \(what)")
            }
        },
        ConformanceCase("Q.scopeRelated", "Q14", "R1", "R12", title: "a scope hides rows of its DAO, and no row of a list") {
            context in
            let database = try context.open()
            let (topics, posts) = (try database.dao(BriefTopic.self), try database.dao(Post.self))
            let people = try database.dao(Person.self)
            let ada = Person(id: 1, name: "Ada")
            var list = (1...4).map { Post(id: $0, text: "\($0)", isRead: $0 > 2, author: ada) }
            try topics.create([BriefTopic(id: "a", posts: list), BriefTopic(id: "b", title: "hidden", posts: [list[0]])])
            let (shown, unread) = (topics.scoped { $0.title != "hidden" }, posts.scoped { !$0.isRead })
            try expectEqual(try unread.read().map(\.id), [1, 2])
            try expectEqual(try shown.read().map { $0.posts?.count }, [4], "the list of a row that is read")
            try expectEqual(try shown.including(\.posts).read().map { $0.posts?.count }, [4], "a list that is included")
            try expectEqual(try shown.scoped { $0.posts.contains { $0.isRead } }.count(), 1, "a scope of related rows")
            try expectEqual(try shown.read { $0.posts.count > 0 }.map(\.id), ["a"])
            var topic = try require(try shown.read(byPrimaryKey: "a"), "the topic")
            topic.title = "changed"
            try shown.persist(topic)
            try expectSame(try topics.read(byPrimaryKey: "a")?.posts, list, "the rows of a list that was read and persisted")
            try expectEqual(try unread.read(Person.posts, of: [1]).map { $0.map(\.id) }, [[1, 2]], "the rows of an inverse")
            try expectEqual(try people.count { $0[Person.posts].count == 4 }, 1, "a condition on an inverse")
            list[0].isRead = true
            try unread.persist(list[0])
            try expectEqual(try unread.read().map(\.id), [2])
            try expectEqual(try posts.count(), 4)
        },
        ConformanceCase(
            concurrent: "Q.scopeObserved", "Q14", "O1", title: "an observation sees what comes into a scope and leaves it"
        ) {
            context in
            let all = try context.open().dao(Item.self)
            try await all.create(Item.make(1...3))
            let dao = all.scoped { $0.number < 30 }
            var results = Observations.Results(dao.observe())
            var ids = try await results.next("the first result").map(\.id)
            try expectEqual(ids, [1, 2], "the first result")
            try await all.create(Item.make([8]))
            try await all.set(\.number, to: 1) { $0.id == 8 }
            ids = try await results.next("a row that comes into the scope").map(\.id)
            try expectEqual(ids, [1, 2, 8])
            try await dao.set(\.number, to: 100) { $0.id == 1 }
            ids = try await results.next("a row that leaves the scope").map(\.id)
            try expectEqual(ids, [2, 8])
            var value = Observations.Results(dao.observe(byPrimaryKey: 2))
            var number = try await value.next("the row")?.number
            try expectEqual(number, 20)
            try await all.set(\.number, to: 50) { $0.id == 2 }
            number = try await value.next("the row, hidden")?.number
            try expectEqual(number, nil)
        },
    ]
}
