import DAOCore
import DAOSystemLMDB
import Foundation
import Testing

@testable import DAOLMDB

@Suite("L5 · Every code of LMDB has a decided kind, and only damage is called so")
struct LMDBCodeTests {
    private let errors = LMDBErrors(path: "p")

    @Test func everyCodeIsDecided() {
        let kinds: [CInt: StorageError.Kind] = [
            MDB_KEYEXIST: .io, MDB_NOTFOUND: .io, MDB_PAGE_NOTFOUND: .corrupted, MDB_CORRUPTED: .corrupted,
            MDB_PANIC: .outcomeUnknown, MDB_VERSION_MISMATCH: .schemaIsNewer, MDB_INVALID: .notADatabase,
            MDB_MAP_FULL: .outOfSpace,
            MDB_DBS_FULL: .io, MDB_READERS_FULL: .busy, MDB_TLS_FULL: .io, MDB_TXN_FULL: .outOfSpace, MDB_CURSOR_FULL: .corrupted,
            MDB_PAGE_FULL: .corrupted, MDB_MAP_RESIZED: .outOfSpace, MDB_INCOMPATIBLE: .notADatabase,
            MDB_BAD_RSLOT: .invalidTransaction, MDB_BAD_TXN: .invalidTransaction, MDB_BAD_VALSIZE: .invalidKey,
            MDB_BAD_DBI: .notADatabase,
        ]
        // The codes of LMDB are one range.
        for code in MDB_KEYEXIST...MDB_BAD_DBI {
            #expect(kinds[code] == errors.error(code, "a call").kind, "\(String(cString: mdb_strerror(code)))")
        }
        for code in 1...133 as ClosedRange<CInt> { #expect(errors.error(code, "a call").kind != .corrupted, "errno \(code)") }
    }
}
