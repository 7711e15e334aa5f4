import DAOCore

/// W6: unique fields.
enum WritesUnique {
    static let cases: [ConformanceCase] = clashes + freedom + severalFields

    /// Expects that two members, one of them stored, collide in their email.
    private static func expectClash(
        _ there: UniqueID, _ stored: UniqueID, field: String = "email", _ what: String, file: StaticString = #fileID,
        line: UInt = #line, _ body: () throws -> Void
    ) throws {
        try expectError(
            .uniqueViolation, what, entity: "member", key: stored, conflictingKey: there, field: field, file: file, line: line,
            body)
    }

    private static let clashes: [ConformanceCase] = [
        ConformanceCase(
            "W.uniqueCreate", "W6", title: "creating a second equal value is uniqueViolation with field and both keys"
        ) { context in
            let dao = try context.dao(Member.self)
            try dao.create(Member(id: 1, email: "a", badge: 1))
            try expectClash(1, 2, "create") { try dao.create(Member(id: 2, email: "a", badge: 2)) }
            try expectClash(1, 2, field: "badge", "create") { try dao.create(Member(id: 2, email: "b", badge: 1)) }
            try expectEqual(try dao.count(), 1)
        },
        ConformanceCase(
            "W.uniquePersist", "W6",
            title: "persisting a second equal value is uniqueViolation, for inserted and replaced rows"
        ) { context in
            let dao = try context.dao(Member.self)
            try dao.create([Member(id: 1, email: "a", badge: 1), Member(id: 2, email: "b", badge: 2)])
            let before = try Dump.rows(of: dao.storage)
            try expectClash(1, 3, "insert") { try dao.persist(Member(id: 3, email: "a", badge: 3)) }
            try expectClash(1, 2, "replace") { try dao.persist(Member(id: 2, email: "a", badge: 2)) }
            try expectEqual(try Dump.rows(of: dao.storage), before, "the rows after the error")
        },
        ConformanceCase("W.uniqueInOneCall", "W6", title: "two equal values in one call are uniqueViolation") { context in
            let dao = try context.dao(Member.self)
            let pair = [Member(id: 1, email: "a", badge: 1), Member(id: 2, email: "a", badge: 2)]
            try expectClash(1, 2, "create") { try dao.create(pair) }
            try expectClash(1, 2, "persist") { try dao.persist(pair) }
            try expectEqual(try dao.count(), 0)
        },
        ConformanceCase("W.uniqueMerge", "W6", title: "a merge to an equal value is uniqueViolation, no change") { context in
            let storage = try context.storage(Member.self)
            try storage.insert([Member(id: 1, email: "a", badge: 1), Member(id: 2, email: "b", badge: 2)])
            let before = try Dump.rows(of: storage)
            try expectClash(1, 2, "merge") {
                _ = try storage.merge(keys: [.integer(2)]) { _, record in record?.email = "a" }
            }
            try expectEqual(try Dump.rows(of: storage), before, "the rows after the error")
        },
        ConformanceCase(
            "W.uniqueUpdate", "W6", title: "an update that makes two values equal is uniqueViolation and changes nothing"
        ) {
            context in
            let dao = try context.dao(Member.self)
            try dao.create((1...4).map { Member(id: $0, email: "e\($0)", badge: $0) })
            let before = try Dump.rows(of: dao.storage)
            try expectClash(1, 2, "update") { try dao.update(where: { $0.id <= 2 }) { $0.email = "same" } }
            try expectEqual(try Dump.rows(of: dao.storage), before, "the rows after the error")
        },
        ConformanceCase(
            "W.uniqueInTransaction", "W6", "T3",
            title: "a collision with a row of the same transaction is uniqueViolation in the call that writes it"
        ) { context in
            let (database, dao) = try context.open(with: Member.self)
            try database.transaction {
                try dao.create(Member(id: 1, email: "a", badge: 1))
                try expectClash(1, 2, "create") { try dao.create(Member(id: 2, email: "a", badge: 2)) }
                try dao.erase(byPrimaryKey: 1)
                try dao.create(Member(id: 2, email: "a", badge: 2))
            }
            try expectEqual(try dao.read().map(\.id), [2])
        },
        ConformanceCase(
            "W.uniqueByBytes", "W6", "P2", title: "unique texts are compared by bytes: case and normal form distinguish them"
        ) { context in
            let dao = try context.dao(Member.self)
            let emails = ["a", "A", "\u{e9}", "e\u{301}", "", " ", "a\0", "a "]
            try dao.create(emails.enumerated().map { Member(id: $0, email: $1, badge: $0) })
            try expectSame(try dao.read().map(\.email), emails.map(Optional.init))
            try expectClash(4, 99, "the empty text") { try dao.create(Member(id: 99, email: "", badge: 99)) }
        },
        ConformanceCase(
            "W.uniqueAfterImport", "W6", "L9",
            title: "one call that stores thousands of rows in an empty entity keeps its indexes",
            requires: [.evolution], isHeavy: true
        ) { context in
            let (database, dao) = try context.open(with: Member.self)
            let members = (1...Member.many).map { Member(id: $0, email: "e\($0)", badge: $0) }
            for round in 1...2 {
                try dao.create(members)
                try expectClash(7, 10_000, "create after import \(round)") {
                    try dao.create(Member(id: 10_000, email: "e7", badge: 10_000))
                }
                try expectClash(8, 9, field: "badge", "persist after import \(round)") {
                    try dao.persist(Member(id: 9, email: "e9", badge: 8))
                }
                try expectSame(try dao.read { $0.email == "e\(Member.many)" }, [members[Member.many - 1]])
                try database.expectVerified("the problems after import \(round)")
                try dao.erase()
            }
        },
        ConformanceCase("W.uniqueLongTexts", "W6", title: "long unique texts collide only when equal to the end") { context in
            let dao = try context.dao(Member.self)
            let long = String(repeating: "x", count: 5000)
            try dao.create([
                Member(id: 1, email: long + "a", badge: 1), Member(id: 2, email: long + "b", badge: 2),
                Member(id: 3, email: long, badge: 3),
            ])
            try expectClash(2, 4, "an equal long text") { try dao.create(Member(id: 4, email: long + "b", badge: 4)) }
            try dao.create(Member(id: 4, email: long + "c", badge: 4))
            try expectEqual(try dao.read { $0.email == long + "b" }.map(\.id), [2])
        },
        ConformanceCase("W.uniqueNumbers", "W6", "P3", title: "unique numbers: NaN equals NaN, -0.0 equals 0.0") { context in
            let dao = try context.dao(Reading.self)
            try dao.create([Reading(id: 1, value: .nan), Reading(id: 2, value: 0.0), Reading(id: 3, value: .infinity)])
            try expectError(.uniqueViolation, "another NaN", entity: "reading", key: 4, conflictingKey: 1, field: "value") {
                try dao.create(Reading(id: 4, value: -Double.nan))
            }
            try expectError(.uniqueViolation, "-0.0", entity: "reading", key: 4, conflictingKey: 2, field: "value") {
                try dao.create(Reading(id: 4, value: -0.0))
            }
            try dao.create([Reading(id: 4, value: .leastNonzeroMagnitude), Reading(id: 5, value: -.infinity)])
            try expectEqual(try dao.count(), 5)
        },
    ]

    private static let freedom: [ConformanceCase] = [
        ConformanceCase("W.uniqueNil", "W6", title: "nil never collides in a unique field") { context in
            let dao = try context.dao(Member.self)
            try dao.create((1...5).map { Member(id: $0, email: nil, badge: $0) })
            try dao.persist(Member(id: 6, email: nil, badge: 6))
            try dao.update(where: { $0.id == 1 }) { $0.email = "a" }
            try dao.update(where: { $0.id == 1 }) { $0.email = nil }
            try expectEqual(try dao.count { $0.email == nil }, 6)
        },
        ConformanceCase("W.uniqueSameRow", "W6", title: "a row may be stored again with its unique values") { context in
            let dao = try context.dao(Member.self)
            let member = Member(id: 1, email: "a", badge: 1, name: "before")
            try dao.create(member)
            try dao.persist(member)
            try dao.persist([
                Member(id: 1, email: "a", badge: 1, name: "x"), Member(id: 1, email: "a", badge: 1, name: "after"),
            ])
            try dao.update(where: { $0.id == 1 }) { $0.email = "a" }
            try expectSame(try dao.read().map(\.name), ["after"])
        },
        ConformanceCase("W.uniqueFreedByErase", "W6", title: "the unique values of an erased row are free") { context in
            let dao = try context.dao(Member.self)
            try dao.create(Member(id: 1, email: "a", badge: 1))
            try dao.erase(byPrimaryKey: 1)
            try dao.create(Member(id: 2, email: "a", badge: 1))
            try dao.erase { $0.email == "a" }
            try dao.create(Member(id: 3, email: "a", badge: 1))
            try dao.erase()
            try dao.create(Member(id: 4, email: "a", badge: 1))
            try expectEqual(try dao.read().map(\.id), [4])
        },
        ConformanceCase(
            "W.uniqueFreedByChange", "W6", title: "the old unique value of a changed row is free, its new value is taken"
        ) {
            context in
            let dao = try context.dao(Member.self)
            try dao.create(Member(id: 1, email: "a", badge: 1))
            try dao.persist(Member(id: 1, email: "b", badge: 2))
            try dao.create(Member(id: 2, email: "a", badge: 1))
            try expectClash(1, 3, "the new value") { try dao.create(Member(id: 3, email: "b", badge: 3)) }
            try dao.update(where: { $0.id == 1 }) { $0.email = nil }
            try dao.create(Member(id: 3, email: "b", badge: 3))
            try expectEqual(try dao.count(), 3)
        },
        ConformanceCase(
            "W.uniqueFreedInTheCall", "W6", "W4",
            title: "a value given up earlier in a call can be used later in the same call"
        ) { context in
            let dao = try context.dao(Member.self)
            try dao.create([Member(id: 1, email: "a", badge: 1), Member(id: 2, email: "b", badge: 2)])
            try dao.persist([Member(id: 1, email: "c", badge: 10), Member(id: 2, email: "a", badge: 1)])
            try expectSame(try dao.read().map(\.email), ["c", "a"])
        },
        ConformanceCase("W.uniqueAfterRollback", "W6", "T1", title: "a rollback frees the unique values it undoes") { context in
            let (database, dao) = try context.open(with: Member.self)
            try dao.create(Member(id: 1, email: "a", badge: 1))
            try expectRollback(of: database) {
                try dao.erase(byPrimaryKey: 1)
                try dao.create(Member(id: 2, email: "b", badge: 2))
            }
            try dao.create(Member(id: 3, email: "b", badge: 2))
            try expectClash(1, 4, "the row that exists again") { try dao.create(Member(id: 4, email: "a", badge: 4)) }
        },
        ConformanceCase("W.uniqueIsFound", "W6", title: "a unique field serves conditions: equal, range, in, nil") { context in
            let dao = try context.dao(Member.self)
            try dao.create((1...9).map { Member(id: $0, email: $0 % 3 == 0 ? nil : "e\($0)", badge: 100 - $0) })
            try expectEqual(try dao.read { $0.email == "e4" }.map(\.id), [4])
            try expectEqual(try dao.read { $0.email.in(["e5", "e6", nil]) }.map(\.id), [3, 5, 6, 9])
            try expectEqual(try dao.read(orderedBy: .ascending(\.badge), limit: 3).map(\.id), [9, 8, 7])
            try expectEqual(try dao.read { $0.badge > 95 }.map(\.id), [1, 2, 3, 4])
        },
    ]

    private static let severalFields: [ConformanceCase] = [
        ConformanceCase(
            "W.uniqueOverFields", "W6", "W3",
            title: "a unique index over several fields refuses rows that are equal in all of them, in every write"
        ) { context in
            let database = try context.open()
            let dao = try database.dao(Seat.self)
            let storage = try database.storage(for: Seat.self)
            try dao.create((1...4).map { Seat(id: $0, row: 1, number: $0, name: "\($0)") })
            // Equal in one of the fields only.
            try dao.create([Seat(id: 5, row: 2, number: 1, name: "5"), Seat(id: 6, row: 1, number: 5, name: "6")])
            let before = try Dump.rows(of: storage)
            for (what, body): (String, () throws -> Void) in [
                (
                    "create",
                    { try dao.create([Seat(id: 8, row: 9, number: 9, name: "8"), Seat(id: 7, row: 1, number: 3, name: "7")]) }
                ),
                ("persist", { try dao.persist(Seat(id: 7, row: 1, number: 3, name: "7")) }),
                ("insert", { try storage.insert([Seat(id: 7, row: 1, number: 3, name: "7")]) }),
                ("upsert", { try storage.upsert([Seat(id: 7, row: 1, number: 3, name: "7")]) }),
            ] {
                try expectError(.uniqueViolation, what, entity: "seat", key: 7, conflictingKey: 3, field: "row, number", body)
            }
            try expectError(.uniqueViolation, "replace", entity: "seat", key: 4, conflictingKey: 3, field: "row, number") {
                try dao.persist(Seat(id: 4, row: 1, number: 3, name: "4"))
            }
            try expectError(.uniqueViolation, "merge", entity: "seat", key: 5, conflictingKey: 1, field: "row, number") {
                _ = try storage.merge(keys: [.integer(5)]) { _, seat in seat?.row = 1 }
            }
            try expectError(.uniqueViolation, "update", entity: "seat", key: 2, conflictingKey: 1, field: "row, number") {
                _ = try storage.update(Query(where: Condition { $0.id <= 2 })) { $0.number = 8 }
            }
            try expectEqual(try Dump.rows(of: storage), before, "the rows after the errors")
            try dao.erase(byPrimaryKey: 3)
            try dao.create(Seat(id: 7, row: 1, number: 3, name: "7"))
        },
        ConformanceCase("W.uniqueOverFieldsNil", "W6", title: "a row with nil in one of the fields never collides") { context in
            let dao = try context.dao(Seat.self)
            try dao.create((1...5).map { Seat(id: $0, row: nil, number: 7, name: "\($0)") })
            try dao.persist(Seat(id: 1, row: 3, number: 7, name: "1"))
            try expectError(.uniqueViolation, entity: "seat", key: 2, conflictingKey: 1, field: "row, number") {
                try dao.persist(Seat(id: 2, row: 3, number: 7, name: "2"))
            }
            try dao.persist(Seat(id: 1, row: nil, number: 7, name: "1"))
            try dao.persist(Seat(id: 2, row: 3, number: 7, name: "2"))
            try expectEqual(try dao.count { $0.row == nil && $0.number == 7 }, 4)
        },
        ConformanceCase(
            "W.uniqueOverLongTexts", "W6", title: "texts that differ in their last byte only are different, however long"
        ) { context in
            let dao = try context.dao(Seat.self)
            let long = String(repeating: "é", count: 400)
            try dao.create([
                Seat(id: 1, row: nil, number: 1, name: long, hall: long),
                Seat(id: 2, row: nil, number: 2, name: long + "a", hall: long),
                Seat(id: 3, row: nil, number: 3, name: long, hall: long + "\0"),
            ])
            try expectError(.uniqueViolation, entity: "seat", key: 4, conflictingKey: 2, field: "hall, name") {
                try dao.create(Seat(id: 4, row: nil, number: 4, name: long + "a", hall: long))
            }
            try dao.create(Seat(id: 4, row: nil, number: 4, name: long + "a", hall: long + "\0"))
            try expectEqual(try dao.read { $0.hall == long && $0.name >= long }.map(\.id), [1, 2])
        },
    ]
}
