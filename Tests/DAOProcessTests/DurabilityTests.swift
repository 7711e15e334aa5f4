import DAOChildProcesses
import DAOCore
import DAOLMDB
import DAOSQLite
import DAOSystemSQLite
import DAOTestSupport
import Testing

@testable import DAOKeyValue

/// Contract T6: what the engines are told about durability; that they then keep it is theirs. That `.relaxed` survives the end of
/// a process is what the crash tests kill for.
@Suite struct DurabilityTests {
    @Test(arguments: [("full", 2), ("relaxed", 1)]) func sqliteIsToldWithEveryTransaction(_ durability: String, _ level: Int32)
        throws
    {
        let place = Place(.sqlite)
        let ledger = try Ledger(place.url("durability=\(durability)"))
        // Another database on the same connection, with the other level, does not change what this one's commits are.
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

    @Test func lmdbSyncsAsTheStrictestWants() throws {
        let place = Place(.lmdb)
        func store(_ ledger: Ledger) throws -> LMDBStore {
            try #require((ledger.database as? KeyValueDatabase)?.engine.store as? LMDBStore)
        }
        let relaxed = try Ledger(place.url("durability=relaxed"))
        #expect(try store(relaxed).syncing == .dataOnly)
        let full = try Ledger(place.url())
        #expect(try store(full).syncing == .everything && store(relaxed).syncing == .everything)
        try full.database.close()
        try relaxed.database.close()
        #expect(try store(Ledger(place.url())).syncing == .everything)
    }
}
