import DAOCore

/// The statements that every row of a table takes on one connection: prepared once, found without their text.
final class RowStatements {
    /// Outlives this object, which only its session keeps.
    private unowned(unsafe) let connection: any SQLConnection
    private let table: SQLTable
    private var select: SQLStatement?
    private var selectDetector: ChangeDetector?
    private var delete: SQLStatement?
    private var inserts: SQLRowBatch?
    private var upserts: SQLRowBatch?
    /// The updates of sets of columns, and the one that was used last.
    private var updates: [FieldSet: RowUpdate] = [:]
    private(set) var lastUpdate: RowUpdate?

    init(_ connection: any SQLConnection, _ table: SQLTable) {
        self.connection = connection
        self.table = table
    }

    /// Reads a row by key. ``SQLStatement/giveBack()`` has to follow.
    func takeSelect() throws -> (statement: SQLStatement, reader: SQLRowReader) {
        if let select, !select.isInUse, let reader = select.reader {
            select.isInUse = true
            return (select, reader)
        }
        let statement = try connection.prepare(table.selectByKey, entity: table.entity.name)
        let reader = statement.makeReader(of: table.entity, keyColumn: table.entity.keyIndex)
        statement.reader = reader
        statement.isInUse = true
        if select == nil { select = statement }
        return (statement, reader)
    }

    /// Compares written rows with the one that the reader of a statement from ``takeSelect()`` stands on.
    func detector(_ statement: SQLStatement, _ reader: SQLRowReader) -> ChangeDetector {
        guard statement === select else { return ChangeDetector(reader) }
        if let selectDetector { return selectDetector }
        let detector = ChangeDetector(reader)
        selectDetector = detector
        return detector
    }

    /// Stores rows that are not there yet.
    func insert() throws -> SQLRowBatch {
        if let inserts { return inserts }
        let made = try connection.batch(.insert, of: table)
        inserts = made
        return made
    }

    /// Stores rows, whether they are there or not.
    func upsert() throws -> SQLRowBatch {
        if let upserts { return upserts }
        let made = try connection.batch(.upsert, of: table)
        upserts = made
        return made
    }

    /// Removes rows by key. ``SQLStatement/finish()`` has to follow.
    func takeDelete() throws -> SQLStatement {
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
        let update = RowUpdate(fields: fields, batch: try connection.batch(.update(positions), of: table))
        updates[fields] = update
        lastUpdate = update
        return update
    }
}

/// What changes some columns of rows.
final class RowUpdate {
    let fields: FieldSet
    let batch: SQLRowBatch

    init(fields: FieldSet, batch: SQLRowBatch) {
        self.fields = fields
        self.batch = batch
    }
}
