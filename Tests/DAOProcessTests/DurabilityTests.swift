import DAOChildProcesses
import DAOCore
import DAOLMDB
import DAOSQLite
import DAOSystemSQLite
import DAOTestSupport
import Testing

@testable import DAOKeyValue

/// Contract T6: the durability settings of the engines. The tests do not prove that the engines honour them.
/// The crash tests prove that `.relaxed` survives the end of a process.
@Suite struct DurabilityTests {
    @Test(arguments: [("full", 2), ("relaxed", 1)]) func sqliteHasTheSettingsInEveryTransaction(
        _ durability: String, _ level: Int32
    )
        throws
    {
        let place = Place(.sqlite)
        let ledger = try Ledger(place.url("durability=\(durability)"))
        // Another database on the same connection has the other level. It must not change the level of this
        // database's commits.
        let other = try Ledger(place.url("durability=\(durability == "full" ? "relaxed" : "full")"))
        let database = try #require(ledger.database as? SQLiteDatabase)
        func value(_ pragma: String) throws -> String {
            try ledger.database.transaction {
                try database.withReaderHandle { handle in
                    var statement: OpaquePointer?
                    defer { sqlite3_finalize(statement) }
                    guard sqlite3_prepare_v2(handle, "PRAGMA \(pragma)", -1, &statement, nil) == SQLITE_OK,
                        sqlite3_step(statement) == SQLITE_ROW
                    else { return "" }
                    return sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? ""
                }
            }
        }
        for _ in 0..<2 {
            try other.increment()
            #expect(try value("synchronous") == "\(level)")
            #expect(try value("journal_mode") == "wal")
        }
    }

    @Test func lmdbUsesTheStrictestLevelOfItsDatabases() throws {
        let place = Place(.lmdb)
        func store(_ ledger: Ledger) throws -> LMDBStore {
            try #require((ledger.database as? KeyValueDatabase)?.engine.store as? LMDBStore)
        }
        let relaxed = try Ledger(place.url("durability=relaxed"))
        #expect(try store(relaxed).syncing == .dataOnly)
        let full = try Ledger(place.url())
        #expect(try store(full).syncing == .everything && store(relaxed).syncing == .everything)
        // Compaction opens the file anew.
        _ = try relaxed.database.compact()
        #expect(try store(full).syncing == .everything && store(relaxed).syncing == .everything)
        try full.database.close()
        try relaxed.database.close()
        let reopened = try Ledger(place.url())
        #expect(try store(reopened).syncing == .everything)
        try reopened.database.close()
    }
}
