import DAOCore
import DAOSQL
import DAOSystemSQLite
import Foundation

/// Reads the rows of a statement, column by column, and refuses values that are not of their field's type.
final class SQLiteRowReader: SQLRowReader {
    /// Outlives the reader, which only its `SQLiteStatement` or the reading code keeps.
    private let statement: OpaquePointer
    /// Finds the rows, while some were announced. It outlives its use here, as the feed does: its `SQLiteStatement` has both.
    @exclusivity(unchecked) private var walk: Unmanaged<KeyWalk>?
    /// Finds the rows, in a read transaction.
    @exclusivity(unchecked) private var feed: Unmanaged<KeyFeed>?
    /// Outlives the reader for the same reason.
    private unowned(unsafe) let connection: SQLiteConnection
    /// The file, where it is read without locks.
    private let unlocked: UnlockedFile?
    /// The difference between the position of a field and its column.
    private let shift: Int
    /// The row that the statement is on.
    @exclusivity(unchecked) private var row: ResultRow
    /// The row, where it was read ahead.
    @exclusivity(unchecked) private var copy: UnsafePointer<RowValue.Copy>?

    init(
        _ statement: OpaquePointer, _ connection: SQLiteConnection, _ entity: EntityDescription, firstField: Int, keyColumn: Int
    ) {
        self.statement = statement
        row = ResultRow(statement)
        self.connection = connection
        unlocked = connection.unlocked
        shift = firstField
        super.init(entity: entity, firstField: firstField, keyColumn: keyColumn)
    }

    /// Reads the rows that a walk finds; nil for those of the reader's statement.
    func follow(_ walk: KeyWalk?) {
        self.walk = walk.map(Unmanaged.passUnretained)
        row = ResultRow(walk?.statement ?? statement)
        copy = nil
    }

    /// Reads the rows that a feed finds; nil for those of the reader's statement.
    func follow(feed: KeyFeed?) {
        self.feed = feed.map(Unmanaged.passUnretained)
        row = ResultRow(feed?.statement ?? statement)
        copy = nil
    }

    override func step() throws -> Bool {
        if let feed {
            guard try feed._withUnsafeGuaranteedRef({ try $0.find() }) else { return false }
            row.show()
            return true
        }
        if let walk {
            return try walk._withUnsafeGuaranteedRef { walk in
                guard try walk.find() else { return false }
                copy = walk.copy
                if copy == nil { row.show() }
                return true
            }
        }
        let code = sqlite3_step(statement)
        // Throws `.busy` when the file was written.
        try unlocked?.check()
        if code == SQLITE_ROW {
            row.show()
            return true
        }
        if code == SQLITE_DONE { return false }
        throw connection.failure(code, entity: entity.name)
    }

    /// The value in the column of a field.
    @inline(__always) private func value(_ index: Int) -> RowValue { value(inColumn: index &- shift) }

    @inline(__always) private func value(inColumn column: Int) -> RowValue {
        if let copy { return RowValue(copy + column) }
        return RowValue(row.value(column))
    }

    override func isNull(at index: Int) -> Bool { value(index).type == SQLITE_NULL }

    override func readInt64(at index: Int) throws -> Int64 {
        let value = value(index)
        guard value.type == SQLITE_INTEGER else { throw wrong(value, at: index) }
        return value.integer
    }

    override func readUInt64(at index: Int) throws -> UInt64 {
        let value = value(index)
        if value.type == SQLITE_INTEGER {
            guard let number = UInt64(exactly: value.integer) else {
                throw corruptedValue(at: index, "a negative integer")
            }
            return number
        }
        guard value.type == SQLITE_BLOB, let number = Self.bigUnsigned(value) else {
            throw wrong(value, at: index)
        }
        return number
    }

    override func readDouble(at index: Int) throws -> Double {
        let value = value(index)
        if value.type == SQLITE_FLOAT { return value.double }
        guard Self.isNaN(value) else { throw wrong(value, at: index) }
        return .nan
    }

    override func readString(at index: Int) throws -> String {
        let value = value(index)
        guard value.type == SQLITE_TEXT, let text = value.text else { throw wrong(value, at: index) }
        guard let string = String(checking: text) else {
            throw corruptedValue(at: index, "text that is not UTF-8")
        }
        return string
    }

    override func readData(at index: Int) throws -> Data {
        let value = value(index)
        guard value.type == SQLITE_BLOB else { throw wrong(value, at: index) }
        let blob = value.blob
        return blob.baseAddress.map { Data(bytes: $0, count: blob.count) } ?? Data()
    }

    override func readUUID(at index: Int) throws -> UUID {
        let value = value(index)
        guard let uuid = Self.uuid(value) else { throw wrong(value, at: index) }
        return uuid
    }

    override func key(inColumn column: Int, of kind: ValueKind) -> Key? {
        Self.key(value(inColumn: column), of: kind)
    }

    override func integer(inColumn column: Int) -> Int64 { value(inColumn: column).integer }

    override func text(inColumn column: Int) -> String { SQLiteConnection.text(statement, Int32(truncatingIfNeeded: column)) }

    /// Returns a value as a key; nil when it cannot be a key of the kind.
    private static func key(_ value: RowValue, of kind: ValueKind) -> Key? {
        switch (value.type, kind) {
        case (SQLITE_INTEGER, let kind) where kind.integerRange?.contains(value.integer) == true:
            return .integer(value.integer)
        case (SQLITE_BLOB, .uint64): return Self.bigUnsigned(value).map(Key.unsigned)
        case (SQLITE_BLOB, .uuid): return Self.uuid(value).map(Key.uuid)
        case (SQLITE_TEXT, .string):
            return value.text.flatMap { String(checking: $0) }.map(Key.string)
        default: return nil
        }
    }

    // MARK: Comparing

    override func holds(_ new: Int64, at index: Int) -> Bool {
        let old = value(index)
        return old.type == SQLITE_INTEGER && old.integer == new
    }

    override func holds(_ new: UInt64, at index: Int) -> Bool {
        if let small = Int64(exactly: new) { return holds(small, at: index) }
        return withUnsafeBytes(of: new.bigEndian) { isBlob(value(index), $0) }
    }

    override func holds(_ new: Double, at index: Int) -> Bool {
        let old = value(index)
        if new.isNaN { return Self.isNaN(old) }
        return old.type == SQLITE_FLOAT && old.double == new
    }

    override func holds(_ new: String, at index: Int) -> Bool {
        let old = value(index)
        guard old.type == SQLITE_TEXT, let stored = old.text else { return false }
        return new.withBytes { stored.isSame(as: $0) }
    }

    override func holds(_ new: Data, at index: Int) -> Bool { new.withUnsafeBytes { isBlob(value(index), $0) } }

    override func holds(_ new: UUID, at index: Int) -> Bool { withUnsafeBytes(of: new.uuid) { isBlob(value(index), $0) } }

    private func isBlob(_ old: RowValue, _ bytes: UnsafeRawBufferPointer) -> Bool {
        old.type == SQLITE_BLOB && old.blob.isSame(as: bytes)
    }

    // MARK: Values

    private func wrong(_ value: RowValue, at index: Int) -> StorageError {
        let found =
            switch value.type {
            case SQLITE_INTEGER: "an integer"
            case SQLITE_FLOAT: "a floating-point number"
            case SQLITE_TEXT: "text"
            case SQLITE_BLOB: "a blob of \(value.blob.count) bytes"
            default: "NULL"
            }
        return corruptedValue(at: index, found + " is stored")
    }

    /// Returns an unsigned integer beyond `Int64.max` from its eight bytes; nil when the value is not such a
    /// blob.
    static func bigUnsigned(_ value: RowValue) -> UInt64? {
        guard let bytes = blob(value, of: 8) else { return nil }
        let number = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        return number > UInt64(Int64.max) ? number : nil
    }

    /// Whether the value is the blob that stands for NaN.
    static func isNaN(_ value: RowValue) -> Bool { blob(value, of: 8)?.loadUnaligned(as: UInt64.self) == Bind.nan }

    /// Returns a UUID from its sixteen bytes; nil when the value is not such a blob.
    static func uuid(_ value: RowValue) -> UUID? {
        blob(value, of: 16).map { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// The bytes of a blob; nil when the value is not a blob of that length.
    @inline(__always) private static func blob(_ value: RowValue, of count: Int) -> UnsafeRawBufferPointer? {
        guard value.type == SQLITE_BLOB else { return nil }
        let bytes = value.blob
        return bytes.count == count ? bytes : nil
    }
}
