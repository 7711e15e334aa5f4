import DAOCore
import DAOSystemSQLite
import Foundation

/// The work written manually with SQLite's C interface: reused prepared statements and columns by index,
/// without a layer in between.
final class RawSQLite<Record: MeasuredRecord> {
    private let connection: OpaquePointer
    private let statements: [OpaquePointer]

    /// Each statement is prepared once and found by its number.
    enum Statement: Int, CaseIterable {
        case begin, beginWriting, commit
        case insert, fetchAll, read, newest, between, countAbove, countOf, update, upsert, erase
        case insertDialog, upsertReply, insertLink, fetchDialogs, fetchReplies
        case dialogsWithReply, countWithReply, dialogsByCount

        private static var hasReply: String {
            "EXISTS (SELECT 1 FROM dialog_replies CROSS JOIN reply ON reply.id = child WHERE parent = dialog.id AND senderId < ?)"
        }

        /// Changes every column but the key.
        private static var upserting: String {
            let names = Record.columns.split(separator: ",").compactMap { $0.split(whereSeparator: \.isWhitespace).first }
                .dropFirst()
            let changes = names.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
            return "\(Self.insert.sql) ON CONFLICT (id) DO UPDATE SET \(changes)"
        }

        var sql: String {
            switch self {
            case .begin: "BEGIN"
            case .beginWriting: "BEGIN IMMEDIATE"
            case .commit: "COMMIT"
            case .insert: "INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            case .fetchAll: "SELECT * FROM record ORDER BY id"
            case .read: "SELECT * FROM record WHERE id = ?"
            case .newest: "SELECT * FROM record WHERE senderId = ? ORDER BY date DESC, id LIMIT ?"
            case .between: "SELECT * FROM record WHERE date >= ? AND date < ? ORDER BY date, id"
            case .countAbove: "SELECT count(*) FROM record WHERE rating > ?"
            case .countOf: "SELECT count(*) FROM record WHERE senderId = ?"
            case .upsert: Self.upserting
            case .erase: "DELETE FROM record WHERE id = ?"
            case .update: "UPDATE record SET isRead = ?, rating = ? WHERE id = ?"
            case .insertDialog: "INSERT INTO dialog VALUES (?, ?, ?)"
            case .upsertReply:
                "INSERT INTO reply VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET senderId = excluded.senderId, "
                    + "date = excluded.date, text = excluded.text, isRead = excluded.isRead"
            case .insertLink: "INSERT INTO dialog_replies VALUES (?, ?, ?)"
            case .fetchDialogs: "SELECT * FROM dialog ORDER BY id"
            case .fetchReplies:
                "SELECT parent, reply.* FROM dialog_replies JOIN reply ON reply.id = child ORDER BY parent, position"
            case .dialogsWithReply: "SELECT * FROM dialog WHERE \(Self.hasReply) ORDER BY id LIMIT ?"
            case .countWithReply: "SELECT count(*) FROM dialog WHERE \(Self.hasReply)"
            case .dialogsByCount:
                "SELECT * FROM dialog WHERE (SELECT count(*) FROM dialog_replies WHERE parent = dialog.id) >= ? ORDER BY id LIMIT ?"
            }
        }
    }

    init(path: String) throws {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        guard sqlite3_open_v2(path, &handle, flags, nil) == SQLITE_OK, let handle else { throw BenchError("cannot open \(path)") }
        connection = handle
        sqlite3_busy_timeout(handle, 5000)
        let schema = """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16000;
            CREATE TABLE IF NOT EXISTS record (\(Record.columns));
            CREATE INDEX IF NOT EXISTS record_senderId ON record (senderId);
            CREATE INDEX IF NOT EXISTS record_date ON record (date);
            \(Self.dialogTables)
            """
        guard sqlite3_exec(handle, schema, nil, nil, nil) == SQLITE_OK else {
            throw BenchError(String(cString: sqlite3_errmsg(handle)))
        }
        statements = try Statement.allCases.map { kind in
            var statement: OpaquePointer?
            guard sqlite3_prepare_v3(handle, kind.sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
                let statement
            else { throw BenchError(String(cString: sqlite3_errmsg(handle))) }
            return statement
        }
    }

    deinit {
        for statement in statements { sqlite3_finalize(statement) }
        sqlite3_close(connection)
    }

    func checkpoint() throws {
        guard sqlite3_exec(connection, "PRAGMA wal_checkpoint(TRUNCATE)", nil, nil, nil) == SQLITE_OK else { throw failure }
    }

    private var failure: BenchError { BenchError(String(cString: sqlite3_errmsg(connection))) }

    @inline(__always) func statement(_ kind: Statement) -> OpaquePointer { statements[kind.rawValue] }

    /// Runs a statement without rows.
    @inline(__always) func run(_ statement: OpaquePointer) throws {
        guard sqlite3_step(statement) == SQLITE_DONE else { throw failure }
        sqlite3_reset(statement)
    }

    @inline(__always) private func records(_ statement: OpaquePointer) -> [Record] {
        var records: [Record] = []
        while sqlite3_step(statement) == SQLITE_ROW { records.append(Record(row: statement)) }
        sqlite3_reset(statement)
        return records
    }

    func insert(_ records: [Record]) throws { try store(records, statement(.insert)) }

    func upsert(_ records: [Record]) throws { try store(records, statement(.upsert)) }

    @inline(__always) private func store(_ records: [Record], _ statement: OpaquePointer) throws {
        try run(self.statement(.beginWriting))
        for record in records { try record.bind(to: statement) { try run(statement) } }
        try run(self.statement(.commit))
    }

    func erase(_ ids: [Int]) throws {
        try run(statement(.beginWriting))
        let statement = statement(.erase)
        for id in ids {
            sqlite3_bind_int64(statement, 1, Int64(id))
            try run(statement)
        }
        try run(self.statement(.commit))
    }

    func fetchAll() throws -> [Record] { records(statement(.fetchAll)) }

    @inline(__always) func read(_ id: Int) throws -> Record? {
        let statement = statement(.read)
        sqlite3_bind_int64(statement, 1, Int64(id))
        defer { sqlite3_reset(statement) }
        return sqlite3_step(statement) == SQLITE_ROW ? Record(row: statement) : nil
    }

    func readInside(_ ids: [Int], _ body: (Record) -> Void) throws {
        try run(statement(.begin))
        for id in ids { if let record = try read(id) { body(record) } }
        try run(statement(.commit))
    }

    func newest(of sender: Int, limit: Int) throws -> [Record] {
        let statement = statement(.newest)
        sqlite3_bind_int64(statement, 1, Int64(sender))
        sqlite3_bind_int64(statement, 2, Int64(limit))
        return records(statement)
    }

    func within(_ span: Range<Date>) throws -> [Record] {
        let statement = statement(.between)
        sqlite3_bind_double(statement, 1, span.lowerBound.timeIntervalSinceReferenceDate)
        sqlite3_bind_double(statement, 2, span.upperBound.timeIntervalSinceReferenceDate)
        return records(statement)
    }

    func count(above rating: Double) throws -> Int {
        let statement = statement(.countAbove)
        sqlite3_bind_double(statement, 1, rating)
        return try number(statement)
    }

    func count(of sender: Int) throws -> Int {
        let statement = statement(.countOf)
        sqlite3_bind_int64(statement, 1, Int64(sender))
        return try number(statement)
    }

    @inline(__always) private func number(_ statement: OpaquePointer) throws -> Int {
        defer { sqlite3_reset(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW else { throw failure }
        return Int(sqlite3_column_int64(statement, 0))
    }

    func merge(_ receipts: [Receipt]) throws {
        try run(statement(.beginWriting))
        let update = statement(.update)
        for receipt in receipts {
            guard var stored = try read(receipt.id) else { throw BenchError("row \(receipt.id) is missing") }
            stored.isRead = receipt.isRead
            stored.rating = receipt.rating
            sqlite3_bind_int64(update, 1, stored.isRead ? 1 : 0)
            sqlite3_bind_double(update, 2, stored.rating)
            sqlite3_bind_int64(update, 3, Int64(stored.id))
            try run(update)
        }
        try run(statement(.commit))
    }
}

/// Texts of SQLite, manually.
enum RawSQLiteText {
    @inline(__always) static func read(_ statement: OpaquePointer, _ column: Int32) -> String {
        let text = sqlite3_column_text(statement, column)
        return String(
            decoding: UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column))), as: UTF8.self)
    }

    /// Binds a text without a copy, for the time of a closure.
    @inline(__always) static func bind(
        _ statement: OpaquePointer, _ index: Int32, _ text: String, _ body: () throws -> Void
    ) throws {
        try text.withBytes { bytes in
            sqlite3_bind_text(
                statement, index, bytes.assumingMemoryBound(to: CChar.self).baseAddress, Int32(bytes.count), nil)
            try body()
        }
    }
}

struct BenchError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
