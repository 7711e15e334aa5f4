import DAOSystemSQLite

/// A value of a row: SQLite's own, or a copy of it.
struct RowValue {
    /// What is kept of a value.
    struct Copy {
        /// The bits of a number, or the address of bytes.
        var bits: UInt64 = 0
        var count = 0
        var type = SQLITE_NULL
    }

    private let value: OpaquePointer?
    private let copy: UnsafePointer<Copy>?

    /// SQLite's value, valid until its statement moves on.
    @inline(__always) init(_ value: OpaquePointer?) { (self.value, copy) = (value, nil) }

    @inline(__always) init(_ copy: UnsafePointer<Copy>) { (value, self.copy) = (nil, copy) }

    @inline(__always) var type: CInt {
        if let copy { return copy.pointee.type }
        return sqlite3_value_type(value)
    }

    /// The integer of a value of that type.
    @inline(__always) var integer: Int64 {
        if let copy { return Int64(bitPattern: copy.pointee.bits) }
        return sqlite3_value_int64(value)
    }

    /// The number of a value of that type.
    @inline(__always) var double: Double {
        if let copy { return Double(bitPattern: copy.pointee.bits) }
        return sqlite3_value_double(value)
    }

    /// The bytes of a text in UTF-8; nil when there is no memory for them.
    @inline(__always) var text: UnsafeRawBufferPointer? {
        if let copy { return Self.bytes(of: copy) }
        guard let text = sqlite3_value_text(value) else { return nil }
        return UnsafeRawBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
    }

    /// The bytes of a blob.
    @inline(__always) var blob: UnsafeRawBufferPointer {
        if let copy { return Self.bytes(of: copy) }
        let bytes = sqlite3_value_blob(value)
        return UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(sqlite3_value_bytes(value)))
    }

    private static func bytes(of copy: UnsafePointer<Copy>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(copy.pointee.bits)), count: copy.pointee.count)
    }
}

/// Where SQLite has the values of the row that a statement is on.
struct ResultRow {
    private let statement: OpaquePointer
    /// The value in the first column, where others lie after it.
    private var first: UnsafeMutableRawPointer?
    /// How far the values in neighbouring columns are apart, in bytes.
    private var stride = 0
    /// How many values lie one after the other; zero where SQLite has to be asked for each, nil before the first row.
    private var neighbours: Int?

    /// - Parameter statement: The statement, which outlives this.
    init(_ statement: OpaquePointer) { self.statement = statement }

    /// Called after each step that leads to a row.
    @inline(__always) mutating func show() {
        if neighbours == nil { measure() }
        if neighbours != 0 { first = sqlite3_column_value(statement, 0).map { UnsafeMutableRawPointer($0) } }
    }

    /// Looks whether SQLite has the values of the row one after the other, which its interface does not promise. To ask for
    /// each takes a third of the time of reading numbers.
    @inline(never) private mutating func measure() {
        let count = Int(sqlite3_column_count(statement))
        neighbours = 0
        // Two values show no distance that could differ.
        if count < 3 { return }
        func address(_ column: Int) -> Int { Int(bitPattern: sqlite3_column_value(statement, Int32(column))) }
        stride = address(1) - address(0)
        if address(count - 1) - address(0) == stride * (count - 1) { neighbours = count }
    }

    /// The value in a column, valid until the statement moves on. One thread at a time uses the connection, which was opened
    /// without mutexes. SQLite then makes no difference between protected and unprotected values.
    @inline(__always) func value(_ column: Int) -> OpaquePointer? {
        guard let first, let neighbours, UInt(bitPattern: column) < UInt(bitPattern: neighbours) else {
            return sqlite3_column_value(statement, Int32(truncatingIfNeeded: column))
        }
        return OpaquePointer(first + column &* stride)
    }
}
