import DAOCore
import DAOSQL
import DAOSystemSQLite
import Foundation

extension SQLiteConnection {
    /// Returns what SQLite finds wrong with the structure of the file. Values of columns are left out: reading a row detects
    /// those.
    ///
    /// - Parameter pragma: `integrity_check` or `quick_check`, with the largest number of lines.
    /// - Throws: `.io` when the operating system failed to read a page, which need not be damaged.
    func damage(_ pragma: String) throws -> [String] {
        let lines = try texts("PRAGMA \(pragma)").filter { line in
            line != "ok" && !line.hasPrefix("NULL value in") && !line.hasPrefix("CHECK constraint")
                && !line.contains(" value in ")
        }
        if damagedPage(pragma) != nil { return lines }
        for line in lines {
            // The lists of free and of overflow pages have no code in their lines. The number of a page was checked before.
            let code =
                line.contains("failed to get page")
                ? SQLITE_IOERR : line.firstMatch(of: /error code=(\d+)/).flatMap { Int32($0.1) } ?? SQLITE_OK
            if code & 0xFF == SQLITE_IOERR { throw SQLiteError.error(code, line, path: path) }
        }
        return lines
    }

    func problems() throws -> [SQLProblem] {
        // Pages with checksums are verified when they are read from the file.
        sqlite3_db_release_memory(handle)
        let lines = try damage("integrity_check(\(VerificationReport.maximumProblemCount))")
        if lines.isEmpty { return [] }
        let tables = Dictionary(
            try rows("SELECT name, tbl_name FROM sqlite_master WHERE type = 'index'") { (Self.text($0, 0), Self.text($0, 1)) },
            uniquingKeysWith: { first, _ in first })
        return try lines.map { line in
            guard let end = line.range(of: " index ")?.upperBound else { return SQLProblem(message: line) }
            let index = String(line[end...])
            guard let table = tables[index] else { return SQLProblem(message: line) }
            let columns = try texts("SELECT name FROM pragma_index_info(\(index.quotedLiteral)) ORDER BY seqno")
            // "row 3 missing from index …" counts the rows of the table from one.
            let number = line.split(separator: " ").dropFirst().first.flatMap { Int($0) }
            let row = line.hasPrefix("row ") ? number : nil
            let order = row == nil ? "" : try scanOrder(of: table)
            return SQLProblem(
                table: table, columns: columns.joined(separator: ", "),
                row: row.map { "ORDER BY \(order) LIMIT 1 OFFSET \($0 - 1)" }, message: line)
        }
    }

    /// The columns that order the rows as they lie in a table.
    private func scanOrder(of table: String) throws -> String {
        let isByKey = try !texts(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = \(table.quotedLiteral) AND upper(sql) LIKE '%WITHOUT ROWID%'"
        ).isEmpty
        if !isByKey { return "rowid" }
        return try texts("SELECT name FROM pragma_table_info(\(table.quotedLiteral)) WHERE pk > 0 ORDER BY pk")
            .map { SQLiteDialect().quoted($0) }.joined(separator: ", ")
    }

    func compact(_ settings: SQLWriteSettings) throws -> CompactionReport {
        try prepareWriting(settings)
        let before = length
        try parked.without {
            try execute("VACUUM")
            // The log is emptied now, or by a later commit when its last reader has ended. SQLite lets nobody write while it
            // waits for that reader (contract L11).
            try waiting(min(settings.busyTimeout, .milliseconds(200))) { _ = try integers("PRAGMA wal_checkpoint(TRUNCATE)") }
        }
        return CompactionReport(bytesBefore: before, bytesAfter: length)
    }

    /// The number of bytes of the file and its log.
    private var length: Int {
        [path, path + "-wal"].reduce(0) { sum, path in
            var status = stat()
            return stat(path, &status) == 0 ? sum + Int(status.st_size) : sum
        }
    }

    /// The number of pages that are copied between two calls of the closure for progress.
    private static let backupStep: CInt = 1024

    /// Copies what the running read transaction sees into an empty file.
    ///
    /// - Parameters:
    ///   - path: The path of the file. Nobody else has it open.
    ///   - onProgress: A closure that is called after each step. An error that it throws ends the copy.
    func copy(to path: String, _ onProgress: (BackupProgress) throws -> Void) throws {
        var target: OpaquePointer?
        let layer = hasChecksums ? PageChecksums.layer : nil
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
        let code = cipher?.open(path, &target, flags, like: handle) ?? sqlite3_open_v2(path, &target, flags, layer)
        defer { sqlite3_close_v2(target) }
        func failure(_ code: CInt) -> StorageError {
            SQLiteError.error(
                code, target.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code)), path: path,
                systemCode: target.map { sqlite3_system_errno($0) } ?? 0)
        }
        guard code == SQLITE_OK else { throw failure(code) }
        // Nothing has to be undone in a file that is thrown away when the copy fails, and it is synced as a whole.
        sqlite3_exec(target, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", nil, nil, nil)
        guard let backup = sqlite3_backup_init(target, "main", handle, "main") else {
            throw failure(sqlite3_errcode(target))
        }
        let pageSize = try integers("PRAGMA page_size").first ?? 0
        var step = SQLITE_OK
        do {
            while step == SQLITE_OK {
                step = sqlite3_backup_step(backup, Self.backupStep)
                guard step == SQLITE_OK || step == SQLITE_DONE else { break }
                let total = Int(sqlite3_backup_pagecount(backup))
                try onProgress(
                    BackupProgress(
                        bytes: (total - Int(sqlite3_backup_remaining(backup))) * Int(pageSize), total: total * Int(pageSize)))
            }
        } catch {
            sqlite3_backup_finish(backup)
            throw error
        }
        let finish = sqlite3_backup_finish(backup)
        if step == PageChecksums.mismatch { throw self.failure(step) }
        guard step == SQLITE_DONE, finish == SQLITE_OK else {
            throw failure(finish == SQLITE_OK ? step : finish)
        }
    }
}
