import DAOCore
import DAOTestSupport
import Foundation

/// C1 and C3: threads, tasks, and handles that share one database.
enum Concurrency {
    static let cases: [ConformanceCase] = threads + tasks + sharing

    private static let threads: [ConformanceCase] = [
        ConformanceCase(
            "C.mixedVerbs", "C1", title: "every operation may run on eight threads at once", requires: [.serialWriters]
        ) { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...200))
            try onThreads(8) { thread in
                var random = SeededGenerator(seed: UInt64(thread))
                for step in 0..<60 {
                    let id = Int.random(in: 1...200, using: &random)
                    switch (thread + step) % 8 {
                    case 0: try dao.persist(Item(id: id, name: "n", number: id * 10))
                    case 1: try dao.erase(byPrimaryKey: id)
                    case 2: try dao.update(where: { $0.id == id }) { $0.note = "note" }
                    case 3: _ = try dao.read(byPrimaryKey: id)
                    case 4: _ = try dao.read(orderedBy: .descending(\.number), limit: 10) { $0.number > id }
                    case 5: _ = try dao.count { $0.number >= id }
                    case 6: _ = try dao.read(byPrimaryKeys: [id, id + 1])
                    default: try dao.forEach(Query(limit: 20)) { _ in }
                    }
                }
            }
            let rows = try dao.read()
            try expectEqual(rows.map(\.id), rows.map(\.id).sorted(), "the order of the keys")
            try expect(rows.allSatisfy { $0.number == $0.id &* 10 }, "every row to be whole")
            try expectEqual(try dao.count { $0.number > 0 }, rows.count, "rows through the index")
        },
        ConformanceCase("C.disjointWriters", "C1", title: "eight threads that write separate rows lose none") { context in
            let dao = try context.dao(Item.self)
            try onThreads(8) { thread in
                for batch in 0..<10 {
                    try dao.create(Item.make((thread * 1000 + batch * 10)..<(thread * 1000 + batch * 10 + 10)))
                }
            }
            try expectEqual(try dao.read().map(\.id), (0..<8).flatMap { thread in (0..<100).map { thread * 1000 + $0 } })
        },
        ConformanceCase(
            "C.transactionsInCircle", "C1",
            title: "of two transactions that wait for each other's databases, one is busy at once, and the other ends",
            requires: [.serialWriters]
        ) { context in
            let databases = [try context.open(), try context.openOther()]
            let (inside, kinds, start) = (Shared(0), Shared<[StorageError.Kind]>([]), Date())
            try onThreads(2) { thread in
                do {
                    try databases[thread].transaction {
                        inside.change { $0 += 1 }
                        while inside.value < 2, Date().timeIntervalSince(start) < 5 { usleep(1000) }
                        try databases[1 - thread].transaction {}
                    }
                } catch let error as StorageError {
                    kinds.change { $0.append(error.kind) }
                }
            }
            try expectEqual(kinds.value, [.busy], "the errors")
            try expect(Date().timeIntervalSince(start) < 2, "no waiting")
            try databases[0].transaction { try databases[1].transaction {} }
        },
        ConformanceCase(
            "C.waitsAfterACircle", "C1",
            title: "a thread that was busy because of a circle waits no longer: others wait for it as for any",
            requires: [.serialWriters]
        ) { context in
            let databases = [try context.open(), try context.openOther()]
            let daos = try databases.map { try $0.dao(Item.self) }
            let (inside, ended, refused, start) = (Shared(0), Shared(0), Shared<[Int]>([]), Date())
            let (holds, hasWaited) = (Signal(), Signal())
            try onThreads(2) { thread in
                do {
                    defer { ended.change { $0 += 1 } }
                    try databases[thread].transaction {
                        inside.change { $0 += 1 }
                        while inside.value < 2, Date().timeIntervalSince(start) < 5 { usleep(1000) }
                        do {
                            try databases[1 - thread].transaction {}
                        } catch let error as StorageError where error.kind == .busy {
                            refused.change { $0.append(thread) }
                        }
                    }
                }
                while ended.value < 2, Date().timeIntervalSince(start) < 30 { usleep(1000) }
                try expectEqual(refused.value.count, 1, "the threads that were busy")
                if refused.value == [thread] {
                    try databases[thread].transaction {
                        holds.send()
                        // Long enough for a refusal that comes at once.
                        _ = hasWaited.wait(seconds: 0.1)
                        try daos[thread].create(Item.make([1]))
                    }
                } else {
                    defer { hasWaited.send() }
                    try expect(holds.wait(), "the other thread to begin again")
                    try databases[thread].transaction {
                        try databases[1 - thread].transaction { try daos[1 - thread].create(Item.make([2])) }
                    }
                }
            }
            try expectEqual(try daos[refused.value[0]].read().map(\.id), [1, 2], "the rows of both transactions")
        },
        ConformanceCase(
            "C.waitsInsideAnother", "C1", "T4",
            title: "a transaction waits for the writer of another database, which waits for nothing, and goes on",
            requires: [.serialWriters]
        ) { context in
            let (database, other) = (try context.open(), try context.openOther())
            let (dao, others) = (try database.dao(Item.self), try other.dao(Item.self))
            let isInside = Signal()
            let holder = Background {
                try other.transaction {
                    isInside.send()
                    usleep(100_000)
                    try others.create(Item.make([1]))
                }
            }
            try expect(isInside.wait(), "the other transaction to begin")
            try database.transaction {
                try other.transaction { try others.create(Item.make([2])) }
                try dao.create(Item.make([3]))
            }
            try holder.wait()
            try expectEqual(try others.read().map(\.id), [1, 2], "the rows of the database that both write")
            try expectEqual(try dao.read().map(\.id), [3], "the rows of the database of the transaction that waited")
        },
        ConformanceCase("C.wholeBatches", "C1", "W3", title: "readers see complete batches only") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...50))
            let isDone = Shared(false)
            let readers = (0..<3).map { _ in
                Background {
                    while !isDone.value {
                        let numbers = Set(try dao.read().map(\.number))
                        try expect(
                            numbers.count <= 1 || numbers == Set((1...50).map { $0 * 10 }),
                            "the same number in all rows, got \(numbers.count) numbers")
                        let (some, all) = (try dao.count(where: { $0.number < 0 }), 50)
                        try expect(some == 0 || some == all, "all rows of a batch or none, got \(some)")
                    }
                }
            }
            defer { isDone.change { $0 = true } }
            for round in 1...60 { try dao.persist((1...50).map { Item(id: $0, name: "round", number: -round) }) }
            isDone.change { $0 = true }
            for reader in readers { try reader.wait(seconds: 30, "a reader") }
        },
        ConformanceCase(
            "C.freshReadsBeside", "C4", title: "a read by key, among many others, sees each commit that returned before it began"
        ) { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item(id: 1, name: "n", number: 0))
            let (committed, isDone) = (Shared(0), Shared(false))
            let readers = (0..<3).map { _ in
                Background {
                    while !isDone.value {
                        let earlier = committed.value
                        let number = try dao.read(byPrimaryKey: 1)?.number ?? -1
                        try expect(number >= earlier, "number \(earlier), which was committed, or a later one, got \(number)")
                    }
                }
            }
            defer { isDone.change { $0 = true } }
            for number in 1...300 {
                try dao.persist(Item(id: 1, name: "n", number: number))
                committed.change { $0 = number }
                try expectEqual(try dao.read(byPrimaryKey: 1)?.number, number, "the number that this thread committed")
                // Then many reads follow each other.
                if number.isMultiple(of: 10) { usleep(1000) }
            }
            isDone.change { $0 = true }
            for reader in readers { try reader.wait(seconds: 30, "a reader") }
        },
        ConformanceCase("C.manyReaders", "C1", title: "one hundred and fifty threads may read at once") { context in
            let dao = try context.dao(Item.self)
            try dao.create(Item.make(1...100))
            try onThreads(150) { thread in
                for _ in 0..<3 { try expectEqual(try dao.count { $0.number > 500 }, 50, "rows thread \(thread) counts") }
            }
        },
        ConformanceCase(
            "C.manyCursors", "C1", "Q6",
            title: "one hundred cursors may be open at once and may be abandoned before their end"
        ) { context in
            let storage = try context.storage(Item.self)
            try storage.insert(Item.make(1...500))
            for _ in 0..<5 {
                var cursors: [RowCursor<Item>] = []
                for _ in 0..<100 {
                    let cursor = try storage.cursor(Query())
                    try expectEqual(try cursor.next(3).map(\.id), [1, 2, 3])
                    cursors.append(cursor)
                }
                for cursor in cursors.prefix(50) { cursor.close() }
            }
            try storage.insert(Item.make([501]))
            try expectEqual(try storage.count(), 501)
        },
        ConformanceCase("C.storageRace", "C1", title: "eight threads may ask for the same new storage at once") { context in
            let database = try context.open()
            try onThreads(8) { thread in
                let (items, users) = (try database.dao(Item.self), try database.dao(User.self))
                try items.persist(Item(id: thread, name: "n"))
                try users.persist(User(id: Int64(thread), name: "n", age: 1))
            }
            try expectEqual(try database.dao(Item.self).count(), 8)
            try expectEqual(try database.dao(User.self).count(), 8)
        },
        ConformanceCase("C.otherQueues", "C1", title: "a second thread may change a thread's row, a third erase it") { context in
            let database = try context.open()
            let dao = Shared<DAO<Item>?>(nil)
            try onThreads(1) { _ in
                let made = try database.dao(Item.self)
                try made.create(Item.make(1...3))
                dao.change { $0 = made }
            }
            try onThreads(1) { _ in try expectEqual(try require(dao.value, "the DAO").count(), 3) }
            try onThreads(1) { _ in try expectEqual(try require(dao.value, "the DAO").erase(), 3) }
        },
    ]

    private static let tasks: [ConformanceCase] = [
        ConformanceCase(concurrent: "C.asyncForms", "C1", title: "every async form answers as the synchronous form") { context in
            let dao = try context.dao(Item.self)
            try await dao.create(Item.make(1...5))
            try await dao.create(Item(id: 6, name: "Item #6", number: 60))
            try await dao.persist(Item(id: 7, name: "Item #7", number: 70))
            try await dao.persist(Item.make(8...10))
            let all = try await dao.read()
            try expectSame(all, Item.make(1...10))
            let one = try await dao.read(byPrimaryKey: 3)
            try expectSame(one, Item.make([3]).first)
            let some = try await dao.read(byPrimaryKeys: [9, 2])
            try expectSame(some.map(\.id), [9, 2])
            let found = try await dao.read(orderedBy: .descending(\.number), limit: 2) { $0.number < 60 }
            try expectSame(found.map(\.id), [5, 4])
            let count = try await dao.count { $0.number > 50 }
            try expectEqual(count, 5)
            let exists = try await dao.exists(byPrimaryKey: 4)
            try expect(exists, "key 4 to exist")
            let sum = try await dao.sum(\.number)
            try expectEqual(sum, 550)
            let sums = (
                try await dao.sum(\.number) { $0.id > 8 }, try await dao.min(\.number) { $0.id > 8 },
                try await dao.max(\.number) { $0.id > 8 }, try await dao.average(\.number) { $0.id > 8 }
            )
            try expect(sums == (190, 90, 100, 95), "the totals of two rows: \(sums)")
            let prepared = Condition<Item> { $0.id > 8 }
            let read = try await dao.read(where: prepared)
            try expectSame(read.map(\.id), [9, 10])
            let counted = try await dao.count(where: prepared)
            try expectEqual(counted, 2)
            var observed = dao.observe(orderedBy: .descending(\.id), where: prepared).makeAsyncIterator()
            let observedNow = try await observed.next()
            try expectSame(observedNow?.map(\.id), [10, 9])
            let reported = try await dao.read(Query(where: prepared), unreadable: .report { _ in })
            try expectSame(reported.map(\.id), [9, 10])
            let visited = Shared<[Int]>([])
            try await dao.forEach(Query(orderedBy: [.descending(\.id)], limit: 2)) { item in
                visited.change { $0.append(item.id) }
            }
            try expectSame(visited.value, [10, 9])
            let keys = try await dao.storage.reading { try $0.keys(Query(limit: 2)) }
            try expectSame(keys, [.integer(1), .integer(2)])
            let created = try await dao.storage.writing { try $0.create { $0.id = 11 } }
            try expectEqual(created.id, 11)
            let erasedAgain = try await dao.erase(where: Condition { $0.id == 11 })
            try expectEqual(erasedAgain, 1)
            let changed = try await dao.update(where: { $0.id > 8 }) { $0.note = "x" }
            try expectEqual(changed, 2)
            let erased = try await dao.erase { $0.id <= 4 }
            try expectEqual(erased, 4)
            let gone = try await dao.erase(byPrimaryKeys: [5, 5, 1])
            try expectEqual(gone, 1)
            let rest = try await dao.erase()
            try expectEqual(rest, 5)
            try await expectAsyncError(.invalidKey, entity: "item", key: "text") {
                _ = try await dao.read(byPrimaryKey: "text")
            }
        },
        ConformanceCase(
            concurrent: "C.asyncErrors", "C1", "W3",
            title: "asynchronous forms throw errors unchanged, and the failed calls store nothing"
        ) { context in
            let storage = try context.storage(Item.self)
            let dao = DAO(
                storage: storage,
                translator: ScriptedTranslator(make: { plain in
                    if plain.id == 3 { throw DeliberateError(number: 3) }
                    return plain
                }))
            do {
                try await dao.create(Item.make(1...5))
                throw fail("expected the translator's error")
            } catch let error as DeliberateError {
                try expectEqual(error.number, 3)
            }
            let count = try await dao.count()
            try expectEqual(count, 0)
            try await dao.create(Item.make([1]))
            try await expectAsyncError(.duplicateKey, entity: "item", key: 1, field: "id") {
                try await dao.create(Item.make([1]))
            }
        },
        ConformanceCase(concurrent: "C.manyTasks", "C1", title: "two hundred tasks make progress on a small pool") { context in
            let dao = try context.dao(Item.self)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in 0..<200 {
                    group.addTask {
                        try await dao.persist(Item(id: id, name: "task"))
                        _ = try await dao.read(byPrimaryKey: id)
                    }
                }
                try await group.waitForAll()
            }
            let count = try await dao.count()
            try expectEqual(count, 200)
        },
        ConformanceCase(
            concurrent: "C.cancelledTask", "C1",
            title: "the call of a cancelled task throws or is complete, and the database stays usable"
        ) { context in
            let dao = try context.dao(Item.self)
            for round in 0..<20 {
                let task = Task(executorPreference: TaskThreads.shared) {
                    try await dao.create(Item.make((round * 10)..<(round * 10 + 10)))
                }
                if round % 2 == 0 { task.cancel() }
                _ = await task.result
            }
            let count = try await dao.count()
            try expect(
                count % 10 == 0 && count >= 100, "complete batches, at least the ten that were not cancelled; got \(count)")
        },
        ConformanceCase(
            concurrent: "C.cancelledReads", "C5",
            title: "a read of any form ends when its task is cancelled, and the next one works"
        ) { context in
            let (database, items) = try context.open(with: Item.self)
            try await items.create((1...3000).map { Item(id: $0, name: "Item #\($0)", number: $0 % 7) })
            let reads: [(String, @Sendable () throws -> Void)] = [
                ("a count", { _ = try items.count { $0.name.contains("no such item") } }),
                ("rows", { _ = try items.read { $0.number > 2 } }),
                ("a sort", { _ = try items.read(orderedBy: .descending(\.name), limit: 3) }),
                ("groups", { _ = try items.groups(by: \.number, totals: .count) }),
                ("a sum", { _ = try items.sum(\.number) { $0.name.contains("1") } }),
            ]
            for (what, read) in reads {
                // Each reads again and again for ten seconds, if nothing ends it.
                let again: @Sendable () throws -> Void = {
                    let end = ContinuousClock.now + .seconds(10)
                    while .now < end { try read() }
                }
                let calls: [(String, @Sendable () async throws -> Void)] = [
                    ("synchronous", { try again() }),
                    ("in a snapshot", { try await database.snapshot { try again() } }),
                    (
                        "in a transaction",
                        {
                            try await database.transaction {
                                try items.persist(Item(id: 9999, name: "cancelled", number: 0))
                                try again()
                            }
                        }
                    ),
                ]
                for (form, call) in calls {
                    if form == "in a snapshot", !database.capabilities.hasSnapshotReads { continue }
                    // Neither the call nor its cancellation waits for a thread of the pool, which other cases occupy.
                    let task = Task.detached(executorPreference: TaskThreads.shared) { try await call() }
                    TaskThreads.startThread {
                        Thread.sleep(forTimeInterval: 0.02)
                        task.cancel()
                    }
                    do {
                        try await task.value
                        throw fail("\(what) \(form): expected a CancellationError")
                    } catch is CancellationError {}
                    let count = try await items.count()
                    try expectEqual(count, 3000, "\(what) \(form): the rows afterwards")
                }
            }
        },
        ConformanceCase(
            concurrent: "C.asyncStream", "C1", "Q6", title: "an asynchronous read of rows one by one gives all rows in order"
        ) { context in
            let dao = try context.dao(Item.self)
            try await dao.create(Item.make(1...1000))
            var ids: [Int] = []
            for try await item in dao.stream(Query(where: Condition { $0.number > 100 })) { ids.append(item.id) }
            try expectEqual(ids, Array(11...1000))
            for try await item in dao.stream() where item.id == 5 { break }
            let erased = try await dao.erase()
            try expectEqual(erased, 1000)
        },
    ]

    private static let sharing: [ConformanceCase] = [
        ConformanceCase("C.handlesShare", "C3", title: "two handles on one location share rows in both directions") { context in
            let (first, second) = (try context.open(), try context.open())
            let (one, two) = (try first.dao(Item.self), try second.dao(Item.self))
            try one.create(Item.make([1]))
            try expectSame(try two.read(), Item.make([1]))
            try two.persist(Item(id: 1, name: "changed", number: 5))
            try expectSame(try one.read { $0.number == 5 }.map(\.name), ["changed"])
            try expectError(.duplicateKey, entity: "item", key: 1, field: "id") { try one.create(Item.make([1])) }
            try expectEqual(try two.erase(), 1)
            try expectEqual(try one.count(), 0)
        },
        ConformanceCase(
            "C.handlesSameOptions", "C3", title: "a second handle with the options of the first shares its rows",
            requires: [.configuration]
        ) { context in
            for (name, value) in [("checksums", "false"), ("checksums", "true"), ("maxReaders", "20")] {
                let first: any Database
                do {
                    first = try context.open { $0.options[name] = value }
                } catch let error as StorageError where error.kind == .invalidConfiguration { continue }
                let second = try context.open { $0.options[name] = value }
                try first.dao(Item.self).persist(Item.make([1]))
                try expectSame(try second.dao(Item.self).read(), Item.make([1]), "the rows with \(name)=\(value)")
                try first.close()
                try second.dao(Item.self).erase()
                try second.close()
            }
        },
        ConformanceCase("C.locationsApart", "C3", title: "databases at two locations share nothing") { context in
            let (first, second) = (try context.open(), try context.openOther())
            try first.dao(Item.self).create(Item.make([1]))
            try expectEqual(try second.dao(Item.self).count(), 0)
            try second.dao(Item.self).create(Item.make([1, 2]))
            try expectEqual(try first.dao(Item.self).count(), 1)
        },
        ConformanceCase("C.handlesJoin", "C3", "T1", title: "a DAO of a second handle joins the first's transaction") { context in
            let (first, second) = (try context.open(), try context.open())
            let (one, two) = (try first.dao(Item.self), try second.dao(Item.self))
            try expectDeliberate {
                try first.transaction {
                    try one.create(Item.make([1]))
                    try two.create(Item.make([2]))
                    try expectEqual(try two.count(), 2, "rows that the second handle sees inside the transaction")
                    throw DeliberateError()
                }
            }
            try expectEqual(try two.count(), 0)
            try second.transaction { try one.create(Item.make([3])) }
            try expectEqual(try two.read().map(\.id), [3])
        },
        ConformanceCase("C.handlesSerialise", "C3", "T4", title: "increments through two handles all count") { context in
            let databases = [try context.open(), try context.open()]
            try databases[0].dao(Counter.self).create(Counter(id: 1, value: 0))
            try onThreads(4) { thread in
                let database = databases[thread % 2]
                let dao = try database.dao(Counter.self)
                for _ in 0..<25 {
                    try database.transaction(retrying: database.retries) {
                        var counter = try require(try dao.read(byPrimaryKey: 1), "the counter")
                        counter.value &+= 1
                        try dao.persist(counter)
                    }
                }
            }
            try expectEqual(try databases[0].dao(Counter.self).read().map(\.value), [100])
        },
        ConformanceCase("C.closeOneHandle", "C3", "L2", title: "closing one handle leaves the other working") { context in
            let (first, second) = (try context.open(), try context.open())
            let (one, two) = (try first.dao(Item.self), try second.dao(Item.self))
            try one.create(Item.make([1]))
            try first.close()
            try expectError(.closed) { try one.read() }
            try expectSame(try two.read(), Item.make([1]))
            try two.create(Item.make([2]))
            let third = try context.open()
            try expectEqual(try third.dao(Item.self).count(), 2)
        },
        ConformanceCase("C.dropOneHandle", "C3", title: "dropping one handle leaves the other working") { context in
            var first: (any Database)? = try context.open()
            let second = try context.open()
            try first?.dao(Item.self).create(Item.make([1]))
            first = nil
            let two = try second.dao(Item.self)
            try expectSame(try two.read(), Item.make([1]))
            try two.create(Item.make([2]))
            try expectEqual(try two.count(), 2)
        },
        ConformanceCase(
            "C.openCloseRace", "C3", "C1",
            title: "opening and closing from four threads gives one database and typed errors only"
        ) { context in
            let dao = try context.dao(Counter.self)
            try dao.create(Counter(id: 1, value: 0))
            try onThreads(4) { _ in
                for _ in 0..<15 {
                    let (database, own) = try context.open(with: Counter.self)
                    try database.transaction(retrying: database.retries) {
                        var counter = try require(try own.read(byPrimaryKey: 1), "the counter")
                        counter.value &+= 1
                        try own.persist(counter)
                    }
                    try database.close()
                }
            }
            try expectEqual(try dao.read().map(\.value), [60])
        },
        ConformanceCase("C.capabilitiesSame", "C3", title: "every handle declares the same capabilities and engine") { context in
            let (first, second) = (try context.open(), try context.open())
            try expect(!first.capabilities.engine.isEmpty, "an engine's name")
            try expectEqual(first.capabilities, second.capabilities, "the capabilities of a second handle")
            try first.dao(Item.self).create(Item.make([1]))
            try expectEqual(first.capabilities, second.capabilities, "the capabilities after a write")
            try expect(!first.capabilities.isReadOnly, "a database that can be written")
        },
        ConformanceCase(
            "C.pathSpelling", "C3", title: "one file under two spellings of its path is one database",
            requires: [.file, .configuration]
        ) { context in
            let first = try context.open()
            let file = try context.file()
            let detour = file.deletingLastPathComponent().appendingPathComponent(".").path + "/./" + file.lastPathComponent
            let second = try context.open { $0.path = detour }
            let link = context.location.directory.appendingPathComponent("link").path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file.path)
            let third = try context.open { $0.path = link }
            let daos = [try first.dao(Item.self), try second.dao(Item.self), try third.dao(Item.self)]
            for (index, dao) in daos.enumerated() { try dao.create(Item.make([index])) }
            for dao in daos { try expectEqual(try dao.count(), 3) }
            try expectDeliberate {
                try first.transaction {
                    for dao in daos { try dao.erase() }
                    throw DeliberateError()
                }
            }
            for dao in daos { try expectEqual(try dao.count(), 3) }
        },
        ConformanceCase(
            "C.hardLink", "C3", title: "one file under two hard links is one database", requires: [.file, .configuration]
        ) { context in
            let one = try context.dao(Item.self)
            try one.create(Item.make([1]))
            let link = context.location.directory.appendingPathComponent("link").path
            try FileManager.default.linkItem(atPath: context.file().path, toPath: link)
            let second = try context.open { $0.path = link }
            let two = try second.dao(Item.self)
            try two.create(Item.make([2]))
            try expectEqual(try one.read().map(\.id), [1, 2])
            try expectEqual(try two.read().map(\.id), [1, 2])
        },
    ]
}
