import DAOCore
import DAOTestSupport
import Foundation

/// Q5: keyset pages.
enum QueriesPages {
    static let cases: [ConformanceCase] = walks + changes + cursors

    /// Walks all pages of a query.
    private static func walk<Record: Numbered>(
        _ dao: DAO<Record>, _ query: Query<Record>, limit: Int, between: (Int) throws -> Void = { _ in }
    ) throws -> [[Int]] {
        var pages: [[Int]] = []
        var query = query
        while true {
            let page = try dao.page(query, limit: limit)
            pages.append(page.elements.map(\.id))
            guard let next = page.next else { return pages }
            try expect(pages.count < 20_000, "the pages to end")
            query.after = next
            try between(pages.count)
        }
    }

    private static let walks: [ConformanceCase] = [
        ConformanceCase(
            "Q.tenThousandRows", "Q5", "Q3",
            title: "pages of 500 over 10,003 rows give each row once, by cursor and by offset", isHeavy: true
        ) { context in
            let dao = try context.dao(Item.self)
            // 7919 and 10,003 are coprime, so the numbers are the ids in a different order.
            try dao.create((1...10_003).map { Item(id: $0, name: "", number: $0 * 7919 % 10_003 / 7) })
            let expected = try dao.read().sorted { ($0.number, $0.id) < ($1.number, $1.id) }.map(\.id)
            let byKey = try walk(dao, Query(), limit: 500)
            try expectEqual(byKey.map(\.count), Array(repeating: 500, count: 20) + [3], "the sizes of the pages by key")
            try expectEqual(byKey.flatMap { $0 }, Array(1...10_003), "the pages by key")
            try expectEqual(
                try walk(dao, Query(orderedBy: [.ascending(\.number)]), limit: 500).flatMap { $0 }, expected,
                "the pages by number")
            var byOffset: [Int] = []
            for offset in stride(from: 0, to: 10_100, by: 1000) {
                byOffset += try dao.read(orderedBy: .ascending(\.number), limit: 1000, offset: offset).map(\.id)
            }
            try expectEqual(byOffset, expected, "the pages by offset")
        },
        ConformanceCase(
            "Q.termsAfterTheKey", "Q5", "Q1",
            title: "a term after the key does not affect the order, so a row in which only that term changes is not repeated"
        ) { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...4))
            for order in [[Sort.ascending(\.id), .ascending(\.name)], [.descending(\.id), .descending(\.number)]]
                as [[Sort<Item>]]
            {
                let whole = try dao.read(Query(orderedBy: order)).map(\.id)
                let pages = try walk(dao, Query(orderedBy: order), limit: 2) { page in
                    try dao.update(where: { $0.id > 0 }) { item in
                        item.name += "z"
                        item.number &-= page
                    }
                }
                try expectEqual(
                    pages, [Array(whole.prefix(2)), Array(whole.suffix(2))], "pages while rows change")
            }
        },
        ConformanceCase(
            "Q.pagesOfEveryOrder", "Q5",
            title: "pages of every size and order together give all rows: nil, NaN, ties and both directions"
        ) { context in
            let reference = try ReferenceRows(context, Probe.random(60, seed: 71))
            let orders: [[Sort<Probe>]] = [
                [], [.descending(\.id)], [.ascending(\.numberIndexed)], [.descending(\.numberIndexed)],
                [.ascending(\.realIndexed)], [.descending(\.real)],
                [.descending(\.flag), .ascending(\.textIndexed)], [.ascending(\.text), .descending(\.numberIndexed)],
                [.ascending(\.amount), .descending(\.id)],
                [.descending(\.big), .descending(\.small), .ascending(\.other)],
            ]
            for (index, order) in orders.enumerated() {
                let whole = try reference.ids(Query(orderedBy: order))
                for limit in [1, 7, 59, 60, 61] {
                    let pages = try walk(reference.dao, Query(orderedBy: order), limit: limit)
                    try expectEqual(pages.flatMap { $0 }, whole, "order \(index) by \(limit)")
                }
            }
        },
        ConformanceCase(
            "Q.pagesWithTotals", "Q5", "Q7", title: "each page has the number of rows of all pages, where it was asked for"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make(1...11))
            for size in [1, 4, 5, 20] {
                var (next, ids): (PageCursor?, [Int]) = (nil, [])
                repeat {
                    let page = try dao.page(orderedBy: .descending(\.number), limit: size, after: next, withTotal: true) {
                        $0.id > 3
                    }
                    try expectEqual(page.total, 8, "the total of a page of \(size) after \(ids)")
                    ids += page.elements.map(\.id)
                    next = page.next
                } while next != nil
                try expectEqual(ids, Array((4...11).reversed()), "the rows of pages of \(size)")
            }
            try expectEqual(try dao.page(limit: 2).total, nil, "not asked for")
            try expectEqual(try dao.page(limit: 2, withTotal: true, where: Condition { $0.id.in([]) }).total, 0, "of no rows")
            try expectRollback(of: database) {
                let next = try dao.page(limit: 2, withTotal: true).next
                try dao.erase { $0.id < 3 }
                try expectEqual(try dao.page(limit: 2, after: next, withTotal: true).total, 9, "rows before the page are erased")
            }
        },
        ConformanceCase("Q.pagesWithCondition", "Q5", title: "pages of a condition give its rows, on any index") { context in
            let reference = try ReferenceRows(context, Probe.random(90, seed: 72))
            let conditions: [Condition<Probe>] = [
                Condition { $0.numberIndexed > -5 }, Condition { $0.flag },
                Condition { $0.textIndexed == nil || $0.other < 0 }, Condition { $0.number.in([1, 2, nil]) },
            ]
            for condition in conditions {
                for order in [
                    [], [Sort<Probe>.descending(\.numberIndexed)], [.ascending(\.textIndexed), .descending(\.other)],
                ] {
                    let query = Query(where: condition, orderedBy: order)
                    try expectEqual(try walk(reference.dao, query, limit: 4).flatMap { $0 }, try reference.ids(query))
                }
            }
        },
        ConformanceCase(
            "Q.lastPage", "Q5", title: "a page that no row follows, full or not, has no next page; an empty table gives one"
        ) {
            context in
            let dao = try context.dao(Item.self)
            let empty = try dao.page(limit: 10)
            try expect(empty.elements.isEmpty && empty.next == nil, "a single empty page")
            try dao.create(Item.make(1...10))
            for limit in [10, 11, .max] {
                let page = try dao.page(limit: limit, withTotal: true)
                try expect(page.next == nil && page.elements.count == 10 && page.total == 10, "no page after one of \(limit)")
            }
            let first = try dao.page(limit: 9)
            let next = try require(first.next, "a next page")
            try expectEqual(first.elements.count, 9)
            let last = try dao.page(limit: 1, after: next)
            try expect(last.elements.map(\.id) == [10] && last.next == nil, "a last page that is full")
            try dao.erase(byPrimaryKey: 10)
            let after = try dao.page(limit: 9, after: next)
            try expect(after.elements.isEmpty && after.next == nil, "an empty page after rows were erased")
        },
    ]

    private static let changes: [ConformanceCase] = [
        ConformanceCase(
            "Q.pagesDuringChanges", "Q5", title: "rows that stay are seen once while other rows are inserted and erased"
        ) {
            context in
            for order in [
                [], [Sort<Item>.ascending(\.number)], [.descending(\.number)], [.descending(\.note), .ascending(\.number)],
            ] {
                let dao = try context.dao(Item.self)
                try dao.erase()
                // Multiples of ten stay; the rows between them are inserted and erased.
                let staying = (1...100).map { $0 * 10 }
                func item(_ id: Int) -> Item {
                    Item(id: id, name: "", number: id * 37 % 1009, note: id % 3 == 0 ? nil : "\(id % 7)")
                }
                try dao.create(staying.map(item) + staying.map { item($0 + 1) })
                var random = SeededGenerator(seed: 73)
                let pages = try walk(dao, Query(orderedBy: order), limit: 9) { _ in
                    for _ in 0..<12 {
                        let id = Int(random.next() % 1010)
                        guard id % 10 != 0 else { continue }
                        if random.next() % 2 == 0 { try dao.persist(item(id)) } else { try dao.erase(byPrimaryKey: id) }
                    }
                }
                let seen = pages.flatMap { $0 }
                try expectEqual(Set(seen).count, seen.count, "each row once")
                try expectEqual(seen.filter { $0 % 10 == 0 }.sorted(), staying, "the rows that stayed")
            }
        },
        ConformanceCase("Q.cursorRowErased", "Q5", title: "a cursor stays valid after its row was erased") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...6))
            let page = try dao.page(orderedBy: .descending(\.number), limit: 2)
            let next = try require(page.next, "a next page")
            try dao.erase(byPrimaryKeys: [5, 4])
            try dao.create(Item(id: 50, name: "", number: 45))
            try expectEqual(
                try dao.page(orderedBy: .descending(\.number), limit: 3, after: next).elements.map(\.id), [50, 3, 2])
            try dao.erase()
            try expectEqual(try dao.page(orderedBy: .descending(\.number), limit: 3, after: next).elements.map(\.id), [])
        },
    ]

    private static let cursors: [ConformanceCase] = [
        ConformanceCase(
            "Q.cursorOfAnotherOrder", "Q5", title: "a cursor used with a different order, field or entity is invalidQuery"
        ) { context in
            let database = try context.open()
            let (items, probes) = (try database.dao(Item.self), try database.dao(Probe.self))
            try items.create(Item.make(1...5))
            try probes.create(Probe.numbers([1, 2, 3]))
            let next = try require(try items.page(orderedBy: .ascending(\.number), limit: 2).next, "a next page")
            try expectError(.invalidQuery, "no order", entity: "item") { try items.page(limit: 2, after: next) }
            try expectError(.invalidQuery, "descending", entity: "item") {
                try items.page(orderedBy: .descending(\.number), limit: 2, after: next)
            }
            try expectError(.invalidQuery, "another field", entity: "item") {
                try items.page(orderedBy: .ascending(\.name), limit: 2, after: next)
            }
            try expectError(.invalidQuery, "one additional field", entity: "item") {
                try items.page(orderedBy: .ascending(\.number), .ascending(\.name), limit: 2, after: next)
            }
            try expectError(.invalidQuery, "another entity", entity: "probe") {
                try probes.page(orderedBy: .ascending(\.number), limit: 2, after: next)
            }
            try expectEqual(
                try items.page(orderedBy: .ascending(\.number), .ascending(\.id), limit: 2, after: next).elements.map(\.id),
                [3, 4], "the same order, written out")
        },
        ConformanceCase(
            "Q.cursorAsText", "Q5", title: "a cursor with nil, NaN, NUL and 64 bits in it can be encoded and decoded"
        ) { context in
            let reference = try ReferenceRows(
                context,
                [
                    Probe(id: 1, text: nil, real: .nan, big: .max, amount: nil),
                    Probe(id: 2, text: "a\0e\u{301}", real: .nan, big: .max, amount: Decimal(string: "0.1")),
                    Probe(id: 3, text: "é", real: -.infinity, big: nil, amount: 5),
                    Probe(id: 4, text: "'", real: 0.1, big: 0, amount: -5),
                ])
            let orders: [[Sort<Probe>]] = [
                [.ascending(\.text)], [.descending(\.real), .ascending(\.amount)], [.ascending(\.big), .descending(\.text)],
                [.descending(\.amount)],
            ]
            for order in orders {
                var walked: [Int] = []
                var query = Query<Probe>(orderedBy: order)
                while true {
                    let page = try reference.dao.page(query, limit: 1)
                    walked += page.elements.map(\.id)
                    guard let next = page.next else { break }
                    try expect(walked.count <= reference.rows.count && !page.elements.isEmpty, "the pages to end")
                    query.after = try JSONDecoder().decode(PageCursor.self, from: JSONEncoder().encode(next))
                    try expectEqual(query.after, next, "the decoded cursor")
                }
                try expectEqual(walked, try reference.ids(Query(orderedBy: order)))
            }
        },
        ConformanceCase(
            "Q.cursorAfterReopening", "Q5", title: "a cursor stays valid after reopening", requires: [.persistence]
        ) {
            context in
            let database = try context.open()
            try database.dao(Item.self).create(Item.make(1...5))
            let next = try require(try database.dao(Item.self).page(limit: 2).next, "a next page")
            let dao = try context.reopen(database).dao(Item.self)
            try expectEqual(try dao.page(limit: 2, after: next).elements.map(\.id), [3, 4])
        },
        ConformanceCase("Q.pageOfNothing", "Q5", "Q3", title: "a page size of zero or less is invalidQuery") { context in
            let dao = try context.dao(Item.self)
            for limit in [0, -1, .min] {
                try expectError(.invalidQuery, "\(limit)", entity: "item") { try dao.page(limit: limit) }
                for query in [Query<Item>(limit: limit), Query(limit: 1), Query(offset: 1)] {
                    try expectError(.invalidQuery, "\(query)", entity: "item") { try dao.page(query, limit: 2) }
                }
            }
        },
    ]
}
