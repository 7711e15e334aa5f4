import DAOCore
import Foundation

/// E8: entities and rows without the application's types.
enum EvolutionRows {
    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "E.rowsWithoutTypes", "E8",
            title: "the rows of an entity, by name, are those of its model, and so are plans and totals",
            requires: [.snapshotReads]
        ) { context in
            let database = try context.open()
            let storage = try database.storage(for: Scalars.self)
            let scalars = [1, 2, 3, 9].map { number in
                var row = Scalars(id: number)
                (row.int, row.uint64, row.bool) = (-number, UInt64.max - UInt64(number), number > 2)
                (row.double, row.float, row.decimal) = (0.1 * Double(number), .infinity, Decimal(number) / 8)
                (row.string, row.data) = ("e\u{301}\0\(number % 2)", Data([UInt8(number)]))
                (row.date, row.duration) = (Date(timeIntervalSinceReferenceDate: 1e9 / Double(number)), .milliseconds(number))
                (row.mood, row.level) = (.other, .high)
                return row
            }
            try storage.insert(scalars)
            let rows = try database.rows(of: "scalars")
            let schema = Scalars.schema
            func expected(_ records: [Scalars]) -> [[Value]] {
                records.map { record in schema.description.fields.indices.map { schema.value(at: $0, of: record) } }
            }
            try expectSame(try rows.read().map(\.values), expected(scalars))
            try expectSame(try require(rows.read(byPrimaryKey: 3), "the row 3").values, expected(scalars)[2])
            try expectEqual(try rows.read(byPrimaryKey: 4), nil, "the row 4")
            try expectEqual(try rows.entity, try require(database.entities().first, "an entity"), "the entity")
            for text in [
                "bool == true", "int BETWEEN {-3, -2}", "string ENDSWITH '1' AND double > 0.25", "mood == 'something else'",
            ] {
                let condition = Condition<Scalars>(text)
                let predicate = TextPredicate(text)
                for order: (Sort<Scalars>, RowQuery.Order) in [
                    (.by("id"), .ascending("id")), (.by("string", ascending: false), .descending("string")),
                ] {
                    let query = Query(where: condition, orderedBy: [order.0], limit: 2, offset: 1)
                    let same = RowQuery(where: predicate, orderedBy: [order.1], limit: 2, offset: 1)
                    try expectSame(try rows.read(same).map(\.values), expected(try storage.read(query)), text)
                    try expectEqual(try rows.explain(same), try storage.explain(query), "the plan of \(text)")
                }
                try expectEqual(
                    try rows.count(where: predicate), try storage.count(Query(where: condition)), "the count of \(text)")
            }
            let bound = try rows.read(where: TextPredicate("date > %@ AND id != %d", scalars[2].date, 2))
            try expectEqual(bound.map(\.key), [1], "with placeholders")
            try expectEqual(bound.first?["uint64"], .unsigned(.max - 1), "a field")
            try expectEqual(bound.first?["none"], nil, "no field")
        },
        ConformanceCase(
            "E.rowsInPages", "E8", "Q5", title: "pages and streams of rows without types give each row once",
            requires: [.snapshotReads]
        ) { context in
            let database = try context.open()
            let people = (1...25).map { Person(id: $0, name: "n\($0 % 4)", age: $0 % 3 == 0 ? nil : $0) }
            try database.dao(Person.self).create(people)
            let rows = try database.rows(of: "person")
            var query = RowQuery(where: "id > 2", orderedBy: [.descending("age"), .ascending("name")])
            let all = try rows.read(query)
            try expectEqual(all.count, 23, "the number of rows")
            var pages: [EntityRow] = []
            repeat {
                let page = try rows.page(query, limit: 4)
                pages += page.elements
                query.after = page.next
            } while query.after != nil
            try expectSame(pages.map(\.values), all.map(\.values), "the pages")
            var streamed: [UniqueID] = []
            try rows.forEach(RowQuery(where: "name == 'n1'")) { streamed.append($0.key) }
            try expectEqual(streamed, people.filter { $0.name == "n1" }.map(\.uniqueId), "the stream")
            try expectError(.invalidQuery, "another query's cursor", entity: "person") {
                let cursor = try rows.page(limit: 3).next
                return try rows.read(RowQuery(orderedBy: [.ascending("name")], after: cursor))
            }
        },
        ConformanceCase(
            "E.rowsOfRelationships", "E8", "P5",
            title: "rows without types lead to related rows, in conditions, sorts and by name",
            requires: [.snapshotReads]
        ) { context in
            let database = try context.open()
            let (ada, bob) = (Person(id: 1, name: "Ada"), Person(id: 2, name: "Bob"))
            let posts = [Post(id: 3, text: "c", author: bob), Post(id: 1, text: "a", isRead: true), Post(id: 2, text: "b")]
            try database.dao(Topic.self).create([
                Topic(id: "t", owner: bob, posts: posts), Topic(id: "u", owner: ada, posts: [posts[0]]), Topic(id: "v"),
            ])
            let topics = try database.rows(of: "topic")
            let fields = try topics.entity
            try expectEqual(fields.fields.map { $0.relation?.entity }, [nil, nil, "person", "post", "label"], "the targets")
            func keys(_ query: RowQuery) throws -> [UniqueID] { try topics.read(query).map(\.key) }
            try expectEqual(try topics.read().map { $0["owner"] }, [.integer(2), .integer(1), .null], "the owners")
            try expectEqual(try topics.read().map { $0["posts"] }, [.null, .null, .null], "the lists")
            try expectEqual(try keys(RowQuery(where: "owner == nil")), ["v"])
            try expectEqual(try keys(RowQuery(where: "owner.name == 'Ada'")), ["u"])
            try expectEqual(try keys(RowQuery(where: "ANY posts.isRead == true")), ["t"])
            try expectEqual(try keys(RowQuery(where: "ANY posts.author.name BEGINSWITH 'B'", limit: 5)), ["t", "u"])
            try expectEqual(try keys(RowQuery(where: "posts.@count < 3")), ["u", "v"])
            try expectEqual(try keys(RowQuery(orderedBy: [.descending("owner.name")])), ["t", "u", "v"])
            try expectEqual(try topics.count(where: "ALL posts.isRead == false"), 2, "the count")
            try expectEqual(try topics.related("posts", of: "t").map(\.key), [3, 1, 2], "the list")
            try expectEqual(try topics.related("posts", of: "t", limit: 2).map(\.key), [3, 1], "the beginning of the list")
            try expectEqual(try topics.related("posts", of: "t", limit: 5, offset: 1).map(\.key), [1, 2], "the rest of the list")
            try expectEqual(try topics.related("posts", of: "t", offset: 9).count, 0, "beyond the list")
            try expectEqual(try topics.related("posts", of: "t", limit: 0).count, 0, "none of the list")
            try expectEqual(
                try ["t", "u", "v", "w"].map { try topics.relatedCount("posts", of: $0) }, [3, 1, 0, 0], "the counts")
            try database.dao(Topic.self).create(Topic(id: "x", posts: [posts[1], posts[0], posts[1], posts[1], posts[0]]))
            for (limit, offset) in [(9, 0), (5, 0), (2, 0), (3, 1), (9, 2), (1, 4)] {
                try expectEqual(
                    try topics.related("posts", of: "x", limit: limit, offset: offset).map(\.key),
                    Array([1, 3, 1, 1, 3].dropFirst(offset).prefix(limit)), "a list with repeated rows, from \(offset)")
            }
            try expectEqual(try topics.relatedCount("posts", of: "x"), 5, "its count")
            try expectError(.invalidQuery, "a limit", entity: "topic") { try topics.related("posts", of: "t", limit: -1) }
            try expectError(.invalidQuery, "an offset", entity: "topic") { try topics.related("posts", of: "t", offset: -1) }
            try expectEqual(try topics.related("owner", of: "t").map { $0["name"] }, [.string("Bob")], "the owner")
            try expectEqual(try topics.related("owner", of: "v").count, 0, "no owner")
            try expectEqual(try topics.related("posts", of: "w").count, 0, "no topic")
            try expectError(.invalidQuery, "no relationship", entity: "topic", field: "title") {
                try topics.related("title", of: "t")
            }
        },
        ConformanceCase(
            "E.rowsChangeNothing", "E8", "E6", title: "reading without types declares nothing, and leaves every declaration free",
            requires: [.snapshotReads]
        ) { context in
            let database = try context.open()
            try expectError(.invalidQuery, "a new database", entity: "note") { try database.rows(of: "note") }
            try expectEqual(try database.entities().count, 0, "the entities of a new database")
            let notes = FullNote.make(4)
            let writer = try context.open()
            try writer.dao(FullNote.self).create(notes)
            let before = try database.entities()
            let rows = try database.rows(of: "note")
            try expectEqual(try rows.count(), 4, "beside a declaration")
            try expectError(.invalidQuery, "another entity", entity: "nothing") { try database.rows(of: "nothing") }
            try expectEqual(try database.entities(), before, "the entities")
            try refuses(LightNote.self, in: database)
            try writer.close()
            try expectEqual(try rows.count(), 4, "without a declaration")
            try expectEqual(try database.dao(LightNote.self).count(), 4, "a declaration of fewer fields")
            try expectEqual(try rows.read().first?.values.count, before.first?.fields.count, "the fields of a row")
        },
        ConformanceCase(
            "E.rowsFollowTheirEntity", "E8", "T3", title: "each call sees the entity and its rows as its transaction has them",
            requires: [.snapshotReads, .evolution]
        ) { context in
            let database = try context.open()
            let people = try database.dao(Person.self)
            try people.create(Person(id: 1, name: "a"))
            let rows = try database.rows(of: "person")
            try expectEqual(try rows.count(), 1)
            struct Undone: Error {}
            do {
                try database.transaction {
                    try people.create(Person(id: 2, name: "b"))
                    try expectEqual(try rows.read(where: "name == 'b'").count, 1, "its own write")
                    throw Undone()
                }
            } catch is Undone {}
            try expectEqual(try rows.count(), 1, "after a rollback")
            try database.snapshot {
                try expectEqual(try rows.count(), 1, "in a snapshot")
                try onThreads(1) { _ in try people.create(Person(id: 3, name: "c")) }
                try expectEqual(try rows.count(), 1, "in a snapshot, after a commit")
            }
            try database.evolve(
                Evolution(version: 1, migrations: [Migration(to: 1) { try $0.renameField("name", of: "person", to: "called") }]))
            try expectEqual(try rows.read(where: "called == 'c'").map(\.key), [3], "after a migration")
            try expectError(.invalidPredicate, "the earlier name", entity: "person", field: "name") {
                try rows.read(where: "name == 'c'")
            }
            try database.evolve(Evolution(version: 2, migrations: [Migration(to: 2) { try $0.dropEntity("person") }]))
            try expectError(.invalidQuery, "no entity", entity: "person") { try rows.count() }
            try expectEqual(try database.entities().count, 0, "the entities")
            try database.close()
            try expectError(.closed, path: context.path) { try rows.count() }
        },
        ConformanceCase(
            "E.rowsRefuse", "E8", "L7", title: "errors are those of a model, with the position in the text",
            requires: [.snapshotReads]
        ) { context in
            let database = try context.open()
            let people = try database.dao(Person.self)
            try people.create(Person(id: 1, name: "a"))
            let rows = try database.rows(of: "person")
            for text in ["name = ", "nmae == 'x'", "name > 5", "ANY name == 'x'", "id == 1 AND AND", "name LIKE %@"] {
                func error(_ body: () throws -> Void) -> String {
                    do {
                        try body()
                        return "none"
                    } catch { return "\(error)" }
                }
                let typed = error { _ = try people.read(where: Condition(text)) }
                try expect(typed.hasPrefix("invalidPredicate"), "an error of '\(text)': \(typed)")
                try expectEqual(error { _ = try rows.read(where: TextPredicate(text)) }, typed, text)
            }
            try expectError(.invalidPredicate, "a sort", entity: "person", field: "size") {
                try rows.read(orderedBy: .ascending("size"))
            }
            try expectError(.invalidQuery, "a limit", entity: "person") { try rows.read(limit: -1) }
            try expectError(.invalidQuery, "a page", entity: "person") { try rows.page(limit: 0) }
            try expectError(.invalidKey, "a key", entity: "person", key: "x") { try rows.read(byPrimaryKey: "x") }
        },
        ConformanceCase(
            "E.rowsAreStored", "E8", "W2", "W3",
            title: "rows without types are stored: the fields that are named change, under all rules of a write",
            requires: [.snapshotReads]
        ) { context in
            let database = try context.open()
            let topics = try database.dao(Topic.self)
            let people = try database.dao(Person.self)
            try topics.create(Topic(id: "t", title: "old", owner: Person(id: 1, name: "a", age: 5), posts: Post.make(1...2)))
            let rows = try database.rows(of: "topic")
            try rows.persist([
                ["id": .string("t"), "title": .string("new")], ["id": .string("u"), "title": .string("u"), "owner": .integer(1)],
            ])
            let found = try topics.read()
            try expectEqual(found.map(\.title), ["new", "u"], "the titles")
            try expectEqual(found.map { $0.owner?.age }, [5, 5], "the owners")
            try expectEqual(found.map { $0.posts.map(\.id) }, [[1, 2], []], "the lists")
            try database.rows(of: "person").persist([["id": .integer(2), "name": .string("b")]])
            try rows.persist([["id": .string("t"), "owner": .integer(2)], ["id": .string("u"), "owner": .null]])
            try expectEqual(try topics.read().map { $0.owner?.name }, ["b", nil], "the changed owners")
            try expectEqual(try people.read().map(\.age), [5, nil], "a field that is not named")
            let before = try topics.read()
            try expectError(.referenceViolation, "no such person", entity: "topic", key: "v", conflictingKey: 9, field: "owner") {
                try rows.persist([
                    ["id": .string("t"), "title": .string("lost")],
                    ["id": .string("v"), "title": .string(""), "owner": .integer(9)],
                ])
            }
            try expectError(.corruptedValue, "a number as a title", entity: "topic", key: "t", field: "title") {
                try rows.persist([["id": .string("u")], ["id": .string("t"), "title": .integer(1)], ["id": .string("u")]])
            }
            try expectError(.corruptedValue, "no title", entity: "topic", key: "new", field: "title") {
                try rows.persist([["id": .string("t")], ["id": .string("new")]])
            }
            try expectError(.invalidQuery, "no field", entity: "topic", field: "size") {
                try rows.persist([["id": .string("t"), "size": .integer(1)]])
            }
            try expectError(.invalidQuery, "a list", entity: "topic", field: "posts") {
                try rows.persist([["id": .string("t"), "posts": .null]])
            }
            try expectError(.invalidKey, "no key", entity: "topic") { try rows.persist([["title": .string("x")]]) }
            try database.snapshot {
                _ = try expectError(.invalidTransaction) { try rows.persist([["id": .string("t"), "title": .string("x")]]) }
            }
            try expectEqual(try topics.read(), before, "the topics")
        },
        ConformanceCase(
            "E.rowsAreErased", "E8", "W5", "R4",
            title: "rows without types are erased by a condition or a key, with their links and what cascades",
            requires: [.snapshotReads]
        ) { context in
            let database = try context.open()
            let (topics, posts) = (try database.dao(Topic.self), try database.dao(Post.self))
            let shared = Post(id: 9, text: "shared")
            try topics.create([
                Topic(id: "t", title: "x", owner: Person(id: 1, name: "a"), posts: Post.make(1...2) + [shared]),
                Topic(id: "u", title: "y", posts: [shared]), Topic(id: "v", title: "x"),
            ])
            let rows = try database.rows(of: "topic")
            try expectEqual(try rows.erase(where: "title == 'x'"), 2, "erased topics")
            try expectEqual(try topics.read().map(\.id), ["u"], "the topics")
            try expectEqual(try posts.read().map(\.id), [9], "the posts, of which one has another topic")
            try expectEqual(try database.dao(Person.self).count(), 1, "people, who do not cascade")
            try expectEqual(try database.rows(of: "post").erase(byPrimaryKey: 9), 1, "erased posts")
            try expectEqual(try topics.read().map(\.posts.count), [0], "the list of the topic")
            try expectEqual(try rows.erase(byPrimaryKey: "t"), 0, "erased again")
            try expectEqual(try rows.erase(where: "owner.name == 'a'"), 0, "erased through a relationship")
            try expectError(.invalidPredicate, "no field", entity: "topic", field: "size") { try rows.erase(where: "size == 1") }
            try database.snapshot { _ = try expectError(.invalidTransaction) { try rows.erase(where: "TRUEPREDICATE") } }
            try expectEqual(try rows.erase(where: "TRUEPREDICATE"), 1, "all")
            try expectEqual(try rows.count(), 0, "what is left")
        },
        ConformanceCase(
            "E.rowsAreHeld", "E8", "R10", title: "a row without a type that a restricted Reference leads to is not erased",
            requires: [.snapshotReads]
        ) { context in
            let (database, errands) = try context.open(with: Errand.self)
            try database.dao(Person.self).create((1...3).map { Person(id: $0, name: "Person \($0)") })
            try errands.create(Errand(id: 1, owner: Reference(2), helper: Reference(3)))
            let people = try database.rows(of: "person")
            try expectError(.referenceViolation, "held", entity: "errand", key: 1, conflictingKey: 2, field: "owner") {
                try people.erase(where: "id > 1")
            }
            try expectEqual(try people.count(), 3, "people")
            try expectEqual(try people.erase(byPrimaryKey: 3), 1, "who is not held")
            try expectEqual(try errands.read().map(\.helper), [nil], "the helper")
        },
        ConformanceCase(
            "E.rowsOfManyFields", "E8", "W2", "V1", title: "each field of a row with 130 of them is written, and no other",
            requires: [.snapshotReads, .evolution]
        ) { context in
            let database = try context.open()
            let entity = EntityDescription(
                name: "wide",
                fields: [FieldDescription(name: "id", type: FieldType(.int64), isPrimaryKey: true)]
                    + (1..<130).map { FieldDescription(name: "f\($0)", type: FieldType(.int64)) })
            // A step runs on a database that has something.
            _ = try database.dao(Item.self)
            try database.evolve(Evolution(version: 1, migrations: [Migration(to: 1) { try $0.createEntity(entity) }]))
            let rows = try database.rows(of: "wide")
            var expected: [Value] = (0..<130).map { .integer(Int64($0)) }
            expected[0] = .integer(1)
            try rows.persist([Dictionary(uniqueKeysWithValues: zip(entity.fields.map(\.name), expected))])
            for fields in [[1], [31, 32], [62], [63], [64], [65], [63, 64], [127], [128], [129], [1, 64, 128]] {
                var changed = ["id": Value.integer(1)]
                for field in fields {
                    expected[field] = .integer(Int64(field) * 1000 + Int64(fields.count))
                    changed["f\(field)"] = expected[field]
                }
                try rows.persist([changed])
                try expectSame(try rows.read().map(\.values), [expected], "the row after a change of \(fields)")
            }
        },
        ConformanceCase(
            concurrent: "E.rowsAreObserved", "E8", "O5", title: "rows without types are observed as those of their model",
            requires: [.snapshotReads]
        ) { context in
            let database = try context.open()
            let people = try database.dao(Person.self)
            try await people.create(Person(id: 1, name: "a"))
            let rows = try database.rows(of: "person")
            var results = Observations.Results(database.observe { try rows.read(where: "age == 5").map(\.key) })
            var found = try await results.next("the first result")
            try expectEqual(found, [], "the first result")
            try await people.create(Person(id: 2, name: "b"))
            try await people.create(Person(id: 3, name: "c", age: 5))
            found = try await results.next("the next result")
            try expectEqual(found, [3], "the next result")
        },
    ]

    private static func refuses<Record: Model>(_ model: Record.Type, in database: any Database) throws {
        try expectError(.schemaMismatch, "\(model)", entity: "note") { try database.storage(for: model) }
    }
}
