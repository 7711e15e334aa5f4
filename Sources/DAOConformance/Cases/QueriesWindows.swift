import DAOCore

/// Q3 and Q4: limits, offsets, and reading by keys.
enum QueriesWindows {
    static let cases: [ConformanceCase] = limits() + many + refused + writes + keys

    private static func limits() -> [ConformanceCase] {
        let rows: [(id: String, title: String, limit: Int?, offset: Int, ids: [Int])] = [
            ("Q.limitZero", "a limit of zero gives no rows", 0, 0, []),
            ("Q.limitOne", "a limit of 1 gives the first row", 1, 0, [1]),
            ("Q.limitExact", "a limit equal to the number of rows gives all rows", 5, 0, [1, 2, 3, 4, 5]),
            ("Q.limitBeyond", "a limit beyond the number of rows gives all rows", 6, 0, [1, 2, 3, 4, 5]),
            ("Q.offset", "an offset skips the first rows", nil, 2, [3, 4, 5]),
            ("Q.offsetExact", "an offset equal to the number of rows gives no rows", nil, 5, []),
            ("Q.offsetBeyond", "an offset beyond the last row gives no rows", 3, 6, []),
            ("Q.window", "limit and offset together select a window", 2, 1, [2, 3]),
            ("Q.windowAtEnd", "a window may extend beyond the last row", 3, 4, [5]),
            ("Q.largestLimit", "Int.max is a valid limit", .max, 1, [2, 3, 4, 5]),
            ("Q.largestOffset", "Int.max is a valid offset", nil, .max, []),
            ("Q.largestBoth", "Int.max as limit and offset does not overflow", .max, .max, []),
        ]
        return rows.map { row in
            ConformanceCase(row.id, "Q3", "Q7", title: row.title) { context in
                let reference = try ReferenceRows(context, Probe.numbers([10, 20, 30, 40, 50]))
                let ways: [(Condition<Probe>, [Sort<Probe>])] = [
                    (.all, []), (.all, [.ascending(\.number)]), (.all, [.ascending(\.numberIndexed)]),
                    (Condition { $0.numberUnique > 5 }, [.ascending(\.id)]),
                    (Condition { $0.number > 5 }, [.ascending(\.numberUnique)]),
                ]
                for (way, (condition, order)) in ways.enumerated() {
                    let query = Query(where: condition, orderedBy: order, limit: row.limit, offset: row.offset)
                    try expectEqual(try reference.ids(query), row.ids, "way \(way)")
                    try expectEqual(try reference.dao.count(query), row.ids.count, "the count of form \(way)")
                    try expectEqual(
                        try reference.dao.storage.keys(query), row.ids.map { Key.integer(Int64($0)) }, "the keys of form \(way)")
                    let cursor = try reference.dao.storage.cursor(query)
                    try expectEqual(try cursor.next(100).map(\.id), row.ids, "the cursor of form \(way)")
                    cursor.close()
                }
            }
        }
    }

    private static let many: [ConformanceCase] = [
        ConformanceCase(
            "Q.firstOfThousands", "Q3", "Q1", title: "a limit gives the first of several thousand rows, in an order no index has"
        ) { context in
            // A database may drop rows while it collects: after the first thousand, and again.
            let reference = try ReferenceRows(context, Probe.random(2200, seed: 61))
            for limit in [5, 700] {
                for order in [[Sort<Probe>.ascending(\.number)], [.descending(\.other), .ascending(\.flag)]] {
                    try reference.checkReference(Query(orderedBy: order, limit: limit, offset: 2), "the first \(limit)")
                }
            }
        }
    ]

    private static let refused: [ConformanceCase] = [
        ConformanceCase("Q.negativeLimit", "Q3", title: "a negative limit is invalidQuery in every operation") { context in
            try everyVerb(context, Query<Probe>(limit: -1), "-1")
        },
        ConformanceCase("Q.negativeOffset", "Q3", title: "a negative offset is invalidQuery in every operation") { context in
            try everyVerb(context, Query<Probe>(limit: 3, offset: .min), "\(Int.min)")
        },
    ]

    private static func everyVerb(_ context: ConformanceContext, _ query: Query<Probe>, _ number: String) throws {
        let storage = try ReferenceRows(context, Probe.numbers([1, 2])).dao.storage
        let error = try expectError(.invalidQuery, "read", entity: "probe") { try storage.read(query) }
        try expect(error.message.contains(number), "the number in '\(error.message)'")
        try expectError(.invalidQuery, "count", entity: "probe") { try storage.count(query) }
        try expectError(.invalidQuery, "keys", entity: "probe") { try storage.keys(query) }
        try expectError(.invalidQuery, "fields", entity: "probe") { try storage.readFields([0], query) { _ in } }
        try expectError(.invalidQuery, "cursor", entity: "probe") { try storage.cursor(query).next(1) }
        try expectError(.invalidQuery, "erase", entity: "probe") { try storage.erase(query) }
        try expectError(.invalidQuery, "update", entity: "probe") { try storage.update(query) { $0.number = 3 } }
        try expectEqual(try storage.read(Query()).map(\.number), [1, 2], "the rows after the error")
    }

    private static let writes: [ConformanceCase] = [
        ConformanceCase("Q.eraseWindow", "Q3", "W5", title: "erasing a window erases exactly its rows, in its order") { context in
            let reference = try ReferenceRows(context, Probe.numbers([30, 10, 50, 20, 40]))
            let query = Query<Probe>(orderedBy: [.descending(\.numberIndexed)], limit: 2, offset: 1)
            try expectEqual(try reference.dao.storage.erase(query), 2, "erased")
            try expectEqual(try reference.dao.read().map(\.id), [2, 3, 4])
            try expectEqual(try reference.dao.storage.erase(Query(limit: 0)), 0, "erased with a limit of zero")
        },
        ConformanceCase(
            "Q.updateWindow", "Q3", "W5", title: "updating a window updates exactly its rows, also when they move in it"
        ) { context in
            let reference = try ReferenceRows(context, Probe.numbers([30, 10, 50, 20, 40]))
            let query = Query<Probe>(
                where: Condition { $0.numberIndexed > 0 }, orderedBy: [.ascending(\.numberIndexed)], limit: 3)
            let count = try reference.dao.storage.update(query) { $0.numberIndexed = ($0.numberIndexed ?? 0) + 100 }
            try expectEqual(count, 3, "updated")
            try expectEqual(try reference.dao.read().map(\.numberIndexed), [130, 110, 50, 120, 40])
        },
        ConformanceCase(
            "W.firstOfAnOrder", "W5", "Q3", "Q14", "W3",
            title: "an update and an erasure with a limit touch the first rows of an order, and return them"
        ) { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...9))
            let changed = try dao.update(orderedBy: .descending(\.number), limit: 4, where: { $0.id < 9 }) { item in
                item.number = -item.id
                if item.id == 6 { try dao.erase(byPrimaryKey: 7) }
            }
            try expectSame(
                changed, [8, 6, 5].map { Item(id: $0, name: "Item #\($0)", number: -$0) },
                "the changed rows, without the erased one")
            try expectEqual(try dao.read(orderedBy: .ascending(\.number)).map(\.id), [8, 6, 5, 1, 2, 3, 4, 9])
            let gone = try dao.erase(orderedBy: .ascending(\.number), limit: 2)
            try expectSame(gone, [8, 6].map { Item(id: $0, name: "Item #\($0)", number: -$0) }, "the erased rows")
            let hidden = dao.scoped { $0.number > 20 }
            try expectEqual(try hidden.erase(orderedBy: .ascending(\.id), limit: 1) { $0.number > 0 }.map(\.id), [1], "a scope")
            try expectEqual(
                try hidden.update(limit: 1, where: .all) { $0.note = "x" }.map(\.id), [2], "a scope, in the order of keys")
            try expectEqual(try dao.erase(limit: 0).count, 0, "a limit of zero")
            try expectError(.invalidQuery, "erase", entity: "item") { try dao.erase(limit: -1) }
            try expectError(.invalidQuery, "update", entity: "item") { try dao.update(limit: -1, where: .all) { $0.number = 0 } }
            struct Stop: Error {}
            do {
                try dao.update(limit: 9, where: .all) { item in
                    item.note = "lost"
                    if item.id == 4 { throw Stop() }
                }
            } catch is Stop {}
            try expectEqual(try dao.read().map(\.id), [2, 3, 4, 5, 9], "the rows that are left")
            try expectEqual(try dao.read().map(\.note), ["x", nil, nil, nil, nil], "the notes")
            try expectEqual(try dao.erase(limit: 10).map(\.id), [2, 3, 4, 5, 9], "a limit beyond the rows")
        },
        ConformanceCase(
            "T.claims", "T4", "W5", title: "four threads that claim the first rows of a queue get different ones",
            requires: [.serialWriters]
        ) { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...80))
            let claimed = Lock<[Int]>([])
            try onThreads(4) { thread in
                for round in 0..<4 {
                    let rows =
                        round % 2 == 0
                        ? try dao.erase(orderedBy: .descending(\.number), limit: 5)
                        : try dao.update(orderedBy: .ascending(\.number), limit: 5, where: { $0.note == nil }) {
                            $0.note = "\(thread)"
                        }
                    claimed.withLock { $0 += rows.map(\.id) }
                }
            }
            try expectEqual(claimed.withLock { $0.sorted() }, Array(1...80), "the claimed rows")
        },
        ConformanceCase(
            "Q.updateIntoItsOwnRange", "Q3", "W5",
            title: "a row that an update moves forward in its index is not updated twice"
        ) { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...200))
            try expectEqual(try dao.update(where: { $0.number > 0 }) { $0.number &+= 15 }, 200, "updated")
            try expectEqual(try dao.read().map(\.number), (1...200).map { $0 * 10 + 15 })
            try expectEqual(try dao.read(orderedBy: .ascending(\.number), limit: 3) { $0.number > 20 }.map(\.id), [1, 2, 3])
        },
    ]

    private static let keys: [ConformanceCase] = [
        ConformanceCase("Q.keysInOrder", "Q4", title: "reading by keys gives the rows in the order of the keys") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...9))
            try expectEqual(try dao.read(byPrimaryKeys: [7, 1, 9, 2]).map(\.id), [7, 1, 9, 2])
            try expectEqual(try dao.read(byPrimaryKeys: [Int]()).map(\.id), [])
        },
        ConformanceCase("Q.keysOnce", "Q4", title: "a repeated key gives its row once, at its first position") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...9))
            try expectEqual(try dao.read(byPrimaryKeys: [7, 1, 7, 7, 2, 1]).map(\.id), [7, 1, 2])
            try expectEqual(try dao.read(byPrimaryKeys: ["3", "3"]).map(\.id), [3])
        },
        ConformanceCase("Q.keysMissing", "Q4", title: "missing keys are skipped") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...3))
            try expectEqual(try dao.read(byPrimaryKeys: [99, 2, -1, 1, .max]).map(\.id), [2, 1])
            try expectEqual(try dao.read(byPrimaryKeys: [99]).map(\.id), [])
            try dao.erase(byPrimaryKey: 2)
            try expectEqual(try dao.read(byPrimaryKeys: [3, 2, 1]).map(\.id), [3, 1])
            try expectEqual(try dao.read(byPrimaryKeys: Set([3, 2, 1])).map(\.id), [1, 3], "a set")
            try expectEqual(try dao.erase(byPrimaryKeys: Set([2, 3])), 1, "erased by a set")
        },
        ConformanceCase("Q.manyKeys", "Q4", title: "40,000 descending keys, of which every second is stored") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make((1...20_000).map { $0 * 2 }))
            try expectEqual(
                try dao.read(byPrimaryKeys: (1...40_000).reversed()).map(\.id), (1...20_000).reversed().map { $0 * 2 })
        },
        ConformanceCase("Q.keysOfText", "Q4", "K3", title: "text keys that differ in bytes only each give their row") { context in
            let dao = try context.dao(KeyedBy<String>.self)
            let ids = ["é", "e\u{301}", "", "a\0", "a", "E"]
            try dao.create(ids.map { KeyedBy(id: $0, note: "") })
            let asked = ["a", "e\u{301}", "missing", "", "é", "a\0", "e\u{301}"]
            try expectSame(try dao.read(byPrimaryKeys: asked).map(\.id), ["a", "e\u{301}", "", "é", "a\0"])
        },
    ]
}
