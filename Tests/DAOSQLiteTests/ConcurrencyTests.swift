import DAOCore
import DAOSQLite
import DAOSystemSQLite
import DAOTestSupport
import Dispatch
import Foundation
import Testing

/// Threads, readers during a write, and connections of other programs.
@Suite struct ConcurrencyTests {
    private let place = Place()

    @Test func readersDoNotWaitForAWriter() throws {
        let database = try place.database()
        let storage = try database.storage(for: Message.self)
        try storage.insert((0..<10).map(Message.numbered))
        let isWriting = DispatchSemaphore(value: 0)
        let mayEnd = DispatchSemaphore(value: 0)
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? database.transaction {
                try storage.insert((10..<20).map(Message.numbered))
                isWriting.signal()
                mayEnd.wait()
            }
            hasEnded.signal()
        }
        isWriting.wait()
        #expect(try storage.count(Query()) == 10)
        #expect(try storage.read(key: .integer(15)) == nil)
        #expect(try storage.cursor(Query()).next(100).count == 10)
        mayEnd.signal()
        hasEnded.wait()
        #expect(try storage.count(Query()) == 20)
    }

    @Test func eightThreadsLoseNoUpdate() throws {
        let database = try place.database()
        let storage = try database.storage(for: Message.self)
        try storage.insert([.numbered(0)])
        let failures = Lock<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            do {
                for step in 0..<50 {
                    if step % 2 == 0 {
                        _ = try storage.merge(keys: [.integer(0)]) { _, message in message?.sender += 1 }
                    } else {
                        try database.transaction {
                            guard var message = try storage.read(key: .integer(0)) else { return }
                            message.sender += 1
                            try storage.upsert([message])
                        }
                    }
                    try storage.upsert([.numbered(1000 + thread * 50 + step)])
                    _ = try storage.read(Query(where: Condition { $0.sender == step }, limit: 5))
                    let snapshot = try database.snapshot { [try storage.count(Query()), try storage.count(Query())] }
                    if snapshot[0] != snapshot[1] { failures.withLock { $0.append("a snapshot moved") } }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try storage.read(key: .integer(0))?.sender == 400)
        #expect(try storage.count(Query()) == 401)
    }

    @Test func snapshotReadsTheCommitAtItsBeginning() throws {
        let database = try place.database()
        let storage = try database.storage(for: Message.self)
        let raw = try Raw(place.path())
        try database.snapshot {
            let columns = "id, sender, date, text, subject, draft, isRead, score"
            try raw.run("INSERT INTO message (\(columns)) SELECT 1, 1, 1.0, '', '', NULL, 0, 1.0")
            #expect(try storage.count(Query()) == 0)
            expectError(.invalidTransaction) { try storage.insert([.numbered(5)]) }
            expectError(.invalidTransaction) { try database.close() }
        }
        #expect(try storage.count(Query()) == 1)
    }

    @Test func lockedDatabaseIsBusyAfterTheTimeout() throws {
        let database = try place.database { $0.busyTimeout = .milliseconds(100) }
        let storage = try database.storage(for: Message.self)
        let raw = try Raw(place.path())
        try raw.run("BEGIN IMMEDIATE")
        let start = ContinuousClock.now
        expectError(.busy) { try storage.insert([.numbered(1)]) }
        expectError(.busy) { try database.transaction {} }
        #expect(ContinuousClock.now - start < .seconds(20))
        try raw.run("ROLLBACK")
        try storage.insert([.numbered(1)])
    }

    @Test func fullFileIsOutOfSpaceAndWorksAgainWithSpace() throws {
        let database = try place.database()
        let storage = try database.storage(for: Message.self)
        func limit(_ pages: Int) throws {
            try database.withWriterHandle {
                #expect(sqlite3_exec($0, "PRAGMA max_page_count = \(pages)", nil, nil, nil) == SQLITE_OK)
            }
        }
        try limit(30)
        var large = Message.numbered(1)
        large.text = String(repeating: "x", count: 500_000)
        expectError(.outOfSpace) { try storage.insert([large]) }
        expectError(.outOfSpace) {
            try database.transaction {
                try storage.insert([.numbered(2)])
                try? storage.insert([large, .numbered(3)])
                try storage.insert([.numbered(4)])
            }
        }
        #expect(try storage.count(Query()) == 0)
        try limit(1_000_000)
        try storage.insert([large])
        #expect(try storage.read(key: .integer(1)) == large)
    }

    @Test func closeWaitsForARunningTransaction() throws {
        let database = try place.database()
        let storage = try database.storage(for: Message.self)
        let isInside = DispatchSemaphore(value: 0)
        let result = Lock<String>("")
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do {
                try database.transaction {
                    isInside.signal()
                    usleep(100_000)
                    try storage.insert([.numbered(1)])
                }
                result.withLock { $0 = "committed" }
            } catch {
                result.withLock { $0 = "\(error)" }
            }
            hasEnded.signal()
        }
        isInside.wait()
        try database.close()
        hasEnded.wait()
        #expect(result.withLock { $0 } == "committed")
        expectError(.closed) { try storage.count(Query()) }
        #expect(try place.database().storage(for: Message.self).count(Query()) == 1)
    }

    @Test func asynchronousFormsWork() async throws {
        let database = try place.database()
        let storage = try database.storage(for: Message.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<20 {
                group.addTask { try await database.transaction { try storage.insert([.numbered(task)]) } }
            }
            try await group.waitForAll()
        }
        let count = try await database.snapshot { @Sendable in try storage.count(Query()) }
        #expect(count == 20)
    }
}
