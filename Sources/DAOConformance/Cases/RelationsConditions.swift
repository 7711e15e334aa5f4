import DAOCore
import Foundation

/// P5: conditions and sorts on relationships; O1 for related rows.
enum RelationsConditions {
    static let cases: [ConformanceCase] = [
        ConformanceCase("P.anyOfRelated", "P5", title: "any, all and none of a list, also of an empty list") { context in
            let topics = try fill(context)
            func ids(_ condition: (FieldProxy<Topic>) -> Condition<Topic>) throws -> [String] {
                try topics.read(where: condition).map(\.id)
            }
            try expectEqual(try ids { $0.posts.contains { $0.isRead } }, ["mixed", "read"], "any read")
            try expectEqual(try ids { $0.posts.contains { !$0.isRead } }, ["mixed", "unread"], "any unread")
            try expectEqual(try ids { $0.posts.allSatisfy { $0.isRead } }, ["empty", "read"], "all read")
            try expectEqual(try ids { !$0.posts.contains { $0.isRead } }, ["empty", "unread"], "none read")
            try expectEqual(try ids { $0.posts.contains { _ in Condition.all } }, ["mixed", "read", "unread"], "any child")
            try expectEqual(
                try ids { $0.posts.contains { _ in Condition.none } }, [], "any child under a condition that is never true")
            try expectEqual(
                try ids { $0.posts.allSatisfy { _ in Condition.none } }, ["empty"],
                "all children under a condition that is never true")
            try expectEqual(
                try topics.read(predicatedBy: Condition(.related(field: 3, .none, .compare(field: 2, .equal, .bool(true)))))
                    .map(\.id),
                ["empty", "unread"], "no child with the name")
        },
        ConformanceCase("P.countOfRelated", "P5", title: "the number of children, zero included, in comparisons") { context in
            let topics = try fill(context)
            let counts = ["empty": 0, "mixed": 3, "read": 1, "unread": 2]
            for number in -1...4 {
                func check(_ comparison: String, _ condition: Condition<Topic>, _ holds: (Int) -> Bool) throws {
                    let expected = counts.keys.filter { counts[$0].map(holds) == true }.sorted()
                    try expectEqual(
                        try topics.read(predicatedBy: condition).map(\.id), expected, "count \(comparison) \(number)")
                    let others = counts.keys.filter { !expected.contains($0) }.sorted()
                    try expectEqual(
                        try topics.read(predicatedBy: !condition).map(\.id), others, "not count \(comparison) \(number)")
                }
                try check("==", Condition { $0.posts.count == number }) { $0 == number }
                try check("!=", Condition { $0.posts.count != number }) { $0 != number }
                try check("<", Condition { $0.posts.count < number }) { $0 < number }
                try check("<=", Condition { $0.posts.count <= number }) { $0 <= number }
                try check(">", Condition { $0.posts.count > number }) { $0 > number }
                try check(">=", Condition { $0.posts.count >= number }) { $0 >= number }
            }
            try expectEqual(try topics.read { $0.posts.isEmpty }.map(\.id), ["empty"])
            try expectEqual(try topics.read { $0.posts.count.in([3, 0, 7]) }.map(\.id), ["empty", "mixed"])
            try expectEqual(try topics.read { $0.posts.count.in([]) }.map(\.id), [])
            try expectEqual(try topics.read { $0.posts.count.between(1, and: 2) }.map(\.id), ["read", "unread"])
            try expectError(.invalidPredicate, entity: "topic") {
                try topics.read { $0.posts.count == $0.posts.count }
            }
        },
        ConformanceCase("P.countOfRepeats", "P5", "R1", title: "a child that is twice in a list counts twice") { context in
            let topics = try context.dao(Topic.self)
            try topics.persist(Topic(id: "t", posts: Post.make([1, 1])))
            try expectEqual(try topics.count { $0.posts.count == 2 }, 1)
            try expectEqual(try topics.read { $0.posts.contains { $0.id == 1 } }.count, 1)
        },
        ConformanceCase(
            "P.countOfRelatedThatMeet", "P10", "P5",
            title: "the number of children that meet a condition, in comparisons and in words"
        ) { context in
            let (database, topics) = try context.open(with: Topic.self)
            let ada = Person(id: 1, name: "Ada")
            let posts = (0...4).map { Post(id: $0, text: "\($0 % 3)", isRead: $0 % 2 == 0, author: $0 > 2 ? ada : nil) }
            let lists = ["a": [], "b": [0, 1, 2, 3, 4], "c": [2, 2, 4], "d": [1], "e": [0, 1]]
            try topics.persist(
                lists.map { Topic(id: $0.key, owner: $0.key < "d" ? ada : nil, posts: $0.value.map { posts[$0] }) })
            let operators: [(sign: String, Comparison)] = [
                ("==", .equal), ("!=", .notEqual), ("<", .less), ("<=", .lessOrEqual), (">", .greater), (">=", .greaterOrEqual),
            ]
            func holds(_ comparison: Comparison, _ left: Int, _ right: Int) -> Bool {
                comparison.holds(left < right ? -1 : left > right ? 1 : 0)
            }
            for number in -1...4 {
                for (sign, comparison) in operators {
                    let found = lists.filter { holds(comparison, $0.value.count { $0 % 2 == 0 }, number) }.keys.sorted()
                    let words = Condition<Topic>("SUBQUERY(posts, $p, $p.isRead == YES).@count \(sign) \(number)")
                    let typed: Condition<Topic> =
                        switch comparison {
                        case .equal: Condition { $0.posts.count { $0.isRead } == number }
                        case .notEqual: Condition { $0.posts.count { $0.isRead } != number }
                        case .less: Condition { $0.posts.count { $0.isRead } < number }
                        case .lessOrEqual: Condition { $0.posts.count { $0.isRead } <= number }
                        case .greater: Condition { $0.posts.count { $0.isRead } > number }
                        case .greaterOrEqual: Condition { $0.posts.count { $0.isRead } >= number }
                        }
                    for (name, condition) in [("typed", typed), ("words", words)] {
                        let place = "\(name), count \(sign) \(number)"
                        try expectEqual(try topics.read(predicatedBy: condition).map(\.id), found, place)
                        let others = lists.keys.sorted().filter { !found.contains($0) }
                        try expectEqual(try topics.read(predicatedBy: !condition).map(\.id), others, "not \(place)")
                        try expectEqual(
                            try topics.read(Query(where: condition, limit: 2)).map(\.id), Array(found.prefix(2)),
                            "\(place), limited")
                        try expectEqual(try topics.count(where: condition), found.count, "\(place), counted")
                        try expectEqual(
                            try topics.read(Query(orderedBy: [.first(condition)])).map(\.id).prefix(found.count), found[...],
                            "\(place), as a sort")
                    }
                }
            }
            func ids(_ condition: Condition<Topic>) throws -> [String] { try topics.read(predicatedBy: condition).map(\.id) }
            try expectEqual(try ids(Condition { $0.posts.count { $0.author.name == "Ada" && $0.isRead }.in([1]) }), ["b", "c"])
            try expectEqual(try ids(Condition { !($0.posts.count { _ in Condition.none } == 0) }), [], "a condition never met")
            try expectEqual(
                try ids("SUBQUERY(posts, $p, ($p.text == '2' OR $p.author.name == 'Ada') AND NOT $p.isRead == NO).@count == 2"),
                ["b"])
            try expectEqual(
                try ids("SUBQUERY(posts, $p, $p.text == '2').@count == 2 OR SUBQUERY(posts, $q, $q.isRead == NO).@count == 2"),
                ["b", "c"])
            let people = try database.dao(Person.self)
            let busy = try people.read { $0[Person.topics].count { $0.posts.count { $0.isRead } > 1 } == 2 }
            try expectEqual(busy.map(\.id), [1], "an inverse")
            for (text, position) in [
                ("SUBQUERY(posts, $p, isRead == YES).@count > 1", 20), ("SUBQUERY(posts, $p, $p.isRead == YES) > 1", 38),
                ("SUBQUERY(owner, $p, $p.age == 1).@count > 1", 9), ("SUBQUERY(posts, $p, $p.isRead == YES", 8),
                ("SUBQUERY(posts, p, $p.isRead == YES).@count > 1", 16), ("SUBQUERY(posts, $p, $q.isRead == YES).@count > 1", 20),
                ("SUBQUERY(posts, $p, $p.isRead == YES).@sum > 1", 37), ("SUBQUERY(posts, $p, $p.height == 1).@count > 1", 20),
                (String(repeating: "SUBQUERY(posts, $p, ", count: 400) + "$p.id > 1", nil),
            ] as [(String, Int?)] {
                let error = try invalid(text.prefix(60) + "") { try ids(Condition(text)) }
                if let position { try expectEqual(error.position, position, "the position in \(text)") }
            }
        },
        ConformanceCase(
            "P.acrossToOne", "P10", "P5", "P1", title: "a field of the row compares with one of its related row, in words, too"
        ) { context in
            let (database, topics) = try context.open(with: Topic.self)
            let people = [Person(id: 1, name: "b", age: 2), Person(id: 2, name: "a"), Person(id: 3, name: "c", age: 3)]
            try database.dao(Person.self).persist(people)
            let owners: [Int?] = [1, 1, 1, 2, 3, nil]
            let titles = ["a", "b", "c", "b", "c", "a"]
            try topics.persist(
                owners.indices.map { row in
                    Topic(
                        id: "\(row)", title: titles[row], owner: owners[row].map { people[$0 - 1] },
                        posts: [Post(id: row, text: titles[row], author: owners[row].map { people[$0 - 1] })])
                })
            func check(
                _ words: Condition<Topic>, _ typed: (FieldProxy<Topic>) -> Condition<Topic>, _ ids: [Int], _ place: String
            ) throws {
                for (form, condition) in [("words", words), ("typed", Condition(typed))] {
                    func found(_ query: Query<Topic>) throws -> [Int] { try topics.read(query).compactMap { Int($0.id) } }
                    try expectEqual(try found(Query(where: condition)), ids, "\(place), \(form)")
                    try expectEqual(
                        try found(Query(where: !condition)), owners.indices.filter { !ids.contains($0) }, "not \(place), \(form)")
                    try expectEqual(try found(Query(where: condition, limit: 1)), Array(ids.prefix(1)), "\(place), limited")
                    try expectEqual(
                        try found(Query(where: condition, orderedBy: [.ascending(\.owner, \.name)])).sorted(), ids,
                        "\(place), by a related field")
                    try expectEqual(try topics.count(where: condition), ids.count, "\(place), counted")
                    try expectEqual(
                        try found(Query(orderedBy: [.last(condition)])).suffix(ids.count), ids[...], "\(place), as a sort")
                }
            }
            try check("owner.name == title", { $0.owner.name == $0.title.optional }, [1, 4], "equal")
            try check("title == owner.name", { $0.title.optional == $0.owner.name }, [1, 4], "equal, mirrored")
            try check("owner.name != title", { $0.owner.name != $0.title.optional }, [0, 2, 3, 5], "not equal")
            try check("owner.name < title", { $0.owner.name < $0.title.optional }, [2, 3], "less")
            try check("title > owner.name", { $0.title.optional > $0.owner.name }, [2, 3], "greater, mirrored")
            try check("owner.name >= title", { $0.owner.name >= $0.title.optional }, [0, 1, 4], "not less")
            try check(
                "owner.age == owner.id OR title == owner.name",
                { $0.owner.age == $0.owner.id || $0.title.optional == $0.owner.name }, [1, 4, 5],
                "of one related row, and of both")
            let posts = try database.dao(Post.self)
            try expectEqual(try posts.read { $0.author.name == $0.text.optional }.map(\.id), [1, 4], "on other rows")
            let topicsOfPosts = try topics.read { $0.posts.contains { $0.author.name == $0.text.optional } }
            try expectEqual(topicsOfPosts.map(\.id), ["1", "4"], "in a condition on them")
            try expectEqual(
                try topics.update(.set(\.title, to: "x")) { $0.owner.name == $0.title.optional }, 2, "rows set where it holds")
            for text in ["owner.name == nobody", "owner.name == owner.height", "title == owner.age", "owner.age == title"] {
                try invalid(text) { try topics.read(predicatedBy: Condition(text)) }
            }
            for node: PredicateNode in [
                .compareRelated(field: 1, .equal, relation: 3, relatedField: 1),
                .compareRelated(field: 1, .equal, relation: 2, relatedField: 9),
                .compareRelated(field: 9, .equal, relation: 2, relatedField: 1),
                .compareRelated(field: 1, .equal, relation: 1, relatedField: 1),
                .compareRelated(field: 1, .less, relation: 2, relatedField: 2),
            ] {
                try invalid("\(node)") { try topics.read(Query(where: Condition(node), limit: 2)) }
            }
        },
        ConformanceCase("P.throughToOne", "P5", "P1", title: "a field of the related row is nil without a row") { context in
            let topics = try fill(context)
            func ids(_ condition: (FieldProxy<Topic>) -> Condition<Topic>) throws -> [String] {
                try topics.read(where: condition).map(\.id)
            }
            try expectEqual(try ids { $0.owner.name == "Ada" }, ["mixed"], "the name")
            try expectEqual(
                try ids { $0.owner.name != "Ada" }, ["empty", "read", "unread"], "another name, or no related row")
            try expectEqual(try ids { $0.owner.name == nil }, ["empty", "unread"], "nobody")
            try expectEqual(try ids { $0.owner.age == nil }, ["empty", "read", "unread"], "no related row, or no age")
            try expectEqual(try ids { $0.owner.age > 30 }, ["mixed"], "older")
            try expectEqual(try ids { !($0.owner.age > 30) }, ["empty", "read", "unread"], "not older")
            try expectEqual(try ids { $0.owner.name.hasPrefix("B") }, ["read"], "a prefix")
            try expectEqual(
                try ids { $0.owner.name.in(["Ada", nil]) }, ["empty", "mixed", "unread"],
                "one of the names, or no related row")
            try expectEqual(try ids { $0.owner == nil }, ["empty", "unread"], "no row")
            try expectEqual(try ids { $0.owner != nil }, ["mixed", "read"], "a row")
            try expectEqual(try ids { $0.owner == Person(id: 2, name: "any name") }, ["read"], "that row")
            try expectEqual(
                try ids { $0.owner != Person(id: 2, name: "any name") }, ["empty", "mixed", "unread"],
                "a row other than this one")
        },
        ConformanceCase("P.listOfToOne", "P5", "P1", title: "a list of the related row is empty without a row") { context in
            let pins = try fill(context).storage.database.dao(Pin.self)
            let topics = [nil, "empty", "mixed", "read", "unread"]
            try pins.create(topics.enumerated().map { Pin(id: $0, topic: $1.map { Reference($0) }) })
            func found(_ condition: (FieldProxy<Pin>) -> Condition<Pin>) throws -> [String?] {
                try pins.read(where: condition).map { topics[$0.id] }
            }
            try expectEqual(try found { $0.topic.posts.contains { $0.isRead } }, ["mixed", "read"], "any")
            try expectEqual(try found { $0.topic.posts.allSatisfy { $0.isRead } }, [nil, "empty", "read"], "all")
            try expectEqual(try found { !$0.topic.posts.contains { $0.isRead } }, [nil, "empty", "unread"], "none")
            try expectEqual(try found { $0.topic.posts.isEmpty }, [nil, "empty"], "no child")
            try expectEqual(try found { $0.topic.posts.count > 1 }, ["mixed", "unread"], "several")
            try expectEqual(try found { $0.topic.posts.count < 2 && $0.topic.id != nil }, ["empty", "read"], "few")
            try expectEqual(
                try found { $0.topic.posts.contains { $0.author.name == "Ben" } && $0.topic.owner == nil }, ["unread"],
                "beside another path")
        },
        ConformanceCase("P.nested", "P5", title: "conditions span relationships and combine with plain conditions") { context in
            let topics = try fill(context)
            try expectEqual(
                try topics.read { $0.posts.contains { $0.author.name == "Ben" && !$0.isRead } }.map(\.id), ["unread"])
            try expectEqual(
                try topics.read { $0.posts.contains { $0.author.name == "Ben" } && $0.posts.count > 1 || $0.id == "empty" }
                    .map(\.id),
                ["empty", "mixed", "unread"])
            try expectEqual(
                try topics.read { !($0.posts.allSatisfy { $0.author.age == 36 }) }.map(\.id), ["mixed", "unread"])
        },
        ConformanceCase(
            "P.relatedEverywhere", "P5", "W5",
            title: "conditions on relationships work in counts, aggregates, updates, erases, pages and lookups"
        ) {
            context in
            let topics = try fill(context)
            let condition = Condition<Topic> { $0.posts.contains { $0.isRead } }
            try expectEqual(try topics.count(predicatedBy: condition), 2)
            try expectEqual(try topics.max(\.title, where: condition), "T read")
            try expectEqual(
                try topics.read(Query(where: condition, orderedBy: [.descending(\.id)], limit: 1)).map(\.id), ["read"])
            let page = try topics.page(Query(where: condition), limit: 1)
            try expectEqual(page.elements.map(\.id), ["mixed"])
            try expectEqual(try topics.page(Query(where: condition, after: page.next), limit: 5).elements.map(\.id), ["read"])
            // Not every database compares texts without their case by itself.
            for (text, found) in [("A", ["read"]), ("E", ["mixed"]), ("g", [])] {
                var visited: [String] = []
                try topics.forEach(Query(where: Condition { $0.posts.contains { $0.text.equals(text, .caseInsensitive) } })) {
                    visited.append($0.id)
                }
                try expectEqual(visited, found, text)
            }
            try expectEqual(try topics.update(where: { $0.posts.contains { $0.isRead } }) { $0.title = "seen" }, 2)
            try expectEqual(try topics.count { $0.title == "seen" }, 2)
            try expectEqual(try topics.erase(predicatedBy: condition), 2)
            try expectEqual(try topics.read().map(\.id), ["empty", "unread"])
        },
        ConformanceCase(
            "P.relatedUnderLimit", "P5", "Q1", "Q5",
            title: "a condition on relationships under a limit gives the first rows of the whole answer", isHeavy: true
        ) { context in
            let topics = try fillMany(context)
            let conditions: [(name: String, condition: Condition<Topic>)] = [
                ("any", Condition { $0.posts.contains { $0.isRead } }), ("all", Condition { $0.posts.allSatisfy { $0.isRead } }),
                ("none", Condition { !$0.posts.contains { $0.isRead } }), ("count", Condition { $0.posts.count > 1 }),
                ("no child", Condition { $0.posts.isEmpty }), ("through", Condition { $0.owner.age > 30 }),
                ("through, nil", Condition { $0.owner.age != 40 }), ("by key", Condition { $0.posts.contains { $0.id == 901 } }),
                ("few or many", Condition { $0.posts.contains { $0.id < 20 } || $0.posts.contains { $0.author.name == "Ben" } }),
                ("beside a field", Condition { $0.title == "1" && $0.posts.contains { $0.isRead } && !($0.owner.age > 30) }),
                ("the last row", Condition { $0.title == "last" && $0.posts.isEmpty }),
                ("a row and through it", Condition { $0.owner == Person(id: 1, name: "") && $0.owner.name == "Ada" }),
                ("never", Condition { $0.posts.contains { $0.text == "there is no such text" } }),
            ]
            let orders: [[Sort<Topic>]] = [[], [.descending(\.title)], [.ascending(\.title), .descending(\.id)]]
            for (name, condition) in conditions {
                for order in orders {
                    let all = try topics.read(Query(where: condition, orderedBy: order)).map(\.id)
                    for (limit, offset) in [(0, 0), (1, 0), (7, 3), (70, 40), (500, 0), (3, 499), (20_000, 5)] {
                        let query = Query(where: condition, orderedBy: order, limit: limit, offset: offset)
                        let expected = Array(all.dropFirst(offset).prefix(limit))
                        let place = "\(name), limit \(limit), offset \(offset), \(order.count) sorts"
                        let found = try topics.read(query)
                        try expectEqual(found.map(\.id), expected, place)
                        if let row = found.first {
                            try expectSame(row, try topics.read(byPrimaryKey: row.id), "the first row, \(place)")
                        }
                        try expectEqual(try topics.storage.keys(query), expected.map { .string($0) }, "keys, \(place)")
                    }
                    var pages: [String] = []
                    var page = try topics.page(Query(where: condition, orderedBy: order), limit: 97)
                    pages += page.elements.map(\.id)
                    while let next = page.next {
                        page = try topics.page(Query(where: condition, orderedBy: order, after: next), limit: 97)
                        pages += page.elements.map(\.id)
                    }
                    try expectEqual(pages, all, "pages, \(name), \(order.count) sorts")
                }
            }
            for order: [Sort<Topic>] in [
                [.ascending(\.owner, \.name)], [.descending(\.owner, \.name)],
                [.descending(\.owner, \.id), .descending(\.title)],
                [.ascending(\.owner, \.age), .ascending(\.title)], [.ascending(\.title), .ascending(\.owner, \.name)],
            ] {
                for (name, condition) in conditions + [("all rows", Condition.all)] {
                    let all = try topics.read(Query(where: condition, orderedBy: order)).map(\.id)
                    for (limit, offset) in [(0, 0), (1, 0), (130, 7), (400, 0)] {
                        let query = Query(where: condition, orderedBy: order, limit: limit, offset: offset)
                        try expectEqual(
                            try topics.read(query).map(\.id), Array(all.dropFirst(offset).prefix(limit)),
                            "\(name), by a related field, limit \(limit), offset \(offset)")
                    }
                    var query = Query(where: condition, orderedBy: order)
                    var pages: [String] = []
                    repeat {
                        let page = try topics.page(query, limit: 97)
                        pages += page.elements.map(\.id)
                        query.after = page.next
                    } while query.after != nil && pages.count <= all.count
                    try expectEqual(pages, all, "pages, \(name), by a related field")
                }
            }
            try expectError(.invalidQuery, "a negative limit", entity: "topic") {
                try topics.read(Query(where: conditions[0].condition, limit: -1))
            }
            try expectError(.invalidQuery, "a negative offset", entity: "topic") {
                try topics.read(Query(where: conditions[0].condition, limit: 1, offset: -1))
            }
        },
        ConformanceCase(
            "P.relatedAtTheEnd", "P5", title: "the last of thousands of rows meet a condition on relationships, under a limit",
            isHeavy: true
        ) { context in
            let topics = try context.dao(Topic.self)
            let ids = (10_000..<14_300).map(String.init)
            try topics.create(ids.map { Topic(id: $0, posts: $0 > "14297" ? Post.make([Int($0) ?? 0]) : []) })
            try expectEqual(try topics.read(limit: 5) { !$0.posts.isEmpty }.map(\.id), ["14298", "14299"])
            try expectEqual(
                try topics.read(orderedBy: .descending(\.title), limit: 1) { $0.posts.contains { !$0.isRead } }.map(\.id),
                ["14298"])
            try expectEqual(try topics.read(limit: 1) { $0.posts.count > 1 }.map(\.id), [])
        },
        ConformanceCase(
            concurrent: "P.relatedStream", "P5", "Q6",
            title: "a stream with a condition on a relationship keeps its snapshot",
            requires: [.snapshotReads]
        ) { context in
            let (database, topics) = try context.open(with: Topic.self)
            try await topics.create(
                (100...899).map { Topic(id: "t\($0)", posts: [Post(id: $0, text: "", isRead: $0 % 2 == 0)]) })
            var ids: [String] = []
            for try await topic in topics.stream(Query(where: Condition { $0.posts.contains { $0.isRead } })) {
                if ids.isEmpty { try await database.dao(Post.self).erase() }
                try expectEqual(topic.posts.count, 1, "posts of \(topic.id)")
                ids.append(topic.id)
            }
            try expectEqual(ids, (50...449).map { "t\($0 * 2)" })
        },
        ConformanceCase("P.words.related", "P6", "P5", title: "text predicates on related rows match as typed ones") { context in
            let topics = try fill(context)
            let pairs: [(words: Condition<Topic>, typed: Condition<Topic>)] = [
                ("ANY posts.isRead == true", Condition { $0.posts.contains { $0.isRead } }),
                ("SOME posts.isRead == NO", Condition { $0.posts.contains { !$0.isRead } }),
                ("all posts.isRead == true", Condition { $0.posts.allSatisfy { $0.isRead } }),
                ("NONE posts.isRead == true", Condition { !$0.posts.contains { $0.isRead } }),
                (
                    "NOT ANY posts.author.name BEGINSWITH[c] 'b'",
                    Condition { !$0.posts.contains { $0.author.name.hasPrefix("B") } }
                ),
                ("posts.@count > 1", Condition { $0.posts.count > 1 }), ("posts.@count == 0", Condition { $0.posts.isEmpty }),
                ("owner.name == 'Ada' OR owner == nil", Condition { $0.owner.name == "Ada" || $0.owner == nil }),
                ("owner.age != 36", Condition { $0.owner.age != 36 }), ("owner = 2", Condition { $0.owner.id == 2 }),
                ("owner != nil AND NOT (owner.name IN {'Ada'})", Condition { $0.owner != nil && !$0.owner.name.in(["Ada"]) }),
                (Condition("%K == %@ && ANY %K > %d", "owner.name", "Ada", "posts.id", 5), Condition { $0.id == "mixed" }),
            ]
            for (index, pair) in pairs.enumerated() {
                try expectSame(
                    try topics.read(predicatedBy: pair.words).map(\.id), try topics.read(predicatedBy: pair.typed).map(\.id),
                    "pair \(index)")
            }
            for (text, field) in [
                ("posts.isRead == true", "posts"), ("ANY owner.name == 'Ada'", nil), ("ANY title == 'T'", nil),
                ("posts == nil", "posts"), ("posts.@count == 'x'", nil), ("owner > 1", nil), ("owner == 'Ada'", "id"),
                ("owner.height == 1", "height"), ("posts.@sum > 1", "posts"),
            ] as [(String, String?)] {
                try expectError(.invalidPredicate, text, entity: "topic", field: field) {
                    try topics.read(predicatedBy: Condition(text))
                }
            }
        },
        ConformanceCase("P.relatedRefused", "P5", title: "invalid conditions on relationships are typed errors") { context in
            let topics = try fill(context)
            let nonsense: [(node: PredicateNode, entity: String, field: String?)] = [
                (.related(field: 1, .any, .constant(true)), "topic", "title"),
                (.relatedCount(field: 0, .equal, 1), "topic", "id"), (.through(field: 99, .constant(true)), "topic", "99"),
                (.related(field: 3, .any, .compare(field: 77, .equal, .null)), "post", nil),
                (.compare(field: 3, .equal, .null), "topic", "posts"),
                (.compare(field: 2, .less, .integer(1)), "topic", "owner"),
                (.compare(field: 2, .equal, .string("Ada")), "topic", nil),
            ]
            for (node, entity, field) in nonsense {
                try expectError(.invalidPredicate, "\(node)", entity: entity, field: field) {
                    try topics.read(predicatedBy: Condition(node))
                }
            }
            try expectEqual(try topics.count(), 4)
            try topics.erase()
            for (node, entity, field) in nonsense {
                try expectError(.invalidPredicate, "\(node), without rows, under a limit", entity: entity, field: field) {
                    try topics.read(Query(where: Condition(node), limit: 2))
                }
            }
        },
        ConformanceCase(
            "Q.sortThrough", "P5", "Q1", "Q2", title: "a sort by a field of the related row: nil first, ties in key order"
        ) {
            context in
            let topics = try context.dao(Topic.self)
            let (ada, ben, cid) = (
                Person(id: 3, name: "Ada", age: 40), Person(id: 2, name: "Ben"), Person(id: 1, name: "Cid", age: 20)
            )
            let owners = [ben, nil, cid, ada, ben, nil, ada]
            try topics.create(owners.enumerated().map { Topic(id: "\($0)", title: "\($0 % 2)", owner: $1) })
            func ids(_ order: Sort<Topic>..., limit: Int? = nil, offset: Int = 0) throws -> [String] {
                try topics.read(Query(orderedBy: order, limit: limit, offset: offset)).map(\.id)
            }
            try expectEqual(try ids(.ascending(\.owner, \.name)), ["1", "5", "3", "6", "0", "4", "2"])
            try expectEqual(try ids(.descending(\.owner, \.name)), ["2", "0", "4", "3", "6", "1", "5"])
            try expectEqual(
                try ids(.ascending(\.owner, \.age), .descending(\.title), .descending(\.id)),
                ["5", "1", "4", "0", "2", "3", "6"])
            try expectEqual(try ids(.by("owner.name"), limit: 2, offset: 2), ["3", "6"])
            try expectEqual(
                try topics.read(orderedBy: .ascending(\.owner, \.name)) { $0.title == "1" }.map(\.id), ["1", "5", "3"])
            try expectEqual(try topics.read(orderedBy: .ascending(\.owner, \.name)).dropFirst(2).first?.owner?.name, "Ada")
            try expectEqual(try topics.count(Query(orderedBy: [.ascending(\.owner, \.name)], limit: 3)), 3)
            try expectEqual(
                try topics.read(orderedBy: .descending(\.owner, \.name)) { $0.owner.age > 10 }.map(\.id), ["2", "3", "6"])
            try expectError(.invalidPredicate, "an unknown field", entity: "topic", field: "height") {
                try ids(.by("owner.height"))
            }
            try expectError(.invalidPredicate, "a list", entity: "topic", field: "posts.text") { try ids(.by("posts.text")) }
            try expectError(.invalidQuery, "a negative limit", entity: "topic") {
                try ids(.ascending(\.owner, \.name), limit: -1)
            }
        },
        ConformanceCase(
            "Q.pagesThrough", "Q5", "P5", title: "pages of a sort by a field of the related row, while rows come and go"
        ) { context in
            let topics = try context.dao(Topic.self)
            let people = (0..<7).map { Person(id: $0, name: "name \($0 / 2)", age: $0 % 3 == 0 ? nil : $0) }
            func topic(_ id: Int) -> Topic {
                Topic(id: "\(id)", title: "\(id % 4)", owner: id % 6 == 5 ? nil : people[id * 3 % 7])
            }
            for order: [Sort<Topic>] in [
                [.ascending(\.owner, \.name)], [.descending(\.owner, \.name), .descending(\.title)],
                [.ascending(\.owner, \.age), .descending(\.id)], [.descending(\.owner, \.age)],
                [.ascending(\.title), .descending(\.owner, \.name)], [.by("owner.id", ascending: false)],
            ] {
                try topics.erase()
                try topics.persist((100..<180).map(topic))
                let isThroughout = { (id: Int) in id % 10 != 3 }
                let throughout = try topics.read(Query(orderedBy: order)).filter { isThroughout(Int($0.id) ?? 0) }
                for size in [1, 7, 200] {
                    let expected = throughout.filter { size != 7 || $0.title != "2" }.map(\.id)
                    var query = Query(where: size == 7 ? Condition { $0.title != "2" } : .all, orderedBy: order)
                    var found: [String] = []
                    repeat {
                        // With low limits, related rows are read first until they have led to too many rows.
                        let page = try LimitedReading.$current.withValue(size == 7 ? .low : .current) {
                            try topics.page(query, limit: size)
                        }
                        found += page.elements.map(\.id)
                        // A cursor can be stored as text.
                        query.after = try page.next.map {
                            try JSONDecoder().decode(PageCursor.self, from: JSONEncoder().encode($0))
                        }
                        let coming = found.count % 8 * 10 + 103
                        if try topics.exists(byPrimaryKey: "\(coming)") {
                            try topics.erase(byPrimaryKey: "\(coming)")
                        } else {
                            try topics.persist(topic(coming))
                        }
                    } while query.after != nil && found.count < 400
                    try expectEqual(Set(found).count, found.count, "no row comes twice")
                    try expectEqual(found.filter { isThroughout(Int($0) ?? 0) }, expected, "the rows that were there throughout")
                }
            }
            let byName = try topics.page(orderedBy: .ascending(\.owner, \.name), limit: 2).next
            for order: [Sort<Topic>] in [[.descending(\.owner, \.name)], [.ascending(\.owner, \.age)], [.ascending(\.title)], []]
            {
                try expectError(.invalidQuery, "the cursor of another order", entity: "topic") {
                    try topics.page(Query(orderedBy: order, after: byName), limit: 2)
                }
            }
        },
        ConformanceCase(
            concurrent: "O.related", "O1", "R2", title: "an observation of parents sees changes of their children"
        ) { context in
            let (database, topics) = try context.open(with: Topic.self)
            try await topics.persist(Topic(id: "t", owner: Person(id: 1, name: "Ada"), posts: Post.make([1, 2])))
            var changes = topics.observe().makeAsyncIterator()
            func next() async throws -> Topic {
                let topics = try await changes.next()
                return try require(topics?.first, "a topic")
            }
            var topic = try await next()
            try expectEqual(topic.posts.count, 2)
            try await database.dao(Post.self).persist(Post(id: 1, text: "changed"))
            topic = try await next()
            try expectEqual(topic.posts.first?.text, "changed")
            try await database.dao(Post.self).erase(byPrimaryKey: 1)
            topic = try await next()
            try expectEqual(topic.posts.map(\.id), [2])
            try await database.dao(Person.self).persist(Person(id: 1, name: "Eve"))
            topic = try await next()
            try expectEqual(topic.owner?.name, "Eve")
            try await topics.persist(Topic(id: "t", posts: Post.make([3, 2])))
            topic = try await next()
            try expectEqual(topic.posts.map(\.id), [3, 2])
        },
    ]

    /// 500 topics with up to three posts each, some of which two topics have.
    private static func fillMany(_ context: ConformanceContext) throws -> DAO<Topic> {
        let owners = [nil, Person(id: 1, name: "Ada", age: 40), Person(id: 2, name: "Ben"), Person(id: 3, name: "Cid", age: 20)]
        let topics = try context.dao(Topic.self)
        try topics.create(
            (0..<500).map { number in
                Topic(
                    id: "\(1_000 + number * 7 % 500)", title: number == 400 ? "last" : "\(number % 3)", owner: owners[number % 4],
                    posts: (0..<number % 4).map { post in
                        let id = (number * 3 + post) % 1_200
                        return Post(id: id, text: "\(id)", isRead: id % 7 == 0, author: owners[id % 4])
                    })
            })
        return topics
    }

    /// Four topics: without posts, with a read post, with unread posts, and with both.
    /// Expects that a call finds a condition invalid, whatever field the error names.
    @discardableResult
    private static func invalid(
        _ what: String, file: StaticString = #fileID, line: UInt = #line, _ body: () throws -> some Any
    ) throws -> StorageError {
        do {
            _ = try body()
        } catch let error as StorageError where error.kind == .invalidPredicate {
            return error
        }
        throw ConformanceFailure(what, expected: "invalidPredicate", got: "an answer", file: file, line: line)
    }

    private static func fill(_ context: ConformanceContext) throws -> DAO<Topic> {
        let (ada, ben) = (Person(id: 1, name: "Ada", age: 36), Person(id: 2, name: "Ben"))
        let topics = try context.dao(Topic.self)
        try topics.create([
            Topic(id: "read", title: "T read", owner: ben, posts: [Post(id: 1, text: "a", isRead: true, author: ada)]),
            Topic(
                id: "unread", title: "T unread",
                posts: [Post(id: 2, text: "b", author: ben), Post(id: 3, text: "c", author: ada)]),
            Topic(
                id: "mixed", title: "T mixed", owner: ada,
                posts: [
                    Post(id: 4, text: "d", isRead: true, author: ben), Post(id: 5, text: "e"),
                    Post(id: 6, text: "f", author: ada),
                ]),
            Topic(id: "empty", title: "T empty"),
        ])
        return topics
    }
}

/// A row that refers to a topic.
private struct Pin: Plain, Model {
    var id: Int
    var topic: Reference<Topic>?
    static let schema = Schema("pin", Self.init, Field("id", \.id, .primaryKey), Field("topic", \.topic))
}
