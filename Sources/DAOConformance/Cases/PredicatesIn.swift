import DAOCore

/// A choice that an application offers.
private enum ProbeChoice: ConditionConvertible {
    case all, none
    case above(Int)

    var condition: Condition<Probe> {
        switch self {
        case .all: .all
        case .none: Condition { $0.number == nil }
        case .above(let number): Condition { $0.number > number }
        }
    }
}

/// P4: membership in lists of any length. Probes 1 to 6 hold nil, 5, 3, nil, 7 and 0.
enum PredicatesIn {
    static let cases: [ConformanceCase] = small() + large

    private static func reference(_ context: ConformanceContext) throws -> ReferenceRows<Probe> {
        try ReferenceRows(context, Probe.numbers([nil, 5, 3, nil, 7, 0]))
    }

    private static func small() -> [ConformanceCase] {
        let rows: [(id: String, title: String, values: [Int?], ids: [Int])] = [
            ("P.inNothing", "membership in an empty list matches no row; its negation matches every row, nil included", [], []),
            ("P.inOne", "membership in a list with one element is ==", [5], [2]),
            (
                "P.inSeveral", "membership in a list matches the rows that hold any of its values, in key order", [7, 0, 5],
                [2, 5, 6]
            ),
            ("P.inRepeated", "a value that is twice in the list matches its row once", [5, 5, 3, 5, 3], [2, 3]),
            ("P.inUnknown", "values that no row holds change nothing", [99, 5, -1], [2]),
            ("P.inNil", "nil in the list matches the rows that hold nil; the negation excludes them", [5, nil], [1, 2, 4]),
            ("P.inOnlyNil", "a list of nil is == nil", [nil], [1, 4]),
            ("P.inEverything", "a list of all values and nil matches every row", [nil, 0, 3, 5, 7], [1, 2, 3, 4, 5, 6]),
        ]
        return rows.map { row in
            ConformanceCase(row.id, "P4", "P1", title: row.title) { context in
                let reference = try reference(context)
                for name in Probe.numbers { try reference.check(.field(name, in: row.values), row.ids, name) }
            }
        } + [
            ConformanceCase("P.inTexts", "P4", "P2", title: "texts in a list are compared by bytes") { context in
                let reference = try ReferenceRows(context, Probe.texts(["é", "e\u{301}", "É", "'", "a\0", "a", nil, ""]))
                for name in Probe.texts {
                    try reference.check(.field(name, in: ["é", "a"]), [1, 6], name)
                    try reference.check(.field(name, in: ["e\u{301}", "'", "a\0", ""]), [2, 4, 5, 8], name)
                    try reference.check(.field(name, in: [nil, "É"]), [3, 7], name)
                }
            },
            ConformanceCase(
                "P.inFolded", "P10", "P2", "P4", title: "texts in a list are compared without case or diacritics, in words, too"
            ) { context in
                let both: TextOptions = [.caseInsensitive, .diacriticInsensitive]
                let texts = ["é", "e\u{301}", "É", "Maß", "a\0", "a", nil, "", "MASSE"]
                let reference = try ReferenceRows(context, Probe.texts(texts))
                for name in Probe.texts {
                    func check(_ texts: [String], _ options: TextOptions, _ ids: [Int]) throws {
                        try reference.check(.field(name, in: texts, options), ids, "\(name) in \(texts.prefix(3))")
                        let words = "%K IN[\(options == both ? "cd" : "c")] %@"
                        try reference.check(Condition(words, name, texts), ids, "\(name), \(words), \(texts.prefix(3))")
                    }
                    try check(["É", "A"], .caseInsensitive, [1, 2, 3, 6])
                    try check(["E", "mass"], both, [1, 2, 3, 4])
                    try check(["mas", "ss"], .caseInsensitive, [])
                    try check([], .caseInsensitive, [])
                    try check([""], both, [8])
                    try check((0..<2_000).map(String.init) + ["masse"], .caseInsensitive, [9])
                    try reference.check(Condition("%K IN[c] {'A', nil}", name), [6, 7], "\(name), nil in words")
                    let not = !Condition<Probe>.field(name, in: ["É"], .caseInsensitive)
                    try reference.check(not, [4, 5, 6, 7, 8, 9], "not \(name)")
                }
            },
            ConformanceCase(
                "P.atRunTime", "P10",
                title: "without a value every row meets a condition; one that is chosen at run time is as any other"
            ) { context in
                let reference = try reference(context)
                for (number, ids) in [(5, [2]), (nil, [1, 2, 3, 4, 5, 6])] as [(Int?, [Int])] {
                    try reference.check(ids) { _ in Condition(unlessNil: number) { $0.numberIndexed == $1 } }
                    try reference.check(ids.filter { $0 > 1 }) { row in
                        row.id > 1 && Condition(unlessNil: number) { $0.number == $1 }
                    }
                }
                for (choice, ids) in [(ProbeChoice.all, [1, 2, 3, 4, 5, 6]), (.none, [1, 4]), (.above(3), [2, 5])] {
                    try reference.check(ids) { _ in choice.condition }
                    try reference.check(ids.filter { $0 > 2 }) { choice && $0.id > 2 }
                    try reference.check([1, 2, 3, 4, 5, 6].filter { !ids.contains($0) }) { _ in !choice }
                }
            },
            ConformanceCase("P.inKeys", "P4", title: "membership of the key in a list, alone and with conditions") { context in
                let reference = try reference(context)
                try reference.check([1, 3, 6]) { $0.id.in([6, 3, 1, 3, 99]) }
                try reference.check([3]) { $0.id.in([6, 3, 1]) && $0.numberIndexed > 0 }
                try reference.check([2, 3, 5]) { $0.id.in([3]) || $0.numberIndexed.in([5, 7]) }
                try expectEqual(
                    try reference.ids(Query(where: Condition { $0.id.in([1, 3, 6]) }, orderedBy: [.descending(\.id)], limit: 2)),
                    [6, 3])
            },
            ConformanceCase("P.inSorted", "P4", "Q1", title: "the query orders the rows, not the list") { context in
                let reference = try reference(context)
                let condition = Condition<Probe> { $0.numberIndexed.in([7, 0, 5, nil, 3]) }
                try expectEqual(
                    try reference.ids(Query(where: condition, orderedBy: [.ascending(\.numberIndexed)])), [1, 4, 6, 3, 2, 5])
                try expectEqual(
                    try reference.ids(Query(where: condition, orderedBy: [.descending(\.numberIndexed)])), [5, 2, 3, 6, 1, 4])
                try expectEqual(
                    try reference.ids(Query(where: condition, orderedBy: [.descending(\.numberIndexed)], limit: 2, offset: 1)),
                    [2, 3])
            },
            ConformanceCase("P.inAndIn", "P4", title: "two lists on one field match the values that are in both") { context in
                let reference = try reference(context)
                try reference.check([2]) { $0.numberIndexed.in([5, 7]) && $0.numberIndexed.in([5, 3]) }
                try reference.check([2, 3, 5]) { $0.numberIndexed.in([5, 7]) || $0.numberIndexed.in([5, 3]) }
                try reference.check([5]) { $0.numberIndexed.in([5, 7]) && !$0.numberIndexed.in([5, 3]) }
                try reference.check([1, 4, 6]) { !$0.numberIndexed.in([5, 7]) && !$0.numberUnique.in([5, 3]) }
            },
        ]
    }

    private static let large: [ConformanceCase] = [
        ConformanceCase(
            "P.inHundredThousand", "P4", title: "a list of 100,000 values, in every kind of field, and its negation",
            isHeavy: true
        ) { context in
            let reference = try ReferenceRows(context, Probe.numbers([nil, 5, -3, 199_998, 200_000, 99_999]))
            let even = (0..<100_000).map { Optional($0 * 2) }
            for name in Probe.numbers { try reference.check(.field(name, in: even), [4], name) }
            try reference.check(.field("id", in: even), [2, 4, 6], "the key")
            try reference.check(.field("number", in: [nil] + even.reversed()), [1, 4], "with nil, in descending order")
        },
        ConformanceCase("P.inHundredThousandTexts", "P4", title: "a list of 100,000 texts", isHeavy: true) { context in
            let reference = try ReferenceRows(context, Probe.texts(["text 100005", "text", nil, "text 199999", "text 200000"]))
            let values = (100_000..<200_000).map { Optional("text \($0)") }
            for name in Probe.texts { try reference.check(.field(name, in: values), [1, 4], name) }
        },
        ConformanceCase(
            "P.manyAlternatives", "P1", "P7",
            title: "3,000 alternatives or 3,000 conditions have the nesting depth of a single condition"
        ) { context in
            let reference = try ReferenceRows(context, Probe.numbers([nil, 5, 2_999, 3_000, -1]))
            let any = (0..<3_000).reduce(Condition<Probe>.none) { chain, number in chain || Condition { $0.number == number }
            }
            try reference.check(any, [2, 3], "3,000 times ==")
            let every = (0..<3_000).reduce(Condition<Probe>.all) { chain, number in
                chain && Condition { $0.numberIndexed != number }
            }
            try reference.check(every, [1, 4, 5], "3,000 times !=")
        },
    ]
}
