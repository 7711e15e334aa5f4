import DAOCore

/// E3: migrations that fail, and their plans.
enum EvolutionMigrationFailures {
    static let cases: [ConformanceCase] = failures + plans

    private static let failures: [ConformanceCase] = [
        ConformanceCase(
            "E.failedStepUndoesAll", "E3", "T1",
            title: "an error in a step leaves the database unchanged, and is thrown unchanged"
        ) { context in
            let (database, notes) = try context.databaseOfNotes(1500)
            try database.dao(Counter.self).create(Counter(id: 1, value: 2))
            try database.evolve(Evolution(version: 1))
            let failing = Evolution(
                version: 3,
                migrations: [
                    EvolutionMigrations.textRank,
                    Migration(to: 3) { step in
                        try step.dropEntity("counter")
                        try step.createEntity(Item.schema.description)
                        try step.renameEntity("note", to: "page")
                        try step.setIndex(on: "title", of: "page", isIndexed: true)
                        try step.forEachRow(of: "page") { row in
                            if row["id"] == .integer(1400) { throw DeliberateError(number: 1400) }
                            row["title"] = .string("")
                        }
                    },
                ])
            for attempt in 1...2 {
                try expectDeliberate(DeliberateError(number: 1400), "attempt \(attempt)") { try database.evolve(failing) }
                try expectEqual(try database.schemaVersion, 1)
                try expectEqual(try database.entities().map(\.name), ["counter", "note"])
                try expectSame(try database.dao(NoteV1.self).read(), notes)
                try expectSame(try database.dao(Counter.self).read(), [Counter(id: 1, value: 2)])
            }
            try database.evolve(Evolution(version: 2, migrations: [EvolutionMigrations.textRank]))
            try expectSame(try database.dao(NoteWithTextRank.self).read(), EvolutionMigrations.textRanks(notes))
        },
        ConformanceCase(
            "E.failedStepUndoesAllInTheFile", "E3", "T1", title: "a reopened database shows nothing of a failed step",
            requires: [.persistence]
        ) { context in
            let (database, notes) = try context.databaseOfNotes()
            try expectDeliberate {
                try database.evolve(
                    Evolution(
                        version: 2,
                        migrations: [
                            Migration(to: 2) { step in
                                try step.changeType(of: "rank", in: "note", to: FieldType(.string))
                                throw DeliberateError()
                            }
                        ]))
            }
            let again = try context.reopen(database)
            try expectEqual(try again.schemaVersion, 0)
            try expectSame(try again.dao(NoteV1.self).read(), notes)
        },
        ConformanceCase(
            "E.badRowIsNamed", "E3",
            title: "a value that the new type cannot hold is corruptedValue with row and field; nothing changes"
        ) { context in
            let (database, _) = try context.databaseOfNotes()
            let before = try database.dao(NoteV1.self).read()
            let wrong: [(@Sendable (MigrationStep) throws -> Void)] = [
                { try $0.changeType(of: "title", in: "note", to: FieldType(.int64)) },
                {
                    try $0.changeType(of: "rank", in: "note", to: FieldType(.string)) { $0 == .integer(7) ? $0 : .string("") }
                },
                { try $0.forEachRow(of: "note") { if $0["rank"] == .integer(7) { $0["rank"] = .string("x") } } },
                { try $0.forEachRow(of: "note") { if $0["rank"] == .integer(7) { $0["title"] = .null } } },
            ]
            for (index, body) in wrong.enumerated() {
                let field = index % 3 == 0 ? "title" : "rank"
                try expectError(.corruptedValue, "attempt \(index)", entity: "note", key: 1, field: field) {
                    try database.evolve(Evolution(version: 1, migrations: [Migration(to: 1, perform: body)]))
                }
            }
            try expectSame(try database.dao(NoteV1.self).read(), before)
        },
        ConformanceCase(
            "E.stepUnique", "E3", "L7",
            title: "a row of a step that has a unique value of another row is named with it, behind a nil too"
        ) { context in
            let (database, members) = try context.open(with: Member.self)
            let before = [Member(id: 1, email: nil, badge: 7), Member(id: 2, email: "b", badge: 8)]
            try members.create(before)
            for (field, row) in [
                ("badge", ["id": .integer(3), "email": .null, "badge": .integer(8), "name": .string("")]),
                ("email", ["id": .integer(3), "email": .string("b"), "badge": .integer(9), "name": .string("")]),
            ] as [(String, [String: Value])] {
                try expectError(
                    .uniqueViolation, "an inserted \(field)", entity: "member", key: 3, conflictingKey: 2, field: field
                ) {
                    try database.evolve(
                        Evolution(version: 1, migrations: [Migration(to: 1) { try $0.insert([row], into: "member") }]))
                }
            }
            try expectError(.uniqueViolation, "a changed badge", entity: "member", key: 1, conflictingKey: 2, field: "badge") {
                try database.evolve(
                    Evolution(
                        version: 1,
                        migrations: [
                            Migration(to: 1) { step in
                                try step.forEachRow(of: "member") { if $0["id"] == .integer(1) { $0["badge"] = .integer(8) } }
                            }
                        ]))
            }
            try expectEqual(try members.read(), before, "the rows")
        },
        ConformanceCase(
            "E.stepMistakes", "E3", title: "a step that uses a missing or invalid entity, field or key throws a typed error"
        ) { context in
            let (database, notes) = try context.databaseOfNotes()
            func attempt(
                _ kind: StorageError.Kind, _ what: String, entity: String = "note", key: UniqueID? = nil,
                conflictingKey: UniqueID? = nil, field: String? = nil,
                _ body: @escaping @Sendable (MigrationStep) throws -> Void
            ) throws {
                try expectError(
                    kind, what, entity: entity, key: key, conflictingKey: conflictingKey, field: field
                ) {
                    try database.evolve(Evolution(version: 1, migrations: [Migration(to: 1, perform: body)]))
                }
            }
            try attempt(.schemaMismatch, "a missing entity", entity: "nothing") { try $0.dropEntity("nothing") }
            try attempt(.schemaMismatch, "a missing field", field: "no") {
                try $0.renameField("no", of: "note", to: "x")
            }
            try attempt(.schemaMismatch, "reading a missing field", key: 1, field: "no") {
                try $0.forEachRow(of: "note") { _ = $0["no"] }
            }
            try attempt(.schemaMismatch, "setting a missing field", key: 1, field: "no") {
                try $0.forEachRow(of: "note") { $0["no"] = .null }
            }
            try attempt(.keyChanged, "setting the key", key: 1, field: "id") {
                try $0.forEachRow(of: "note") { $0["id"] = .integer(0) }
            }
            try attempt(.duplicateKey, "two rows with one key", key: 1, field: "id") {
                try $0.rewrite("note", as: NoteV1.schema.description) { $1["id"] = .integer(1) }
            }
            try attempt(.invalidSchema, "an invalid name", entity: "a.b") { try $0.renameEntity("note", to: "a.b") }
            try attempt(.schemaMismatch, "a name that differs from a stored name in case only", entity: "Note") {
                try $0.renameEntity("note", to: "Note")
            }
            try attempt(.schemaMismatch, "a new entity whose name differs from a stored name in case only", entity: "NOTE") {
                try $0.createEntity(EntityDescription(name: "NOTE", fields: NoteV1.schema.description.fields))
            }
            try attempt(.invalidSchema, "a key of a type that cannot be a key") {
                try $0.changeType(of: "id", in: "note", to: FieldType(.double))
            }
            try attempt(.schemaMismatch, "an added field without a value") {
                try $0.addField(FieldDescription(name: "more", type: FieldType(.int64)), to: "note")
            }
            try attempt(
                .uniqueViolation, "equal values that become unique", key: 2, conflictingKey: 1, field: "title"
            ) {
                try $0.forEachRow(of: "note") { $0["title"] = .string("same") }
                try $0.setIndex(on: "title", of: "note", isIndexed: true, isUnique: true)
            }
            try expectEqual(try database.schemaVersion, 0)
            try expectSame(try database.dao(NoteV1.self).read(), notes)
        },
        ConformanceCase("E.wrongVersions", "E3", title: "contradicting versions are invalidConfiguration") { context in
            let database = try context.open()
            let nothing: @Sendable (MigrationStep) throws -> Void = { _ in }
            for evolution in [
                Evolution(version: 0), Evolution(version: 2, migrations: [Migration(to: 3, perform: nothing)]),
                Evolution(version: 2, migrations: [Migration(to: 0, perform: nothing)]),
                Evolution(version: 2, migrations: [Migration(to: 2, perform: nothing), Migration(to: 2, perform: nothing)]),
            ] {
                try expectError(.invalidConfiguration) { try database.evolve(evolution) }
            }
            try database.transaction {
                _ = try expectError(.invalidTransaction, "inside a transaction") {
                    try database.evolve(Evolution(version: 1))
                }
            }
        },
    ].requiring(.evolution)

    private static let plans: [ConformanceCase] = [
        ConformanceCase(
            "E.dryRun", "E3", title: "the plan contains versions, steps, changes and rows, and making it writes nothing",
            requires: [.evolution]
        ) {
            context in
            let (database, notes) = try context.databaseOfNotes()
            try database.evolve(Evolution(version: 1))
            let evolution = Evolution(
                version: 3,
                migrations: [EvolutionMigrations.textRank, Migration(to: 3, "nothing") { _ in throw DeliberateError() }],
                models: [NoteWithNumber.self])
            let plan = try require(try database.pendingMigration(evolution), "a plan")
            try expectEqual([plan.from, plan.to], [1, 3], "the versions")
            try expectEqual(plan.steps, ["ranks as text", "nothing"])
            try expectEqual(plan.rows, ["note": 60])
            try expectEqual(plan.automaticChanges.map(\.entity), ["note"])
            try expect(
                plan.automaticChanges.first?.changes.contains { $0.contains("'color'") } == true, "the new field in \(plan)")
            let covered = Evolution(version: 2, migrations: [EvolutionMigrations.textRank], models: [NoteWithTextRank.self])
            let text = "\(try require(try database.pendingMigration(covered), "a plan"))"
            try expect(text.contains("'rank'") && !text.contains("needs a step"), "a step for the rank in: \(text)")
            let missing =
                "\(try require(try database.pendingMigration(Evolution(version: 1, models: [NoteWithTextRank.self])), "a plan"))"
            try expect(missing.contains("needs a step: 'rank'"), "the missing step in: \(missing)")
            try expectEqual(try database.schemaVersion, 1)
            try expectEqual(try database.entities(), [NoteV1.schema.description])
            try expectSame(try database.dao(NoteV1.self).read(), notes)
            try expect(try database.pendingMigration(Evolution(version: 1)) == nil, "no plan without pending changes")
        },
        ConformanceCase(
            "E.opensAndEvolves", "E3", "L1",
            title: "drivers open a database and migrate it; when that fails, the database is closed", requires: [.evolution]
        ) { context in
            let last = Shared<(any Database)?>(nil)
            let drivers = DatabaseDrivers(
                DatabaseDriver(scheme: "here") { _ in
                    let database = try context.open()
                    last.change { $0 = database }
                    return database
                })
            // It keeps a database in memory.
            let keeper = try context.open()
            let database = try drivers.open("here:it", evolution: Evolution(version: 3))
            try expectEqual(try database.schemaVersion, 3)
            try expectError(.schemaIsNewer, path: context.path) { try drivers.open("here:it", evolution: Evolution(version: 2)) }
            try expectError(.closed) { try last.value?.entities() }
            try expectEqual(try keeper.schemaVersion, 3)
        },
        ConformanceCase(
            concurrent: "E.evolvesOnce", "E3", "C1",
            title: "of several databases that migrate at once, one runs the step and all see its result",
            requires: [.evolution]
        ) { context in
            let (database, notes) = try context.databaseOfNotes()
            let runs = Lock(0)
            let evolution = Evolution(
                version: 2,
                migrations: [
                    Migration(to: 2) { step in
                        runs.withLock { $0 += 1 }
                        try step.changeType(of: "rank", in: "note", to: FieldType(.string))
                    }
                ])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...6 { group.addTask { try await database.evolve(evolution) } }
                try await group.waitForAll()
            }
            try expectEqual(runs.withLock { $0 }, 1, "runs of the step")
            let migrated = try database.dao(NoteWithTextRank.self)
            let rows: [NoteWithTextRank] = try migrated.storage.read(Query())
            try expectSame(rows, EvolutionMigrations.textRanks(notes))
        },
    ]
}
