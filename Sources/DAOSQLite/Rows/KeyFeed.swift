import DAOCore
import DAOSystemSQLite
import Foundation

/// Finds rows by their keys, one after the other, in one statement that stays open for as long as its read transaction.
///
/// To begin and to end a statement takes more than half of the time of finding a row. Here the statement joins the table with
/// `dao_next_key`, whose only row has the key that was set last: a step finds the row of that key, and the statement ends at a key
/// without a row. A connection that writes has none, because an open statement sees some of the changes.
final class KeyFeed {
    /// How many rows are read by key in a transaction before a statement is left open for the others.
    static let patience = 4

    /// Reads the rows of the keys.
    let statement: OpaquePointer
    /// Outlives the feed, which only its `SQLiteStatement`, the reader of that and the connection keep.
    private unowned(unsafe) let connection: SQLiteConnection
    private let entity: String
    private let next: UnsafeMutablePointer<NextKey>
    /// Whether the read transaction goes on in which the statement was begun.
    @exclusivity(unchecked) private(set) var isOpen = false
    /// The key whose row is looked for.
    @exclusivity(unchecked) var wanted: Int64 = 0

    /// - Parameter select: Reads the row with a key; it ends with the condition that the key is equal to the only parameter.
    init(_ select: OpaquePointer, _ connection: SQLiteConnection, entity: String) throws {
        next = try connection.nextKey()
        // Names of entities and fields have no spaces.
        let parts = (sqlite3_sql(select).map { String(cString: $0) } ?? "").components(separatedBy: " FROM ")
        let rest = parts.last?.dropLast() ?? ""
        statement = try connection.prepared(
            "\(parts[0]) FROM \(NextKey.table) CROSS JOIN \(rest)\(NextKey.table).\(NextKey.column)", entity: entity)
        self.connection = connection
        self.entity = entity
    }

    deinit { sqlite3_finalize(statement) }

    /// Begins, in a read transaction.
    func open() { isOpen = true }

    /// Ends the statement, before the read transaction ends.
    func end() {
        isOpen = false
        sqlite3_reset(statement)
    }

    /// Moves to the row of the wanted key.
    ///
    /// - Returns: False when there is no such row.
    func find() throws -> Bool {
        next.pointee = NextKey(key: wanted, isNew: true)
        let code = sqlite3_step(statement)
        if code == SQLITE_ROW { return true }
        defer { sqlite3_reset(statement) }
        if code != SQLITE_DONE { throw connection.failure(code, entity: entity) }
        return false
    }
}

/// The row of the table `dao_next_key`.
struct NextKey {
    static let table = "dao_next_key"
    /// No field has such a name.
    static let column = "\"dao next key\""

    var key: Int64 = 0
    /// Whether the statement has not looked for the key yet.
    var isNew = false

    /// Makes the table known to a connection.
    ///
    /// - Returns: SQLite's result code. SQLite frees the row with the connection, or at once when it fails.
    static func register(_ row: UnsafeMutablePointer<NextKey>, on database: OpaquePointer) -> Int32 {
        sqlite3_create_module_v2(database, table, module, row) { $0?.deallocate() }
    }

    /// The module in the form that SQLite needs.
    // Sendable without a check by the compiler: it is allocated and filled once, before it is shared, and then only read, by
    // SQLite.
    nonisolated(unsafe) private static let module: UnsafePointer<sqlite3_module> = {
        let pointer = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        var module = sqlite3_module()
        module.iVersion = 0
        module.xConnect = connect
        module.xBestIndex = { _, info in
            info?.pointee.estimatedCost = 1
            info?.pointee.estimatedRows = 1
            return SQLITE_OK
        }
        module.xDisconnect = disconnect
        module.xOpen = open
        module.xClose = close
        module.xFilter = { _, _, _, _, _ in SQLITE_OK }
        module.xNext = { _ in SQLITE_OK }
        module.xEof = { row($0)?.pointee.isNew == true ? 0 : 1 }
        module.xColumn = { cursor, context, _ in
            guard let row = row(cursor) else { return SQLITE_ERROR }
            row.pointee.isNew = false
            sqlite3_result_int64(context, row.pointee.key)
            return SQLITE_OK
        }
        module.xRowid = { _, _ in SQLITE_ERROR }
        pointer.initialize(to: module)
        return UnsafePointer(pointer)
    }()
}

/// The table. SQLite uses it as its own struct, which is the first member.
private struct NextKeyTable {
    var base = sqlite3_vtab()
    let row: UnsafeMutablePointer<NextKey>
}

/// The row of the table that a cursor reads.
private func row(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> UnsafeMutablePointer<NextKey>? {
    // `connect` has made the table, and SQLite points to its first member.
    cursor?.pointee.pVtab.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: NextKeyTable.self).pointee.row }
}

private func connect(
    _ database: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ count: Int32,
    _ arguments: UnsafePointer<UnsafePointer<CChar>?>?, _ table: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?,
    _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
    guard let context else { return SQLITE_ERROR }
    let code = sqlite3_declare_vtab(database, "CREATE TABLE x(\(NextKey.column) HIDDEN)")
    guard code == SQLITE_OK else { return code }
    let made = UnsafeMutablePointer<NextKeyTable>.allocate(capacity: 1)
    made.initialize(to: NextKeyTable(row: context.assumingMemoryBound(to: NextKey.self)))
    table?.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: sqlite3_vtab.self)
    return SQLITE_OK
}

private func disconnect(_ table: UnsafeMutablePointer<sqlite3_vtab>?) -> Int32 {
    UnsafeMutableRawPointer(table)?.deallocate()
    return SQLITE_OK
}

private func open(
    _ table: UnsafeMutablePointer<sqlite3_vtab>?, _ cursor: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab_cursor>?>?
) -> Int32 {
    let made = UnsafeMutablePointer<sqlite3_vtab_cursor>.allocate(capacity: 1)
    made.initialize(to: sqlite3_vtab_cursor())
    cursor?.pointee = made
    return SQLITE_OK
}

private func close(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 {
    cursor?.deallocate()
    return SQLITE_OK
}
