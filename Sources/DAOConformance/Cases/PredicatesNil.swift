import DAOCore

/// P1: two-valued logic. Probes 1 to 6 hold the numbers nil, 5, 3, nil, 7 and 0.
enum PredicatesNil {
    static let cases: [ConformanceCase] = comparisons() + logic + ranges + fields() + others

    private static func reference(_ context: ConformanceContext) throws -> ReferenceRows<Probe> {
        try ReferenceRows(context, Probe.numbers([nil, 5, 3, nil, 7, 0]))
    }

    private static func comparisons() -> [ConformanceCase] {
        let rows: [(id: String, title: String, comparison: Comparison, value: Int?, ids: [Int])] = [
            ("P.isNil", "== nil matches exactly the rows that hold nil", .equal, nil, [1, 4]),
            ("P.isNotNil", "!= nil matches exactly the rows that hold a value", .notEqual, nil, [2, 3, 5, 6]),
            ("P.equalLeavesNilOut", "== with a value excludes nil; the negation includes it", .equal, 5, [2]),
            ("P.notEqualIncludesNil", "!= with a value includes nil", .notEqual, 5, [1, 3, 4, 5, 6]),
            ("P.lessLeavesNilOut", "< excludes nil, its negation includes it", .less, 5, [3, 6]),
            ("P.lessOrEqualLeavesNilOut", "<= excludes nil, its negation includes it", .lessOrEqual, 5, [2, 3, 6]),
            ("P.greaterLeavesNilOut", "> excludes nil, its negation includes it", .greater, 0, [2, 3, 5]),
            ("P.greaterOrEqualLeavesNilOut", ">= excludes nil, its negation includes it", .greaterOrEqual, 0, [2, 3, 5, 6]),
            ("P.lessThanNil", "< nil matches no row, its negation every row", .less, nil, []),
            ("P.lessOrEqualNil", "<= nil matches no row, not even a row with nil", .lessOrEqual, nil, []),
            ("P.greaterThanNil", "> nil matches no row, its negation every row", .greater, nil, []),
            ("P.greaterOrEqualNil", ">= nil matches no row, not even a row with nil", .greaterOrEqual, nil, []),
        ]
        return rows.map { row in
            ConformanceCase(row.id, "P1", "P7", title: row.title) { context in
                let reference = try reference(context)
                for name in Probe.numbers { try reference.check(.field(name, row.comparison, row.value), row.ids, name) }
            }
        }
    }

    private static let logic: [ConformanceCase] = [
        ConformanceCase("P.doubleNegation", "P1", title: "a negated negation matches the condition's rows, with nil") { context in
            let reference = try reference(context)
            try reference.check([2], "!!(== 5)") { !(!($0.number == 5)) }
            try reference.check([3, 6], "!!(< 5)") { !(!($0.numberIndexed < 5)) }
            try reference.check([1, 2, 4, 5], "!!!(< 5)") { !(!(!($0.numberUnique < 5))) }
        },
        ConformanceCase("P.deMorgan", "P1", title: "a negated AND is an OR of negations, and a negated OR an AND") { context in
            let reference = try reference(context)
            try reference.check([1, 2, 4, 5, 6], "!(> 0 && < 5)") { !($0.number > 0 && $0.numberIndexed < 5) }
            try reference.check([1, 2, 4, 5, 6], "!(> 0) || !(< 5)") { !($0.number > 0) || !($0.numberIndexed < 5) }
            try reference.check([1, 2, 4], "!(< 5 || > 5)") { !($0.number < 5 || $0.numberIndexed > 5) }
            try reference.check([1, 2, 4], "!(< 5) && !(> 5)") { !($0.number < 5) && !($0.numberIndexed > 5) }
        },
        ConformanceCase("P.excludedMiddle", "P1", title: "p OR NOT p matches every row, p AND NOT p no row") { context in
            let reference = try reference(context)
            for name in Probe.numbers {
                for comparison in Comparison.allCases {
                    for value: Int? in [5, 4, nil] {
                        let condition = Condition<Probe>.field(name, comparison, value)
                        try reference.check(condition || !condition, [1, 2, 3, 4, 5, 6], "\(name) \(comparison) or not")
                        try reference.check(condition && !condition, [], "\(name) \(comparison) and not")
                    }
                }
            }
        },
        ConformanceCase("P.emptyAndOr", "P1", title: "an empty AND matches every row, an empty OR no row") { context in
            let reference = try reference(context)
            try reference.check(Condition(.and([])), [1, 2, 3, 4, 5, 6])
            try reference.check(Condition(.or([])), [])
            try reference.check(Condition(.or([.and([]), .or([])])), [1, 2, 3, 4, 5, 6])
            try reference.check(Condition(.and([.and([]), .or([])])), [])
        },
        ConformanceCase("P.constants", "P1", title: "all and none, alone and combined") { context in
            let reference = try reference(context)
            try reference.check(.all, [1, 2, 3, 4, 5, 6])
            try reference.check(.none, [])
            let isFive = Condition<Probe> { $0.numberIndexed == 5 }
            try reference.check(Condition<Probe>.all && isFive, [2])
            try reference.check(Condition<Probe>.none || isFive, [2])
            try reference.check(Condition<Probe>.none && isFive, [])
            try reference.check(Condition<Probe>.all || isFive, [1, 2, 3, 4, 5, 6])
        },
        ConformanceCase(
            "P.fiftyLevels", "P1", "P7", title: "fifty levels of AND, OR and NOT match the rows that a Swift closure selects"
        ) {
            context in
            let rows = Probe.numbers([nil] + Array(0..<40))
            let reference = try ReferenceRows(context, rows)
            var condition = Condition<Probe> { $0.number == 0 }
            var closure: (Probe) -> Bool = { $0.number == 0 }
            for level in 1...50 {
                let inner = closure
                switch level % 3 {
                case 0:
                    condition = !(condition || Condition { $0.numberIndexed == level })
                    closure = { !(inner($0) || $0.number == level) }
                case 1:
                    condition = condition && Condition { $0.number != level / 2 }
                    closure = { inner($0) && $0.number != level / 2 }
                default:
                    condition = Condition { $0.numberUnique < level - 30 } || condition
                    closure = { $0.number.map { $0 < level - 30 } ?? false || inner($0) }
                }
                try reference.check(condition, rows.filter(closure).map(\.id), "level \(level)")
            }
        },
        ConformanceCase(
            "P.deepestLevels", "P7",
            title: "the deepest condition there may be works on a stack of 512 KiB; a deeper one is refused"
        ) { context in
            let dao = try reference(context).dao
            /// A condition of an even number of levels that a number of 5 meets.
            @Sendable func nested(_ levels: Int) -> Condition<Probe> {
                var condition = Condition<Probe> { $0.number == 5 }
                for _ in 1..<levels / 2 {
                    condition = !(condition && Condition { $0.id == 0 }) && Condition { $0.numberIndexed == 5 }
                }
                return condition
            }
            let query = Background(stackSize: 512 << 10) {
                try expectEqual(try dao.read(where: nested(640)).map(\.id), [2], "the rows of 640 levels")
                try expectEqual(try dao.count(where: nested(640)), 1, "the count of 640 levels")
                try expectError(.invalidPredicate, entity: "probe") { try dao.read(where: nested(642)) }
                let levels = (1..<700).reduce(PredicateNode.compare(field: 0, .equal, .integer(2))) { node, level in
                    level % 2 == 0 ? .or([node, .constant(false)]) : .and([node, .constant(true)])
                }
                try expectError(.invalidPredicate, entity: "probe") { try dao.read(where: Condition(levels)) }
                let chain = (0..<2000).map { number in Condition<Probe> { $0.number == number } }
                try expectEqual(try dao.count(where: chain.dropFirst().reduce(chain[0]) { $0 || $1 }), 4, "the count of a chain")
            }
            try query.wait(seconds: 60, "a query of 640 levels")
        },
        ConformanceCase(
            "P.deepestPath", "P7", "P5", "W5",
            title: "the longest path of to-ones there may be works on a stack of 512 KiB; a longer one is refused"
        ) { context in
            let database = try context.open()
            let errands = try database.storage(for: Errand.self)
            try database.storage(for: Person.self).persist(objects: [Person(id: 1, name: "Ada")])
            let length = 26
            // Each is a part of the one before.
            try errands.persist(
                objects: (0...length).map { Errand(id: $0, whole: $0 == 0 ? nil : Reference($0 - 1), owner: Reference(1)) })
            let whole = Errand.schema.description.index(of: "whole") ?? 0
            /// The condition that a number of steps lead to the first errand.
            @Sendable func path(_ steps: Int, _ next: (PredicateNode) -> PredicateNode = { $0 }) -> Condition<Errand> {
                Condition(
                    (0..<steps).reduce(PredicateNode.compare(field: 0, .equal, .integer(0))) { node, _ in
                        .through(field: whole, next(node))
                    })
            }
            let query = Background(stackSize: 512 << 10) {
                for steps in length - 3...length {
                    try expectEqual(try errands.read(Query(where: path(steps))).map(\.id), [steps], "the rows of \(steps) steps")
                    try expectEqual(try errands.count(Query(where: !path(steps))), length, "the others of \(steps) steps")
                }
                try expectError(.invalidPredicate, entity: "errand") { try errands.count(Query(where: path(length + 1))) }
                // Each step is a condition on the related row and another one.
                let pairs = path(length - 2) { .not(.and([$0, .compare(field: 0, .greaterOrEqual, .integer(0))])) }
                let both = Query(where: !pairs && path(length), orderedBy: [.descending(\.title), .ascending(\.id)], limit: 1)
                try expectEqual(try errands.read(both).map(\.id), [length], "the first row of two paths")
                let words = Condition<Errand>(Array(repeating: "whole.", count: length).joined() + "id == 0")
                try expectEqual(try errands.read(Query(where: words)).map(\.id), [length], "the rows of a path in words")
                try database.transaction {
                    let first = Query(where: path(length), orderedBy: [.descending(\.title)], limit: 1)
                    try expectEqual(try errands.read(first).map(\.id), [length], "the first row of a path, in a transaction")
                    _ = try errands.update(Query(where: path(length))) { $0.title = "last" }
                    _ = try errands.erase(Query(where: path(length)))
                }
                try expectEqual(try errands.count(), length, "the rows that an erasure leaves")
            }
            try query.wait(seconds: 60, "a query of the longest path")
        },
    ]

    private static let ranges: [ConformanceCase] = [
        ConformanceCase("P.between", "P1", title: "between includes both bounds; its negation has all other rows") { context in
            let reference = try reference(context)
            try reference.check([2, 3]) { $0.number.between(3, and: 5) }
            try reference.check([2, 3]) { $0.numberIndexed.between(3, and: 5) }
            try reference.check([2, 3]) { $0.numberUnique.between(3, and: 5) }
            try reference.check([3], "between 3 and 3") { $0.numberIndexed.between(3, and: 3) }
        },
        ConformanceCase("P.betweenReversed", "P1", title: "between with reversed bounds matches no row") { context in
            let reference = try reference(context)
            try reference.check([]) { $0.number.between(5, and: 3) }
            try reference.check([]) { $0.numberIndexed.between(5, and: 3) }
            try reference.check([]) { $0.numberUnique.between(.max, and: .min) }
        },
        ConformanceCase("P.betweenNil", "P1", title: "between with a nil bound matches no row") { context in
            let reference = try reference(context)
            try reference.check([]) { $0.number.between(nil, and: 9) }
            try reference.check([]) { $0.numberIndexed.between(0, and: nil) }
            try reference.check([]) { $0.numberUnique.between(nil, and: nil) }
        },
        ConformanceCase("P.notBetween", "P1", title: "values outside a range match on both sides, and nil") { context in
            let reference = try reference(context)
            try reference.check([1, 4, 5, 6]) { !$0.numberIndexed.between(3, and: 5) }
            try reference.check([5, 6], "the rows on both sides without nil") { $0.numberIndexed < 3 || $0.numberIndexed > 5 }
        },
    ]

    private static func fields() -> [ConformanceCase] {
        // (nil, nil), (nil, 1), (1, nil), (1, 1), (1, 2), (2, 1)
        let pairs: [(Int?, Int?)] = [(nil, nil), (nil, 1), (1, nil), (1, 1), (1, 2), (2, 1)]
        let rows: [(id: String, title: String, comparison: Comparison, ids: [Int])] = [
            ("P.fieldsEqual", "field == field matches a row with nil in both fields", .equal, [1, 4]),
            ("P.fieldsNotEqual", "field != field matches a row with nil in one of the fields", .notEqual, [2, 3, 5, 6]),
            ("P.fieldsLess", "field < field is false when either field is nil", .less, [5]),
            (
                "P.fieldsLessOrEqual", "field <= field is false when either field is nil, also when both are", .lessOrEqual,
                [4, 5]
            ),
            ("P.fieldsGreater", "field > field is false when either field is nil", .greater, [6]),
            (
                "P.fieldsGreaterOrEqual", "field >= field is false when either field is nil, also when both are", .greaterOrEqual,
                [4, 6]
            ),
        ]
        return rows.map { row in
            ConformanceCase(row.id, "P1", "P7", title: row.title) { context in
                let reference = try ReferenceRows(
                    context,
                    pairs.enumerated().map { index, pair in
                        Probe(
                            id: index + 1, number: pair.0, numberIndexed: pair.0, text: pair.0.map { "\($0)" }, other: pair.1,
                            otherText: pair.1.map { "\($0)" })
                    })
                let entity = Probe.schema.description
                for (left, right) in [("number", "other"), ("numberIndexed", "other"), ("text", "otherText")] {
                    guard let left = entity.index(of: left), let right = entity.index(of: right) else { continue }
                    try reference.check(Condition(.compareFields(left, row.comparison, right)), row.ids)
                    try reference.check(Condition(.compareFields(right, row.comparison.mirrored, left)), row.ids, "mirrored")
                }
            }
        }
    }

    private static let others: [ConformanceCase] = [
        ConformanceCase("P.fieldAgainstItself", "P1", title: "a field equals itself, also nil, and is never less") { context in
            let reference = try reference(context)
            try reference.check([1, 2, 3, 4, 5, 6]) { $0.number == $0.number }
            try reference.check([]) { $0.numberIndexed != $0.numberIndexed }
            try reference.check([]) { $0.numberIndexed < $0.numberIndexed }
            try reference.check([2, 3, 5, 6]) { $0.numberUnique <= $0.numberUnique }
        },
        ConformanceCase(
            "P.requiredFieldAgainstNil", "P1", title: "a field that is never nil: == nil matches no row, != nil every row"
        ) { context in
            let reference = try reference(context)
            try reference.check(.field("id", .equal, nil), [])
            try reference.check(.field("flag", .notEqual, nil), [1, 2, 3, 4, 5, 6])
            try reference.check(.field("id", .less, nil), [])
        },
        ConformanceCase("P.flags", "P1", title: "a Bool field is a condition; an optional Bool field has three states") {
            context in
            let flags = try ReferenceRows(context, [true, false, true].enumerated().map { Probe(id: $0 + 1, flag: $1) })
            try flags.check([1, 3]) { $0.flag }
            try flags.check([2]) { !$0.flag }
            try flags.check([2]) { $0.flag == false }
            let optionals = try ReferenceRows(
                context, [nil, true, false].enumerated().map { OptionalScalars(id: $0 + 1, bool: $1) })
            try optionals.check([2]) { $0.bool == true }
            try optionals.check([1, 2]) { $0.bool != false }
            try optionals.check([1]) { $0.bool == nil }
            try optionals.check([3]) { $0.bool < true }
        },
        ConformanceCase(
            "P.nilThenValue", "P1", "P7", title: "a row that gets or loses a value matches the opposite condition"
        ) { context in
            let reference = try reference(context)
            try reference.dao.update(where: { $0.id == 1 }) { $0.numberIndexed = 5 }
            try reference.dao.update(where: { $0.id == 2 }) { $0.numberIndexed = nil }
            try reference.check([1]) { $0.numberIndexed == 5 }
            try reference.check([2, 4]) { $0.numberIndexed == nil }
            try reference.check([2, 3, 4, 5, 6]) { $0.numberIndexed != 5 }
        },
        ConformanceCase("P.emptyIsNotNil", "P1", "V3", title: "empty text and zero are not nil, in every kind") { context in
            let texts = try ReferenceRows(context, Probe.texts(["", nil, "a"]))
            for name in Probe.texts {
                try texts.check(.field(name, .equal, nil), [2], name)
                try texts.check(.field(name, .equal, ""), [1], name)
                try texts.check(.field(name, .notEqual, ""), [2, 3], name)
                try texts.check(.field(name, .lessOrEqual, ""), [1], name)
            }
        },
    ]
}
