import DAOCore
import DAOSystemSQLite
import Foundation
import Testing

@testable import DAOSQLite

@Suite("L5 · Every result code of SQLite has a decided kind, and only damage is called so")
struct ResultCodeTests {
    /// The result codes of the header, with their names.
    private static let table: [(name: String, code: Int32)] = {
        guard let text = try? String(contentsOfFile: "/usr/include/sqlite3.h", encoding: .utf8) else { return [] }
        var codes: [(String, Int32)] = []
        var primary: [String: Int32] = [:]
        for line in text.split(separator: "\n") {
            if let found = line.firstMatch(of: /^.define (SQLITE_[A-Z]+)\s+(\d+)\s+[\/]/), let code = Int32(found.2) {
                let name = String(found.1)
                // The list of primary codes ends with the answer of a statement that is done; other lists repeat their names.
                if primary["SQLITE_DONE"] == nil {
                    primary[name] = code
                    codes.append((name, code))
                }
            } else if let found = line.firstMatch(of: /^.define (SQLITE_[A-Z_]+)\s+\((SQLITE_[A-Z]+)\s*\|\s*\((\d+)<<8\)\)/),
                let base = primary[String(found.2)], let number = Int32(found.3)
            {
                codes.append((String(found.1), base | number << 8))
            }
        }
        return codes
    }()

    @Test(.enabled(if: !table.isEmpty, "the header is not installed")) func everyCodeOfTheHeaderIsDecided() {
        #expect(Self.table.count > 90)
        for (name, code) in Self.table {
            let isDamage = name.hasPrefix("SQLITE_CORRUPT") || name == "SQLITE_IOERR_DATA"
            let kind = SQLiteError.meaning(of: code).0
            #expect((kind == .corrupted) == isDamage, "\(name) is \(kind)")
        }
    }

    @Test(arguments: [
        (SQLITE_ERROR, StorageError.Kind.schemaMismatch), (SQLITE_PERM, .notPermitted), (SQLITE_AUTH, .notPermitted),
        (SQLITE_ABORT | 2 << 8, .invalidTransaction), (SQLITE_BUSY | 1 << 8, .busy), (SQLITE_LOCKED, .busy),
        (SQLITE_PROTOCOL, .busy), (SQLITE_NOMEM, .outOfSpace), (SQLITE_IOERR | 12 << 8, .outOfSpace), (SQLITE_FULL, .outOfSpace),
        (SQLITE_READONLY, .readOnly), (SQLITE_READONLY | 4 << 8, .detached), (SQLITE_IOERR | 28 << 8, .notPermitted),
        (SQLITE_IOERR | 33 << 8, .io), (SQLITE_IOERR | 2 << 8, .io), (SQLITE_CANTOPEN, .io), (SQLITE_TOOBIG, .unsupported),
        (SQLITE_MISMATCH, .schemaMismatch), (SQLITE_CONSTRAINT, .schemaMismatch), (SQLITE_FORMAT, .io), (SQLITE_MISUSE, .io),
        (SQLITE_NOTADB, .notADatabase), (SQLITE_ERROR | 3 << 8, .snapshotTooOld), (SQLITE_CORRUPT, .corrupted),
        (SQLITE_CORRUPT | 3 << 8, .corrupted),
    ])
    func kind(_ code: Int32, _ kind: StorageError.Kind) { #expect(SQLiteError.meaning(of: code).0 == kind) }
}
