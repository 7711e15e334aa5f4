import DAOSystemSQLite
import Foundation

// MARK: SQLite

extension Payment {
    static let columns = """
        id INTEGER PRIMARY KEY, senderId INTEGER NOT NULL, date REAL NOT NULL, text TEXT NOT NULL, isRead INTEGER NOT NULL,
        rating REAL NOT NULL, cents INTEGER NOT NULL, previous INTEGER
        """

    @inline(__always) init(row: OpaquePointer) {
        self.init(
            id: Int(sqlite3_column_int64(row, 0)), senderId: Int(sqlite3_column_int64(row, 1)),
            date: Date(timeIntervalSinceReferenceDate: sqlite3_column_double(row, 2)), text: RawSQLiteText.read(row, 3),
            isRead: sqlite3_column_int64(row, 4) != 0, rating: sqlite3_column_double(row, 5),
            cents: Int(sqlite3_column_int64(row, 6)),
            previous: sqlite3_column_type(row, 7) == SQLITE_NULL ? nil : Int(sqlite3_column_int64(row, 7)))
    }

    @inline(__always) func bind(to statement: OpaquePointer, _ body: () throws -> Void) throws {
        sqlite3_bind_int64(statement, 1, Int64(id))
        sqlite3_bind_int64(statement, 2, Int64(senderId))
        sqlite3_bind_double(statement, 3, date.timeIntervalSinceReferenceDate)
        sqlite3_bind_int64(statement, 5, isRead ? 1 : 0)
        sqlite3_bind_double(statement, 6, rating)
        sqlite3_bind_int64(statement, 7, Int64(cents))
        if let previous { sqlite3_bind_int64(statement, 8, Int64(previous)) } else { sqlite3_bind_null(statement, 8) }
        try RawSQLiteText.bind(statement, 4, text, body)
    }
}

// MARK: LMDB: after the fields of all shapes whether there is a previous payment, the cents, that payment, and the text

extension Payment {
    private static let (hasPrevious, cents, previous, text) = (33, 40, 48, 56)

    @inline(__always) init(record: UnsafeRawPointer, count: Int) {
        self.init(
            id: record.integer(RecordPlace.id), senderId: record.integer(RecordPlace.sender),
            date: Date(timeIntervalSinceReferenceDate: record.double(RecordPlace.date)),
            text: record.text(Self.text, count - Self.text), isRead: record.flag(RecordPlace.isRead),
            rating: record.double(RecordPlace.rating), cents: record.integer(Self.cents),
            previous: record.flag(Self.hasPrevious) ? record.integer(Self.previous) : nil)
    }

    @inline(__always) func write(to buffer: UnsafeMutableRawPointer) -> Int {
        buffer.writeShared(self)
        buffer.storeBytes(of: previous != nil, toByteOffset: Self.hasPrevious, as: Bool.self)
        buffer.storeBytes(of: cents, toByteOffset: Self.cents, as: Int.self)
        buffer.storeBytes(of: previous ?? 0, toByteOffset: Self.previous, as: Int.self)
        return Self.text + buffer.write(text, Self.text)
    }
}
