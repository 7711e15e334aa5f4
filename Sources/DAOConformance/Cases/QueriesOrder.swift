import DAOCore
import Foundation

/// Q1 and Q2: the order of results is total, and the same on every backend.
enum QueriesOrder {
    static let cases: [ConformanceCase] = withoutSort + ties + values + indexes + refused

    private static let withoutSort: [ConformanceCase] = [
        ConformanceCase(
            "Q.textKeysByAnIndex", "Q1", "P2", title: "rows that an index finds are sorted by keys of which some begin others"
        ) { context in
            let dao = try context.dao(Shelved.self)
            let keys = ["", "\0\0\0\0", "a", "a\0", "a\0\u{1}", "a\u{1}", "ab", "abc", "b", "é", "\u{10000}"]
            try dao.create(keys.enumerated().map { Shelved(id: $1, shelf: $0 * 5 % 3) })
            try dao.create((0..<300).map { Shelved(id: "z\($0)", shelf: 9) })
            for limit in [1, 3, 5, 10, nil] as [Int?] {
                for (order, sorted) in [(Sort<Shelved>.ascending(\.id), keys), (.descending(\.id), keys.reversed())] {
                    try expectEqual(
                        try dao.read(orderedBy: order, limit: limit) { $0.shelf.in([0, 1, 2]) }.map(\.id),
                        Array(sorted.prefix(limit ?? keys.count)), "the keys with a limit of \(limit ?? 0), by \(order)")
                }
            }
        },
        ConformanceCase(
            "Q.smallestDecimals", "Q1", "P3", "V1",
            title: "decimal numbers that differ in their last possible digit have an order"
        ) { context in
            let texts = ["-1e-126", "-12e-128", "-11e-128", "-1e-128", "0", "1e-128", "2e-128", "11e-128", "12e-128", "1e-126"]
            let prices = texts.map { Decimal(string: $0) }
            let crates = prices.enumerated().map { index, price in
                Crate(id: index * 7 % texts.count, room: nil, date: nil, title: nil, isOpen: false, price: price, code: nil)
            }
            let dao = try context.dao(Crate.self)
            try dao.create(crates)
            try expectSame(try dao.read(orderedBy: .ascending(\.price)).map(\.price), prices)
            try expectSame(try dao.read(orderedBy: .descending(\.price)).map(\.price), prices.reversed())
            for (index, price) in prices.enumerated() {
                try expectEqual(try dao.count { $0.price < price }, index, "those below \(texts[index])")
                try expectEqual(try dao.count { $0.price == price }, 1, "those that are \(texts[index])")
                try expectEqual(try dao.count { $0.price >= price }, texts.count - index, "those from \(texts[index])")
            }
        },
        ConformanceCase(
            "Q.orderByEnumeration", "Q1", "V3", title: "an enumeration sorts and compares by its raw value"
        ) { context in
            let dao = try context.dao(Document.self)
            try dao.create([
                Document(id: 1, mood: .other, level: .high, text: ""), Document(id: 2, mood: .calm, level: .low, text: ""),
                Document(id: 3, mood: .busy, level: .none, text: ""), Document(id: 4, mood: .empty, level: .low, text: ""),
            ])
            try expectSame(try dao.read(orderedBy: .ascending(\.level)).map(\.id), [2, 4, 3, 1])
            try expectSame(try dao.read(orderedBy: .descending(\.mood)).map(\.id), [1, 2, 3, 4])
            try expectSame(try dao.read { $0.level > .low }.map(\.id), [1, 3])
            try expectSame(try dao.max(\.level), .high)
            try expectSame(try dao.min(\.mood) { $0.level == .low }, .empty)
        },
        ConformanceCase(
            "Q.preparedConditions", "Q1", "W5", title: "a prepared condition reads, counts, changes and erases as its closure"
        ) { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...6))
            let prepared = Condition<Item> { $0.id > 2 && $0.id < 6 }
            try expectSame(try dao.read(where: prepared), try dao.read { $0.id > 2 && $0.id < 6 })
            try expectSame(try dao.read(orderedBy: .descending(\.id), limit: 2, where: prepared).map(\.id), [5, 4])
            try expectSame(try dao.first(orderedBy: .descending(\.id), where: prepared)?.id, 5)
            try expectSame(try dao.page(limit: 2, where: prepared).elements.map(\.id), [3, 4])
            try expectEqual(try dao.count(where: prepared), 3)
            try expect(try dao.exists(where: prepared), "a row that meets the condition")
            try expectEqual(try dao.update(where: prepared) { $0.name = "changed" }, 3)
            try expectSame(try dao.read(where: "name == 'changed'").map(\.id), [3, 4, 5])
            try expectEqual(try dao.erase(where: prepared), 3)
            try expectSame(try dao.read().map(\.id), [1, 2, 6])
        },
        ConformanceCase("Q.lastKeyBackwards", "Q1", "P7", title: "a range that begins at its only row has it in both orders") {
            context in
            let reference = try ReferenceRows(context, Probe.numbers([9, 1, 8, 2, 7, 3, 6, 4, 5, 0]))
            for order in [Sort<Probe>.ascending(\.id), .descending(\.id)] {
                for condition: Condition<Probe> in [
                    Condition { $0.id >= 10 }, Condition { $0.id <= 1 }, Condition { $0.id >= 4 && $0.id <= 4 },
                    Condition { $0.id >= 10 || $0.id == 4 }, Condition { $0.numberIndexed >= 9 },
                    Condition { $0.numberUnique >= 9 && $0.id >= 1 },
                ] {
                    try reference.checkReference(Query(where: condition, orderedBy: [order]))
                    try reference.checkReference(Query(where: condition, orderedBy: [order], limit: 1))
                }
            }
        },
        ConformanceCase("Q.keyOrder", "Q1", title: "without a sort rows are in key order, whatever index finds them") { context in
            let reference = try ReferenceRows(context, Probe.numbers([9, 1, 8, 2, 7, 3, 6, 4, 5, 0]))
            try expectEqual(try reference.ids(.all), Array(1...10))
            for name in Probe.numbers {
                try expectEqual(try reference.ids(.field(name, .greater, 2)), [1, 3, 5, 6, 7, 8, 9], "by \(name)")
                try expectEqual(try reference.ids(.field(name, in: [9, 0, 5])), [1, 9, 10], "by a list of \(name)")
                try expectEqual(
                    try reference.ids(Condition<Probe>.field(name, .less, 3) || Condition<Probe>.field(name, .greater, 7)),
                    [1, 2, 3, 4, 10], "by two ranges of \(name)")
            }
        },
        ConformanceCase(
            "Q.keyOrderAfterChanges", "Q1", title: "a row that is updated, or erased and stored again, keeps its position"
        ) {
            context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make([5, 3, 9, 1, 7]))
            try dao.update(where: { $0.id == 1 }) { $0.name = String(repeating: "longer ", count: 200) }
            try dao.persist(Item(id: 3, name: "replaced", number: -1))
            try dao.erase(byPrimaryKey: 7)
            try dao.create(Item(id: 2, name: "late"))
            try dao.create(Item(id: 7, name: "again"))
            try expectEqual(try dao.read().map(\.id), [1, 2, 3, 5, 7, 9])
            try expectEqual(try dao.read(orderedBy: .descending(\.id)).map(\.id), [9, 7, 5, 3, 2, 1])
        },
        ConformanceCase("Q.deterministic", "Q1", title: "the same query ten times gives the same rows in order") { context in
            let reference = try ReferenceRows(context, Probe.random(100, seed: 51))
            let query = Query<Probe>(where: Condition { $0.numberIndexed > -10 }, orderedBy: [.ascending(\.flag)])
            let first = try reference.ids(query)
            for _ in 0..<10 { try expectEqual(try reference.ids(query), first) }
            try reference.checkReference(query)
        },
    ]

    private static let ties: [ConformanceCase] = [
        ConformanceCase("Q.ties", "Q1", title: "equal rows are in ascending key order, for both sort directions") { context in
            let reference = try ReferenceRows(
                context, [2, 1, nil, 2, 1, nil, 2].enumerated().map { Probe(id: $0 + 1, number: $1, numberIndexed: $1) })
            for sort in [Sort<Probe>.ascending(\.number), .ascending(\.numberIndexed)] {
                try expectEqual(try reference.ids(orderedBy: sort), [3, 6, 2, 5, 1, 4, 7])
            }
            for sort in [Sort<Probe>.descending(\.number), .descending(\.numberIndexed)] {
                try expectEqual(try reference.ids(orderedBy: sort), [1, 4, 7, 2, 5, 3, 6])
                try expectEqual(try reference.ids(Query(orderedBy: [sort], limit: 2, offset: 1)), [4, 7], "a window")
            }
        },
        ConformanceCase("Q.keyTermDescending", "Q1", title: "a descending key reverses the order of equal rows") { context in
            let reference = try ReferenceRows(
                context, [2, 1, nil, 2, 1].enumerated().map { Probe(id: $0 + 1, numberIndexed: $1) })
            try expectEqual(try reference.ids(orderedBy: .ascending(\.numberIndexed), .descending(\.id)), [3, 5, 2, 4, 1])
            try expectEqual(try reference.ids(orderedBy: .descending(\.numberIndexed), .descending(\.id)), [4, 1, 5, 2, 3])
            try expectEqual(
                try reference.ids(orderedBy: .descending(\.id), .ascending(\.numberIndexed)), [5, 4, 3, 2, 1],
                "further terms after the key")
        },
        ConformanceCase("Q.severalTerms", "Q1", "Q2", title: "three terms in mixed directions, with nil in each") { context in
            let rows = (0..<27).map { index -> Probe in
                let (first, second, third) = (index % 3, index / 3 % 3, index / 9)
                return Probe(
                    id: index + 1, numberIndexed: first == 0 ? nil : first, textIndexed: second == 0 ? nil : "\(second)",
                    real: third == 0 ? nil : Double(third))
            }
            let reference = try ReferenceRows(context, rows)
            try expectEqual(
                Array(
                    try reference.ids(orderedBy: .ascending(\.numberIndexed), .descending(\.textIndexed), .ascending(\.real))
                        .prefix(12)),
                [7, 16, 25, 4, 13, 22, 1, 10, 19, 8, 17, 26])
            for directions in 0..<8 {
                let order: [Sort<Probe>] = [
                    .by("numberIndexed", ascending: directions & 1 == 0), .by("textIndexed", ascending: directions & 2 == 0),
                    .by("real", ascending: directions & 4 == 0),
                ]
                try reference.checkReference(Query(orderedBy: order), "directions \(directions)")
                try reference.checkReference(
                    Query(orderedBy: order, limit: 5, offset: 3), "a window of directions \(directions)")
            }
        },
        ConformanceCase("Q.repeatedTerm", "Q1", title: "when a sort names a field twice, the first term counts") { context in
            let reference = try ReferenceRows(context, [2, 1, nil].enumerated().map { Probe(id: $0 + 1, numberIndexed: $1) })
            try expectEqual(
                try reference.ids(orderedBy: .descending(\.numberIndexed), .ascending(\.numberIndexed)), [1, 2, 3])
        },
    ]

    private static let values: [ConformanceCase] = [
        ConformanceCase("Q.nilFirst", "Q2", title: "nil is first in ascending order and last in descending order") { context in
            let reference = try ReferenceRows(context, Probe.numbers([5, nil, -7, nil, 0]))
            for name in Probe.numbers {
                try expectEqual(try reference.ids(orderedBy: .by(name)), [2, 4, 3, 5, 1], name)
                try expectEqual(try reference.ids(orderedBy: .by(name, ascending: false)), [1, 5, 3, 2, 4], name)
            }
        },
        ConformanceCase("Q.notANumberLast", "Q2", title: "NaN follows infinity; -0.0 ties with 0.0") { context in
            let reference = try ReferenceRows(
                context, Probe.reals([.nan, 1, -0.0, .infinity, nil, -.infinity, 0.0, .nan, -1]))
            for name in Probe.reals {
                try expectEqual(try reference.ids(orderedBy: .by(name)), [5, 6, 9, 3, 7, 2, 4, 1, 8], name)
                try expectEqual(try reference.ids(orderedBy: .by(name, ascending: false)), [1, 8, 4, 2, 3, 7, 9, 6, 5], name)
            }
        },
        ConformanceCase("Q.textOrder", "Q2", "P2", title: "empty text < Z < a < decomposed é < f < composed é") { context in
            let reference = try ReferenceRows(
                context, Probe.texts(["f", "é", "Z", "e\u{301}", "a", "", nil, "\u{10000}", "\u{FFFD}", "a\0", "ab"]))
            for name in Probe.texts {
                try expectEqual(try reference.ids(orderedBy: .by(name)), [7, 6, 3, 5, 10, 11, 4, 1, 2, 9, 8], name)
                try expectEqual(
                    try reference.ids(orderedBy: .by(name, ascending: false)), [8, 9, 2, 1, 4, 11, 10, 5, 3, 6, 7], name)
            }
        },
        ConformanceCase("Q.numericOrder", "Q2", "P3", title: "unsigned, decimal and narrow numbers sort by value") { context in
            let bigs: [UInt64?] = [.max, 5, nil, UInt64(Int64.max) + 1, UInt64(Int64.max), 10]
            let reference = try ReferenceRows(
                context,
                bigs.enumerated().map { index, big in
                    Probe(
                        id: index + 1, small: [-1, 127, nil, -128, 0, 9][index], big: big,
                        amount: [10, 9, nil, -10, -9, Decimal(95) / 10][index])
                })
            try expectEqual(try reference.ids(orderedBy: .ascending(\.big)), [3, 2, 6, 5, 4, 1])
            try expectEqual(try reference.ids(orderedBy: .descending(\.big)), [1, 4, 5, 6, 2, 3])
            try expectEqual(try reference.ids(orderedBy: .ascending(\.amount)), [3, 4, 5, 2, 6, 1])
            try expectEqual(try reference.ids(orderedBy: .ascending(\.small)), [3, 4, 1, 5, 6, 2])
        },
        ConformanceCase(
            "Q.otherOrders", "Q2", title: "Booleans, dates, bytes and UUIDs sort by value, bytes as unsigned numbers"
        ) { context in
            let datas = [Data([0x80]), Data([0x7F]), Data(), Data([0x7F, 0]), nil]
            let rows = datas.enumerated().map { index, data in
                OptionalScalars(
                    id: index + 1, bool: [true, false, true, false, nil][index], data: data,
                    uuid: data.map { UUID(uuid: ($0.first ?? 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8($0.count))) },
                    date: [0, -0.5, 1e15, .leastNonzeroMagnitude, nil][index].map { Date(timeIntervalSinceReferenceDate: $0) }
                )
            }
            let reference = try ReferenceRows(context, rows)
            try expectEqual(try reference.ids(orderedBy: .ascending(\.data)), [5, 3, 2, 4, 1])
            try expectEqual(try reference.ids(orderedBy: .ascending(\.uuid)), [5, 3, 2, 4, 1])
            try expectEqual(try reference.ids(orderedBy: .ascending(\.bool)), [5, 2, 4, 1, 3])
            try expectEqual(try reference.ids(orderedBy: .descending(\.bool)), [1, 3, 2, 4, 5])
            try expectEqual(try reference.ids(orderedBy: .ascending(\.date)), [5, 2, 1, 4, 3])
        },
        ConformanceCase("Q.durationOrder", "Q2", "Q7", "P3", title: "durations sort by length, and negative ones first") {
            context in
            let durations = Duration.hard
            let rows = durations.enumerated().map { OptionalScalars(id: durations.count - $0, duration: $1) }
            let reference = try ReferenceRows(context, rows + [OptionalScalars(id: 0)])
            try expectEqual(try reference.ids(orderedBy: .ascending(\.duration)), [0] + (1...durations.count).reversed())
            try expectEqual(try reference.ids(orderedBy: .descending(\.duration)), Array(1...durations.count) + [0])
            try expectSame(try reference.dao.min(\.duration), durations.first)
            try expectSame(try reference.dao.max(\.duration), durations.last)
            try expectEqual(
                try reference.dao.read { $0.duration.between(.seconds(-9), and: .zero) }.compactMap(\.duration),
                [.zero, Duration(secondsComponent: 0, attosecondsComponent: -1), .seconds(-9)])
        },
        ConformanceCase(
            "Q.longTextOrder", "Q2", "P2",
            title: "texts of 2,000 bytes with a common prefix sort by their last bytes, through an index too"
        ) { context in
            let start = String(repeating: "long ", count: 400)
            let ends = ["c", "a", "bb", "", "b", "é", "e\u{301}", "Z"]
            let reference = try ReferenceRows(context, Probe.texts(ends.map { start + $0 } + [nil, "a", "z"]))
            for name in Probe.texts {
                try expectEqual(try reference.ids(orderedBy: .by(name)), [9, 10, 4, 8, 2, 5, 3, 1, 7, 6, 11], name)
                try expectEqual(
                    try reference.ids(orderedBy: .by(name, ascending: false)), [11, 6, 7, 1, 3, 5, 2, 8, 4, 10, 9], name)
                try expectEqual(
                    try reference.ids(Query(orderedBy: [.by(name)], limit: 3, offset: 3)), [8, 2, 5], "a window of \(name)")
            }
        },
        ConformanceCase("Q.longTextTies", "Q1", "Q2", title: "equal long texts are in key order, in both directions") { context in
            let long = String(repeating: "x", count: 2000)
            let reference = try ReferenceRows(
                context,
                [long + "b", long, long + "a", long, long + "b"].enumerated().map { Probe(id: $0 + 1, textIndexed: $1) })
            try expectEqual(try reference.ids(orderedBy: .ascending(\.textIndexed)), [2, 4, 3, 1, 5])
            try expectEqual(try reference.ids(orderedBy: .descending(\.textIndexed)), [1, 5, 3, 2, 4])
        },
    ]

    private static let indexes: [ConformanceCase] = [
        ConformanceCase(
            "Q.indexServesSort", "Q1", "P7", title: "a sort by an index gives the rows of a sort in memory, in every window"
        ) { context in
            let reference = try ReferenceRows(context, Probe.random(90, seed: 61))
            for (plain, indexed) in [("number", "numberIndexed"), ("text", "textIndexed"), ("real", "realIndexed")] {
                for isAscending in [true, false] {
                    for (limit, offset) in [(nil, 0), (1, 0), (7, 0), (7, 5), (200, 80), (3, 89), (nil, 40)] as [(Int?, Int)] {
                        let inMemory = try reference.ids(
                            Query(orderedBy: [.by(plain, ascending: isAscending)], limit: limit, offset: offset))
                        let query = Query<Probe>(
                            orderedBy: [.by(indexed, ascending: isAscending)], limit: limit, offset: offset)
                        try expectEqual(
                            try reference.ids(query), inMemory,
                            "\(indexed), \(isAscending ? "up" : "down"), \(limit ?? -1) from \(offset)")
                        try reference.checkReference(query)
                    }
                }
            }
        },
        ConformanceCase(
            "Q.sortAndFilter", "Q1", "P7",
            title: "a sort by an index combines with a condition on the same index, on another index and on no index"
        ) { context in
            let reference = try ReferenceRows(context, Probe.random(90, seed: 62))
            let conditions: [Condition<Probe>] = [
                Condition { $0.numberIndexed > 0 }, Condition { $0.numberIndexed.in([1, 5, nil, -3]) },
                Condition { $0.other <= 5 }, Condition { $0.text != nil },
                Condition { $0.numberIndexed < 5 && $0.other > -5 }, Condition { $0.numberIndexed == nil },
                Condition { !($0.numberIndexed >= 0) },
            ]
            for (index, condition) in conditions.enumerated() {
                for order in [
                    [Sort<Probe>.ascending(\.numberIndexed)], [.descending(\.numberIndexed)],
                    [.descending(\.other), .ascending(\.textIndexed)], [],
                ] {
                    for limit in [nil, 4] {
                        try reference.checkReference(
                            Query(where: condition, orderedBy: order, limit: limit), "condition \(index)")
                        try reference.checkReference(
                            Query(where: condition, orderedBy: order, limit: limit, offset: 2), "condition \(index) from 2")
                    }
                }
            }
        },
        ConformanceCase("Q.randomQueries", "Q1", "Q2", "Q3", "P7", title: "150 random queries match the evaluator") { context in
            let reference = try ReferenceRows(context, Probe.random(100, seed: 63))
            var random = ProbeQueries(seed: 64)
            for round in 0..<150 {
                let query = Query(
                    where: random.next(), orderedBy: random.order(), limit: round % 3 == 0 ? nil : random.number(below: 40),
                    offset: round % 2 == 0 ? 0 : random.number(below: 30))
                try reference.checkReference(query, "query \(round), \(query)")
            }
        },
    ]

    private static let refused: [ConformanceCase] = [
        ConformanceCase("Q.sortByUnknown", "Q1", "P6", title: "a sort by an unknown or unordered field is invalidPredicate") {
            context in
            let reference = try ReferenceRows(context, Probe.numbers([1]))
            let error = try expectError(.invalidPredicate, entity: "probe", field: "numbre") {
                try reference.dao.read(orderedBy: "numbre", ascending: true)
            }
            try expect(error.message.contains("numberIndexed"), "the known fields in '\(error.message)'")
            let folds = try ReferenceRows(context, [Fold(id: 1, tags: [])])
            try expectError(.invalidPredicate, entity: "fold", field: "tags") { try folds.ids(orderedBy: .by("tags")) }
            try expectError(.invalidPredicate, entity: "fold", field: "tags") {
                try folds.dao.count(Query(orderedBy: [.by("tags")]))
            }
        }
    ]
}
