import DAOCore
import DAOSQL
import DAOSystemSQLite

/// The statements that every row of a table takes on one connection: prepared once, found without their text.
final class RowStatements {
    /// Outlives this object, which only the connection keeps.
    private unowned(unsafe) let connection: SQLiteConnection
    private let table: SQLTable
    private var select: Statement?
    private var selectDetector: ChangeDetector?
    private var delete: Statement?
    private var inserts: RowInsert?
    private var upserts: RowInsert?
    /// The updates of sets of columns, and the one that was used last.
    private var updates: [FieldSet: RowUpdate] = [:]
    private(set) var lastUpdate: RowUpdate?

    init(_ connection: SQLiteConnection, _ table: SQLTable) {
        self.connection = connection
        self.table = table
    }

    /// Reads a row by key. ``Statement/finish()`` has to follow.
    func takeSelect() throws -> Statement {
        if let select, !select.isInUse {
            select.isInUse = true
            return select
        }
        let statement = try connection.prepare(table.selectByKey, entity: table.entity.name)
        statement.reader = SQLiteRowReader(statement, connection, table.entity, keyColumn: table.entity.keyIndex)
        statement.isInUse = true
        if select == nil { select = statement }
        return statement
    }

    /// Compares written rows with the one that a statement from ``takeSelect()`` stands on.
    func detector(_ statement: Statement) -> ChangeDetector {
        guard statement === select else { return ChangeDetector(statement, connection) }
        if let selectDetector { return selectDetector }
        let detector = ChangeDetector(statement, connection)
        selectDetector = detector
        return detector
    }

    /// Stores rows that are not there yet.
    func insert() throws -> RowInsert {
        if let inserts { return inserts }
        let made = RowInsert(try connection.prepare(table.insert, entity: table.entity.name), connection)
        inserts = made
        return made
    }

    /// Stores rows, whether they are there or not.
    func upsert() throws -> RowInsert {
        if let upserts { return upserts }
        let made = RowInsert(try connection.prepare(table.upsert, entity: table.entity.name), connection)
        upserts = made
        return made
    }

    /// Removes a row by key.
    func takeDelete() throws -> Statement {
        if let delete { return delete }
        let statement = try connection.prepare(table.deleteByKey, entity: table.entity.name)
        delete = statement
        return statement
    }

    /// Changes some columns of a row.
    func update(_ fields: FieldSet) throws -> RowUpdate {
        if let lastUpdate, lastUpdate.fields == fields { return lastUpdate }
        if let update = updates[fields] {
            lastUpdate = update
            return update
        }
        // A model of many fields has more sets of them than are worth keeping.
        if updates.count >= 64 { updates.removeAll() }
        let positions = table.entity.fields.indices.filter(fields.contains)
        let statement = try connection.prepare(table.update(positions), entity: table.entity.name)
        let update = RowUpdate(fields: fields, statement: statement, writer: SQLiteRowWriter(connection, statement, fields))
        updates[fields] = update
        lastUpdate = update
        return update
    }
}

/// A statement that stores a whole row, and the writer that binds one to it.
final class RowInsert {
    let statement: Statement
    let writer: SQLiteRowWriter

    init(_ statement: Statement, _ connection: SQLiteConnection) {
        self.statement = statement
        writer = SQLiteRowWriter(connection, statement)
    }
}

/// A statement that changes some columns of a row, and the writer that binds them to it.
final class RowUpdate {
    let fields: FieldSet
    let statement: Statement
    let writer: SQLiteRowWriter

    init(fields: FieldSet, statement: Statement, writer: SQLiteRowWriter) {
        self.fields = fields
        self.statement = statement
        self.writer = writer
    }
}
