import DAOCore

/// E6: one declaration of an entity is open.
enum EvolutionDeclarations {
    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "E.oneDeclarationIsOpen", "E6",
            title: "while a declaration is open, a different one is schemaMismatch with both types, and changes nothing"
        ) { context in
            let database = try context.open()
            let notes = FullNote.make(5)
            let full = try database.dao(FullNote.self)
            try full.create(notes)
            let before = try database.entities()
            let other = try context.open()
            for (what, handle) in [("the same database", database), ("another database", other)] {
                try refuses(what, LightNote.self, beside: "FullNote", in: handle)
                try refuses("other defaults", NoteWithNewDefault.self, beside: "FullNote", in: handle)
                try refuses("another order", ReorderedNote.self, beside: "FullNote", in: handle)
                try refuses("dropped fields", FullNoteThatDrops.self, beside: "FullNote", in: handle)
            }
            try database.transaction { try refuses("a transaction", LightNote.self, beside: "FullNote", in: database) }
            try expectEqual(try other.entities(), before, "the entity")
            try expectSame(try full.read(), notes)
            try expectSame(try other.dao(FullNote.self).read(), notes, "the same type in another database")
            try expectSame(try other.dao(TwinNote.self).count(), 5, "a type that declares the same")
        },
        ConformanceCase(
            "E.closesDeclarations", "E6",
            title: "a declaration is open until the last database that was asked for it is closed or released"
        ) { context in
            // It keeps a database in memory, and counts for nothing.
            let keeper = try context.open()
            let first = try context.open()
            let second = try context.open()
            try first.dao(TwinNote.self).create([])
            _ = try second.storage(for: FullNote.self)
            try first.close()
            try refuses("one of two", ReorderedNote.self, beside: "FullNote", in: keeper)
            try expectError(.closed, "the closed one", path: context.path) { try first.storage(for: ReorderedNote.self) }
            try second.close()
            let third = try context.open()
            _ = try third.storage(for: FullNote.self)
            try third.close()
            // A database that is no longer used is closed.
            try expectEqual(try context.openUnkept().dao(FullNote.self).count(), 0)
            try expectEqual(try keeper.dao(TwinNote.self).count(), 0)
            try refuses("the last one", ReorderedNote.self, beside: "TwinNote", in: keeper)
        },
        ConformanceCase(
            "E.opensOtherDeclarations", "E6",
            title: "when every database with a declaration is closed, a different one can be open", requires: [.evolution]
        ) { context in
            let keeper = try context.open()
            let first = try context.open()
            _ = try first.storage(for: FullNote.self)
            try first.close()
            let second = try context.open()
            try expectEqual(try second.dao(ReorderedNote.self).count(), 0)
            try refuses("the one before", FullNote.self, beside: "ReorderedNote", in: keeper)
            try second.close()
            try expectEqual(try context.openUnkept().dao(FullNote.self).count(), 0, "for a moment")
            try expectEqual(try keeper.dao(ReorderedNote.self).count(), 0)
        },
        ConformanceCase(
            "E.failedDeclarationIsNotOpen", "E6", title: "a declaration whose storage could not be had is not open",
            requires: [.evolution]
        ) { context in
            let (database, notes) = try context.databaseOfNotes()
            try expectError(.schemaMismatch, entity: "note") { try database.storage(for: NoteWithTextRank.self) }
            try database.transaction {
                _ = try expectError(.invalidTransaction, entity: "note") { try database.storage(for: NoteWithNumber.self) }
            }
            try expectSame(try database.dao(NoteV1.self).read(), notes)
        },
        ConformanceCase(
            "E.declarationsOfRelated", "E6", title: "a related model counts as one that was asked for, on both sides"
        ) { context in
            let database = try context.open()
            _ = try database.storage(for: Shelf.self)
            let before = try database.entities()
            let mixed = try context.openOther()
            try refuses("the related model", LightVolume.self, beside: "Volume", in: database)
            for (what, refused): (String, () throws -> Void) in [
                ("a relationship to another type", { _ = try database.storage(for: OtherShelf.self) }),
                ("both in one model", { _ = try mixed.storage(for: MixedShelf.self) }),
            ] {
                let error = try expectError(.schemaMismatch, what, entity: "volume") { try refused() }
                try expect(
                    error.message.contains(".Volume'") && error.message.contains(".LightVolume'"), "both in: \(error.message)")
            }
            try expectEqual(try database.entities(), before, "the entities")
            try expectEqual(try mixed.entities().count, 0, "the entities of the other database")
            // What was refused has left nothing open.
            try expectEqual(try mixed.dao(LightVolume.self).count(), 0)
        },
        ConformanceCase(
            "E.migrationsOpenDeclarations", "E6", "E3",
            title: "when a migration has changed an entity, it can be declared differently", requires: [.evolution]
        ) { context in
            let (database, notes) = try context.databaseOfNotes()
            let old = try database.dao(NoteV1.self)
            try refuses("before", NoteWithOptional.self, beside: "Note<", in: database)
            try database.evolve(Evolution(version: 1))
            try refuses("a migration of nothing", NoteWithOptional.self, beside: "Note<", in: database)
            try database.evolve(Evolution(version: 2, models: [NoteWithOptional.self]))
            try expectSame(try database.dao(NoteWithOptional.self).read(), notes.map { NoteWithOptional($0) })
            try expectSame(try old.read(), notes, "the storage before")
            try expectError(.schemaMismatch, "the declaration before", entity: "note") {
                try database.storage(for: NoteV1.self)
            }
        },
    ]

    /// Expects that a model is refused beside an open one, with the names of both.
    private static func refuses<Record: Model>(
        _ what: String, _ model: Record.Type, beside open: String, in database: any Database
    ) throws {
        let error = try expectError(.schemaMismatch, what, entity: model.schema.description.name) {
            try database.storage(for: model)
        }
        for name in [open, "\(model)"] {
            try expect(error.message.contains(".\(name)"), "'\(name)' in: \(error.message)")
        }
    }
}

/// Declares what ``FullNote`` declares.
private struct TwinNote: Plain, Model, Equatable {
    var id: Int
    var title: String
    var body: String?
    var rank: Int
    var code: String?
    var tags: [String]

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("body", \.body),
        Field("rank", \.rank, .default(7), .indexed), Field("code", \.code, .unique), Field("tags", \.tags, .default(["new"])))
}

/// Declares what ``FullNote`` declares, and drops a field that is not stored.
struct FullNoteThatDrops: Plain, Model, Equatable {
    var id: Int
    var title: String
    var body: String?
    var rank: Int
    var code: String?
    var tags: [String]

    static let schema = Schema(
        "note", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("body", \.body),
        Field("rank", \.rank, .default(7), .indexed), Field("code", \.code, .unique), Field("tags", \.tags, .default(["new"]))
    ).dropped("mark")
}

private struct Volume: Plain, Model {
    var id: Int
    var title: String?
    static let schema = Schema("volume", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title))
}

struct LightVolume: Plain, Model {
    var id: Int
    static let schema = Schema("volume", Self.init, Field("id", \.id, .primaryKey))
}

private struct Shelf: Plain, Model {
    var id: Int
    var volumes: [Volume]
    static let schema = Schema("shelf", Self.init, Field("id", \.id, .primaryKey), Field("volumes", \.volumes, .owned))
}

private struct OtherShelf: Plain, Model {
    var id: Int
    var volumes: [LightVolume]
    static let schema = Schema("otherShelf", Self.init, Field("id", \.id, .primaryKey), Field("volumes", \.volumes, .owned))
}

private struct MixedShelf: Plain, Model {
    var id: Int
    var volumes: [Volume]
    var first: LightVolume?
    static let schema = Schema(
        "mixedShelf", Self.init, Field("id", \.id, .primaryKey), Field("volumes", \.volumes, .owned),
        Field("first", \.first, .owned))
}
