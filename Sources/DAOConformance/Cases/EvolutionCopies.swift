import DAOCore
import Dispatch

/// E5: copies into another database.
enum EvolutionCopies {
    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "E.copiesLikeKeys", "E5", "K3",
            title: "a copy has the keys that only continue the one before, wherever a step of it ends"
        ) { context in
            // Each key is the one before with a byte more, as often as a key is long.
            let keys = ["a", "b"].flatMap { start in
                (0..<80).flatMap {
                    [start + String(repeating: "\0", count: $0), start + String(repeating: "\u{1}", count: $0 + 1)]
                }
            }
            let rows = Set(keys).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { EntityA(id: $0, note: "n") }
            let (source, dao) = try context.open(with: EntityA.self)
            try dao.create(rows)
            // The smallest key of the next entity.
            let next = [EntityAB(id: "", note: "next")]
            try source.dao(EntityAB.self).create(next)
            let target = try context.openOther("copy")
            let report = try source.copy(to: target, rowLimit: 50) { _ in }
            try expectEqual(report.rows, ["A": rows.count, "AB": 1], "the rows of the report")
            try expectSame(try target.dao(EntityA.self).read(), rows, "the rows of the copy")
            try expectSame(try target.dao(EntityAB.self).read(), next, "the rows of the copy's second entity")
        },
        ConformanceCase("E.copies", "E5", "V1", title: "a copy has every row bit for bit, and the version") { context in
            let (source, notes) = try context.databaseOfNotes(2500)
            _ = try source.dao(NoteWithIndexes.self)
            try source.dao(OptionalScalars.self).create(OptionalScalars.samples)
            try source.dao(Counter.self).create([])
            try source.evolve(Evolution(version: 3))
            let target = try context.openOther()
            try target.dao(Item.self).create(Item.make([1]))
            let report = try source.copy(to: target)
            try expectEqual(report.rows, ["note": 2500, "optionals": 4, "counter": 0], "the rows of the report")
            try expectEqual(report.rowsWritten, 2504)
            try expectEqual(try target.schemaVersion, 3)
            let entities = try target.entities().sorted { $0.name < $1.name }
            try expectEqual(entities.map(\.name), ["counter", "item", "note", "optionals"])
            try expectEqual(entities[2], NoteWithIndexes.schema.description)
            let copied = try target.dao(NoteWithIndexes.self)
            try expectSame(try copied.read(), notes.map { NoteWithIndexes($0) })
            try expectEqual(try copied.read { $0.rank == 7 }.map(\.id), [1], "rows found by an index")
            try expectSame(
                try target.dao(OptionalScalars.self).read(), try source.dao(OptionalScalars.self).read(),
                "every kind of value")
            try expectError(.uniqueViolation, entity: "note", key: 9999, conflictingKey: 1, field: "title") {
                try copied.create(NoteWithIndexes(id: 9999, title: notes[0].title, rank: 0, mark: nil))
            }
            try expectSame(try target.dao(Item.self).read(), Item.make([1]), "the rows that the target had before")
        },
        ConformanceCase(
            "E.copiesDigits", "E5", "V4", "E8",
            title: "a copy and a row without types keep the digits of numbers that a field had before its type became another"
        ) { context in
            var source = try context.open()
            let lists = [Whole(id: 1, list: [.max, 1, nil]), Whole(id: 2, list: [(1 << 53) + 1])]
            try source.dao(Whole.self).persist(lists)
            try context.renew(&source)
            _ = try source.dao(Real.self)
            let rows = try source.rows(of: "digits")
            try rows.persist(try rows.read().map { row in row.entity.fields.reduce(into: [:]) { $0[$1.name] = row[$1.name] } })
            let target = try context.openOther()
            try source.copy(to: target)
            try expectEqual(try source.copy(to: target).rowsWritten, 0, "rows that a second copy writes")
            for database in [source, target] {
                try expectEqual(
                    try database.rows(of: "digits").read().map { $0["list"] },
                    [.string("[9223372036854775807,1,null]"), .string("[9007199254740993]")], "the stored numbers")
                try expectEqual(
                    try database.dao(Real.self).read().map(\.list), [[0x1p63, 1, nil], [0x1p53]],
                    "the numbers as the new type has them")
            }
        },
        ConformanceCase("E.copiesOnce", "E5", title: "a completed copy has nothing left to do") { context in
            let (source, notes) = try context.databaseOfNotes()
            let target = try context.openOther()
            try source.copy(to: target)
            let again = try source.copy(to: target)
            try expectEqual(again.rowsWritten, 0, "rows written by the second copy")
            try expectEqual(again.rows, ["note": 60])
            try expectSame(try target.dao(NoteV1.self).read(), notes)
        },
        ConformanceCase("E.copiesOlderRows", "E5", "E2", title: "older rows are copied with the default of a field") { context in
            let (source, notes) = try context.databaseOfNotes()
            _ = try source.dao(NoteWithNumber.self)
            let target = try context.openOther()
            try source.copy(to: target)
            try expectSame(try target.dao(NoteWithNumber.self).read(), notes.map { NoteWithNumber($0) })
            try expectEqual(try target.dao(NoteWithNumber.self).count { $0.color == 5 }, 60)
        },
        ConformanceCase(
            "E.copiesOfOtherRowsAreRefused", "E5",
            title: "a target with different rows, or with a different entity of the same name, is refused and unchanged"
        ) { context in
            let (source, _) = try context.databaseOfNotes()
            let target = try context.openOther()
            let rows = [NoteV1(id: 3, title: "mine", rank: 1, mark: nil)]
            try target.dao(NoteV1.self).create(rows)
            try expectError(.duplicateKey, entity: "note", key: 3, field: "id") { try source.copy(to: target) }
            try expectSame(try target.dao(NoteV1.self).read(), rows)
            let other = try context.openOther("another")
            try other.dao(NoteByTitle.self).create(NoteByTitle(id: 1, title: "a", rank: 1, mark: nil))
            try expectError(.schemaMismatch, entity: "note") { try source.copy(to: other) }
            try expectEqual(try other.dao(NoteByTitle.self).count(), 1)
            let versioned = try context.openOther("versioned")
            try versioned.evolve(Evolution(version: 2))
            try expectError(.schemaMismatch, "another version") { try source.copy(to: versioned) }
        },
        ConformanceCase(
            concurrent: "E.copiesGoOn", "E5",
            title:
                "a copy that was cancelled continues after its last batch and gives the same result as an uninterrupted copy",
            isHeavy: true
        ) { context in
            let (source, notes) = try context.databaseOfNotes(25_000)
            let target = try context.openOther()
            let task = Lock<Task<CopyReport, any Error>?>(nil)
            let isKnown = DispatchSemaphore(value: 0)
            let copy = Task(executorPreference: TaskThreads.shared) {
                try await source.copy(to: target) { _ in
                    // Cancels inside the call, so that the copy stops directly after this batch.
                    isKnown.wait()
                    task.withLock { $0 }?.cancel()
                    isKnown.signal()
                }
            }
            task.withLock { $0 = copy }
            isKnown.signal()
            do {
                _ = try await copy.value
                throw fail("a cancelled copy to throw")
            } catch is CancellationError {}
            let isThere = try await target.engineState.executor.read {
                try target.withEntityStore(.read) { try $0.count("note") }
            }
            try expect(isThere > 0 && isThere < 25_000, "some rows in the target, not \(isThere)")
            let other: any Database = try context.openOther("another")
            try await expectAsyncError(.schemaMismatch, "a copy from a different database") {
                try other.dao(Counter.self).storage.insert([Counter(id: 1, value: 1)])
                _ = try await other.copy(to: target)
            }
            let report = try await source.copy(to: target)
            try expectEqual(report.rowsWritten, 25_000 - isThere, "rows that the interrupted copy had not written")
            try expectEqual(report.rows, ["note": 25_000])
            let copied: [NoteV1] = try target.dao(NoteV1.self).storage.read(Query())
            try expectSame(copied, notes)
        },
        ConformanceCase(
            "E.copiesGoOnBeforeLinks", "E5",
            title: "a copy that ended at any step, between the rows and the links too, goes on with the rows and the lists"
        ) { context in
            struct Stop: Error {}
            let (source, agendas) = try context.open(with: Agenda.self)
            try source.dao(Person.self).create([Person(id: 1, name: "Ada"), Person(id: 2, name: "Bob")])
            let errands = (1...7).map { Errand(id: $0, owner: Reference($0 % 2 + 1)) }
            try agendas.create((1...3).map { Agenda(id: $0, errands: Array(errands[($0 * 2 - 2)...($0 * 2)])) })
            let stored = try agendas.read()
            for step in 1...100 {
                let target = try context.openOther("step-\(step)")
                var steps = 0
                do {
                    try source.copy(to: target, rowLimit: 3) { _ in
                        steps += 1
                        if steps == step { throw Stop() }
                    }
                    try expect(step > 3, "more steps than \(steps)")
                    break
                } catch is Stop {}
                try source.copy(to: target)
                try expectEqual(try target.dao(Agenda.self).read(), stored, "the rows after the end at step \(step)")
                try target.expectVerified()
                // The copy has ended: rows of its own are no part of it, and stay.
                try target.dao(Person.self).create(Person(id: 3, name: "Cy"))
                try expectError(
                    .duplicateKey, "another copy after the end at step \(step)", entity: "person", key: 3, field: "id"
                ) {
                    try source.copy(to: target)
                }
                try expectEqual(try target.dao(Person.self).count(), 3, "the rows after the refused copy")
            }
        },
        ConformanceCase(
            "E.copiesBeginAgain", "E5",
            title: "a continued copy includes the changes that the source got during the interruption"
        ) { context in
            let (source, _) = try context.databaseOfNotes(100)
            let target = try context.openOther()
            // The state after an interruption: the bookmark and the first rows.
            try target.dao(NoteV1.self).create(Array(NoteV1.make(100).prefix(40)))
            try target.withEntityStore(.write) { store in
                try store.setProperty("copy", to: source.configuration.place)
            }
            let dao = try source.dao(NoteV1.self)
            try dao.erase(byPrimaryKey: 7)
            try dao.persist(NoteV1(id: 9, title: "changed", rank: 0, mark: nil))
            try source.copy(to: target)
            try expectSame(try target.dao(NoteV1.self).read(), try dao.read())
        },
    ].requiring(.evolution)
}

/// An entity whose numbers are whole.
private struct Whole: Numbered {
    var id: Int
    var list: [Int?]

    static let schema = Schema("digits", Self.init, Field("id", \.id, .primaryKey), Field("list", \.list))
}

/// The entity of ``Whole`` with other numbers.
private struct Real: Numbered {
    var id: Int
    var list: [Double?]

    static let schema = Schema("digits", Self.init, Field("id", \.id, .primaryKey), Field("list", \.list))
}
