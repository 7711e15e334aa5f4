import DAOCore
import Foundation

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
        ConformanceCase("V.arrayReplaced", "V4", "W1", title: "a shorter array replaces a longer array completely") { context in
            let dao = try context.dao(Embeddings.self)
            try dao.create(Embeddings(id: 1, numbers: Array(1...100), texts: ["a", "b"]))
            try dao.persist(Embeddings(id: 1, numbers: [7]))
            try expectSame(try dao.read(), [Embeddings(id: 1, numbers: [7])])
        },
    ]
}
