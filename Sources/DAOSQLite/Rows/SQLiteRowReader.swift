import DAOCore
import DAOSQL
import DAOSystemSQLite
import Foundation

/// Reads the rows of a statement, column by column, and refuses values that are not of their field's type.
final class SQLiteRowReader: SQLRowReader {
    /// Outlives the reader, which only its `SQLiteStatement` or the reading code keeps.
    @exclusivity(unchecked) private var statement: OpaquePointer
    /// The same, while the reader follows no walk.
    private let own: OpaquePointer
    /// Finds the rows, while some were announced.
    @exclusivity(unchecked) private var walk: KeyWalk?
    /// Outlives the reader for the same reason.
    private unowned(unsafe) let connection: SQLiteConnection
    /// The file, where it is read without locks.
    private let unlocked: UnlockedFile?
    /// The difference between the position of a field and its column.
    private let shift: Int
    /// SQLite's value in the first column of the row.
    @exclusivity(unchecked) private var first: UnsafeMutableRawPointer?
    /// How far SQLite's values in neighbouring columns are apart, in bytes; nil before the first row.
    @exclusivity(unchecked) private var stride: Int?
    /// How many values lie one after the other; zero where SQLite has to be asked for each.
    @exclusivity(unchecked) private var neighbours = 0

    init(
        _ statement: OpaquePointer, _ connection: SQLiteConnection, _ entity: EntityDescription, firstField: Int, keyColumn: Int
    ) {
        self.statement = statement
        own = statement
        self.connection = connection
        unlocked = connection.unlocked
        shift = firstField
        super.init(entity: entity, firstField: firstField, keyColumn: keyColumn)
    }

    /// Reads the rows that a walk finds; nil for those of the reader's statement.
    func follow(_ walk: KeyWalk?) {
        self.walk = walk
        statement = walk?.statement ?? own
        (stride, neighbours) = (nil, 0)
    }

    override func step() throws -> Bool {
        guard try hasRow() else { return false }
        first = sqlite3_column_value(statement, 0).map { UnsafeMutableRawPointer($0) }
        if stride == nil { measure() }
        return true
    }

    @inline(__always) private func hasRow() throws -> Bool {
        if let walk { return try walk.find() }
        let code = sqlite3_step(statement)
        // Throws `.busy` when the file was written.
        try unlocked?.check()
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw connection.failure(code, entity: entity.name)
    }

    /// Looks whether SQLite has the values of the row one after the other, which its interface does not promise. To ask for
    /// each takes a third of the time of reading numbers.
    private func measure() {
        let count = Int(sqlite3_column_count(statement))
        func address(_ column: Int) -> Int { Int(bitPattern: sqlite3_column_value(statement, Int32(column))) }
        let stride = address(1) - address(0)
        self.stride = stride
        if count > 2, address(count - 1) - address(0) == stride * (count - 1) { neighbours = count }
    }

    /// SQLite's value in the column of a field.
    @inline(__always) private func value(_ index: Int) -> OpaquePointer? { value(inColumn: index &- shift) }

    /// SQLite's value in a column, valid until the statement moves on. One thread at a time uses the
    /// connection, which was opened without mutexes. SQLite then makes no difference between protected and
    /// unprotected values.
    @inline(__always) private func value(inColumn column: Int) -> OpaquePointer? {
        guard let first, let stride, UInt(bitPattern: column) < UInt(bitPattern: neighbours) else {
            return sqlite3_column_value(statement, Int32(truncatingIfNeeded: column))
        }
        return OpaquePointer(first + column &* stride)
    }

    override func isNull(at index: Int) -> Bool { sqlite3_value_type(value(index)) == SQLITE_NULL }

    override func readInt64(at index: Int) throws -> Int64 {
        let value = value(index)
        guard sqlite3_value_type(value) == SQLITE_INTEGER else { throw wrong(value, at: index) }
        return sqlite3_value_int64(value)
    }

    override func readUInt64(at index: Int) throws -> UInt64 {
        let value = value(index)
        if sqlite3_value_type(value) == SQLITE_INTEGER {
            guard let number = UInt64(exactly: sqlite3_value_int64(value)) else {
                throw corruptedValue(at: index, "a negative integer")
            }
            return number
        }
        guard sqlite3_value_type(value) == SQLITE_BLOB, let number = Self.bigUnsigned(value) else {
            throw wrong(value, at: index)
        }
        return number
    }

    override func readDouble(at index: Int) throws -> Double {
        let value = value(index)
        if sqlite3_value_type(value) == SQLITE_FLOAT { return sqlite3_value_double(value) }
        guard Self.isNaN(value) else { throw wrong(value, at: index) }
        return .nan
    }

    override func readString(at index: Int) throws -> String {
        let value = value(index)
        guard sqlite3_value_type(value) == SQLITE_TEXT, let text = sqlite3_value_text(value) else {
            throw wrong(value, at: index)
        }
        guard let string = Self.string(text, Int(sqlite3_value_bytes(value))) else {
            throw corruptedValue(at: index, "text that is not UTF-8")
        }
        return string
    }

    override func readData(at index: Int) throws -> Data {
        let value = value(index)
        guard sqlite3_value_type(value) == SQLITE_BLOB else { throw wrong(value, at: index) }
        guard let bytes = sqlite3_value_blob(value) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_value_bytes(value)))
    }

    override func readUUID(at index: Int) throws -> UUID {
        let value = value(index)
        guard let uuid = Self.uuid(value) else { throw wrong(value, at: index) }
        return uuid
    }

    override func key(inColumn column: Int, of kind: ValueKind) -> Key? {
        Self.key(value(inColumn: column), of: kind)
    }

    override func integer(inColumn column: Int) -> Int64 { sqlite3_value_int64(value(inColumn: column)) }

    override func text(inColumn column: Int) -> String { SQLiteConnection.text(statement, Int32(truncatingIfNeeded: column)) }

    /// Returns a value as a key; nil when it cannot be a key of the kind.
    private static func key(_ value: OpaquePointer?, of kind: ValueKind) -> Key? {
        switch (sqlite3_value_type(value), kind) {
        case (SQLITE_INTEGER, let kind) where kind.integerRange?.contains(sqlite3_value_int64(value)) == true:
            return .integer(sqlite3_value_int64(value))
        case (SQLITE_BLOB, .uint64): return Self.bigUnsigned(value).map(Key.unsigned)
        case (SQLITE_BLOB, .uuid): return Self.uuid(value).map(Key.uuid)
        case (SQLITE_TEXT, .string):
            return sqlite3_value_text(value).flatMap { Self.string($0, Int(sqlite3_value_bytes(value))) }.map(Key.string)
        default: return nil
        }
    }

    // MARK: Comparing

    override func holds(_ new: Int64, at index: Int) -> Bool {
        let old = value(index)
        return sqlite3_value_type(old) == SQLITE_INTEGER && sqlite3_value_int64(old) == new
    }

    override func holds(_ new: UInt64, at index: Int) -> Bool {
        if let small = Int64(exactly: new) { return holds(small, at: index) }
        return withUnsafeBytes(of: new.bigEndian) { isBlob(value(index), $0) }
    }

    override func holds(_ new: Double, at index: Int) -> Bool {
        let old = value(index)
        if new.isNaN { return Self.isNaN(old) }
        return sqlite3_value_type(old) == SQLITE_FLOAT && sqlite3_value_double(old) == new
    }

    override func holds(_ new: String, at index: Int) -> Bool {
        let old = value(index)
        var text = new
        return text.withUTF8 { bytes in
            guard sqlite3_value_type(old) == SQLITE_TEXT else { return false }
            let stored = sqlite3_value_text(old)
            guard Int(sqlite3_value_bytes(old)) == bytes.count else { return false }
            guard !bytes.isEmpty, let stored, let address = bytes.baseAddress else { return true }
            return memcmp(stored, address, bytes.count) == 0
        }
    }

    override func holds(_ new: Data, at index: Int) -> Bool { new.withUnsafeBytes { isBlob(value(index), $0) } }

    override func holds(_ new: UUID, at index: Int) -> Bool { withUnsafeBytes(of: new.uuid) { isBlob(value(index), $0) } }

    private func isBlob(_ old: OpaquePointer?, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard sqlite3_value_type(old) == SQLITE_BLOB else { return false }
        let blob = sqlite3_value_blob(old)
        guard Int(sqlite3_value_bytes(old)) == bytes.count else { return false }
        guard !bytes.isEmpty, let blob, let address = bytes.baseAddress else { return true }
        return memcmp(blob, address, bytes.count) == 0
    }

    // MARK: Values

    private func wrong(_ value: OpaquePointer?, at index: Int) -> StorageError {
        let found =
            switch sqlite3_value_type(value) {
            case SQLITE_INTEGER: "an integer"
            case SQLITE_FLOAT: "a floating-point number"
            case SQLITE_TEXT: "text"
            case SQLITE_BLOB: "a blob of \(sqlite3_value_bytes(value)) bytes"
            default: "NULL"
            }
        return corruptedValue(at: index, found + " is stored")
    }

    /// Copies a text; nil when it is not UTF-8. The bytes stay in place until the value is converted or the
    /// statement moves on.
    @inline(__always) private static func string(_ text: UnsafePointer<UInt8>, _ count: Int) -> String? {
        // Decoding repairs invalid UTF-8, and a comparison detects the repair. That is several times faster
        // than `String(validating:as:)`.
        var string = String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
        let isSame = string.withUTF8 { bytes in
            guard bytes.count == count else { return false }
            guard count > 0, let address = bytes.baseAddress else { return true }
            return memcmp(address, text, count) == 0
        }
        return isSame ? string : nil
    }

    /// Returns an unsigned integer beyond `Int64.max` from its eight bytes; nil when the value is not such a
    /// blob.
    static func bigUnsigned(_ value: OpaquePointer?) -> UInt64? {
        guard sqlite3_value_type(value) == SQLITE_BLOB, sqlite3_value_bytes(value) == 8, let bytes = sqlite3_value_blob(value)
        else {
            return nil
        }
        let number = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        return number > UInt64(Int64.max) ? number : nil
    }

    /// Whether the value is the blob that stands for NaN.
    static func isNaN(_ value: OpaquePointer?) -> Bool {
        guard sqlite3_value_type(value) == SQLITE_BLOB, sqlite3_value_bytes(value) == 8, let bytes = sqlite3_value_blob(value)
        else {
            return false
        }
        return bytes.loadUnaligned(as: UInt64.self) == Bind.nan
    }

    /// Returns a UUID from its sixteen bytes; nil when the value is not such a blob.
    static func uuid(_ value: OpaquePointer?) -> UUID? {
        guard sqlite3_value_type(value) == SQLITE_BLOB, sqlite3_value_bytes(value) == 16, let bytes = sqlite3_value_blob(value)
        else {
            return nil
        }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}
