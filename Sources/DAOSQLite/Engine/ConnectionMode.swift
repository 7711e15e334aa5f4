import DAOCore
import DAOSQLiteChecksums
import DAOSystemSQLite
import Foundation

/// How a connection is opened.
enum ConnectionMode {
    /// Writes, and makes the file a WAL database.
    case writer
    /// Reads beside a writer. It may have to repair the index of the log, so it is not opened read-only.
    case reader
    /// Reads, and asks the operating system for no further permissions.
    case readOnly
    /// Reads a file in a directory where nothing can be written, which no process has open for writing. No locks are
    /// taken and no files created. When a process with more permissions writes, the connection is outdated.
    case unlocked
    /// Reads a file on a file system that cannot be written. No locks are taken and no files created.
    case immutable
    /// Reads everything for a copy into another file, which is attached.
    case copying
    /// As `copying`, while nobody else has the file open: what is in the log is moved into the file, and nobody can write until the
    /// connection is closed.
    case replacing

    /// Whether SQLite takes no locks.
    fileprivate var isWithoutLocks: Bool { self == .unlocked || self == .immutable }
}

extension SQLiteConnection {
    /// Opens and configures a connection.
    ///
    /// - Parameters:
    ///   - path: The absolute path of an existing file.
    ///   - mode: How the connection is opened.
    ///   - settings: The settings of all connections of the engine.
    static func open(_ path: String, _ mode: ConnectionMode, _ settings: SQLiteSettings) throws -> SQLiteConnection {
        FileSizeSignal.ignore()
        let access = mode == .readOnly || mode.isWithoutLocks ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        let usesURIs = mode.isWithoutLocks || mode == .copying || mode == .replacing
        let flags = access | SQLITE_OPEN_NOMUTEX | (usesURIs ? SQLITE_OPEN_URI : 0)
        let unlocked = mode == .unlocked ? UnlockedFile(path) : nil
        var handle: OpaquePointer?
        let layer = settings.checksums == .none ? nil : PageChecksums.layer
        let name = mode.isWithoutLocks ? uri(path) + "?immutable=1" : path
        let code = settings.cipher?.open(name, &handle, flags) ?? sqlite3_open_v2(name, &handle, flags, layer)
        guard code == SQLITE_OK, let handle else {
            let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(handle)
            throw SQLiteError.error(code, message, path: path)
        }
        // SQLite opens a file for reading when it cannot open it for writing, whatever the reason.
        if access == SQLITE_OPEN_READWRITE, sqlite3_db_readonly(handle, "main") == 1, Foundation.access(path, W_OK) == 0 {
            sqlite3_close_v2(handle)
            throw SQLiteError.error(SQLITE_CANTOPEN, String(cString: sqlite3_errstr(SQLITE_CANTOPEN)), path: path)
        }
        let connection = SQLiteConnection(handle, path: path, settings, unlocked, keepsSnapshots: mode == .reader)
        sqlite3_extended_result_codes(handle, 1)
        if settings.checksums == .maintained { dao_checksums_set_verified(handle, 0) }
        sqlite3_busy_timeout(handle, settings.busyTimeout.milliseconds)
        try connection.setUp(mode, settings)
        return connection
    }

    /// What the file at a path has, which nobody has open and which has no log. Neither it nor a file beside it is changed.
    static func content(at path: String, _ settings: SQLiteSettings) throws -> BackupFile.Content {
        if let cipher = settings.cipher {
            guard try DatabaseFile.look(at: path, reporting: path, cipher) else { return .nothing }
        } else {
            try DatabaseFile.requirePlain(path)
        }
        return try BackupFile.Content(of: open(path, .immutable, settings), SQLiteDialect())
    }

    /// SQLite accepts some options only in a URI. Every byte with a meaning in a URI is escaped, so that the
    /// URI names exactly this file.
    static func uri(_ path: String) -> String {
        var uri = "file:"
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                uri.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                uri += "%" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
            }
        }
        return uri
    }

    private func setUp(_ mode: ConnectionMode, _ settings: SQLiteSettings) throws {
        var code = SQLFunctions.register(on: handle)
        if code == SQLITE_OK, mode != .copying, mode != .replacing { code = dao_refuse_quoted_text(handle) }
        if code == SQLITE_OK { code = dao_keep_log(handle, 1) }
        if code != SQLITE_OK { throw failure(code) }
        // By default the schema in the file is not trusted to call functions. Damaged pages are detected early.
        try execute(
            "PRAGMA trusted_schema = \(settings.trustsSchema ? "ON" : "OFF"); PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON; PRAGMA cache_size = -\((mode == .writer ? settings.cache.writing : settings.cache.reading) >> 10)"
        )
        // Whoever moves the log into the file keeps the order of the two on the medium, at either durability.
        if settings.markedLog.isSyncedAfterCommit { try execute("PRAGMA checkpoint_fullfsync = ON") }
        switch mode {
        case .writer:
            if settings.cipher != nil {
                try reserveSeals()
            } else if settings.wantsChecksums == true {
                reserveChecksums()
            }
            try useLog(settings.busyTimeout)
            try execute("PRAGMA journal_size_limit = 67108864")
            // The first read opens the log.
            _ = try schemaVersion()
            // Another process can have created the file without checksums meanwhile.
            if settings.wantsChecksums == true, settings.cipher == nil, !hasChecksums { throw PageChecksums.missing(path) }
            files = AttachedFiles([path, log], settings.detachment)
            limitLog()
            try watchStatistics()
        case .reader: try execute("PRAGMA query_only = ON")
        case .readOnly, .unlocked, .immutable: break
        case .copying, .replacing:
            try execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON")
            if mode == .replacing {
                try execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
            }
        }
    }

    /// Makes the file a WAL database. SQLite fails at once when another process does the same, so this is
    /// retried.
    private func useLog(_ timeout: Duration) throws {
        let deadline = ContinuousClock.now + timeout
        while true {
            do {
                guard try texts("PRAGMA journal_mode = WAL").first == "wal" else {
                    throw StorageError(
                        .io, "the file system does not support a write-ahead log; move the database to another file system",
                        path: path)
                }
                return
            } catch let error as StorageError where error.kind == .busy && ContinuousClock.now < deadline {
                usleep(2000)
            }
        }
    }

    /// Returns the first column of a statement's rows, as integers.
    func integers(_ sql: String) throws -> [Int64] { try rows(sql) { sqlite3_column_int64($0, 0) } }

    /// Returns the first column of a statement's rows, as text.
    func texts(_ sql: String) throws -> [String] { try rows(sql) { Self.text($0, 0) } }

    /// Returns the rows of a statement without parameters, for rare statements.
    func rows<Row>(_ sql: String, _ body: (OpaquePointer) throws -> Row) throws -> [Row] {
        let statement = try prepared(sql)
        defer { sqlite3_finalize(statement) }
        var rows: [Row] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: rows.append(try body(statement))
            case SQLITE_DONE: return rows
            case let code: throw failure(code)
            }
        }
    }

    /// Returns a column as text; empty when it is null.
    static func text(_ statement: OpaquePointer, _ column: Int32) -> String {
        guard let text = sqlite3_column_text(statement, column) else { return "" }
        return String(
            decoding: UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column))), as: UTF8.self)
    }
}
