import DAOCore

/// E2: declared renames.
enum EvolutionRenames {
    static let cases: [ConformanceCase] = [
        ConformanceCase("E.renames", "E2", title: "a renamed field keeps its values, also with a new index") { context in
            let (database, notes) = try context.databaseOfNotes()
            let dao = try database.dao(NoteWithHeadline.self)
            try expectSame(try dao.read(), notes.map(headline))
            try expectEqual(try dao.read { $0.headline == notes[8].title }.map(\.id), [9])
            try dao.create(NoteWithHeadline(id: 100, headline: "new", rank: 1, mark: nil))
            try expectEqual(try database.entities(), [NoteWithHeadline.schema.description])
        },
        ConformanceCase("E.renamesTwice", "E2", title: "a field renamed twice is found under both earlier names") { context in
            var (database, notes) = try context.databaseOfNotes()
            let expected = notes.map { NoteWithCaption(id: $0.id, caption: $0.title, rank: $0.rank, mark: $0.mark) }
            _ = try database.dao(NoteWithHeadline.self)
            try context.renew(&database)
            let dao = try database.dao(NoteWithCaption.self)
            try expectSame(try dao.read(), expected, "rows opened from the second version")
            try expectEqual(try dao.read { $0.caption == notes[8].title }.map(\.id), [9], "rows found by the renamed index")
            var other = try context.openOther()
            try other.dao(NoteV1.self).create(notes)
            try context.renew(&other, other: "other")
            try expectSame(try other.dao(NoteWithCaption.self).read(), expected, "rows opened from the first version")
        },
        ConformanceCase("E.renamesAndReuses", "E2", title: "a new field with a name that was freed is empty") { context in
            let (database, notes) = try context.databaseOfNotes()
            let expected = notes.map {
                NoteWithReusedName(id: $0.id, title: nil, headline: $0.title, rank: $0.rank, mark: $0.mark)
            }
            try expectSame(try database.dao(NoteWithReusedName.self).read(), expected)
            let dao = try database.dao(NoteWithReusedName.self)
            try expectSame(try dao.read(), expected, "rows without a pending rename")
            try dao.persist(NoteWithReusedName(id: 1, title: "a", headline: "b", rank: 1, mark: nil))
            try expectEqual(try database.dao(NoteWithReusedName.self).read { $0.title == "a" }.map(\.headline), ["b"])
        },
        ConformanceCase(
            "E.renamesInTurn", "E2",
            title: "several fields, including the key, that take over each other's names keep their values"
        ) { context in
            let (database, notes) = try context.databaseOfNotes()
            let dao = try database.dao(NoteWithShiftedNames.self)
            try expectSame(
                try dao.read(),
                notes.map { NoteWithShiftedNames(number: $0.id, mark: $0.title, title: $0.rank, note: $0.mark) })
            try expectEqual(try dao.read(byPrimaryKey: 5)?.mark, notes[4].title)
            try dao.persist(NoteWithShiftedNames(number: 5, mark: "m", title: 1, note: nil))
            try expectEqual(try dao.read { $0.mark == "m" }.map(\.number), [5])
        },
        ConformanceCase(
            "E.renameWithoutWord", "E2",
            title: "without a declared rename, a changed name is one added and one dropped field"
        ) { context in
            var (database, notes) = try context.databaseOfNotes()
            _ = try database.dao(NoteWithReusedName.self)
            try context.renew(&database)
            // For the first version, 'headline' is an additional field, and 'title' is the new field with
            // the old name.
            let error = try expectError(.schemaMismatch, entity: "note") { try database.storage(for: NoteV1.self) }
            try expect(error.message.contains("'title'"), "the field in: \(error.message)")
            try expectEqual(try database.dao(NoteWithReusedName.self).read().map(\.headline), notes.map(\.title))
        },
    ].requiring(.evolution)

    private static func headline(_ note: NoteV1) -> NoteWithHeadline {
        NoteWithHeadline(id: note.id, headline: note.title, rank: note.rank, mark: note.mark)
    }
}
