import DAOSystemSQLite
import Foundation

/// The work written manually with SQLite's C interface: reused prepared statements and columns by index,
/// without a layer in between.
final class RawSQLite {
    private var connection: OpaquePointer?
    private var statements: [OpaquePointer?] = Array(repeating: nil, count: Statement.allCases.count)

    /// Each statement is prepared once and found by its number.
    enum Statement: Int, CaseIterable {
        case insert, fetchAll, read, newest, update
        case insertDialog, upsertReply, insertLink, fetchDialogs, fetchReplies
        case dialogsWithReply, countWithReply, dialogsByCount

        private static let hasReply =
            "EXISTS (SELECT 1 FROM dialog_replies CROSS JOIN reply ON reply.id = child WHERE parent = dialog.id AND senderId < ?)"

        var sql: String {
            switch self {
            case .insert: "INSERT INTO message VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            case .fetchAll: "SELECT * FROM message ORDER BY id"
            case .read: "SELECT * FROM message WHERE id = ?"
            case .newest: "SELECT * FROM message WHERE senderId = ? ORDER BY date DESC, id LIMIT ?"
            case .update: "UPDATE message SET isRead = ?, rating = ? WHERE id = ?"
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

    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    init(path: String) throws {
        guard
            sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK
        else { throw BenchError("cannot open \(path)") }
        try execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16000")
        sqlite3_busy_timeout(connection, 5000)
    }

    deinit {
        for statement in statements { sqlite3_finalize(statement) }
        sqlite3_close(connection)
    }

    func execute(_ sql: String) throws {
        guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
            throw BenchError(String(cString: sqlite3_errmsg(connection)))
        }
    }

    func createTable() throws {
        try execute(
            """
            CREATE TABLE message (id INTEGER PRIMARY KEY, senderId INTEGER NOT NULL, date REAL NOT NULL, title TEXT NOT NULL,
                text TEXT NOT NULL, note TEXT, isRead INTEGER NOT NULL, rating REAL NOT NULL);
            CREATE INDEX message_senderId ON message (senderId);
            CREATE INDEX message_date ON message (date);
            """)
    }

    func checkpoint() throws { try execute("PRAGMA wal_checkpoint(TRUNCATE)") }

    @inline(__always) func statement(_ kind: Statement) throws -> OpaquePointer {
        if let statement = statements[kind.rawValue] { return statement }
        return try prepare(kind)
    }

    private func prepare(_ kind: Statement) throws -> OpaquePointer {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v3(connection, kind.sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
            let statement
        else { throw BenchError(String(cString: sqlite3_errmsg(connection))) }
        statements[kind.rawValue] = statement
        return statement
    }

    @inline(__always) func bind(_ statement: OpaquePointer, _ index: Int32, _ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            _ = utf8.withMemoryRebound(to: CChar.self) {
                sqlite3_bind_text(statement, index, $0.baseAddress, Int32($0.count), Self.transient)
            }
        }
    }

    @inline(__always) func text(_ statement: OpaquePointer, _ column: Int32) -> String {
        let length = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: sqlite3_column_text(statement, column), count: length), as: UTF8.self)
    }

    @inline(__always) private func message(_ statement: OpaquePointer) -> Message {
        Message(
            id: Int(sqlite3_column_int64(statement, 0)), senderId: Int(sqlite3_column_int64(statement, 1)),
            date: Date(timeIntervalSinceReferenceDate: sqlite3_column_double(statement, 2)), title: text(statement, 3),
            text: text(statement, 4), note: sqlite3_column_type(statement, 5) == SQLITE_NULL ? nil : text(statement, 5),
            isRead: sqlite3_column_int64(statement, 6) != 0, rating: sqlite3_column_double(statement, 7))
    }

    func insert(_ messages: [Message]) throws {
        try execute("BEGIN IMMEDIATE")
        let statement = try statement(.insert)
        for message in messages {
            sqlite3_bind_int64(statement, 1, Int64(message.id))
            sqlite3_bind_int64(statement, 2, Int64(message.senderId))
            sqlite3_bind_double(statement, 3, message.date.timeIntervalSinceReferenceDate)
            bind(statement, 4, message.title)
            bind(statement, 5, message.text)
            if let note = message.note { bind(statement, 6, note) } else { sqlite3_bind_null(statement, 6) }
            sqlite3_bind_int64(statement, 7, message.isRead ? 1 : 0)
            sqlite3_bind_double(statement, 8, message.rating)
            guard sqlite3_step(statement) == SQLITE_DONE else { throw BenchError(String(cString: sqlite3_errmsg(connection))) }
            sqlite3_reset(statement)
        }
        try execute("COMMIT")
    }

    func fetchAll() throws -> [Message] {
        let statement = try statement(.fetchAll)
        var messages: [Message] = []
        while sqlite3_step(statement) == SQLITE_ROW { messages.append(message(statement)) }
        sqlite3_reset(statement)
        return messages
    }

    func read(_ id: Int) throws -> Message? {
        let statement = try statement(.read)
        sqlite3_bind_int64(statement, 1, Int64(id))
        let found = sqlite3_step(statement) == SQLITE_ROW ? message(statement) : nil
        sqlite3_reset(statement)
        return found
    }

    func newest(of sender: Int, limit: Int) throws -> [Message] {
        let statement = try statement(.newest)
        sqlite3_bind_int64(statement, 1, Int64(sender))
        sqlite3_bind_int64(statement, 2, Int64(limit))
        var messages: [Message] = []
        while sqlite3_step(statement) == SQLITE_ROW { messages.append(message(statement)) }
        sqlite3_reset(statement)
        return messages
    }

    func merge(_ receipts: [Receipt]) throws {
        try execute("BEGIN IMMEDIATE")
        let select = try statement(.read)
        let update = try statement(.update)
        for receipt in receipts {
            sqlite3_bind_int64(select, 1, Int64(receipt.id))
            guard sqlite3_step(select) == SQLITE_ROW else { throw BenchError("row \(receipt.id) is missing") }
            var stored = message(select)
            sqlite3_reset(select)
            stored.isRead = receipt.isRead
            stored.rating = receipt.rating
            sqlite3_bind_int64(update, 1, stored.isRead ? 1 : 0)
            sqlite3_bind_double(update, 2, stored.rating)
            sqlite3_bind_int64(update, 3, Int64(stored.id))
            guard sqlite3_step(update) == SQLITE_DONE else { throw BenchError(String(cString: sqlite3_errmsg(connection))) }
            sqlite3_reset(update)
        }
        try execute("COMMIT")
    }
}

struct BenchError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
