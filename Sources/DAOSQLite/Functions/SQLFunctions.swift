import DAOCore
import DAOSystemSQLite
import Foundation

/// The functions and the collation that the suite's statements use. Other tools can read and write the tables
/// without them.
enum SQLFunctions {

    /// Registers the functions and the collation on a connection.
    ///
    /// - Returns: SQLite's result code.
    static func register(on database: OpaquePointer) -> Int32 {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
        let codes = [
            sqlite3_create_function_v2(database, SQLiteDialect.matchFunction, 2, flags, nil, match, nil, nil, nil),
            sqlite3_create_function_v2(database, SQLiteDialect.filterFunction, -1, flags, nil, filter, nil, nil, nil),
            sqlite3_create_function_v2(database, SQLiteDialect.foldFunction, 2, flags, nil, fold, nil, nil, nil),
            sqlite3_create_function_v2(database, SQLiteDialect.jsonFunction, 2, flags, nil, canonicalJSON, nil, nil, nil),
            sqlite3_create_collation_v2(database, SQLiteDialect.decimalCollation, SQLITE_UTF8, nil, compareDecimals, nil),
            sqlite3_create_module_v2(database, SQLiteDialect.listFunction, ValueListModule.pointer, nil, nil),
        ]
        return codes.first { $0 != SQLITE_OK } ?? SQLITE_OK
    }
}

/// `dao_match(pattern, text)`: 1 or 0; 0 for NULL.
private func match(_ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
    guard let arguments, count == 2, let pattern = boundObject(arguments[0], BoundType.pattern, as: TextPattern.self) else {
        return sqlite3_result_error(context, "dao_match is only for statements made by swift-dao", -1)
    }
    guard let text = columnText(arguments[1]) else { return sqlite3_result_int(context, 0) }
    sqlite3_result_int(context, pattern.matches(text) ? 1 : 0)
}

/// `dao_fold(text, options)`: the text without what the options ignore; NULL for anything else.
private func fold(_ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
    guard let arguments, count == 2, var text = columnText(arguments[0]) else { return sqlite3_result_null(context) }
    text = text.folded(TextOptions(rawValue: Int(sqlite3_value_int(arguments[1]))))
    text.withUTF8 { bytes in
        // SQLite copies the text.
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        UnsafeRawBufferPointer(bytes).withMemoryRebound(to: CChar.self) {
            sqlite3_result_text64(context, $0.baseAddress, UInt64($0.count), copies, UInt8(SQLITE_UTF8))
        }
    }
}

/// `dao_filter(filter, column, …)`: 1 or 0.
private func filter(_ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
    guard let arguments, count >= 1, let bound = boundObject(arguments[0], BoundType.filter, as: BoundFilter.self),
        Int(count) == bound.columns.count + 1
    else { return sqlite3_result_error(context, "dao_filter is only for statements made by swift-dao", -1) }
    let matches = bound.filter.matches { field in
        guard let column = bound.columns.firstIndex(where: { $0.field == field }) else { return .null }
        let value = columnValue(arguments[column + 1], bound.columns[column].kind)
        return bound.columns[column].content?.canonicalOrSame(value) ?? value
    }
    sqlite3_result_int(context, matches ? 1 : 0)
}

/// `dao_json(text, content)`: the canonical JSON of the text of a field; the text itself when it has none.
private func canonicalJSON(_ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
    guard let arguments, count == 2 else { return sqlite3_result_null(context) }
    guard sqlite3_value_type(arguments[0]) == SQLITE_TEXT, let text = sqlite3_value_text(arguments[0]) else {
        return sqlite3_result_value(context, arguments[0])
    }
    let bytes = UnsafeRawBufferPointer(start: text, count: Int(sqlite3_value_bytes(arguments[0])))
    let content: BoundObject<EmbeddedContent>
    if let kept = sqlite3_get_auxdata(context, 1) {
        // Only this function keeps an object for its second argument.
        content = Unmanaged<BoundObject<EmbeddedContent>>.fromOpaque(kept).takeUnretainedValue()
    } else {
        let json = columnText(arguments[1]) ?? ""
        content = BoundObject(json.withBytes { try? NestedJSON.decode(EmbeddedContent.self, from: $0) } ?? .value)
        sqlite3_set_auxdata(context, 1, Unmanaged.passRetained(content).toOpaque()) {
            if let kept = $0 { Unmanaged<AnyObject>.fromOpaque(kept).release() }
        }
    }
    if content.content.isCanonical(bytes) { return sqlite3_result_value(context, arguments[0]) }
    guard let canonical = content.content.canonical(String(decoding: bytes, as: UTF8.self)) else {
        return sqlite3_result_value(context, arguments[0])
    }
    canonical.withBytes {
        sqlite3_result_text(
            context, $0.bindMemory(to: CChar.self).baseAddress, Int32(clamping: $0.count),
            // SQLite copies the text.
            unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }
}

/// The collation of decimal numbers. SQLite passes UTF-8 with lengths, and calls it on the connection's
/// thread.
private func compareDecimals(
    _ context: UnsafeMutableRawPointer?, _ leftCount: Int32, _ left: UnsafeRawPointer?, _ rightCount: Int32,
    _ right: UnsafeRawPointer?
) -> Int32 {
    let result = DecimalOrder.order(
        UnsafeRawBufferPointer(start: left, count: Int(leftCount)), UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
    return result < 0 ? -1 : (result > 0 ? 1 : 0)
}

/// Returns the text of an argument; nil when it is not text.
private func columnText(_ value: OpaquePointer?) -> String? {
    guard sqlite3_value_type(value) == SQLITE_TEXT, let text = sqlite3_value_text(value) else { return nil }
    // The bytes do not move during the call; the string copies them.
    return String(decoding: UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value))), as: UTF8.self)
}

/// Returns an argument as the value of its field; null when the field cannot hold it, which reading the row
/// will report.
private func columnValue(_ argument: OpaquePointer?, _ kind: ValueKind) -> Value {
    let value = RowValue(argument)
    switch (value.type, kind) {
    case (SQLITE_INTEGER, .bool) where 0...1 ~= value.integer: return .bool(value.integer == 1)
    case (SQLITE_INTEGER, _) where kind.integerRange?.contains(value.integer) == true: return .integer(value.integer)
    case (SQLITE_FLOAT, .double): return .double(value.double)
    case (SQLITE_FLOAT, .float) where Double(Float(value.double)) == value.double: return .double(value.double)
    case (SQLITE_FLOAT, .date): return .date(Date(timeIntervalSinceReferenceDate: value.double))
    case (SQLITE_TEXT, .decimal): return columnText(argument).flatMap(Decimal.init(storedText:)).map(Value.decimal) ?? .null
    case (SQLITE_TEXT, .string), (SQLITE_TEXT, .url), (SQLITE_TEXT, .embedded):
        return columnText(argument).map(Value.string) ?? .null
    case (SQLITE_BLOB, .uint64): return SQLiteRowReader.bigUnsigned(value).map(Value.unsigned) ?? .null
    case (SQLITE_BLOB, .double), (SQLITE_BLOB, .float): return SQLiteRowReader.isNaN(value) ? .double(.nan) : .null
    case (SQLITE_BLOB, .date):
        return SQLiteRowReader.isNaN(value) ? .date(Date(timeIntervalSinceReferenceDate: .nan)) : .null
    case (SQLITE_BLOB, .uuid): return SQLiteRowReader.uuid(value).map(Value.uuid) ?? .null
    case (SQLITE_BLOB, .data):
        let blob = value.blob
        return .data(blob.baseAddress.map { Data(bytes: $0, count: blob.count) } ?? Data())
    default: return .null
    }
}
