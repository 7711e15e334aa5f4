import DAOSystemSQLite

/// Copies of rows, so that the next rows of a table are read before the first of them is written: after each write SQLite has to
/// find the place of a running statement again.
final class RowCopies {
    /// How many bytes of texts and blobs are enough.
    private static let manyBytes = 1 << 16

    /// The number of columns.
    private let width: Int
    private let values: UnsafeMutablePointer<RowValue.Copy>
    /// How many rows there is room for.
    private let room: Int
    /// The row that is copied.
    @exclusivity(unchecked) private var source: ResultRow
    private let arena = BindArena(capacity: 1 << 12)
    @exclusivity(unchecked) private var byteCount = 0
    /// The number of rows.
    @exclusivity(unchecked) private(set) var count = 0

    /// - Parameters:
    ///   - statement: The statement whose rows are copied. It outlives this object.
    ///   - room: How many rows there is room for.
    init(_ statement: OpaquePointer, room: Int) {
        width = Int(sqlite3_column_count(statement))
        self.room = room
        source = ResultRow(statement)
        values = .allocate(capacity: width * room)
        values.initialize(repeating: RowValue.Copy(), count: width * room)
    }

    deinit { values.deallocate() }

    /// Whether another row is too much.
    var isFull: Bool { count == room || byteCount >= Self.manyBytes }

    func removeAll() {
        arena.reset()
        (count, byteCount) = (0, 0)
    }

    /// The values of a row.
    @inline(__always) func row(_ number: Int) -> UnsafePointer<RowValue.Copy> { UnsafePointer(values + number &* width) }

    /// The integer in a column of a row.
    @inline(__always) func integer(_ number: Int, _ column: Int32) -> Int64 { RowValue(row(number) + Int(column)).integer }

    /// Copies the row that the statement is on. There is room.
    ///
    /// - Returns: False when SQLite has no memory for it.
    func append() -> Bool {
        source.show()
        var copy = values + count &* width
        for column in 0..<width {
            let value = RowValue(source.value(column))
            copy.pointee.type = value.type
            switch value.type {
            case SQLITE_INTEGER: copy.pointee.bits = UInt64(bitPattern: value.integer)
            case SQLITE_FLOAT: copy.pointee.bits = value.double.bitPattern
            case SQLITE_TEXT:
                guard let text = value.text else { return false }
                keep(text, in: copy)
            case SQLITE_BLOB: keep(value.blob, in: copy)
            default: break
            }
            copy += 1
        }
        count += 1
        return true
    }

    @inline(__always) private func keep(_ bytes: UnsafeRawBufferPointer, in copy: UnsafeMutablePointer<RowValue.Copy>) {
        copy.pointee.count = bytes.count
        copy.pointee.bits = 0
        guard let address = bytes.baseAddress else { return }
        copy.pointee.bits = UInt64(UInt(bitPattern: arena.store(address, bytes.count)))
        byteCount &+= bytes.count
    }
}
