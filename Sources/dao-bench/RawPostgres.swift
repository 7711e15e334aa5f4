import DAOSystemPostgres
import Foundation

/// The work written manually with libpq: prepared statements, binary values, statements that belong together in one message,
/// COPY for new rows, and arrays for the others.
final class RawPostgres {
    let connection: OpaquePointer
    /// The values of the next statement.
    var values = BinaryValues()

    /// Each statement is prepared once.
    enum Statement: String, CaseIterable {
        case begin, beginReading, commit
        case fetchAll, read, readForUpdate, readManyForUpdate, newest, update, updateMany
        case upsertReplies, fetchDialogs, fetchReplies
        case dialogsWithReply, countWithReply, dialogsByCount

        private static let hasReply =
            "EXISTS (SELECT 1 FROM dialog_replies JOIN reply ON reply.id = child WHERE parent = dialog.id AND \"senderId\" < $1)"

        var sql: String {
            switch self {
            case .begin: "BEGIN"
            case .beginReading: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            case .commit: "COMMIT"
            case .fetchAll: "SELECT * FROM message ORDER BY id"
            case .read: "SELECT * FROM message WHERE id = $1"
            case .readForUpdate: "SELECT * FROM message WHERE id = $1 FOR UPDATE"
            case .readManyForUpdate: "SELECT * FROM message WHERE id = ANY($1) FOR UPDATE"
            case .newest: "SELECT * FROM message WHERE \"senderId\" = $1 ORDER BY date DESC, id LIMIT $2"
            case .update: "UPDATE message SET \"isRead\" = $2, rating = $3 WHERE id = $1"
            case .updateMany:
                "UPDATE message SET \"isRead\" = new.flag, rating = new.rating "
                    + "FROM unnest($1::int8[], $2::bool[], $3::float8[]) AS new(id, flag, rating) WHERE message.id = new.id"
            case .upsertReplies:
                "INSERT INTO reply SELECT * FROM unnest($1::int8[], $2::int8[], $3::float8[], $4::text[], $5::bool[]) "
                    + "ON CONFLICT (id) DO UPDATE SET \"senderId\" = excluded.\"senderId\", date = excluded.date, "
                    + "text = excluded.text, \"isRead\" = excluded.\"isRead\""
            case .fetchDialogs: "SELECT * FROM dialog ORDER BY id"
            case .fetchReplies:
                "SELECT parent, reply.* FROM dialog_replies JOIN reply ON reply.id = child ORDER BY parent, position"
            case .dialogsWithReply: "SELECT * FROM dialog WHERE \(Self.hasReply) ORDER BY id LIMIT $2"
            case .countWithReply: "SELECT count(*) FROM dialog WHERE \(Self.hasReply)"
            case .dialogsByCount:
                "SELECT * FROM dialog WHERE (SELECT count(*) FROM dialog_replies WHERE parent = dialog.id) >= $1 ORDER BY id LIMIT $2"
            }
        }
    }

    /// Creates a schema and its tables, with the types that the suite's have.
    ///
    /// - Parameters:
    ///   - settings: What libpq needs to find the server.
    ///   - schema: The name of the schema.
    init(_ settings: String, schema: String) throws {
        guard let connection = PQconnectdb(settings), PQstatus(connection) == CONNECTION_OK else {
            throw BenchError("the server cannot be reached")
        }
        self.connection = connection
        PQsetNoticeProcessor(connection, { _, _ in }, nil)
        try execute(
            """
            CREATE SCHEMA "\(schema)"; SET search_path = "\(schema)";
            CREATE TABLE message (id BIGINT PRIMARY KEY, "senderId" BIGINT NOT NULL, date DOUBLE PRECISION NOT NULL,
                title TEXT COLLATE "C" NOT NULL, text TEXT COLLATE "C" NOT NULL, note TEXT COLLATE "C", "isRead" BOOLEAN NOT NULL,
                rating DOUBLE PRECISION NOT NULL);
            CREATE INDEX ON message ("senderId");
            CREATE INDEX ON message (date);
            CREATE TABLE dialog (id BIGINT PRIMARY KEY, title TEXT COLLATE "C" NOT NULL, date DOUBLE PRECISION NOT NULL);
            CREATE TABLE reply (id BIGINT PRIMARY KEY, "senderId" BIGINT NOT NULL, date DOUBLE PRECISION NOT NULL,
                text TEXT COLLATE "C" NOT NULL, "isRead" BOOLEAN NOT NULL);
            CREATE TABLE dialog_replies (parent BIGINT NOT NULL, position BIGINT NOT NULL, child BIGINT NOT NULL,
                PRIMARY KEY (parent, position));
            CREATE INDEX ON dialog_replies (child);
            """)
        for statement in Statement.allCases {
            try check(PQprepare(connection, statement.rawValue, statement.sql, 0, nil), PGRES_COMMAND_OK).clear()
        }
    }

    deinit { PQfinish(connection) }

    // MARK: Statements

    func execute(_ sql: String) throws { try check(PQexec(connection, sql), PGRES_COMMAND_OK).clear() }

    @inline(__always) private func check(_ result: OpaquePointer?, _ status: ExecStatusType) throws -> BinaryRows {
        guard let result, PQresultStatus(result) == status else {
            defer { PQclear(result) }
            throw BenchError(String(cString: PQerrorMessage(connection)))
        }
        return BinaryRows(result)
    }

    /// Runs a statement with the values, and returns its rows, which the caller clears.
    func rows(_ statement: Statement) throws -> BinaryRows {
        let result = values.withPointers { PQexecPrepared(connection, statement.rawValue, $0, $1, $2, $3, 1) }
        values.removeAll()
        return try check(result, PGRES_TUPLES_OK)
    }

    /// Adds a statement with the values to the message that ``answers(_:)`` sends.
    func send(_ statement: Statement) throws {
        let isSent = values.withPointers { PQsendQueryPrepared(connection, statement.rawValue, $0, $1, $2, $3, 1) }
        values.removeAll()
        guard isSent == 1 else { throw BenchError(String(cString: PQerrorMessage(connection))) }
    }

    /// Runs the statements that a closure sends, in one round trip.
    ///
    /// - Parameters:
    ///   - statuses: What each statement returns.
    ///   - body: The closure.
    /// - Returns: The rows of each, which the caller clears.
    func together(_ statuses: [ExecStatusType], _ body: () throws -> Void) throws -> [BinaryRows] {
        PQenterPipelineMode(connection)
        try body()
        PQpipelineSync(connection)
        let answers = try statuses.map { status in
            defer { PQgetResult(connection) }
            return try check(PQgetResult(connection), status)
        }
        PQclear(PQgetResult(connection))
        PQexitPipelineMode(connection)
        return answers
    }

    /// Stores new rows with COPY.
    ///
    /// - Parameters:
    ///   - table: The name of the table.
    ///   - columns: The number of its columns.
    ///   - items: What the rows are made of.
    ///   - append: A closure that appends the rows of an item.
    func copy<Item>(_ table: String, columns: Int, _ items: [Item], _ append: (inout CopyRows, Item) -> Void) throws {
        try check(PQexec(connection, "COPY \(table) FROM STDIN (FORMAT binary)"), PGRES_COPY_IN).clear()
        var rows = CopyRows(columns: columns)
        for item in items {
            append(&rows, item)
            if rows.bytes.count >= CopyRows.messageLength { try put(&rows) }
        }
        rows.end()
        try put(&rows)
        guard PQputCopyEnd(connection, nil) == 1 else { throw BenchError(String(cString: PQerrorMessage(connection))) }
        try check(PQgetResult(connection), PGRES_COMMAND_OK).clear()
        PQclear(PQgetResult(connection))
    }

    private func put(_ rows: inout CopyRows) throws {
        let isSent = rows.bytes.withUnsafeBytes {
            PQputCopyData(connection, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count))
        }
        guard isSent == 1 else { throw BenchError(String(cString: PQerrorMessage(connection))) }
        rows.bytes.removeAll(keepingCapacity: true)
    }

    // MARK: Work

    func insert(_ messages: [Message]) throws {
        try copy("message", columns: 8, messages) { rows, message in
            rows.begin()
            rows.append(Int64(message.id))
            rows.append(Int64(message.senderId))
            rows.append(message.date.timeIntervalSinceReferenceDate)
            rows.append(message.title)
            rows.append(message.text)
            if let note = message.note { rows.append(note) } else { rows.appendNull() }
            rows.append(message.isRead)
            rows.append(message.rating)
        }
    }

    @inline(__always) private func message(_ rows: BinaryRows, _ row: Int32) -> Message {
        Message(
            id: rows.integer(row, 0), senderId: rows.integer(row, 1),
            date: Date(timeIntervalSinceReferenceDate: rows.double(row, 2)), title: rows.text(row, 3), text: rows.text(row, 4),
            note: rows.isNull(row, 5) ? nil : rows.text(row, 5), isRead: rows.flag(row, 6), rating: rows.double(row, 7))
    }

    private func messages(_ rows: BinaryRows) -> [Message] {
        defer { rows.clear() }
        return (0..<rows.count).map { message(rows, $0) }
    }

    func fetchAll() throws -> [Message] { messages(try rows(.fetchAll)) }

    func read(_ id: Int) throws -> Message? {
        values.append(Int64(id))
        let rows = try rows(.read)
        defer { rows.clear() }
        return rows.count > 0 ? message(rows, 0) : nil
    }

    func newest(of sender: Int, limit: Int) throws -> [Message] {
        values.append(Int64(sender))
        values.append(Int64(limit))
        return messages(try rows(.newest))
    }

    func merge(_ receipts: [Receipt]) throws {
        let isSingle = receipts.count == 1
        let read = try together([PGRES_COMMAND_OK, PGRES_TUPLES_OK]) {
            try send(.begin)
            if isSingle {
                values.append(Int64(receipts[0].id))
            } else {
                values.append(array: receipts, of: BinaryValues.int8) { $0.append(Int64($1.id)) }
            }
            try send(isSingle ? .readForUpdate : .readManyForUpdate)
        }
        read[0].clear()
        let rows = messages(read[1])
        guard rows.count == receipts.count else { throw BenchError("rows are missing") }
        var stored = rows
        if !isSingle {
            let places = Dictionary(uniqueKeysWithValues: rows.enumerated().map { ($1.id, $0) })
            stored = try receipts.map { receipt in
                guard let place = places[receipt.id] else { throw BenchError("row \(receipt.id) is missing") }
                return rows[place]
            }
        }
        for (index, receipt) in receipts.enumerated() {
            stored[index].isRead = receipt.isRead
            stored[index].rating = receipt.rating
        }
        for rows in try together(
            [PGRES_COMMAND_OK, PGRES_COMMAND_OK],
            {
                if isSingle {
                    values.append(Int64(stored[0].id))
                    values.append(stored[0].isRead)
                    values.append(stored[0].rating)
                } else {
                    values.append(array: stored, of: BinaryValues.int8) { $0.append(Int64($1.id)) }
                    values.append(array: stored, of: BinaryValues.bool) { $0.append($1.isRead) }
                    values.append(array: stored, of: BinaryValues.float8) { $0.append($1.rating) }
                }
                try send(isSingle ? .update : .updateMany)
                try send(.commit)
            })
        { rows.clear() }
    }
}
