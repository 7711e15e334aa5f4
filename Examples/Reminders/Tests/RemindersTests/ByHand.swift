import CSQLite
import Foundation

/// The same queries by hand: SQLite's C library on the file that the app has written, statements prepared once, rows as structures.
final class ByHand {
    private let connection: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]

    init(_ path: String) throws {
        var connection: OpaquePointer?
        guard sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK, let connection
        else {
            throw CocoaError(.fileReadUnknown)
        }
        self.connection = connection
        try run("PRAGMA synchronous = NORMAL")
        // As the library's connections have it.
        try run("PRAGMA cache_size = -16000")
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(connection)
    }

    /// Runs a statement without rows.
    func run(_ text: String) throws {
        guard sqlite3_exec(connection, text, nil, nil, nil) == SQLITE_OK else { throw failure }
    }

    private var failure: CocoaError {
        CocoaError(.fileReadUnknown, userInfo: [NSDebugDescriptionErrorKey: String(cString: sqlite3_errmsg(connection))])
    }

    enum Value {
        case id(UUID)
        case number(Int)
        case date(Date)
    }

    /// Runs a statement, and makes something of each of its rows.
    func rows<Row>(_ text: String, _ values: [Value] = [], _ row: (Columns) -> Row) throws -> [Row] {
        let statement = try prepared(text)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() {
            let place = Int32(index + 1)
            switch value {
            case .id(let id):
                _ = withUnsafeBytes(of: id.uuid) { sqlite3_bind_blob(statement, place, $0.baseAddress, 16, transient) }
            case .number(let number): sqlite3_bind_int64(statement, place, Int64(number))
            case .date(let date): sqlite3_bind_double(statement, place, date.timeIntervalSinceReferenceDate)
            }
        }
        var rows: [Row] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: rows.append(row(Columns(statement: statement)))
            case SQLITE_DONE: return rows
            default: throw failure
            }
        }
    }

    private func prepared(_ text: String) throws -> OpaquePointer {
        if let statement = statements[text] { return statement }
        var statement: OpaquePointer?
        guard sqlite3_prepare_v3(connection, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
            let statement
        else { throw failure }
        statements[text] = statement
        return statement
    }
}

private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// The columns of the row that a statement is on.
struct Columns {
    let statement: OpaquePointer

    func text(_ index: Int32) -> String {
        let count = Int(sqlite3_column_bytes(statement, index))
        guard let bytes = sqlite3_column_text(statement, index) else { return "" }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
    func id(_ index: Int32) -> UUID {
        guard let bytes = sqlite3_column_blob(statement, index) else { return UUID() }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
    func number(_ index: Int32) -> Int { Int(sqlite3_column_int64(statement, index)) }
    func isNull(_ index: Int32) -> Bool { sqlite3_column_type(statement, index) == SQLITE_NULL }
    func date(_ index: Int32) -> Date? {
        isNull(index) ? nil : Date(timeIntervalSinceReferenceDate: sqlite3_column_double(statement, index))
    }
    func data(_ index: Int32) -> Data {
        sqlite3_column_blob(statement, index).map { Data(bytes: $0, count: Int(sqlite3_column_bytes(statement, index))) }
            ?? Data()
    }
}
