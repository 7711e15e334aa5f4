import DAOCore
import Foundation

/// E6: fields that the model in use does not declare.
enum EvolutionRetired {
    /// A database with notes, which a full model has stored. No model is open.
    private static func database(_ context: ConformanceContext, _ count: Int = 30) throws -> (any Database, [FullNote]) {
        var database = try context.open()
        let notes = FullNote.make(count)
        try database.dao(FullNote.self).create(notes)
        try context.renew(&database)
        return (database, notes)
    }

    static let cases: [ConformanceCase] = writes + returns + others

    private static let writes: [ConformanceCase] = [
        ConformanceCase(
            "E.smallerModelChangesNothing", "E6", "E1",
            title: "asking for the storage of a smaller model changes nothing, and reading it neither",
            requires: [.evolution]
        ) { context in
            var (database, notes) = try database(context)
            let before = try database.entities()
            let light = try database.dao(LightNote.self)
            try expectSame(try light.read(), notes.map { LightNote(title: $0.title, id: $0.id) })
            try expectEqual(try light.read { $0.title == "Title 4" }.map(\.id), [4])
            try expectEqual(try light.read(orderedBy: .descending(\.title), limit: 2).map(\.id), [9, 8])
            try expectEqual(try database.entities(), before, "the entity")
            try context.renew(&database)
            try expectSame(try database.dao(FullNote.self).read(), notes)
        },
        ConformanceCase(
            "E.smallerModelKeepsValues", "E6", "W2",
            title: "whatever a smaller model writes, the values that it does not declare stay",
            requires: [.evolution]
        ) { context in
            var (database, notes) = try database(context)
            let light = try database.dao(LightNote.self)
            let storage = try database.storage(for: LightNote.self)
            var expected = notes
            // Whole replacement, of one row and of many.
            try storage.upsert([LightNote(title: "one", id: 1)])
            try storage.upsert((2...9).map { LightNote(title: "many", id: $0) })
            try light.persist(LightNote(title: "merged", id: 10))
            _ = try storage.update(Query(where: Condition { $0.id > 10 && $0.id <= 20 })) { $0.title = "updated" }
            expected[0].title = "one"
            for index in 1...8 { expected[index].title = "many" }
            expected[9].title = "merged"
            for index in 10...19 { expected[index].title = "updated" }
            try light.set(\.title, to: "set") { $0.id > 20 }
            for index in 20...29 { expected[index].title = "set" }
            try light.erase(byPrimaryKey: 30)
            expected.removeLast()
            try context.renew(&database)
            try expectSame(try database.dao(FullNote.self).read(), expected)
            try checkIndexes(database, expected)
        },
        ConformanceCase(
            "E.smallerModelInsertsDefaults", "E6",
            title: "a row that a smaller model inserts has the defaults of the other fields, in their indexes too",
            requires: [.evolution]
        ) { context in
            var (database, notes) = try database(context)
            let light = try database.dao(LightNote.self)
            let storage = try database.storage(for: LightNote.self)
            try light.create(LightNote(title: "created", id: 101))
            try light.persist(LightNote(title: "persisted", id: 102))
            try storage.insert((103...105).map { LightNote(title: "inserted", id: $0) })
            try storage.upsert([LightNote(title: "upserted", id: 106), LightNote(title: "upserted", id: 107)])
            let titles = ["created", "persisted", "inserted", "inserted", "inserted", "upserted", "upserted"]
            let expected =
                notes
                + zip(101..., titles).map {
                    FullNote(id: $0, title: $1, body: nil, rank: 7, code: nil, tags: ["new"])
                }
            try context.renew(&database)
            try expectSame(try database.dao(FullNote.self).read(), expected)
            try checkIndexes(database, expected)
        },
        ConformanceCase(
            "E.newestDefaultIsInserted", "E6", title: "the default that was declared last is what smaller models insert",
            requires: [.evolution]
        ) { context in
            var (database, notes) = try database(context, 2)
            try database.dao(LightNote.self).create(LightNote(title: "before", id: 11))
            try context.renew(&database)
            try expectEqual(try database.dao(NoteWithNewDefault.self).read().map(\.rank), [1, 2, 7])
            try context.renew(&database)
            try database.dao(LightNote.self).create(LightNote(title: "after", id: 12))
            try context.renew(&database)
            let ranks = try database.dao(FullNote.self).read().map(\.rank)
            try expectEqual(ranks, notes.map(\.rank) + [7, 9])
            // The full model declares its own default again.
            try context.renew(&database)
            try database.dao(LightNote.self).create(LightNote(title: "again", id: 13))
            try context.renew(&database)
            try expectEqual(try database.dao(FullNote.self).read().map(\.rank).last, 7)
        },
        ConformanceCase(
            "E.retiredUniqueHolds", "E6", "W6",
            title: "a unique field stays unique for models that do not declare it", requires: [.evolution]
        ) { context in
            var database = try context.open()
            try database.dao(Ticket.self).create([Ticket(id: 1, code: "a", note: "x"), Ticket(id: 2, code: "b", note: "y")])
            try context.renew(&database)
            let light = try database.dao(LightTicket.self)
            let storage = try database.storage(for: LightTicket.self)
            try light.create(LightTicket(id: 3, note: "the default"))
            for (what, body): (String, () throws -> Void) in [
                ("create", { try light.create(LightTicket(id: 4, note: "")) }),
                ("persist", { try light.persist(LightTicket(id: 4, note: "")) }),
                ("upsert", { try storage.upsert([LightTicket(id: 4, note: "")]) }),
                ("many", { try storage.upsert([LightTicket(id: 1, note: "lost"), LightTicket(id: 4, note: "")]) }),
            ] {
                try expectError(.uniqueViolation, what, entity: "ticket", key: 4, conflictingKey: 3, field: "code") {
                    try body()
                }
            }
            // The rows that are there keep their codes, whether the default is taken or not.
            try storage.upsert([LightTicket(id: 1, note: "one"), LightTicket(id: 2, note: "two")])
            try light.persist(LightTicket(id: 3, note: "three"))
            try context.renew(&database)
            try expectSame(
                try database.dao(Ticket.self).read(),
                [
                    Ticket(id: 1, code: "a", note: "one"), Ticket(id: 2, code: "b", note: "two"),
                    Ticket(id: 3, code: "free", note: "three"),
                ])
            try context.renew(&database)
            let again = try database.dao(LightTicket.self)
            try again.erase(byPrimaryKey: 3)
            try again.create(LightTicket(id: 5, note: "the default is free again"))
        },
    ]

    private static let returns: [ConformanceCase] = [
        ConformanceCase(
            "E.comesBack", "E6", title: "a field that is declared again has its values, after reopening too",
            requires: [.evolution, .persistence]
        ) { context in
            let (first, notes) = try database(context)
            let second = try context.reopen(first)
            let light = try second.dao(LightNote.self)
            try light.persist(notes.map { LightNote(title: "new " + $0.title, id: $0.id) })
            try light.create(LightNote(title: "more", id: 100))
            var expected = notes
            for index in expected.indices { expected[index].title = "new " + notes[index].title }
            expected.append(FullNote(id: 100, title: "more", body: nil, rank: 7, code: nil, tags: ["new"]))
            let third = try context.reopen(second)
            try expectSame(try third.dao(FullNote.self).read(), expected)
            try checkIndexes(third, expected)
        },
        ConformanceCase(
            "E.orderIsTheModels", "E6", "E2", title: "models of one entity have their fields in any order",
            requires: [.evolution]
        ) { context in
            var (database, notes) = try database(context)
            let before = try database.entities()
            let other = try database.dao(ReorderedNote.self)
            try expectSame(try other.read(), notes.map { ReorderedNote($0) })
            try expectEqual(try other.read { $0.rank == 3 }.map(\.id), notes.filter { $0.rank == 3 }.map(\.id))
            try other.persist(ReorderedNote(tags: [], rank: 3, body: "b", id: 1, code: "x", title: "t"))
            try expectEqual(try database.entities(), before, "the entity")
            try context.renew(&database)
            var expected = notes
            expected[0] = FullNote(id: 1, title: "t", body: "b", rank: 3, code: "x", tags: [])
            try expectSame(try database.dao(FullNote.self).read(), expected)
            try checkIndexes(database, expected)
        },
        ConformanceCase(
            "E.renamesRetired", "E6", title: "a field that nobody declares can be renamed", requires: [.evolution]
        ) { context in
            var (database, notes) = try database(context)
            try database.dao(LightNote.self).persist(LightNote(title: "t", id: 1))
            try context.renew(&database)
            let dao = try database.dao(NoteWithText.self)
            try expectEqual(try dao.read().map(\.text), notes.map(\.body))
            try dao.persist(NoteWithText(id: 1, title: "t", text: "changed"))
            try expectEqual(try require(database.entities().first, "the entity").index(of: "body"), nil, "the old name")
            try context.renew(&database)
            // To the full model the body has been renamed, or is a field that was added beside 'text', which nobody declares.
            let error = try expectError(.schemaMismatch, entity: "note") { try database.storage(for: FullNote.self) }
            try expect(error.message.contains(".renamed(from: \"text\") at 'body'"), "the way out in: \(error.message)")
            try context.renew(&database)
            try expectEqual(
                try database.dao(NoteWithText.self).read().map(\.text), ["changed"] + notes.dropFirst().map(\.body))
        },
        ConformanceCase(
            "E.asksForTheName", "E6", "E3",
            title: "a field that goes beside a new one of its type is renamed or dropped by a word, and never without one",
            requires: [.evolution]
        ) { context in
            var (database, notes) = try context.databaseOfNotes()
            let before = try database.entities()
            func refused<Record: Model>(_ model: Record.Type, _ old: String, _ new: String) throws {
                try context.renew(&database)
                let error = try expectError(.schemaMismatch, "\(new) for \(old)", entity: "note") {
                    try database.storage(for: model)
                }
                for way in [".renamed(from: \"\(old)\") at '\(new)'", ".dropped(\"\(old)\")"] {
                    try expect(error.message.contains(way), "\(way) in: \(error.message)")
                }
                try expectEqual(try database.entities(), before, "the entity")
            }
            try refused(NoteThatRenames.self, "mark", "sign")
            try refused(NoteThatRenamesTitle.self, "title", "name")
            try context.renew(&database)
            try expectSame(try database.dao(NoteV1.self).read(), notes)
            // Both are declared: 'sign' is a new field.
            try context.renew(&database)
            try expectEqual(try database.dao(NoteWithSignToo.self).read().map(\.sign), notes.map { _ in nil })
            try context.renew(&database)
            _ = try database.dao(NoteWithSeal.self)
            try expectEqual(try database.entities().first?.fields.contains { $0.name == "mark" }, false, "the dropped field")
        },
        ConformanceCase(
            "E.returnsAsAnotherType", "E6", "E3",
            title: "a field that comes back with another type, or a name in another case, is schemaMismatch",
            requires: [.evolution]
        ) { context in
            var (database, notes) = try database(context)
            _ = try database.dao(LightNote.self)
            try context.renew(&database)
            let type = try expectError(.schemaMismatch, "another type", entity: "note") {
                try database.storage(for: NoteWithNumericBody.self)
            }
            try expect(type.message.contains("'body'"), "the field in: \(type.message)")
            let name = try expectError(.schemaMismatch, "another case", entity: "note") {
                try database.storage(for: NoteWithOtherCase.self)
            }
            try expect(name.message.contains(".renamed(from: \"body\")"), "the way out in: \(name.message)")
            try expectSame(try database.dao(FullNote.self).read(), notes)
        },
        ConformanceCase(
            "E.refusesToDropDeclared", "E6", title: "a field that is declared and dropped is invalidSchema",
            requires: [.evolution]
        ) { context in
            let database = try context.open()
            try expectError(.invalidSchema, entity: "contrary", field: "name") {
                try database.storage(for: Contrary.self)
            }
        },
    ]

    private static let others: [ConformanceCase] = [
        ConformanceCase(
            "E.storagesGoOn", "E2", "E6", title: "a storage goes on when a migration changes its entity",
            requires: [.evolution]
        ) { context in
            let (database, notes) = try context.databaseOfNotes()
            let old = try database.dao(NoteV1.self)
            let oldStorage = try database.storage(for: NoteV1.self)
            try database.evolve(Evolution(version: 1, models: [NoteWithEverything.self]))
            try expectSame(try old.read(), notes)
            try expectSame(try old.read(byPrimaryKey: 7), notes[6])
            try oldStorage.insert([NoteV1(id: 100, title: "new 100", rank: 1, mark: nil)])
            try oldStorage.upsert([
                NoteV1(id: 101, title: "new 101", rank: 1, mark: nil), NoteV1(id: 1, title: "x", rank: 1, mark: nil),
            ])
            try old.persist(NoteV1(id: 2, title: "y", rank: 1, mark: nil))
            try expectEqual(try old.erase { $0.id == 3 }, 1)
            let dao = try database.dao(NoteWithEverything.self)
            let rows = try dao.read()
            try expectEqual(rows.count, 61)
            try expect(
                rows.allSatisfy {
                    $0.most == .max && $0.text == NoteWithEverything.textValue && $0.maybe == "yes" && $0.list == [1, 2]
                },
                "every row to have the defaults")
            try expectEqual(try dao.count { $0.text == NoteWithEverything.textValue }, 61, "by an index")
            try database.evolve(Evolution(version: 2, models: [NoteWithIndexes.self]))
            try expectEqual(try old.read { $0.title == "y" }.map(\.id), [2], "when an index was added")
            try database.evolve(Evolution(version: 3, models: [NoteV1.self]))
            try expectEqual(try old.read { $0.title == "y" }.map(\.id), [2], "when an index was dropped")
        },
        ConformanceCase(
            "E.defaultNeedsNoWrite", "E2", "L1",
            title: "a model with another default opens a database that can only be read",
            requires: [.evolution, .persistence, .configuration]
        ) { context in
            let (database, notes) = try database(context)
            try database.transaction {
                try expectEqual(try database.dao(NoteWithNewDefault.self).count(), 30, "inside a transaction")
            }
            try database.close()
            var reading = try context.open { $0.isReadOnly = true }
            try expectEqual(try reading.dao(NoteWithNewDefault.self).read().map(\.rank), notes.map(\.rank))
            try reading.close()
            reading = try context.open { $0.isReadOnly = true }
            try expectSame(try reading.dao(LightNote.self).count(), 30)
        },
        ConformanceCase(
            "E.copiesRetired", "E6", "E5", title: "a copy has the fields that no model in use declares",
            requires: [.evolution]
        ) { context in
            let (source, notes) = try database(context)
            let light = try source.dao(LightNote.self)
            try light.create(LightNote(title: "more", id: 100))
            var target = try context.openOther()
            try source.copy(to: target)
            try expectEqual(try target.entities(), try source.entities())
            try target.dao(LightNote.self).create(LightNote(title: "most", id: 101))
            try context.renew(&target, other: "other")
            let expected =
                notes
                + [(100, "more"), (101, "most")].map {
                    FullNote(id: $0.0, title: $0.1, body: nil, rank: 7, code: nil, tags: ["new"])
                }
            try expectSame(try target.dao(FullNote.self).read(), expected)
            try checkIndexes(target, expected)
        },
        ConformanceCase(
            "E.migratesRetired", "E6", "E3", title: "migration steps see the fields that no model in use declares",
            requires: [.evolution]
        ) { context in
            let (database, notes) = try database(context)
            _ = try database.dao(LightNote.self)
            try database.evolve(
                Evolution(
                    version: 1,
                    migrations: [
                        Migration(to: 1) { step in
                            try step.forEachRow(of: "note") { row in row["body"] = row["title"] }
                            try step.insert([["id": .integer(100), "title": .string("t")]], into: "note")
                            try step.dropField("tags", of: "note")
                        }
                    ], models: [LightNote.self]))
            let full = try database.dao(FullNote.self).read()
            try expectEqual(full.map(\.body), notes.map(\.title) + [nil])
            try expectEqual(full.map(\.tags), (1...31).map { _ in ["new"] }, "a field that was dropped")
            try expectEqual(full.map(\.rank), notes.map(\.rank) + [7], "a default in a step")
        },
        ConformanceCase(
            "E.noPlanForSmaller", "E6", "E3", title: "a smaller model has nothing to migrate", requires: [.evolution]
        ) { context in
            let (database, _) = try database(context)
            try database.evolve(Evolution(version: 1))
            try expect(
                try database.pendingMigration(Evolution(version: 1, models: [LightNote.self, ReorderedNote.self])) == nil,
                "no plan")
            try database.evolve(Evolution(version: 1, models: [LightNote.self]))
            try expectEqual(try database.dao(FullNote.self).read { $0.body != nil }.count, 20)
        },
    ]

    /// Looks for rows by the indexes that smaller models do not declare.
    private static func checkIndexes(_ database: any Database, _ notes: [FullNote]) throws {
        let dao = try database.dao(FullNote.self)
        for rank in Set(notes.map(\.rank)) {
            try expectEqual(
                try dao.read { $0.rank == rank }.map(\.id), notes.filter { $0.rank == rank }.map(\.id), "by rank \(rank)")
        }
        for note in notes.prefix(3) {
            try expectEqual(try dao.read { $0.code == note.code }.map(\.id), [note.id], "by code")
        }
        try expectEqual(try dao.count { $0.code == nil }, notes.count { $0.code == nil }, "rows without code")
    }
}

private struct Ticket: Plain, Model, Equatable {
    var id: Int
    var code: String
    var note: String
    static let schema = Schema(
        "ticket", Self.init, Field("id", \.id, .primaryKey), Field("code", \.code, .unique, .default("free")),
        Field("note", \.note))
}

private struct LightTicket: Plain, Model, Equatable {
    var id: Int
    var note: String
    static let schema = Schema("ticket", Self.init, Field("id", \.id, .primaryKey), Field("note", \.note))
}

private struct Contrary: Plain, Model, Equatable {
    var id: Int
    var name: String
    static let schema = Schema("contrary", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name)).dropped("name")
}
