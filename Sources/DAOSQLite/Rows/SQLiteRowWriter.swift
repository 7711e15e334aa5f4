import DAOCore
import DAOSystemSQLite
import Foundation

/// Binds the fields of a row to a statement's parameters: all of them in order, or in an update those that changed.
final class SQLiteRowWriter: RowWriter {
    /// Outlives the writer, which only the connection keeps.
    private unowned(unsafe) let connection: SQLiteConnection
    private let arena: BindArena
    private let statement: OpaquePointer
    /// Whether only some of the fields are bound: those in `fields`.
    private let isPartial: Bool
    private let fields: FieldSet
    /// How many parameters are bound.
    private(set) var count: Int32 = 0

    /// - Parameter fields: The fields to bind; nil for all.
    init(_ connection: SQLiteConnection, _ statement: Statement, _ fields: FieldSet? = nil) {
        self.connection = connection
        arena = connection.arena
        self.statement = statement.pointer
        isPartial = fields != nil
        self.fields = fields ?? FieldSet()
        super.init()
    }

    /// Begins the next row. What was bound before may be gone.
    @inline(__always) func begin() {
        arena.reset()
        count = 0
    }

    /// Where to bind a field, or nil when it is left out.
    @inline(__always) private func position(_ index: Int) -> Int32? {
        if isPartial, !fields.contains(index) { return nil }
        count += 1
        return count
    }

    @inline(__always) private func check(_ code: Int32) throws {
        if code != SQLITE_OK { throw connection.failure(code) }
    }

    override func writeNull(at index: Int) throws {
        if let position = position(index) { try check(sqlite3_bind_null(statement, position)) }
    }
    override func writeInt64(_ value: Int64, at index: Int) throws {
        if let position = position(index) { try check(sqlite3_bind_int64(statement, position, value)) }
    }
    override func writeUInt64(_ value: UInt64, at index: Int) throws {
        if let position = position(index) { try check(Bind.unsigned(statement, position, value, arena)) }
    }
    override func writeDouble(_ value: Double, at index: Int) throws {
        if let position = position(index) { try check(Bind.double(statement, position, value, arena)) }
    }
    override func writeString(_ value: String, at index: Int) throws {
        if let position = position(index) { try check(Bind.text(statement, position, value, arena)) }
    }
    override func writeData(_ value: Data, at index: Int) throws {
        if let position = position(index) { try check(Bind.data(statement, position, value, arena)) }
    }
    override func writeUUID(_ value: UUID, at index: Int) throws {
        if let position = position(index) { try check(Bind.uuid(statement, position, value, arena)) }
    }
}
