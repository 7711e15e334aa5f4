import DAOCore
import DAOSQL
import DAOSystemSQLite
import Foundation

/// Binds the fields of a row to the parameters of a statement, and runs the statement for the row. An insert
/// binds all fields in order, an update only those of its columns.
final class SQLiteRowBatch: SQLRowBatch {
    /// Outlives the batch, which only the connection's session keeps.
    private unowned(unsafe) let connection: SQLiteConnection
    private let arena: BindArena
    /// SQLite's statement, which this object owns.
    private let statement: OpaquePointer
    /// The entity of the rows, for errors.
    private let entity: String
    /// Whether only the fields in `fields` are bound.
    private let isPartial: Bool
    /// Whether every row that is stored changes one row of the table.
    private let mustChange: Bool
    private let fields: FieldSet
    /// The number of bound parameters. It is never accessed during another access, so that a field does not pay for the check of
    /// that.
    @exclusivity(unchecked) private var count: Int32 = 0

    init(_ write: SQLRowWrite, of table: SQLTable, _ connection: SQLiteConnection) throws {
        self.connection = connection
        arena = connection.arena
        entity = table.entity.name
        if case .update(let positions) = write {
            isPartial = true
            fields = FieldSet(positions)
        } else {
            isPartial = false
            fields = FieldSet()
        }
        let text = table.text(of: write)
        // A row that is only its key is not written again.
        mustChange = !text.hasSuffix("DO NOTHING")
        statement = try connection.prepared(text, entity: entity)
        super.init()
    }

    deinit { sqlite3_finalize(statement) }

    override func begin() {
        arena.reset()
        count = 0
    }

    override func add() throws {
        let code = sqlite3_step(statement)
        guard code == SQLITE_DONE else {
            let error = refusal(code)
            sqlite3_reset(statement)
            guard let refused = error as? SQLRefusedRow else { throw error }
            return try refuse(refused)
        }
        sqlite3_reset(statement)
        if sqlite3_changes(connection.handle) != 1, mustChange { throw swallowed }
    }

    /// The error for a row that SQLite has not stored, although it reports success.
    private var swallowed: StorageError {
        StorageError(
            .schemaMismatch,
            "a trigger of the table has kept the row from being written, without an error; remove the trigger, or its "
                + "RAISE(IGNORE)", entity: entity, path: connection.path, engineCode: Int(ExtendedCode.constraintTrigger),
            engineMessage: nil)
    }

    private func refusal(_ code: Int32) -> any Error {
        let failure = connection.failure(code, entity: entity)
        guard let error = failure as? StorageError else { return failure }
        switch code {
        case ExtendedCode.constraintPrimaryKey, ExtendedCode.constraintRowID: return SQLRefusedRow(.key, error)
        // SQLite names the column only in its message.
        case ExtendedCode.constraintUnique: return SQLRefusedRow(.values(of: nil), error)
        default: return error
        }
    }

    override func add(changing key: Key) throws {
        let code = Bind.key(statement, count + 1, key, arena)
        if code != SQLITE_OK { throw connection.failure(code, entity: entity) }
        try add()
    }

    override func finish() {
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
    }

    /// Returns the parameter of a field; nil when the field is not bound.
    @inline(__always) private func position(_ index: Int) -> Int32? {
        if isPartial, !fields.contains(index) { return nil }
        count += 1
        return count
    }

    @inline(__always) private func check(_ code: Int32) throws {
        if code != SQLITE_OK { throw connection.failure(code, entity: entity) }
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
