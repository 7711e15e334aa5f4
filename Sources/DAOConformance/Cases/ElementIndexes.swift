import DAOCore
import DAOTestSupport
import Foundation

/// Q9, E2: indexes on the elements of arrays.
enum ElementIndexes {
    static let cases = queries + evolution.requiring(.evolution)

    private static let queries: [ConformanceCase] = [
        ConformanceCase(
            "Q.elementIndexes", "Q9", "P8", "Q1",
            title: "with indexes on elements, conditions, orders, pages and chosen fields answer the same", isHeavy: true
        ) { context in
            let reference = try ReferenceRows(context, Sticker.make(150))
            for condition in conditions {
                for order in orders {
                    try reference.checkReference(Query(where: condition, orderedBy: order))
                    try reference.checkReference(Query(where: condition, orderedBy: order, limit: 5, offset: 2))
                }
                let rows = try Query(where: condition).resolved().evaluate(over: reference.rows)
                try expectEqual(
                    try reference.dao.read(\.id, \.tags, where: { _ in condition }).map(\.1), rows.map(\.tags),
                    "the tags of the rows of \(condition)")
                try expectEqual(
                    try reference.dao.distinct(\.rank, where: { _ in condition }), Set(rows.map(\.rank)).sorted(),
                    "the ranks of the rows of \(condition)")
            }
        },
        ConformanceCase(
            "Q.elementIndexWrites", "Q9", "W3", "W8",
            title: "rows enter and leave an index on elements with every write, and every undone one", isHeavy: true
        ) { context in
            let database = try context.open()
            let dao = try database.dao(Sticker.self)
            let storage = try database.storage(for: Sticker.self)
            var rows = Sticker.make(120)
            try dao.create(rows)
            func check(_ what: String) throws {
                for condition in conditions {
                    let expected = try Query(where: condition).resolved().evaluate(over: rows)
                    try expectSame(try dao.read(Query(where: condition)), expected, "\(condition) after \(what)")
                    try expectEqual(
                        try dao.count(Query(where: condition)), expected.count, "the count of \(condition) after \(what)")
                }
            }
            for index in rows.indices where index % 3 == 0 { rows[index].tags.reverse() }
            for index in rows.indices where index % 4 == 0 { rows[index].tags = Array(rows[index].tags.dropFirst()) }
            for index in rows.indices where index % 5 == 0 { rows[index].marks = index % 10 == 0 ? nil : [nil, 3, 3] }
            try dao.persist(rows.filter { $0.id % 3 == 1 || $0.id % 4 == 1 || $0.id % 5 == 1 })
            try check("persist")
            _ = try storage.update(Query(where: Condition { $0.id <= 40 })) { $0.tags.append("b") }
            for index in 0..<40 { rows[index].tags.append("b") }
            try check("update")
            try dao.set(\.tags, to: ["a", Sticker.long[1], "a"]) { $0.id > 50 && $0.id <= 70 }
            for index in 50..<70 { rows[index].tags = ["a", Sticker.long[1], "a"] }
            try check("set")
            try dao.erase { $0.id > 100 }
            rows.removeLast(20)
            try check("erase")
            try expectRollback(of: database) {
                try dao.erase { $0.tags.contains("a") }
                try dao.set(\.tags, to: ["a"]) { $0.id > 30 }
            }
            try check("a transaction that was undone")
            try database.expectVerified()
        },
        ConformanceCase(
            "Q.elementIndexSorts", "Q9", "Q5", title: "rows with an element are sorted by a field of their related rows"
        ) { context in
            let database = try context.open()
            try database.dao(Sheet.self).create((1...8).map { Sheet(id: $0, title: $0 == 8 ? nil : "\($0 % 3)") })
            let rows = Sticker.make(150).map { row in
                Placed(id: row.id, tags: row.tags, sheet: row.id % 9 == 0 ? nil : Reference(row.id % 8 + 1))
            }
            let dao = try database.dao(Placed.self)
            try dao.create(rows)
            func title(_ row: Placed) -> String {
                guard let sheet = row.sheet.flatMap({ Int($0.uniqueId.rawValue) }), sheet != 8 else { return "" }
                return "\(sheet % 3)"
            }
            for tag in ["common", "a", "é", "nobody"] {
                let found = rows.filter { row in row.tags.contains { $0.utf8.elementsEqual(tag.utf8) } }
                for isAscending in [true, false] {
                    let expected = found.sorted { left, right in
                        let (first, second) = (title(left), title(right))
                        return first == second ? left.id < right.id : (first < second) == isAscending
                    }.map(\.id)
                    let order: Sort<Placed> = isAscending ? .ascending(\.sheet, \.title) : .descending(\.sheet, \.title)
                    let what = "the rows with \(tag), \(isAscending ? "ascending" : "descending")"
                    try expectEqual(try dao.read(orderedBy: order) { $0.tags.contains(tag) }.map(\.id), expected, what)
                    try expectEqual(
                        try dao.read(orderedBy: order, limit: 4, offset: 3) { $0.tags.contains(tag) }.map(\.id),
                        Array(expected.dropFirst(3).prefix(4)), "some of " + what)
                    try expectEqual(
                        try dao.read(orderedBy: order) { $0.tags.contains(tag) && $0.id > 20 }.map(\.id),
                        expected.filter { $0 > 20 }, what + " after 20")
                }
            }
        },
        ConformanceCase(
            "Q.elementIndexPlans", "Q12", "Q9", title: "a plan with an index on elements names the field of the index"
        ) {
            context in
            let stickers = try context.dao(Sticker.self)
            try stickers.create(Sticker.make(300))
            let conditions = [
                Condition<Sticker> { $0.tags.contains("a") }, Condition { $0.tags.contains("a") || $0.tags.contains("b") },
                Condition { $0.tags.contains("a") || $0.rank == 1 }, Condition { $0.rank == 1 || $0.tags.contains("a") },
                Condition { $0.tags.contains("a") || $0.marks.contains(3) },
            ]
            let indexes = [["tags"], ["marks"], ["rank", "weight"]]
            for condition in conditions {
                let plan = try stickers.storage.explain(Query(where: condition))
                guard case .index(let fields) = plan.access else { continue }
                try expect(indexes.contains(fields), "an index of the entity in: \(plan)")
            }
        },
        ConformanceCase("Q.elementIndexOfValues", "Q9", title: "an index on elements that are no scalars is invalidSchema") {
            context in
            let database = try context.open()
            for attempt in 1...2 {
                let error = try expectError(.invalidSchema, "attempt \(attempt)", entity: "heaped", field: "lists") {
                    try database.storage(for: Heaped.self)
                }
                try expect(error.message.contains("use an array of scalars"), error.message)
            }
        },
    ]

    /// Checks the rows with each tag.
    private static func checkTags<Record: Labelled>(_ reference: ReferenceRows<Record>) throws {
        for tag in Sticker.tags {
            try reference.checkReference(Condition(.embedded(field: 1, .anyElement(FieldType(.string)), equal(tag))))
        }
    }

    private static let evolution: [ConformanceCase] = [
        ConformanceCase(
            "E.elementIndexes", "E2", "Q9",
            title: "an index on elements is added to stored rows, follows a rename, and is dropped"
        ) { context in
            var database = try context.open()
            let rows = Sticker.make(90)
            try database.dao(LabelsBefore.self).create(rows.map { LabelsBefore(id: $0.id, tags: $0.tags) })
            func check<Record: Labelled>(_ type: Record.Type) throws {
                try context.renew(&database)
                let reference = ReferenceRows(try database.dao(type), rows: rows.map { Record(id: $0.id, tags: $0.tags) })
                try checkTags(reference)
                try expectEqual(try database.entities(), [type.schema.description], "the description in the catalog")
                try database.expectVerified()
            }
            try check(LabelsAfter.self)
            try check(LabelsRenamed.self)
            try check(LabelsDropped.self)
        },
        ConformanceCase(
            "E.renamesBesideElements", "E3", "Q9",
            title: "an entity with an index on elements is renamed by a step, and all rows are in it"
        ) { context in
            var database = try context.open()
            let rows = Sticker.make(30)
            try database.dao(LabelsAfter.self).create(rows.map { LabelsAfter(id: $0.id, tags: $0.tags) })
            try context.renew(&database)
            try database.evolve(
                Evolution(version: 2, migrations: [Migration(to: 2) { try $0.renameEntity("labels", to: "marks") }]))
            let reference = ReferenceRows(
                try database.dao(Marks.self), rows: rows.map { Marks(id: $0.id, tags: $0.tags) })
            try checkTags(reference)
            try database.expectVerified()
        },
        ConformanceCase("E.copiesElementIndexes", "E5", "Q9", title: "a copy has the indexes on elements") { context in
            let source = try context.open()
            let rows = Sticker.make(60)
            try source.dao(Sticker.self).create(rows)
            let target = try context.openOther()
            try source.copy(to: target)
            try expectEqual(try target.entities(), try source.entities(), "the entities")
            try target.expectVerified()
            let reference = ReferenceRows(try target.dao(Sticker.self), rows: rows)
            for condition in conditions { try reference.checkReference(condition) }
        },
        ConformanceCase(
            "E.elementsOfAnotherType", "E4", "Q9",
            title: "a migration that changes the type of an array drops the index on its elements"
        ) { context in
            let database = try context.open()
            try database.dao(LabelsAfter.self).create([LabelsAfter(id: 1, tags: ["a"])])
            try database.evolve(
                Evolution(
                    version: 2,
                    migrations: [Migration(to: 2) { try $0.changeType(of: "tags", in: "labels", to: FieldType(.string)) }]))
            try expectEqual(try database.entities().first?.indexes, [], "the indexes")
            try database.expectVerified()
        },
        ConformanceCase(
            "E.rewriteBesideElements", "E4", "Q9", title: "an entity is rewritten beside another one with an index on elements"
        ) { context in
            let database = try context.open()
            let labels = try database.dao(LabelsAfter.self)
            try labels.create([LabelsAfter(id: 1, tags: ["a"]), LabelsAfter(id: 2, tags: ["b"])])
            try database.dao(Short.self).create([Short(id: 1, place: 7)])
            try database.evolve(
                Evolution(version: 2, migrations: [Migration(to: 2) { try $0.changeKey(of: "_", to: "place") }]))
            try expectEqual(try database.rows(of: "_").read().map { $0["place"] }, [.integer(7)], "the rows")
            try expectEqual(try database.dao(LabelsAfter.self).read { $0.tags.contains("b") }.map(\.id), [2])
            try database.expectVerified()
        },
    ]

    private static func equal(_ text: String) -> PredicateNode { .compare(field: 0, .equal, .string(text)) }

    private static let conditions = Sticker.tags.map { tag in Condition<Sticker> { $0.tags.contains(tag) } } + served + others

    /// Conditions that an index serves, and some that look as if it did.
    private static let served: [Condition<Sticker>] = [
        Condition { $0.tags.contains("a") && $0.tags.contains("b") }, Condition { $0.tags.contains("a") && $0.rank == 2 },
        Condition { $0.tags.contains("a") && $0.rank >= 1 && $0.rank <= 2 },
        Condition { $0.tags.contains("a") || $0.tags.contains("b") }, Condition { $0.tags.contains("a") && $0.id < 40 },
    ]

    /// Conditions on elements with several values, or with none.
    private static let others: [Condition<Sticker>] = [
        Condition { !$0.tags.contains("a") }, Condition { $0.tags.contains { $0.in(["a"]) } },
        Condition { $0.tags.contains { $0.in(["a", "b", "none"]) } }, Condition { $0.tags.contains { $0 >= "a" } },
        Condition { $0.tags.contains { $0 == "a" || $0 == "b" } }, Condition { $0.tags.contains { $0.hasPrefix("common") } },
        Condition { $0.tags.contains { $0 == "a" && $0 == "b" } }, Condition { $0.tags.allSatisfy { $0 == "a" } },
        Condition { $0.tags.count == 2 && $0.tags.contains("a") }, Condition { $0.tags.contains("none") },
        Condition { $0.marks.contains(nil) }, Condition { $0.marks.contains(3) }, Condition { $0.marks.contains { $0 > 2 } },
        Condition { $0.marks.contains(.min) && $0.tags.contains("a") }, Condition { $0.marks == nil },
        Condition { $0.marks.contains { $0 == nil } && $0.marks.contains(3) }, .all,
    ]

    private static let orders: [[Sort<Sticker>]] = [
        [], [.descending(\.id)], [.ascending(\.rank)], [.ascending(\.rank), .descending(\.weight)], [.descending(\.weight)],
    ]
}

/// A model with indexes on the elements of arrays.
private struct Sticker: Numbered {
    var id: Int
    var tags: [String]
    var marks: [Int?]?
    var rank: Int
    var weight: Double?

    static let schema = Schema(
        "sticker", Self.init,
        Field("id", \.id, .primaryKey), Field("tags", \.tags), Field("marks", \.marks), Field("rank", \.rank),
        Field("weight", \.weight),
        indexes: [
            Index(elements: \.tags), Index(elements: \.marks), Index(orderedBy: .ascending(\.rank), .descending(\.weight)),
        ])

    /// Two texts that differ after more bytes than a key has.
    static let long = ["x", "y"].map { String(repeating: "long", count: 150) + $0 }
    static let tags = ["", "a", "b", "common", "common ", "a\0b", "it's", "\"[1]\"", "é", "e\u{301}"] + long

    /// Returns labels 1 to a count. Most have "common", some have a tag twice, and some have none.
    static func make(_ count: Int) -> [Sticker] {
        var random = SeededGenerator(seed: 11)
        let weights: [Double?] = [nil, 1, 2]
        let marks: [Int?] = [nil, .min, 0, 3, .max]
        return (1...count).map { id in
            var tags = (0..<random.below(5)).map { _ in random.pick(Self.tags) }
            if random.chance(80) { tags.append("common") }
            return Sticker(
                id: id, tags: tags, marks: random.chance(20) ? nil : (0..<random.below(4)).map { _ in random.pick(marks) },
                rank: random.below(4), weight: random.pick(weights))
        }
    }
}

/// A model with an index on the elements of an array, and related rows.
private struct Placed: Numbered {
    var id: Int
    var tags: [String]
    var sheet: Reference<Sheet>?

    static let schema = Schema(
        "placed", Self.init, Field("id", \.id, .primaryKey), Field("tags", \.tags), Field("sheet", \.sheet),
        indexes: [Index(elements: \.tags)])
}

private struct Sheet: Numbered {
    var id: Int
    var title: String?

    static let schema = Schema("sheet", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .indexed))
}

/// A version of a model with tags.
private protocol Labelled: Numbered {
    init(id: Int, tags: [String])
}

/// Without an index.
private struct LabelsBefore: Labelled {
    var id: Int
    var tags: [String]

    static let schema = Schema("labels", Self.init(id:tags:), Field("id", \.id, .primaryKey), Field("tags", \.tags))
}

/// With an index on the elements.
private struct LabelsAfter: Labelled {
    var id: Int
    var tags: [String]

    static let schema = Schema(
        "labels", Self.init(id:tags:), Field("id", \.id, .primaryKey), Field("tags", \.tags), indexes: [Index(elements: \.tags)])
}

/// The same rows in an entity of another name.
private struct Marks: Labelled {
    var id: Int
    var tags: [String]

    static let schema = Schema(
        "marks", Self.init(id:tags:), Field("id", \.id, .primaryKey), Field("tags", \.tags), indexes: [Index(elements: \.tags)])
}

/// With another name of the array.
private struct LabelsRenamed: Labelled {
    var id: Int
    var tags: [String]

    static let schema = Schema(
        "labels", Self.init(id:tags:), Field("id", \.id, .primaryKey), Field("words", \.tags, .renamed(from: "tags")),
        indexes: [Index(elements: \.tags)])
}

/// Without the index again.
private struct LabelsDropped: Labelled {
    var id: Int
    var tags: [String]

    static let schema = Schema("labels", Self.init(id:tags:), Field("id", \.id, .primaryKey), Field("words", \.tags))
}

/// An entity whose name is in most texts.
private struct Short: Numbered {
    var id: Int
    var place: Int

    static let schema = Schema("_", Self.init, Field("id", \.id, .primaryKey), Field("place", \.place))
}

/// With an index on elements that are arrays.
private struct Heaped: Numbered {
    var id: Int
    var lists: [[Int]]

    static let schema = Schema(
        "heaped", Self.init, Field("id", \.id, .primaryKey), Field("lists", \.lists), indexes: [Index(elements: \.lists)])
}
