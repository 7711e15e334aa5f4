import DAOCore
import Foundation

/// Q7: counts, extremes and totals agree with the rows.
enum QueriesTotals {
    static let cases: [ConformanceCase] = counts + random() + extremes + sums

    private static let counts: [ConformanceCase] = [
        ConformanceCase("Q.counts", "Q7", title: "count and exists by condition, by key and of no rows") { context in
            let reference = try ReferenceRows(context, Probe.numbers([nil, 5, 3, nil, 7, 0]))
            try expectEqual(try reference.dao.count(), 6)
            try expectEqual(try reference.dao.count { $0.numberIndexed > 3 }, 2)
            try expectEqual(try reference.dao.count { $0.number == nil }, 2)
            try expectEqual(try reference.dao.count(predicatedBy: "number == 99"), 0)
            try expect(try reference.dao.exists { $0.number == 7 }, "a row with 7")
            try expect(try !reference.dao.exists { $0.numberIndexed == 8 }, "no row with 8")
            try expect(try reference.dao.exists(byPrimaryKey: 6), "a row 6")
            try expect(try !reference.dao.exists(byPrimaryKey: 7), "no row 7")
            try expectEqual(try reference.dao.erase(), 6)
            try expectEqual(try reference.dao.count(), 0)
            try expect(try !reference.dao.exists { $0.id > 0 }, "no row in an empty table")
        },
        ConformanceCase("Q.countInTransaction", "Q7", "T3", title: "counts and totals in a transaction see its own writes") {
            context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...3))
            try expectDeliberate {
                try dao.storage.database.transaction {
                    try dao.create(Item(id: 4, name: "", number: 1000))
                    try dao.erase(byPrimaryKey: 1)
                    try expectEqual(try dao.count(), 3, "the count inside")
                    try expectEqual(try dao.max(\.number), 1000, "the maximum inside")
                    try expectEqual(try dao.min(\.number), 20, "the minimum inside")
                    try expectEqual(try dao.sum(\.number), 1050, "the sum inside")
                    try expect(try dao.exists { $0.number == 1000 }, "the new row inside")
                    throw DeliberateError()
                }
            }
            try expectEqual(try dao.sum(\.number), 60, "the sum after the rollback")
            try expectEqual(try dao.max(\.number), 30, "the maximum after the rollback")
        },
    ]

    private static func random() -> [ConformanceCase] {
        (0..<3).map { part in
            ConformanceCase(
                "Q.totalsOfRandom\(part + 1)", "Q7", "P7",
                title: "totals of 100 random conditions agree with the rows of a complete read"
            ) { context in
                let reference = try ReferenceRows(context, Probe.random(80, seed: UInt64(90 + part)))
                var random = ProbeQueries(seed: UInt64(95 + part))
                for round in 0..<100 {
                    let condition = random.next()
                    let rows = try Query(where: condition).resolved().evaluate(over: reference.rows)
                    let what = "condition \(round), \(condition.node)"
                    try expectEqual(try reference.dao.count(Query(where: condition)), rows.count, "the count of \(what)")
                    try expectEqual(
                        try reference.dao.storage.count(Query(where: condition, limit: 1)) > 0, !rows.isEmpty,
                        "the existence of \(what)")
                    try expectEqual(
                        try reference.dao.min(\.number, where: condition), rows.compactMap(\.number).min(),
                        "the minimum of \(what)")
                    try expectEqual(
                        try reference.dao.max(\.numberIndexed, where: condition),
                        rows.compactMap(\.number).max(), "the maximum of \(what)")
                    try expectEqual(
                        try reference.dao.sum(\.other, where: condition), rows.compactMap(\.other).reduce(0, +),
                        "the sum of \(what)")
                    let amounts = rows.compactMap(\.amount)
                    try expectEqual(
                        try reference.dao.sum(\.amount, where: condition), amounts.reduce(0, +),
                        "the decimal sum of \(what)")
                    let numbers = rows.compactMap(\.number)
                    let mean = numbers.isEmpty ? nil : Double(numbers.reduce(0, +)) / Double(numbers.count)
                    try expectEqual(try reference.dao.average(\.number, where: condition), mean, "the mean of \(what)")
                }
            }
        }
    }

    private static let extremes: [ConformanceCase] = [
        ConformanceCase("Q.extremes", "Q7", "Q2", title: "min and max ignore nil, and order NaN after infinity") { context in
            let reference = try ReferenceRows(context, Probe.reals([nil, 1, .nan, -.infinity, .infinity, nil]))
            try expectSame(try reference.dao.min(\.real), -.infinity)
            try expectSame(try reference.dao.max(\.real), .nan)
            try expectSame(try reference.dao.min(\.realIndexed), -.infinity)
            try expectSame(try reference.dao.max(\.realIndexed), .nan)
            try expectSame(try reference.dao.max(\.realIndexed, where: Condition { $0.realIndexed < .nan }), .infinity)
            try expectSame(try reference.dao.min(\.realIndexed, where: Condition { $0.real > 0 }), 1)
        },
        ConformanceCase("Q.extremesOfText", "Q7", "P2", title: "min and max compare text by bytes and dates by time") { context in
            let texts = try ReferenceRows(context, Probe.texts(["f", "é", nil, "Z", "e\u{301}", "a"]))
            try expectSame(try texts.dao.min(\.text), "Z")
            try expectSame(try texts.dao.max(\.text), "é")
            try expectSame(try texts.dao.min(\.textIndexed), "Z")
            try expectSame(try texts.dao.max(\.textUnique), "é")
            let dates = try ReferenceRows(
                context,
                [5, -5, 0].enumerated().map { OptionalScalars(id: $0 + 1, date: Date(timeIntervalSinceReferenceDate: $1)) })
            try expectSame(try dates.dao.min(\.date), Date(timeIntervalSinceReferenceDate: -5))
            try expectSame(try dates.dao.max(\.date), Date(timeIntervalSinceReferenceDate: 5))
        },
        ConformanceCase(
            "Q.totalsOfACondition", "Q7", title: "totals take a condition as a closure, as a value and as text"
        ) { context in
            let dao = try ReferenceRows(context, Probe.numbers([4, nil, -2, 9, 3, nil])).dao
            let prepared = Condition<Probe> { $0.id > 2 }
            func expectTotals(_ way: String, _ sum: Int, _ least: Int?, _ greatest: Int?, _ mean: Double?) throws {
                try expectEqual(sum, 10, "the sum with \(way)")
                try expectEqual(least, -2, "the minimum with \(way)")
                try expectEqual(greatest, 9, "the maximum with \(way)")
                try expectEqual(mean, 10.0 / 3, "the average with \(way)")
            }
            try expectTotals(
                "a closure", dao.sum(\.number) { $0.id > 2 }, dao.min(\.number) { $0.id > 2 },
                dao.max(\.number) { $0.id > 2 }, dao.average(\.number) { $0.id > 2 })
            try expectTotals(
                "a value", dao.sum(\.number, where: prepared), dao.min(\.number, where: prepared),
                dao.max(\.number, where: prepared), dao.average(\.number, where: prepared))
            try expectTotals(
                "text", dao.sum(\.number, where: "id > 2"), dao.min(\.number, where: "id > 2"),
                dao.max(\.number, where: "id > 2"), dao.average(\.number, where: "id > 2"))
        },
        ConformanceCase("Q.totalsOfNothing", "Q7", title: "without values: no extremes, no mean, and a sum of zero") { context in
            let dao = try context.dao(Probe.self)
            for _ in 0..<2 {
                try expect(try dao.min(\.number) == nil && dao.max(\.numberIndexed) == nil, "no extremes")
                try expect(try dao.average(\.number) == nil, "no mean")
                try expectEqual(try dao.sum(\.number), 0, "the sum")
                try expectSame(try dao.sum(\.real), 0, "the sum of reals")
                try expectEqual(try dao.sum(\.amount), 0, "the sum of decimals")
                try dao.persist([Probe(id: 1), Probe(id: 2)])
            }
            try expect(try dao.min(\.textIndexed) == nil, "no smallest text")
        },
        ConformanceCase(
            "Q.groupsOfUnreadable", "Q11", "V3", "L7",
            title: "a value of a group that cannot be read is corruptedValue with the field, and without a key",
            requires: [.snapshotReads]
        ) { context in
            let (database, states) = try context.open(with: MoodOfDay.self)
            try states.create([MoodOfDay(id: 1, mood: .calm, plain: .calm)])
            // A database that decodes whole rows names the first field that cannot be read: one at a time.
            for (mood, plain) in [("unknown", "calm"), ("calm", "unknown")] {
                try database.rows(of: "mood_of_day").persist([
                    ["id": .integer(2), "mood": .string(mood), "plain": .string(plain)]
                ])
                for _ in 0..<2 {
                    if plain == "unknown" {
                        try expectError(.corruptedValue, "without an index", entity: "mood_of_day", field: "plain") {
                            try states.distinct(\.plain)
                        }
                        continue
                    }
                    try expectError(.corruptedValue, "distinct", entity: "mood_of_day", field: "mood") {
                        try states.distinct(\.mood)
                    }
                    try expectError(.corruptedValue, "of a condition", entity: "mood_of_day", field: "mood") {
                        try states.distinct(\.mood) { $0.id > 0 }
                    }
                    try expectError(.corruptedValue, "groups", entity: "mood_of_day", field: "mood") {
                        try states.groups(by: \.mood, totals: .count)
                    }
                }
            }
        },
    ]

    private static let sums: [ConformanceCase] = [
        ConformanceCase(
            "Q.sumOverflow", "Q7", title: "a sum beyond the range of the field's type is arithmeticOverflow with the field"
        ) { context in
            let reference = try ReferenceRows(
                context,
                [
                    Probe(id: 1, numberIndexed: .max, other: .min, small: 100, big: .max),
                    Probe(id: 2, numberIndexed: 1, other: -1, small: 27, big: 0),
                    Probe(id: 3, numberIndexed: -5, other: 5, small: 1, big: 1),
                ])
            for (field, sum) in [
                ("other", { try reference.dao.sum(\.other, where: Condition { $0.id < 3 }) as Any }),
                ("small", { try reference.dao.sum(\.small) as Any }),
                ("big", { try reference.dao.sum(\.big) as Any }),
                ("numberIndexed", { try reference.dao.sum(\.numberIndexed, where: Condition { $0.id < 3 }) as Any }),
            ] as [(String, () throws -> Any)] {
                try expectError(.arithmeticOverflow, field, entity: "probe", field: field, sum)
            }
            try expectEqual(
                try reference.dao.sum(\.numberIndexed), .max - 4, "a sum whose partial sums leave the range")
            try expectEqual(try reference.dao.sum(\.small, where: Condition { $0.id < 3 }), 127, "a sum at the bound")
            try expectEqual(try reference.dao.sum(\.big, where: Condition { $0.id < 3 }), .max, "a sum at the bound")
            try expectEqual(try reference.dao.average(\.big), Double(UInt64.max) / 3 + 1.0 / 3, "a mean beyond the bound")
        },
        ConformanceCase("Q.sumOfIntegers", "Q7", "P3", title: "a sum of integers beyond 2^53 is exact") { context in
            let reference = try ReferenceRows(context, Probe.numbers([(1 << 53) + 1, 2, 1 << 60, nil]))
            try expectEqual(try reference.dao.sum(\.number), (1 << 53) + 3 + (1 << 60))
            try expectEqual(try reference.dao.sum(\.numberIndexed), (1 << 53) + 3 + (1 << 60))
        },
        ConformanceCase("Q.sumOfReals", "Q7", title: "floating-point sums add in key order, whatever index is used") { context in
            let reals: [Double] = [1e16, 1, -1e16, 0.1, 0.2, 0.3, 1e-20]
            let reference = try ReferenceRows(
                context,
                reals.enumerated().map {
                    Probe(id: $0 + 1, number: 100 - $0, numberIndexed: 100 - $0, real: $1, realIndexed: $1)
                })
            let expected = reals.reduce(0, +)
            try expectSame(try reference.dao.sum(\.real), expected)
            try expectSame(try reference.dao.sum(\.realIndexed), expected)
            try expectSame(
                try reference.dao.sum(\.real, where: Condition { $0.numberIndexed > 0 }), expected,
                "the sum through an index")
            try expectSame(try reference.dao.average(\.realIndexed), expected / 7)
            try reference.dao.create(Probe(id: 99, real: .nan))
            try expectSame(try reference.dao.sum(\.real), .nan, "a sum with NaN")
        },
        ConformanceCase("Q.sumOfDecimals", "Q7", "P3", title: "a sum of decimals is exact: ten times 0.1 is 1") { context in
            let reference = try ReferenceRows(context, (1...10).map { Probe(id: $0, amount: Decimal(1) / 10) })
            try expectEqual(try reference.dao.sum(\.amount), 1)
            try expectEqual(try reference.dao.average(\.amount), 0.1)
            let largest = Decimal.greatestFiniteMagnitude
            try reference.dao.create([Probe(id: 11, amount: largest), Probe(id: 12, amount: largest)])
            try expectError(.arithmeticOverflow, entity: "probe", field: "amount") { try reference.dao.sum(\.amount) }
        },
        ConformanceCase(
            "Q.totalOfUnstored", "Q7", title: "a total of a property that is not stored is invalidQuery or invalidPredicate"
        ) { context in
            let dao = try context.dao(Probe.self)
            try expectError(.invalidQuery, entity: "probe") { try dao.sum(\.doubled) }
            try expectError(.invalidPredicate, entity: "probe") { try dao.min(\.doubled) }
        },
    ]
}

/// A row with an enumeration, with and without an index.
private struct MoodOfDay: Plain, Model {
    var id: Int
    var mood: Mood
    var plain: Mood

    static let schema = Schema(
        "mood_of_day", Self.init, Field("id", \.id, .primaryKey), Field("mood", \.mood, .indexed), Field("plain", \.plain))
}
