import DAOCore

/// R9 and R10 when models change, in migrations and in copies.
enum EvolutionReferences {
    /// Opens a database with a table of three people, and cards of which the last has no holder. No model is open.
    private static func open(_ context: ConformanceContext) throws -> any Database {
        var database = try context.open()
        let people = (1...3).map { Person(id: $0, name: "Person \($0)") }
        try database.dao(Card.self).create([
            Card(id: 1, holder: people[0]), Card(id: 2, holder: people[1]), Card(id: 3, holder: people[0]),
            Card(id: 4, holder: nil),
        ])
        try database.dao(Person.self).persist(people)
        try context.renew(&database)
        return database
    }

    private static func evolve(
        _ database: any Database, _ version: Int, _ body: @escaping @Sendable (MigrationStep) throws -> Void
    )
        throws
    {
        _ = try database.evolve(Evolution(version: version, migrations: [Migration(to: version, perform: body)]))
    }

    static let cases: [ConformanceCase] = [
        ConformanceCase("E.referenceOrModel", "R9", "E2", title: "a Reference and an optional model are stored alike") {
            context in
            var database = try open(context)
            let before = try database.entities()
            let cards = try database.dao(ReferringCard.self)
            try expectEqual(try cards.read().map { $0.holder?.uniqueId }, [1, 2, 1, nil])
            try expectEqual(try database.entities(), before, "the stored entities")
            try cards.persist(ReferringCard(id: 4, holder: Reference(3)))
            try context.renew(&database)
            try expectEqual(try database.dao(Card.self).read().map { $0.holder?.id }, [1, 2, 1, 3])
            try expectEqual(try database.entities(), before, "the stored entities")
        },
        ConformanceCase("E.referenceRequired", "R10", "E3", title: "a Reference becomes required in a migration step") {
            context in
            var database = try open(context)
            try expectError(.schemaMismatch, entity: "card") { try database.dao(RestrictedCard.self) }
            @Sendable func require(_ step: MigrationStep) throws {
                try step.changeType(of: "holder", in: "card", to: FieldType(.toOne))
            }
            try expectError(.corruptedValue, "a row without a holder", entity: "card", key: 4, field: "holder") {
                try evolve(database, 1, require)
            }
            try database.dao(ReferringCard.self).persist(ReferringCard(id: 4, holder: Reference(2)))
            try context.renew(&database)
            try evolve(database, 1, require)
            func expectRestricted(_ what: String) throws {
                try expectError(.referenceViolation, what, entity: "card", key: 2, conflictingKey: 2, field: "holder") {
                    try database.dao(Person.self).erase(byPrimaryKey: 2)
                }
            }
            try expectRestricted("before a model says the word")
            let cards = try database.dao(RestrictedCard.self)
            try expectEqual(try cards.read().map(\.holder), [1, 2, 1, 2].map { Reference($0) })
            try expectRestricted("when the model says the word")
            try context.renew(&database)
            try expectError(.schemaMismatch, "a model without the field", entity: "card") { try database.dao(BareCard.self) }
            try database.dao(CascadingCard.self).create(CascadingCard(id: 5, holder: Reference(3)))
            try expectEqual(try database.dao(Person.self).erase(byPrimaryKey: 2), 1, "people erased, when the word has changed")
            try expectEqual(try database.dao(CascadingCard.self).read().map(\.id), [1, 3, 5])
            try context.renew(&database)
            let optional = try database.dao(ReferringCard.self)
            try expectEqual(try database.dao(Person.self).erase(byPrimaryKey: 1), 1, "people erased, when there is no word")
            try expectEqual(try optional.read().map(\.holder), [nil, nil, Reference(3)])
        },
        ConformanceCase("E.referenceMigrations", "R10", "E3", title: "a migration step erases as the fields say") { context in
            var database = try context.open()
            try database.dao(Person.self).create((1...4).map { Person(id: $0, name: "Person \($0)") })
            try database.dao(Errand.self).create([
                Errand(id: 1, owner: Reference(1)), Errand(id: 2, whole: Reference(1), owner: Reference(2), helper: Reference(3)),
                Errand(id: 3, whole: Reference(2), owner: Reference(1)), Errand(id: 4, owner: Reference(4), helper: Reference(3)),
            ])
            try database.dao(Receipt.self).create([
                Receipt(id: "a", errand: Reference(3)), Receipt(id: "b", errand: Reference(4)),
            ])
            try context.renew(&database)
            @Sendable func erase(_ id: Int64, _ entity: String, _ step: MigrationStep) throws {
                try step.forEachRow(of: entity) { if $0["id"] == .integer(id) { $0.erase() } }
            }
            try expectError(.referenceViolation, entity: "errand", key: 1, conflictingKey: 1, field: "owner") {
                try evolve(database, 1) { try erase(1, "person", $0) }
            }
            for entity in ["person", "errand"] {
                let error = try expectError(
                    .referenceViolation, "dropping \(entity)", entity: entity == "person" ? "errand" : "receipt",
                    key: entity == "person" ? 1 : "a", conflictingKey: entity == "person" ? 1 : 3,
                    field: entity == "person" ? "owner" : "errand"
                ) { try evolve(database, 1) { try $0.dropEntity(entity) } }
                try expect(error.message.contains("'\(entity)'"), "the entity in: \(error.message)")
            }
            try expectError(.corruptedValue, "a row without its Reference", entity: "receipt", field: "errand") {
                try evolve(database, 1) { try $0.insert([["id": .string("c")]], into: "receipt") }
            }
            try evolve(database, 1) { step in
                try erase(3, "person", step)
                try erase(1, "errand", step)
                try erase(1, "person", step)
            }
            try context.renew(&database)
            try expectEqual(try database.dao(Errand.self).read(), [Errand(id: 4, owner: Reference(4))])
            try expectEqual(try database.dao(Receipt.self).read(), [Receipt(id: "b", errand: Reference(4))])
            try context.renew(&database)
            try evolve(database, 2) { step in
                try step.dropField("owner", of: "errand")
                try step.dropEntity("person")
                try step.renameEntity("errand", to: "chore")
                try step.dropEntity("receipt")
                try step.dropEntity("chore")
            }
        },
        ConformanceCase(
            "E.stepsOverLongRows", "E3", "E2", title: "a step reaches every row, also where a few rows are megabytes",
            isHeavy: true
        ) { context in
            let database = try context.open()
            let notes = (1...30).map {
                NoteV1(id: $0, title: String(repeating: "t", count: 300_000 + $0), rank: $0, mark: nil)
            }
            try database.dao(NoteV1.self).create(notes)
            try evolve(database, 1) { step in
                try step.forEachRow(of: "note") { $0["mark"] = .string("seen") }
                try step.changeType(of: "rank", in: "note", to: FieldType(.string))
            }
            let dao = try database.dao(NoteWithTextRank.self)
            try expectEqual(try dao.count(), 30, "the rows")
            try expectEqual(try dao.count { $0.mark == "seen" }, 30, "the rows that the step has changed")
            try expectEqual(try dao.read(\.rank), (1...30).map(String.init), "the ranks")
            try expectEqual(try dao.read(\.title).map(\.utf8.count), notes.map(\.title.utf8.count), "the titles")
        },
        ConformanceCase(
            "E.droppedEntityIsForgotten", "E3", "R8", "R10", "R1",
            title:
                "what led to the rows of an entity that a step drops leads to nothing, also when it is made anew with the same keys"
        ) { context in
            var database = try context.open()
            let people = (1...3).map { Person(id: $0, name: "\($0)") }
            let topic = Topic(
                id: "a", owner: people[0], posts: [Post(id: 1, text: "1", author: people[1])], labels: [Label.make(1)])
            func fill() throws {
                try database.dao(Person.self).persist(people)
                try database.dao(Label.self).persist(Label.make(1))
            }
            try fill()
            try database.dao(ReferringCard.self).create((1...3).map { ReferringCard(id: $0, holder: Reference($0)) })
            try database.dao(Topic.self).create(topic)
            try context.renew(&database)
            try evolve(database, 1) { step in
                try step.dropEntity("person")
                try step.dropEntity("label")
            }
            for round in 1...2 {
                try context.renew(&database)
                try fill()
                try expectEqual(try database.dao(ReferringCard.self).read().map(\.holder), [nil, nil, nil], "the References")
                let found = try database.dao(Topic.self).read()
                try expectEqual(found, [Topic(id: "a", posts: [Post(id: 1, text: "1")])], "the related rows in opening \(round)")
                try expectEqual(try database.dao(Person.self).erase { $0.id < 3 }, 2, "people whom nothing leads to")
                try database.expectVerified()
            }
        },
        ConformanceCase("E.referenceCopies", "R9", "E5", "L9", title: "a copy contains the References, to later rows too") {
            context in
            let (database, errands) = try context.open(with: Errand.self)
            try database.dao(Person.self).create((1...2).map { Person(id: $0, name: "Person \($0)") })
            try errands.create([
                Errand(id: 1, whole: Reference(3), owner: Reference(2)), Errand(id: 2, whole: Reference(2), owner: Reference(1)),
                Errand(id: 3, owner: Reference(1), helper: Reference(2)),
            ])
            let target = try context.openOther()
            try database.copy(to: target)
            try expectEqual(try target.dao(Errand.self).read(), try errands.read())
            try expectEqual(try target.entities(), try database.entities())
            try expectEqual(try target.verify().problemCount, 0, "problems")
            try expectError(.referenceViolation, entity: "errand", key: 2, conflictingKey: 1, field: "owner") {
                try target.dao(Person.self).erase(byPrimaryKey: 1)
            }
            try expectEqual(try target.dao(Errand.self).erase(byPrimaryKey: 3), 1)
            try expectEqual(try target.dao(Errand.self).read().map(\.id), [2])
        },
    ].requiring(.evolution)
}

private struct Card: Plain, Model, Equatable {
    var id: Int
    var holder: Person?
    static let schema = Schema("card", Self.init, Field("id", \.id, .primaryKey), Field("holder", \.holder, .linked))
}

private struct ReferringCard: Plain, Model, Equatable {
    var id: Int
    var holder: Reference<Person>?
    static let schema = Schema("card", Self.init, Field("id", \.id, .primaryKey), Field("holder", \.holder))
}

private struct RestrictedCard: Plain, Model, Equatable {
    var id: Int
    var holder: Reference<Person>
    static let schema = Schema("card", Self.init, Field("id", \.id, .primaryKey), Field("holder", \.holder, .restricted))
}

private struct CascadingCard: Plain, Model, Equatable {
    var id: Int
    var holder: Reference<Person>
    static let schema = Schema("card", Self.init, Field("id", \.id, .primaryKey), Field("holder", \.holder, .cascade))
}

private struct BareCard: Plain, Model, Equatable {
    var id: Int
    static let schema = Schema("card", Self.init, Field("id", \.id, .primaryKey))
}
