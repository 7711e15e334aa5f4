import DAOCore

extension Person {
    package static let topics = Inverse(\Topic.owner)
    package static let posts = Inverse(\Post.author)
    package static let errands = Inverse(\Errand.owner)
    package static let help = Inverse(\Errand.helper)
}

extension Post {
    package static let topics = Inverse(\Topic.posts)
}

extension Errand {
    package static let parts = Inverse(\Errand.whole)
    static let receipts = Inverse(\Receipt.errand)
}

/// R12: the rows that refer to a row.
enum RelationsInverse {
    /// Opens the case's database: Ada owns "a" and "b", Bo owns "c", Cy owns nothing; "a" and "c" have posts.
    private static func open(
        _ context: ConformanceContext
    ) throws -> (any Database, people: DAO<Person>, topics: DAO<Topic>) {
        let (database, topics) = try context.open(with: Topic.self)
        let (ada, bo) = (Person(id: 1, name: "Ada", age: 36), Person(id: 2, name: "Bo"))
        let people = try database.dao(Person.self)
        try people.create([ada, bo, Person(id: 3, name: "Cy", age: 36)])
        let read = Post(id: 2, text: "two", isRead: true, author: bo)
        try topics.create([
            Topic(id: "a", title: "z", owner: ada, posts: [Post(id: 1, text: "one", author: ada), read, read]),
            Topic(id: "b", title: "y", owner: ada), Topic(id: "c", title: "x", owner: bo, posts: [read]),
            Topic(id: "d", title: "w"),
        ])
        return (database, people, topics)
    }

    static let cases: [ConformanceCase] = [
        ConformanceCase("R.inverseConditions", "R12", "P5", title: "conditions on the rows that refer to a row") { context in
            let (_, people, topics) = try open(context)
            func check(_ expected: [Int], _ what: String, _ condition: (FieldProxy<Person>) -> Condition<Person>) throws {
                try expectEqual(try people.read(where: condition).map(\.id), expected, what)
                let others = [1, 2, 3].filter { !expected.contains($0) }
                let negated = !Condition(condition)
                try expectEqual(try people.read(where: negated).map(\.id), others, "not \(what)")
                try expectEqual(try people.count(where: negated), others.count, "the number of not \(what)")
                for limit in 0...3 {
                    let query = Query(where: Condition(condition), orderedBy: [.descending(\.id)], limit: limit)
                    let found = try LimitedReading.$current.withValue(.low) { try people.read(query) }
                    try expectEqual(found.map(\.id), Array(expected.reversed().prefix(limit)), "\(what), \(limit) rows")
                }
            }
            try check([1], "any with the title") { $0[Person.topics].contains { $0.title == "y" } }
            try check([1, 2], "any with a title") { $0[Person.topics].contains { $0.title.in(["x", "z", "w"]) } }
            try check([1, 2], "any") { $0[Person.topics].contains { _ in Condition.all } }
            try check([], "any of none") { $0[Person.topics].contains { _ in Condition.none } }
            try check([2, 3], "all with the title") { $0[Person.topics].allSatisfy { $0.title == "x" } }
            try check([3], "none") { $0[Person.topics].isEmpty }
            try check([1], "more than one") { $0[Person.topics].count > 1 }
            try check([2, 3], "at most one") { $0[Person.topics].count <= 1 }
            try check([1, 3], "a number of a list") { $0[Person.topics].count.in([0, 2]) }
            try check([1, 2], "any with a post that is read") { $0[Person.topics].contains { $0.posts.contains { $0.isRead } } }
            try check([1], "together with a field") { $0[Person.topics].count > 0 && $0.age == 36 }
            try check([1, 2, 3], "one or the other") { $0[Person.topics].contains { $0.title == "x" } || $0.age == 36 }
            try check([2], "of two kinds") { $0[Person.topics].count == 1 && $0[Person.posts].contains { $0.isRead } }
            try check([1], "the rows that refer to the owner of a row") {
                $0[Person.topics].contains { $0.owner[Person.topics].count == 2 }
            }
            try expectEqual(try topics.read { $0.owner[Person.topics].count > 1 }.map(\.id), ["a", "b"], "through a to-one")
            try expectEqual(try topics.read { $0.owner[Person.topics].isEmpty }.map(\.id), ["d"], "through a to-one that is nil")
        },
        ConformanceCase("R.inverseOfList", "R12", "R1", title: "a row that has another one twice in a list refers to it once") {
            context in
            let (database, _, topics) = try open(context)
            let posts = try database.dao(Post.self)
            func ids(_ condition: (FieldProxy<Post>) -> Condition<Post>) throws -> [Int] {
                try posts.read(where: condition).map(\.id)
            }
            try expectEqual(try ids { $0[Post.topics].count == 1 }, [1], "in one")
            try expectEqual(try ids { $0[Post.topics].count == 2 }, [2], "in two")
            try expectEqual(try ids { $0[Post.topics].contains { $0.title == "x" } }, [2], "any with the title")
            try expectEqual(try ids { $0[Post.topics].allSatisfy { $0.owner.name == "Ada" } }, [1], "all with the owner")
            let lists = try topics.read(Post.topics, of: [2, 1])
            try expectEqual(lists.map { $0.map(\.id) }, [["a", "c"], ["a"]], "the rows")
            try topics.erase(byPrimaryKey: "c")
            try expectEqual(try ids { $0[Post.topics].count == 1 }, [1, 2], "in one, after an erase")
        },
        ConformanceCase("R.inverseOfReference", "R12", "R9", title: "the rows that refer by a Reference, to their own model too")
        {
            context in
            let (database, people, _) = try open(context)
            let errands = try database.dao(Errand.self)
            try errands.create([
                Errand(id: 1, title: "all", owner: Reference(1)),
                Errand(id: 2, title: "half", whole: Reference(1), owner: Reference(1), helper: Reference(3)),
                Errand(id: 3, title: "rest", whole: Reference(1), owner: Reference(2)),
            ])
            try expectEqual(try people.read { $0[Person.errands].count > 1 }.map(\.id), [1], "a required one")
            try expectEqual(
                try people.read { $0[Person.help].contains { $0.owner.name == "Ada" } }.map(\.id), [3], "an optional one")
            try expectEqual(try errands.read { $0[Errand.parts].isEmpty }.map(\.id), [2, 3], "the leaves of a tree")
            try expectEqual(
                try errands.read { $0[Errand.parts].contains { $0.title == "rest" } }.map(\.id), [1], "the whole of a part")
            try expectEqual(
                try errands.read { $0.whole[Errand.parts].count == 2 && $0.title != "rest" }.map(\.id), [2],
                "the parts of the whole")
            let parts = try errands.including(\.owner).read(Errand.parts, of: [1], orderedBy: .descending(\.id))
            try expectEqual(parts[0].map { $0.owner.row?.name }, ["Bo", "Ada"], "with the rows of References")
        },
        ConformanceCase("R.inverseReads", "R12", title: "a list for each key, in an order, with a condition, the first of each") {
            context in
            let (database, people, topics) = try open(context)
            func check(_ lists: [[Topic]], _ expected: [[String]], _ what: String) throws {
                try expectEqual(lists.map { $0.map(\.id) }, expected, what)
            }
            try check(try topics.read(Person.topics, of: [3, 1, 2]), [[], ["a", "b"], ["c"]], "in key order")
            try check(
                try topics.read(Person.topics, of: [1, 9, 1]), [["a", "b"], [], ["a", "b"]], "repeated and unknown keys")
            try check(try topics.read(Person.topics, of: [Int]()), [], "no keys")
            try check(
                try topics.read(Person.topics, of: [1, 2], orderedBy: .ascending(\.title)), [["b", "a"], ["c"]], "in an order")
            try check(
                try topics.read(Person.topics, of: [1, 2], orderedBy: .ascending(\.title), first: 1), [["b"], ["c"]], "the first")
            try check(try topics.read(Person.topics, of: [1, 2], first: 0), [[], []], "the first none")
            try check(
                try topics.read(Person.topics, of: [2, 1]) { $0.posts.contains { $0.isRead } }, [["c"], ["a"]], "with a condition"
            )
            try expectEqual(try topics.read(Person.topics, of: [1])[0][0].posts.count, 3, "with their lists")
            try expectError(.invalidQuery, entity: "topic") { try topics.read(Person.topics, of: [1], first: -1) }
            try expectError(.invalidKey, entity: "person", key: "one") { try topics.read(Person.topics, of: ["one"]) }
            // What a transaction has written is there, and gone when it is undone.
            struct Undo: Error {}
            do {
                try database.transaction {
                    try topics.create(Topic(id: "e", owner: Person(id: 3, name: "Cy", age: 36)))
                    try check(try topics.read(Person.topics, of: [3]), [["e"]], "inside a transaction")
                    try expectEqual(try people.read { $0[Person.topics].count == 1 }.map(\.id), [2, 3], "inside a transaction")
                    throw Undo()
                }
            } catch is Undo {}
            try check(try topics.read(Person.topics, of: [3]), [[]], "undone")
            let seen = try database.snapshot { try people.read { $0[Person.topics].count > 0 }.map(\.id) }
            try expectEqual(seen, [1, 2], "in a snapshot")
        },
        ConformanceCase(
            "R.inverseEverywhere", "R12", "W5", title: "counts, pages, streams, updates and erases with the rows that refer"
        ) { context in
            let (_, people, _) = try open(context)
            let condition = Condition<Person> { $0[Person.topics].count > 0 }
            try expectEqual(try people.count(where: condition), 2)
            try expectEqual(try people.max(\.name, where: condition), "Bo")
            try expectEqual(try people.distinct(\.age, where: condition), [nil, 36])
            let page = try people.page(orderedBy: .descending(\.name), limit: 1, where: condition)
            try expectEqual(page.elements.map(\.id), [2], "the first page")
            let rest = try people.page(orderedBy: .descending(\.name), limit: 5, after: page.next, where: condition)
            try expectEqual(rest.elements.map(\.id), [1], "the second page")
            var streamed: [Int] = []
            try people.forEach(Query(where: condition)) { streamed.append($0.id) }
            try expectEqual(streamed, [1, 2], "a stream")
            try expectEqual(try people.update(where: condition) { $0.name += "!" }, 2, "updated")
            try expectEqual(try people.set(\.age, to: 1) { $0[Person.topics].count == 1 }, 1, "set")
            try expectEqual(try people.erase(where: condition), 2, "erased")
            try expectEqual(try people.read(), [Person(id: 3, name: "Cy", age: 36)])
        },
        ConformanceCase(
            concurrent: "R.inverseObserved", "R12", "O1", title: "an observation sees the rows that begin and cease to refer"
        ) { context in
            let (_, people, topics) = try open(context)
            var results = Observations.Results(people.observe { $0[Person.topics].count > 0 })
            var found = try await results.next("the first result")
            try expectEqual(found.map(\.id), [1, 2])
            try await topics.persist(Topic(id: "e", owner: Person(id: 3, name: "Cy", age: 36)))
            found = try await results.next("a result after a row refers")
            try expectEqual(found.map(\.id), [1, 2, 3])
            try await topics.erase(byPrimaryKey: "c")
            found = try await results.next("a result after a row was erased")
            try expectEqual(found.map(\.id), [1, 3])
        },
    ]
}
