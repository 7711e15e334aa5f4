import DAOCore
import DAOSystemSQLite
import Foundation

/// Finds rows by their keys, one after the other, in one statement that stays open for as long as its snapshot.
///
/// To begin and to end a statement takes more than half of the time of finding a row. Here the statement joins the table with
/// `dao_next_key`, whose only row has the key that was set last: a step finds the row of that key, and the statement ends at a key
/// without a row. A connection that writes has none, because an open statement sees some of the changes.
///
/// Outside of a transaction, the statement itself keeps the snapshot, for calls that follow each other; see
/// ``SQLiteConnection/canReadAgain()``.
final class KeyFeed {
    /// How many rows are read by key in a snapshot before a statement is left open for the others.
    static let patience = 4

    /// Reads the rows of the keys.
    let statement: OpaquePointer
    /// Outlives the feed, which only its `SQLiteStatement`, the reader of that and the connection keep.
    private unowned(unsafe) let connection: SQLiteConnection
    private let entity: String
    private let keyKind: ValueKind
    private let isNumber: Bool
    private let next: UnsafeMutablePointer<NextKey>
    /// Whether the snapshot goes on in which the statement was begun.
    @exclusivity(unchecked) private(set) var isOpen = false
    /// The key whose row is looked for.
    @exclusivity(unchecked) private var wanted = NextKey()
    /// The bytes of the key, when it is no number; nil before the first one.
    private var bytes: UnsafeMutableRawPointer?

    /// - Parameters:
    ///   - select: Reads the row with a key; it ends with the condition that the key is equal to the only parameter.
    ///   - connection: The connection of the statement.
    ///   - entity: The entity of the rows. Its keys are not of `UInt64`, of which columns store some as numbers and some as blobs.
    init(_ select: OpaquePointer, _ connection: SQLiteConnection, _ entity: EntityDescription) throws {
        next = try connection.nextKey()
        // Names are in quotes, and neither end in spaces nor contain quotes.
        let parts = (sqlite3_sql(select).map { String(cString: $0) } ?? "").components(separatedBy: " FROM \"")
        let rest = parts.last?.dropLast() ?? ""
        statement = try connection.prepared(
            "\(parts[0]) FROM \(NextKey.table) CROSS JOIN \"\(rest)\(NextKey.table).\(NextKey.column)", entity: entity.name)
        self.connection = connection
        self.entity = entity.name
        keyKind = entity.keyKind
        isNumber = keyKind != .string && keyKind != .uuid
    }

    deinit {
        sqlite3_finalize(statement)
        bytes?.deallocate()
    }

    /// Begins, in a snapshot.
    func open() { isOpen = true }

    /// Ends the statement, before the snapshot ends.
    func end() {
        isOpen = false
        sqlite3_reset(statement)
    }

    /// Sets the key whose row is looked for.
    ///
    /// - Returns: False when it is no key of the entity.
    @inline(__always) func want(_ key: Key) -> Bool {
        guard case .integer(let number) = key else { return wantBytes(of: key) }
        wanted.number = number
        return isNumber
    }

    @inline(never) private func wantBytes(of key: Key) -> Bool {
        switch key {
        case .string(var text) where keyKind == .string: text.withUTF8 { want(UnsafeRawBufferPointer($0), isText: true) }
        case .uuid(let id) where keyKind == .uuid: withUnsafeBytes(of: id.uuid) { want($0, isText: false) }
        default: false
        }
    }

    private func want(_ key: UnsafeRawBufferPointer, isText: Bool) -> Bool {
        guard key.count <= Key.maximumLength else { return false }
        let bytes = self.bytes ?? .allocate(byteCount: Key.maximumLength, alignment: 1)
        self.bytes = bytes
        if let start = key.baseAddress { bytes.copyMemory(from: start, byteCount: key.count) }
        (wanted.bytes, wanted.count, wanted.isText) = (
            UnsafePointer(bytes.assumingMemoryBound(to: CChar.self)), CInt(key.count), isText
        )
        return true
    }

    /// Moves to the row of the wanted key.
    ///
    /// - Returns: False when there is no such row.
    func find() throws -> Bool {
        wanted.isNew = true
        next.pointee = wanted
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

    var number: Int64 = 0
    /// The key, when it is no number: a text, or a blob.
    var bytes: UnsafePointer<CChar>?
    var count: CInt = 0
    var isText = false
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
            switch (row.pointee.bytes, row.pointee.isText) {
            case (nil, _): sqlite3_result_int64(context, row.pointee.number)
            case (let bytes?, true): sqlite3_result_text(context, bytes, row.pointee.count, transient)
            case (let bytes?, false): sqlite3_result_blob(context, bytes, row.pointee.count, transient)
            }
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
    // Without a type, its values are compared as they are. Any word would be taken for one: HIDDEN for that of a number.
    let code = sqlite3_declare_vtab(database, "CREATE TABLE x(\(NextKey.column))")
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
