import DAOCore
import Foundation

/// Q9: indexes over several fields.
enum QueriesIndexes {
    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "Q.longIndexes", "Q9", "Q1", "Q2", title: "with indexes over several fields, conditions and orders answer the same",
            isHeavy: true
        ) { context in
            let reference = try ReferenceRows(context, Crate.make(90))
            for condition in conditions {
                for order in orders {
                    try reference.checkReference(Query(where: condition, orderedBy: order))
                    try reference.checkReference(Query(where: condition, orderedBy: order, limit: 7, offset: 2))
                }
            }
        },
        ConformanceCase(
            "Q.decimalsInLongIndexes", "Q9", "P3",
            title: "decimals of every kind, NaN among them, come before other fields of an index"
        ) { context in
            let prices: [Decimal?] = [.nan, nil, 0, 1, -1, Decimal(string: "-0.5"), Decimal(string: "1e100"), .nan, 0, nil]
            let codes = [
                UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)), nil,
                UUID(uuid: (0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
            ]
            let rows = prices.enumerated().map { index, price in
                Crate(
                    id: index, room: nil, date: nil, title: "t\(index % 4)", isOpen: true, price: price, code: codes[index % 3])
            }
            let reference = try ReferenceRows(context, rows)
            for price in Set(prices) {
                for order: [Sort<Crate>] in [
                    [], [.ascending(\.code)], [.descending(\.price), .ascending(\.code), .descending(\.title)],
                    [.ascending(\.price)],
                ] {
                    try reference.checkReference(Query(where: Condition { $0.price == price }, orderedBy: order))
                    let isAtLeast = Condition<Crate> { $0.price >= price && $0.code != nil }
                    try reference.checkReference(Query(where: isAtLeast, orderedBy: order))
                }
            }
            let fields = try reference.dao.read(\.price, \.code, \.title, orderedBy: .descending(\.price))
            let sorted = try Query<Crate>(orderedBy: [.descending(\.price)]).resolved().evaluate(over: rows)
            try expectSame(fields.map { $0.0 }, sorted.map(\.price), "the prices that are read alone")
            try expectSame(fields.map { $0.1 }, sorted.map(\.code), "the codes that are read beside them")
        },
        ConformanceCase(
            "Q.longTextsUnderLongKeys", "Q9", "K1", "W6",
            title: "an index over several long texts holds rows whose keys are as long as keys can be"
        ) { context in
            let dao = try context.dao(Poster.self)
            let rows = Poster.make()
            try dao.create(rows)
            let conditions: [Condition<Poster>] = [
                .all, Condition { $0.head == rows[0].head && $0.body == rows[30].body },
                Condition { $0.head > rows[0].head && $0.body <= rows[0].body },
                Condition { $0.foot == rows[1].foot && $0.body.hasPrefix("ttt") }, Condition { $0.head.in([rows[0].head, ""]) },
            ]
            let orders: [[Sort<Poster>]] = [
                [], [.ascending(\.head), .ascending(\.body), .ascending(\.foot)],
                [.descending(\.foot), .ascending(\.body), .ascending(\.head)], [.descending(\.head)],
            ]
            for condition in conditions {
                for order in orders {
                    let query = Query(where: condition, orderedBy: order)
                    try expectSame(try dao.read(query), try query.resolved().evaluate(over: rows), "\(query)")
                }
            }
            var other = rows[7]
            other.id = "other"
            try expectError(
                .uniqueViolation, entity: "poster", key: "other", conflictingKey: UniqueID(rows[7].id), field: "foot, body, head"
            ) { try dao.create(other) }
            other.head += "c"
            try dao.create(other)
            try expectEqual(try dao.erase { $0.body == rows[7].body }, 26)
            try expectEqual(try dao.count { $0.foot == rows[7].foot }, 20)
        },
        ConformanceCase("Q.longIndexPages", "Q9", "Q5", title: "pages in the order of such an index give each row once") {
            context in
            let reference = try ReferenceRows(context, Crate.make(90))
            for condition in [
                Condition<Crate>.all, Condition { $0.room == 1 }, Condition { $0.isOpen == true && $0.room == nil },
                Condition { $0.room.in([1, nil, 2]) && $0.date.in([nil, 0, .nan, 1]) },
            ] {
                for order in orders.dropFirst(4).prefix(6) + [[.ascending(\.room)], [.descending(\.room)]] {
                    let expected = try Query(where: condition, orderedBy: order).resolved().evaluate(over: reference.rows)
                    var ids: [Int] = []
                    var query = Query(where: condition, orderedBy: order)
                    while true {
                        let page = try reference.dao.page(query, limit: 9)
                        ids += page.elements.map(\.id)
                        guard let next = page.next, !page.elements.isEmpty, ids.count <= expected.count else { break }
                        query.after = next
                    }
                    try expectEqual(ids, expected.map(\.id), "the pages of \(order)")
                }
            }
        },
        ConformanceCase("Q.longIndexWrites", "Q9", "W3", title: "such an index follows every write, and every undone one") {
            context in
            let database = try context.open()
            let dao = try database.dao(Crate.self)
            var rows = Crate.make(120)
            try dao.create(rows)
            func check(_ what: String) throws {
                for query in [
                    Query<Crate>(where: Condition { $0.room == 1 }, orderedBy: [.descending(\.date)]),
                    Query(where: Condition { $0.isOpen == true && $0.room == 2 && $0.date >= 0 }),
                    Query(where: Condition { $0.room == nil }, orderedBy: [.ascending(\.title)]),
                    Query(where: Condition { $0.price == 1 && $0.code == nil }), Query(orderedBy: [.descending(\.code)]),
                ] {
                    let expected = try query.resolved().evaluate(over: rows)
                    try expectSame(try dao.read(query), expected, what)
                    try expectEqual(try dao.count(query), expected.count, "the count after \(what)")
                }
            }
            for index in rows.indices where index % 3 == 0 { (rows[index].date, rows[index].room) = (Double(index), 2) }
            try dao.persist(rows.filter { $0.id % 3 == 1 })
            try check("persist")
            let storage = try database.storage(for: Crate.self)
            _ = try storage.update(Query(where: Condition { $0.id <= 40 })) { $0.title = $0.id % 2 == 0 ? nil : "new" }
            for index in 0..<40 { rows[index].title = rows[index].id % 2 == 0 ? nil : "new" }
            try check("update")
            try dao.erase { $0.id > 100 }
            rows.removeLast(20)
            try check("erase")
            try expectRollback(of: database) {
                try dao.erase { $0.room == 1 }
                try dao.create(Crate(id: 900, room: 1, date: 5, title: "x", isOpen: true, price: 1, code: nil))
            }
            try check("a transaction that was undone")
        },
        ConformanceCase("Q.longIndexOfReference", "Q9", "R8", title: "such an index can have a to-one relationship") { context in
            let database = try context.open()
            let dao = try database.dao(Loan.self)
            let halls = (1...3).map { Hall(id: $0) }
            var loans = (1...60).map { Loan(id: $0, hall: $0 % 4 == 0 ? nil : halls[$0 % 3], day: $0 * 7 % 13) }
            try dao.create(loans)
            func check(_ what: String) throws {
                for hall in halls {
                    let expected = loans.filter { $0.hall == hall }.sorted { ($1.day, $0.id) < ($0.day, $1.id) }
                    try expectEqual(
                        try dao.read(orderedBy: .descending(\.day)) { $0.hall == hall }.map(\.id), expected.map(\.id), what)
                    try expectEqual(
                        try dao.count { $0.hall == hall && $0.day > 5 }, expected.count { $0.day > 5 }, "the count, \(what)")
                }
            }
            try check("created")
            for index in loans.indices where loans[index].id % 5 == 0 { loans[index].hall = halls[0] }
            try dao.persist(loans)
            try check("persisted")
            try database.dao(Hall.self).erase(byPrimaryKey: 2)
            for index in loans.indices where loans[index].hall == halls[1] { loans[index].hall = nil }
            try check("after the erasure of a related row")
        },
    ]

    private static let conditions: [Condition<Crate>] = [
        .all, Condition { $0.room == 1 }, Condition { $0.room == nil }, Condition { $0.room == 1 && $0.date > -3 },
        Condition { $0.room == 2 && $0.date <= 1 }, Condition { $0.room.in([2, 0]) && $0.date < 1e300 },
        Condition { $0.isOpen == true && $0.room == 0 && $0.date == .nan }, Condition { $0.isOpen == false && $0.room >= 0 },
        Condition { $0.isOpen == true && $0.room == nil && $0.date != nil },
        Condition { $0.title == String(repeating: "y", count: 600) },
        Condition { $0.title >= "a" && $0.title < "b" }, Condition { $0.title.hasPrefix("xx") && $0.room == 1 },
        Condition { $0.room == .min && $0.title.hasPrefix(String(repeating: "x", count: 270)) },
        Condition { $0.room == 2 && $0.title == String(repeating: "x", count: 270) },
        Condition { $0.price == 1 && $0.code == nil && $0.title > "a\0" },
        Condition { $0.price == Decimal(string: "-12.50001") && $0.code != nil && $0.title < String(repeating: "y", count: 600) },
        Condition { $0.price < 1 }, Condition { $0.code == nil && $0.id > 100 },
        Condition { $0.room == 1 && ($0.date == nil || $0.date > 1e299) }, Condition { $0.room != 1 && $0.isOpen == true },
        Condition { $0.room > .max }, Condition { $0.room >= .max && $0.title >= "a" }, Condition { $0.room < .min },
        Condition { $0.isOpen == true && $0.room <= .max && $0.date > .infinity },
        Condition { $0.room.in([0, 1, 2]) && $0.room >= 1 && $0.date < 1 },
        Condition { $0.isOpen.in([true, false]) && $0.room.in([nil, 0, 1]) && $0.room <= 1 && $0.date == 0 },
        // Rows of one room are in several ranges of the index.
        Condition { $0.room.in([0, 1, 2]) && !($0.date <= 0) },
        Condition { $0.room.in([1, nil, 2]) && $0.date.in([nil, 0, .nan, 1]) },
    ]

    private static let orders: [[Sort<Crate>]] = [
        [], [.descending(\.id)], [.descending(\.date)], [.ascending(\.date)], [.ascending(\.room), .descending(\.date)],
        [.descending(\.room), .ascending(\.date)], [.descending(\.room), .ascending(\.date), .descending(\.id)],
        [.ascending(\.room)], [.descending(\.room)],
        [.ascending(\.room), .ascending(\.title)], [.ascending(\.title)],
        [.descending(\.title)], [.descending(\.room), .ascending(\.title), .descending(\.price)],
        [.ascending(\.price), .descending(\.code), .ascending(\.title)], [.ascending(\.code), .ascending(\.id)],
    ]
}

/// A row that a ``Loan`` refers to.
private struct Hall: Plain, Model, Equatable {
    var id: Int

    static let schema = Schema("hall", Self.init, Field("id", \.id, .primaryKey))
}

/// A row with an index over a to-one relationship and a number.
private struct Loan: Plain, Model, Equatable {
    var id: Int
    var hall: Hall?
    var day: Int

    static let schema = Schema(
        "loan", Self.init,
        Field("id", \.id, .primaryKey), Field("hall", \.hall, .linked), Field("day", \.day),
        indexes: [Index(orderedBy: .ascending(\.hall), .descending(\.day))])
}
