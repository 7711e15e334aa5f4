import DAOCore
import Foundation

/// L12: what an instrument is told.
enum Instruments {
    static let cases: [ConformanceCase] = [
        ConformanceCase(
            "L.instrumentCalls", "L12", title: "an instrument is told of every call: what it did, its rows and its error",
            requires: [.configuration]
        ) { context in
            let log = CallLog()
            let items = try context.open { $0.instrument = log.instrument }.dao(Item.self)
            try expectEqual(log.take(), ["open item"], "what opening a storage reported")
            let calls: [(String, [String], () throws -> Void)] = [
                ("create", ["insert item 3"], { try items.create(Item.make([1, 2, 3])) }),
                ("create of an existing row", ["insert item failed"], { try? items.create(Item.make([4, 1])) }),
                ("persist", ["upsert item 1"], { try items.persist(Item(id: 4, name: "d")) }),
                ("read", ["read item 4"], { _ = try items.read() }),
                ("read of none", ["read item 0"], { _ = try items.read { $0.id > 100 } }),
                ("read by key", ["read by key item 1"], { _ = try items.read(byPrimaryKey: 1) }),
                ("read by key of none", ["read by key item 0"], { _ = try items.read(byPrimaryKey: 9) }),
                ("read by keys", ["read by key item 2"], { _ = try items.read(byPrimaryKeys: [1, 2, 9]) }),
                ("exists", ["read by key item 1"], { _ = try items.exists(byPrimaryKey: 1) }),
                ("count", ["count item"], { _ = try items.count { $0.id > 1 } }),
                ("sum", ["read fields item 4"], { _ = try items.sum(\.number) }),
                ("groups", ["group item 4"], { _ = try items.groups(by: \.id, totals: .count) }),
                ("update", ["update item 2"], { _ = try items.update(where: { $0.id < 3 }) { $0.number = 7 } }),
                (
                    "update that fails", ["update item failed"],
                    { _ = try? items.update(where: .all) { _ in throw CancellationError() } }
                ),
                ("erase", ["erase item 1"], { _ = try items.erase(byPrimaryKey: 4) }),
                ("erase by condition", ["erase item 2"], { _ = try items.erase { $0.id < 3 } }),
            ]
            for (what, expected, call) in calls {
                try call()
                try expectEqual(log.take(), expected, "what \(what) reported")
            }
            try items.create(Item.make([11, 12, 13]))
            log.forget()
            var streamed = 0
            try items.forEach { _ in streamed += 1 }
            let rows = log.take().compactMap { Int($0.split(separator: " ").last ?? "") }
            try expectEqual(rows.reduce(0, +), streamed, "the rows that streaming reported")
        },
        ConformanceCase(
            "L.instrumentParts", "L12",
            title: "a call that is part of another one belongs to that; a transaction follows its calls",
            requires: [.configuration]
        ) { context in
            let log = CallLog()
            let database = try context.open { $0.instrument = log.instrument }
            let (topics, items) = (try database.dao(Topic.self), try database.dao(Item.self))
            let briefs = try database.dao(BriefTopic.self).including(\.labels)
            log.forget()
            try topics.create(Topic(id: "t", title: "a", posts: [Post(id: 1, text: "x"), Post(id: 2, text: "y")]))
            try expectEqual(log.take(), ["insert topic 1"], "what a row with related rows reported")
            _ = try topics.read { $0.posts.count > 1 }
            try expectEqual(log.take(), ["read topic 1"], "what a read with related rows reported")
            try expectEqual(try briefs.read().map { $0.posts == nil }, [true], "the lists that were not named")
            try expectEqual(log.take(), ["read topic 1"], "what a read of some lists reported")
            try database.dao(Person.self).create(Person(id: 5, name: "p"))
            log.forget()
            try expectEqual(try topics.read(Person.topics, of: [5]).map(\.count), [0], "the rows that refer to a row")
            try expectEqual(log.take(), ["read topic 0"], "what a read of the rows that refer to a row reported")
            let ordered = try topics.page(orderedBy: .ascending(\.title), limit: 1)
            try expectEqual(ordered.elements.map(\.id), ["t"], "a page")
            try expectEqual(log.take(), ["read topic 1"], "what a page reported")
            _ = try topics.erase(byPrimaryKey: "t")
            try expectEqual(log.take(), ["erase topic 1"], "what erasing reported")
            try database.transaction {
                try items.create(Item.make([1]))
                _ = try items.count()
            }
            try expectEqual(
                log.take(), ["insert item 1 inside", "count item inside", "transaction"], "what a transaction reported")
            try? database.transaction {
                try items.create(Item.make([2]))
                throw CancellationError()
            }
            try expectEqual(log.take(), ["insert item 1 inside", "transaction failed"], "what a failed transaction reported")
            guard database.capabilities.hasSnapshotReads else { return }
            try database.snapshot { _ = try items.read() }
            try expectEqual(log.take(), ["read item 1 inside", "snapshot"], "what a snapshot reported")
        },
        ConformanceCase(
            concurrent: "L.instrumentReads", "L12", title: "an instrument may read; its own calls are not reported",
            requires: [.configuration]
        ) { context in
            let log = CallLog()
            let reader = Lock<(DAO<Item>, [Int])?>(nil)
            let instrument = Instrument { call in
                log.add(call)
                let dao = reader.withLock { $0?.0 }
                if let count = try? dao?.count() { reader.withLock { $0?.1.append(count) } }
            }
            let database = try context.open { $0.instrument = instrument }
            let items = try database.dao(Item.self)
            log.forget()
            reader.withLock { $0 = (items, []) }
            let writeHere = {
                try items.create(Item.make([1]))
                try database.transaction { try items.create(Item.make([2])) }
            }
            try writeHere()
            try await items.create(Item.make([3]))
            try expectEqual(log.take(), ["insert item 1", "insert item 1 inside", "transaction", "insert item 1"], "the reports")
            // Inside a transaction the closure sees its writes; the end of a call comes after its commit.
            try expectEqual(reader.withLock { $0?.1 }, [1, 2, 2, 3], "what the instrument counted")
            reader.withLock { $0 = nil }
        },
        ConformanceCase(
            concurrent: "L.instrumentAfterCommit", "L12", "T9",
            title: "an instrument is told of each of many calls at the same time after the commit of that call",
            requires: [.configuration, .snapshotReads]
        ) { context in
            let items = try context.open().dao(Item.self)
            let (told, early) = (Shared(0), Shared<[Int]>([]))
            let instrument = Instrument { report in
                guard report.operation == .insert else { return }
                let ended = told.change { told in
                    told += 1
                    return told
                }
                // Another thread does not see what is not committed.
                try? Background { if try items.count() < ended { early.change { $0.append(ended) } } }.wait()
            }
            let writer = try context.open { $0.instrument = instrument }.dao(Item.self)
            try await withThrowingTaskGroup { group in
                for id in 1...64 { group.addTask { try await writer.create(Item.make([id])) } }
                try await group.waitForAll()
            }
            try expectEqual(told.value, 64, "the calls that the instrument was told of")
            try expectEqual(early.value, [], "the calls that it was told of before their commit")
        },
        ConformanceCase(
            "L.instrumentAlone", "L12", "C3", title: "an instrument is told of the calls of its own database only",
            requires: [.configuration]
        ) { context in
            let (log, otherLog) = (CallLog(), CallLog())
            let first = try context.open { $0.instrument = log.instrument }.dao(Item.self)
            let second = try context.open { $0.instrument = otherLog.instrument }.dao(Item.self)
            let third = try context.open().dao(Item.self)
            log.forget()
            otherLog.forget()
            try first.create(Item.make([1]))
            _ = try second.count()
            _ = try third.read()
            try expectEqual(log.take(), ["insert item 1"], "the reports of the first database")
            try expectEqual(otherLog.take(), ["count item"], "the reports of the second database")
        },
        ConformanceCase(
            concurrent: "L.instrumentWaits", "L12", "T4",
            title: "a report has the time, of it the time that a write waited for another one",
            requires: [.configuration, .serialWriters]
        ) { context in
            let log = CallLog()
            let database = try context.open { $0.instrument = log.instrument }
            let items = try database.dao(Item.self)
            let begun = Lock(false)
            let other = Task(executorPreference: TaskThreads.shared) {
                try await database.transaction {
                    begun.withLock { $0 = true }
                    Thread.sleep(forTimeInterval: 0.1)
                }
            }
            while !begun.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
            let write = { try items.create(Item.make([1])) }
            try write()
            try await other.value
            guard let report = log.reports.first(where: { $0.operation == .insert }) else {
                return try expectEqual("none", "a report", "the report of the write")
            }
            try expectEqual(report.waited > .milliseconds(30), true, "whether \(report.waited) of waiting was reported")
            try expectEqual(report.duration >= report.waited, true, "whether the waiting is part of the duration")
        },
        ConformanceCase(
            "L.pinnedSnapshots", "L12", title: "what a snapshot keeps is reported",
            requires: [.configuration, .file, .snapshotReads]
        ) { context in
            let log = CallLog()
            guard let items = try openLimited(context, log) else { return }
            let database = items.storage.database
            let counts = try database.snapshot {
                let before = try items.count()
                let other = Background { try items.persist(long(1)) }
                try other.wait()
                return [before, try items.count()]
            }
            try expectEqual(counts, [200, 200], "the counts of a snapshot")
            try expect((log.pinned(.snapshot) ?? 0) > 40 << 10, "more than the limit reported by a snapshot")
            log.forget()
            _ = try database.snapshot { try items.count() }
            try expectEqual(log.pinned(.snapshot), nil, "what a snapshot reported that kept nothing")
        },
        ConformanceCase(
            "L.optionSizes", "L1", title: "an option that is a size takes K, M and G; what is no size is invalidConfiguration",
            requires: [.configuration, .file]
        ) { context in
            func open(_ size: String) throws { try context.open { $0.options["pinnedLimit"] = size }.close() }
            do {
                try open("1")
            } catch let error as StorageError where error.message.contains("no option") {
                return
            }
            for size in ["1", "300000", "64K", "64k", "1M", "2m", "1G", "65536G", "70368744177664"] { try open(size) }
            for size in ["0", "-1", "much", "", "300X", "65537G", "70368744177665", "K", "1KK"] {
                let error = try expectError(.invalidConfiguration, "the size '\(size)'", path: context.path) { try open(size) }
                try expect(error.message.contains("pinnedLimit"), "the name of the option in: \(error.message)")
            }
        },
        ConformanceCase(
            "L.instrumentStatements", "L12", title: "a report has the statements of its own call", requires: [.configuration]
        ) { context in
            let log = CallLog()
            let items = try context.open { $0.instrument = log.instrument }.dao(Item.self)
            try items.create(Item.make(1...3))
            for _ in 1...2 {
                log.forget()
                _ = try items.read { $0.number < 1010 }
                let statements = log.reports.flatMap(\.statements)
                // An engine may tell of none.
                if statements.isEmpty { return }
                let query = try require(statements.first { $0.text.contains("item") }, "a statement that names the entity")
                try expect(query.runs > 0, "how often the statement of a query ran: \(query.runs)")
                try expect(statements.allSatisfy { !$0.text.contains("1010") }, "no value in the statements")
                try expect((query.steps ?? 1) > 0, "the steps of a statement")
            }
        },
        ConformanceCase("L.reportWords", "L12", title: "a report is a line for the call, and one for each statement") { _ in
            let lookUp = StatementReport(text: "SELECT 1", duration: .microseconds(12.34))
            var many = StatementReport(text: "SELECT\n2", runs: 3, rowsLookedAt: 1, steps: 40, duration: .milliseconds(123.4))
            var report = CallReport(
                operation: .read, entity: "item", duration: .seconds(1.5), rows: 2, statements: [lookUp, many])
            try expectEqual(
                "\(report)",
                "read item, 2 rows, 1.50 s\n    SELECT 1 (12.3 µs)\n    SELECT\n    2 (3 runs, 123 ms, 1 row looked at, 40 steps)"
            )
            try expectEqual(report.rowsLookedAt, nil, "the rows that a statement did not tell")
            try expectEqual(
                CallReport(operation: .read, duration: .zero).rowsLookedAt, nil, "the rows of a call that tells of no statement")
            many.rowsLookedAt = 5
            report.statements = [many, many]
            try expectEqual(report.rowsLookedAt, 10, "the rows that all statements looked at")
            let refused = CallReport(
                operation: .insert, entity: "item", duration: .milliseconds(99.96), waited: .milliseconds(20), retries: 1,
                rows: 1,
                error: StorageError(.busy, "locked"), pinnedBytes: 5 << 20)
            try expectEqual(
                "\(refused)",
                "insert item, 1 row, 100.0 ms (20.0 ms of it waiting), 2 runs, 5 MiB kept by snapshots, failed: "
                    + "\(StorageError(.busy, "locked"))")
            let other = CallReport(operation: .transaction, duration: .milliseconds(100), waited: .microseconds(100))
            try expectEqual("\(other)", "transaction, 100 ms")
        },
    ]
}

extension Instruments {
    /// Opens a database that reports what snapshots keep from 40 KiB on, with long rows; nil for one that cannot.
    private static func openLimited(_ context: ConformanceContext, _ log: CallLog) throws -> DAO<Item>? {
        do {
            let items = try context.open {
                $0.options["pinnedLimit"] = "40k"
                $0.instrument = log.instrument
            }.dao(Item.self)
            try items.persist(long(0))
            return items
        } catch let error as StorageError where error.kind == .invalidConfiguration {
            return nil
        }
    }

    private static func long(_ round: Int) -> [Item] {
        (1...200).map { Item(id: $0, name: String(repeating: "\(round % 10)", count: 1000)) }
    }
}

/// Collects what an instrument is told.
final class CallLog: Sendable {
    private let calls = Lock<[CallReport]>([])

    var instrument: Instrument { Instrument { self.add($0) } }
    var reports: [CallReport] { calls.withLock { $0 } }

    func add(_ call: CallReport) { calls.withLock { $0.append(call) } }

    func forget() { calls.withLock { $0 = [] } }

    /// The most bytes that the calls of an operation have reported as kept by snapshots; nil when they have reported none.
    func pinned(_ operation: CallReport.Operation) -> Int? {
        reports.filter { $0.operation == operation }.compactMap(\.pinnedBytes).max()
    }

    /// Returns what was reported since the last time, a line for each call.
    func take() -> [String] {
        let reports = reports
        forget()
        return reports.map { call in
            var words = [call.operation.rawValue]
            if let entity = call.entity { words.append(entity) }
            if let rows = call.rows { words.append("\(rows)") }
            if call.error != nil { words.append("failed") }
            if call.isInsideTransaction { words.append("inside") }
            return words.joined(separator: " ")
        }
    }
}
