import DAOCore
import DAOSystemSQLite
import Foundation

/// `dao_values(list)`: a table with a row for each value of a bound ``/DAOCore/ValueSet`` or array. Its
/// columns are `number`, from zero, and `value`. With it an `in` of 100,000 values needs neither that many
/// placeholders nor a temporary table, and an index on the column can still serve it.
enum ValueListModule {
    /// The module in the form that SQLite needs.
    // Sendable without a check by the compiler: it is allocated and filled once, before it is shared, and
    // then only read, by SQLite.
    nonisolated(unsafe) static let pointer: UnsafePointer<sqlite3_module> = {
        let pointer = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        var module = sqlite3_module()
        module.iVersion = 0
        module.xConnect = connect
        module.xBestIndex = chooseIndex
        module.xDisconnect = disconnect
        module.xOpen = open
        module.xClose = close
        module.xFilter = filter
        module.xNext = next
        module.xEof = isAtEnd
        module.xColumn = column
        module.xRowid = rowNumber
        pointer.initialize(to: module)
        return UnsafePointer(pointer)
    }()
}

/// A cursor over a list. SQLite uses it as its own struct, which is the first member.
private struct ListCursor {
    var base = sqlite3_vtab_cursor()
    var values: [Value] = []
    var row = 0
}

/// Returns the cursor that SQLite passes. ``open`` allocated it as a `ListCursor`, and SQLite points to its
/// first member.
private func listCursor(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> UnsafeMutablePointer<ListCursor>? {
    cursor.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: ListCursor.self) }
}

private func connect(
    _ database: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ count: Int32,
    _ arguments: UnsafePointer<UnsafePointer<CChar>?>?,
    _ table: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?,
    _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
    let code = sqlite3_declare_vtab(database, "CREATE TABLE x(value, number, list HIDDEN)")
    guard code == SQLITE_OK else { return code }
    let made = UnsafeMutablePointer<sqlite3_vtab>.allocate(capacity: 1)
    made.initialize(to: sqlite3_vtab())
    table?.pointee = made
    return SQLITE_OK
}

private func disconnect(_ table: UnsafeMutablePointer<sqlite3_vtab>?) -> Int32 {
    table?.deinitialize(count: 1)
    table?.deallocate()
    return SQLITE_OK
}

/// Requires the list argument, which is then read from first to last.
private func chooseIndex(_ table: UnsafeMutablePointer<sqlite3_vtab>?, _ info: UnsafeMutablePointer<sqlite3_index_info>?) -> Int32
{
    guard let info else { return SQLITE_ERROR }
    for index in 0..<Int(info.pointee.nConstraint) {
        guard let constraint = info.pointee.aConstraint?[index], let usage = info.pointee.aConstraintUsage else { continue }
        if constraint.iColumn == 2, Int32(constraint.op) == SQLITE_INDEX_CONSTRAINT_EQ, constraint.usable != 0 {
            usage[index].argvIndex = 1
            usage[index].omit = 1
            info.pointee.estimatedCost = 100
            info.pointee.estimatedRows = 100
            return SQLITE_OK
        }
    }
    return SQLITE_CONSTRAINT
}

private func open(
    _ table: UnsafeMutablePointer<sqlite3_vtab>?, _ cursor: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab_cursor>?>?
) -> Int32 {
    let made = UnsafeMutablePointer<ListCursor>.allocate(capacity: 1)
    made.initialize(to: ListCursor())
    cursor?.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
    return SQLITE_OK
}

private func close(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 {
    let cursor = listCursor(cursor)
    cursor?.deinitialize(count: 1)
    cursor?.deallocate()
    return SQLITE_OK
}

private func filter(
    _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ index: Int32, _ name: UnsafePointer<CChar>?, _ count: Int32,
    _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    guard let cursor = listCursor(cursor), let arguments, count == 1,
        let values = boundObject(arguments[0], BoundType.values, as: ValueSet.self)?.values
            ?? boundObject(arguments[0], BoundType.list, as: [Value].self)
    else { return SQLITE_ERROR }
    cursor.pointee.values = values
    cursor.pointee.row = 0
    return SQLITE_OK
}

private func next(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 {
    listCursor(cursor)?.pointee.row += 1
    return SQLITE_OK
}

private func isAtEnd(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 {
    guard let cursor = listCursor(cursor) else { return 1 }
    return cursor.pointee.row >= cursor.pointee.values.count ? 1 : 0
}

private func column(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ context: OpaquePointer?, _ column: Int32) -> Int32 {
    guard let cursor = listCursor(cursor) else { return SQLITE_OK }
    if column == 1 { sqlite3_result_int64(context, sqlite3_int64(cursor.pointee.row)) }
    guard column == 0 else { return SQLITE_OK }
    result(context, cursor.pointee.values[cursor.pointee.row])
    return SQLITE_OK
}

private func rowNumber(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ number: UnsafeMutablePointer<sqlite3_int64>?)
    -> Int32
{
    number?.pointee = sqlite3_int64(listCursor(cursor)?.pointee.row ?? 0)
    return SQLITE_OK
}

/// Returns a value in the form that its column stores.
private func result(_ context: OpaquePointer?, _ value: Value) {
    func bytes(_ bytes: UnsafeRawBufferPointer) {
        if let address = bytes.baseAddress, !bytes.isEmpty {
            sqlite3_result_blob64(context, address, UInt64(bytes.count), transient)
        } else {
            sqlite3_result_zeroblob(context, 0)
        }
    }
    func text(_ value: String) {
        var value = value
        value.withUTF8 { bytes in
            // An empty buffer may have no address, which SQLite would take for null.
            if bytes.isEmpty { return sqlite3_result_text(context, "", 0, transient) }
            bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_result_text64(context, $0.baseAddress, UInt64($0.count), transient, UInt8(SQLITE_UTF8))
            }
        }
    }
    func double(_ value: Double) {
        if value.isNaN { withUnsafeBytes(of: Bind.nan, bytes) } else { sqlite3_result_double(context, value) }
    }
    switch value {
    case .null: sqlite3_result_null(context)
    case .bool(let value): sqlite3_result_int(context, value ? 1 : 0)
    case .integer(let value): sqlite3_result_int64(context, value)
    case .unsigned(let value): withUnsafeBytes(of: value.bigEndian, bytes)
    case .double(let value): double(value)
    case .date(let value): double(value.timeIntervalSinceReferenceDate)
    case .decimal(let value): text(value.storedText)
    case .string(let value): text(value)
    case .data(let value): value.withUnsafeBytes(bytes)
    case .uuid(let value): withUnsafeBytes(of: value.uuid, bytes)
    }
}
