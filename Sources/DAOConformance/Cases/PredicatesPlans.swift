import DAOCore

/// P7: however an engine executes a condition, the rows are those of the reference evaluator.
enum PredicatesPlans {
    static let cases: [ConformanceCase] = composite + changing + metamorphic() + refused

    private static let composite: [ConformanceCase] = [
        ConformanceCase("P.twoIndexes", "P7", title: "AND and OR over two indexes give each row once") { context in
            let reference = try ReferenceRows(
                context,
                (1...40).map {
                    Probe(id: $0, numberIndexed: $0 % 5, textIndexed: $0 % 3 == 0 ? nil : "t\($0 % 7)", other: $0 % 4)
                })
            try reference.check([4]) { $0.numberIndexed == 4 && $0.other == 0 && $0.textIndexed != nil }
            try reference.check((1...40).filter { $0 % 5 == 4 || $0 % 4 == 0 }, "OR") {
                $0.numberIndexed == 4 || $0.other == 0
            }
            try reference.check((1...40).filter { ($0 % 5 > 2 && $0 % 4 < 2) || $0 % 3 == 0 }, "mixed") {
                ($0.numberIndexed > 2 && $0.other < 2) || $0.textIndexed == nil
            }
            try reference.check((1...40).filter { !($0 % 5 > 2) && $0 % 4 != 1 }, "negated") {
                !($0.numberIndexed > 2) && $0.other != 1
            }
        },
        ConformanceCase("P.overlappingRanges", "P7", title: "overlapping ranges of one index give each row once") { context in
            let reference = try ReferenceRows(context, Probe.numbers([nil, 5, 3, 8, 7, 0, 9]))
            for name in Probe.numbers {
                let (low, high) = (Condition<Probe>.field(name, .less, 7), Condition<Probe>.field(name, .greater, 3))
                try reference.check(low || high, [2, 3, 4, 5, 6, 7], "\(name) or")
                try reference.check(low && high, [2], "\(name) and")
                try reference.check(
                    Condition<Probe>.field(name, .equal, 5) || Condition<Probe>.field(name, in: [5, 3])
                        || Condition<Probe>.field(name, .less, 6), [2, 3, 6], "\(name) thrice")
            }
        },
        ConformanceCase("P.contradictions", "P7", title: "contradictions match no row, tautologies every row") { context in
            let reference = try ReferenceRows(context, Probe.numbers([nil, 5, 3]))
            for name in Probe.numbers {
                let five = Condition<Probe>.field(name, .equal, 5)
                try reference.check(five && Condition<Probe>.field(name, .equal, 3), [], name)
                try reference.check(
                    Condition<Probe>.field(name, .greater, 5) && Condition<Probe>.field(name, .less, 3), [], name)
                try reference.check(five && Condition<Probe>.field(name, .equal, nil), [], name)
                try reference.check(five || Condition<Probe>.field(name, .notEqual, 5), [1, 2, 3], name)
                try reference.check(
                    Condition<Probe>.field(name, .lessOrEqual, 5) || Condition<Probe>.field(name, .greaterOrEqual, 5),
                    [2, 3], name)
                try reference.check(
                    five && Condition<Probe>.field(name, .lessOrEqual, 5) && Condition<Probe>.field(name, .greaterOrEqual, 5),
                    [2], name)
            }
        },
        ConformanceCase("P.keyAndIndex", "P7", title: "conditions on the key and on an index combine") { context in
            let reference = try ReferenceRows(context, Probe.numbers([nil, 5, 3, nil, 7, 0]))
            try reference.check([5]) { $0.id > 2 && $0.numberIndexed > 4 }
            try reference.check([2, 3, 4, 5, 6]) { $0.id > 2 || $0.numberIndexed > 4 }
            try reference.check([2]) { $0.id == 2 && $0.numberUnique == 5 }
            try reference.check([]) { $0.id == 3 && $0.numberUnique == 5 }
            try reference.check([1, 3, 4, 6]) { $0.id != 2 && !($0.numberIndexed > 5) }
        },
        ConformanceCase(
            "P.twins", "P7", title: "a field without an index, with an index and with a unique index gives the same rows"
        ) {
            context in
            let numbers: [Int?] = [nil, 5, 3, nil, 7, 0, -4, 12, 100, -100]
            let reference = try ReferenceRows(context, Probe.numbers(numbers))
            for value: (any FieldValue)? in [nil, 5, -4, 6, 100, 2.5, UInt64.max] {
                for comparison in Comparison.allCases {
                    let answers = try Probe.numbers.map { try reference.ids(.field($0, comparison, value)) }
                    try expectEqual(answers[1], answers[0], "indexed \(comparison.rawValue) \(String(describing: value))")
                    try expectEqual(answers[2], answers[0], "unique \(comparison.rawValue) \(String(describing: value))")
                }
            }
            try reference.checkReference(.field("numberIndexed", .greater, 2.5))
        },
    ]

    private static let changing: [ConformanceCase] = [
        ConformanceCase(
            "P.indexFollowsUpdates", "P7", title: "an updated row is found by its new value and no longer by its old one"
        ) { context in
            let reference = try ReferenceRows(context, Probe.numbers([1, 2, 3]))
            try reference.dao.update(where: { $0.id == 2 }) { probe in
                (probe.number, probe.numberIndexed, probe.numberUnique) = (20, 20, 20)
            }
            for name in Probe.numbers {
                try reference.check(.field(name, .equal, 2), [], name)
                try reference.check(.field(name, .equal, 20), [2], name)
                try reference.check(.field(name, .greater, 1), [2, 3], name)
            }
            try reference.dao.persist(Probe(id: 3, number: 2, numberIndexed: 2, numberUnique: 2))
            for name in Probe.numbers { try reference.check(.field(name, in: [2, 3]), [3], name) }
        },
        ConformanceCase("P.indexFollowsErases", "P7", title: "an erased row is not found, a new one with its key is") { context in
            let reference = try ReferenceRows(context, Probe.numbers([1, 2, 3]))
            try expectEqual(try reference.dao.erase(byPrimaryKey: 2), 1)
            for name in Probe.numbers {
                try expectEqual(try reference.ids(.field(name, .lessOrEqual, 2)), [1], name)
                try expectEqual(try reference.ids(.field(name, .equal, 2)), [], name)
            }
            try reference.dao.create(Probe(id: 2, number: 30, numberIndexed: 30, numberUnique: 30))
            for name in Probe.numbers { try reference.check(.field(name, .greater, 2), [2, 3], name) }
        },
        ConformanceCase(
            "P.indexInTransaction", "P7", "T3", title: "inside a transaction an index finds the rows just written"
        ) { context in
            let reference = try ReferenceRows(context, Probe.numbers([1, 2, 3]))
            try expectDeliberate {
                try reference.dao.storage.database.transaction {
                    try reference.dao.create(Probe(id: 4, numberIndexed: 2, textIndexed: "new"))
                    try reference.dao.erase(byPrimaryKey: 1)
                    try expectEqual(try reference.ids(Condition { $0.numberIndexed <= 2 }), [2, 4], "inside")
                    try expectEqual(try reference.ids(Condition { $0.textIndexed.hasPrefix("n") }), [4], "inside")
                    throw DeliberateError()
                }
            }
            try expectEqual(try reference.ids(Condition { $0.numberIndexed <= 2 }), [1, 2], "after the rollback")
            try expectEqual(try reference.ids(Condition { $0.textIndexed != nil }), [], "after the rollback")
        },
        ConformanceCase(
            "P.indexAfterReopening", "P7", title: "an index gives the same rows after reopening", requires: [.persistence]
        ) { context in
            let rows = Probe.random(60, seed: 11)
            let before = try ReferenceRows(context, rows)
            let conditions: [Condition<Probe>] = [
                Condition { $0.numberIndexed > 0 }, Condition { $0.textIndexed == nil }, Condition { $0.realIndexed >= 1 },
                Condition { $0.big > 7 },
            ]
            let answers = try conditions.map { try before.ids($0) }
            try before.dao.storage.database.close()
            let dao = try context.dao(Probe.self)
            for (condition, expected) in zip(conditions, answers) {
                try expectEqual(try dao.read(Query(where: condition)).map(\.id), expected, "after reopening")
            }
        },
        ConformanceCase(
            "P.updateAndEraseByCondition", "P7", "W5", title: "update and erase change exactly the rows of their condition"
        ) { context in
            let reference = try ReferenceRows(context, Probe.numbers([nil, 5, 3, nil, 7, 0]))
            try expectEqual(try reference.dao.update(where: { !($0.numberIndexed > 3) }) { $0.flag = true }, 4, "updated")
            try reference.check([1, 3, 4, 6]) { $0.flag }
            try expectEqual(try reference.dao.erase(where: { $0.flag && $0.number == nil }), 2, "erased")
            try expectEqual(try reference.dao.read().map(\.id), [2, 3, 5, 6], "the remaining rows")
            try expectEqual(try reference.dao.erase(where: { $0.numberIndexed.in([]) }), 0, "erased")
        },
    ]

    private static func metamorphic() -> [ConformanceCase] {
        (0..<6).map { part in
            ConformanceCase(
                "P.random\(part + 1)", "P7", "P1",
                title: "100 random conditions: each condition and its negation divide the rows as the evaluator does"
            ) { context in
                let reference = try ReferenceRows(context, Probe.random(120, seed: UInt64(part)))
                var conditions = ProbeQueries(seed: UInt64(100 + part))
                for round in 0..<100 {
                    let condition = conditions.next()
                    try reference.checkReference(condition, "condition \(round), \(condition.node)")
                }
            }
        } + [
            ConformanceCase(
                "P.commutes", "P7", title: "p AND q matches the rows of q AND p; p OR q matches the rows of p, of q or of both"
            ) {
                context in
                let reference = try ReferenceRows(context, Probe.random(100, seed: 21))
                var conditions = ProbeQueries(seed: 22)
                for _ in 0..<60 {
                    let (left, right) = (conditions.next(), conditions.next())
                    let (leftIDs, rightIDs) = (Set(try reference.ids(left)), Set(try reference.ids(right)))
                    try expectEqual(try reference.ids(left && right), leftIDs.intersection(rightIDs).sorted(), "p AND q")
                    try expectEqual(try reference.ids(right && left), leftIDs.intersection(rightIDs).sorted(), "q AND p")
                    try expectEqual(try reference.ids(left || right), leftIDs.union(rightIDs).sorted(), "p OR q")
                    try expectEqual(try reference.ids(left && !right), leftIDs.subtracting(rightIDs).sorted(), "p AND NOT q")
                }
            },
            ConformanceCase("P.pivot", "P7", title: "each row is found by a condition on all its values") { context in
                let reference = try ReferenceRows(context, Probe.random(60, seed: 31))
                for row in reference.rows {
                    let condition =
                        Condition<Probe> {
                            $0.number == row.number && $0.numberIndexed == row.numberIndexed
                                && $0.numberUnique == row.numberUnique && $0.text == row.text
                        }
                        && Condition<Probe> {
                            $0.textIndexed == row.textIndexed && $0.realIndexed == row.realIndexed && $0.big == row.big
                                && $0.amount == row.amount
                        } && Condition<Probe> { $0.other == row.other && $0.flag == row.flag && $0.small == row.small }
                    try expect(try reference.ids(condition).contains(row.id), "row \(row.id) to be found by its values")
                    try expect(try !reference.ids(!condition).contains(row.id), "row \(row.id) not to be found by their negation")
                }
            },
        ]
    }

    private static let refused: [ConformanceCase] = [
        ConformanceCase(
            "P.wrongTypeIsRefused", "P6", "P7",
            title: "a literal of the wrong type is invalidPredicate with entity and field"
        ) { context in
            let reference = try ReferenceRows(context, Probe.numbers([1, 2]))
            for (name, value) in [
                ("number", "1" as any FieldValue), ("text", 1), ("flag", 2), ("big", "x"), ("real", true), ("amount", "1"),
            ] {
                try expectError(.invalidPredicate, name, entity: "probe", field: name) {
                    try reference.ids(.field(name, .equal, value))
                }
                try expectError(.invalidPredicate, name, entity: "probe", field: name) {
                    try reference.ids(.field(name, in: [nil, value]))
                }
            }
        },
        ConformanceCase(
            "P.refusedBeforeWriting", "P6", "W3", title: "an invalid condition changes nothing, in every operation"
        ) { context in
            let reference = try ReferenceRows(context, Probe.numbers([1, 2]))
            let bad: Condition<Probe> = "numbre > 0"
            let before = try Dump.rows(of: reference.dao.storage)
            let query = Query<Probe>(where: bad)
            try expectError(.invalidPredicate, "read", entity: "probe", field: "numbre") { try reference.dao.read(query) }
            try expectError(.invalidPredicate, "count", entity: "probe", field: "numbre") { try reference.dao.count(query) }
            try expectError(.invalidPredicate, "keys", entity: "probe", field: "numbre") {
                try reference.dao.storage.keys(query)
            }
            try expectError(.invalidPredicate, "erase", entity: "probe", field: "numbre") {
                try reference.dao.storage.erase(query)
            }
            try expectError(.invalidPredicate, "update", entity: "probe", field: "numbre") {
                try reference.dao.storage.update(query) { $0.flag = true }
            }
            try expectError(.invalidPredicate, "forEach", entity: "probe", field: "numbre") {
                try reference.dao.forEach(query) { _ in }
            }
            try expectError(.invalidPredicate, "min", entity: "probe", field: "numbre") {
                try reference.dao.min(\.number, where: bad)
            }
            try expectError(.invalidPredicate, "sum", entity: "probe", field: "numbre") {
                try reference.dao.sum(\.id, where: bad)
            }
            try expectError(.invalidPredicate, "one side of an OR", entity: "probe", field: "numbre") {
                try reference.ids(Condition<Probe>.all || bad)
            }
            try expectSame(try Dump.rows(of: reference.dao.storage), before, "the rows after the error")
        },
        ConformanceCase("P.notStored", "P6", title: "a key path that is not stored is invalidPredicate") { context in
            let reference = try ReferenceRows(context, Probe.numbers([1]))
            try expectError(.invalidPredicate, entity: "probe") { try reference.ids(Condition { $0.doubled == 2 }) }
            try expectError(.invalidPredicate, entity: "probe") { try reference.dao.read(orderedBy: .ascending(\.doubled)) }
        },
    ]
}

extension Probe {
    /// Not stored.
    var doubled: Int { (number ?? 0) * 2 }
}
