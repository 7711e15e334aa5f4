import DAOCore

/// E2: added and dropped indexes and unique fields.
enum EvolutionIndexes {
    static let cases: [ConformanceCase] = [
        ConformanceCase("E.addsIndexes", "E2", title: "a new index contains every row, and follows later writes") { context in
            let (database, notes) = try context.databaseOfNotes(1500)
            let dao = try database.dao(NoteWithIndexes.self)
            try expectSame(try dao.read(), notes.map { NoteWithIndexes($0) })
            try check(dao, notes.map { NoteWithIndexes($0) })
            try dao.erase { $0.rank >= 1000 }
            var rows = notes.map { NoteWithIndexes($0) }.filter { $0.rank < 1000 }
            rows[0].rank = 5000
            rows[1].title = "Other"
            try dao.persist(rows[0...1].map { $0 })
            try check(dao, rows)
            try expectEqual(try database.entities(), [NoteWithIndexes.schema.description])
        },
        ConformanceCase(
            "E.addsIndexOfManyTexts", "E2", "Q9",
            title: "an index that is added to thousands of rows has each of them, also where a key begins with the one before",
            isHeavy: true
        ) { context in
            for first in [[], ["0"]] {
                let place = "first-\(first.count)"
                var database: any Database = try context.openOther(place)
                // Every second key begins with the one before. With another one in front, these are the others.
                let ids = first + (10_000..<12_100).flatMap { ["\($0)", "\($0)a"] }
                try database.dao(Word.self).create(ids.map { Word(id: $0, text: "t\($0)") })
                try context.renew(&database, other: place)
                let words = try database.dao(IndexedWord.self)
                try expectEqual(try words.read(orderedBy: .ascending(\.text)).map(\.id), ids, "the rows by the new index")
                try expectEqual(try words.count { $0.text >= "t" && $0.text < "u" }, ids.count, "the number of rows")
                try database.expectVerified()
            }
        },
        ConformanceCase(
            "E.dropsIndexes", "E2",
            title: "a dropped index keeps the rows; an index that is added again contains the changes made in between"
        ) { context in
            var (database, notes) = try context.databaseOfNotes()
            _ = try database.dao(NoteWithIndexes.self)
            try context.renew(&database)
            let plain = try database.dao(NoteV1.self)
            try expectSame(try plain.read(), notes)
            try expectEqual(try database.entities(), [NoteV1.schema.description])
            try plain.erase { $0.id <= 10 }
            var changed = notes[20]
            (changed.rank, changed.title) = (7000, notes[5].title)
            try plain.persist(changed)
            var rows = notes.dropFirst(10).map { NoteWithIndexes($0) }
            rows[10] = NoteWithIndexes(changed)
            try context.renew(&database)
            try check(try database.dao(NoteWithIndexes.self), rows)
        },
        ConformanceCase(
            "E.addsUnique", "E2", "W6",
            title: "a field may become unique when no rows collide; any number of rows may hold nil"
        ) { context in
            let (database, notes) = try context.databaseOfNotes()
            let dao = try database.dao(NoteWithIndexes.self)
            try expectError(.uniqueViolation, entity: "note", key: 100, conflictingKey: 7, field: "title") {
                try dao.create(NoteWithIndexes(id: 100, title: notes[6].title, rank: 1, mark: nil))
            }
            try dao.create(NoteWithIndexes(id: 101, title: "new", rank: 1, mark: nil))
        },
        ConformanceCase(
            "E.refusesCollidingUnique", "E2", "W6",
            title: "a field with equal values cannot become unique: uniqueViolation with both keys, and nothing changes"
        ) { context in
            var (database, notes) = try context.databaseOfNotes()
            var rows = notes
            (rows[40].mark, rows[50].mark, rows[30].mark) = ("same", "same", "same")
            try database.dao(NoteV1.self).persist(rows)
            try context.renew(&database)
            try expectError(.uniqueViolation, entity: "note", key: 41, conflictingKey: 31, field: "mark") {
                try database.storage(for: NoteWithIndexes.self)
            }
            try expectEqual(try database.entities(), [NoteV1.schema.description], "the description in the catalog")
            let dao = try database.dao(NoteV1.self)
            try expectSame(try dao.read(), rows)
            try dao.erase(byPrimaryKeys: [41, 51])
            try context.renew(&database)
            try check(
                try database.dao(NoteWithIndexes.self),
                rows.filter { $0.id != 41 && $0.id != 51 }.map { NoteWithIndexes($0) })
        },
        ConformanceCase("E.dropsUnique", "E2", title: "a field that is no longer unique accepts equal values") { context in
            var (database, notes) = try context.databaseOfNotes()
            _ = try database.dao(NoteWithIndexes.self)
            try context.renew(&database)
            let dao = try database.dao(NoteV1.self)
            try dao.create(NoteV1(id: 100, title: notes[0].title, rank: 0, mark: notes[0].mark))
            try expectEqual(try dao.read { $0.title == notes[0].title }.map(\.id), [1, 100])
        },
    ].requiring(.evolution)

    /// Reads rows through each index and without an index.
    private static func check(_ dao: DAO<NoteWithIndexes>, _ rows: [NoteWithIndexes]) throws {
        for query in [
            Query<NoteWithIndexes>(where: Condition { $0.rank > 20 && $0.rank <= 300 }),
            Query(where: Condition { $0.title >= "Title 3" }), Query(where: Condition { $0.mark == nil }),
            Query(orderedBy: [.descending(\.rank)], limit: 17), Query(orderedBy: [.ascending(\.mark)]),
            Query(orderedBy: [.ascending(\.title)]), Query(where: Condition { $0.rank == 5000 || $0.rank == 7000 }),
        ] {
            try expectSame(try dao.read(query), try query.resolved().evaluate(over: rows), "rows by an index")
        }
    }
}

/// A row whose key is a text.
private struct Word: Plain, Model {
    var id: String
    var text: String

    static let schema = Schema("word", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text))
}

/// A later version of it.
private struct IndexedWord: Plain, Model {
    var id: String
    var text: String

    static let schema = Schema("word", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text, .indexed))
}
