import CSQLite
import DAOCore
import Foundation

/// Compares the fields of a row that is written with the stored row a statement stands on, and remembers which differ.
final class ChangeDetector: RowWriter {
    private let row: OpaquePointer
    /// The fields that differ.
    private(set) var changes = FieldSet()

    /// - Parameter statement: Stands on the stored row, whose columns are those of the entity in order.
    init(_ statement: Statement) {
        row = statement.pointer
        super.init()
    }

    /// Begins the next row.
    func begin() { changes.removeAll() }

    @inline(__always) private func note(_ isSame: Bool, _ index: Int) { if !isSame { changes.insert(index) } }

    @inline(__always) private func isOf(_ type: Int32, _ index: Int) -> Bool { sqlite3_column_type(row, Int32(index)) == type }

    override func writeNull(at index: Int) throws { note(isOf(SQLITE_NULL, index), index) }

    override func writeInt64(_ value: Int64, at index: Int) throws {
        note(isOf(SQLITE_INTEGER, index) && sqlite3_column_int64(row, Int32(index)) == value, index)
    }

    override func writeUInt64(_ value: UInt64, at index: Int) throws {
        if let value = Int64(exactly: value) { return try writeInt64(value, at: index) }
        withUnsafeBytes(of: value.bigEndian) { note(isBlob($0, index), index) }
    }

    override func writeDouble(_ value: Double, at index: Int) throws {
        if value.isNaN {
            withUnsafeBytes(of: Bind.nan) { note(isBlob($0, index), index) }
        } else {
            note(isOf(SQLITE_FLOAT, index) && sqlite3_column_double(row, Int32(index)) == value, index)
        }
    }

    override func writeString(_ value: String, at index: Int) throws {
        guard isOf(SQLITE_TEXT, index) else { return note(false, index) }
        var value = value
        let isSame = value.withUTF8 { bytes in
            // The text stays where it is until the statement moves on.
            let text = sqlite3_column_text(row, Int32(index))
            let count = Int(sqlite3_column_bytes(row, Int32(index)))
            guard count == bytes.count else { return false }
            guard count > 0, let text, let address = bytes.baseAddress else { return true }
            return memcmp(text, address, count) == 0
        }
        note(isSame, index)
    }

    override func writeData(_ value: Data, at index: Int) throws { value.withUnsafeBytes { note(isBlob($0, index), index) } }

    override func writeUUID(_ value: UUID, at index: Int) throws {
        withUnsafeBytes(of: value.uuid) { note(isBlob($0, index), index) }
    }

    private func isBlob(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> Bool {
        guard isOf(SQLITE_BLOB, index) else { return false }
        let blob = sqlite3_column_blob(row, Int32(index))
        let count = Int(sqlite3_column_bytes(row, Int32(index)))
        guard count == bytes.count else { return false }
        guard count > 0, let blob, let address = bytes.baseAddress else { return true }
        return memcmp(blob, address, count) == 0
    }
}
