import DAOCore

/// W3: every call is atomic, wherever it fails.
enum WritesAtomic {
    static var cases: [ConformanceCase] {
        let places = [("First", 1), ("Middle", 25), ("Last", 50)]
        return places.flatMap { name, place in failing(at: place, name) } + others
    }

    /// Expects that the member at a position of fifty collides with the stored member.
    private static func expectClash(
        _ place: Int, _ what: String, file: StaticString = #fileID, line: UInt = #line, _ body: () throws -> Void
    ) throws {
        try expectError(
            .uniqueViolation, what, entity: "member", key: UniqueID(place), conflictingKey: 100, field: "email", file: file,
            line: line, body)
    }

    /// Cases in which the row at a position of fifty fails.
    private static func failing(at place: Int, _ name: String) -> [ConformanceCase] {
        [
            ConformanceCase(
                "W.createFails\(name)", "W3", title: "a create whose \(name.lowercased()) key is already stored stores no row"
            ) { context in
                let dao = try context.dao(Item.self)
                try dao.create([Item(id: place, name: "stored"), Item(id: 100, name: "other")])
                let before = try Dump.rows(of: dao.storage)
                try expectError(.duplicateKey, entity: "item", key: UniqueID(place), field: "id") {
                    try dao.create(Item.make(1...50))
                }
                try expectEqual(try Dump.rows(of: dao.storage), before, "the rows after the error")
                try expectEqual(try dao.count { $0.number > 0 }, 0, "rows through the index")
            },
            ConformanceCase(
                "W.translatorFails\(name)", "W3",
                title: "a translator that throws at the \(name.lowercased()) row of a create stores no row"
            ) { context in
                let storage = try context.storage(Item.self)
                try storage.insert([Item(id: 100, name: "other")])
                let before = try Dump.rows(of: storage)
                let make: @Sendable (Item) throws -> Item = { plain in
                    if plain.id == place { throw DeliberateError(number: place) }
                    return plain
                }
                let merging = DAO(storage: storage, translator: ScriptedTranslator(make: make))
                let replacing = DAO(storage: storage, translator: ScriptedReplacingTranslator(make: make))
                try expectDeliberate(DeliberateError(number: place), "create") { try merging.create(Item.make(1...50)) }
                try expectEqual(try Dump.rows(of: storage), before, "the rows after create")
                try expectDeliberate(DeliberateError(number: place), "merging persist") { try merging.persist(Item.make(1...50)) }
                try expectEqual(try Dump.rows(of: storage), before, "the rows after a merging persist")
                try expectDeliberate(DeliberateError(number: place), "replacing persist") {
                    try replacing.persist(Item.make(1...50))
                }
                try expectEqual(try Dump.rows(of: storage), before, "the rows after a replacing persist")
            },
            ConformanceCase(
                "W.mergeFails\(name)", "W3",
                title: "a merge that throws at the \(name.lowercased()) row leaves every row unchanged"
            ) { context in
                let storage = try context.storage(Item.self)
                try storage.insert(Item.make(1...50))
                let before = try Dump.rows(of: storage)
                let dao = DAO(
                    storage: storage,
                    translator: ScriptedTranslator(merge: { plain, model in
                        if plain.id == place { throw DeliberateError(number: place) }
                        model.name = "changed"
                        model.number = -1
                    }))
                try expectDeliberate(DeliberateError(number: place)) { try dao.persist(Item.make(1...50)) }
                try expectEqual(try Dump.rows(of: storage), before, "the rows after the error")
                try expectEqual(try storage.count(predicatedBy: Condition { $0.number == -1 }), 0, "rows through the index")
            },
            ConformanceCase(
                "W.uniqueFails\(name)", "W3", "W6",
                title: "a unique violation at the \(name.lowercased()) row undoes the complete call"
            ) { context in
                let dao = try context.dao(Member.self)
                try dao.create(Member(id: 100, email: "taken", badge: 1000))
                let before = try Dump.rows(of: dao.storage)
                let members = (1...50).map { Member(id: $0, email: $0 == place ? "taken" : "e\($0)", badge: $0) }
                try expectClash(place, "create") { try dao.create(members) }
                try expectEqual(try Dump.rows(of: dao.storage), before, "the rows after create")
                try expectClash(place, "persist") { try dao.persist(members) }
                try expectEqual(try Dump.rows(of: dao.storage), before, "the rows after persist")
                // Values that were undone are free again.
                try dao.create((1...50).map { Member(id: $0, email: "e\($0)", badge: $0) })
                try expectEqual(try dao.count(), 51)
            },
            ConformanceCase(
                "W.updateFails\(name)", "W3",
                title: "an update that throws at the \(name.lowercased()) row leaves every row unchanged"
            ) { context in
                let dao = try context.dao(Item.self)
                try dao.create(Item.make(1...50))
                let before = try Dump.rows(of: dao.storage)
                try expectDeliberate(DeliberateError(number: place)) {
                    try dao.update(where: { $0.number > 0 }) { item in
                        if item.id == place { throw DeliberateError(number: place) }
                        item.number = 0
                    }
                }
                try expectEqual(try Dump.rows(of: dao.storage), before, "the rows after the error")
                try expectEqual(try dao.count { $0.number == 0 }, 0, "rows through the index")
            },
        ]
    }

    private static let others: [ConformanceCase] = [
        ConformanceCase("W.failureInTransaction", "W3", "T1", title: "a failed call undoes only its own writes") { context in
            let database = try context.open()
            let (items, members) = (try database.dao(Item.self), try database.dao(Member.self))
            try members.create(Member(id: 9, email: "taken", badge: 9))
            try database.transaction {
                try items.create(Item.make(1...2))
                try expectError(.duplicateKey, entity: "item", key: 1, field: "id") {
                    try items.create(Item.make([3, 4, 1]))
                }
                try expectError(.uniqueViolation, entity: "member", key: 2, conflictingKey: 9, field: "email") {
                    try members.create([Member(id: 1, email: "free", badge: 1), Member(id: 2, email: "taken", badge: 2)])
                }
                try items.create(Item.make([5]))
                try members.create(Member(id: 3, email: "free", badge: 1))
            }
            try expectEqual(try items.read().map(\.id), [1, 2, 5])
            try expectEqual(try members.read().map(\.id), [3, 9])
        },
        ConformanceCase("W.mergeFailureInTransaction", "W3", "T1", title: "a failed merge undoes its own writes") { context in
            let database = try context.open()
            let storage = try database.storage(for: Item.self)
            let dao = DAO(
                storage: storage,
                translator: ScriptedTranslator(merge: { plain, model in
                    if plain.id == 3 { throw DeliberateError() }
                    model.name = "merged"
                }))
            try storage.insert(Item.make(1...3))
            try database.transaction {
                try dao.persist(Item(id: 1, name: ""))
                try expectDeliberate { try dao.persist(Item.make(2...3)) }
                try expectSame(try storage.read().map(\.name), ["merged", "Item #2", "Item #3"])
            }
            try expectSame(try storage.read().map(\.name), ["merged", "Item #2", "Item #3"])
        },
        ConformanceCase("W.errorUnchanged", "W3", title: "every operation throws application errors unchanged") { context in
            let storage = try context.storage(Item.self)
            try storage.insert(Item.make(1...3))
            let error = DeliberateError(number: 42)
            let dao = DAO(
                storage: storage, translator: ScriptedTranslator(make: { _ in throw error }, merge: { _, _ in throw error }))
            try expectDeliberate(error, "create") { try dao.create(Item(id: 9, name: "")) }
            try expectDeliberate(error, "persist of a new row") { try dao.persist(Item(id: 9, name: "")) }
            try expectDeliberate(error, "persist of a stored row") { try dao.persist(Item(id: 1, name: "")) }
            try expectDeliberate(error, "update") { try dao.update(where: { $0.id == 1 }) { _ in throw error } }
            try expectDeliberate(error, "merge") { try storage.merge(keys: [.integer(1)]) { _, _ in throw error } }
            try expectDeliberate(error, "forEach") { try dao.forEach { _ in throw error } }
            try expectEqual(try storage.count(), 3)
        },
    ]
}
