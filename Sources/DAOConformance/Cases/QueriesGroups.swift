import DAOCore
import DAOTestSupport
import Foundation

/// Q11: groups by several fields and by dates, counts of rows and of different values, groups in an order and on a condition.
enum QueriesGroups {
    static let cases: [ConformanceCase] = totals + dates

    /// The numbers of fields of probes, with indexes that lead to them and without.
    private static let places: [[Int]] = [[], [11], [11, 9], [9, 11], [11, 7], [9, 14], [5, 13], [12], [4, 11, 9]]

    private static func probes(_ count: Int, seed: UInt64) -> [Probe] {
        var probes = Probe.random(count, seed: seed)
        for index in probes.indices {
            probes[index].other = [nil, 1, 2, 1][index % 4]
            probes[index].big = index % 6 == 0 ? nil : [.max, 1, 1][index % 3]
            probes[index].flag = index % 5 > 1
            probes[index].amount = [nil, Decimal(string: "1.50"), Decimal(string: "1.5"), 2][index % 4]
        }
        return probes
    }

    /// The groups of rows as texts: values, then counts of rows, of those that meet a condition and of the different values of
    /// some fields.
    private static func expected(
        _ rows: [Probe], by places: [Int], _ counted: Condition<Probe>, values: [Int]
    ) throws -> [String] {
        let meeting = Set(try Query(where: counted).resolved().evaluate(over: rows).map(\.id))
        var groups = Dictionary(grouping: rows) { row in places.map { Probe.schema.value(at: $0, of: row) } }
        if places.isEmpty, rows.isEmpty { groups[[]] = [] }
        func isBefore(_ left: [Value], _ right: [Value]) -> Bool {
            zip(left, right).lazy.map { Value.order($0, $1) }.first { $0 != 0 } ?? 0 < 0
        }
        return groups.keys.sorted(by: isBefore).map { key in
            let rows = groups[key] ?? []
            let different: [Int] = values.map { place in
                Set(rows.map { Probe.schema.value(at: place, of: $0) }.filter { !$0.isNull }).count
            }
            return "\(Dump.text(of: key)) \(rows.count) \(rows.count { meeting.contains($0.id) }) \(different)"
        }
    }

    private static let totals: [ConformanceCase] = [
        ConformanceCase(
            "Q.groupsOfSeveral", "Q11", "P7",
            title: "groups of several fields, with counts of rows that meet random conditions and of different values"
        ) { context in
            let reference = try ReferenceRows(context, probes(70, seed: 95))
            var random = ProbeQueries(seed: 96)
            let values = [9, 7, 14, 4, 13]
            for round in 0..<40 {
                let (condition, counted) = (round % 3 == 0 ? .all : random.next(), random.next())
                let rows = try Query(where: condition).resolved().evaluate(over: reference.rows)
                let places = places[round % places.count]
                let query = GroupQuery(
                    by: places, counting: [.rows, .rowsMeeting(counted)] + values.map { .values(field: $0) }, where: condition)
                var found: [String] = []
                try reference.dao.storage.groups(query) { row, counts in
                    let key = Dump.text(of: try places.map { try row.readValue(at: $0) })
                    found.append("\(key) \(counts[0]) \(counts[1]) \(Array(counts[2...]))")
                }
                // A storage may leave the only group out where no row meets the condition.
                if found.isEmpty, places.isEmpty, rows.isEmpty { continue }
                try expectSame(
                    found, expected(rows, by: places, counted, values: values),
                    "round \(round): the groups by \(places) of \(condition.node), counting \(counted.node)")
            }
        },
        ConformanceCase("Q.groupTotals", "Q11", "Q7", title: "the totals of groups of several fields, with their types") {
            context in
            let dao = try context.dao(Item.self)
            var items = Item.make(1...6)
            for (index, note) in ["a", nil, "b", "a", nil, "a"].enumerated() {
                (items[index].note, items[index].name) = (note, index < 3 ? "x" : "y")
            }
            try dao.create(items)
            let groups = try dao.groups(
                by: \.note, \.name, totals: .count, .count { $0.number > 40 }, .countDistinct(\.note), .sum(\.number), .max(\.id))
            try expectSame(
                groups.map { "\($0 ?? "nil") \($1) \($2) \($3) \($4) \($5) \($6 ?? 0)" },
                [
                    "nil x 1 0 0 20 2", "nil y 1 1 0 50 5", "a x 1 0 1 10 1", "a y 2 1 1 100 6", "b x 1 0 1 30 3",
                ])
            let counts = try dao.groups(by: \.name, totals: .count, .countDistinct(\.note)) { $0.id > 1 }
            try expectSame(counts.map { "\($0) \($1) \($2)" }, ["x 2 1", "y 3 1"])
            let firsts = try dao.groups(by: \.note, \.name, first: 1, orderedBy: .descending(\.id))
            try expectSame(
                firsts.map { "\($0 ?? "nil") \($1) \($2.map(\.id))" },
                ["nil x [2]", "nil y [5]", "a x [1]", "a y [6]", "b x [3]"], "the first rows of groups of two fields")
        },
        ConformanceCase("Q.totalsAtOnce", "Q11", "Q7", title: "several totals of all rows in one call, also of no rows") {
            context in
            let dao = try context.dao(Item.self)
            for round in 0..<2 {
                let (all, large, names, last) = try dao.totals(
                    .count, .count { $0.number > 20 }, .countDistinct(\.name), .max(\.number))
                try expectSame(
                    "\(all) \(large) \(names) \(last ?? -1)", round == 0 ? "0 0 0 -1" : "4 2 4 40", "with a value of the rows")
                let (few, more) = try dao.totals(.count, .count { $0.number == 30 }) { $0.id > 2 }
                try expectSame("\(few) \(more)", round == 0 ? "0 0" : "2 1", "of rows that meet a condition")
                let none = try dao.totals(.count) { $0.id.in([]) }
                try expectEqual(none, 0, "of no row")
                try dao.persist(Item.make(1...4))
            }
            try dao.set(\.number, to: .max, where: .all)
            try expectError(.arithmeticOverflow, "a sum", entity: "item", field: "number") {
                try dao.totals(.count, .sum(\.number)).0
            }
        },
        ConformanceCase(
            "Q.groupsInOrder", "Q11", "Q3", title: "groups in the order of totals, limited, and on a condition on totals"
        ) { context in
            let dao = try context.dao(OptionalScalars.self)
            let texts: [String?] = ["b", nil, "a", "b", "d", "a", nil, "b", "c", nil]
            try dao.create(texts.enumerated().map { OptionalScalars(id: $0, int: $0 % 3 == 0 ? nil : $0, string: $1) })
            func names(_ groups: [(String?, Int)]) -> [String] { groups.map { "\($0 ?? "nil") \($1)" } }
            try expectEqual(
                names(try dao.groups(by: \.string, totals: .count, orderedBy: .descending(.count))),
                ["nil 3", "b 3", "a 2", "c 1", "d 1"], "the greatest first, equal ones in the order of their values")
            try expectEqual(
                names(try dao.groups(by: \.string, totals: .count, orderedBy: .descending(.count), limit: 3)),
                ["nil 3", "b 3", "a 2"], "the first three")
            try expectEqual(
                names(try dao.groups(by: \.string, totals: .count, orderedBy: .ascending(.count), limit: 1)), ["c 1"],
                "the smallest")
            try expectEqual(
                names(try dao.groups(by: \.string, totals: .count, orderedBy: .descending(.count { $0.id > 5 }), limit: 2)),
                ["nil 3", "b 3"], "by a total that is not asked for")
            try expectEqual(
                names(
                    try dao.groups(
                        by: \.string, totals: .count, orderedBy: .descending(.max(\.int)), .ascending(.count), limit: 4)),
                ["c 1", "b 3", "a 2", "d 1"], "by a total of values")
            try expectEqual(
                names(try dao.groups(by: \.string, totals: .count, orderedBy: .ascending(.max(\.int)), limit: 2)),
                ["nil 3", "d 1"], "by the smallest of their greatest values")
            try expectEqual(names(try dao.groups(by: \.string, totals: .count, limit: 2)), ["nil 3", "a 2"], "without an order")
            try expectEqual(names(try dao.groups(by: \.string, totals: .count, limit: 0)), [], "no groups")
            try expectEqual(
                names(try dao.groups(by: \.string, totals: .count, limit: 2, having: .count < 3)), ["a 2", "c 1"],
                "the limit counts groups that meet the condition")
            try expectEqual(
                names(
                    try dao.groups(
                        by: \.string, totals: .count, having: .any(.count == 1, .all(.not(.max(\.int) > 5), .count > 2)))),
                ["nil 3", "c 1", "d 1"], "a condition of several parts")
            try expectEqual(
                names(try dao.groups(by: \.string, totals: .count, having: .min(\.int) == nil)), [], "nil of a total")
            try expectError(.invalidQuery, "a negative limit", entity: OptionalScalars.schema.description.name) {
                try dao.groups(by: \.string, totals: .count, limit: -1).count
            }
        },
    ]

    private static let dates: [ConformanceCase] = [
        ConformanceCase(
            "Q.groupsOfDays", "Q11", title: "groups of days, months and years of a time zone, also where its clocks change"
        ) { context in
            let dao = try context.dao(OptionalScalars.self)
            let berlin = try zone("Europe/Berlin")
            // 2024-03-30T22:30Z is the 30th in Berlin, 23:30Z the 31st; on the 31st the clocks go forward.
            let texts = [
                "2024-03-30T22:30:00Z", "2024-03-30T23:30:00Z", "2024-03-31T21:59:59Z", "2024-03-31T22:00:00Z",
                "2024-02-29T12:00:00Z", "2023-12-31T23:00:00Z", "2023-12-31T22:59:59Z", "1999-12-31T23:59:59Z",
            ]
            let dates: [Date?] = try texts.map(date) + [nil, nil]
            try dao.create(dates.enumerated().map { OptionalScalars(id: $0, date: $1) })
            func groups(_ found: [(Date?, Int)]) -> [String] { found.map { "\($0.map(text) ?? "nil") \($1)" } }
            try expectEqual(
                groups(try dao.groups(per: .day(\.date, in: berlin), totals: .count)),
                [
                    "nil 2", "1999-12-31T23:00:00Z 1", "2023-12-30T23:00:00Z 1", "2023-12-31T23:00:00Z 1",
                    "2024-02-28T23:00:00Z 1", "2024-03-29T23:00:00Z 1", "2024-03-30T23:00:00Z 2", "2024-03-31T22:00:00Z 1",
                ], "days")
            try expectEqual(
                groups(try dao.groups(per: .month(\.date, in: berlin), totals: .count)),
                [
                    "nil 2", "1999-12-31T23:00:00Z 1", "2023-11-30T23:00:00Z 1", "2023-12-31T23:00:00Z 1",
                    "2024-01-31T23:00:00Z 1", "2024-02-29T23:00:00Z 3", "2024-03-31T22:00:00Z 1",
                ], "months")
            try expectEqual(
                groups(try dao.groups(per: .year(\.date, in: berlin), totals: .count) { $0.date != nil }),
                ["1999-12-31T23:00:00Z 1", "2022-12-31T23:00:00Z 1", "2023-12-31T23:00:00Z 6"], "years")
            try expectEqual(
                groups(
                    try dao.groups(
                        per: .month(\.date, in: .gmt), totals: .count, orderedBy: .descending(.count), limit: 2,
                        having: .max(\.id) < 8)),
                ["2024-03-01T00:00:00Z 4", "2023-12-01T00:00:00Z 2"], "the busiest months of UTC")
        },
        ConformanceCase(
            "Q.groupsOfOddDays", "Q11", title: "days without a midnight, days that were left out, and dates in no calendar"
        ) { context in
            let dao = try context.dao(OptionalScalars.self)
            func firsts(_ dates: [Date], _ part: DatePart<OptionalScalars, Date?>) throws -> [String] {
                try dao.erase(where: .all)
                try dao.create(dates.enumerated().map { OptionalScalars(id: $0, date: $1) })
                return try dao.groups(per: part, totals: .count).map { "\($0.map(text) ?? "nil") \($1)" }
            }
            // The clocks of São Paulo went from 23:59:59 on the 3rd to 01:00 on the 4th.
            try expectEqual(
                try firsts(
                    [date("2018-11-04T02:59:59Z"), date("2018-11-04T03:00:00Z"), date("2018-11-05T01:59:59Z")],
                    .day(\.date, in: zone("America/Sao_Paulo"))),
                ["2018-11-03T03:00:00Z 1", "2018-11-04T03:00:00Z 2"], "a day without a midnight")
            // In Samoa the 29th of December was followed by the 31st.
            try expectEqual(
                try firsts(
                    [date("2011-12-30T09:59:59Z"), date("2011-12-30T10:00:00Z"), date("2011-12-31T10:00:00Z")],
                    .day(\.date, in: zone("Pacific/Apia"))),
                ["2011-12-29T10:00:00Z 1", "2011-12-30T10:00:00Z 1", "2011-12-31T10:00:00Z 1"], "a day that was left out")
            let odd: [Double] = [-.infinity, -1e300, -0.25, 0, 86_399.999, 1e300, .infinity, .nan]
            try dao.erase(where: .all)
            try dao.create(
                odd.enumerated().map { OptionalScalars(id: $0, date: Date(timeIntervalSinceReferenceDate: $1)) })
            let found = try dao.groups(per: .day(\.date, in: .gmt), totals: .count)
            try expectSame(
                found.map { "\($0?.timeIntervalSinceReferenceDate ?? 99) \($1)" },
                ["-inf 1", "-1e+300 1", "-86400.0 1", "0.0 2", "1e+300 1", "inf 1", "nan 1"], "dates in no calendar")
            let (edge, day) = (0x1p41, 86_400.0)
            func start(_ seconds: Double) -> Double { (seconds / day).rounded(.down) * day }
            try dao.erase(where: .all)
            try dao.create(
                [-edge - 1, -edge, -edge + 1, edge - 1, edge, edge + 1].enumerated().map {
                    OptionalScalars(id: $0, date: Date(timeIntervalSinceReferenceDate: $1))
                })
            try expectSame(
                try dao.groups(per: .day(\.date, in: .gmt), totals: .count).map {
                    "\($0?.timeIntervalSinceReferenceDate ?? 99) \($1)"
                },
                ["\(start(-edge)) 2", "\(-edge - 1) 1", "\(start(edge)) 2", "\(edge + 1) 1"], "dates at the ends of the calendar")
        },
        ConformanceCase(
            "Q.groupsOfManyDays", "Q11", title: "the days of 400 random dates in five time zones are Foundation's"
        ) { context in
            let dao = try context.dao(OptionalScalars.self)
            var random = SeededGenerator(seed: 97)
            let dates = (0..<400).map { _ in
                Date(timeIntervalSinceReferenceDate: Double(random.below(3_000_000_000)) - 1_500_000_000 + 0.5)
            }
            try dao.create(dates.enumerated().map { OptionalScalars(id: $0, int: $0 % 3, date: $1) })
            for name in ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Auckland"] {
                var calendar = Calendar(identifier: .gregorian)
                calendar.timeZone = try zone(name)
                for unit in [Calendar.Component.day, .month, .year] {
                    let part: DatePart<OptionalScalars, Date?> =
                        switch unit {
                        case .day: .day(\.date, in: calendar.timeZone)
                        case .month: .month(\.date, in: calendar.timeZone)
                        default: .year(\.date, in: calendar.timeZone)
                        }
                    let expected = (0..<3).flatMap { number in
                        Dictionary(grouping: dates.indices.filter { $0 % 3 == number }) {
                            calendar.dateInterval(of: unit, for: dates[$0])?.start ?? .distantPast
                        }.map { (start: $0, number: number, ids: $1) }
                    }.sorted { ($0.start, $0.number) < ($1.start, $1.number) }
                    let found = try dao.groups(per: part, by: \.int, totals: .count, .min(\.id))
                    try expectSame(
                        found.map { "\($0.map(text) ?? "nil") \($1 ?? -1) \($2) \($3 ?? -1)" },
                        expected.map { "\(text($0.start)) \($0.number) \($0.ids.count) \($0.ids.min() ?? -1)" },
                        "\(unit) in \(name)")
                }
            }
        },
    ]

    private static func zone(_ name: String) throws -> TimeZone {
        try require(TimeZone(identifier: name), "the time zone '\(name)'")
    }

    private static func date(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

    private static func text(_ date: Date) -> String { date.formatted(.iso8601) }
}
