import DAOCore
import Dispatch
import Foundation

/// L9 to L11: verification, backups and compaction.
enum LifeCycleMaintenance {
    static let cases: [ConformanceCase] =
        verification.requiring(.evolution) + backups.requiring(.backup).requiring(.file) + compactions + suspensions
        + observedSuspensions

    private static let verification: [ConformanceCase] = [
        ConformanceCase("L.verifies", "L9", "E1", title: "a database that was written in every way has no damage") { context in
            let database = try context.open()
            try expectSound(try database.verify(), [:])
            try fill(database)
            let rows = ["crate": 1500, "seat": 9, "topic": 3, "post": 4, "person": 3, "label": 2]
            var last: [String: VerificationProgress] = [:]
            let report = try database.verify { last[$0.entity] = $0 }
            try expectSound(report, rows)
            try expectEqual(report.description.contains("no problem"), true, "the description of the report")
            try expectEqual(last["crate"], VerificationProgress(entity: "crate", rows: 1500, total: 1500), "the last progress")
            try expectEqual(last.filter { rows[$0.key] != nil }.mapValues(\.rows), rows, "the rows of the progress")
            try database.transaction {
                try database.dao(Seat.self).create(Seat(id: 77, number: 77, name: "s77"))
                try expectEqual(try database.verify().rows["seat"], 10, "the rows inside a transaction")
                try expectSound(try database.verify(), rows.merging(["seat": 10]) { $1 })
            }
        },
        ConformanceCase(
            concurrent: "L.verifiesUntilCancelled", "L9", title: "a verification whose task is cancelled ends"
        ) { context in
            let database = try context.open()
            try await database.dao(Crate.self).create(Crate.make(3000))
            let report = try await database.verify()
            try expectEqual(report.rows["crate"], 3000)
            try await expectCancellation { onProgress in _ = try await database.verify { _ in onProgress() } }
        },
        ConformanceCase("L.closedVerification", "L9", "L2", title: "after close a verification is closed") { context in
            let database = try context.open()
            try database.close()
            try expectError(.closed) { try database.verify() }
        },
    ]

    private static let backups: [ConformanceCase] = [
        ConformanceCase(
            "L.backup", "L10", title: "a backup has the rows, indexes, links and version of the last commit, and is replaced"
        ) { context in
            let database = try context.open()
            try fill(database)
            let hasVersion = database.capabilities.hasEvolution
            if hasVersion { try database.evolve(Evolution(version: 3)) }
            let file = try backupFile(context)
            var progress: [BackupProgress] = []
            try database.backup(to: file.path) { progress.append($0) }
            let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
            try expectEqual(progress.last?.bytes, size, "the bytes of the last progress")
            try expectEqual(progress.last?.total, size, "the total of the last progress")
            try expectEqual(progress.map(\.bytes), progress.map(\.bytes).sorted(), "the progress")
            let (topics, crates) = (try database.dao(Topic.self).read(), try database.dao(Crate.self).read())
            try database.dao(Seat.self).create(Seat(id: 500, number: 500, name: "s500"))
            for isSecond in [false, true] {
                if isSecond { try database.backup(to: file.path) }
                let copy = try context.openOther("backup")
                if hasVersion { try expectEqual(try copy.schemaVersion, 3) }
                try copy.expectVerified()
                try expectSame(try copy.dao(Topic.self).read(), topics)
                try expectSame(try copy.dao(Crate.self).read(), crates)
                try expectEqual(try copy.dao(Seat.self).count(), isSecond ? 10 : 9, "the rows of the commit")
                try expectError(.uniqueViolation, entity: "seat", key: 600, conflictingKey: 4, field: "row, number") {
                    try copy.dao(Seat.self).create(Seat(id: 600, row: 1, number: 4, name: "s600"))
                }
                try copy.dao(Seat.self).create(Seat(id: 700, number: 700, name: "s700"))
                try copy.close()
            }
            try expectEqual(try database.dao(Seat.self).exists(byPrimaryKey: 700), false, "a row of the backup in the database")
            let names = try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
            try expectEqual(names.filter { $0.hasPrefix(".dao-backup") }, [], "temporary files")
        },
        ConformanceCase("L.backupWhileWriting", "L10", "T3", title: "a backup is one commit while others write") { context in
            let database = try context.open()
            let dao = try database.dao(Item.self)
            try dao.create(Item.make(Array(1...2000)))
            let isDone = Lock(false)
            let writer = Thread {
                // Every commit keeps the sum of the numbers.
                var round = 0
                while !isDone.withLock({ $0 }) {
                    round += 1
                    try? database.transaction {
                        try dao.persist(Item(id: 1 + round % 1000, name: "a", number: round))
                        try dao.persist(Item(id: 1001 + round % 1000, name: "b", number: -round))
                    }
                }
            }
            try dao.persist(Item.make(Array(1...2000)).map { Item(id: $0.id, name: "", number: 0) })
            writer.start()
            defer { isDone.withLock { $0 = true } }
            for _ in 1...5 {
                try database.backup(to: backupFile(context).path)
                let copy = try context.openOther("backup")
                let items = try copy.dao(Item.self).read()
                try expectEqual(items.count, 2000)
                let halves = (items.prefix(1000).map(\.number), items.suffix(1000).map { -$0.number })
                try expectEqual(halves.0, halves.1, "the numbers of both halves, which every commit keeps equal")
                try copy.expectVerified()
                try copy.close()
            }
        },
        ConformanceCase(
            "L.backupMeetsNewcomer", "L10", title: "what comes to the path while a backup is written is no backup either"
        ) { context in
            let database = try context.open()
            try database.dao(Item.self).create(Item.make([1, 2]))
            let file = try backupFile(context)
            let words = Data(String(repeating: "not a database ", count: 20).utf8)
            try expectError(.notADatabase, "words", path: file.path) {
                try database.backup(to: file.path) { _ in try? words.write(to: file) }
            }
            try expectEqual(try Data(contentsOf: file), words, "the other file")
            try FileManager.default.removeItem(at: file)
            let other = try context.openOther()
            try other.dao(Item.self).create(Item(id: 7, name: "of another database"))
            let prepared = file.appendingPathExtension("prepared")
            try other.backup(to: prepared.path)
            try expectError(.invalidConfiguration, "another database", path: file.path) {
                try database.backup(to: file.path) { _ in try? FileManager.default.copyItem(at: prepared, to: file) }
            }
            try expectEqual(try context.openOther("backup").dao(Item.self).read().map(\.id), [7], "the other database's backup")
        },
        ConformanceCase("L.backupRefusals", "L10", title: "what is no backup is never replaced") { context in
            let database = try context.open()
            try database.dao(Item.self).create(Item.make([1, 2]))
            let (file, manager) = (try backupFile(context), FileManager.default)
            let words = Data(String(repeating: "not a database ", count: 20).utf8)
            try words.write(to: file)
            try expectError(.notADatabase, path: file.path) { try database.backup(to: file.path) }
            try expectEqual(try Data(contentsOf: file), words, "the other file")
            try manager.removeItem(at: file)
            try expectError(.invalidConfiguration, "the database's own path") {
                try database.backup(to: context.file().path)
            }
            try expectError(.invalidConfiguration, "an empty path") { try database.backup(to: "") }
            try expectError(.notFound, "a missing directory") { try database.backup(to: file.path + ".none/backup") }
            try expectError(.notADatabase, "a directory") { try database.backup(to: file.deletingLastPathComponent().path) }
            try database.transaction {
                _ = try expectError(.invalidTransaction, "inside a transaction") { try database.backup(to: file.path) }
            }
            try database.snapshot {
                _ = try expectError(.invalidTransaction, "inside a snapshot") { try database.backup(to: file.path) }
            }
            try expectEqual(manager.fileExists(atPath: file.path), false, "a file after refusals")
            try database.backup(to: file.path)
            let copy = try context.openOther("backup")
            try copy.dao(Item.self).create(Item(id: 3, name: "three"))
            try expectError(.busy, "a backup that is open") { try database.backup(to: file.path) }
            try expectEqual(try copy.dao(Item.self).read().map(\.id), [1, 2, 3])
            try copy.close()
            try expectEqual(try database.dao(Item.self).read().map(\.id), [1, 2])
            try database.close()
            try expectError(.closed) { try database.backup(to: file.path) }
        },
        ConformanceCase("L.backupOfAnother", "L10", title: "the backup of another database is never replaced") { context in
            let file = try backupFile(context)
            let database = try context.open()
            // A backup without entities has nothing that could be lost.
            try database.backup(to: file.path)
            try database.dao(Item.self).create(Item.make([1, 2]))
            try database.backup(to: file.path)
            let other = try context.openOther("another")
            let bytes = try Data(contentsOf: file)
            func expectRefusal(_ what: String) throws {
                try expectError(.invalidConfiguration, what, path: file.path) { try other.backup(to: file.path) }
                try expectEqual(try Data(contentsOf: file), bytes, "the backup of the first database")
            }
            try expectRefusal("a database without entities")
            try other.dao(Item.self).create(Item.make([7]))
            try expectRefusal("another database")
            try database.dao(Item.self).create(Item.make([3]))
            try database.backup(to: file.path)
            let copy = try context.openOther("backup")
            try expectEqual(try copy.dao(Item.self).read().map(\.id), [1, 2, 3])
            // The backup of a backup is one of the same database.
            try copy.close()
            let restored = try context.openOther("backup")
            try database.close()
            try restored.backup(to: context.file().path)
            try restored.close()
            try expectEqual(try context.open().dao(Item.self).count(), 3)
        },
        ConformanceCase(
            "L.backupBesideStrangers", "L10",
            title: "a backup is a new file, whatever somebody has put where it is written; links there stay as they are"
        ) { context in
            let database = try context.open()
            try database.dao(Item.self).create(Item.make([1, 2]))
            let file = try backupFile(context)
            let stranger = file.deletingLastPathComponent().appendingPathComponent("stranger")
            let place = TemporaryFile.path(beside: file.resolvingSymlinksInPath().path, as: "backup")
            let words = Data("words of somebody else".utf8)
            for kind in ["left", "hard link", "symbolic link", "lost link", "pipe"] {
                try words.write(to: stranger)
                switch kind {
                case "left": try words.write(to: URL(fileURLWithPath: place))
                case "hard link": try FileManager.default.linkItem(atPath: stranger.path, toPath: place)
                case "symbolic link":
                    try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: stranger.path)
                case "lost link":
                    try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: file.path + ".no")
                default: try expectEqual(mkfifo(place, 0o666), 0)
                }
                chmod(place, 0o666)
                let opened = kind == "left" ? open(place, O_RDWR | O_CLOEXEC) : -1
                try database.backup(to: file.path)
                try expectEqual(try Data(contentsOf: stranger), words, "the file to which a \(kind) leads")
                try expect(!FileManager.default.fileExists(atPath: file.path + ".no"), "a \(kind) is not followed")
                if opened >= 0 {
                    // Whoever has it open does not have the backup.
                    let identity = FileIdentity(descriptor: opened)
                    close(opened)
                    try expect(identity != FileIdentity(file.path), "the backup is another file than what was left")
                }
                let copy = try context.openOther("backup")
                try expectEqual(try copy.dao(Item.self).count(), 2)
                try copy.close()
                var status = stat()
                try expectEqual(lstat(place, &status), -1, "the status of what was at the place")
            }
        },
        ConformanceCase(
            "L.backupOpenElsewhere", "L10", "C2", title: "a backup that another process has open is not replaced",
            requires: [.processes]
        ) { context in
            let database = try context.open()
            try database.dao(Item.self).create(Item.make([1, 2]))
            let file = try backupFile(context)
            try database.backup(to: file.path)
            let process = try context.startProcess(at: "backup")
            try expectEqual(try process.ask("count"), "0", "the count of the other process")
            try expectError(.busy) { try database.backup(to: file.path) }
            process.kill()
            try context.openOther("backup").close()
            try database.backup(to: file.path)
            try expectEqual(try context.openOther("backup").dao(Item.self).count(), 2)
        },
        ConformanceCase(
            concurrent: "L.backupUntilCancelled", "L10", title: "a backup whose task is cancelled leaves what was at the path"
        ) { context in
            let database = try context.open()
            let dao = try database.dao(Item.self)
            try await dao.create(Item.make([1, 2]))
            let file = try backupFile(context)
            try await database.backup(to: file.path)
            let earlier = try Data(contentsOf: file)
            try await dao.create(Item.make(Array(3...100)).map { Item(id: $0.id, name: String(repeating: "x", count: 50_000)) })
            try await expectCancellation { onProgress in try await database.backup(to: file.path) { _ in onProgress() } }
            try expectEqual(try Data(contentsOf: file), earlier, "the earlier backup")
            try await database.backup(to: file.path)
            let copy = try context.openOther("backup")
            let count = try await copy.dao(Item.self).count()
            try expectEqual(count, 100)
        },
    ]

    private static let compactions: [ConformanceCase] = [
        ConformanceCase(
            "L.compact", "L11", title: "after a compaction everything is there, in every database that was open",
            requires: [.evolution]
        ) { context in
            let (database, other) = (try context.open(), try context.open())
            try fill(database)
            try database.evolve(Evolution(version: 3))
            let seats = try other.dao(Seat.self)
            for round in 1...3 {
                let (topics, crates) = (try database.dao(Topic.self).read(), try database.dao(Crate.self).read())
                let report = try (round == 2 ? other : database).compact()
                try expectEqual(report.bytesAfter > report.bytesBefore, false, "the bytes after \(report)")
                for database in [database, other] {
                    try expectSame(try database.dao(Topic.self).read(), topics)
                    try expectSame(try database.dao(Crate.self).read(), crates)
                    try expectEqual(try database.schemaVersion, 3)
                }
                try expectSound(
                    try database.verify(),
                    ["crate": 1500, "seat": 8 + round, "topic": 3, "post": 4, "person": 3, "label": 2])
                try expectError(.uniqueViolation, entity: "seat", key: 600, conflictingKey: 4, field: "row, number") {
                    try seats.create(Seat(id: 600, row: 1, number: 4, name: "s600"))
                }
                try seats.create(Seat(id: 700 + round, number: 700 + round, name: "n\(round)"))
                try expectEqual(try database.dao(Seat.self).count { $0.number > 700 }, round, "the rows after the compaction")
            }
            try other.close()
            try database.close()
            guard database.capabilities.isPersistent else { return }
            try expectEqual(try context.open().dao(Seat.self).count { $0.number > 700 }, 3, "the rows after reopening")
        },
        ConformanceCase(
            "L.compactShrinks", "L11", title: "the space of erased rows is given back, as often as rows are erased",
            requires: [.file]
        ) { context in
            let database = try context.open()
            let crates = try database.dao(Crate.self)
            for _ in 1...2 {
                try crates.create(Crate.make(4000))
                _ = try database.compact()
                try crates.erase { $0.id > 10 }
                let report = try database.compact()
                guard report.bytesBefore > 0 else { return }
                try expectEqual(report.bytesAfter < report.bytesBefore / 2, true, "less than half of the bytes: \(report)")
                let size = try FileManager.default.attributesOfItem(atPath: context.file().path)[.size] as? Int
                try expectEqual(size, report.bytesAfter, "the size of the file")
                try expectEqual(try crates.read().map(\.id), Array(1...10))
                try crates.erase()
            }
        },
        ConformanceCase("L.compactRefusals", "L11", "T1", title: "inside a transaction nothing is made smaller") { context in
            let database = try context.open()
            let dao = try database.dao(Item.self)
            try dao.create(Item.make([1, 2]))
            try database.transaction {
                try dao.create(Item.make([3]))
                _ = try expectError(.invalidTransaction, "inside a transaction") { try database.compact() }
            }
            if database.capabilities.hasSnapshotReads {
                try database.snapshot {
                    _ = try expectError(.invalidTransaction, "inside a snapshot") { try database.compact() }
                }
            }
            try expectEqual(try dao.read().map(\.id), [1, 2, 3])
            let report = try database.compact()
            try database.close()
            if report.bytesBefore > 0 { _ = try expectError(.closed) { try database.compact() } }
        },
        ConformanceCase(
            "L.compactBesideOthers", "L11", "C3", title: "a compaction leaves the handles of other databases as they were"
        ) { context in
            let (database, other) = (try context.open(), try context.openOther())
            let (dao, others) = (try database.dao(Item.self), try other.dao(Item.self))
            for each in [dao, others] { try each.create(Item.make(Array(1...500))) }
            try dao.erase { $0.id > 10 }
            _ = try database.compact()
            let (again, othersAgain) = (try context.open().dao(Item.self), try context.openOther().dao(Item.self))
            try other.transaction {
                try others.erase { $0.id > 1 }
                try expectEqual(try othersAgain.count(), 1, "the rows of a second handle inside the transaction of the first")
                try othersAgain.create(Item.make([2]))
            }
            try expectEqual(try others.read().map(\.id), [1, 2])
            try database.transaction {
                try dao.erase { $0.id > 1 }
                try expectEqual(try again.count(), 1, "the rows of a second handle of the database that was compacted")
            }
        },
        ConformanceCase(
            concurrent: "L.compactBeside", "L11", "C1", title: "calls of other threads go on, or wait, while compactions run"
        ) { context in
            let database = try context.open()
            let dao = try database.dao(Item.self)
            try await dao.create(Item.make(Array(1...500)).map { Item(id: $0.id, name: "", number: 0) })
            let isDone = Lock(false)
            defer { isDone.withLock { $0 = true } }
            let threads = (0..<3).map { number in
                Task(executorPreference: TaskThreads.shared) { @Sendable in
                    var round = 0
                    while !isDone.withLock({ $0 }) {
                        round += 1
                        if number == 0 {
                            try await dao.persist(Item(id: 1 + round % 500, name: "w", number: round))
                        } else {
                            let count = try await dao.count()
                            try expectEqual(count, 500, "the rows beside a compaction")
                        }
                    }
                }
            }
            for _ in 1...5 { _ = try await database.compact() }
            isDone.withLock { $0 = true }
            for thread in threads { try await thread.value }
            let ids = try await dao.read().map(\.id)
            try expectEqual(ids, Array(1...500))
        },
        ConformanceCase(
            "L.compactUnderSnapshot", "L11", "T3", title: "a compaction waits for a snapshot, or leaves it as it was",
            requires: [.snapshotReads, .configuration]
        ) { context in
            let database = try context.open { $0.busyTimeout = .milliseconds(20) }
            let dao = try database.dao(Item.self)
            try dao.create(Item.make(Array(1...2000)))
            try dao.erase { $0.id > 500 }
            try database.snapshot {
                try expectEqual(try dao.count(), 500, "the rows before")
                let compaction = Background {
                    do {
                        _ = try database.compact()
                    } catch let error as StorageError where error.kind == .busy {}
                }
                try compaction.wait()
                try expectEqual(try dao.read().map(\.id), Array(1...500), "the rows of the snapshot after a compaction")
            }
            _ = try database.compact()
            try expectEqual(try dao.read { $0.number > 4900 }.map(\.id), Array(491...500))
        },
        ConformanceCase(
            "L.compactHoldsNobodyUp", "L11", "C1",
            title: "a compaction that waits for a snapshot holds no writer and no reader up",
            requires: [.snapshotReads, .configuration]
        ) { context in
            let database = try context.open { $0.busyTimeout = .seconds(2) }
            let other = try context.open { $0.busyTimeout = .seconds(30) }
            let (dao, others) = (try database.dao(Item.self), try other.dao(Item.self))
            try dao.create(Item.make(Array(1...2000)))
            try dao.erase { $0.id > 500 }
            try database.snapshot {
                try expectEqual(try dao.count(), 500, "the rows before")
                let compaction = Background {
                    do {
                        _ = try database.compact()
                    } catch let error as StorageError where error.kind == .busy {}
                }
                let writes = Background {
                    for id in 3000..<3005 {
                        Thread.sleep(forTimeInterval: 0.1)
                        let began = ContinuousClock.now
                        try others.create(Item.make([id]))
                        try expectEqual(try others.exists(byPrimaryKey: id), true, "the row")
                        let waited = ContinuousClock.now - began
                        try expect(waited < .seconds(1), "a write and a read beside a compaction that waits took \(waited)")
                    }
                }
                try writes.wait()
                try compaction.wait()
                try expectEqual(try dao.count(), 500, "the rows of the snapshot after a compaction")
            }
            try expectEqual(try dao.count(), 505, "the rows")
        },
        ConformanceCase(
            "L.compactOpenElsewhere", "L11", "C2", title: "a process that has the file open loses nothing by a compaction",
            requires: [.processes]
        ) { context in
            let database = try context.open { $0.busyTimeout = .milliseconds(100) }
            let ledger = try ProcessLedger(database)
            try ledger.increment()
            let process = try context.startProcess()
            try expectEqual(try process.ask("count"), "1", "the count of the other process")
            do {
                _ = try database.compact()
            } catch let error as StorageError where error.kind == .busy {}
            try expectEqual(try process.ask("increment 2"), "done", "a write of the other process")
            try expectEqual(try ledger.count(), 3, "the count")
            process.kill()
            _ = try database.compact()
            try expectEqual(try ledger.count(), 3, "the count after the compaction")
            try expectEqual(try context.startProcess().ask("count"), "3", "the count of a later process")
        },
        ConformanceCase(
            "L.compactGivenUp", "L11", "C2", "L8",
            title: "after a compaction that was given up for a reader, that of another process leaves this one its file",
            requires: [.processes, .snapshotReads]
        ) { context in
            let database = try context.open { $0.busyTimeout = .milliseconds(1500) }
            let ledger = try ProcessLedger(database)
            try ledger.increment()
            // So many rows that a reader begins while they are copied.
            let items = try database.dao(Item.self)
            try items.create((0..<6000).map { Item(id: 10_000 + $0, name: String(repeating: "x", count: 500)) })
            try items.erase { $0.id >= 10_000 && $0.id < 12_000 }
            let isOver = Shared(false)
            let reader = Background {
                while !isOver.value {
                    try database.snapshot {
                        _ = try ledger.count()
                        Thread.sleep(forTimeInterval: 0.4)
                    }
                    Thread.sleep(forTimeInterval: 0.01)
                }
            }
            do {
                _ = try database.compact()
            } catch let error as StorageError where error.kind == .busy {}
            isOver.change { $0 = true }
            try reader.wait()
            let process = try context.startProcess()
            try expectEqual(try process.ask("count"), "1", "the count of the other process")
            let answer = try process.ask("compact")
            try expect(["done", "busy"].contains(answer), "the answer of the other process: \(answer)")
            try ledger.increment()
            try expectEqual(try process.ask("count"), "2", "the count of the other process after a write of this one")
            try expectEqual(try process.ask("increment 1"), "done", "a write of the other process")
            try expectEqual(try ledger.count(), 3, "the count")
            try expectEqual(try items.count { $0.id >= 10_000 }, 4000, "the rows")
        },
    ]

    /// Stores rows in entities with all kinds of indexes and links, changes and erases some.
    private static func fill(_ database: any Database) throws {
        let crates = try database.dao(Crate.self)
        try crates.create(Crate.make(2000))
        _ = try crates.update(where: { $0.id <= 500 }) { $0.title = ($0.title ?? "") + "+" }
        _ = try crates.erase { $0.id > 1500 }
        let seats = try database.dao(Seat.self)
        try seats.create((1...10).map { Seat(id: $0, row: $0 % 3 == 0 ? nil : 1, number: $0, name: "s\($0)") })
        try seats.erase(byPrimaryKey: 10)
        try? database.transaction {
            try seats.create(Seat(id: 50, number: 50, name: "s50"))
            try crates.erase()
            throw CancellationError()
        }
        let topics = try database.dao(Topic.self)
        try topics.create(
            (1...4).map { number in
                Topic(
                    id: "t\(number)", title: "topic", owner: number == 2 ? nil : Person(id: number, name: "p\(number)"),
                    posts: Post.make([number * 10, number * 10 + 1]), labels: [Label.make(1), Label.make(2)])
            })
        try topics.persist(Topic(id: "t1", title: "shorter", owner: Person(id: 3, name: "p3"), posts: Post.make([10])))
        try topics.erase(byPrimaryKey: "t4")
        try database.dao(Post.self).erase(byPrimaryKey: 20)
    }

    private static let suspensions: [ConformanceCase] = [
        ConformanceCase(
            concurrent: "L.suspended", "L13", title: "after a suspension every call, storage and observation goes on"
        ) { context in
            let database = try context.open()
            let dao = try database.dao(Item.self)
            try await dao.create(Item.make([1]))
            var results = dao.observe().makeAsyncIterator()
            _ = try await results.next()
            for round in 2...4 {
                do {
                    try await database.suspend()
                } catch let error as StorageError where error.kind == .unsupported {
                    return
                }
                try expectEqual(openFiles(in: context.location.directory), [], "the open files while it is suspended")
                let count = try await dao.count()
                try expectEqual(count, round - 1, "the rows after a suspension")
                try await database.suspend()
                try await dao.create(Item.make([round]))
                let seen = try await results.next()?.map(\.id)
                try expectEqual(seen ?? [], Array(1...round), "the observed rows")
            }
            try await database.transaction {
                _ = try expectError(.invalidTransaction, "inside a transaction") { try database.suspend() }
            }
        },
        ConformanceCase(
            concurrent: "L.suspendedBesideAProcess", "L13", "O1", "C2",
            title: "an observation delivers what another process has committed during a suspension, from the next call on",
            requires: [.processes]
        ) { context in
            let ledger = try ProcessLedger(context.open())
            let process = try context.startProcess()
            let items = try ledger.database.dao(Item.self)
            var counts = Observations.Results(ledger.database.observe { try ledger.count() })
            _ = try await counts.next("the first count")
            for round in 1...3 {
                do {
                    try await ledger.database.suspend()
                } catch let error as StorageError where error.kind == .unsupported {
                    return
                }
                try expectEqual(try process.ask("increment 1"), "done")
                // A call that reads another entity, or writes one.
                if round == 2 { try await items.persist(Item(id: round, name: "")) } else { _ = try await items.count() }
                let count = try await counts.next("the count after suspension \(round)")
                try expectEqual(count, round, "the observed count")
            }
        },
    ]

    /// Observations that hear of commits of another process after suspensions that end in either way.
    private static let observedSuspensions: [ConformanceCase] = [
        ConformanceCase(
            concurrent: "L.busySuspensionBesideAProcess", "L13", "O1", "C2",
            title: "a suspension that is busy leaves observations as they are: they deliver what another process commits",
            requires: [.processes, .configuration, .snapshotReads]
        ) { context in
            let ledger = try ProcessLedger(context.open { $0.busyTimeout = .milliseconds(50) })
            let process = try context.startProcess()
            try await ledger.counters.create(Counter(id: 1, value: 0))
            var counts = Observations.Results(ledger.database.observe { try ledger.count() })
            _ = try await counts.next("the first count")
            for round in 1...2 {
                let (isOpen, mayEnd) = (Signal(), Signal())
                let reader = Background {
                    try ledger.database.snapshot {
                        _ = try ledger.count()
                        isOpen.send()
                        try expect(mayEnd.wait(seconds: 30), "the suspension to end")
                    }
                }
                defer { mayEnd.send() }
                try expect(isOpen.wait(), "the snapshot to begin")
                do {
                    try await ledger.database.suspend()
                    throw fail("a suspension beside a snapshot that is not busy")
                } catch let error as StorageError where error.kind == .unsupported {
                    return
                } catch let error as StorageError where error.kind == .busy {}
                if round == 2 {
                    mayEnd.send()
                    try reader.wait()
                }
                try expectEqual(try process.ask("increment 1"), "done")
                let count = try await counts.next("the count after suspension \(round)")
                try expectEqual(count, round, "the observed count")
                mayEnd.send()
                try reader.wait()
            }
        }
    ]

    private static func expectSound(_ report: VerificationReport, _ rows: [String: Int]) throws {
        try expectEqual(report.problems.map(\.description), [], "the problems")
        try expectEqual(report.isSound, true)
        let hidden = report.rows.filter { rows[$0.key] == nil && $0.key.hasPrefix("dao") }
        try expectEqual(report.rows.filter { hidden[$0.key] == nil }, rows, "the rows of the report")
    }

    /// Runs a call in a task, cancels the task at the call's first progress, and expects `CancellationError`.
    private static func expectCancellation(_ call: @escaping @Sendable (@escaping @Sendable () -> Void) async throws -> Void)
        async throws
    {
        let cancel = Lock<(@Sendable () -> Void)?>(nil)
        let isKnown = DispatchSemaphore(value: 0)
        let task = Task(executorPreference: TaskThreads.shared) {
            try await call {
                // Cancels inside the call. The progress comes on a thread that may wait.
                isKnown.wait()
                isKnown.signal()
                cancel.withLock { $0?() }
            }
        }
        cancel.withLock { $0 = { task.cancel() } }
        isKnown.signal()
        do {
            try await task.value
        } catch is CancellationError {
            return
        }
        throw fail("expected: CancellationError")
    }

    /// The path of a backup: that of the file of another database.
    private static func backupFile(_ context: ConformanceContext) throws -> URL { try context.fileOfOther("backup") }
}
