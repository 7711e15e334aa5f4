import DAOCore
import Foundation

/// Q13: the place of nil, text without case, and conditions in a sort.
enum QueriesSorts {
    static let cases: [ConformanceCase] = nils + folded + conditions + everywhere + related

    /// Orders of every kind, by themselves and one after the other.
    private static let orders: [[Sort<Chore>]] = [
        [.ascending(\.dueDate, nils: .last)], [.descending(\.dueDate, nils: .first)], [.ascending(\.rank, nils: .last)],
        [.descending(\.rank, nils: .first), .descending(\.id)], [.ascending(\.note, nils: .last)],
        [.ascending(\.title, .caseInsensitive)], [.descending(\.title, [.caseInsensitive, .diacriticInsensitive])],
        [.ascending(\.note, .diacriticInsensitive, nils: .last)], [.descending(\.note, .caseInsensitive, nils: .first)],
        [.ascending(\.group, .caseInsensitive), .descending(\.dueDate)], [.last { $0.isDone }], [.first { $0.isDone }],
        [.last { $0.isDone }, .ascending(\.dueDate, nils: .last)],
        [.first { $0.dueDate > 1 }, .descending(\.rank, nils: .first)],
        [.ascending(\.rank), .last { $0.isDone }], [.first { $0.title.contains("A", .caseInsensitive) }, .ascending(\.title)],
        [.last { $0.isDone }, .first { $0.note == nil }, .ascending(\.title, .caseInsensitive), .descending(\.dueDate)],
        [.ascending(\.group, .caseInsensitive), .last { $0.title.hasSuffix("E", [.caseInsensitive, .diacriticInsensitive]) }],
        [.last { $0.dueDate == nil && !$0.isDone || $0.rank == 1 }, .ascending(\.dueDate)],
        [.last { $0.id > 0 }, .first { $0.id < 0 }, .descending(\.dueDate, nils: .first)],
        [.ascending(\.dueDate, nils: .last), .ascending(\.dueDate), .descending(\.note, nils: .first)],
        // One field, exactly and without case.
        [.ascending(\.note, nils: .last), .descending(\.note, .caseInsensitive)],
        [.descending(\.note, nils: .first), .ascending(\.note, .diacriticInsensitive), .descending(\.rank)],
        [.last { $0.isDone }, .ascending(\.note, .caseInsensitive), .descending(\.note, nils: .first)],
    ]

    private static let nils: [ConformanceCase] = [
        ConformanceCase(
            "Q.nilByChoice", "Q13", "Q2", title: "nil comes first or last, in both directions, with and without an index"
        ) { context in
            let dao = try context.dao(Probe.self)
            let values: [Int?] = [2, nil, 1, nil, 3]
            try dao.create(values.enumerated().map { Probe(id: $0 + 1, number: $1, numberIndexed: $1) })
            func check(_ order: Sort<Probe>, _ expected: [Int]) throws {
                for limit in [nil, 5, 4, 3, 1] as [Int?] {
                    try expectEqual(
                        try dao.read(orderedBy: order, limit: limit).map(\.id), Array(expected.prefix(limit ?? 5)),
                        "by \(order), with a limit of \(limit ?? 0)")
                }
                try expectEqual(
                    try dao.read(orderedBy: order, limit: 3, offset: 2).map(\.id), Array(expected.dropFirst(2)), "from the third")
                try expectEqual(try dao.first(orderedBy: order)?.id, expected[0], "the first by \(order)")
            }
            for field in ["number", "numberIndexed"] {
                try check(.by(field, nils: .last), [3, 1, 5, 2, 4])
                try check(.by(field, nils: .first), [2, 4, 3, 1, 5])
                try check(.by(field, ascending: false, nils: .first), [2, 4, 5, 1, 3])
                try check(.by(field, ascending: false, nils: .last), [5, 1, 3, 2, 4])
            }
            try check(.ascending(\.numberIndexed, nils: .last), [3, 1, 5, 2, 4])
            try check(.descending(\.number, nils: .first), [2, 4, 5, 1, 3])
            // A field that is never nil.
            try check(.descending(\.id, nils: .first), [5, 4, 3, 2, 1])
        },
        ConformanceCase(
            "Q.nilByChoiceOfKinds", "Q13", "Q2", "Q9", title: "nil by choice in fields of every kind, in indexes and beside them"
        ) { context in
            let reference = try ReferenceRows(context, Probe.random(80, seed: 5))
            let fields = ["numberIndexed", "textIndexed", "text", "realIndexed", "real", "small", "big", "amount", "other"]
            for field in fields {
                for isAscending in [true, false] {
                    for limit in [nil, 7] as [Int?] {
                        let nils: NilPlacement = isAscending ? .last : .first
                        let order: [Sort<Probe>] = [.by(field, ascending: isAscending, nils: nils)]
                        for order in [
                            order, order + [.descending(\.other, nils: .first), .ascending(\.text)], [.last { $0.flag }] + order,
                        ] {
                            try reference.checkReference(Query(orderedBy: order, limit: limit), "\(order)")
                            try reference.checkReference(
                                Query(
                                    where: Condition { $0.numberIndexed > -5 && $0.flag }, orderedBy: order, limit: limit,
                                    offset: 2),
                                "\(order)")
                        }
                    }
                }
            }
        },
    ]

    private static let folded: [ConformanceCase] = [
        ConformanceCase(
            "Q.sortWithoutCase", "Q13", "P2", title: "text sorts without case or diacritics, by the bytes of the folded text"
        ) { context in
            let texts = ["b", "A", "a", "B", "Straße", "STRASSE", "strasse", "é", "E\u{301}", "e", "f", nil, "", "İ", "i"]
            let dao = try context.dao(Probe.self)
            try dao.create(Probe.texts(texts))
            func check(_ order: Sort<Probe>..., expected: [Int]) throws {
                try expectEqual(try dao.read(Query(orderedBy: order)).map(\.id), expected, "by \(order)")
                try expectEqual(
                    try dao.read(Query(orderedBy: order, limit: 4, offset: 3)).map(\.id), Array(expected.dropFirst(3).prefix(4)),
                    "a window by \(order)")
                try expectEqual(
                    try dao.storage.keys(Query(orderedBy: order)).map(\.value), expected.map { Value.integer(Int64($0)) })
            }
            // Decomposed, é is e and a mark. Of equal texts, the exact one decides.
            let ascending = [12, 13, 2, 3, 4, 1, 10, 9, 8, 11, 15, 14, 6, 5, 7]
            for name in Probe.texts {
                try check(.by(name, .caseInsensitive), expected: ascending)
                try check(.by(name, ascending: false, .caseInsensitive), expected: ascending.reversed())
                try check(.by(name, .caseInsensitive, nils: .last), expected: Array(ascending.dropFirst()) + [12])
                // Equal texts are in the order of the next term.
                try check(
                    .by(name, .caseInsensitive), .descending(\.id), expected: [12, 13, 3, 2, 4, 1, 10, 9, 8, 11, 15, 14, 7, 6, 5])
                try check(
                    .by(name, [.caseInsensitive, .diacriticInsensitive]), .ascending(\.id),
                    expected: [12, 13, 2, 3, 1, 4, 8, 9, 10, 11, 14, 15, 5, 6, 7])
                try check(.by(name, .diacriticInsensitive), expected: [12, 13, 2, 4, 9, 14, 6, 5, 3, 1, 10, 8, 11, 15, 7])
            }
            try check(.ascending(\.text, .caseInsensitive), expected: ascending)
            try check(
                .descending(\.textIndexed, .caseInsensitive, nils: .first), expected: [12] + ascending.reversed().dropLast())
            try expectError(.invalidPredicate, "a number", entity: "probe", field: "number") {
                try dao.read(orderedBy: .by("number", .caseInsensitive))
            }
            try expectError(.invalidPredicate, "no field", entity: "probe", field: "nothing") {
                try dao.read(orderedBy: .by("nothing", .caseInsensitive))
            }
        },
        ConformanceCase(
            "Q.sortKeysWithoutCase", "Q13", "K2", title: "text keys and URLs sort without case, and stay what they are"
        ) { context in
            let dao = try context.dao(Shelved.self)
            try dao.create(["b", "A", "a", "B", "\u{301}", "c"].enumerated().map { Shelved(id: $1, shelf: $0) })
            try expectEqual(
                try dao.read(orderedBy: .ascending(\.id, .caseInsensitive)).map(\.id), ["A", "a", "B", "b", "c", "\u{301}"])
            try expectEqual(
                try dao.read(orderedBy: .descending(\.id, .diacriticInsensitive), limit: 3).map(\.id), ["c", "b", "a"])
            let urls = ["https://b.example/", "HTTPS://A.example/", "https://a.example/x"].compactMap { URL(string: $0) }
            let scalars = try context.dao(OptionalScalars.self)
            try scalars.create(urls.enumerated().map { OptionalScalars(id: $0 + 1, url: $1) } + [OptionalScalars(id: 4)])
            try expectEqual(
                try scalars.read(orderedBy: .ascending(\.url, .caseInsensitive, nils: .last)).map(\.id), [2, 3, 1, 4])
        },
    ]

    private static let conditions: [ConformanceCase] = [
        ConformanceCase(
            "Q.sortByCondition", "Q13", "P1",
            title: "the rows that meet a condition come first, or last; nil meets what it meets in a query"
        ) { context in
            let dao = try context.dao(Chore.self)
            try dao.create([
                Chore(id: 1, title: "b", dueDate: 5, isDone: true), Chore(id: 2, title: "a"),
                Chore(id: 3, title: "c", dueDate: 1),
                Chore(id: 4, title: "A", dueDate: nil, isDone: true), Chore(id: 5, title: "d", dueDate: 9),
            ])
            func check(_ order: Sort<Chore>..., expected: [Int]) throws {
                for limit in [nil, 5, 3, 2, 1] as [Int?] {
                    try expectEqual(
                        try dao.read(Query(orderedBy: order, limit: limit)).map(\.id), Array(expected.prefix(limit ?? 5)),
                        "by \(order), with a limit of \(limit ?? 0)")
                }
                try expectEqual(try dao.read(Query(orderedBy: order, limit: 2, offset: 2)).map(\.id), Array(expected[2..<4]))
                try expectEqual(try dao.read(Query(orderedBy: order, limit: 9, offset: 4)).map(\.id), Array(expected[4...]))
            }
            try check(.last { $0.isDone }, expected: [2, 3, 5, 1, 4])
            try check(.first { $0.isDone }, expected: [1, 4, 2, 3, 5])
            try check(.last { $0.isDone }, .ascending(\.dueDate, nils: .last), expected: [3, 5, 2, 1, 4])
            try check(.first { $0.dueDate > 1 }, .descending(\.title), expected: [5, 1, 3, 2, 4])
            try check(.last { !($0.dueDate > 1) }, .descending(\.title), expected: [5, 1, 3, 2, 4])
            try check(.first { $0.title.contains("A", .caseInsensitive) }, .descending(\.id), expected: [4, 2, 5, 3, 1])
            try check(.descending(\.isDone), .first { $0.dueDate == nil }, expected: [4, 1, 2, 3, 5])
            try check(.last(Condition("isDone == true")), .first(Condition("title == %@", "c")), expected: [3, 2, 5, 1, 4])
            // Every row meets it, or none; and the same condition again.
            try check(.last { $0.id > 0 }, .descending(\.id), expected: [5, 4, 3, 2, 1])
            try check(.first(.none), .descending(\.id), expected: [5, 4, 3, 2, 1])
            try check(.last { $0.isDone }, .first { $0.isDone }, .descending(\.id), expected: [5, 3, 2, 4, 1])
            try expectError(.invalidPredicate, "an unknown field", entity: "chore", field: "size") {
                try dao.read(orderedBy: .last(Condition("size > 1")))
            }
        }
    ]

    private static let members: [Condition<Household>] = [
        Condition { $0.address.code == nil }, Condition { $0.address.price == nil }, Condition { $0.address.moved == nil },
        Condition { $0.address.code != nil }, Condition { $0.perhaps.code == nil }, Condition { $0.perhaps.code == 1 },
        Condition { $0.address.code == 1 }, Condition { $0.address.price == 1 }, Condition { $0.address.town == "a" },
        Condition { $0.perhaps.town == "a" }, Condition { $0.perhaps.town != "a" }, Condition { $0.perhaps.town == "b" },
    ]
    private static let elements: [Condition<Household>] = [
        Condition { $0.address.tags.contains("a") }, Condition { $0.perhaps.tags.contains("a") },
        Condition { $0.perhaps.tags.contains("b") }, Condition { $0.address.tags.count == 1 },
        Condition { $0.address.tags.count == 2 }, Condition { $0.address.tags.isEmpty }, Condition { $0.perhaps.tags.isEmpty },
        Condition { $0.address.tags.contains { $0.hasPrefix("a") } },
        Condition { $0.address.tags.allSatisfy { $0.hasPrefix("a") } },
    ]

    private static let relatedConditions: [Condition<Errand>] = [
        Condition { $0.owner.name == "a" }, Condition { $0.helper.name == "a" }, Condition { $0.owner.name == "b" },
        Condition { $0.owner.age == 1 }, Condition { $0.owner.age > 1 }, Condition { $0.helper.age == nil },
        Condition { $0.owner.age == nil }, Condition { $0.owner == Reference(1) }, Condition { $0.helper == Reference(1) },
        Condition { $0.whole.owner.name == "a" }, Condition { $0.whole.helper.name == "a" },
        Condition { $0.owner.name == $0.title.optional }, Condition { $0.helper.name == $0.title.optional },
        Condition { $0.owner.name != $0.title.optional }, Condition { $0[Errand.parts].isEmpty },
        Condition { $0[Errand.parts].count > 1 }, Condition { $0[Errand.parts].count > 2 },
        Condition { $0[Errand.parts].contains { $0.title == "a" } },
        Condition { $0[Errand.parts].allSatisfy { $0.title == "a" } },
        Condition { $0[Errand.parts].contains { $0.owner.name == "a" } },
    ]

    /// Fails unless the cursor of an order by each of these conditions goes on in that order, and is refused by all others.
    private static func expectOwnCursors<Record: Model & Plain>(_ dao: DAO<Record>, _ conditions: [Condition<Record>]) throws {
        let entity = Record.schema.description.name
        for (number, condition) in conditions.enumerated() {
            let cursor = try require(try dao.page(orderedBy: .first(condition), limit: 1).next, "a cursor")
            for (other, another) in conditions.enumerated() {
                if number == other {
                    let rest = try dao.page(orderedBy: .first(another), limit: 9, after: cursor).elements.count
                    try expectEqual(rest, 2, "the rows after the cursor of \(condition)")
                } else {
                    try expectError(.invalidQuery, "the cursor of \(condition) with \(another)", entity: entity) {
                        try dao.page(orderedBy: .first(another), limit: 9, after: cursor)
                    }
                }
            }
        }
    }

    private static let everywhere: [ConformanceCase] = [
        ConformanceCase(
            "Q.sortsOfEveryKind", "Q13", "P7", "Q9", title: "sorts of every kind, together, under limits and with conditions"
        ) { context in
            let reference = try ReferenceRows(context, Chore.make(60))
            let conditions: [Condition<Chore>] = [
                .all, Condition { !$0.isDone }, Condition { $0.dueDate > 1 || $0.group == "home" },
            ]
            for order in orders {
                for condition in conditions {
                    for (limit, offset) in [(nil, 0), (7, 0), (5, 20), (1, 0), (100, 3)] as [(Int?, Int)] {
                        let query = Query(where: condition, orderedBy: order, limit: limit, offset: offset)
                        try reference.checkReference(query, "\(query)")
                    }
                }
            }
        },
        ConformanceCase(
            "Q.pagesOfEverySort", "Q13", "Q5", title: "pages of sorts of every kind give all rows once, while others come and go"
        ) { context in
            let reference = try ReferenceRows(context, Chore.make(40))
            let dao = reference.dao
            for order in orders {
                let whole = try reference.ids(Query(orderedBy: order))
                for limit in [1, 6, 40, 41] {
                    var found: [Int] = []
                    var query = Query(orderedBy: order)
                    repeat {
                        let page = try dao.page(query, limit: limit)
                        found += page.elements.map(\.id)
                        // A cursor that was sent as text.
                        query.after = try page.next.map {
                            try JSONDecoder().decode(PageCursor.self, from: JSONEncoder().encode($0))
                        }
                        try expect(found.count <= 400, "the pages to end")
                        guard limit == 6 else { continue }
                        if found.count % 12 == 0 {
                            try dao.erase(where: { $0.id > 40 })
                        } else {
                            try dao.persist(Chore.make(60).suffix(20).map { $0 })
                        }
                    } while query.after != nil
                    try expectEqual(found.filter { $0 <= 40 }, whole, "the pages of \(limit) by \(order)")
                    try dao.erase(where: { $0.id > 40 })
                }
            }
        },
        ConformanceCase(
            "Q.cursorsOfSorts", "Q13", "Q5", title: "the cursor of an order is refused by every other one"
        ) { context in
            let dao = try context.dao(Chore.self)
            try dao.create(Chore.make(10))
            let orders: [[Sort<Chore>]] = [
                [.ascending(\.title)], [.ascending(\.title, .caseInsensitive)], [.ascending(\.title, .diacriticInsensitive)],
                [.ascending(\.title, [.caseInsensitive, .diacriticInsensitive])], [.descending(\.title, .caseInsensitive)],
                [.ascending(\.note)], [.ascending(\.note, nils: .last)], [.descending(\.note)],
                [.descending(\.note, nils: .first)],
                [.ascending(\.note, .caseInsensitive, nils: .last)], [.last { $0.isDone }], [.first { $0.isDone }],
                [.last { $0.dueDate > 1 }], [.last { $0.dueDate > 2 }], [.last { $0.rank > 1 }], [.last { $0.dueDate >= 1 }],
                [.last { $0.title.contains("a") }], [.last { $0.title.contains("a", .caseInsensitive) }],
                [.last { $0.title.contains("b") }], [.last { $0.title.hasPrefix("a") }], [.last { $0.dueDate.in([1, 2]) }],
                [.last { $0.dueDate.in([1, 3]) }], [.last { $0.note == nil }], [.last { $0.note == nil && $0.isDone }],
                [.last { $0.note == nil || $0.isDone }], [.last { $0.isDone }, .ascending(\.title)], [],
            ]
            for (number, order) in orders.enumerated() {
                let cursor = try dao.page(Query(orderedBy: order), limit: 3).next
                for (other, others) in orders.enumerated() {
                    let next = try? dao.page(Query(orderedBy: others, after: cursor), limit: 10).elements.count
                    try expectEqual(next, number == other ? 7 : nil, "the cursor of \(order) with \(others)")
                    if number == other { continue }
                    try expectError(.invalidQuery, "the cursor of another order", entity: "chore") {
                        try dao.page(Query(orderedBy: others, after: cursor), limit: 2)
                    }
                }
            }
        },
        ConformanceCase(
            "Q.cursorsOfConditions", "Q13", "P8", "P9", "P10",
            title: "the cursor of an order by a condition is none of an order by another, whatever part of it differs"
        ) { context in
            let dao = try context.dao(Household.self)
            let rows = [1, 2, 3].map {
                Household(id: $0, address: Postal(town: "a"), perhaps: $0 == 2 ? nil : Postal(town: "b"))
            }
            try dao.create(rows)
            try expectOwnCursors(dao, members + elements)
        },
        ConformanceCase(
            "Q.cursorsOfRelatedConditions", "Q13", "P5", "P10",
            title: "the cursor of an order by a condition on related rows is none of an order by one on others"
        ) { context in
            let (database, errands) = try context.open(with: Errand.self)
            try database.dao(Person.self).create([Person(id: 1, name: "a"), Person(id: 2, name: "b")])
            try errands.create((1...3).map { Errand(id: $0, owner: Reference(1), helper: $0 == 2 ? nil : Reference(2)) })
            try expectOwnCursors(errands, relatedConditions)
        },
        ConformanceCase(
            "Q.sortedGroupsAndStreams", "Q13", "Q6", "Q10", "Q11",
            title: "streams, keys, tuples and the first rows of groups have sorts of every kind"
        ) { context in
            let reference = try ReferenceRows(context, Chore.make(30))
            let dao = reference.dao
            for order in orders {
                let rows = try Query(orderedBy: order).resolved().evaluate(over: reference.rows)
                var streamed: [Chore] = []
                try dao.forEach(Query(orderedBy: order)) { streamed.append($0) }
                try expectSame(streamed, rows, "the stream by \(order)")
                streamed = []
                try dao.forEach(Query(orderedBy: order, limit: 9)) { streamed.append($0) }
                try expectSame(streamed, Array(rows.prefix(9)), "nine rows of the stream by \(order)")
                var values: [Value] = []
                try dao.storage.readFields([0], Query(orderedBy: order, limit: 11, offset: 1)) {
                    values.append(try $0.readValue(at: 0))
                }
                try expectEqual(values, rows.dropFirst().prefix(11).map { .integer(Int64($0.id)) }, "a field by \(order)")
                for first in order.prefix(1) {
                    let groups = try dao.groups(by: \.group, first: 2, orderedBy: first)
                    let sorted = try Query(orderedBy: [first]).resolved().evaluate(over: reference.rows)
                    let expected = ["Home", "home", "work"].map { group in sorted.filter { $0.group == group }.prefix(2).map(\.id)
                    }
                    try expectEqual(groups.map { $0.1.map(\.id) }, expected, "the first rows of groups by \(first)")
                }
            }
        },
        ConformanceCase(
            concurrent: "O.sorted", "O1", "Q13", title: "an observation gives a new value when a row moves in any sort"
        ) { context in
            let dao = try context.dao(Chore.self)
            let rows = [Chore(id: 1, title: "b", dueDate: 1), Chore(id: 2, title: "C", dueDate: 2), Chore(id: 3, title: "a")]
            try await dao.create(rows)
            var iterator = dao.observe(
                orderedBy: .last { $0.isDone }, .ascending(\.dueDate, nils: .last), .ascending(\.title, .caseInsensitive),
                limit: 3
            ).makeAsyncIterator()
            func next() async throws -> [Int] {
                let rows = try await iterator.next()
                return try require(rows, "a value").map(\.id)
            }
            var ids = try await next()
            try expectEqual(ids, [1, 2, 3], "at first")
            try await dao.set(\.isDone, to: true) { $0.id == 1 }
            ids = try await next()
            try expectEqual(ids, [2, 3, 1], "after one is done")
            try await dao.set(\.dueDate, to: nil) { $0.id == 2 }
            ids = try await next()
            try expectEqual(ids, [3, 2, 1], "without a date, by title without case")
        },
        ConformanceCase(
            "E.sortedRows", "E8", "Q13", title: "rows without types have sorts of every kind", requires: [.snapshotReads]
        ) { context in
            let (database, dao) = try context.open(with: Chore.self)
            try dao.create(Chore.make(30))
            let rows = try database.rows(of: "chore")
            let orders: [([Sort<Chore>], [RowQuery.Order])] = [
                ([.ascending(\.dueDate, nils: .last)], [.ascending("dueDate", nils: .last)]),
                ([.descending(\.note, .caseInsensitive, nils: .first)], [.descending("note", .caseInsensitive, nils: .first)]),
                (
                    [.last { $0.isDone }, .first { $0.title == "a" }, .descending(\.title, .diacriticInsensitive)],
                    [
                        .last("isDone == true"), .first(TextPredicate("title == %@", "a")),
                        .descending("title", .diacriticInsensitive),
                    ]
                ),
            ]
            for (typed, untyped) in orders {
                let expected = try dao.read(Query(orderedBy: typed)).map(\.id)
                func keys(_ rows: [EntityRow]) -> [Int] { rows.compactMap { Int($0.key.rawValue) } }
                try expectEqual(keys(try rows.read(RowQuery(orderedBy: untyped))), expected, "rows by \(typed)")
                try expectEqual(
                    keys(try rows.read(RowQuery(orderedBy: untyped, limit: 8, offset: 2))), Array(expected.dropFirst(2).prefix(8))
                )
                let first = try rows.page(RowQuery(orderedBy: untyped), limit: 12)
                let second = try rows.page(RowQuery(orderedBy: untyped, after: first.next), limit: 30)
                try expectEqual(keys(first.elements + second.elements), expected, "pages by \(typed)")
            }
        },
    ]

    private static let related: [ConformanceCase] = [
        ConformanceCase(
            "Q.sortsThrough", "Q13", "P5", title: "a field of the related row sorts with nil by choice and without case"
        ) { context in
            let topics = try context.dao(Topic.self)
            let people = [
                Person(id: 1, name: "ben", age: 9), Person(id: 2, name: "Ada"), Person(id: 3, name: "ADA", age: 3),
                Person(id: 4, name: "Cid", age: 5),
            ]
            let owners: [Int?] = [4, nil, 2, 3, 1, nil, 3, 2]
            let rows = owners.enumerated().map { number, owner in
                Topic(id: "\(number)", title: "\(number % 2)", owner: owner.map { people[$0 - 1] })
            }
            try topics.create(rows)
            func check(_ order: Sort<Topic>..., expected: [Int]) throws {
                let expected = expected.map { "\($0)" }
                for (limit, offset) in [(nil, 0), (8, 0), (3, 0), (1, 0), (2, 5), (9, 1)] as [(Int?, Int)] {
                    let window = Array(expected.dropFirst(offset).prefix(limit ?? 8))
                    try expectEqual(
                        try topics.read(Query(orderedBy: order, limit: limit, offset: offset)).map(\.id), window, "by \(order)")
                    try expectEqual(
                        try topics.storage.keys(Query(orderedBy: order, limit: limit, offset: offset)).map {
                            UniqueID($0).rawValue
                        },
                        window, "the keys by \(order)")
                }
                for limit in [1, 3, 8] {
                    var found: [String] = []
                    var query = Query(orderedBy: order)
                    repeat {
                        let page = try topics.page(query, limit: limit)
                        found += page.elements.map(\.id)
                        query.after = page.next
                        try expect(found.count <= 8, "the pages to end")
                    } while query.after != nil
                    try expectEqual(found, expected, "pages of \(limit) by \(order)")
                }
                var streamed: [String] = []
                try topics.forEach(Query(orderedBy: order)) { streamed.append($0.id) }
                try expectEqual(streamed, expected, "the stream by \(order)")
            }
            try check(.ascending(\.owner, \.name, nils: .last), expected: [3, 6, 2, 7, 0, 4, 1, 5])
            try check(.descending(\.owner, \.name, nils: .first), expected: [1, 5, 4, 0, 2, 7, 3, 6])
            try check(.ascending(\.owner, \.age, nils: .last), expected: [3, 6, 0, 4, 1, 2, 5, 7])
            try check(.descending(\.owner, \.age, nils: .first), .descending(\.id), expected: [7, 5, 2, 1, 4, 0, 6, 3])
            try check(.ascending(\.owner, \.name, .caseInsensitive), expected: [1, 5, 3, 6, 2, 7, 4, 0])
            try check(
                .ascending(\.owner, \.name, .caseInsensitive, nils: .last), .ascending(\.id), expected: [2, 3, 6, 7, 4, 0, 1, 5])
            try check(.by("owner.name", ascending: false, .caseInsensitive, nils: .first), expected: [1, 5, 0, 4, 2, 7, 3, 6])
            try check(.last { $0.title == "1" }, .ascending(\.owner, \.name, nils: .last), expected: [6, 2, 0, 4, 3, 7, 1, 5])
            // Conditions on the related row.
            try check(.first { $0.owner.age > 4 }, expected: [0, 4, 1, 2, 3, 5, 6, 7])
            try check(.last { $0.owner == nil }, .descending(\.title), expected: [3, 7, 0, 2, 4, 6, 1, 5])
            try check(.descending(\.title), .last { $0.owner.name == "ADA" }, expected: [1, 5, 7, 3, 0, 2, 4, 6])
            try check(
                .last { $0.owner.age > 4 }, .first { $0.owner.age == 3 }, .descending(\.id), expected: [6, 3, 7, 5, 2, 1, 4, 0])
            try expectError(.invalidPredicate, "a number", entity: "topic", field: "owner.age") {
                try topics.read(orderedBy: .by("owner.age", .caseInsensitive))
            }
            let cursor = try topics.page(orderedBy: .ascending(\.owner, \.name, nils: .last), limit: 2).next
            for order: Sort<Topic> in [.ascending(\.owner, \.name), .ascending(\.owner, \.name, .caseInsensitive, nils: .last)] {
                try expectError(.invalidQuery, "the cursor of another order", entity: "topic") {
                    try topics.page(orderedBy: order, limit: 2, after: cursor)
                }
            }
        },
        ConformanceCase(
            "Q.sortsOfOneRelatedRow", "Q13", "P5", "Q5", "R9",
            title: "terms on several fields of one related row, and of several related rows, decide in turn"
        ) { context in
            let (database, errands) = try context.open(with: Errand.self)
            let people = (0..<6).map { Person(id: $0 + 1, name: ["b", "a", "c"][$0 % 3], age: $0 % 4 == 0 ? nil : $0 / 2) }
            try database.dao(Person.self).create(people)
            let rows = (1...18).map { id in
                Errand(
                    id: id, title: "\(id % 2)", owner: Reference(id * 5 % 6 + 1),
                    helper: id % 5 == 0 ? nil : Reference(id * 7 % 6 + 1))
            }
            try errands.create(rows)
            func owner(_ row: Errand) -> Person? { people.first { Reference($0.id) == row.owner } }
            func helper(_ row: Errand) -> Person? { people.first { Reference($0.id) == row.helper } }
            // Each term with a number that is as its value is: nil is less than all.
            func letter(_ name: String?) -> Int { ["a", "b", "c"].firstIndex { $0 == name } ?? -1 }
            let terms: [(Sort<Errand>, (Errand) -> Int)] = [
                (.ascending(\.owner, \.name), { letter(owner($0)?.name) }),
                (.descending(\.owner, \.age), { -(owner($0)?.age ?? -1) }),
                (.ascending(\.helper, \.name), { letter(helper($0)?.name) }),
                (.ascending(\.helper, \.age), { helper($0)?.age ?? -1 }),
                (.descending(\.helper, \.id), { -(helper($0)?.id ?? -1) }),
                (.ascending(\.title), { $0.title == "0" ? 0 : 1 }),
                (.last { $0.owner.age > 1 }, { (owner($0)?.age ?? 0) > 1 ? 1 : 0 }),
            ]
            for first in terms.indices {
                for second in terms.indices where second != first {
                    for third in [first, (first + second) % terms.count] {
                        // A term that repeats an earlier one decides nothing.
                        let chosen = [terms[first], terms[second], terms[third]]
                        let expected = rows.sorted { left, right in
                            for (_, number) in chosen where number(left) != number(right) { return number(left) < number(right) }
                            return left.id < right.id
                        }.map(\.id)
                        let query = Query(orderedBy: chosen.map(\.0))
                        let what = "by \(query.order)"
                        try expectEqual(try errands.read(query).map(\.id), expected, what)
                        try expectEqual(
                            try errands.storage.keys(query).map { UniqueID($0) }, expected.map { UniqueID($0) },
                            "the keys \(what)")
                        let few = Query(orderedBy: chosen.map(\.0), limit: 5, offset: 4)
                        try expectEqual(try errands.read(few).map(\.id), Array(expected[4..<9]), "a window \(what)")
                        var streamed: [Int] = []
                        try errands.forEach(query) { streamed.append($0.id) }
                        try expectEqual(streamed, expected, "the stream \(what)")
                        let page = try errands.page(query, limit: 7)
                        let rest = try errands.page(Query(orderedBy: query.order, after: page.next), limit: 20)
                        try expectEqual((page.elements + rest.elements).map(\.id), expected, "pages \(what)")
                    }
                }
            }
        },
        ConformanceCase(
            "Q.sortsInsideGroups", "Q13", "Q11", "R12",
            title: "the first rows of groups, and the rows of an inverse, sort by fields and conditions of the related row"
        ) { context in
            let (database, errands) = try context.open(with: Errand.self)
            try database.dao(Person.self).create([
                Person(id: 1, name: "b", age: 3), Person(id: 2, name: "A"), Person(id: 3, name: "c", age: 1),
            ])
            try errands.create(
                (1...12).map { number in
                    Errand(
                        id: number, title: number % 2 == 0 ? "even" : "odd", whole: number > 4 ? Reference(number % 4 + 1) : nil,
                        owner: Reference(number % 3 + 1), helper: number % 4 == 0 ? nil : Reference((number + 1) % 3 + 1))
                })
            let orders: [Sort<Errand>] = [
                .descending(\.owner, \.name), .ascending(\.owner, \.name, .caseInsensitive),
                .ascending(\.helper, \.age, nils: .last), .first { $0.owner.age == nil },
            ]
            for order in orders {
                let groups = try errands.groups(by: \.title, first: 3, orderedBy: order)
                try expectEqual(groups.map(\.0), ["even", "odd"])
                for (title, found) in groups {
                    let expected = try errands.read(orderedBy: order, limit: 3) { $0.title == title }
                    try expectSame(found, expected, "the group \(title)")
                }
                for limit in [nil, 2] {
                    let parts = try errands.read(Errand.parts, of: [4, 1, 12], orderedBy: order, first: limit)
                    for (whole, found) in zip([4, 1, 12], parts) {
                        let expected = try errands.read(orderedBy: order, limit: limit) { $0.whole == Reference(whole) }
                        try expectSame(found, expected, "the parts of \(whole)")
                    }
                }
            }
        },
        ConformanceCase(
            "Q.sortsOfManyEqual", "Q13", "Q1", "R9",
            title: "rows whose related rows have one value come in the order of their keys, however many these are"
        ) { context in
            let (database, jobs) = try context.open(with: Job.self)
            for equal in [63, 64, 65, 129, 200] {
                try jobs.erase(where: .all)
                try database.dao(Chief.self).erase(where: .all)
                // The first jobs have the chiefs with one name, from the last to the first.
                try database.dao(Chief.self).create((1...260).map { Chief(id: $0, name: $0 <= equal ? "a" : "b\($0)") })
                try jobs.create((1...260).map { Job(id: $0, chief: Reference($0 <= equal ? equal + 1 - $0 : $0)) })
                for limit in [1, 20, 100, 250] {
                    try expectEqual(
                        try jobs.read(orderedBy: .ascending(\.chief, \.name), limit: limit).map(\.id),
                        (1...260).sorted { left, right in
                            func name(_ id: Int) -> String { id <= equal ? "a" : "b\(id)" }
                            return (name(left), left) < (name(right), right)
                        }.prefix(limit).map { $0 }, "the first \(limit) of 260, of which \(equal) are equal")
                }
            }
        },
        ConformanceCase(
            "Q.sortsOfReferences", "Q13", "R9", "R12", title: "References and inverses sort with nil by choice and by conditions"
        ) { context in
            let (database, errands) = try context.open(with: Errand.self)
            try database.dao(Person.self).create([Person(id: 1, name: "b", age: 2), Person(id: 2, name: "A", age: 1)])
            try errands.create([
                Errand(id: 1, title: "x", owner: Reference(1), helper: Reference(2)),
                Errand(id: 2, title: "X", whole: Reference(1), owner: Reference(2)),
                Errand(id: 3, title: "b", whole: Reference(1), owner: Reference(1)),
                Errand(id: 4, title: "B", whole: Reference(2), owner: Reference(2), helper: Reference(1)),
            ])
            func check(_ order: Sort<Errand>..., expected: [Int]) throws {
                for limit in [nil, 4, 2] as [Int?] {
                    try expectEqual(
                        try errands.read(Query(orderedBy: order, limit: limit)).map(\.id), Array(expected.prefix(limit ?? 4)),
                        "by \(order)")
                }
            }
            try check(.ascending(\.whole, nils: .last), expected: [2, 3, 4, 1])
            try check(.descending(\.helper, nils: .first), expected: [2, 3, 1, 4])
            try check(.ascending(\.helper, \.name, .caseInsensitive, nils: .last), expected: [1, 4, 2, 3])
            try check(.last { $0.helper == nil }, .ascending(\.title, .caseInsensitive), expected: [4, 1, 3, 2])
            try check(.first { $0.owner == Reference(2) }, .descending(\.id), expected: [4, 2, 3, 1])
            let parts = try errands.read(
                Errand.parts, of: [1, 2], orderedBy: .first { $0.owner == Reference(1) }, .ascending(\.title, .caseInsensitive),
                first: 1)
            try expectEqual(parts.map { $0.map(\.id) }, [[3], [4]], "the first parts")
            let all = try errands.read(Errand.parts, of: [1, 2], orderedBy: .ascending(\.helper, nils: .last), .descending(\.id))
            try expectEqual(all.map { $0.map(\.id) }, [[3, 2], [4]], "all parts")
        },
    ]
}

private struct Chief: Plain, Model, Equatable {
    var id: Int
    var name: String

    static let schema = Schema("chief", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name, .indexed))
}

private struct Job: Plain, Model, Equatable {
    var id: Int
    var chief: Reference<Chief>?

    static let schema = Schema("job", Self.init, Field("id", \.id, .primaryKey), Field("chief", \.chief))
}
