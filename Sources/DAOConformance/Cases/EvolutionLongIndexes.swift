import DAOCore

/// E2 and E6: indexes over several fields that are added, dropped and changed.
enum EvolutionLongIndexes {
    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "E.longIndexes", "E2", "Q9", title: "an index over several fields is added, follows renames, changes and is dropped"
        ) { context in
            var (database, notes) = try context.databaseOfNotes(400)
            func expected(_ query: Query<NoteV1>) throws -> [Int] { try query.resolved().evaluate(over: notes).map(\.id) }
            let dao = try database.dao(NoteWithLongIndex.self)
            try expectEqual(try database.entities(), [NoteWithLongIndex.schema.description], "the entities")
            try expectEqual(
                try dao.read(orderedBy: .descending(\.mark)) { $0.rank == 7 }.map(\.id),
                try expected(Query(where: Condition { $0.rank == 7 }, orderedBy: [.descending(\.mark)])))
            notes[10].rank = 7
            try dao.persist(NoteWithLongIndex(notes[10]))
            try context.renew(&database)
            let other = try database.dao(NoteWithOtherLongIndex.self)
            try expectEqual(try database.entities(), [NoteWithOtherLongIndex.schema.description], "the entities")
            for rank in [7, 11] {
                try expectEqual(
                    try other.read(orderedBy: .ascending(\.sign)) { $0.rank == rank }.map(\.id),
                    try expected(Query(where: Condition { $0.rank == rank }, orderedBy: [.ascending(\.mark)])))
            }
            try expectError(
                .uniqueViolation, "the index that is unique now", entity: "note", key: 900, conflictingKey: 1,
                field: "sign, headline"
            ) {
                try other.create(
                    NoteWithOtherLongIndex(id: 900, headline: notes[0].title, rank: 1, sign: notes[0].mark))
            }
            try other.create(NoteWithOtherLongIndex(id: 900, headline: notes[1].title, rank: 1, sign: notes[0].mark))
        },
        ConformanceCase("E.dropsLongIndexes", "E2", "Q9", title: "an index that is not declared any longer is dropped") {
            context in
            var (database, notes) = try context.databaseOfNotes()
            _ = try database.dao(NoteWithLongIndex.self)
            try context.renew(&database)
            let dao = try database.dao(NoteV1.self)
            try expectEqual(try database.entities(), [NoteV1.schema.description], "the entities")
            try dao.erase { $0.id <= 10 }
            notes.removeFirst(10)
            notes[0].rank = 5000
            try dao.persist(notes[0])
            try context.renew(&database)
            let again = try database.dao(NoteWithLongIndex.self)
            try expectEqual(try again.read { $0.rank == 5000 }.map(\.id), [11])
            try expectEqual(try again.count { $0.rank >= 0 }, 50)
            try expectEqual(
                try again.read { $0.mark == nil && $0.title > "Title 2" }.map(\.id),
                notes.filter { $0.mark == nil && $0.title > "Title 2" }.map(\.id))
        },
        ConformanceCase(
            "E.refusesCollidingLongIndex", "E2", "W6",
            title: "an index over several fields cannot become unique over equal rows: uniqueViolation, and nothing changes"
        ) { context in
            var (database, notes) = try context.databaseOfNotes()
            (notes[40].title, notes[40].mark) = ("same", "same")
            (notes[30].title, notes[30].mark) = ("same", "same")
            (notes[2].title, notes[5].title) = ("nil", "nil")
            try database.dao(NoteV1.self).persist(notes)
            let before = try database.entities()
            try context.renew(&database)
            try expectError(.uniqueViolation, entity: "note", key: 41, conflictingKey: 31, field: "sign, headline") {
                try database.storage(for: NoteWithOtherLongIndex.self)
            }
            try expectEqual(try database.entities(), before, "the entities")
            try expectSame(try database.dao(NoteV1.self).read(), notes)
            try database.dao(NoteV1.self).erase(byPrimaryKey: 41)
            try context.renew(&database)
            try expectEqual(try database.dao(NoteWithOtherLongIndex.self).count(), 59)
        },
        ConformanceCase(
            "E.longIndexOfRetired", "E6", "W6",
            title: "an index over several fields of which a smaller model lacks one stays in force", requires: [.evolution]
        ) { context in
            var database = try context.open()
            try database.dao(Seat.self).create((1...20).map { Seat(id: $0, row: $0 % 4, number: $0 / 4, name: "\($0)") })
            let before = try database.entities()
            try context.renew(&database)
            let light = try database.dao(LightSeat.self)
            try expectEqual(try database.entities(), before, "the entities")
            try expectError(.uniqueViolation, entity: "seat", key: 5, conflictingKey: 1, field: "row, number") {
                try light.persist(LightSeat(id: 5, number: 0))
            }
            try light.persist(LightSeat(id: 5, number: 77))
            try light.erase(byPrimaryKey: 9)
            try context.renew(&database)
            let dao = try database.dao(Seat.self)
            try expectEqual(try dao.read { $0.row == 1 && $0.number > 1 }.map(\.id), [5, 13, 17])
            try expectEqual(try dao.read(byPrimaryKey: 5), Seat(id: 5, row: 1, number: 77, name: "5"))
        },
        ConformanceCase("E.longIndexSteps", "E3", "Q9", title: "migration steps add, change and drop such an index") { context in
            let (database, _) = try context.databaseOfNotes()
            let index = IndexDescription([IndexedField("rank"), IndexedField("title", isAscending: false)])
            let unique = IndexDescription(index.fields, isUnique: true)
            try database.evolve(
                Evolution(
                    version: 1,
                    migrations: [
                        Migration(to: 1) { step in
                            try step.addIndex(index, to: "note")
                            try expectEqual(try step.entity("note").indexes, [index])
                            try step.addIndex(unique, to: "note")
                            try expectEqual(try step.entity("note").indexes, [unique])
                            try step.renameField("title", of: "note", to: "headline")
                            try step.forEachRow(of: "note") { $0["rank"] = .integer(3) }
                        }
                    ]))
            let fields = [IndexedField("rank"), IndexedField("headline", isAscending: false)]
            try expectEqual(try database.entities().first?.indexes, [IndexDescription(fields, isUnique: true)])
            try expectError(.uniqueViolation, entity: "note", key: 2, conflictingKey: 1, field: "rank, headline") {
                try database.evolve(
                    Evolution(
                        version: 2,
                        migrations: [
                            Migration(to: 2) { try $0.forEachRow(of: "note") { $0["headline"] = .string("same") } }
                        ]))
            }
            try database.evolve(
                Evolution(
                    version: 2,
                    migrations: [
                        Migration(to: 2) { step in
                            try expectError(.schemaMismatch, "another index", entity: "note", field: "rank, title") {
                                try step.dropIndex(index, of: "note")
                            }
                            try step.dropIndex(IndexDescription(fields), of: "note")
                            try step.forEachRow(of: "note") { $0["headline"] = .string("same") }
                            try step.addIndex(IndexDescription(fields), to: "note")
                            try step.dropField("rank", of: "note")
                        }
                    ]))
            try expectEqual(try database.entities().first?.indexes, [], "the indexes without their field")
            try expectEqual(try database.entities().first?.fields.map(\.name), ["id", "headline", "mark"])
        },
        ConformanceCase("E.copiesLongIndexes", "E5", "W6", title: "a copy has the indexes over several fields") { context in
            let source = try context.open()
            let seats = (1...30).map { Seat(id: $0, row: $0 % 4 == 0 ? nil : $0 % 4, number: $0, name: "\($0)", hall: "h") }
            try source.dao(Seat.self).create(seats)
            let target = try context.openOther()
            try source.copy(to: target)
            try expectEqual(try target.entities(), [Seat.schema.description], "the entities")
            let dao = try target.dao(Seat.self)
            try expectSame(try dao.read { $0.row == 3 && $0.number > 10 }, seats.filter { $0.row == 3 && $0.number > 10 })
            try expectError(.uniqueViolation, entity: "seat", key: 99, conflictingKey: 1, field: "row, number") {
                try dao.create(Seat(id: 99, row: 1, number: 1))
            }
        },
    ].requiring(.evolution)
}
