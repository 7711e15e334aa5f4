import DAOCore

/// R13: rows with totals of their related rows.
enum RelationsTotals {
    /// Opens the case's database: Ada owns "a" and "b", Bo owns "c", Cy owns nothing; "a" has three posts, "c" one.
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

    private static func texts(_ rows: [(Person, Int)]) -> [String] { rows.map { "\($0.name) \($1)" } }

    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "R.totalsOfInverse", "R13", "R12", "Q11",
            title: "rows with totals of those that refer to them, also where there are none"
        ) { context in
            let (database, people, topics) = try open(context)
            try expectEqual(texts(try people.read(with: Person.topics, totals: .count)), ["Ada 2", "Bo 1", "Cy 0"])
            let totals = try people.read(
                with: Person.topics, totals: .count { $0.title > "x" }, .max(\.title), .countDistinct(\.title))
            try expectSame(totals.map { "\($0.name) \($1) \($2 ?? "nil") \($3)" }, ["Ada 2 z 2", "Bo 0 x 1", "Cy 0 nil 0"])
            let unread = try people.read(with: Person.topics, totals: .count { $0.posts.isEmpty }, .min(\.title)) { $0.age == 36 }
            try expectSame(
                unread.map { "\($0.name) \($1) \($2 ?? "nil")" }, ["Ada 1 y", "Cy 0 nil"], "a condition on related rows")
            try expectEqual(
                texts(try people.read(with: Person.topics, totals: .count, orderedBy: .descending(\.name), limit: 2)),
                ["Cy 0", "Bo 1"], "in the order of a field")
            try expectEqual(
                texts(try people.read(with: Person.topics, totals: .count, orderedByTotals: .descending(.count), limit: 1)),
                ["Ada 2"], "the first in the order of a total")
            try expectEqual(
                texts(
                    try people.read(
                        with: Person.topics, totals: .count, orderedByTotals: .ascending(.count { $0.title == "w" }),
                        orderedBy: .descending(\.name), limit: 2, having: .count > 0)),
                ["Bo 1", "Ada 2"], "equal ones in the order of a field, on a condition on totals")
            try expectEqual(
                texts(try people.read(with: Person.topics, totals: .count, having: .max(\.title) == nil)), ["Cy 0"],
                "without a value")
            try expectEqual(texts(try people.read(with: Person.topics, totals: .count) { $0.id > 9 }), [], "no rows")
            try expectEqual(texts(try people.read(with: Person.topics, totals: .count, limit: 0)), [], "none of the rows")
            try expectError(.invalidQuery, "a negative limit", entity: "person") {
                try people.read(with: Person.topics, totals: .count, limit: -1).count
            }
            try expectRollback(of: database) {
                try topics.erase(byPrimaryKey: "a")
                try expectEqual(
                    texts(try people.read(with: Person.topics, totals: .count)), ["Ada 1", "Bo 1", "Cy 0"], "in a transaction")
            }
            let errands = try database.dao(Errand.self)
            try errands.create([
                Errand(id: 1, title: "all", owner: Reference(1)),
                Errand(id: 2, title: "half", whole: Reference(1), owner: Reference(1), helper: Reference(3)),
                Errand(id: 3, title: "rest", whole: Reference(1), owner: Reference(2)),
            ])
            try expectEqual(
                texts(try people.read(with: Person.help, totals: .count)), ["Ada 0", "Bo 0", "Cy 1"], "of an optional Reference")
            let parts = try errands.read(with: Errand.parts, totals: .count { $0.title > "i" }, .max(\.id))
            try expectSame(parts.map { "\($0.id) \($1) \($2 ?? 0)" }, ["1 1 3", "2 0 0", "3 0 0"], "of their own model")
        },
        ConformanceCase(
            "R.totalsOfLists", "R13", "R12", "R1", "Q11",
            title: "rows with totals of the rows in their lists, and of the lists they are in"
        ) { context in
            let (database, _, topics) = try open(context)
            let posts = try database.dao(Post.self)
            let counts = try topics.read(with: \.posts, totals: .count)
            try expectSame(counts.map { "\($0.id) \($1)" }, ["a 3", "b 0", "c 1", "d 0"], "a row as often as it is in a list")
            let totals = try topics.read(
                with: \.posts, totals: .count { $0.isRead }, .sum(\.id), .countDistinct(\.id),
                orderedByTotals: .descending(.sum(\.id)),
                limit: 3)
            try expectSame(totals.map { "\($0.id) \($1) \($2) \($3)" }, ["a 2 5 2", "c 1 2 1", "b 0 0 0"])
            let lists = try posts.read(with: Post.topics, totals: .count, orderedByTotals: .descending(.count), limit: 1)
            try expectSame(lists.map { "\($0.id) \($1)" }, ["2 2"], "a list counts once")
            let few = try posts.read(with: Post.topics, totals: .count { $0.title == "x" }, .min(\.title)) { $0.id < 9 }
            try expectSame(few.map { "\($0.id) \($1) \($2 ?? "nil")" }, ["1 0 z", "2 1 x"])
            let read = try posts.read(with: Post.topics, totals: .count, .min(\.title))
            try expectSame(
                read.map { "\($0.id) \($1) \($2 ?? "nil")" }, ["1 1 z", "2 2 x"], "a list counts once where values are read, too")
            try topics.erase(byPrimaryKey: "a")
            let left = try posts.read(with: Post.topics, totals: .count)
            try expectSame(left.map { "\($0.id) \($1)" }, ["2 1"], "after an erase")
        },
        ConformanceCase(
            concurrent: "R.totalsOfRelatedAsync", "R13", title: "async forms give rows with totals of their related rows"
        ) { context in
            let (_, people, topics) = try open(context)
            let owners = try await people.read(with: Person.topics, totals: .count { $0.title > "x" }) { $0.age == 36 }
            try expectEqual(texts(owners), ["Ada 2", "Cy 0"])
            let lists = try await topics.read(with: \.posts, totals: .count, orderedByTotals: .descending(.count), limit: 2)
            try expectSame(lists.map { "\($0.id) \($1)" }, ["a 3", "c 1"])
        },
    ]
}
