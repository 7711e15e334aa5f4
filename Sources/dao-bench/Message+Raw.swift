import DAOSystemSQLite
import Foundation

// MARK: SQLite

extension Message {
    static let columns = """
        id INTEGER PRIMARY KEY, senderId INTEGER NOT NULL, date REAL NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL, note TEXT,
        isRead INTEGER NOT NULL, rating REAL NOT NULL
        """

    @inline(__always) init(row: OpaquePointer) {
        self.init(
            id: Int(sqlite3_column_int64(row, 0)), senderId: Int(sqlite3_column_int64(row, 1)),
            date: Date(timeIntervalSinceReferenceDate: sqlite3_column_double(row, 2)), title: RawSQLiteText.read(row, 3),
            text: RawSQLiteText.read(row, 4), note: sqlite3_column_type(row, 5) == SQLITE_NULL ? nil : RawSQLiteText.read(row, 5),
            isRead: sqlite3_column_int64(row, 6) != 0, rating: sqlite3_column_double(row, 7))
    }

    @inline(__always) func bind(to statement: OpaquePointer, _ body: () throws -> Void) throws {
        sqlite3_bind_int64(statement, 1, Int64(id))
        sqlite3_bind_int64(statement, 2, Int64(senderId))
        sqlite3_bind_double(statement, 3, date.timeIntervalSinceReferenceDate)
        sqlite3_bind_int64(statement, 7, isRead ? 1 : 0)
        sqlite3_bind_double(statement, 8, rating)
        try RawSQLiteText.bind(statement, 4, title) {
            try RawSQLiteText.bind(statement, 5, text) {
                if let note { return try RawSQLiteText.bind(statement, 6, note, body) }
                sqlite3_bind_null(statement, 6)
                try body()
            }
        }
    }
}

// MARK: LMDB: after the fields of all shapes the lengths of the texts (2 bytes each, 0xFFFF is nil), then the texts

extension Message {
    private static let (lengths, texts) = (34, 40)

    @inline(__always) init(record: UnsafeRawPointer, count: Int) {
        var start = Self.texts
        @inline(__always) func text(_ number: Int) -> String? {
            let length = record.loadUnaligned(fromByteOffset: Self.lengths + 2 * number, as: UInt16.self)
            if length == 0xFFFF { return nil }
            defer { start += Int(length) }
            return record.text(start, Int(length))
        }
        let (title, body, note) = (text(0), text(1), text(2))
        self.init(
            id: record.integer(RecordPlace.id), senderId: record.integer(RecordPlace.sender),
            date: Date(timeIntervalSinceReferenceDate: record.double(RecordPlace.date)), title: title ?? "", text: body ?? "",
            note: note, isRead: record.flag(RecordPlace.isRead), rating: record.double(RecordPlace.rating))
    }

    @inline(__always) func write(to buffer: UnsafeMutableRawPointer) -> Int {
        buffer.writeShared(self)
        var end = Self.texts
        @inline(__always) func put(_ text: String?, _ number: Int) {
            let length = text.map { buffer.write($0, end) }
            buffer.storeBytes(of: length.map(UInt16.init) ?? 0xFFFF, toByteOffset: Self.lengths + 2 * number, as: UInt16.self)
            end += length ?? 0
        }
        put(title, 0)
        put(text, 1)
        put(note, 2)
        return end
    }
}
