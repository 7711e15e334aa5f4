import DAOCore

/// R10: erasing a row that References lead to.
enum RelationsReferenced {
    private static func open(_ context: ConformanceContext) throws -> (any Database, DAO<Errand>) {
        let (database, errands) = try context.open(with: Errand.self)
        try database.dao(Person.self).create((1...4).map { Person(id: $0, name: "Person \($0)") })
        try errands.create([
            Errand(id: 1, owner: Reference(1)), Errand(id: 2, whole: Reference(1), owner: Reference(2), helper: Reference(3)),
            Errand(id: 3, whole: Reference(2), owner: Reference(2), helper: Reference(4)), Errand(id: 4, owner: Reference(2)),
        ])
        return (database, errands)
    }

    /// Expects that a call is refused because an errand refers to a person.
    private static func expectRefused(
        _ what: String, by key: UniqueID, of person: UniqueID, file: StaticString = #fileID, line: UInt = #line,
        _ body: () throws -> some Any
    ) throws {
        let error = try expectError(
            .referenceViolation, what, entity: "errand", key: key, conflictingKey: person, field: "owner", file: file, line: line,
            body)
        try expect(error.message.contains("'person'"), "the entity of the row in: \(error.message)", file: file, line: line)
    }

    static let cases: [ConformanceCase] = [
        ConformanceCase("R.referencedUnlinks", "R10", "R4", title: "a Reference without a word is nil after its row is erased") {
            context in
            let (database, errands) = try open(context)
            try expectEqual(try database.dao(Person.self).erase(byPrimaryKey: 3), 1)
            try expectEqual(try errands.read().map { $0.helper?.uniqueId }, [nil, nil, 4, nil])
            try expectEqual(try errands.read { $0.helper == nil }.map(\.id), [1, 2, 4])
            try database.dao(Person.self).create(Person(id: 3, name: "new"))
            try expectEqual(try errands.read(byPrimaryKey: 2)?.helper, nil, "after a new row with the key")
        },
        ConformanceCase("R.referencedRestricts", "R10", "W3", title: "a row that a restricted Reference leads to is not erased") {
            context in
            let (database, errands) = try open(context)
            let people = try database.dao(Person.self)
            func expectUnchanged(_ what: String) throws {
                try expectEqual(try people.count(), 4, "people after \(what)")
                try expectEqual(try errands.read().map { $0.helper?.uniqueId }, [nil, 3, 4, nil], "the helpers after \(what)")
            }
            try expectRefused("by key", by: 2, of: 2) { try people.erase(byPrimaryKey: 2) }
            try expectUnchanged("by key")
            try expectRefused("with others", by: 2, of: 2) { try people.erase { $0.id > 1 } }
            try expectUnchanged("with others")
            try errands.erase(byPrimaryKey: 4)
            try errands.persist(Errand(id: 2, owner: Reference(3)))
            try expectRefused("after other writes", by: 3, of: 2) { try people.erase(byPrimaryKey: 2) }
            try errands.erase(byPrimaryKey: 3)
            try expectEqual(try people.erase(byPrimaryKey: 2), 1, "people erased")
        },
        ConformanceCase(
            "R.referencedByFields", "R10", "W3", title: "each Reference of an entity does what it says, beside its others"
        ) { context in
            let (database, duties) = try context.open(with: Assignment.self)
            let people = try database.dao(Person.self)
            let fields = ["owner", "checker", "payer"]
            func store(_ row: Assignment) throws {
                try duties.erase()
                try people.persist((1...6).map { Person(id: $0, name: "Person \($0)") })
                try duties.create(row)
            }
            for (number, field) in fields.enumerated() {
                // The row refers to person 2 by one field, and to person 1 by the others.
                func person(_ place: Int) -> Reference<Person> { Reference(place == number ? 2 : 1) }
                let row = Assignment(id: 7, owner: person(0), checker: person(1), payer: person(2), chief: Reference(3))
                try store(row)
                for (what, body): (String, () throws -> Int) in [
                    ("by key", { try people.erase(byPrimaryKey: 2) }),
                    ("by a condition", { try people.erase { $0.id.in([2, 4]) } }),
                    ("inside", { try database.transaction { try people.erase { $0.id == 2 } } }),
                ] {
                    try expectError(
                        .referenceViolation, "\(field), \(what)", entity: "assignment", key: 7, conflictingKey: 2, field: field,
                        body)
                    try expectEqual(try people.count(), 6, "the people after \(field), \(what)")
                    try expectEqual(try duties.read(), [row], "the row after \(field), \(what)")
                }
                try duties.erase(byPrimaryKey: 7)
                try expectEqual(try people.erase { $0.id < 3 }, 2, "people that nothing refers to any more")
            }
            // Where the cascade of one field erases the row, its other fields prevent nothing.
            try store(Assignment(id: 7, owner: Reference(1), checker: Reference(1), payer: nil, chief: Reference(1)))
            try expectEqual(try people.erase(byPrimaryKey: 1), 1, "a person with a row that a cascade erases")
            try expectEqual(try duties.count(), 0, "the row of a cascade")
            // Of several that become nil, each does.
            try store(
                Assignment(
                    id: 7, owner: Reference(1), checker: Reference(1), payer: nil, chief: Reference(1), first: Reference(5),
                    second: Reference(5)))
            try expectEqual(try people.erase(byPrimaryKey: 5), 1, "a person whom two fields lead to")
            let left = try require(try duties.read(byPrimaryKey: 7), "the row")
            try expectEqual([left.first, left.second], [nil, nil], "both fields")
            try database.expectVerified()
        },
        ConformanceCase(
            "R.referencedInside", "R10", "T2", title: "a refused erasure leaves the transaction usable", requires: [.savepoints]
        ) { context in
            let (database, errands) = try open(context)
            let people = try database.dao(Person.self)
            try database.transaction {
                try expectRefused("inside", by: 1, of: 1) { try people.erase { $0.id.in([1, 3]) } }
                try expectEqual(try errands.read(byPrimaryKey: 2)?.helper, Reference(3), "a Reference that the call had unlinked")
                try errands.erase(byPrimaryKey: 1)
                try expectEqual(try people.erase(byPrimaryKey: 1), 1)
            }
            try expectEqual(try people.read().map(\.id), [2, 3, 4])
            try expectEqual(try errands.read().map(\.id), [4])
        },
        ConformanceCase(
            "R.referencedCascades", "R10", "R4", title: "rows are erased with the row that they refer to", isHeavy: true
        ) {
            context in
            let (database, errands) = try open(context)
            let receipts = try database.dao(Receipt.self)
            try receipts.create([Receipt(id: "a", errand: Reference(3)), Receipt(id: "b", errand: Reference(4))])
            try expectEqual(try errands.erase(byPrimaryKey: 1), 1, "errands erased")
            try expectEqual(try errands.read().map(\.id), [4])
            try expectEqual(try receipts.read().map(\.id), ["b"])
            // A circle, and a row that refers to itself.
            try errands.create([
                Errand(id: 1, whole: Reference(3), owner: Reference(1)), Errand(id: 2, whole: Reference(1), owner: Reference(1)),
                Errand(id: 3, whole: Reference(2), owner: Reference(1)), Errand(id: 5, whole: Reference(5), owner: Reference(1)),
            ])
            try expectEqual(try errands.erase { $0.id.in([2, 5]) }, 2, "errands erased")
            try expectEqual(try errands.read().map(\.id), [4])
            try errands.create(
                (10..<1010).map { Errand(id: $0, whole: $0 == 10 ? nil : Reference($0 - 1), owner: Reference(1)) })
            try expectEqual(try errands.erase(byPrimaryKey: 10), 1, "errands erased")
            try expectEqual(try errands.read().map(\.id), [4])
        },
        ConformanceCase(
            "R.referencedTogether", "R10", title: "a row that the same call erases, itself or by cascade, prevents nothing"
        ) { context in
            let (database, groups) = try context.open(with: Group.self)
            let members = try database.dao(GroupMember.self)
            try groups.create(Group(id: 1, members: []))
            try members.create(
                [nil, nil, 4, 3].enumerated().map {
                    GroupMember(id: $0 + 1, group: Reference(1), buddy: $1.map { Reference($0) })
                })
            try groups.persist(Group(id: 1, members: try members.read { $0.id < 3 }))
            try expectError(.referenceViolation, entity: "member", key: 3, conflictingKey: 4, field: "buddy") {
                try members.erase(byPrimaryKey: 4)
            }
            try expectError(.referenceViolation, entity: "member", key: 3, conflictingKey: 1, field: "group") {
                try groups.erase(byPrimaryKey: 1)
            }
            try expectEqual(try groups.read().map { $0.members.map(\.id) }, [[1, 2]], "the list")
            try expectEqual(try members.erase { $0.id.in([3, 4]) }, 2, "rows that refer to each other")
            try expectEqual(try groups.erase(byPrimaryKey: 1), 1, "a row with the rows of its list, which refer to it")
            try expectEqual(try members.count(), 0, "members")
        },
        ConformanceCase(
            "R.referencedHeld", "R10", "R3",
            title: "a row outlives its last list when a Reference leads to it that does not cascade"
        ) { context in
            let (database, agendas) = try context.open(with: Agenda.self)
            try database.dao(Person.self).create(Person(id: 1, name: "Ada"))
            let errands = (1...4).map { Errand(id: $0, owner: Reference(1)) }
            try agendas.create([Agenda(id: 1, errands: errands), Agenda(id: 2, next: Reference(2))])
            try expectEqual(try agendas.read(byPrimaryKey: 1)?.errands, errands, "rows with References in a list")
            try database.dao(Receipt.self).create([
                Receipt(id: "a", errand: Reference(4)), Receipt(id: "b", errand: Reference(2)),
            ])
            try agendas.persist(Agenda(id: 1, errands: [errands[0]]))
            try expectEqual(try database.dao(Errand.self).read().map(\.id), [1, 2])
            try expectEqual(try database.dao(Receipt.self).read().map(\.id), ["b"])
            try agendas.persist(Agenda(id: 1, errands: [], next: Reference(1)))
            try expectEqual(try agendas.read(byPrimaryKey: 1)?.next, Reference(1), "a row that the same call took from the list")
            try database.dao(Errand.self).erase()
            try expectEqual(try agendas.read().map(\.next), [nil, nil])
        },
        ConformanceCase("R.referencedByOthers", "R10", "R4", title: "a word counts when the model that said it is not in use") {
            context in
            var (database, _) = try open(context)
            try database.dao(Receipt.self).create([
                Receipt(id: "a", errand: Reference(1)), Receipt(id: "b", errand: Reference(4)),
            ])
            try context.renew(&database)
            let people = try database.dao(Person.self)
            try expectRefused("without the model", by: 1, of: 1) { try people.erase(byPrimaryKey: 1) }
            try expectEqual(try people.erase(byPrimaryKey: 3), 1, "people erased")
            try expectEqual(try database.dao(Errand.self).erase(byPrimaryKey: 1), 1, "errands erased")
            try expectEqual(try database.dao(Receipt.self).read().map(\.id), ["b"])
        },
        ConformanceCase(
            concurrent: "O.references", "O1", "R10", title: "an observation sees a Reference become nil, and rows erased by one"
        ) { context in
            let (database, errands) = try open(context)
            let people = try database.dao(Person.self)
            var results = Observations.Results(errands.observe())
            _ = try await results.next("the first result")
            try await people.erase(byPrimaryKey: 3)
            let helpers = try await results.next("a result after an erasure").map { $0.helper?.uniqueId }
            try expectEqual(helpers, [nil, nil, 4, nil], "the helpers")
            try await errands.erase(byPrimaryKey: 2)
            let ids = try await results.next("a result after an erasure").map(\.id)
            try expectEqual(ids, [1, 4], "the errands")
        },
    ]
}

/// A parent whose members refer back to it and to each other.
private struct Group: Plain, Model, Equatable {
    var id: Int
    var members: [GroupMember]
    static let schema = Schema("group", Self.init, Field("id", \.id, .primaryKey), Field("members", \.members, .cascade))
}

private struct GroupMember: Plain, Model, Equatable {
    var id: Int
    var group: Reference<Group>
    var buddy: Reference<GroupMember>?
    static let schema = Schema(
        "member", Self.init, Field("id", \.id, .primaryKey), Field("group", \.group, .restricted),
        Field("buddy", \.buddy, .restricted))
}

/// A row that refers to people by several fields of each kind.
private struct Assignment: Plain, Model, Equatable {
    var id: Int
    var owner: Reference<Person>
    var checker: Reference<Person>
    var payer: Reference<Person>?
    var chief: Reference<Person>
    var first: Reference<Person>?
    var second: Reference<Person>?

    static let schema = Schema(
        "assignment", Self.init,
        Field("id", \.id, .primaryKey), Field("owner", \.owner, .restricted), Field("checker", \.checker, .restricted),
        Field("payer", \.payer, .restricted), Field("chief", \.chief, .cascade), Field("first", \.first),
        Field("second", \.second))
}
