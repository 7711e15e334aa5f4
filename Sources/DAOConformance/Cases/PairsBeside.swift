import DAOCore
import Foundation

/// Rules that meet what happens beside a call: the file is moved, another process works on it, the database is suspended, a
/// transaction runs twice. The table is in `Docs/RulePairs.md`.
enum PairsBeside {
    static let cases: [ConformanceCase] = observing + compacting + suspending

    private static let observing: [ConformanceCase] = [
        ConformanceCase(
            concurrent: "O.movedWhileObserved", "O1", "O4", "L8",
            title: "an observation of a file that was moved gives no row of the file that is at the path then, and ends",
            requires: [.file]
        ) { context in
            let file = try context.file()
            let (database, dao) = try context.open(with: Item.self)
            try await dao.create(Item.make([1, 2]))
            var rows = Observations.Results(dao.observe())
            var counts = Observations.Results(database.observe { try dao.count() })
            _ = try await (rows.next("the first rows"), counts.next("the first count"))
            try FileManager.default.moveItem(at: file, to: file.appendingPathExtension("moved"))
            try await expectAsyncError(.detached, "a write", path: file.path) { try await dao.create(Item.make([3])) }
            var early: DAO<Item>?
            // Where the log of the file that was moved is left, the path is busy until that file is closed.
            do { early = try context.dao(Item.self) } catch let error as StorageError where error.kind == .busy {}
            for id in 10...14 {
                if let early { try await early.create(Item.make([id])) }
                // Longer than between two looks for commits of others.
                try await Task.sleep(for: .milliseconds(60))
            }
            try database.close()
            let items = try context.dao(Item.self)
            if early == nil { try await items.create(Item.make(10...14)) }
            do {
                let more = try await rows.next("rows")
                throw fail("an observation of a file that was moved gives \(more)")
            } catch let error as StorageError where [.closed, .detached].contains(error.kind) {}
            do {
                let more = try await counts.next("a count")
                throw fail("an observation of a file that was moved counts \(more)")
            } catch let error as StorageError where [.closed, .detached].contains(error.kind) {}
            var later = Observations.Results(items.observe())
            let ids = try await later.next("the rows of the new file").map(\.id)
            try expectEqual(ids, Array(10...14), "the rows of the new file")
        },
        ConformanceCase(
            concurrent: "O.processAddsIndex", "O1", "O5", "E2", "E8", "C2",
            title: "observations go on when another process adds a field and an index, and see every commit after it",
            requires: [.processes, .evolution, .snapshotReads]
        ) { context in
            let database = try context.open()
            let ledger = try ProcessLedger(database)
            try expectEqual(try ledger.publish(.older, 1, 1), "done")
            let pamphlets = try database.rows(of: "pamphlet")
            var texts = Observations.Results(database.observe { try ledger.pamphlets(.older) })
            var bodies = Observations.Results(database.observe { try pamphlets.read().map { $0["body"] } })
            var text = try await texts.next("the first rows")
            try expectEqual(text, "1 t1", "the first rows")
            var body = try await bodies.next("the first rows without types")
            try expectEqual(body, [nil], "a field that is not there yet")
            let process = try context.startProcess()
            try expectEqual(try process.ask("pamphlets indexed"), "1 t1 -", "what the other process reads")
            body = try await bodies.next("the rows without types with the new field")
            try expectEqual(body, [.string("-")], "the default of the new field")
            for id in 2...4 {
                if id == 3 {
                    try expectEqual(try process.ask("publish indexed \(id) \(id)"), "done")
                } else {
                    try expectEqual(try ledger.publish(.older, id, id), "done")
                }
                text = try await texts.next("the rows after row \(id)")
                try expectEqual(text, (1...id).map { "\($0) t\($0)" }.joined(separator: ", "), "the rows after row \(id)")
                body = try await bodies.next("the rows without types after row \(id)")
                try expectEqual(body, (1...id).map { .string($0 == 3 ? "b3" : "-") }, "the new field after row \(id)")
            }
            try expectEqual(try process.ask("pamphlets indexed"), "1 t1 -, 2 t2 -, 3 t3 b3, 4 t4 -", "by the new index")
            try database.expectVerified()
        },
        ConformanceCase(
            concurrent: "O.entityComesAndGoes", "O5", "E8", "E9",
            title: "rows without types are observed while their entity is not there, comes, goes and comes again",
            requires: [.evolution, .snapshotReads]
        ) { context in
            let database = try context.open()
            @Sendable func count(_ rows: () throws -> EntityRows) throws -> Int {
                do {
                    return try rows().count()
                } catch let error as StorageError where error.kind == .invalidQuery {
                    return -1
                }
            }
            var early = Observations.Results(database.observe { try count { try database.rows(of: "item") } })
            var seen = try await early.next("what is there at first")
            try expectEqual(seen, -1, "no entity")
            let items = try database.dao(Item.self)
            while seen != 0 { seen = try await early.next("the entity that has come, without rows") }
            try await items.create(Item.make([1, 2]))
            while seen != 2 { seen = try await early.next("two rows of the entity that has come") }
            // One that was made while the entity was there.
            let rows = try database.rows(of: "item")
            var kept = Observations.Results(database.observe { try count { rows } })
            seen = try await kept.next("the rows that are kept")
            for version in 1...2 {
                try await database.evolve(
                    Evolution(version: version, migrations: [Migration(to: version) { try $0.dropEntity("item") }]))
                while seen != -1 { seen = try await kept.next("that the entity has gone, as rows that are kept see it") }
                repeat { seen = try await early.next("that the entity has gone") } while seen != -1
                try await database.dao(Item.self).create(Item.make(1...3))
                while seen != 3 { seen = try await kept.next("three rows, as rows that are kept see them") }
                repeat { seen = try await early.next("three rows") } while seen != 3
            }
        },
        ConformanceCase(
            concurrent: "O.retriedOnce", "T8", "O1", "O3", title: "a transaction that ran several times gives one result"
        ) { context in
            let (database, dao) = try context.open(with: Item.self)
            try await dao.create(Item.make([1]))
            var changes = Observations.Results(dao.observeChanges())
            _ = try await changes.next("the first rows")
            for round in 1...3 {
                let runs = Shared(0)
                try await database.transaction(retrying: 3) {
                    let run = runs.change { count in
                        count += 1
                        return count
                    }
                    try dao.create(Item(id: 10 + round, name: "run \(run)"))
                    if run <= round { throw StorageError(.conflict, "another writer was first") }
                }
                try expectEqual(runs.value, round + 1, "the runs")
                let change = try await changes.next("the rows after \(round + 1) runs")
                try expectEqual(change.elements.map(\.id), [1] + Array(11...10 + round), "the rows after \(round + 1) runs")
                try expectEqual(change.elements.last?.name ?? "", "run \(round + 1)", "the name that the last run has stored")
                try expectEqual(
                    [change.inserted, change.updated, change.erased], [[UniqueID(10 + round)], [], []], "the difference")
            }
            // Of one that never succeeds nothing is told.
            try await expectAsyncError(.conflict) {
                try await database.transaction(retrying: 2) {
                    try dao.create(Item(id: 50, name: "never"))
                    throw StorageError(.conflict, "another writer was first")
                }
            }
            try await dao.erase(byPrimaryKey: 11)
            let change = try await changes.next("the rows after an erasure")
            try expectEqual([change.inserted, change.updated, change.erased], [[], [], [11]], "the difference after an erasure")
        },
    ]

    private static let compacting: [ConformanceCase] = [
        ConformanceCase(
            "L.compactBesideAProcess", "L11", "C2", "C4",
            title: "another process reads the same rows before, beside and after a compaction, and both see the next commits",
            requires: [.processes, .configuration, .persistence], isHeavy: true
        ) { context in
            let database = try context.open { $0.busyTimeout = .milliseconds(500) }
            let ledger = try ProcessLedger(database)
            for _ in 1...8 { _ = try ledger.commitBatch() }
            let posts = try database.dao(Post.self)
            try posts.create((1...400).map { Post(id: $0, text: String(repeating: "\($0) ", count: 100)) })
            try posts.erase { $0.id > 20 }
            let process = try context.startProcess()
            try expectEqual(try process.ask("state"), "0 added, 8 batches", "what the process sees before")
            for round in 1...4 {
                try process.say("state")
                do { try database.compact() } catch let error as StorageError where error.kind == .busy {}
                try expectEqual(
                    try process.next(), "\(2 * round - 2) added, \(7 + round) batches", "what the process sees beside it")
                _ = try ledger.commitBatch()
                try ledger.add(1)
                try expectEqual(try process.ask("add 1"), "done", "a commit of the process after it")
                try expectEqual(
                    try process.ask("state"), "\(2 * round) added, \(8 + round) batches", "what the process sees then")
                try expectEqual(
                    try ledger.state(), ProcessLedger.State(added: 2 * round, batches: 8 + round), "what this one sees")
            }
            process.kill()
            try database.compact()
            try expectEqual(try ledger.state(), ProcessLedger.State(added: 8, batches: 12), "the rows afterwards")
            try expectEqual(try posts.read().map(\.id), Array(1...20), "the posts afterwards")
            try database.expectVerified()
        }
    ]

    private static let suspending: [ConformanceCase] = [
        ConformanceCase(
            "L.suspendBesideAStream", "L13", "Q6", "T3",
            title: "a suspension waits for a stream and a snapshot, is busy then, and takes nothing from them",
            requires: [.snapshotReads, .configuration]
        ) { context in
            let database = try context.open { $0.busyTimeout = .milliseconds(800) }
            let dao = try database.dao(Item.self)
            try dao.create(Item.make(1...600))
            let hasFile = context.target.file != nil
            /// Returns whether the engine can be suspended.
            @Sendable func suspend(expectingBusy isBusy: Bool, _ what: String) throws -> Bool {
                do {
                    try database.suspend()
                    // Without a file there is no lock to wait for.
                    try expect(!isBusy || !hasFile, "busy beside \(what)")
                } catch let error as StorageError where error.kind == .unsupported {
                    return false
                } catch let error as StorageError where error.kind == .busy {
                    try expect(isBusy, "no busy \(what)")
                }
                return true
            }
            let cursor = try dao.storage.cursor(Query())
            var streamed = try cursor.next(10).map(\.id)
            let began = ContinuousClock.now
            guard try suspend(expectingBusy: true, "a stream") else { return cursor.close() }
            if hasFile { try expect(ContinuousClock.now - began >= .milliseconds(800), "a wait for the timeout") }
            // Nothing has changed: calls go on, and so does the stream, with its own rows.
            try dao.erase { $0.id > 300 }
            while case let batch = try cursor.next(100), !batch.isEmpty { streamed += batch.map(\.id) }
            try expectEqual(streamed, Array(1...600), "the rows of the stream")
            cursor.close()
            _ = try suspend(expectingBusy: false, "after the stream")
            try expectEqual(openFiles(in: context.location.directory), [], "the open files while it is suspended")
            try expectEqual(try dao.count(), 300, "the rows after a suspension")
            try database.snapshot {
                let before = try dao.count()
                try Background { _ = try suspend(expectingBusy: true, "a snapshot") }.wait(seconds: 30, "a suspension")
                try expectEqual(try dao.count(), before, "the rows of the snapshot")
            }
            // One that ends in time is waited for.
            let hasBegun = Signal()
            let closing = Background {
                let second = try dao.storage.cursor(Query())
                _ = try second.next(10)
                hasBegun.send()
                Thread.sleep(forTimeInterval: 0.1)
                second.close()
            }
            try expect(hasBegun.wait(), "a stream")
            _ = try suspend(expectingBusy: false, "beside a stream that ends")
            try closing.wait()
            try expectEqual(try dao.read { $0.id > 295 }.map(\.id), Array(296...300), "the rows afterwards")
        }
    ]
}
