import DAOCore

/// E1, P6: names with spaces and signs.
enum EvolutionNames {
    private static let entity = HardOrder.schema.description.name

    private static func stored(_ database: any Database) throws -> DAO<HardOrder> {
        try database.dao(HardPlace.self).create([HardPlace(key: "p0", town: "Ulm"), HardPlace(key: "p1", town: "Hof")])
        let orders = try database.dao(HardOrder.self)
        try orders.create(HardOrder.all)
        return orders
    }

    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "E.hardNames", "E1", "P6", title: "entities and fields whose names have spaces and signs do all that others do"
        ) { context in
            let (database, _) = try context.open(with: HardOrder.self)
            let orders = try stored(database)
            try expectEqual(try orders.read(byPrimaryKey: 2), HardOrder.all[1], "a row by its key")
            let both: [(String, Condition<HardOrder>, [Int])] = [
                ("`Order #` IN {2, 4}", Condition { $0.number.in([2, 4]) }, [2, 4]),
                ("`Order Date` > '2001-01-01T00:00:02Z'", Condition { $0.date > HardOrder.all[1].date }, [3, 4, 5]),
                ("`price (net)` == 30 AND `a & b? $1` == nil", Condition { $0.price == 30 && $0.rank == nil }, [3]),
                (
                    "`x FROM y` BEGINSWITH 'c' AND `is open` == false",
                    Condition { $0.code.hasPrefix("c") && $0.isOpen == false }, [4]
                ),
                ("`2024` CONTAINS 't1'", Condition { $0.tags.contains("t1") }, [1, 3, 5]),
                ("`2024`.@count == 1 AND NOT `a & b? $1` > 1", Condition { $0.tags.count == 1 && !($0.rank > 1) }, [1, 3]),
                ("`ship to`.`post town` == 'Ulm'", Condition { $0.place.town == "Ulm" }, [2, 4]),
                ("ANY `lines & more`.`amount!` > 3", Condition { $0.lines.contains { $0.amount > 3 } }, [4, 5]),
            ]
            for (text, typed, keys) in both {
                let parsed = Condition<HardOrder>(text)
                try expectEqual(parsed, typed, "the condition of \(text)")
                try expectEqual(try orders.read(Query(where: parsed)).map(\.number), keys, text)
                // What a condition says of itself can be read again, apart from dates and related rows.
                if !text.contains("Date"), !text.contains("ship"), !text.contains("lines") {
                    try expectEqual(Condition<HardOrder>("\(typed)"), typed, "the words of \(typed)")
                }
            }
            try expectEqual(
                try orders.read(Query(where: Condition("%K == %@", "x FROM y", "c2"))).map(\.number), [2], "a bound name")
            for text in ["`Order Date", "`` == 1", "`ship to.town` == 'Ulm'"] {
                try expectError(.invalidPredicate, text, entity: entity) { try orders.count(Query(where: Condition(text))) }
            }
            try expectError(.invalidPredicate, entity: entity, field: "no such") {
                try orders.count(Query(where: Condition("`no such` == 1")))
            }
            try expectEqual(
                try orders.read(orderedBy: .descending(\.place, \.town), .ascending(\.price)).map(\.number),
                [2, 4, 1, 3, 5], "sorted rows")
            try expectEqual(try orders.groups(by: \.isOpen, totals: .count).map { $0.1 }, [1, 4], "groups")
            try expectEqual(try orders.set(\.rank, to: 9) { $0.date == HardOrder.all[3].date }, 1, "the changed rows")
            try expectError(.uniqueViolation, entity: entity, key: 2, conflictingKey: 1, field: "x FROM y") {
                try orders.update(where: Condition { $0.number == 2 }) { $0.code = "c1" }
            }
            try expectError(.uniqueViolation, entity: entity, key: 2, conflictingKey: 1, field: "a & b? $1") {
                try orders.update(where: Condition { $0.number == 2 }) { $0.rank = 1 }
            }
            let plan = try orders.storage.explain(Query(where: Condition { $0.code == "c2" }))
            try expect([.index(["x FROM y"]), .scan].contains(plan.access), "the plan names the index, not \(plan.access)")
            try orders.update(where: Condition { $0.number == 1 }) { $0.tags = ["new"] }
            try expectEqual(try orders.read { $0.tags.contains("new") }.map(\.number), [1], "a row by its new element")
            try expectEqual(try orders.erase { $0.price >= 50 }, 1, "the erased rows")
            try expectEqual(try database.dao(HardLine.self).read().map(\.id), [10, 20, 30, 40], "the rows of the lists")
            try database.expectVerified()
        },
        ConformanceCase(
            "E.hardNamesLater", "E1", "E2", "E5", "E8",
            title: "names with spaces and signs are stored, read without types, copied, renamed and dropped",
            requires: [.evolution]
        ) { context in
            var (database, _) = try context.open(with: HardOrder.self)
            _ = try stored(database)
            try context.renew(&database)
            let described = try database.entities().first { $0.name == entity }
            try expectEqual(
                described?.fields.map(\.name), HardOrder.schema.description.fields.map(\.name), "the stored names of fields")
            try expectEqual(described?.indexes.count, 3, "the number of stored indexes")
            let rows = try database.rows(of: entity)
            try expectEqual(
                try rows.read(where: "`price (net)` < 30").map { $0["x FROM y"] ?? .null }, [.string("c1"), .string("c2")],
                "rows without types")
            let target = try context.openOther()
            try database.copy(to: target)
            try expectEqual(try target.dao(HardOrder.self).read(), HardOrder.all, "the copied rows")
            try target.expectVerified()
            let renamed = try database.dao(RenamedOrder.self)
            try expectEqual(
                try renamed.read { $0.code == "c3" },
                [RenamedOrder(number: 3, code: "c3", day: HardOrder.all[2].date)], "a row of the later version")
            try renamed.create(RenamedOrder(number: 6, code: "c6", day: HardOrder.all[0].date))
            try expectError(.uniqueViolation, entity: entity, key: 7, conflictingKey: 6, field: "code of order") {
                try renamed.create(RenamedOrder(number: 7, code: "c6", day: HardOrder.all[0].date))
            }
            try database.expectVerified()
        },
    ]
}
