import DAOCore
import Foundation

/// P8: conditions on the elements of arrays in fields.
enum PredicatesArrays {
    static let cases: [ConformanceCase] = kinds + others

    private static let kinds: [ConformanceCase] = [
        kind("P.arrays.bool", \.bools, [false, true]), kind("P.arrays.int8", \.bytes, [.min, -1, 0, 1, .max]),
        kind("P.arrays.int", \.ints, [.min, -(1 << 53) - 1, -1, 0, 2, 10, (1 << 53) + 1, .max]),
        kind("P.arrays.uint64", \.large, [0, 1, UInt64(Int64.max), UInt64(Int64.max) + 1, .max - 1, .max]),
        kind("P.arrays.float", \.floats, [-.infinity, -1.5, 0, 0.1, 16_777_216, .greatestFiniteMagnitude, .infinity, .nan]),
        kind(
            "P.arrays.double", \.doubles,
            [-.infinity, -1.5, 0, .leastNonzeroMagnitude, 0.1, 0.1.nextUp, 2, 1e300, .infinity, .nan]),
        kind("P.arrays.decimal", \.decimals, [-100, -Decimal(1) / 4, 0, Decimal(1) / 10, 2, 10, 100, .nan]),
        kind(
            "P.arrays.string", \.strings,
            ["", "\0", "\"", "10", "9", "NaN", "Z", "[1]", "\\", "a", "a\0", "e\u{301}", "null", "é", "\u{FFFD}", "\u{10000}"]),
        kind("P.arrays.data", \.blobs, [Data(), Data([0]), Data([0, 0]), Data([1]), Data([0x7F]), Data([0xFF])]),
        kind(
            "P.arrays.uuid", \.uuids,
            [0, 1, 0x7F, 0x80, 0xFF].map { UUID(uuid: ($0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }),
        kind(
            "P.arrays.url", \.urls, ["https://a.example/", "https://a.example/?q=%20", "mailto:x"].compactMap { URL(string: $0) }),
        kind(
            "P.arrays.date", \.dates,
            [-1e15, -1, 0, 0.1, 1e15, .infinity, .nan].map { Date(timeIntervalSinceReferenceDate: $0) }),
        kind("P.arrays.duration", \.durations, Duration.hard),
        kind("P.arrays.mood", \.moods, [.empty, .busy, .calm, .other]), kind("P.arrays.level", \.levels, [.low, .none, .high]),
    ]

    private static let others: [ConformanceCase] = [
        ConformanceCase("P.arrays.nil", "P8", "P1", title: "an array that is nil has no elements, and no number of them") {
            context in
            let reference = try ReferenceRows(
                context, [Arrays(id: 1), Arrays(id: 2, ints: []), Arrays(id: 3, ints: [1]), Arrays(id: 4, ints: [1, 1, 2])])
            try reference.check([3, 4]) { $0.ints.contains(1) }
            try reference.check([4]) { $0.ints.contains { $0 > 1 } }
            try reference.check([1, 2, 3]) { $0.ints.allSatisfy { $0 == 1 } }
            try reference.check([1, 2]) { $0.ints.allSatisfy { $0 > 9 } }
            try reference.check([2]) { $0.ints.isEmpty }
            try reference.check([4]) { $0.ints.count == 3 }
            try reference.check([1, 2, 3]) { $0.ints.count != 3 }
            try reference.check([2, 3]) { $0.ints.count < 2 }
            try reference.check([2, 3, 4]) { $0.ints.count >= 0 }
            try reference.check([1]) { $0.ints.count == nil }
            try reference.check([1, 4]) { $0.ints.count.in([nil, 3, 5]) }
            try reference.check([3, 4]) { $0.ints.count.between(1, and: 3) }
        },
        ConformanceCase("P.arrays.elementNil", "P8", "P1", title: "an element that is nil compares as a field that is nil") {
            context in
            let reference = try ReferenceRows(
                context,
                [
                    Arrays(id: 1, gaps: []), Arrays(id: 2, gaps: [nil]), Arrays(id: 3, gaps: [1, nil]),
                    Arrays(id: 4, gaps: [1, 2]),
                ])
            try reference.check([2, 3]) { $0.gaps.contains(nil) }
            try reference.check([3, 4]) { $0.gaps.contains(1) }
            try reference.check([4]) { $0.gaps.contains { $0 > 1 } }
            try reference.check([2, 3, 4]) { $0.gaps.contains { $0 != 1 } }
            try reference.check([1, 4]) { $0.gaps.allSatisfy { $0 != nil } }
            try reference.check([2, 3]) { $0.gaps.contains { $0.in([nil, 9]) } }
            try reference.check([3]) { $0.gaps.contains(nil) && $0.gaps.contains(1) }
            try reference.check([1, 2]) { $0.gaps.count < 2 }
        },
        ConformanceCase(
            "P.arrays.conditions", "P8", "P2", title: "the condition on an element is one on a field: texts, lists, ranges, logic"
        ) { context in
            let reference = try ReferenceRows(
                context,
                [
                    Arrays(id: 1, strings: []), Arrays(id: 2, strings: ["Straße", "x"]), Arrays(id: 3, strings: ["résumé"]),
                    Arrays(id: 4, strings: ["a", "b", "c"]),
                ])
            try reference.check([2]) { $0.strings.contains { $0.equals("STRASSE", .caseInsensitive) } }
            try reference.check([3]) { $0.strings.contains { $0.contains("sum", .diacriticInsensitive) } }
            try reference.check([3]) { $0.strings.contains { $0.matches("r?sum?") } }
            try reference.check([2]) { $0.strings.contains { $0.hasPrefix("Str") } }
            try reference.check([3]) { $0.strings.contains { $0.hasSuffix("é") } }
            try reference.check([2, 4]) { $0.strings.contains { $0.in(["x", "c"]) } }
            try reference.check([]) { $0.strings.contains { $0.in([]) } }
            try reference.check([1, 2, 3, 4]) { $0.strings.allSatisfy { !$0.in([]) } }
            // One element has to meet both, or one element the first and another the second.
            try reference.check([]) { $0.strings.contains { $0 == "a" && $0 == "b" } }
            try reference.check([4]) { $0.strings.contains("a") && $0.strings.contains("b") }
            try reference.check([4]) { $0.strings.contains { $0.between("b", and: "d") } }
            try reference.check([1, 4]) { $0.strings.allSatisfy { $0 < "d" && !($0 < "a") } }
        },
        ConformanceCase("P.arrays.required", "P8", title: "arrays that are not optional, and arrays of arrays, have elements too")
        { context in
            let reference = try ReferenceRows(
                context,
                [Piles(id: 1), Piles(id: 2, tags: ["a"], lists: [[]]), Piles(id: 3, tags: ["b", "a"], lists: [[1], [2, 3]])])
            try reference.check([2, 3]) { $0.tags.contains("a") }
            try reference.check([1, 2]) { $0.tags.allSatisfy { $0 == "a" } }
            try reference.check([1]) { $0.tags.isEmpty }
            try reference.check([3]) { $0.tags.count > 1 }
            try reference.check([1, 2]) { $0.tags.count != 2 }
            try reference.check([3]) { $0.lists.contains([2, 3]) }
            try reference.check([3]) { $0.lists.contains { $0.contains(3) } }
            try reference.check([2]) { $0.lists.contains { $0.isEmpty } }
            try reference.check([1, 2]) { $0.lists.allSatisfy { $0.count < 1 } }
        },
        ConformanceCase(
            "P.arrays.long", "P8", "P7", title: "an array of 5,000 elements is searched to its end, in a condition of any form"
        ) { context in
            let reference = try ReferenceRows(
                context,
                [Piles(id: 1, tags: (0..<5000).map { "tag \($0)" }), Piles(id: 2, tags: Array(repeating: "a", count: 5000))])
            try reference.check([1]) { $0.tags.contains("tag 4999") }
            try reference.check([1]) { $0.tags.contains("tag 4999") && $0.id < 5 && !$0.tags.contains("a") }
            try reference.check([2]) { $0.tags.allSatisfy { $0 == "a" } }
            try reference.check([1, 2]) { $0.tags.count == 5000 || $0.id == 7 }
            try expectEqual(try reference.ids(Query(where: Condition { !$0.tags.contains("b") }, limit: 1)), [1])
        },
        ConformanceCase("P.arrays.relations", "P8", "P5", title: "arrays of related rows have elements") { context in
            let dao = try context.dao(Heap.self)
            let piles = [Piles(id: 1, tags: ["a"]), Piles(id: 2, tags: ["b", "c"]), Piles(id: 3)]
            try dao.persist([
                Heap(id: 1, top: piles[0], rest: [piles[1], piles[2]]), Heap(id: 2, top: piles[1], rest: [piles[0]]),
                Heap(id: 3, top: nil, rest: []),
            ])
            try expectEqual(try dao.read { $0.top.tags.contains("a") }.map(\.id), [1])
            try expectEqual(try dao.read { $0.top.tags.allSatisfy { $0 == "a" } }.map(\.id), [1, 3])
            try expectEqual(try dao.read { $0.top.tags.count == 2 }.map(\.id), [2])
            try expectEqual(try dao.read { $0.top.tags.count == nil }.map(\.id), [3])
            try expectEqual(try dao.read { $0.rest.contains { $0.tags.contains("a") } }.map(\.id), [2])
            try expectEqual(try dao.read { $0.rest.contains { $0.tags.isEmpty } }.map(\.id), [1])
            try expectEqual(try dao.read { $0.rest.allSatisfy { $0.tags.contains { $0 > "a" } } }.map(\.id), [3])
        },
        ConformanceCase("P.arrays.writes", "P8", "W8", "W5", title: "arrays choose the rows of counts, updates and erases") {
            context in
            let dao = try context.dao(Piles.self)
            try dao.create((1...6).map { Piles(id: $0, tags: Array(["a", "b", "c"].prefix($0 % 4))) })
            try expectEqual(try dao.count { $0.tags.contains("b") }, 3)
            try expectEqual(try dao.set(\.lists, to: [[7]]) { $0.tags.contains("c") }, 1)
            try expectEqual(try dao.read { $0.lists.contains { $0.contains(7) } }.map(\.id), [3])
            try expectEqual(try dao.erase { $0.tags.isEmpty || $0.tags.count == 1 }, 3)
            try expectEqual(try dao.read().map(\.id), [2, 3, 6])
        },
        ConformanceCase("P.arrays.words", "P8", "P6", title: "text predicates on arrays give the rows of the typed form") {
            context in
            let reference = try ReferenceRows(
                context,
                [
                    Arrays(id: 1), Arrays(id: 2, ints: [], strings: ["x"]), Arrays(id: 3, ints: [1, 5], strings: ["X", "y"]),
                    Arrays(id: 4, ints: [2], gaps: [nil], dates: [Date(timeIntervalSinceReferenceDate: 0.1)]),
                ])
            let pairs: [(Condition<Arrays>, Condition<Arrays>)] = [
                ("strings CONTAINS 'x'", Condition { $0.strings.contains("x") }),
                ("'x' IN strings", Condition { $0.strings.contains("x") }),
                (Condition("%@ IN %K", 5, "ints"), Condition { $0.ints.contains(5) }),
                (Condition("dates contains %@", Date(timeIntervalSinceReferenceDate: 0.1)), Condition { $0.dates.count == 1 }),
                ("gaps CONTAINS nil", Condition { $0.gaps.contains(nil) }),
                ("ANY ints > 1", Condition { $0.ints.contains { $0 > 1 } }),
                ("ints CONTAINS 1.5", .none), ("ANY ints > 1.5", Condition { $0.ints.contains { $0 > 1 } }),
                ("ALL ints < 3", Condition { $0.ints.allSatisfy { $0 < 3 } }),
                ("NONE strings ==[c] 'x'", Condition { !$0.strings.contains { $0.equals("x", .caseInsensitive) } }),
                ("SOME strings BEGINSWITH 'y' AND id > 2", Condition { $0.strings.contains("y") }),
                ("any ints BETWEEN {2, 5}", Condition { $0.ints.contains { $0.between(2, and: 5) } }),
                ("NOT ANY ints IN {1, 2}", Condition { !$0.ints.contains { $0.in([1, 2]) } }),
                ("ANY strings LIKE[c] '?'", Condition { $0.strings.count > 0 }),
                ("ints.@count > 1", Condition { $0.ints.count > 1 }),
                ("ints.@count == nil", Condition { $0.ints == nil }),
                ("#ints.@count IN {0, 2}", Condition { $0.ints.count.in([0, 2]) }),
                (Condition("%K <= %d", "ints.@count", 1), Condition { $0.ints.count <= 1 }),
            ]
            for (words, typed) in pairs {
                try expectEqual(try reference.ids(words), try reference.ids(typed), "\(typed.node)")
                try reference.checkReference(words, "\(typed.node)")
            }
            let mistakes: [(text: Condition<Arrays>, field: String?, position: Int, message: String)] = [
                ("strings CONTAINS 5", "strings", 17, "cannot be compared with a value of type integer"),
                ("ANY ints == 'x'", "ints", 12, "cannot be compared with a value of type string"),
                ("ANY id == 5", nil, 4, "expected a list of related rows, or an array, after 'ANY'"),
                ("ANY ints BEGINSWITH '1'", "ints", 9, "requires a text field"),
                ("ints.@count == 'x'", "ints.@count", 15, "cannot be compared with a value of type string"),
                ("strings CONTAINS[c] 'x'", nil, 16, "takes no options"), ("5 IN id", nil, 0, "or an array after it"),
            ]
            for (text, field, position, message) in mistakes {
                let error = try expectError(.invalidPredicate, message, entity: "arrays", field: field) {
                    try reference.ids(text)
                }
                try expectEqual(error.position, position, "the position of \(error)")
                try expect(error.message.contains(message), "'\(message)' in '\(error.message)'")
            }
        },
    ]

    /// A case on arrays of different values, which ascend: with none of them, one, two beside each other, all, and nil.
    private static func kind<Element: OrderedFieldValue>(
        _ id: String, _ path: any WritableKeyPath<Arrays, [Element]?> & Sendable, _ values: [Element]
    ) -> ConformanceCase {
        ConformanceCase(id, "P8", "P3", title: "elements of type \(Element.self) compare by value under every operator") {
            context in
            // The positions of the values in the array of each row.
            let places: [Range<Int>?] =
                [nil, 0..<0, values.indices] + values.indices.flatMap { [$0..<$0 + 1, max(0, $0 - 1)..<$0 + 1] }
            let rows = places.enumerated().map { index, range in
                var row = Arrays(id: index + 1)
                row[keyPath: path] = range.map { Array(values[$0].reversed()) }
                return row
            }
            let reference = try ReferenceRows(context, rows)
            let field = try require(Arrays.schema.index(of: path), "the field to be stored")
            let part = EmbeddedPart.anyElement(Element.fieldType)
            for (place, value) in values.enumerated() {
                func check(_ condition: Condition<Arrays>, _ what: String, _ holds: (Int) -> Bool) throws {
                    let ids = places.indices.filter { places[$0].map { $0.contains(where: holds) } ?? false }.map { $0 + 1 }
                    try reference.check(condition, ids, "\(what) value \(place)")
                }
                try check(Condition { $0[dynamicMember: path].contains(value) }, "contains") { $0 == place }
                try check(Condition { $0[dynamicMember: path].contains { $0 > value } }, "any >") { $0 > place }
                for comparison in Comparison.allCases {
                    let compared = PredicateNode.compare(field: 0, comparison, value.fieldValue)
                    try check(Condition(.embedded(field: field, part, compared)), "any \(comparison.rawValue)") {
                        comparison.holds($0 - place)
                    }
                }
                try check(Condition { $0[dynamicMember: path].contains { $0.in([value, values[0]]) } }, "any in") {
                    $0 == place || $0 == 0
                }
            }
            try reference.check(places.indices.filter { places[$0]?.count == 2 }.map { $0 + 1 }, "two elements") {
                $0[dynamicMember: path].count == 2
            }
        }
    }
}

/// A model with an optional array of every kind of element, and an index on the elements of each.
struct Arrays: Numbered {
    var id: Int
    var bools: [Bool]?
    var bytes: [Int8]?
    var ints: [Int]?
    var large: [UInt64]?
    var floats: [Float]?
    var doubles: [Double]?
    var decimals: [Decimal]?
    var strings: [String]?
    var blobs: [Data]?
    var uuids: [UUID]?
    var urls: [URL]?
    var gaps: [Int?]?
    var dates: [Date]?
    var durations: [Duration]?
    var moods: [Mood]?
    var levels: [Level]?

    static let schema = Schema(
        "arrays", Self.init,
        Field("id", \.id, .primaryKey), Field("bools", \.bools), Field("bytes", \.bytes), Field("ints", \.ints),
        Field("large", \.large), Field("floats", \.floats), Field("doubles", \.doubles), Field("decimals", \.decimals),
        Field("strings", \.strings), Field("blobs", \.blobs), Field("uuids", \.uuids), Field("urls", \.urls),
        Field("gaps", \.gaps), Field("dates", \.dates), Field("durations", \.durations), Field("moods", \.moods),
        Field("levels", \.levels), indexes: indexes)

    private static var indexes: [Index<Arrays>] {
        [
            Index(elements: \.bools), Index(elements: \.bytes), Index(elements: \.ints), Index(elements: \.large),
            Index(elements: \.floats), Index(elements: \.doubles), Index(elements: \.decimals), Index(elements: \.strings),
            Index(elements: \.blobs), Index(elements: \.uuids), Index(elements: \.urls), Index(elements: \.gaps),
            Index(elements: \.dates), Index(elements: \.durations), Index(elements: \.moods), Index(elements: \.levels),
        ]
    }
}

/// A model with arrays that are not optional.
struct Piles: Numbered {
    var id: Int
    var tags: [String] = []
    var lists: [[Int]] = []

    static let schema = Schema(
        "piles", Self.init, Field("id", \.id, .primaryKey), Field("tags", \.tags), Field("lists", \.lists))
}

/// A model whose related rows have arrays.
struct Heap: Numbered {
    var id: Int
    var top: Piles?
    var rest: [Piles]

    static let schema = Schema(
        "heap", Self.init, Field("id", \.id, .primaryKey), Field("top", \.top, .owned), Field("rest", \.rest, .owned))
}
