import DAOCore
import Foundation

/// E3: migration steps, written once for every database.
enum EvolutionMigrations {
    /// The step from the first version to ``NoteWithTextRank``.
    static let textRank = Migration(to: 2, "ranks as text") { step in
        try step.changeType(of: "rank", in: "note", to: FieldType(.string))
    }

    static func textRanks(_ notes: [NoteV1]) -> [NoteWithTextRank] {
        notes.map { NoteWithTextRank(id: $0.id, title: $0.title, rank: "\($0.rank)", mark: $0.mark) }
    }

    static let cases: [ConformanceCase] = steps + rows

    private static let steps: [ConformanceCase] = [
        ConformanceCase(
            "E.changesTypes", "E3",
            title: "a step changes the type of a field, exactly for every value that the new type can hold"
        ) {
            context in
            let (database, notes) = try context.databaseOfNotes(2500)
            try database.evolve(Evolution(version: 2, migrations: [textRank], models: [NoteWithTextRank.self]))
            let dao = try database.dao(NoteWithTextRank.self)
            try expectSame(try dao.read(), textRanks(notes))
            try expectEqual(try dao.read { $0.rank == "7" }.map(\.id), [1])
            try expectEqual(try database.schemaVersion, 2)
            // The step back to the first type.
            try database.evolve(
                Evolution(
                    version: 3,
                    migrations: [
                        Migration(to: 3) {
                            try $0.changeType(of: "rank", in: "note", to: FieldType(.int64))
                        }
                    ]))
            try expectSame(try database.dao(NoteV1.self).read(), notes)
        },
        ConformanceCase(
            "E.convertsEveryKind", "E3", title: "values convert to other kinds where that is exact, and are refused elsewhere"
        ) { context in
            let id = UUID(uuidString: "A0B1C2D3-0000-4000-8000-000000000001") ?? UUID()
            let moment = Date(timeIntervalSinceReferenceDate: 700_000_000)
            let exact: [(from: ValueKind, value: Value, to: ValueKind, expected: Value)] = [
                (.bool, .bool(true), .string, .string("true")), (.string, .string("false"), .bool, .bool(false)),
                (.int64, .integer(1), .bool, .bool(true)), (.bool, .bool(true), .int8, .integer(1)),
                (.int64, .integer(-7), .decimal, .decimal(-7)),
                (.uint64, .unsigned(.max), .decimal, .decimal(Decimal(UInt64.max))),
                (.double, .double(0.25), .decimal, .decimal(Decimal(25) / 100)),
                (.string, .string("1.5"), .decimal, .decimal(1.5)),
                (.decimal, .decimal(300), .int64, .integer(300)), (.decimal, .decimal(1.5), .double, .double(1.5)),
                (.decimal, .decimal(1.5), .string, .string("1.5")), (.double, .double(3), .uint8, .integer(3)),
                (.string, .string("8"), .double, .double(8)), (.string, .string(id.uuidString), .uuid, .uuid(id)),
                (.uuid, .uuid(id), .string, .string(id.uuidString)), (.string, .string("ä"), .data, .data(Data("ä".utf8))),
                (.data, .data(Data("ä".utf8)), .string, .string("ä")),
                (.string, .string("https://example.org/a"), .url, .string("https://example.org/a")),
                (.double, .double(700_000_000), .date, .date(moment)),
                (.string, .string("2023-03-08T20:26:40Z"), .date, .date(moment)),
                (.string, .string("2023-03-08T20:26:40.500Z"), .date, .date(moment + 0.5)),
                (.string, .string("2023-03-08T22:26:40+02:00"), .date, .date(moment)),
                (.string, .string("nan"), .double, .double(.nan)), (.string, .string("-1.5e3"), .double, .double(-1500)),
                (.string, .string(id.uuidString.lowercased()), .uuid, .uuid(id)),
                (.string, .string("[ 1.0, \"\\u0061\" ]"), .embedded, .string("[1,\"a\"]")),
            ]
            let refused: [(value: Value, to: ValueKind)] = [
                (.integer(2), .bool), (.double(0.5), .int64), (.integer(300), .int8),
                (.decimal(0.5), .int64), (.decimal(Decimal(UInt64.max) + 0.5), .double),
                (.string("tomorrow"), .date), (.string("2023-03-08"), .date), (.string("x"), .uuid),
                (.string("yes"), .bool), (.string("one"), .decimal), (.data(Data([0xFF])), .string),
                (.uuid(id), .data), (.date(moment), .string),
                // No such day, hour or second, and more than a date.
                (.string("2023-02-30T20:26:40Z"), .date), (.string("2023-03-08T25:00:00Z"), .date),
                (.string("2023-03-08T20:26:60Z"), .date), (.string("2023-03-08T20:26:40Z or so"), .date),
                (.string(" 2023-03-08T20:26:40Z"), .date), (.string("2023-03-08T20:26:40"), .date),
                // No number, or one beyond its type.
                (.string("1e400"), .double), (.string("1e-400"), .double), (.string("0x10"), .double), (.string("1 "), .double),
                (.string("1e39"), .float), (.string("1e5x"), .decimal),
                (.string("1234567890123456789012345678901234567890.5"), .decimal), (.string("9223372036854775808"), .int64),
                (.string("x"), .embedded), (.string("[1,]"), .embedded), (.integer(1), .embedded),
            ]
            @Sendable func sample(_ kinds: [ValueKind]) -> EntityDescription {
                var fields = [FieldDescription(name: "id", type: FieldType(.int64), isPrimaryKey: true)]
                for (number, kind) in kinds.enumerated() {
                    fields.append(FieldDescription(name: "f\(number)", type: FieldType(kind)))
                }
                return EntityDescription(name: "sample", fields: fields)
            }
            @Sendable func row(_ values: [Value]) -> [String: Value] {
                var row = ["id": Value.integer(1)]
                for (number, value) in values.enumerated() { row["f\(number)"] = value }
                return row
            }
            let database = try context.open()
            // A new database gets its version without a step.
            try database.dao(Counter.self).create(Counter(id: 1, value: 2))
            try database.evolve(
                Evolution(
                    version: 1,
                    migrations: [
                        Migration(to: 1) { step in
                            try step.createEntity(sample(exact.map(\.from)))
                            try step.insert([row(exact.map(\.value))], into: "sample")
                            for (number, conversion) in exact.enumerated() {
                                try step.changeType(of: "f\(number)", in: "sample", to: FieldType(conversion.to))
                            }
                        }
                    ]))
            let found = try database.rows(of: "sample").read().first
            for (number, conversion) in exact.enumerated() {
                try expectEqual(
                    found?["f\(number)"], conversion.expected, "\(conversion.value) as \(conversion.to.rawValue)")
            }
            for (value, kind) in refused {
                try expectEqual(value.converted(to: kind), nil, "\(value) as \(kind.rawValue)")
            }
        },
        ConformanceCase("E.changesDefaults", "E3", title: "a step that changes a type converts the default as it converts values")
        {
            context in
            let database = try context.open()
            try database.dao(FullNote.self).create(FullNote(id: 1, title: "a", body: nil, rank: 3, code: nil, tags: []))
            func rank() throws -> FieldDescription? { try database.entities().first?.fields.first { $0.name == "rank" } }
            try database.evolve(
                Evolution(
                    version: 1,
                    migrations: [
                        Migration(to: 1) { step in
                            try step.changeType(of: "rank", in: "note", to: FieldType(.string)) { value in
                                if case .integer(let number) = value { .string("n\(number)") } else { value }
                            }
                        }
                    ]))
            try expectEqual(try rank()?.defaultValue, .string("n7"), "the default of a closure")
            try expectEqual(try database.rows(of: "note").read().map { $0["rank"] }, [.string("n3")], "the values")
            try database.evolve(
                Evolution(
                    version: 2,
                    migrations: [
                        Migration(to: 2) { step in
                            try step.changeType(of: "rank", in: "note", to: FieldType(.int64)) { _ in .integer(12) }
                            try step.changeType(of: "rank", in: "note", to: FieldType(.double))
                        }
                    ]))
            try expectEqual(try rank()?.defaultValue, .double(12), "the default without a closure")
        },
        ConformanceCase("E.changesKeys", "E3", title: "a step changes which field is the key, or the key's type") { context in
            let (database, notes) = try context.databaseOfNotes()
            try database.evolve(
                Evolution(version: 1, migrations: [Migration(to: 1) { try $0.changeKey(of: "note", to: "title") }]))
            let byTitle = try database.dao(NoteByTitle.self)
            try expectSame(
                try byTitle.read(),
                notes.map { NoteByTitle(id: $0.id, title: $0.title, rank: $0.rank, mark: $0.mark) }
                    .sorted { $0.title.utf8.lexicographicallyPrecedes($1.title.utf8) })
            try database.evolve(
                Evolution(
                    version: 2,
                    migrations: [
                        Migration(to: 2) { step in
                            try step.changeKey(of: "note", to: "id")
                            try step.rewrite("note", as: NoteWithTextKey.schema.description) { old, new in
                                new["id"] = old["id"].converted(to: .string) ?? .null
                            }
                        }
                    ], models: [NoteWithTextKey.self]))
            let dao = try database.dao(NoteWithTextKey.self)
            try expectEqual(try dao.read(byPrimaryKey: "12")?.title, notes[11].title)
            try expectEqual(try dao.read().map(\.id), notes.map { "\($0.id)" }.sorted())
        },
        ConformanceCase("E.migratesEntities", "E3", title: "a step creates, renames and drops entities and fields") { context in
            let (database, notes) = try context.databaseOfNotes()
            try database.dao(Counter.self).create(Counter(id: 1, value: 2))
            try database.evolve(
                Evolution(
                    version: 1,
                    migrations: [
                        Migration(to: 1) { step in
                            try expectEqual(try step.entities().map(\.name), ["counter", "note"])
                            try step.dropEntity("counter")
                            try step.renameEntity("note", to: "page")
                            try step.renameField("title", of: "page", to: "headline")
                            try step.dropField("mark", of: "page")
                            try step.addField(
                                FieldDescription(name: "size", type: FieldType(.int64)), to: "page", value: .integer(4))
                            try step.setIndex(on: "size", of: "page", isIndexed: true)
                            try step.createEntity(Item.schema.description)
                            try step.insert(
                                [["id": .integer(1), "name": .string("one"), "number": .integer(10)]], into: "item")
                            try expectEqual(try step.count("page"), 60)
                            try expectEqual(try step.entity("page"), Page.schema.description)
                        }
                    ]))
            try expectEqual(try database.entities().map(\.name), ["item", "page"])
            let pages = try database.dao(Page.self)
            try expectSame(try pages.read(), notes.map { Page(id: $0.id, headline: $0.title, rank: $0.rank, size: 4) })
            try expectEqual(try pages.count { $0.size == 4 }, 60)
            try expectSame(try database.dao(Item.self).read(), [Item(id: 1, name: "one", number: 10)])
            try expectEqual(try database.dao(NoteV1.self).count(), 0, "remaining notes")
            try expectEqual(try database.dao(Counter.self).count(), 0, "remaining counters")
        },
        ConformanceCase(
            "E.replacesEntities", "E3", title: "a step drops an entity that it has written, and creates another one of its name"
        ) { context in
            var (database, _) = try context.databaseOfNotes()
            let entity = EntityDescription(name: "note", fields: Item.schema.description.fields)
            try database.evolve(
                Evolution(
                    version: 1,
                    migrations: [
                        Migration(to: 1) { step in
                            try step.insert(
                                [["id": .integer(900), "title": .string("last"), "rank": .integer(1), "mark": .null]],
                                into: "note")
                            try step.forEachRow(of: "note") { $0["rank"] = .integer(2) }
                            try step.dropEntity("note")
                            try step.createEntity(entity)
                            try expectEqual(try step.count("note"), 0, "the rows of the new entity")
                            try step.insert(
                                [["id": .integer(1), "name": .string("one"), "number": .integer(10)]], into: "note")
                            try step.forEachRow(of: "note") { $0["number"] = .integer(11) }
                        }
                    ]))
            for round in 1...2 {
                try expectEqual(try database.entities(), [entity], "the entities, round \(round)")
                let rows = try database.rows(of: "note")
                try expectEqual(try rows.read().map(\.values), [[.integer(1), .string("one"), .integer(11), .null]])
                try context.renew(&database)
            }
        },
        ConformanceCase(
            "E.runsStepsInOrder", "E3",
            title: "the steps that a database has not run yet run in the order of versions, each once"
        ) { context in
            let (database, _) = try context.databaseOfNotes()
            let log = Lock<[Int]>([])
            let migrations = [4, 2, 5, 1].map { version in
                Migration(to: version) { _ in log.withLock { $0.append(version) } }
            }
            try database.evolve(Evolution(version: 2, migrations: migrations.filter { $0.version <= 2 }))
            try expectEqual(log.withLock { $0 }, [1, 2])
            try database.evolve(Evolution(version: 6, migrations: migrations))
            try database.evolve(Evolution(version: 6, migrations: migrations))
            try expectEqual(log.withLock { $0 }, [1, 2, 4, 5])
            try expectEqual(try database.schemaVersion, 6)
        },
        ConformanceCase(
            "E.jumpsVersions", "E3",
            title: "a migration from the first version to the last gives the same result as a migration step by step"
        ) { context in
            let migrations = [
                Migration(to: 2) { step in
                    try step.addField(FieldDescription(name: "size", type: FieldType(.int64)), to: "note", value: .integer(0))
                    try step.forEachRow(of: "note") { row in
                        guard case .string(let title) = row["title"] else { return }
                        row["size"] = .integer(Int64(title.utf8.count))
                        try expectEqual(row.values, row.entity.fields.map { row[$0.name] }, "the values in order")
                    }
                },
                Migration(to: 3) { step in
                    try step.renameField("title", of: "note", to: "headline")
                    try step.changeType(of: "size", in: "note", to: FieldType(.double))
                },
                Migration(to: 4) { step in
                    try step.renameEntity("note", to: "page")
                    try step.dropField("mark", of: "page")
                    try step.changeType(of: "size", in: "page", to: FieldType(.int64))
                    try step.setIndex(on: "size", of: "page", isIndexed: true)
                },
            ]
            let (stepwise, notes) = try context.databaseOfNotes()
            for version in 2...4 {
                try stepwise.evolve(Evolution(version: version, migrations: migrations.filter { $0.version <= version }))
            }
            let jumping = try context.openOther()
            try jumping.dao(NoteV1.self).create(notes)
            try jumping.evolve(Evolution(version: 4, migrations: migrations, models: [Page.self]))
            let expected = notes.map {
                Page(id: $0.id, headline: $0.title, rank: $0.rank, size: $0.title.utf8.count)
            }
            try expectSame(try jumping.dao(Page.self).read(), expected, "the jump")
            try expectSame(try stepwise.dao(Page.self).read(), expected, "step by step")
            try expectEqual(try jumping.entities(), try stepwise.entities())
        },
        ConformanceCase("E.newNeedsNoStep", "E3", title: "a new database gets the version and runs no step") { context in
            let database = try context.open()
            try database.evolve(
                Evolution(version: 3, migrations: [Migration(to: 2) { _ in throw DeliberateError() }], models: [NoteV1.self]))
            try expectEqual(try database.schemaVersion, 3)
        },
    ].requiring(.evolution)

    private static let rows: [ConformanceCase] = [
        ConformanceCase("E.rewritesRows", "E3", title: "a step reads, changes and erases rows of any number") { context in
            let (database, notes) = try context.databaseOfNotes(2500)
            let progress = Lock<[EvolutionProgress]>([])
            try database.evolve(
                Evolution(
                    version: 1,
                    migrations: [
                        Migration(to: 1, "marks") { step in
                            var keys: [Value] = []
                            try step.forEachRow(of: "note") { row in
                                keys.append(row["id"])
                                guard case .integer(let id) = row["id"] else { return }
                                if id % 5 == 0 { row.erase() }
                                if id % 5 == 1 { row["mark"] = .null }
                                if id % 5 == 2 { row["rank"] = .integer(0 &- id) }
                            }
                            try expectEqual(keys, (1...2500).map { Value.integer($0) }, "keys in order")
                        }
                    ])
            ) { step in progress.withLock { $0.append(step) } }
            let expected = notes.filter { $0.id % 5 != 0 }.map { note in
                var note = note
                if note.id % 5 == 1 { note.mark = nil }
                if note.id % 5 == 2 { note.rank = -note.id }
                return note
            }
            try expectSame(try database.dao(NoteV1.self).read(), expected)
            let last = try require(progress.withLock { $0.last }, "progress")
            try expectEqual(last, EvolutionProgress(step: "marks", entity: "note", rows: 2500, total: 2500))
            let counts = progress.withLock { $0.map(\.rows) }
            try expectEqual(counts, counts.sorted(), "rows that are done")
        },
        ConformanceCase(
            "E.migratesEveryValue", "E3", "V1", title: "a step keeps rows bit for bit, whatever values they hold"
        ) { context in
            let database = try context.open()
            try database.dao(OptionalScalars.self).create(OptionalScalars.samples)
            let before = try database.dao(OptionalScalars.self).read()
            let description = OptionalScalars.schema.description
            try database.evolve(
                Evolution(
                    version: 1,
                    migrations: [
                        Migration(to: 1) { step in
                            try step.rewrite("optionals", as: description) { _, _ in }
                            try step.forEachRow(of: "optionals") { row in
                                for field in description.fields where !field.isPrimaryKey {
                                    row[field.name] = row[field.name]
                                }
                            }
                        }
                    ]))
            try expectSame(try database.dao(OptionalScalars.self).read(), before)
        },
        ConformanceCase("E.stepsKeepIndexes", "E3", title: "the writes of a step update the indexes") { context in
            let (database, _) = try context.databaseOfNotes()
            _ = try database.dao(NoteWithIndexes.self)
            try database.evolve(
                Evolution(
                    version: 1,
                    migrations: [
                        Migration(to: 1) { step in
                            try step.forEachRow(of: "note") { row in
                                guard case .integer(let rank) = row["rank"] else { return }
                                if rank < 30 { row["rank"] = .integer(rank &+ 1000) } else if rank > 50 { row.erase() }
                            }
                        }
                    ]))
            let dao = try database.dao(NoteWithIndexes.self)
            try expectEqual(try dao.count { $0.rank >= 1000 }, 30)
            try expectEqual(try dao.count { $0.rank < 1000 }, 21)
            try expectEqual(try dao.count { $0.rank == 10 }, 0)
        },
        ConformanceCase(
            "E.storagesOutliveMigrations", "E3",
            title: "a storage opened before a migration sees the migrated rows when its entity is the same as before"
        ) { context in
            let (database, _) = try context.databaseOfNotes()
            let evolution = Evolution(
                version: 1,
                migrations: [
                    Migration(to: 1) { step in
                        try step.forEachRow(of: "note") { row in if row["id"] != .integer(3) { row.erase() } }
                    }
                ])
            let dao = try database.dao(NoteV1.self)
            try expectEqual(try dao.count(), 60)
            try database.evolve(evolution)
            try expectEqual(try dao.read().map(\.id), [3], "the remaining rows")
        },
    ].requiring(.evolution)
}

/// The model that ``NoteV1`` becomes after the steps.
private struct Page: Plain, Model, Equatable {
    var id: Int
    var headline: String
    var rank: Int
    var size: Int

    static let schema = Schema(
        "page", Self.init,
        Field("id", \.id, .primaryKey), Field("headline", \.headline), Field("rank", \.rank), Field("size", \.size, .indexed))
}
