import DAOCore

/// E2, E3 and E5 for entities with relationships.
enum EvolutionRelations {
    private static let houses = [
        House(id: 1, pets: [Pet(id: 3, name: "c"), Pet(id: 1, name: "a")], chief: Pet(id: 3, name: "c")),
        House(id: 2, pets: [Pet(id: 1, name: "a"), Pet(id: 2, name: "b"), Pet(id: 4, name: "d")], chief: nil),
    ]

    private static func database(_ context: ConformanceContext) throws -> any Database {
        var database = try context.open()
        try database.dao(House.self).create(houses)
        try context.renew(&database)
        return database
    }

    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "E.renamesRelations", "E2", "R1", title: "a renamed relationship keeps its rows in their order"
        ) { context in
            let database = try database(context)
            let dao = try database.dao(RenamedHouse.self)
            try expectSame(
                try dao.read(), houses.map { RenamedHouse(id: $0.id, animals: $0.pets, head: $0.chief) })
            try database.dao(Pet.self).erase(byPrimaryKey: 1)
            try expectEqual(try dao.read().map { $0.animals.map(\.id) }, [[3], [2, 4]])
        },
        ConformanceCase(
            "E.dropsRelations", "E6", "R3", title: "a relationship that a model drops keeps the rows, and comes back empty"
        ) {
            context in
            var database = try database(context)
            try expectSame(try database.dao(EmptyHouse.self).read(), [EmptyHouse(id: 1), EmptyHouse(id: 2)])
            try expectEqual(try database.dao(Pet.self).read().map(\.id), [1, 2, 3, 4])
            try context.renew(&database)
            try expectSame(
                try database.dao(House.self).read(), [1, 2].map { House(id: $0, pets: [], chief: nil) })
        },
        ConformanceCase(
            "E.rewriteOmitsLinked", "E3", "R4",
            title: "a row that a rewrite omits disappears from every list, also when a row with its key is inserted"
        ) { context in
            let database = try database(context)
            let before = try database.dao(House.self).read().map { $0.pets.map(\.id) }
            try expectEqual(before.filter { $0.contains(3) }.count, 1, "lists with the row")
            try database.evolve(
                Evolution(
                    version: 1,
                    migrations: [
                        Migration(to: 1) { step in
                            try step.rewrite("pet", as: Pet.schema.description) { old, new in
                                if old["id"] == .integer(3) { new.erase() } else { new["name"] = .string("re") }
                            }
                            try expectEqual(try step.count("pet"), 3, "the rows that are left")
                            try step.insert([["id": .integer(3), "name": .string("new")]], into: "pet")
                        }
                    ]))
            let after = try database.dao(House.self).read()
            try expectEqual(after.map { $0.pets.map(\.id) }, before.map { $0.filter { $0 != 3 } })
            try expect(after.allSatisfy { $0.pets.allSatisfy { $0.name == "re" } }, "rewritten rows in the lists")
            try expectEqual(try database.dao(Pet.self).read(byPrimaryKey: 3)?.name, "new")
        },
        ConformanceCase(
            "E.migratesRelations", "E3", "R4",
            title: "links stay valid when entities are renamed, and a row that a step erases disappears from every list"
        ) { context in
            let database = try database(context)
            try expectError(.corruptedValue, "a list that a migration reads", entity: "house", key: 1, field: "pets") {
                try database.evolve(
                    Evolution(version: 1, migrations: [Migration(to: 1) { try $0.forEachRow(of: "house") { _ = $0["pets"] } }]))
            }
            try database.evolve(
                Evolution(
                    version: 1,
                    migrations: [
                        Migration(to: 1) { step in
                            try step.forEachRow(of: "pet") { row in if row["id"] == .integer(3) { row.erase() } }
                            try step.insert([["id": .integer(3), "name": .string("new")]], into: "pet")
                            try step.renameEntity("pet", to: "animal")
                            try step.renameEntity("house", to: "home")
                            try step.renameField("pets", of: "home", to: "animals")
                        }
                    ]))
            let animals = [1, 2, 4].map { Animal(id: $0, name: ["", "a", "b", "", "d"][$0]) }
            try expectSame(
                try database.dao(Home.self).read(),
                [Home(id: 1, animals: [animals[0]], chief: nil), Home(id: 2, animals: animals, chief: nil)])
            let dao = try database.dao(Animal.self)
            try expectEqual(try dao.read().map(\.name), ["a", "b", "new", "d"])
            try dao.erase(byPrimaryKey: 1)
            try expectEqual(try database.dao(Home.self).read().map { $0.animals.map(\.id) }, [[], [2, 4]])
            try expectError(.unsupported, "a new key for linked rows", entity: "animal", key: 2) {
                try database.evolve(
                    Evolution(
                        version: 2,
                        migrations: [
                            Migration(to: 2) { step in
                                try step.changeKey(of: "animal", to: "name")
                            }
                        ]))
            }
            try database.evolve(Evolution(version: 3, migrations: [Migration(to: 3) { try $0.dropEntity("animal") }]))
            try expectEqual(try database.dao(Home.self).read().map { $0.animals.count }, [0, 0])
        },
        ConformanceCase("E.copiesRelations", "E5", "R1", title: "a copy contains the links") { context in
            let database = try database(context)
            let target = try context.openOther()
            try database.copy(to: target)
            try expectSame(try target.dao(House.self).read(), houses)
            try target.dao(Pet.self).erase(byPrimaryKey: 1)
            try expectEqual(try target.dao(House.self).read().map { $0.pets.map(\.id) }, [[3], [2, 4]])
            try expectSame(try database.dao(House.self).read(), houses)
        },
    ].requiring(.evolution)
}

private struct Pet: Plain, Model, Equatable {
    var id: Int
    var name: String
    static let schema = Schema("pet", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name))
}

private struct House: Plain, Model, Equatable {
    var id: Int
    var pets: [Pet]
    var chief: Pet?
    static let schema = Schema(
        "house", Self.init, Field("id", \.id, .primaryKey), Field("pets", \.pets, .owned), Field("chief", \.chief, .linked))
}

private struct RenamedHouse: Plain, Model, Equatable {
    var id: Int
    var animals: [Pet]
    var head: Pet?
    static let schema = Schema(
        "house", Self.init, Field("id", \.id, .primaryKey), Field("animals", \.animals, .owned, .renamed(from: "pets")),
        Field("head", \.head, .linked, .renamed(from: "chief")))
}

private struct EmptyHouse: Plain, Model, Equatable {
    var id: Int
    static let schema = Schema("house", Self.init, Field("id", \.id, .primaryKey)).dropped("pets", "chief")
}

private struct Animal: Plain, Model, Equatable {
    var id: Int
    var name: String
    static let schema = Schema("animal", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name))
}

private struct Home: Plain, Model, Equatable {
    var id: Int
    var animals: [Animal]
    var chief: Animal?
    static let schema = Schema(
        "home", Self.init, Field("id", \.id, .primaryKey), Field("animals", \.animals, .owned), Field("chief", \.chief, .linked))
}
