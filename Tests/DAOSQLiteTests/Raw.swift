import DAOCore
import DAOSystemSQLite
import Foundation
import Testing

/// A connection of another program, through the C API.
final class Raw {
    private let handle: OpaquePointer

    init(_ path: String, create: Bool = false) throws {
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0), nil)
        self.handle = try #require(code == SQLITE_OK ? handle : nil)
        sqlite3_busy_timeout(handle, 5000)
    }

    deinit { sqlite3_close_v2(handle) }

    func run(_ sql: String) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        try #require(code == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
    }

    /// Makes a collation that only this program knows: the order of the bytes, from the last to the first.
    func makeCollation(_ name: String) throws {
        let code = sqlite3_create_collation_v2(
            handle, name, SQLITE_UTF8, nil,
            { _, leftCount, left, rightCount, right in
                let bytes = [(left, leftCount), (right, rightCount)].map { Data(bytes: $0!, count: Int($1)) }
                return bytes[0].lexicographicallyPrecedes(bytes[1]) ? 1 : bytes[0] == bytes[1] ? 0 : -1
            }, nil)
        try #require(code == SQLITE_OK)
    }

    func texts(_ sql: String) throws -> [String] {
        var statement: OpaquePointer?
        try #require(
            sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
        defer { sqlite3_finalize(statement) }
        var rows: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            rows.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "NULL")
        }
        return rows
    }
}

/// Expects a storage error of a kind.
@discardableResult func expectError<Result>(
    _ kind: StorageError.Kind, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) -> StorageError? {
    do {
        _ = try body()
        Issue.record("nothing was thrown instead of \(kind)", sourceLocation: sourceLocation)
    } catch let error as StorageError {
        #expect(error.kind == kind, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("\(error) instead of \(kind)", sourceLocation: sourceLocation)
    }
    return nil
}
