import DAOCore
import DAOSystemSQLite
import DAOTestSupport
import Foundation
import Testing

@testable import DAOSQLite

/// Large imports: indexes that are filled after the rows, the cache, and the limit of the log.
@Suite struct ImportTests {
    /// A row whose indexed values come in no order.
    private struct Reading: Model, Equatable {
        var id: Int
        var code: Int
        var group: Int

        static let schema = Schema(
            "reading", Self.init, Field("id", \.id, .primaryKey), Field("code", \.code, .unique),
            Field("group", \.group, .indexed))

        static func make(_ ids: Range<Int>) -> [Reading] {
            ids.map { Reading(id: $0, code: $0 &* 2_654_435_761 % 1_000_003, group: $0 * 7919 % 10_007) }
        }
    }

    private let place = Place()

    private func open(_ options: [String: String] = [:]) throws -> (SQLiteDatabase, any Storage<Reading>) {
        let database = try place.database { $0.options = options }
        return (database, try database.storage(for: Reading.self))
    }

    /// The value of a counter of the connection that writes, which begins at zero again.
    private func status(_ counter: Int32, of database: SQLiteDatabase) throws -> Int {
        try database.withWriterHandle { handle in
            var (current, highest): (Int32, Int32) = (0, 0)
            sqlite3_db_status(handle, counter, &current, &highest, 1)
            return Int(current)
        }
    }

    private func indexes() throws -> [String] {
        try Raw(place.path()).texts("SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'reading'")
    }

    @Test func indexesOfAnEmptyTableAreFilledAfterItsRows() throws {
        // 32 pages do not hold the indexes, whose pages are written again and again when they are filled row by row.
        let (database, storage) = try open(["cache": "128K"])
        let before = try indexes()
        for isFirst in [true, false] {
            _ = try status(SQLITE_DBSTATUS_CACHE_WRITE, of: database)
            try storage.insert(Reading.make(isFirst ? 0..<20_000 : 20_000..<40_000))
            let written = try status(SQLITE_DBSTATUS_CACHE_WRITE, of: database)
            #expect(isFirst ? written < 1000 : written > 5000, "\(written) pages")
        }
        #expect(try indexes() == before && before.count == 2)
        #expect(try storage.count(Query(where: Condition { $0.group == 7 })) == 4)
        #expect(try storage.explain(Query(where: Condition { $0.group == 7 })).access == .index(["group"]))
        #expect(try database.verify().problems.isEmpty)
    }

    @Test func aRefusedRowIsNamedAndNothingIsStored() throws {
        let (database, storage) = try open()
        let before = try indexes()
        var rows = Reading.make(0..<6000)
        rows[5000].code = rows[17].code
        rows[5500].code = rows[18].code
        for isUpsert in [false, true] {
            let error = expectError(.uniqueViolation) {
                if isUpsert { try storage.upsert(rows) } else { try storage.insert(rows) }
            }
            #expect(error?.field == "code" && error?.key == 5000 && error?.conflictingKey == 17, "\(String(describing: error))")
        }
        // Unique values are judged when the call ends; any other error comes before.
        rows[5400].id = 3
        #expect(expectError(.duplicateKey) { try storage.insert(rows) }?.key == 3)
        rows[4000].id = 4
        #expect(expectError(.duplicateKey) { try storage.insert(rows) }?.key == 4)
        #expect(try storage.count(Query()) == 0)
        #expect(try indexes() == before)
        struct Change: Error {}
        #expect(throws: Change.self) {
            try database.transaction {
                try storage.insert(Reading.make(0..<6000))
                throw Change()
            }
        }
        #expect(try storage.count(Query()) == 0)
        #expect(try indexes() == before)
        // In a transaction that goes on, too.
        try database.transaction {
            try storage.insert(Reading.make(0..<1))
            _ = try storage.erase(keys: [.integer(0)])
            expectError(.duplicateKey) { try storage.insert(rows) }
            try storage.insert(Reading.make(0..<6000))
            expectError(.uniqueViolation) { try storage.insert([Reading(id: 6000, code: rows[17].code, group: 0)]) }
        }
        #expect(try storage.count(Query()) == 6000)
        #expect(try indexes() == before)
    }

    @Test func whatNeedsTheIndexesKeepsThem() throws {
        let (database, storage) = try open()
        try Raw(place.path()).run(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, code INTEGER REFERENCES reading (code));
            CREATE TABLE log (id INTEGER);
            """)
        try storage.insert(Reading.make(0..<6000))
        #expect(try storage.erase(Query()) == 6000)
        try Raw(place.path()).run(
            """
            DROP TABLE note;
            CREATE TRIGGER logged AFTER INSERT ON reading BEGIN
            INSERT INTO log SELECT id FROM reading INDEXED BY reading_code WHERE code = new.code; END
            """)
        try storage.insert(Reading.make(0..<6000))
        #expect(try Raw(place.path()).texts("SELECT count(*) FROM log") == ["6000"])
        try Raw(place.path()).run("DROP TRIGGER logged")
        #expect(try storage.erase(Query()) == 6000)
        // A statement of the transaction is still reading.
        let users = try database.storage(for: User.self)
        try users.insert((0..<10).map { User(name: "u\($0)", email: nil, age: 1) })
        try database.transaction {
            let cursor = try users.cursor(Query())
            _ = try cursor.next(1)
            try storage.insert(Reading.make(0..<6000))
            #expect(try cursor.next(100).count == 9)
        }
        #expect(try storage.count(Query()) == 6000)
        #expect(try database.verify().problems.isEmpty)
    }

    @Test func aCopyCreatesTheIndexesAfterTheRows() throws {
        struct Stop: Error {}
        let source = try place.database("source.db")
        try source.storage(for: Reading.self).insert(Reading.make(0..<20_000))
        let target = try place.database { $0.options = ["cache": "128K"] }
        _ = try status(SQLITE_DBSTATUS_CACHE_WRITE, of: target)
        #expect(throws: Stop.self) {
            try source.copy(to: target, rowLimit: 1000) { if $0.rows >= 12_000 { throw Stop() } }
        }
        #expect(try indexes().isEmpty)
        // It goes on, and ends as a copy that was not interrupted.
        #expect(try source.copy(to: target).rowsWritten == 8000)
        let written = try status(SQLITE_DBSTATUS_CACHE_WRITE, of: target)
        #expect(written < 1500, "\(written) pages")
        #expect(try indexes().count == 2)
        #expect(try target.entities() == source.entities())
        #expect(try target.verify().problems.isEmpty)
        #expect(try source.copy(to: target).rowsWritten == 0)
        let storage = try target.storage(for: Reading.self)
        expectError(.uniqueViolation) { try storage.insert([Reading(id: -1, code: Reading.make(5..<6)[0].code, group: 0)]) }
    }

    @Test func aReaderAndAnotherProcessSeeTheImport() throws {
        let (database, storage) = try open()
        let raw = try Raw(place.path())
        try raw.run("BEGIN; SELECT * FROM reading")
        #expect(try storage.count(Query(where: Condition { $0.group == 7 })) == 0)
        try storage.insert(Reading.make(0..<6000))
        #expect(try raw.texts("SELECT count(*) FROM reading INDEXED BY reading_group WHERE \"group\" = 7") == ["0"])
        try raw.run("COMMIT")
        #expect(try raw.texts("SELECT count(*) FROM reading INDEXED BY reading_group WHERE \"group\" = 7919") == ["1"])
        #expect(try storage.count(Query(where: Condition { $0.group == 7919 })) == 1)
        try database.close()
    }

    @Test func theCacheFollowsTheWorkAndIsGivenBack() throws {
        let (database, storage) = try open()
        let limit = try #require(try database.withWriterHandle { _ in PageCache(nil).writing })
        #expect(limit >= PageCache.usual && limit <= 256 << 20)
        // 20 MB of pages, more than a connection keeps.
        try database.withWriterHandle { handle in
            let sql = """
                BEGIN; CREATE TABLE filler (id INTEGER PRIMARY KEY, bytes BLOB);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
                INSERT INTO filler SELECT i, zeroblob(3500) FROM n; COMMIT
                """
            try #require(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
        }
        try storage.insert(Reading.make(0..<1))
        let used = try status(SQLITE_DBSTATUS_CACHE_USED, of: database)
        if limit > 24 << 20 { #expect(used > PageCache.usual) }
        let deadline = ContinuousClock.now + .seconds(20)
        while try status(SQLITE_DBSTATUS_CACHE_USED, of: database) > 1 << 20 {
            try #require(ContinuousClock.now < deadline, "the memory was not given back")
            usleep(50_000)
        }
        // The log is in the file: readers need not look it up.
        let index = try #require(try database.withWriterHandle { LogIndex($0) })
        #expect(index.pages == index.movedPages)
    }

    @Test func theLimitOfTheLogFollowsTheCommits() {
        func moves(_ pages: [Int32]) -> [Int32] {
            var growth = LogGrowth()
            return pages.filter { growth.didCommit($0) != nil }
        }
        #expect(moves(Array(1...1001)) == [1000, 1001])
        // A log that has become shorter has begun anew.
        #expect(moves([2000, 4000, 14_000, 16_000, 2000, 4000, 4010]) == [16_000, 4010])
    }

    @Test func commitsWaitForReadersOfALongLogNowAndThen() {
        var growth = LogGrowth()
        let waiting = stride(from: Int32(10), through: 7000, by: 10).filter { growth.didCommit($0) == .afterReaders }
        #expect(waiting == [4000, 5000, 6000, 7000])
        // The log has begun anew.
        let again = stride(from: Int32(10), through: 4000, by: 10).filter { growth.didCommit($0) == .afterReaders }
        #expect(again == [4000])
    }

    @Test func theCacheHasTheSizeOfTheOption() throws {
        let (database, storage) = try open(["cache": "64M"])
        #expect(try database.withWriterHandle { Self.size(of: $0) } == 64 << 10)
        #expect(try storage.count(Query()) == 0)
        #expect(try database.withReaderHandle { Self.size(of: $0) } == 64 << 10)
    }

    private static func size(of handle: OpaquePointer) -> Int {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(handle, "PRAGMA cache_size", -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW
        else { return 0 }
        return -Int(sqlite3_column_int64(statement, 0))
    }

    @Test(arguments: ["0", "-1", "64MB", "much", "9999999999G", ""])
    func anotherSizeIsRefused(_ text: String) {
        let error = expectError(.invalidConfiguration) { try open(["cache": text]) }
        #expect(error?.message.contains("'cache'") == true)
        #expect(!FileManager.default.fileExists(atPath: place.path()))
    }
}
