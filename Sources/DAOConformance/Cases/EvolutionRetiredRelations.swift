import DAOCore

/// E6 and R4: relationships that the model in use does not declare.
enum EvolutionRetiredRelations {
    private static let crews = [
        Crew(id: 1, name: "a", members: [Sailor(id: 3), Sailor(id: 1)], captain: Officer(id: 1, cabin: Cabin(id: 7))),
        Crew(id: 2, name: "b", members: [Sailor(id: 2)], captain: Officer(id: 2, cabin: Cabin(id: 8))),
        Crew(id: 3, name: "c", members: [Sailor(id: 1), Sailor(id: 4)], captain: nil),
    ]

    private static func database(_ context: ConformanceContext) throws -> any Database {
        var database = try context.open()
        try database.dao(Crew.self).create(crews)
        try context.renew(&database)
        return database
    }

    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "E.keepsRetiredLinks", "E6", "R1",
            title: "a model without its relationships keeps the links, whatever it writes", requires: [.evolution]
        ) { context in
            var database = try database(context)
            let light = try database.dao(LightCrew.self)
            try expectSame(try light.read(), crews.map { LightCrew(id: $0.id, name: $0.name) })
            try light.persist(LightCrew(id: 1, name: "x"))
            try database.storage(for: LightCrew.self).upsert([LightCrew(id: 2, name: "y"), LightCrew(id: 4, name: "new")])
            var expected = crews + [Crew(id: 4, name: "new", members: [], captain: nil)]
            (expected[0].name, expected[1].name) = ("x", "y")
            try context.renew(&database)
            try expectSame(try database.dao(Crew.self).read(), expected)
        },
        ConformanceCase(
            "E.erasesRetiredLinks", "E6", "R4",
            title: "erasing through a model without its relationships unlinks, and cascades to every depth",
            requires: [.evolution]
        ) { context in
            var database = try database(context)
            try expectEqual(try database.dao(LightCrew.self).erase { $0.id == 1 }, 1)
            // The captain of the first crew and their cabin are gone; sailor 1 is in another crew.
            try expectEqual(try database.dao(Sailor.self).read().map(\.id), [1, 2, 4], "sailors")
            try expectEqual(try database.dao(Officer.self).read().map(\.id), [2], "officers")
            try expectEqual(try database.dao(Cabin.self).read().map(\.id), [8], "cabins")
            try database.dao(LightCrew.self).create(LightCrew(id: 1, name: "again"))
            try context.renew(&database)
            try expectSame(
                try database.dao(Crew.self).read(),
                [Crew(id: 1, name: "again", members: [], captain: nil)] + crews.dropFirst())
        },
        ConformanceCase(
            "E.erasesRetiredLinksLater", "E6", "R4",
            title: "a process that never knew the relationships cascades as well", requires: [.evolution, .persistence]
        ) { context in
            let first = try database(context)
            let second = try context.reopen(first)
            try second.dao(LightCrew.self).erase(byPrimaryKey: 2)
            try expectEqual(try second.dao(LightCrew.self).read().map(\.id), [1, 3])
            let third = try context.reopen(second)
            try expectEqual(try third.dao(Sailor.self).read().map(\.id), [1, 3, 4], "sailors")
            try expectEqual(try third.dao(Officer.self).read().map(\.id), [1], "officers")
            try expectEqual(try third.dao(Cabin.self).read().map(\.id), [7], "cabins")
            try expectSame(try third.dao(Crew.self).read(), [crews[0], crews[2]])
        },
        ConformanceCase(
            "E.stepsCascade", "E3", "R4", "R3",
            title: "a row that a step erases, or a rewrite omits, cascades to every depth, as one that a call erases",
            requires: [.evolution]
        ) { context in
            let ways: [(what: String, erase: @Sendable (MigrationStep) throws -> Void)] = [
                ("erased", { step in try step.forEachRow(of: "crew") { if $0["id"] == .integer(1) { $0.erase() } } }),
                (
                    "omitted",
                    { step in
                        try step.rewrite("crew", as: Crew.schema.description) { if $0["id"] == .integer(1) { $1.erase() } }
                    }
                ),
            ]
            for (what, erase) in ways {
                let database = try context.openOther(what)
                try database.dao(Crew.self).create(crews)
                try database.evolve(Evolution(version: 1, migrations: [Migration(to: 1, perform: erase)]))
                try expectEqual(try database.dao(Sailor.self).read().map(\.id), [1, 2, 4], "sailors, \(what)")
                try expectEqual(try database.dao(Officer.self).read().map(\.id), [2], "officers, \(what)")
                try expectEqual(try database.dao(Cabin.self).read().map(\.id), [8], "cabins, \(what)")
                try expectSame(try database.dao(Crew.self).read(), Array(crews.dropFirst()), "crews, \(what)")
                try database.expectVerified()
            }
        },
        ConformanceCase(
            "E.rowsCascade", "E8", "R3",
            title: "a related row that rows without types no longer lead to is erased where the field says so",
            requires: [.evolution]
        ) { context in
            let database = try database(context)
            let rows = try database.rows(of: "officer")
            try database.dao(Cabin.self).create(Cabin(id: 9))
            try database.dao(Officer.self).create(Officer(id: 3, cabin: Cabin(id: 8)))
            func cabins(_ expected: [Int], _ what: String) throws {
                try expectEqual(try database.dao(Cabin.self).read().map(\.id), expected, "cabins, \(what)")
            }
            try rows.persist([["id": .integer(1), "cabin": .integer(7)]])
            try cabins([7, 8, 9], "when nothing has changed")
            try rows.persist([["id": .integer(1), "cabin": .integer(9)], ["id": .integer(2), "cabin": .null]])
            try cabins([8, 9], "when one led to another row, and one of two to none")
            try rows.persist([["id": .integer(1), "cabin": .null], ["id": .integer(3), "cabin": .null]])
            try cabins([], "when nothing leads to them")
            try expectSame(
                try database.dao(Officer.self).read(), (1...3).map { Officer(id: $0, cabin: nil) }, "the officers")
            try database.expectVerified()
        },
        ConformanceCase(
            "E.unlinksRetiredChildren", "E6", "R4",
            title: "erasing a child removes it from lists that no model in use declares",
            requires: [.evolution, .persistence]
        ) { context in
            let first = try database(context)
            let second = try context.reopen(first)
            _ = try second.dao(LightCrew.self)
            try second.dao(Sailor.self).erase(byPrimaryKey: 1)
            let third = try context.reopen(second)
            try expectEqual(try third.dao(Crew.self).read().map { $0.members.map(\.id) }, [[3], [2], [4]])
        },
    ]
}

private struct Cabin: Plain, Model, Equatable {
    var id: Int
    static let schema = Schema("cabin", Self.init, Field("id", \.id, .primaryKey))
}

private struct Officer: Plain, Model, Equatable {
    var id: Int
    var cabin: Cabin?
    static let schema = Schema("officer", Self.init, Field("id", \.id, .primaryKey), Field("cabin", \.cabin, .cascade))
}

private struct Sailor: Plain, Model, Equatable {
    var id: Int
    static let schema = Schema("sailor", Self.init, Field("id", \.id, .primaryKey))
}

private struct Crew: Plain, Model, Equatable {
    var id: Int
    var name: String
    var members: [Sailor]
    var captain: Officer?
    static let schema = Schema(
        "crew", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name), Field("members", \.members, .cascade),
        Field("captain", \.captain, .cascade))
}

private struct LightCrew: Plain, Model, Equatable {
    var id: Int
    var name: String
    static let schema = Schema("crew", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name))
}
