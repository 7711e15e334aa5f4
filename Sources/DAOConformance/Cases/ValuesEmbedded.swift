import DAOCore
import Foundation

extension EntityRows {
    /// What the catalog says of the embedded fields.
    fileprivate func entityContents() throws -> [String] {
        try entity.fields.compactMap { field in field.content.map { "\(field.name): \($0)" } }
    }
}

/// V4: arrays of scalars and `Codable` values inside a field.
enum ValuesEmbedded {
    static let cases: [ConformanceCase] = [
        ConformanceCase("V.emptyArrays", "V4", title: "empty arrays are stored, and are not nil") { context in
            try context.expectKept([Embeddings(id: 1, list: []), Embeddings(id: 2, list: nil), Embeddings(id: 3, list: [""])])
        },
        ConformanceCase("V.arraysOfIntegers", "V4", title: "arrays of integers keep order, repetition and extremes") { context in
            try context.expectKept([
                Embeddings(
                    id: 1, numbers: [3, 1, 2, 3, .min, .max, 0, -1, 9_007_199_254_740_993],
                    large: [.max, 0, UInt64(Int64.max) + 1])
            ])
        },
        ConformanceCase("V.arraysOfDoubles", "V4", title: "arrays of doubles keep extremes, infinities and NaN") { context in
            try context.expectKept([
                Embeddings(
                    id: 1,
                    reals: [
                        0.1, 0.1000000001, 1, .pi, .greatestFiniteMagnitude, .leastNonzeroMagnitude, -.leastNormalMagnitude,
                        .infinity, -.infinity, .nan,
                        1e22,
                    ])
            ])
        },
        ConformanceCase("V.negativeZeroInArrays", "V2", "V4", title: "-0.0 in an array is stored as 0.0") { context in
            try context.expectKept([Embeddings(id: 1, reals: [-0.0, 1])], as: [Embeddings(id: 1, reals: [0.0, 1])])
        },
        ConformanceCase("V.arraysOfTexts", "V4", title: "arrays of strings keep the bytes of every string") { context in
            try context.expectKept([
                Embeddings(
                    id: 1,
                    texts: [
                        "", "\0", "a\0b", "\"", "\\", "/", "\n", "\u{e9}", "e\u{301}", "NaN", "null", "[1]", "👩‍👩‍👧", "\u{2028}",
                        "\u{feff}x",
                    ])
            ])
        },
        ConformanceCase(
            "V.arraysOfOthers", "V4", title: "arrays of data, UUIDs, dates, flags, decimals, durations and enumerations are kept"
        ) { context in
            let long = try require(Decimal(string: "12345678901234567890.0123456789"), "a decimal")
            try context.expectKept([
                Embeddings(
                    id: 1, blobs: [Data(), Data([0, 255]), Data(0...255)], uuids: [Scalars.zero],
                    dates: [.distantPast, Date(timeIntervalSinceReferenceDate: 0.1)],
                    flags: [true, false, true], decimals: [0, long, -1], durations: Duration.hard,
                    moods: [.other, .empty, .other])
            ])
        },
        ConformanceCase("V.arraysWithNil", "V4", title: "arrays of optionals keep nil at its position") { context in
            try context.expectKept([Embeddings(id: 1, gaps: [nil, 1, nil, nil, 2, nil]), Embeddings(id: 2, gaps: [nil])])
        },
        ConformanceCase("V.nestedArrays", "V4", title: "arrays of arrays are kept") { context in
            try context.expectKept([Embeddings(id: 1, nested: [[], [1], [1, 2], []]), Embeddings(id: 2, nested: [[]])])
        },
        ConformanceCase("V.longArray", "V4", title: "an array of 20,000 numbers is kept") { context in
            let dao = try context.dao(Embeddings.self)
            let row = Embeddings(id: 1, numbers: (0..<20_000).map { $0 * 7919 })
            try dao.create(row)
            try expectSame(try dao.read(), [row])
        },
        ConformanceCase("V.codable", "V4", title: "a Codable structure is stored with all its values") { context in
            let address = Address(
                street: "Straße \"1\"\n\0", number: .max, tags: ["", "a", "e\u{301}"], inner: .init(ratio: 0.1, flag: true))
            try context.expectKept([
                Embeddings(
                    id: 1, address: address, perhaps: address,
                    addresses: [address, Address(street: "", number: .min, tags: [])]),
                Embeddings(id: 2),
            ])
        },
        ConformanceCase("V.payloads", "V4", title: "enumerations with payload are kept") { context in
            try context.expectKept([
                Embeddings(id: 1, shape: .point), Embeddings(id: 2, shape: .circle(radius: 0.1)),
                Embeddings(id: 3, shape: .circle(radius: .infinity)), Embeddings(id: 4, shape: .polygon([], name: "")),
                Embeddings(id: 5, shape: .polygon([1, .min], name: "x\0y")),
            ])
        },
        ConformanceCase(
            "V.optionalOfOptional", "V3", "V4",
            title: "nil, a wrapped nil and a value of a doubly optional field are three states"
        ) { context in
            let rows = [
                Embeddings(id: 1, twice: .none), Embeddings(id: 2, twice: .some(.none)),
                Embeddings(id: 3, twice: .some(.some(0))),
            ]
            let database = try context.expectKept(rows)
            let stored = try database.dao(Embeddings.self).read().map(\.twice)
            try expectEqual(stored.count, 3, "rows")
            try expect(
                stored[0] == .none && stored[1] == .some(.none) && stored[2] == .some(.some(0)), "three states, got \(stored)"
            )
        },
        ConformanceCase("V.embeddedEquality", "V4", title: "embedded values are found by equality, and nil is separate") {
            context in
            let dao = try context.dao(Embeddings.self)
            let address = Address(street: "S", number: 1, tags: ["x"])
            try dao.create([
                Embeddings(id: 1, numbers: [1, 2], perhaps: address), Embeddings(id: 2, numbers: [2, 1], list: []),
                Embeddings(id: 3, numbers: [1, 2], list: ["a"]),
            ])
            try expectEqual(try dao.read { $0.numbers == [1, 2] }.map(\.id), [1, 3])
            try expectEqual(try dao.read { $0.numbers != [1, 2] }.map(\.id), [2])
            try expectEqual(try dao.read { $0.perhaps == address }.map(\.id), [1])
            try expectEqual(try dao.read { $0.list == nil }.map(\.id), [1])
            try expectEqual(try dao.read { $0.list == [] }.map(\.id), [2])
        },
        ConformanceCase(
            "V.embeddedSets", "V4", title: "sets and dictionaries in embedded values are equal in whatever order they were made"
        ) { context in
            let dao = try context.dao(Duty.self)
            for count in 0...30 {
                let (left, right) = (Roster.of(count, reversed: false), Roster.of(count, reversed: true))
                try expectEqual(left, right, "the rosters of \(count)")
                try dao.persist(Duty(id: 1, roster: left, other: right))
                try expectEqual(try dao.count { $0.roster == right }, 1, "== of \(count)")
                try expectEqual(try dao.count { $0.roster != right }, 0, "!= of \(count)")
                try expectEqual(try dao.count { $0.roster.in([Roster(ratio: 7), right]) }, 1, "in of \(count)")
                try expectEqual(try dao.count { $0.other == left }, 1, "== of the optional of \(count)")
                try expectEqual(try dao.count(predicatedBy: "roster == other"), 1, "fields of \(count)")
                try expectEqual(try dao.read(), [Duty(id: 1, roster: left, other: left)], "the row of \(count)")
            }
        },
        ConformanceCase(
            concurrent: "O.embeddedSets", "O1", "V4", title: "storing an embedded value with the same set is no change"
        ) { context in
            let dao = try context.open().dao(Duty.self)
            try await dao.create(Duty(id: 1, roster: .of(20, reversed: false)))
            var results = Observations.Results(dao.observe())
            _ = try await results.next("the first result")
            for count in 0..<6 { try await dao.persist(Duty(id: 1, roster: .of(20, reversed: count % 2 == 0))) }
            try await dao.persist(Duty(id: 2))
            let rows = try await results.next("the result after another row").count
            try expectEqual(rows, 2, "rows in the only result")
        },
        ConformanceCase(
            "V.embeddedNumbers", "V1", "V4", title: "numbers inside of embedded values keep their digits, and are equal by value"
        ) { context in
            let dao = try context.dao(Duty.self)
            let long = try require(Decimal(string: "12345678901234567890.123456789012345678"), "a decimal")
            let tiny = try require(Decimal(string: "1e-120"), "a decimal")
            let huge = try require(Decimal(string: "12345e100"), "a decimal")
            let rosters = [
                Roster(wage: long, ratio: 1e16, size: 0.1, large: .max, least: .max),
                Roster(wage: tiny, ratio: .leastNonzeroMagnitude, size: .leastNonzeroMagnitude, large: 1 << 63, least: .min),
                Roster(wage: huge, ratio: .greatestFiniteMagnitude, size: .greatestFiniteMagnitude, least: -1),
                Roster(wage: -0.5, ratio: .nan, size: .infinity), Roster(wage: 100, ratio: -.infinity, size: -.infinity),
                Roster(since: .distantPast, badge: Data([0, 255]), ratio: 0.1 + 0.2, site: URL(string: "https://a.b/c?d=e#f")),
                Roster(since: Date(timeIntervalSinceReferenceDate: 0.1), ratio: 1e22, size: 16_777_216),
                Roster(ratio: 1.2345678901234568e20), Roster(ratio: 0.00001), Roster(ratio: 9_007_199_254_740_994),
            ]
            try dao.create(rosters.enumerated().map { Duty(id: $0, roster: $1) })
            try expectSame(try dao.read(), rosters.enumerated().map { Duty(id: $0, roster: $1) })
            for (index, roster) in rosters.enumerated() {
                try expectEqual(try dao.read { $0.roster == roster }.map(\.id), [index], "roster \(index)")
            }
            try dao.persist(Duty(id: 50, roster: Roster(ratio: -0.0)))
            try expectEqual(try dao.read { $0.roster == Roster() }.map(\.id), [50], "a negative zero")
        },
        ConformanceCase(
            "V.embeddedRefused", "V4", title: "a value that JSON cannot give back is refused, and nothing is stored"
        ) { context in
            let dao = try context.dao(Duty.self)
            var error: (any Error)?
            do { try dao.create([Duty(id: 1), Duty(id: 2, roster: Roster(wage: .nan))]) } catch let thrown { error = thrown }
            try expect(error is EncodingError, "an EncodingError for a decimal NaN, got \(String(describing: error))")
            try expectEqual(try dao.count(), 0, "rows")
            try dao.create(Duty(id: 3))
            try expectEqual(try dao.count { $0.other == Roster(wage: .nan) }, 0, "rows with the value that no row has")
            try expectEqual(try dao.count { $0.other != Roster(wage: .nan) }, 1, "rows without it")
        },
        ConformanceCase(
            "V.rowsWithJSON", "V4", "E8", title: "JSON is the same value in whatever form rows without types give it",
            requires: [.snapshotReads]
        ) { context in
            let database = try context.open()
            let dao = try database.dao(Duty.self)
            let id = Scalars.zero
            try dao.create(
                Duty(id: 1, texts: ["a", "é\u{1}/"], numbers: [1, 200], reals: [1, 0.5, 1e16], uuids: [id], gaps: [nil, 1]))
            let rows = try database.rows(of: "duty")
            let roster =
                #"{"site": null, "since": 0.0, "size":0e5,"wage":0.00,"ratio":-0.0,"large" : 0, "least":0,"rooms":{}, "shifts":[ ],"badge":"", "days":[],"names":["x"] }"#
            try rows.persist([
                [
                    "id": .integer(2), "roster": .string(roster), "texts": .string(#" [ "\u0061" , "\u00e9\u0001\/" ] "#),
                    "numbers": .string("[1.0, 2e2]"), "reals": .string("[1.0,\t0.50, 10000000000000000.000]"),
                    "uuids": .string("[\"\(id.uuidString.lowercased())\"]"), "gaps": .string("[ null ,1 ]"),
                    "sites": .string("[]"),
                ]
            ])
            try expectEqual(try dao.read { $0.texts == ["a", "é\u{1}/"] }.map(\.id), [1, 2], "texts")
            try expectEqual(try dao.read { $0.texts != ["a", "é\u{1}/"] }.map(\.id), [], "other texts")
            try expectEqual(try dao.read { $0.numbers.in([[1, 200], [3]]) }.map(\.id), [1, 2], "numbers")
            try expectEqual(try dao.read { $0.reals == [1, 0.5, 1e16] }.map(\.id), [1, 2], "floating-point numbers")
            try expectEqual(try dao.read { $0.uuids == [id] }.map(\.id), [1, 2], "UUIDs")
            try expectEqual(try dao.read { $0.gaps == [nil, 1] }.map(\.id), [1, 2], "optionals")
            try expectEqual(try dao.read { $0.roster == Roster(names: ["x"]) }.map(\.id), [], "an object that lacks nothing")
            try expectEqual(
                try rows.read(where: #"texts == '[ "a", "\\u00e9\\u0001/"]'"#).map(\.key), [1, 2], "a text predicate")
            try expectEqual(try rows.read(where: "numbers == '[1.00,2e+2]'").map(\.key), [1, 2], "a text predicate of numbers")
            try expectEqual(
                try rows.entityContents(),
                [
                    "roster: value", "other: value", "texts: [string]", "numbers: [int64]", "reals: [double]",
                    "uuids: [uuid]", "gaps: [int64?]", "sites: [url]", "moods: [string]",
                ], "what the catalog says")
        },
        ConformanceCase(
            "V.stepsWithJSON", "V4", "E3",
            title: "JSON that a migration step stores is the same value, and is refused as elsewhere",
            requires: [.evolution]
        ) { context in
            var database = try context.open()
            try database.dao(Duty.self).create([
                Duty(id: 1, texts: ["a", "b"], numbers: [1, 200]), Duty(id: 2, texts: ["old"], numbers: [3]),
            ])
            try context.renew(&database)
            func evolve(_ version: Int, _ step: @escaping @Sendable (MigrationStep) throws -> Void) throws {
                try database.evolve(Evolution(version: version, migrations: [Migration(to: version, perform: step)]))
            }
            // Every field but those that can be nil.
            @Sendable func values(_ id: Int, _ texts: Value, _ numbers: Value) -> [String: Value] {
                let none = Value.string("[]")
                return [
                    "id": .integer(Int64(id)), "texts": texts, "numbers": numbers, "reals": none, "uuids": none, "gaps": none,
                    "sites": none,
                    "roster": .string(
                        #"{"names":[],"days":[],"shifts":[],"rooms":{},"wage":0,"since":0,"badge":"","ratio":0,"size":0,"large":0,"least":0}"#
                    ),
                ]
            }
            let texts = Value.string(#" [ "\u0061" , "b" ] "#)
            let numbers = Value.string("[1.0,\t2e2]")
            try evolve(1) { step in
                try step.insert([values(3, texts, numbers)], into: "duty")
                try step.forEachRow(of: "duty") { row in
                    if row["id"] == .integer(2) { (row["texts"], row["numbers"]) = (texts, numbers) }
                }
            }
            let dao = try database.dao(Duty.self)
            try expectEqual(try dao.read { $0.texts == ["a", "b"] }.map(\.id), [1, 2, 3], "texts")
            try expectEqual(try dao.read { $0.numbers.in([[1, 200], [3]]) }.map(\.id), [1, 2, 3], "numbers")
            try expectSame(try dao.read(byPrimaryKey: 3), Duty(id: 3, texts: ["a", "b"], numbers: [1, 200]), "the row")
            try context.renew(&database)
            for (number, text) in ["no JSON", "{}", "[1]", "[\"a\"", ""].enumerated() {
                try expectError(
                    .corruptedValue, "\(text) that is inserted", entity: "duty", key: UniqueID(10 + number), field: "texts"
                ) {
                    try evolve(2) { try $0.insert([values(10 + number, .string(text), numbers)], into: "duty") }
                }
                try expectError(.corruptedValue, "\(text) that is set", entity: "duty", key: 2, field: "texts") {
                    try evolve(2) { step in
                        try step.forEachRow(of: "duty") { row in if row["id"] == .integer(2) { row["texts"] = .string(text) } }
                    }
                }
            }
            try expectEqual(
                try database.dao(Duty.self).read { $0.texts == ["a", "b"] }.map(\.id), [1, 2, 3], "the rows afterwards")
        },
        ConformanceCase(
            "V.rowsRefuseJSON", "V4", "E8", "L7",
            title: "rows without types refuse what the type of the field could not read", requires: [.snapshotReads]
        ) { context in
            let database = try context.open()
            let dao = try database.dao(Duty.self)
            try dao.create(Duty(id: 1, texts: ["a"]))
            let rows = try database.rows(of: "duty")
            for (field, texts) in [
                ("texts", ["x", "{}", "[1]", "[null]", "\"a\"", "", "[\"a\"", "[\"a\"]]", "[\"\\ud800\"]", "null"]),
                ("numbers", ["[\"1\"]", "[1.5]", "[01]", "[9223372036854775808]", "[1,]", "[true]", "[+1]", "[1 2]"]),
                ("reals", ["[1e400]", "[\"x\"]", "[NaN]", "[.5]"]), ("uuids", ["[\"no uuid\"]"]), ("gaps", ["[1.5]", "[nil]"]),
                ("roster", ["x", "{", "{\"a\":}", "{a:1}", "[1,]", ""]), ("moods", ["[1]"]),
            ] {
                for text in texts {
                    try expectError(.corruptedValue, "\(text) as \(field)", entity: "duty", key: 1, field: field) {
                        try rows.persist([["id": .integer(1), field: .string(text)]])
                    }
                }
            }
            try expectSame(try dao.read(), [Duty(id: 1, texts: ["a"])])
            try rows.persist([["id": .integer(1), "other": .null, "moods": .null]])
            try expectSame(try dao.read(), [Duty(id: 1, texts: ["a"])])
        },
        ConformanceCase(
            "V.embeddedDepth", "V4", "L5", "E8",
            title: "the deepest embedded value there may be works on a stack of 512 KiB, and a deeper one is refused",
            requires: [.snapshotReads]
        ) { context in
            let database = try context.open()
            let dao = try database.dao(Shrub.self)
            let rows = try database.rows(of: "shrub")
            let run = Background(stackSize: 512 << 10) {
                for levels in [1, 2, 126, 127, 128] {
                    let shrub = Shrub(id: levels, twig: Twig(levels: levels), other: Twig(levels: levels))
                    try dao.persist(shrub)
                    try expectEqual(try dao.read(byPrimaryKey: levels), shrub, "a value of \(levels) levels")
                    try expectEqual(
                        try dao.read { $0.twig == Twig(levels: levels) }.map(\.id), [levels], "a condition on \(levels) levels")
                    let json = Twig.json(levels: levels)
                    try rows.persist([["id": .integer(Int64(1000 + levels)), "twig": .string(json)]])
                    try expectEqual(
                        try dao.read { $0.twig == Twig(levels: levels) }.map(\.id), [levels, 1000 + levels], "its JSON")
                    try dao.erase(byPrimaryKey: 1000 + levels)
                }
                for levels in [129, 130, 200] {
                    for shrub in [
                        Shrub(id: 7, twig: Twig(levels: levels)),
                        Shrub(id: 7, twig: Twig(levels: 1), other: Twig(levels: levels)),
                    ] {
                        var error: (any Error)?
                        do { try dao.persist(shrub) } catch let thrown { error = thrown }
                        try expect(error is EncodingError, "an EncodingError, got \(String(describing: error))")
                    }
                }
                for levels in [129, 130, 511, 512, 513, 100_000] {
                    for json in [Twig.json(levels: levels), String(repeating: "[", count: levels)] {
                        try expectError(.corruptedValue, "\(levels) levels", entity: "shrub", key: 7, field: "twig") {
                            try rows.persist([["id": .integer(7), "twig": .string(json)]])
                        }
                    }
                }
                // Brackets of texts are no levels.
                let text = String(repeating: "[{\"\\", count: 200)
                try dao.persist(Shrub(id: 8, twig: Twig(name: text, inner: [Twig(name: "]}")])))
                try expectEqual(try dao.read(byPrimaryKey: 8)?.twig.name ?? "", text, "a text of brackets")
            }
            try run.wait(seconds: 50, "values of 128 levels")
            try expectEqual(try dao.read().map(\.id), [1, 2, 8, 126, 127, 128], "the rows")
            try database.expectVerified()
        },
        ConformanceCase("V.arrayReplaced", "V4", "W1", title: "a shorter array replaces a longer array completely") { context in
            let dao = try context.dao(Embeddings.self)
            try dao.create(Embeddings(id: 1, numbers: Array(1...100), texts: ["a", "b"]))
            try dao.persist(Embeddings(id: 1, numbers: [7]))
            try expectSame(try dao.read(), [Embeddings(id: 1, numbers: [7])])
        },
    ]
}

/// A row with embedded values that nest.
private struct Shrub: Plain, Model, Equatable {
    var id: Int
    var twig: Twig
    var other: Twig?

    static let schema = Schema(
        "shrub", Self.init, Field("id", \.id, .primaryKey), Field("twig", \.twig), Field("other", \.other))
}

/// A value that nests. Without others inside it is one level of JSON, with an empty list of them two.
private struct Twig: Codable, FieldValue, Equatable {
    var name: String?
    var inner: [Twig]?

    init(name: String? = nil, inner: [Twig]? = nil) { (self.name, self.inner) = (name, inner) }

    /// A value of so many levels.
    init(levels: Int) {
        self = (0..<(levels - 1) / 2).reduce(Twig(inner: levels % 2 == 0 ? [] : nil)) { twig, _ in Twig(name: "x", inner: [twig])
        }
    }

    /// The JSON of such a value.
    static func json(levels: Int) -> String {
        let count = (levels - 1) / 2
        return String(repeating: #"{"inner":["#, count: count) + (levels % 2 == 0 ? #"{"inner":[]}"# : "{}")
            + String(repeating: #"],"name":"x"}"#, count: count)
    }
}
