import DAOCore
import Foundation

/// Rules of different chapters that meet, as the table in `Docs/RulePairs.md` has them; and rules on the second level: rows below the
/// rows that are given, and rows that something else holds too.
enum Pairs {
    static let cases: [ConformanceCase] = observing + compacting + grouping + unique + secondLevel + afterFailures

    private static let observing: [ConformanceCase] = [
        ConformanceCase(
            concurrent: "O.beginsBesideATransaction", "O1", "O2", "T1",
            title: "an observation that begins while a transaction runs sees its commit, and nothing of one that is undone",
            requires: [.snapshotReads, .savepoints]
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try await dao.create(Item.make([1]))
            for isUndone in [true, false, false] {
                let (hasWritten, mayEnd) = (Signal(), Signal())
                let before = try await dao.read().map(\.id)
                let writer = Background {
                    do {
                        try database.transaction {
                            try dao.create(Item(id: before.count + 1, name: "late"))
                            // A savepoint that is undone is no part of the commit.
                            try expectDeliberate {
                                try database.transaction {
                                    try dao.create(Item(id: 99, name: "undone"))
                                    throw DeliberateError()
                                }
                            }
                            hasWritten.send()
                            try expect(mayEnd.wait(), "the observation to begin")
                            if isUndone { throw DeliberateError() }
                        }
                    } catch is DeliberateError {}
                }
                try expect(hasWritten.wait(), "the transaction to write")
                var rows = Observations.Results(dao.observe())
                var counts = Observations.Results(database.observe { try dao.count() })
                let (first, count) = (try await rows.next("the first rows"), try await counts.next("the first count"))
                try expectEqual(first.map(\.id), before, "the rows of the last commit")
                try expectEqual(count, before.count, "the count of the last commit")
                mayEnd.send()
                try writer.wait()
                // The next result is that of the transaction, or of the commit that follows an undone one.
                if isUndone { try await dao.create(Item(id: before.count + 1, name: "after")) }
                let ids = try await rows.next("the rows after the commit").map(\.id)
                try expectEqual(ids, before + [before.count + 1], "the rows after the commit, undone before: \(isUndone)")
                let next = try await counts.next("the count after the commit")
                try expectEqual(next, before.count + 1, "the count after the commit")
            }
        }
    ]

    private static let compacting: [ConformanceCase] = [
        ConformanceCase(
            "L.compactMoved", "L11", "L8",
            title: "a file that was moved is not made smaller at its old path, and keeps every row",
            requires: [.file]
        ) { context in
            let file = try context.file()
            let moved = file.appendingPathExtension("moved")
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make(1...500))
            // A database without a compaction of its own has nothing to give back, wherever its file is.
            let isCompactable = try database.compact().bytesBefore > 0
            try dao.erase { $0.id > 100 }
            try FileManager.default.moveItem(at: file, to: moved)
            if isCompactable { try expectError(.detached, "a compaction", path: file.path) { try database.compact() } }
            try expectError(.detached, "a write", path: file.path) { try dao.create(Item.make([501])) }
            try database.close()
            try expect(!FileManager.default.fileExists(atPath: file.path), "no file at the old path")
            try FileManager.default.moveItem(at: moved, to: file)
            try expectEqual(try context.dao(Item.self).read().map(\.id), Array(1...100))
        },
        ConformanceCase(
            "L.compactBesideASnapshot", "L11", "T3", "Q6",
            title: "a snapshot and a stream go on with their rows while the file is made smaller beside them, or it says busy",
            requires: [.snapshotReads]
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create(Item.make(1...600))
            let cursor = try dao.storage.cursor(Query())
            var streamed = try cursor.next(10).map(\.id)
            try database.snapshot {
                let before = try dao.read()
                let other = Background {
                    try dao.erase { $0.id > 300 }
                    do { _ = try database.compact() } catch let error as StorageError where error.kind == .busy {}
                    try dao.create(Item.make(601...650))
                }
                try other.wait(seconds: 30, "the compaction beside a snapshot")
                try expectSame(try dao.read(), before, "the rows of the snapshot")
                try expectEqual(try dao.count { $0.number > 3000 }, 300, "the rows of the snapshot by an index")
            }
            while case let batch = try cursor.next(100), !batch.isEmpty { streamed += batch.map(\.id) }
            cursor.close()
            try expectEqual(streamed, Array(1...600), "the rows of the stream")
            try expectEqual(try dao.read().map(\.id), Array(1...300) + Array(601...650), "the rows afterwards")
            _ = try database.compact()
            try expectEqual(try dao.count { $0.number > 3000 }, 50, "the rows by an index after a compaction")
        },
    ]

    private static let grouping: [ConformanceCase] = [
        ConformanceCase(
            "Q.groupsBesideAWriter", "Q11", "Q7", "T3",
            title: "the groups of one call, their first rows and their totals belong to one commit", requires: [.snapshotReads]
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            // Every commit moves one row to the next group: there are always 60 rows, and their numbers have one sum.
            try dao.create((0..<60).map { Item(id: $0, name: "n", number: $0 % 5) })
            let isDone = Shared(false)
            let writer = Background {
                var step = 0
                while !isDone.value {
                    let id = step % 60
                    try database.transaction(retrying: database.retries) {
                        let item = try require(try dao.read(byPrimaryKey: id), "the row")
                        let partner = try require(try dao.read { $0.number == (item.number + 1) % 5 }.last, "a partner")
                        try dao.persist([
                            Item(id: id, name: "n", number: partner.number), Item(id: partner.id, name: "n", number: item.number),
                        ])
                    }
                    step += 1
                }
            }
            defer { isDone.change { $0 = true } }
            for round in 0..<60 {
                let groups = try dao.groups(by: \.number, first: 60)
                try expectEqual(groups.map(\.0), Array(0..<5), "the groups in round \(round)")
                for (number, rows) in groups {
                    try expectEqual(rows.count, 12, "the rows of group \(number)")
                    try expect(rows.allSatisfy { $0.number == number }, "rows of group \(number) only")
                }
                try expectEqual(groups.flatMap { $0.1.map(\.id) }.sorted(), Array(0..<60), "each row once")
                let few = try dao.groups(by: \.number, first: 2, orderedBy: .descending(\.id))
                try expect(few.allSatisfy { $0.1.count == 2 && $0.1[0].id > $0.1[1].id }, "the first two of each group: \(few)")
                let totals = try dao.groups(by: \.number, totals: .count)
                try expectEqual(totals.map(\.1), Array(repeating: 12, count: 5), "the totals")
            }
            isDone.change { $0 = true }
            try writer.wait(seconds: 30, "the writer")
        },
        ConformanceCase(
            "Q.groupsBesideATranslator", "Q11", "T3",
            title: "the first rows of all groups belong to one commit, also when a translator lets another thread write",
            requires: [.snapshotReads]
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try dao.create((0..<30).map { Item(id: $0, name: "n", number: $0 % 3) })
            let hasErased = Shared(false)
            let reading = DAO(
                storage: try database.storage(for: Item.self),
                translator: ReadingTranslator { _ in
                    if hasErased.change({ erased in
                        defer { erased = true }; return erased
                    }) {
                        return
                    }
                    try Background { try dao.erase { $0.number > 0 } }.wait(seconds: 30, "an erasure")
                })
            let groups = try reading.groups(by: \.number, first: 2)
            try expectEqual(groups.map { $0.1.map(\.id) }, [[0, 3], [1, 4], [2, 5]], "the first rows of each group")
            try expectEqual(try reading.groups(by: \.number, first: 1).map { $0.1.map(\.id) }, [[0]], "the groups afterwards")
        },
    ]

    private static let unique: [ConformanceCase] = [
        ConformanceCase(
            "W.uniqueBesideAPartial", "W6", "Q9",
            title:
                "an error never names a partial unique index whose condition the row does not meet, whatever the order of the two"
        ) { context in
            func check<Pass: Model & Plain>(_ type: Pass.Type, _ make: (Int, Bool) -> Pass) throws {
                let entity = type.schema.description.name
                let dao = try context.dao(type)
                try dao.create(make(1, true))
                try expectError(
                    .uniqueViolation, "a row that both indexes could refuse", entity: entity, key: 2, conflictingKey: 1,
                    field: "email, name"
                ) { try dao.create(make(2, false)) }
                try expectError(
                    .uniqueViolation, "a row among others", entity: entity, key: 2, conflictingKey: 1, field: "email, name"
                ) { try dao.persist([make(2, false)]) }
                try expectEqual(try dao.count(), 1, "the rows")
            }
            try check(PassByCity.self) { PassByCity(id: $0, email: "e", city: "c", name: "n", isActive: $1) }
            try check(PassByName.self) { PassByName(id: $0, email: "e", city: "c", name: "n", isActive: $1) }
        },
        ConformanceCase(
            "W.uniqueAfterACaughtOne", "W6", "T2", "R1",
            title: "after a refusal that a transaction has caught, rows with lists still exchange their unique values",
            requires: [.savepoints]
        ) { context in
            let (database, dao) = try context.open(with: Queue.self)
            let queues = (1...3).map { Queue(id: $0, name: "\($0)", entries: [QueueEntry(id: $0, rank: $0)]) }
            try dao.create(queues)
            try database.transaction {
                var queues = try dao.read()
                try expectEqual(queues.map(\.entries.count), [1, 1, 1], "the lengths of the lists")
                for round in 1...2 {
                    var refused = queues[0]
                    refused.name = "3"
                    try expectError(.uniqueViolation, "round \(round)", entity: "queue", key: 1, conflictingKey: 3, field: "name")
                    {
                        try dao.persist([refused])
                    }
                    refused = queues[0]
                    refused.entries[0].rank = 3
                    try expectError(
                        .uniqueViolation, "a row below in round \(round)", entity: "queueEntry", key: 1, conflictingKey: 3,
                        field: "rank"
                    ) { try dao.persist([refused]) }
                }
                for (place, other) in [(0, 2), (1, 1)] {
                    queues[place].name = "\(other)"
                    (queues[place].entries[0].rank, queues[place].entries[0].note) = (other, "traded")
                }
                try dao.persist(Array(queues.prefix(2)))
                try expectEqual(try dao.read().map(\.name), ["2", "1", "3"], "the names in the transaction")
            }
            try expectEqual(try dao.read().map(\.name), ["2", "1", "3"], "the names")
            try expectEqual(try dao.read().flatMap { $0.entries.map(\.rank) }, [2, 1, 3], "the ranks")
            try expectEqual(try dao.read().flatMap { $0.entries.map(\.note) }, ["traded", "traded", ""], "the notes")
        },
        ConformanceCase(
            "W.uniquePartialMerged", "W6", "W2", "T2", "Q9",
            title: "the error of a partial unique index names its fields, whatever makes a row meet its condition",
            requires: [.savepoints]
        ) { context in
            let (database, dao) = try context.open(with: Tenant.self)
            let storage = try database.storage(for: Tenant.self)
            try dao.create([
                Tenant(id: 1, name: "Ada"), Tenant(id: 2, name: "Ada", hasLeft: true),
                Tenant(id: 3, name: "Bo", desk: 7, badge: 1),
                Tenant(id: 4, name: "Bo", hasLeft: true, desk: 7),
            ])
            let before = try Dump.rows(of: storage)
            for (what, key, other, field, body): (String, UniqueID, UniqueID, String, () throws -> Void) in [
                ("a merge", 2, 1, "name", { _ = try storage.merge(keys: [.integer(2)]) { $1?.hasLeft = false } }),
                ("an update", 2, 1, "name", { _ = try dao.update(where: { $0.id == 2 }) { $0.hasLeft = false } }),
                ("a set", 2, 1, "name", { _ = try dao.set(\.hasLeft, to: false) { $0.id == 2 } }),
                ("a set of the member of a condition", 4, 3, "desk, name", { _ = try dao.set(\.badge, to: 9) { $0.id == 4 } }),
                (
                    "an inner transaction", 2, 1, "name",
                    { try database.transaction { try database.transaction { try dao.persist(Tenant(id: 2, name: "Ada")) } } }
                ),
            ] {
                try expectError(.uniqueViolation, what, entity: "tenant", key: key, conflictingKey: other, field: field, body)
                try expectEqual(try Dump.rows(of: storage), before, "the rows after \(what)")
            }
        },
    ]

    private static let secondLevel: [ConformanceCase] = [
        ConformanceCase(
            "R.cascadeOfWhatAListHolds", "R10", "R4",
            title:
                "erasing what a cascading Reference leads to erases the row from every list that holds it, and what is below it"
        ) { context in
            let database = try context.open()
            let (shelves, papers) = (try database.dao(PairShelf.self), try database.dao(PairPaper.self))
            let binders = try database.dao(PairBinder.self)
            try binders.create([PairBinder(id: 1), PairBinder(id: 2)])
            // Papers 1 and 2 are in two lists each, and go with their binder; each has a note below it.
            let all = (1...4).map { id in
                PairPaper(id: id, binder: Reference(id < 3 ? 1 : 2), notes: [PairNote(id: id * 10), PairNote(id: 99)])
            }
            try shelves.create([PairShelf(id: 1, papers: all), PairShelf(id: 2, papers: [all[1], all[3], all[0]])])
            try expectEqual(try binders.erase(byPrimaryKey: 1), 1, "the erased binders")
            try expectEqual(try papers.read().map(\.id), [3, 4], "the papers")
            try expectEqual(try shelves.read().map { $0.papers.map(\.id) }, [[3, 4], [4]], "the lists, in order")
            try expectEqual(
                try database.dao(PairNote.self).read().map(\.id), [30, 40, 99], "the notes, of which one is held elsewhere too")
            try expectEqual(try shelves.count { $0.papers.contains { $0.id == 1 } }, 0, "shelves with an erased paper")
            // Below a transaction that is undone nothing has happened.
            try expectRollback(of: database) { try binders.erase() }
            try expectEqual(try shelves.read().map { $0.papers.map(\.id) }, [[3, 4], [4]], "the lists after a rollback")
            try expectEqual(try papers.read().map { $0.notes.map(\.id) }, [[30, 99], [40, 99]], "the notes after a rollback")
            try expectEqual(try binders.erase(), 1, "the erased binders")
            try expectEqual(try papers.count() + database.dao(PairNote.self).count(), 0, "what is left below")
            try expectEqual(try shelves.read().map(\.papers.count), [0, 0], "the lists that are left")
        },
        ConformanceCase(
            concurrent: "O.onlyTheSecondLevelChanges", "O1", "O5", "P5", "R10",
            title: "an observation sees a change of rows two levels below it, and what a cascade erases there"
        ) { context in
            let database = try context.open()
            let shelves = try database.dao(PairShelf.self)
            let (binders, notes) = (try database.dao(PairBinder.self), try database.dao(PairNote.self))
            try await binders.create([PairBinder(id: 1), PairBinder(id: 2)])
            try await shelves.create(
                PairShelf(
                    id: 1,
                    papers: [
                        PairPaper(id: 1, binder: Reference(1), notes: [PairNote(id: 10)]),
                        PairPaper(id: 2, binder: Reference(2), notes: [PairNote(id: 20)]),
                    ]))
            var rows = Observations.Results(shelves.observe())
            var counts = Observations.Results(database.observe { try notes.count { $0.text == "new" } })
            _ = try await rows.next("the first rows")
            _ = try await counts.next("the first count")
            try await notes.update(where: { $0.id == 20 }) { $0.text = "new" }
            let texts = try await rows.next("rows after a change of a note").first?.papers.map { $0.notes.map(\.text) }
            try expectEqual(texts ?? [], [[""], ["new"]], "the texts two levels below")
            var count = try await counts.next("the count after a change of a note")
            try expectEqual(count, 1, "the notes that are new")
            // Only the binder is named in this call.
            try await binders.erase(byPrimaryKey: 2)
            let left = try await rows.next("rows after a cascade").first?.papers.map(\.id)
            try expectEqual(left ?? [], [1], "the papers after a cascade")
            count = try await counts.next("the count after a cascade")
            try expectEqual(count, 0, "the notes that are new, after a cascade")
        },
    ]

    private static let afterFailures: [ConformanceCase] = [
        ConformanceCase(
            "T.nextCallAfterAFailure", "T1", "W3", "C1",
            title: "after each kind of failure the next calls, of this and of other threads, work as if it had not been",
            requires: [.savepoints, .snapshotReads]
        ) { context in
            let (database, dao) = try context.open(with: Member.self)
            try dao.create(Member(id: 1, email: "a", badge: 1))
            func expectWorks(_ what: String) throws {
                try expectSame(try dao.read(), [Member(id: 1, email: "a", badge: 1)], "the rows after \(what)")
                try dao.create(Member(id: 2, email: "b", badge: 2))
                try onThreads(4) { thread in
                    try expectEqual(try dao.count { $0.badge > 0 }, 2, "the rows that thread \(thread) sees after \(what)")
                }
                let cursor = try dao.storage.cursor(Query())
                try expectEqual(try cursor.next(10).count, 2, "a stream after \(what)")
                cursor.close()
                try expectEqual(try database.snapshot { try dao.count() }, 2, "a snapshot after \(what)")
                try dao.erase(byPrimaryKey: 2)
            }
            try expectError(.uniqueViolation, entity: "member", key: 3, conflictingKey: 1, field: "email") {
                try dao.create([Member(id: 4, email: "d", badge: 4), Member(id: 3, email: "a", badge: 3)])
            }
            try expectWorks("a violation")
            try expectError(.duplicateKey, entity: "member", key: 1, field: "id") {
                try dao.create([Member(id: 4, email: "d", badge: 4), Member(id: 1, email: "e", badge: 5)])
            }
            try expectWorks("a key that exists")
            try expectDeliberate { try dao.update(where: { $0.id == 1 }) { _ in throw DeliberateError() } }
            try expectWorks("an error in the closure of an update")
            try expectRollback(of: database) { try dao.erase() }
            try expectWorks("a transaction that was undone")
            try database.transaction {
                for round in 1...3 {
                    try expectDeliberate {
                        try database.transaction {
                            try dao.create(Member(id: 10 + round, email: "x", badge: 10))
                            throw DeliberateError()
                        }
                    }
                }
            }
            try expectWorks("three savepoints that were undone")
            try expectDeliberate { try database.snapshot { throw DeliberateError() } }
            try expectWorks("an error in a snapshot")
            do {
                let cursor = try dao.storage.cursor(Query())
                _ = try cursor.next(1)
            }
            try expectWorks("a stream that was given up")
            try expectError(.invalidTransaction) { try database.transaction { try database.close() } }
            try expectWorks("a close inside a transaction")
            try expectError(.invalidQuery, entity: "member") { try dao.read(Query(limit: -1)) }
            try expectWorks("a query that is refused")
        },
        ConformanceCase(
            "T.indexesAfterARefusal", "T2", "W3", "Q9", "L9",
            title: "a refused row leaves nothing in an index, also when the transaction goes on with other rows",
            requires: [.savepoints]
        ) { context in
            let (database, dao) = try context.open(with: Refusable.self)
            try dao.create([
                Refusable(id: 1, place: "a", code: "one", tags: ["x"]), Refusable(id: 2, place: "b", code: "two", tags: []),
            ])
            func refused(_ what: String, key: UniqueID, other: UniqueID = 1, _ body: () throws -> Void) throws {
                try expectError(.uniqueViolation, what, entity: "refusable", key: key, conflictingKey: other, field: "code", body)
            }
            try database.transaction {
                try refused("create", key: 3) {
                    try dao.create(Refusable(id: 3, place: "refused", code: "one", tags: ["r", "s"]))
                }
                try dao.create(Refusable(id: 4, place: "c", code: nil, tags: ["y"]))
                try refused("persist", key: 2) { try dao.persist(Refusable(id: 2, place: "refused", code: "one", tags: ["r"])) }
                try dao.persist(Refusable(id: 4, place: "d", code: "four", tags: ["y", "z"]))
                try refused("create of several", key: 6) {
                    try dao.create([
                        Refusable(id: 5, place: "refused", code: "five", tags: ["r"]),
                        Refusable(id: 6, place: "refused", code: "one", tags: ["s"]),
                    ])
                }
                try refused("an update", key: 4) {
                    try dao.update(where: { $0.id == 4 }) { ($0.place, $0.code) = ("refused", "one") }
                }
                try refused("a set", key: 4) { try dao.set(\.code, to: "one") { $0.id == 4 } }
                try dao.erase(byPrimaryKey: 2)
            }
            let rows = [
                Refusable(id: 1, place: "a", code: "one", tags: ["x"]),
                Refusable(id: 4, place: "d", code: "four", tags: ["y", "z"]),
            ]
            try expectSame(try dao.read(), rows, "the rows")
            for place in ["a", "b", "c", "d", "refused"] {
                try expectEqual(
                    try dao.read { $0.place == place }.map(\.id), rows.filter { $0.place == place }.map(\.id), "at '\(place)'")
            }
            for tag in ["r", "s", "x", "y", "z"] {
                try expectEqual(
                    try dao.read { $0.tags.contains(tag) }.map(\.id), rows.filter { $0.tags.contains(tag) }.map(\.id),
                    "with '\(tag)'")
            }
            try database.expectVerified()
        },
        ConformanceCase(
            "E.copyFinishedIsOver", "E5",
            title: "a copy that ended after its last row is over when it was called again: later rows of the source are refused",
            requires: [.evolution]
        ) { context in
            // The first and the last of the entities have no rows, so that nothing is left to do but to end.
            let source = try context.openOther("source")
            for count in [try source.dao(EntityA.self).count(), try source.dao(Proposal.self).count()] {
                try expectEqual(count, 0)
            }
            let (items, labels) = (try source.dao(Item.self), try source.dao(Label.self))
            try items.create(Item.make(1...250))
            try labels.create([Label.make(1)])
            var steps = 0
            while steps < 50 {
                let target = try context.openOther("t\(steps)")
                var count = 0
                var isWhole = false
                do {
                    try source.copy(to: target, rowLimit: 100) { _ in
                        count += 1
                        if count > steps { throw DeliberateError() }
                    }
                    isWhole = true
                } catch is DeliberateError {}
                try source.copy(to: target)
                try items.create(Item(id: 1000, name: "later"))
                try expectError(.duplicateKey, "a copy of more rows, after step \(steps)", entity: "item", key: 250, field: "id")
                {
                    try source.copy(to: target)
                }
                try expectSame(try target.dao(Item.self).read(), Item.make(1...250), "the rows after step \(steps)")
                try items.erase(byPrimaryKey: 1000)
                try expectEqual(
                    try source.copy(to: target).rowsWritten, 0, "the rows of a copy of what is there, after step \(steps)")
                if isWhole { break }
                steps += 1
            }
            try expect(steps > 2 && steps < 50, "steps at which a copy can end: \(steps)")
        },
        ConformanceCase(
            "E.copyGoesOnBeforeTheIndexes", "E5", "L9",
            title: "a copy that ended after its last row, before its indexes, is finished by the next one",
            requires: [.evolution, .persistence]
        ) { context in
            let source = try context.openOther("source")
            let rows = Item.make(1...250)
            try source.dao(Item.self).create(rows)
            try source.dao(Digest.self).create((1...30).map { Digest(id: $0, posts: [Post(id: $0, text: "\($0)")]) })
            // A closure that throws at the n-th progress ends the copy at each of its steps in turn.
            var steps = 0
            while steps < 200 {
                let target = try context.openOther("t\(steps)")
                var count = 0
                var isWhole = false
                do {
                    try source.copy(to: target, rowLimit: 100) { _ in
                        count += 1
                        if count > steps { throw DeliberateError() }
                    }
                    isWhole = true
                } catch is DeliberateError {}
                // It goes on in another opening.
                try target.close()
                let again = try context.openOther("t\(steps)")
                try source.copy(to: again)
                try expectSame(try again.dao(Item.self).read(), rows, "the rows after an end at step \(steps)")
                try expectEqual(try again.dao(Item.self).count { $0.number > 0 }, 250, "by the index, after step \(steps)")
                try expectEqual(
                    try again.dao(Digest.self).read().map(\.posts.count), Array(repeating: 1, count: 30),
                    "the lists, step \(steps)")
                try again.expectVerified("the problems after an end at step \(steps)")
                try again.close()
                if isWhole { break }
                steps += 1
            }
            try expect(steps > 2 && steps < 200, "steps at which a copy can end: \(steps)")
        },
    ]
}

/// A row with an index before and after the unique one, and an index on elements.
private struct Refusable: Plain, Model, Equatable {
    var id: Int
    var place: String
    var code: String?
    var tags: [String]

    static let schema = Schema(
        "refusable", Self.init,
        Field("id", \.id, .primaryKey), Field("place", \.place, .indexed), Field("code", \.code, .unique), Field("tags", \.tags),
        indexes: [Index(elements: \.tags), Index(\.place, \.code)])
}

/// A row with a unique index over rows that are active, before one over all rows.
private struct PassByCity: Plain, Model, Equatable {
    var id: Int
    var email: String
    var city: String
    var name: String
    var isActive: Bool

    static let schema = Schema(
        "passByCity", Self.init,
        Field("id", \.id, .primaryKey), Field("email", \.email), Field("city", \.city), Field("name", \.name),
        Field("isActive", \.isActive),
        indexes: [Index(\.city, isUnique: true, where: { $0.isActive == true }), Index(\.email, \.name, isUnique: true)])
}

/// The same indexes in the other order.
private struct PassByName: Plain, Model, Equatable {
    var id: Int
    var email: String
    var city: String
    var name: String
    var isActive: Bool

    static let schema = Schema(
        "passByName", Self.init,
        Field("id", \.id, .primaryKey), Field("email", \.email), Field("city", \.city), Field("name", \.name),
        Field("isActive", \.isActive),
        indexes: [Index(\.email, \.name, isUnique: true), Index(\.city, isUnique: true, where: { $0.isActive == true })])
}

/// A translator that tells a closure of every row that is read.
private struct ReadingTranslator<Record: Model & Plain>: ReplacingTranslator {
    let read: @Sendable (Record) throws -> Void

    init(_ read: @escaping @Sendable (Record) throws -> Void) { self.read = read }

    func translate(model: Record) throws -> Record {
        try read(model)
        return model
    }

    func translate(plain: Record) throws -> Record { plain }
}
