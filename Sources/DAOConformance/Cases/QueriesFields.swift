import DAOCore
import DAOTestSupport
import Foundation

/// Q10 and Q11: some fields of the rows, their different values, and groups.
enum QueriesFields {
    static let cases: [ConformanceCase] = fields + groups

    private static let fields: [ConformanceCase] = [
        ConformanceCase("Q.fields", "Q10", title: "a read of some fields gives them for every row, in the order of the query") {
            context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...9))
            try dao.set(\.note, to: "n") { $0.id > 7 }
            try expectEqual(try dao.read(\.name), (1...9).map { "Item #\($0)" }, "the names")
            let pairs = try dao.read(\.number, \.id, orderedBy: .descending(\.name), limit: 3, offset: 1) { $0.id < 7 }
            try expectSame(pairs.map { [$0.0, $0.1] }, [[50, 5], [40, 4], [30, 3]], "the window")
            let notes = try dao.read(\.note, \.note, \.id, where: Condition { $0.id.in([2, 8]) })
            try expectSame(notes.map { "\($0 ?? "-") \($1 ?? "-") \($2)" }, ["- - 2", "n n 8"])
            try expectEqual(try dao.read(\.id, where: Condition { $0.id.in([]) }), [])
            try expectEqual(try dao.read(\.id, limit: 0), [])
            try expectError(.invalidQuery, "a negative limit", entity: "item") { try dao.read(\.id, limit: -1) }
        },
        ConformanceCase("Q.fieldsOfRelated", "Q10", "R9", "P5", title: "some fields of rows and of the one row that they lead to")
        {
            context in
            let database = try context.open()
            let (topics, errands) = (try database.dao(Topic.self), try database.dao(Errand.self))
            let (ada, bo) = (Person(id: 1, name: "Ada", age: 36), Person(id: 2, name: "Bo"))
            try database.dao(Person.self).create([ada, bo, Person(id: 3, name: "Cy")])
            try topics.create([
                Topic(id: "a", title: "z", owner: ada, posts: Post.make([1])), Topic(id: "b", title: "y", owner: bo),
                Topic(id: "c", title: "x"), Topic(id: "d", title: "w", owner: ada),
            ])
            let read = try topics.read(fields: { ($0.title, $0.owner.name, $0.owner.age, $0.id) })
            try expectSame(
                read.map { "\($0) \($1 ?? "-") \($2.map(String.init) ?? "-") \($3)" },
                ["z Ada 36 a", "y Bo - b", "x - - c", "w Ada 36 d"], "of an optional row")
            let sorted = try topics.read(
                fields: { ($0.owner.name, $0.id) }, orderedBy: .descending(\.owner, \.name), .ascending(\.title), limit: 3)
            try expectSame(sorted.map { "\($0 ?? "-") \($1)" }, ["Bo b", "Ada d", "Ada a"], "in an order of related rows")
            let some = try topics.read(fields: { ($0.owner.id, $0.title) }, offset: 1) { $0.owner.name == "Ada" }
            try expectSame(some.map { "\($0.map(String.init) ?? "-") \($1)" }, ["1 w"], "on a condition of related rows")
            let own = try topics.read(fields: { ($0.title, $0.id) }, limit: 2)
            try expectSame(own.map { "\($0) \($1)" }, ["z a", "y b"], "of the rows alone")
            try errands.create([
                Errand(id: 1, title: "one", owner: Reference(ada)),
                Errand(id: 2, title: "two", whole: Reference(1), owner: Reference(bo), helper: Reference(3)),
            ])
            let tasks = try errands.read(
                fields: { ($0.title, $0.owner.name, $0.helper.name, $0.whole.title, $0.owner) }, where: .all)
            try expectSame(
                tasks.map { "\($0) \($1 ?? "-") \($2 ?? "-") \($3 ?? "-") \($4.uniqueId.rawValue)" },
                ["one Ada - - 1", "two Bo Cy one 2"],
                "of References")
            let visible = errands.scoped { $0.id > 1 }
            let scoped = try visible.read(fields: { ($0.id, $0.owner.name) })
            try expectSame(scoped.map { "\($0) \($1 ?? "-")" }, ["2 Bo"], "of a scoped DAO")
            try expectRollback(of: database) {
                try database.dao(Person.self).set(\.name, to: "B") { $0.id == 2 }
                let changed = try errands.read(fields: { ($0.id, $0.owner.name) })
                try expectSame(changed.map { "\($0) \($1 ?? "-")" }, ["1 Ada", "2 B"], "own writes")
            }
            try expectError(.invalidQuery, entity: "topic", field: "posts") {
                try topics.read(fields: { ($0.id, $0.posts) }).count
            }
            try expectError(.invalidQuery, entity: "topic") { try topics.read(fields: { ($0.id, $0.posts.count) }).count }
            try expectError(.invalidQuery, entity: "errand") { try errands.read(fields: { ($0.id, $0.whole.owner.name) }).count }
        },
        ConformanceCase(
            "Q.fieldsOfEachKind", "Q10", "V1", title: "fields of each kind are those of the row, and of the row that it leads to"
        ) { context in
            let sheets = try context.dao(Sheet.self)
            let date = Date(timeIntervalSinceReferenceDate: 5.25)
            let price = Decimal(sign: .minus, exponent: -2, significand: 1_234_567)
            try sheets.create([
                Sheet(id: 1, isDone: true, day: date, price: price, length: .milliseconds(1500), due: date, other: nil),
                Sheet(id: 2, isDone: false, day: date + 1, price: 0, length: .zero, due: nil, other: Reference(1)),
            ])
            let done = try sheets.read(fields: { ($0.isDone, $0.other.isDone) }).map { [$0.0, $0.1] }
            try expectEqual(done, [[true, nil], [false, true]], "truth values")
            let days = try sheets.read(fields: { ($0.day, $0.other.day, $0.due, $0.other.due) }).map { [$0.0, $0.1, $0.2, $0.3] }
            try expectEqual(days, [[date, nil, date, nil], [date + 1, date, nil, date]], "dates")
            let prices = try sheets.read(fields: { ($0.price, $0.other.price) }).map { [$0.0, $0.1] }
            try expectEqual(prices, [[price, nil], [0, price]], "decimal numbers")
            let lengths = try sheets.read(fields: { ($0.length, $0.other.length) }).map { [$0.0, $0.1] }
            try expectEqual(lengths, [[.milliseconds(1500), nil], [.zero, .milliseconds(1500)]], "durations")
        },
        ConformanceCase("Q.fieldsOfRandom", "Q10", "P7", title: "some fields of 60 random queries are those of the whole rows") {
            context in
            let reference = try ReferenceRows(context, Probe.random(60, seed: 81))
            var random = ProbeQueries(seed: 82)
            for round in 0..<60 {
                let query = Query(
                    where: random.next(), orderedBy: random.order(), limit: round % 3 == 0 ? 7 : nil, offset: round % 4)
                let rows = try query.resolved().evaluate(over: reference.rows)
                var found: [[Value]] = []
                let places = [13, 7, 4, 9]
                try reference.dao.storage.readFields(places, query) { row in
                    found.append(try places.map { try row.readValue(at: $0) })
                }
                let expected = rows.map { row in places.map { Probe.schema.value(at: $0, of: row) } }
                try expectSame(found, expected, "the fields of query \(round), \(query.predicate.node)")
            }
        },
        ConformanceCase("Q.fieldsOfIndexes", "Q10", "Q9", title: "fields that an index has are those of the whole rows") {
            context in
            let reference = try ReferenceRows(context, indexedProbes())
            let conditions: [Condition<Probe>] = [
                .all, Condition { $0.flag == true }, Condition { $0.flag == true && $0.real >= -1 }, Condition { $0.big > 7 },
                Condition { $0.textIndexed.hasPrefix("l") }, Condition { $0.other == 3 }, Condition { $0.realIndexed <= 0 },
            ]
            let (up, down): (Sort<Probe>, Sort<Probe>) = (.ascending(\.textIndexed), .descending(\.realIndexed))
            for condition in conditions {
                for order in [[], [up], [down], [.descending(\.flag)], [.ascending(\.big)], [.descending(\.other)]] {
                    let query = Query(where: condition, orderedBy: order, limit: 25, offset: 2)
                    let rows = try query.resolved().evaluate(over: reference.rows)
                    for places in [[0, 5], [8], [10, 0, 7, 11], [13, 4], [9, 14], [9, 12], [9]] {
                        var found: [String] = []
                        try reference.dao.storage.readFields(places, query) { row in
                            found.append(Dump.text(of: try places.map { try row.readValue(at: $0) }))
                        }
                        let expected = rows.map { row in Dump.text(of: places.map { Probe.schema.value(at: $0, of: row) }) }
                        try expectSame(found, expected, "the fields \(places) of \(query)")
                    }
                }
            }
        },
        ConformanceCase("Q.fieldsOfParents", "Q10", "P5", title: "fields are read with conditions and sorts on related rows") {
            context in
            let database = try context.open()
            let topics = try database.dao(Topic.self)
            let (ada, ben) = (Person(id: 1, name: "Ada"), Person(id: 2, name: "Ben"))
            try topics.create([
                Topic(id: "a", title: "x", owner: ben, posts: Post.make(1...2)), Topic(id: "b", title: "y", owner: ada),
                Topic(id: "c", title: "x", posts: Post.make([3])),
            ])
            try expectEqual(try topics.read(\.id) { $0.posts.count > 0 }, ["a", "c"])
            try expectEqual(try topics.read(\.title, orderedBy: .descending(\.owner, \.name)), ["x", "y", "x"])
            try expectEqual(try topics.read(\.id, orderedBy: .ascending(\.owner, \.name), limit: 2), ["c", "b"])
            try expectEqual(try topics.distinct(\.title) { $0.posts.count > 0 }, ["x"])
            try expectSame(try topics.groups(by: \.title, totals: .count).map { "\($0) \($1)" }, ["x 2", "y 1"])
            let error = "'posts' of 'topic' is a relationship; read whole values"
            try expectError(.invalidQuery, "a list", entity: "topic", field: "posts", message: error) {
                try topics.read(\.posts).count
            }
            try expectError(.invalidQuery, "a related row", entity: "topic", field: "owner") {
                try topics.read(\.id, \.owner).count
            }
        },
        ConformanceCase("Q.uuidsOfIndex", "Q10", "Q9", title: "UUIDs are read as they are stored, also where an index has them") {
            context in
            let crates = try context.dao(Crate.self)
            var stored = Crate.make(12)
            for index in stored.indices {
                stored[index].code =
                    index % 4 == 0 ? nil : UUID(uuidString: "00FF1020-3040-5060-7080-90A0B0C0D0\(20 + index % 3)")
            }
            try crates.create(stored)
            let sorted = stored.map(\.code).sorted { ($0?.uuidString ?? "") < ($1?.uuidString ?? "") }
            try expectEqual(try crates.read(\.code, orderedBy: .ascending(\.code)), sorted)
            try expectEqual(try crates.read(\.code, orderedBy: .descending(\.code), limit: 5), Array(sorted.reversed().prefix(5)))
            try expectEqual(try crates.distinct(\.code), Set(sorted).sorted { ($0?.uuidString ?? "") < ($1?.uuidString ?? "") })
            let groups = try crates.groups(by: \.code, totals: .count) { $0.code != nil }
            try expectEqual(groups.map(\.1), [3, 3, 3])
            try expectEqual(
                try crates.read(\.code, \.id, orderedBy: .descending(\.code), .descending(\.id), limit: 2).map(\.0),
                Array(sorted.reversed().prefix(2)))
        },
        ConformanceCase(concurrent: "Q.fieldsAsync", "Q10", "Q11", title: "async forms give fields and groups") { context in
            let dao = try context.open().dao(Item.self)
            try await dao.create(Item.make(1...4))
            let names = try await dao.read(\.name, \.id) { $0.id > 3 }
            try expectSame(names.map { "\($0) \($1)" }, ["Item #4 4"])
            let ids = try await dao.read(\.id, orderedBy: .descending(\.id))
            try expectEqual(ids, [4, 3, 2, 1])
            let numbers = try await dao.distinct(\.number) { $0.id < 3 }
            try expectEqual(numbers, [10, 20])
            let groups = try await dao.groups(by: \.note, totals: .count, .sum(\.number)) { $0.id < 3 }
            try expectSame(groups.map { "\($0 ?? "nil") \($1) \($2)" }, ["nil 2 30"])
        },
    ]

    private static let long = String(repeating: "long ", count: 200)

    /// Probes with few values in indexed fields, some of them longer than entries of an index.
    private static func indexedProbes() -> [Probe] {
        var probes = Probe.random(60, seed: 93)
        for index in probes.indices {
            probes[index].otherText = [nil, "", "a", "a\0", long, long + "1", long + "2"][index % 7]
            probes[index].textIndexed = probes[index].otherText
            probes[index].text = probes[index].otherText
            probes[index].real = [nil, .nan, 0, -1, 1][index % 5]
            probes[index].flag = index % 11 > 2
            probes[index].realIndexed = [-0.0, nil, -.infinity, 0, -2.5, .nan, 1e300][index % 7]
            probes[index].big = index % 13 == 0 ? nil : [.max, 1, UInt64(index)][index % 3]
            probes[index].other = index % 4
        }
        return probes
    }

    private static let groups: [ConformanceCase] = [
        ConformanceCase("Q.distinct", "Q11", "P2", "P3", title: "distinct values are compared as conditions compare them") {
            context in
            let dao = try context.dao(OptionalScalars.self)
            let texts: [String?] = ["b", nil, "é", "e\u{301}", "B", "", "b", nil, "a\0", "a"]
            let reals: [Double?] = [.nan, 0, -0.0, nil, -.nan, .infinity, 1, 1, nil, -1]
            let numbers: [String?] = ["1", "1.0", nil, "10", "9", "-2.50", "-2.5", nil, "1", "9"]
            let decimals = numbers.map { $0.flatMap { Decimal(string: $0) } }
            let large: [UInt64?] = [.max, 1, nil, .max, UInt64(Int64.max), UInt64(Int64.max) + 1, 1, nil, 0, 0]
            try dao.create(
                (0..<10).map {
                    OptionalScalars(id: $0, uint64: large[$0], double: reals[$0], decimal: decimals[$0], string: texts[$0])
                })
            try expectSame(try dao.distinct(\.string), [nil, "", "B", "a", "a\0", "b", "e\u{301}", "é"])
            try expectSame(try dao.distinct(\.double), [nil, -1, 0, 1, .infinity, .nan])
            try expectSame(try dao.distinct(\.decimal), [nil, Decimal(string: "-2.5"), 1, 9, 10])
            try expectSame(try dao.distinct(\.uint64), [nil, 0, 1, UInt64(Int64.max), UInt64(Int64.max) + 1, .max])
            try expectSame(try dao.distinct(\.string) { $0.id > 7 }, ["a", "a\0"])
            try expectSame(try dao.distinct(\.string) { $0.id.in([]) }, [])
            try expectSame(
                try dao.distinct(\.uint64, \.decimal) { $0.id > 5 }.map { "\($0.0 ?? 99) \($0.1 ?? 99)" },
                ["99 99", "0 1", "0 9", "1 -2.5"], "pairs")
            let counts = try dao.groups(by: \.double, totals: .count)
            try expectSame(counts.map { "\($0.0 ?? 99) \($0.1)" }, ["99.0 2", "-1.0 1", "0.0 2", "1.0 2", "inf 1", "nan 2"])
        },
        ConformanceCase("Q.groups", "Q11", "Q7", title: "groups have the totals of their rows") { context in
            let dao = try context.dao(Item.self)
            var items = Item.make(1...6)
            for (index, note) in ["a", nil, "b", "a", nil, "a"].enumerated() { items[index].note = note }
            try dao.create(items)
            let groups = try dao.groups(by: \.note, totals: .count, .sum(\.number), .min(\.id), .max(\.name), .average(\.number))
            try expectSame(
                groups.map { "\($0 ?? "nil") \($1) \($2) \($3 ?? 0) \($4 ?? "") \($5 ?? 0)" },
                ["nil 2 70 2 Item #5 35.0", "a 3 110 1 Item #6 \(110.0 / 3)", "b 1 30 3 Item #3 30.0"])
            let sums = try dao.groups(by: \.note, totals: .sum(\.number)) { $0.number > 30 }
            try expectSame(sums.map { "\($0 ?? "nil") \($1)" }, ["nil 50", "a 100"])
            try dao.set(\.number, to: .max) { $0.note == "a" }
            try expectError(.arithmeticOverflow, "a sum", entity: "item", field: "number") {
                try dao.groups(by: \.note, totals: .sum(\.number)).count
            }
            let none = try dao.groups(by: \.note, totals: .count) { $0.id > 99 }
            try expect(none.isEmpty, "no groups of no rows")
        },
        ConformanceCase("Q.groupsOfRandom", "Q11", "Q7", "P7", title: "groups of 60 random conditions agree with the rows") {
            context in
            let reference = try ReferenceRows(context, Probe.random(80, seed: 91))
            var random = ProbeQueries(seed: 92)
            for round in 0..<60 {
                let condition = random.next()
                let rows = try Query(where: condition).resolved().evaluate(over: reference.rows)
                let what = "condition \(round), \(condition.node)"
                for place in [1, 4, 7, 11, 13, 14] {
                    func value(_ row: Probe) -> Value { Probe.schema.value(at: place, of: row) }
                    let expected = Dictionary(grouping: rows, by: value)
                        .sorted { Value.order($0.key, $1.key) < 0 }.map { "\(Dump.text(of: $0.key)) \($0.value.count)" }
                    var found: [String] = []
                    try reference.dao.storage.groups(GroupQuery(by: [place], counting: [.rows], where: condition)) {
                        row, counts in
                        found.append("\(Dump.text(of: try row.readValue(at: place))) \(counts[0])")
                    }
                    try expectSame(found, expected, "the groups by field \(place) of \(what)")
                }
                let sums = try reference.dao.groups(by: \.flag, totals: .count, .sum(\.real), .max(\.text), where: condition)
                let expected = [false, true].compactMap { flag -> String? in
                    let group = rows.filter { $0.flag == flag }
                    if group.isEmpty { return nil }
                    let texts = group.compactMap(\.text).map(Value.string).max { Value.order($0, $1) < 0 }
                    let sum = group.compactMap(\.real).reduce(0, +)
                    return "\(flag) \(group.count) \(sum.isNaN ? .nan : sum) \(Dump.text(of: texts ?? .null))"
                }
                try expectSame(
                    sums.map { "\($0) \($1) \($2.isNaN ? .nan : $2) \(Dump.text(of: $3.map(Value.string) ?? .null))" }, expected,
                    "the totals of \(what)")
            }
        },
        ConformanceCase(
            "Q.groupsOfIndexes", "Q11", "Q9", title: "groups of indexed fields, also of long texts, agree with the rows"
        ) {
            context in
            let reference = try ReferenceRows(context, indexedProbes())
            let conditions: [Condition<Probe>] = [
                .all, Condition { $0.flag == true }, Condition { $0.flag == true && $0.real.in([0, 1]) },
                Condition { $0.flag.in([true, false]) && $0.real != nil }, Condition { $0.big > 7 },
                Condition { $0.textIndexed.hasPrefix("long") }, Condition { $0.other.in([1, 3]) && $0.amount != nil },
                Condition { $0.textIndexed == long + "1" }, Condition { $0.flag == true && $0.number > 0 },
                Condition { $0.flag == false && $0.real == 1 }, Condition { $0.big == .max }, Condition { $0.other == 2 },
                Condition { $0.textIndexed == long },
            ]
            for condition in conditions {
                let rows = try Query(where: condition).resolved().evaluate(over: reference.rows)
                for places in [[5], [11], [11, 7], [11, 7, 10], [13], [13, 4], [9], [9, 14], [7, 11], [7], [4], [14, 12]] {
                    let what = "the groups by fields \(places) of \(condition.node)"
                    func values(_ row: Probe) -> [Value] { places.map { Probe.schema.value(at: $0, of: row) } }
                    let expected = Dictionary(grouping: rows, by: values).sorted { left, right in
                        zip(left.key, right.key).lazy.map { Value.order($0, $1) }.first { $0 != 0 } ?? 0 < 0
                    }
                    for counted in [true, false] {
                        var found: [(values: String, count: Int)] = []
                        let query = GroupQuery(by: places, counting: counted ? [.rows] : [], where: condition)
                        try reference.dao.storage.groups(query) { row, counts in
                            found.append((Dump.text(of: try places.map { try row.readValue(at: $0) }), counts.first ?? 0))
                        }
                        try expectSame(
                            found.map { "\($0.values) \($0.count)" },
                            expected.map { "\(Dump.text(of: $0.key)) \(counted ? $0.value.count : 0)" }, what)
                    }
                }
            }
        },
        ConformanceCase("Q.groupsOfOddNames", "Q11", title: "fields can have names that are words of a query language") {
            context in
            let dao = try context.dao(Switch.self)
            try dao.create((0..<6).map { Switch(id: $0, isOn: $0 > 2, place: $0 % 2) })
            try expectEqual(try dao.distinct(\.isOn), [false, true])
            try expectEqual(try dao.distinct(\.place) { $0.isOn == true }, [0, 1])
            let pairs = try dao.distinct(\.place, \.isOn)
            try expectSame(pairs.map { "\($0) \($1)" }, ["0 false", "0 true", "1 false", "1 true"])
            try expectSame(try dao.groups(by: \.isOn, totals: .count).map { "\($0) \($1)" }, ["false 3", "true 3"])
        },
        ConformanceCase("Q.firstOfGroups", "Q11", "Q3", title: "the first rows of each group, in an order") { context in
            let dao = try context.dao(OptionalScalars.self)
            let reals: [Double?] = [.nan, 0, -0.0, nil, .nan, 1, nil, 0]
            try dao.create(reals.enumerated().map { OptionalScalars(id: $0, int: 9 - $0, double: $1) })
            func ids(
                _ groups: [(Double?, [OptionalScalars])]
            ) -> [String] { groups.map { "\($0.map { "\($0)" } ?? "nil") \($1.map(\.id))" } }
            try expectEqual(
                ids(try dao.groups(by: \.double, first: 2, orderedBy: .ascending(\.int))),
                ["nil [6, 3]", "0.0 [7, 2]", "1.0 [5]", "nan [4, 0]"])
            try expectEqual(
                ids(try dao.groups(by: \.double, first: 1) { $0.id.between(1, and: 4) }), ["nil [3]", "0.0 [1]", "nan [4]"],
                "with a condition")
            try expectEqual(ids(try dao.groups(by: \.double, first: 0) { $0.id < 2 }), ["0.0 []", "nan []"], "no rows")
            try expectEqual(ids(try dao.groups(by: \.double, first: 1) { $0.id > 99 }), [], "no groups")
            let entity = OptionalScalars.schema.description.name
            try expectError(.invalidQuery, entity: entity) { try dao.groups(by: \.double, first: -1).count }
        },
        ConformanceCase("Q.groupsInTransaction", "Q11", "T3", title: "groups and fields in a transaction see its own writes") {
            context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make(1...2))
            try expectRollback(of: database) {
                try dao.create(Item(id: 3, name: "Item #1", number: 5))
                try expectEqual(try dao.read(\.number), [10, 20, 5])
                try expectEqual(try dao.distinct(\.name), ["Item #1", "Item #2"])
                try expectSame(try dao.groups(by: \.name, totals: .count).map { "\($0) \($1)" }, ["Item #1 2", "Item #2 1"])
            }
            try expectEqual(try dao.read(\.number), [10, 20])
        },
    ]
}

private struct Switch: Plain, Model {
    var id: Int
    var isOn: Bool
    var place: Int

    static let schema = Schema(
        "group", Self.init, Field("id", \.id, .primaryKey), Field("true", \.isOn, .indexed), Field("false", \.place))
}

/// A row with fields that are stored in another form than their Swift type has.
private struct Sheet: Numbered {
    var id: Int
    var isDone: Bool
    var day: Date
    var price: Decimal
    var length: Duration
    var due: Date?
    var other: Reference<Sheet>?

    static let schema = Schema(
        "sheet", Self.init,
        Field("id", \.id, .primaryKey), Field("isDone", \.isDone), Field("day", \.day), Field("price", \.price),
        Field("length", \.length), Field("due", \.due), Field("other", \.other))
}
