import DAOCore
import DAOSystemSQLite
import DAOTestSupport
import Foundation
import Testing

@testable import DAOSQLite

/// Contract T6 on systems whose `fsync` leaves content in the cache of the drive.
@Suite struct DurabilityTests {
    private let place = Place()

    private func opened(
        _ sync: FileSync, _ durability: DatabaseConfiguration.Durability = .full
    ) throws -> (database: SQLiteDatabase, messages: any Storage<Message>) {
        try FileSync.$current.withValue(sync) {
            let database = try place.database { $0.durability = durability }
            return (database, try database.storage(for: Message.self))
        }
    }

    @Test func eachFullCommitWaitsForTheMedium() throws {
        let (sync, calls) = FileSync.recording { _ in 0 }
        let (database, messages) = try opened(sync)
        calls.forget()
        try messages.insert([.numbered(0)])
        #expect(calls.all == [.fullFsync])
        try database.transaction {
            try messages.insert([.numbered(1)])
            try messages.insert([.numbered(2)])
            #expect(calls.all == [.fullFsync])
        }
        #expect(calls.all == [.fullFsync, .fullFsync])
        _ = try messages.count(Query())
        #expect(calls.all.count == 2)
        try database.suspend()
        calls.forget()
        try messages.insert([.numbered(3)])
        #expect(calls.all == [.fullFsync])
    }

    @Test func aRelaxedCommitWaitsForNothing() throws {
        let (sync, calls) = FileSync.recording { _ in 0 }
        let (_, messages) = try opened(sync, .relaxed)
        calls.forget()
        try messages.insert([.numbered(0)])
        #expect(calls.all == [])
    }

    @Test(arguments: DatabaseConfiguration.Durability.allCases) func sqliteUsesItsStrongestCall(
        _ durability: DatabaseConfiguration.Durability
    ) throws {
        let (database, messages) = try opened(FileSync.recording { _ in 0 }.sync, durability)
        try database.transaction {
            try messages.insert([.numbered(0)])
            try database.underlying(as: SQLiteHandle.self) { handle in
                #expect(number("PRAGMA fullfsync", handle) == (durability == .full ? 1 : 0))
                #expect(number("PRAGMA checkpoint_fullfsync", handle) == 1)
            }
        }
    }

    private func number(_ sql: String, _ handle: SQLiteHandle) -> Int32? {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle.connection, sql, -1, &statement, nil) == SQLITE_OK else { return nil }
        defer { sqlite3_finalize(statement) }
        return sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int(statement, 0) : nil
    }

    @Test func elsewhereSQLitesOwnCallIsEnough() throws {
        let calls = RecordedSyncs()
        let sync = FileSync(leavesDriveCache: false) { _, call in
            calls.append(call)
            return 0
        }
        let (_, messages) = try opened(sync)
        calls.forget()
        try messages.insert([.numbered(0)])
        #expect(calls.all == [])
    }

    @Test func aCommitThatMayNotBeOnTheMediumHasAnUnknownOutcome() throws {
        let fails = Lock(false)
        let (sync, _) = FileSync.recording { _ in fails.withLock { $0 } ? EIO : 0 }
        let (database, messages) = try opened(sync)
        fails.withLock { $0 = true }
        expectError(.outcomeUnknown) { try messages.insert([.numbered(0)]) }
        expectError(.outcomeUnknown) { try messages.count(Query()) }
        try database.close()
        fails.withLock { $0 = false }
        #expect(try place.database().storage(for: Message.self).count(Query()) == 1)
    }

    /// Apple's SQLite keeps an empty log otherwise.
    @Test func theLogIsRemovedWhereSQLiteWouldKeepIt() throws {
        let (database, messages) = try opened(.system)
        func keepLog() throws {
            try database.underlying(as: SQLiteHandle.self) { handle in
                var persists: Int32 = 1
                sqlite3_file_control(handle.connection, "main", SQLITE_FCNTL_PERSIST_WAL, &persists)
            }
        }
        try database.transaction {
            try messages.insert([.numbered(0)])
            try keepLog()
        }
        try database.snapshot {
            _ = try messages.count(Query())
            try keepLog()
        }
        try database.close()
        #expect(!FileManager.default.fileExists(atPath: place.path() + "-wal"))
        #expect(!FileManager.default.fileExists(atPath: place.path() + "-shm"))
    }
}
