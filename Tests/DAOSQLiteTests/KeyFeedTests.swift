import DAOCore
import DAOSystemSQLite
import DAOTestSupport
import Foundation
import Testing

@testable import DAOSQL
@testable import DAOSQLite

/// Rows that are read by key in one statement, which stays open for as long as the snapshot.
@Suite struct KeyFeedTests {
    private let place = Place()

    private struct Note: Plain, Model, Equatable {
        var id: Int
        var text: String
        static let schema = Schema("note", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text))
    }

    private struct Large: Plain, Model, Equatable {
        var id: UInt64
        var text: String
        static let schema = Schema("large", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text))
    }

    private struct Page: Plain, Model, Equatable {
        var path: String
        var text: String
        static let schema = Schema("page", Self.init, Field("path", \.path, .primaryKey), Field("text", \.text))
    }

    private struct Device: Plain, Model, Equatable {
        var id: UUID
        var name: String
        static let schema = Schema("device", Self.init, Field("id", \.id, .primaryKey), Field("name", \.name))
    }

    /// The number of statements that are open on the connection of the running transaction, how many rows they have passed, and
    /// whether one may be open: not while an instrument of another test is told of statements.
    private func openStatements(_ database: SQLiteDatabase) throws -> (count: Int, scannedRows: Int, mayBe: Bool) {
        try database.instance.coordinator.read { session in
            let connection = try #require(session.connection as? SQLiteConnection)
            var (count, scanned) = (0, 0)
            var statement = sqlite3_next_stmt(connection.handle, nil)
            while let open = statement {
                if sqlite3_stmt_busy(open) != 0 {
                    count += 1
                    scanned += Int(sqlite3_stmt_status(open, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0))
                }
                statement = sqlite3_next_stmt(connection.handle, open)
            }
            return (count, scanned, connection.keepsStatementsOpen)
        }
    }

    @Test func rowsAreFoundInAnyOrder() throws {
        let database = try place.database()
        let messages = try database.storage(for: Message.self)
        let (notes, large) = try (database.storage(for: Note.self), database.storage(for: Large.self))
        let keys = [-7, 0, 1, 2, 3, 5, 8, 13, 21, Int.max, Int.min]
        try messages.insert(keys.map(Message.numbered))
        try notes.insert(keys.map { Note(id: $0, text: "note \($0)") })
        try large.insert([1, 2, .max, .max - 1].map { Large(id: $0, text: "\($0)") })
        for _ in 0..<3 {
            try database.snapshot {
                for key in [3, 3, 8, 4, 0, -7, .min, 9, 21, 22, 1, .max, 5, 3, -1, 13, 2] {
                    let isThere = keys.contains(key)
                    let message = try messages.read(key: .integer(Int64(key)))
                    #expect(message == (isThere ? .numbered(key) : nil))
                    let note = try notes.read(key: .integer(Int64(key)))
                    #expect(note == (isThere ? Note(id: key, text: "note \(key)") : nil))
                    // Other statements run in between, and keys of another kind have no row.
                    let none = try messages.read(key: .string("x"))
                    #expect(none == nil)
                    #expect(try messages.count(Query()) == keys.count)
                    let some = try messages.read(keys: [.integer(1), .integer(2), .integer(3)], includesSubentities: true)
                    #expect(some.map(\.id) == [1, 2, 3])
                }
                for key in [1, 2, .max, 3, .max - 1, .max - 2] as [UInt64] {
                    let row = try large.read(key: Int64(exactly: key).map { .integer($0) } ?? .unsigned(key))
                    #expect(row == ([1, 2, .max, .max - 1].contains(key) ? Large(id: key, text: "\(key)") : nil))
                }
            }
            #expect(try messages.read(key: .integer(5)) == .numbered(5))
        }
    }

    @Test func rowsAreFoundByTextsAndUUIDs() throws {
        let database = try place.database()
        let (pages, devices) = try (database.storage(for: Page.self), database.storage(for: Device.self))
        let paths = ["", "a", "A", "ab", "a\0b", "ä", "a\u{308}", "5", "05", String(repeating: "x", count: Key.maximumLength)]
        try pages.insert(paths.map { Page(path: $0, text: "page \($0)") })
        let ids = (0..<20).map { _ in UUID() }
        try devices.insert(ids.map { Device(id: $0, name: "\($0)") })
        func readAll() throws {
            for _ in 0..<3 {
                for path in paths + ["b", "a\0", "\0", "5.0"] {
                    let page = try pages.read(key: .string(path))
                    #expect(page == (paths.contains { $0.hasSameBytes(as: path) } ? Page(path: path, text: "page \(path)") : nil))
                    // A key of another kind has no row.
                    let none = try pages.read(key: .uuid(ids[0]))
                    #expect(none == nil)
                }
                for id in ids.shuffled() + [UUID()] {
                    let device = try devices.read(key: .uuid(id))
                    #expect(device == (ids.contains(id) ? Device(id: id, name: "\(id)") : nil))
                }
            }
        }
        try database.snapshot {
            try readAll()
            // Each row is found by an index.
            #expect(try openStatements(database).scannedRows == 0)
        }
        try readAll()
        try devices.upsert(ids.map { Device(id: $0, name: "new") })
        for id in ids { #expect(try devices.read(key: .uuid(id))?.name == "new") }
    }

    @Test func aSnapshotStaysAsItIsAndItsEndEndsTheStatement() throws {
        let database = try place.database()
        let storage = try database.storage(for: Message.self)
        try storage.insert((0..<20).map(Message.numbered))
        let raw = try Raw(place.path())
        for round in 0..<3 {
            try database.snapshot {
                for key in 0..<20 {
                    let row = try storage.read(key: .integer(Int64(key)))
                    #expect(row?.sender == (round == 0 ? key % 10 : round * 100))
                }
                let open = try openStatements(database)
                #expect(open.count == (open.mayBe ? 1 : 0))
                try raw.run("UPDATE message SET sender = \((round + 1) * 100)")
                let row = try storage.read(key: .integer(7))
                #expect(row?.sender == (round == 0 ? 7 : round * 100))
            }
            #expect(try openStatements(database).count == 0)
            #expect(try storage.read(key: .integer(7))?.sender == (round + 1) * 100)
        }
        // A transaction that can write leaves none open: a row is as the call before has written it.
        try database.transaction {
            for key in 0..<20 {
                var row = try #require(try storage.read(key: .integer(Int64(key))))
                row.sender = key
                try storage.upsert([row])
                #expect(try storage.read(key: .integer(Int64(key)))?.sender == key)
            }
            #expect(try openStatements(database).count == 0)
        }
        _ = try database.compact()
        let log = try FileManager.default.attributesOfItem(atPath: place.path() + "-wal")
        #expect(log[.size] as? Int == 0)
    }

    /// Whether the read of before has left its snapshot to the next one, and whether it may: see ``openStatements(_:)``.
    private func keepsSnapshot(_ database: SQLiteDatabase) throws -> (now: Bool, mayBe: Bool) {
        (try database.instance.coordinator.read { $0.connection.keepsSnapshot }, !StatementTimer.isUsed)
    }

    @Test func callsShareASnapshotUntilTheNextCommitOfAnyone() throws {
        let database = try place.database()
        let storage = try database.storage(for: Message.self)
        try storage.insert((0..<20).map(Message.numbered))
        let raw = try Raw(place.path())
        var (kept, mayBe) = (0, true)
        for round in 0..<2000 {
            for key in [3, 7, 25, 7, 7, 3] {
                let row = try storage.read(key: .integer(Int64(key)))
                let isThere = key < 20 && (key != 7 || round % 4 != 3)
                #expect(row?.sender == (isThere ? (key == 7 && round > 0 ? round : key) : nil))
            }
            #expect(try storage.count(Query()) == (round % 4 == 3 ? 19 : 20))
            let state = try keepsSnapshot(database)
            if state.now { kept += 1 }
            mayBe = mayBe && state.mayBe
            var next = Message.numbered(7)
            next.sender = round + 1
            switch round % 4 {
            case 0: try raw.run("UPDATE message SET sender = \(round + 1) WHERE id = 7")
            case 1: try storage.upsert([next])
            case 2: try raw.run("DELETE FROM message WHERE id = 7")
            default: try storage.insert([next])
            }
        }
        #expect(kept > 0 || !mayBe)
    }

    @Test func noSnapshotIsKeptOfAProcessThatReadsNoMore() throws {
        let database = try place.database()
        let storage = try database.storage(for: Message.self)
        try storage.insert((0..<20).map(Message.numbered))
        let raw = try Raw(place.path())
        try raw.run("PRAGMA busy_timeout = 0")
        for round in 0..<20 {
            for _ in 0..<200 { #expect(try storage.read(key: .integer(7))?.sender == (round == 0 ? 7 : round)) }
            try raw.run("UPDATE message SET sender = \(round + 1) WHERE id = 7")
            // Nobody has the snapshot of before the commit, soon.
            let deadline = ContinuousClock.now + .seconds(20)
            while try raw.texts("PRAGMA wal_checkpoint(TRUNCATE)") != ["0"] {
                try #require(ContinuousClock.now < deadline, "a snapshot is kept")
            }
        }
    }

    private final class Committed: Sendable { let sender = Lock<Int?>(7) }

    @Test func threadsReadWhileTheLogIsEmptied() throws {
        let database = try place.database()
        let storage = try database.storage(for: Message.self)
        try storage.insert((0..<20).map(Message.numbered))
        // What was committed last; nil at the end.
        let committed = Committed()
        defer { committed.sender.withLock { $0 = nil } }
        let readers = DispatchGroup()
        for _ in 0..<3 {
            readers.enter()
            Thread.detachNewThread {
                while let earlier = committed.sender.withLock({ $0 }) {
                    let sender = (try? storage.read(key: .integer(7)))?.sender ?? 0
                    #expect(sender >= earlier)
                }
                readers.leave()
            }
        }
        for sender in 8..<400 {
            var row = Message.numbered(7)
            row.sender = sender
            try storage.upsert([row])
            committed.sender.withLock { $0 = sender }
            switch sender % 40 {
            case 0: _ = try database.compact()
            case 20: try database.suspend()
            default: usleep(100)
            }
        }
        committed.sender.withLock { $0 = nil }
        readers.wait()
        try database.close()
        #expect(!FileManager.default.fileExists(atPath: place.path() + "-wal"))
    }

    @Test func aDamagedRowIsReportedAndTheNextOnesAreRead() throws {
        let database = try place.database()
        let storage = try database.storage(for: Message.self)
        try storage.insert((0..<20).map(Message.numbered))
        try Raw(place.path()).run("UPDATE message SET text = x'00' WHERE id = 10")
        try database.snapshot {
            for key in 0..<20 {
                if key == 10 {
                    expectError(.corruptedValue) { _ = try storage.read(key: .integer(10)) }
                } else {
                    let row = try storage.read(key: .integer(Int64(key)))
                    #expect(row == .numbered(key))
                }
            }
        }
    }
}
