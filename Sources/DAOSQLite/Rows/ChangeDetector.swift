import DAOCore
import DAOSystemSQLite
import Foundation

/// Compares the fields of a row that is written with the stored row a statement stands on, and remembers which differ.
///
/// Rows of one call mostly change the same columns, so what differs is bound at once to the update that was used last: when the changes turn
/// out to be that update's, it can run.
final class ChangeDetector: RowWriter {
    /// The statement that stands on the stored row, whose columns are those of the entity in order.
    private let row: OpaquePointer
    /// Outlives the detector, which only the connection keeps.
    private unowned(unsafe) let connection: SQLiteConnection
    private let arena: BindArena
    /// The fields that differ.
    private(set) var changes = FieldSet()
    /// The update that the row is expected to take, and how many of its parameters are bound.
    private var guess: OpaquePointer?
    private var guessed = FieldSet()
    private(set) var count: Int32 = 0

    init(_ statement: Statement, _ connection: SQLiteConnection) {
        row = statement.pointer
        self.connection = connection
        arena = connection.arena
        super.init()
    }

    /// Begins the next row.
    ///
    /// - Parameter update: What it is expected to take.
    func begin(_ update: RowUpdate?) {
        arena.reset()
        changes.removeAll()
        count = 0
        guess = update?.statement.pointer
        guessed = update?.fields ?? FieldSet()
    }

    /// SQLite's value in a column: valid for as long as the statement stands on the row. See `SQLiteRowReader`.
    @inline(__always) private func value(_ index: Int) -> OpaquePointer? {
        sqlite3_column_value(row, Int32(truncatingIfNeeded: index))
    }

    /// Remembers that a field differs, and binds it where it is expected to go.
    @inline(__always) private func change(_ index: Int, _ bind: (OpaquePointer, Int32) -> Int32) throws {
        changes.insert(index)
        guard let guess, guessed.contains(index) else { return }
        count += 1
        let code = bind(guess, count)
        if code != SQLITE_OK { throw connection.failure(code) }
    }

    override func writeNull(at index: Int) throws {
        if sqlite3_value_type(value(index)) != SQLITE_NULL { try change(index) { sqlite3_bind_null($0, $1) } }
    }

    override func writeInt64(_ new: Int64, at index: Int) throws {
        let old = value(index)
        if sqlite3_value_type(old) == SQLITE_INTEGER, sqlite3_value_int64(old) == new { return }
        try change(index) { sqlite3_bind_int64($0, $1, new) }
    }

    override func writeUInt64(_ new: UInt64, at index: Int) throws {
        if let small = Int64(exactly: new) { return try writeInt64(small, at: index) }
        let isSame = withUnsafeBytes(of: new.bigEndian) { isBlob(value(index), $0) }
        if !isSame { try change(index) { Bind.unsigned($0, $1, new, arena) } }
    }

    override func writeDouble(_ new: Double, at index: Int) throws {
        let old = value(index)
        if new.isNaN {
            if SQLiteRowReader.isNaN(old) { return }
        } else if sqlite3_value_type(old) == SQLITE_FLOAT, sqlite3_value_double(old) == new {
            return
        }
        try change(index) { Bind.double($0, $1, new, arena) }
    }

    override func writeString(_ new: String, at index: Int) throws {
        let old = value(index)
        var text = new
        let isSame = text.withUTF8 { bytes in
            guard sqlite3_value_type(old) == SQLITE_TEXT else { return false }
            let stored = sqlite3_value_text(old)
            guard Int(sqlite3_value_bytes(old)) == bytes.count else { return false }
            guard !bytes.isEmpty, let stored, let address = bytes.baseAddress else { return true }
            return memcmp(stored, address, bytes.count) == 0
        }
        if !isSame { try change(index) { Bind.text($0, $1, new, arena) } }
    }

    override func writeData(_ new: Data, at index: Int) throws {
        let isSame = new.withUnsafeBytes { isBlob(value(index), $0) }
        if !isSame { try change(index) { Bind.data($0, $1, new, arena) } }
    }

    override func writeUUID(_ new: UUID, at index: Int) throws {
        let isSame = withUnsafeBytes(of: new.uuid) { isBlob(value(index), $0) }
        if !isSame { try change(index) { Bind.uuid($0, $1, new, arena) } }
    }

    private func isBlob(_ old: OpaquePointer?, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard sqlite3_value_type(old) == SQLITE_BLOB else { return false }
        let blob = sqlite3_value_blob(old)
        guard Int(sqlite3_value_bytes(old)) == bytes.count else { return false }
        guard !bytes.isEmpty, let blob, let address = bytes.baseAddress else { return true }
        return memcmp(blob, address, bytes.count) == 0
    }
}
