import DAOCore
import Foundation

/// E2: added and dropped fields.
enum EvolutionFields {
    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "E.addsTwice", "E2", title: "older rows keep the default of a field that an earlier version has added",
            requires: [.evolution]
        ) { context in
            var database = try context.open()
            try database.dao(LightNote.self).create([LightNote(title: "a", id: 1)])
            try context.renew(&database)
            try expectEqual(try database.dao(NoteWithNewDefault.self).read().map(\.rank), [9], "the default of the added field")
            try context.renew(&database)
            let dao = try database.dao(FullNote.self)
            try dao.create(FullNote(id: 2, title: "b", body: nil, rank: 3, code: nil, tags: []))
            try expectSame(
                try dao.read(),
                [
                    FullNote(id: 1, title: "a", body: nil, rank: 9, code: nil, tags: ["new"]),
                    FullNote(id: 2, title: "b", body: nil, rank: 3, code: nil, tags: []),
                ])
            try expectEqual(try dao.read { $0.rank == 9 }.map(\.id), [1], "the rows by the first default")
        },
        ConformanceCase("E.addsOptional", "E2", title: "an added optional field is nil in older rows", requires: [.evolution]) {
            context in
            let (database, notes) = try context.databaseOfNotes()
            let dao = try database.dao(NoteWithOptional.self)
            try expectSame(try dao.read(), notes.map { NoteWithOptional($0) })
            try expectEqual(try dao.count { $0.color == nil }, 60, "older rows without a color")
            try dao.persist(NoteWithOptional(notes[4], color: "red"))
            try expectEqual(try dao.read { $0.color != nil }.map(\.id), [5])
            try expectEqual(try dao.read(orderedBy: .descending(\.color), limit: 1).map(\.id), [5])
            try expectEqual(
                try database.entities(), [NoteWithOptional.schema.description], "the description in the catalog")
        },
        ConformanceCase(
            "E.addsDefaults", "E2",
            title: "an added field of any type has its default in older rows, for every way of reading",
            requires: [.evolution]
        ) { context in
            let (database, notes) = try context.databaseOfNotes()
            let dao = try database.dao(NoteWithEverything.self)
            let expected = notes.map(everything)
            try expectSame(try dao.read(), expected)
            try expectSame(try dao.read(byPrimaryKey: 7).map { [$0] } ?? [], [expected[6]], "by key")
            try checkDefaults(dao, 60)
            // Writing a row again stores the defaults in it.
            try dao.persist(expected[0])
            var changed = expected[1]
            (changed.least, changed.text, changed.maybe, changed.most) = (4, "other", nil, 0)
            try dao.persist(changed)
            try checkDefaults(dao, 59, except: 2)
            try expectEqual(try dao.read { $0.least == 4 }.map(\.id), [2])
            try expectEqual(try dao.read { $0.text == "other" }.map(\.id), [2])
            try expectEqual(try dao.read { $0.maybe == nil }.map(\.id), [2])
            try expectEqual(
                try dao.erase { $0.text == NoteWithEverything.textValue && $0.id > 30 }, 30, "rows erased by a default")
            try checkDefaults(dao, 29, except: 2)
        },
        ConformanceCase(
            "E.keepsDefaults", "E2", title: "when a later version changes a default, rows with the earlier default keep it",
            requires: [.evolution]
        ) { context in
            var (database, notes) = try context.databaseOfNotes()
            let first = try database.dao(NoteWithNumber.self)
            try expectSame(try first.read(), notes.map { NoteWithNumber($0) })
            try first.persist(NoteWithNumber(notes[2], color: 6))
            try context.renew(&database)
            let dao = try database.dao(NoteWithOtherDefault.self)
            let expected = notes.map {
                NoteWithOtherDefault(
                    id: $0.id, title: $0.title, rank: $0.rank, mark: $0.mark, color: $0.id == 3 ? 6 : 5, size: 3)
            }
            try expectSame(try dao.read(), expected)
            try expectEqual(try dao.count { $0.color == 5 }, 59, "rows by the index on the first default")
            try expectEqual(try dao.read { $0.color == 6 || $0.color == 9 }.map(\.id), [3])
        },
        ConformanceCase(
            "E.dropsFields", "E6", title: "a field that a model drops is removed; the remaining fields keep their values",
            requires: [.evolution]
        ) { context in
            let (database, notes) = try context.databaseOfNotes()
            let dao = try database.dao(NoteThatDrops.self)
            try expectSame(try dao.read(), notes.map { NoteThatDrops(id: $0.id, title: $0.title) })
            try dao.persist(NoteThatDrops(id: 5, title: "changed"))
            try dao.create(NoteThatDrops(id: 100, title: "new"))
            try expectEqual(try dao.read { $0.title == "new" || $0.title == "changed" }.map(\.id), [5, 100])
            try expectEqual(try database.entities(), [NoteThatDrops.schema.description])
            try expectSame(try database.dao(NoteThatDrops.self).count(), 61, "when nothing is left to drop")
        },
        ConformanceCase(
            "E.noGhosts", "E6", title: "a field that is added again after it was dropped is empty, also with another type",
            requires: [.evolution]
        ) { context in
            var (database, notes) = try context.databaseOfNotes()
            let colored = try database.dao(NoteWithOptional.self)
            try colored.persist(notes.map { NoteWithOptional($0, color: "color \($0.id)") })
            try context.renew(&database)
            try expectSame(try database.dao(NoteWithoutColor.self).read(), notes.map { NoteWithoutColor($0) })
            try context.renew(&database)
            try expectSame(try database.dao(NoteWithNumber.self).read(), notes.map { NoteWithNumber($0) })
            try context.renew(&database)
            try expectSame(try database.dao(NoteWithoutColor.self).read(), notes.map { NoteWithoutColor($0) })
            try context.renew(&database)
            let again = try database.dao(NoteWithOptional.self)
            try expectSame(try again.read(), notes.map { NoteWithOptional($0) }, "the first color, added again")
            try expectEqual(try again.count { $0.color != nil }, 0)
        },
        ConformanceCase(
            "E.changesOptionals", "E2",
            title: "a required field may become optional; an optional field with a default may become required",
            requires: [.evolution]
        ) { context in
            let (database, notes) = try context.databaseOfNotes()
            let dao = try database.dao(NoteWithOtherNils.self)
            try expectSame(
                try dao.read(),
                notes.map { NoteWithOtherNils(id: $0.id, title: $0.title, rank: $0.rank, mark: $0.mark ?? "none") })
            try expectEqual(try dao.count { $0.mark == "none" }, 20, "rows that were nil")
            try dao.persist(NoteWithOtherNils(id: 1, title: nil, rank: nil, mark: "x"))
            try expectEqual(try dao.read { $0.title == nil && $0.rank == nil }.map(\.id), [1])
            try expectEqual(try dao.read(orderedBy: .ascending(\.title), limit: 1).map(\.id), [1])
        },
        ConformanceCase(
            "E.changesAllAtOnce", "E2", title: "all automatic changes may happen at once",
            requires: [.evolution]
        ) { context in
            let (database, notes) = try context.databaseOfNotes(2500)
            let dao = try database.dao(NoteWithAllAtOnce.self)
            try expectSame(
                try dao.read(),
                notes.map { NoteWithAllAtOnce(place: $0.rank, color: "red", headline: $0.title, id: $0.id, size: nil) })
            try expectEqual(try dao.count { $0.color == "red" && $0.place < 100 }, 100)
            try expectError(.uniqueViolation, entity: "note", key: 9999, conflictingKey: 78, field: "headline") {
                try dao.create(NoteWithAllAtOnce(place: 0, color: "", headline: notes[77].title, id: 9999, size: 1))
            }
            // In the order in which the fields came, 'mark' among them.
            let stored = try require(try database.entities().first, "the entity")
            try expectEqual(stored.fields.map(\.name), ["id", "headline", "place", "mark", "color", "size"])
            for field in NoteWithAllAtOnce.schema.description.fields {
                try expectEqual(stored.fields.first { $0.name == field.name }, field)
            }
        },
        ConformanceCase(
            "E.survivesReopening", "E2",
            title: "a changed entity is the same after reopening, and no further change is pending",
            requires: [.evolution, .persistence]
        ) { context in
            let (database, notes) = try context.databaseOfNotes()
            _ = try database.dao(NoteWithEverything.self)
            let again = try context.reopen(database)
            try expectEqual(try again.entities(), [NoteWithEverything.schema.description])
            try expectSame(try again.dao(NoteWithEverything.self).read(), notes.map(everything))
            try checkDefaults(try again.dao(NoteWithEverything.self), 60)
            let third = try context.reopen(again)
            try expectSame(try third.dao(NoteWithHeadline.self).count { $0.headline != "" }, 60)
        },
        ConformanceCase(
            "E.tellsOldStorages", "E2",
            title: "a storage whose field was dropped or changed its type throws schemaMismatch and writes nothing",
            requires: [.evolution]
        ) { context in
            let (database, notes) = try context.databaseOfNotes()
            let old = try database.dao(NoteV1.self)
            try database.evolve(
                Evolution(version: 1, migrations: [Migration(to: 1) { try $0.dropField("rank", of: "note") }]))
            let dao = try database.dao(NoteWithoutRank.self)
            try expectError(.schemaMismatch, "a read", entity: "note") { try old.read() }
            try expectError(.schemaMismatch, "a read by key", entity: "note") { try old.read(byPrimaryKey: 1) }
            try expectError(.schemaMismatch, "a write", entity: "note") { try old.persist(notes[0]) }
            try expectError(.schemaMismatch, "an erase", entity: "note") { try old.erase() }
            try expectSame(try dao.read(), notes.map { NoteWithoutRank($0) })
        },
        ConformanceCase(
            "E.notInsideTransactions", "E2",
            title:
                "inside a transaction or a snapshot, opening an older entity throws invalidTransaction and changes nothing",
            requires: [.evolution]
        ) { context in
            var (database, notes) = try context.databaseOfNotes()
            try database.transaction {
                _ = try expectError(.invalidTransaction, entity: "note") { try database.storage(for: NoteWithNumber.self) }
            }
            try database.snapshot {
                _ = try expectError(.invalidTransaction, entity: "note") { try database.storage(for: NoteWithNumber.self) }
            }
            try expectSame(try database.dao(NoteV1.self).read(), notes)
            try context.renew(&database)
            try expectEqual(try database.dao(NoteWithNumber.self).count(), 60)
        },
        ConformanceCase(
            "E.readOnlyLeavesOlder", "E2", "L1",
            title: "an older entity in a read-only database is readOnly, and is unchanged",
            requires: [.evolution, .persistence, .configuration]
        ) { context in
            let (database, notes) = try context.databaseOfNotes()
            try database.close()
            let reading = try context.open { $0.isReadOnly = true }
            try expectError(.readOnly, entity: "note", path: context.path) { try reading.storage(for: NoteWithNumber.self) }
            try expectError(.schemaMismatch, entity: "note") { try reading.storage(for: NoteWithTextRank.self) }
            try expectSame(try reading.dao(NoteV1.self).read(), notes)
        },
        ConformanceCase(
            "E.refusesWhatIsDifferent", "E1", "E3",
            title: "a database without evolution refuses rows without types, and a different version of an entity",
            lacks: [.evolution]
        ) { context in
            let (database, _) = try context.databaseOfNotes()
            try expectError(.unsupported) { try database.withEntityStore(.read) { try $0.entities().count } }
            try expectError(.unsupported) { try database.evolve(Evolution(version: 1)) }
        },
    ]

    private static func everything(_ note: NoteV1) -> NoteWithEverything {
        NoteWithEverything(
            id: note.id, title: note.title, rank: note.rank, mark: note.mark, flag: true, tiny: -128, least: .min, most: .max,
            ratio: 0.1, edge: -.infinity, real: 0.3, price: Decimal(sign: .minus, exponent: -2, significand: 1999),
            text: NoteWithEverything.textValue, bytes: Data([0, 255, 1]), uuid: NoteWithEverything.uuidValue,
            link: NoteWithEverything.link, date: Date(timeIntervalSinceReferenceDate: 0.1),
            timeout: .milliseconds(-1500), list: [1, 2], mood: .calm, maybe: "yes", number: nil)
    }

    /// Reads rows by each default, through the indexes where they exist.
    private static func checkDefaults(
        _ dao: DAO<NoteWithEverything>, _ count: Int, except other: Int = -1
    ) throws {
        func check(_ field: String, _ value: (any FieldValue)?) throws {
            let condition =
                Condition<NoteWithEverything>.field(field, .equal, value)
                && Condition<NoteWithEverything>.field("id", .notEqual, other)
            try expectEqual(try dao.count(Query(where: condition)), count, "rows with the default '\(field)'")
        }
        try check("flag", true)
        try check("tiny", Int8(-128))
        try check("least", Int64.min)
        try check("most", UInt64.max)
        try check("ratio", 0.1)
        try check("edge", -Double.infinity)
        try check("real", Float(0.3))
        try check("price", Decimal(sign: .minus, exponent: -2, significand: 1999))
        try check("text", NoteWithEverything.textValue)
        try check("bytes", Data([0, 255, 1]))
        try check("uuid", NoteWithEverything.uuidValue)
        try check("link", NoteWithEverything.link)
        try check("date", Date(timeIntervalSinceReferenceDate: 0.1))
        try check("timeout", Duration.milliseconds(-1500))
        try check("list", [1, 2])
        try check("mood", Mood.calm)
        try check("maybe", "yes")
        try check("number", nil)
    }
}
