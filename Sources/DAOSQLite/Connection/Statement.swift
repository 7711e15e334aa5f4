import DAOCore
import DAOSystemSQLite

/// A prepared statement of one connection. Who takes it ends with ``finish()``.
///
/// It lives no longer than its connection, which finalizes all of them before it closes.
final class Statement {
    /// SQLite's statement: valid for as long as this object.
    let pointer: OpaquePointer
    /// Whether somebody is between taking and finishing it.
    var isInUse = false
    /// When it was last taken, by the connection's clock.
    var lastUse = 0
    /// Where the values of a query are while it runs, which may take as long as a cursor lives.
    private(set) lazy var arena = BindArena(capacity: 256)
    /// The reader that is made for its rows once.
    var reader: SQLiteRowReader?

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { sqlite3_finalize(pointer) }

    /// Makes it ready for the next use, and lets go of what was bound by reference.
    func finish() {
        sqlite3_reset(pointer)
        sqlite3_clear_bindings(pointer)
        isInUse = false
    }

    /// The result code of binding is returned for the caller to check: it has the connection to make an error with.
    func bind(_ key: Key, at position: Int32, _ arena: BindArena) -> Int32 {
        switch key {
        case .integer(let value): Bind.integer(pointer, position, value)
        case .unsigned(let value): Bind.unsigned(pointer, position, value, arena)
        case .string(let value): Bind.text(pointer, position, value, arena)
        case .uuid(let value): Bind.uuid(pointer, position, value, arena)
        }
    }
}
