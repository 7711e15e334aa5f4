import DAOCore

/// The statements for single rows of a table on one connection. They are prepared once, and found without
/// their text.
final class RowStatements {
    /// Outlives this object, which only its session keeps.
    private unowned(unsafe) let connection: any SQLConnection
    private let table: SQLTable
    // Never accessed during another access, so that a row does not pay for the check of that.
    @exclusivity(unchecked) private var select: SQLStatement?
    private var selectDetector: ChangeDetector?
    private var delete: SQLStatement?
    private var inserts: SQLRowBatch?
    private var upserts: SQLRowBatch?
    /// The updates of sets of columns, and the update that was used last.
    private var updates: [FieldSet: RowUpdate] = [:]
    @exclusivity(unchecked) private(set) var lastUpdate: RowUpdate?

    init(_ connection: any SQLConnection, _ table: SQLTable) {
        self.connection = connection
        self.table = table
    }

    /// Takes the statement that reads a row by key. ``SQLStatement/giveBack()`` has to follow.
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

    /// Returns a detector that compares written rows with the row on which the reader of a statement from
    /// ``takeSelect()`` is positioned.
    func detector(_ statement: SQLStatement, _ reader: SQLRowReader) -> ChangeDetector {
        guard statement === select else { return ChangeDetector(reader) }
        if let selectDetector { return selectDetector }
        let detector = ChangeDetector(reader)
        selectDetector = detector
        return detector
    }

    /// Returns the batch that inserts rows.
    func insert() throws -> SQLRowBatch {
        if let inserts { return inserts }
        let made = try connection.batch(.insert, of: table)
        inserts = made
        return made
    }

    /// Returns the batch that inserts or replaces rows.
    func upsert() throws -> SQLRowBatch {
        if let upserts { return upserts }
        let made = try connection.batch(.upsert, of: table)
        upserts = made
        return made
    }

    /// The fields by which a row gives up its unique values for a moment, ascending: one of each unique index, as far as there is a
    /// value for it. A field that the model does not declare keeps its value in every write.
    func parkedFields(ofDeclared count: Int) -> [Int] {
        let (entity, dialect) = (table.entity, table.dialect)
        var fields: [Int] = []
        for index in entity.uniqueIndexes {
            let positions = entity.positions(of: index).filter {
                $0 < count && $0 != entity.keyIndex && !entity.fields[$0].type.kind.isRelationship
            }
            if positions.contains(where: fields.contains) { continue }
            let field =
                positions.first { entity.fields[$0].type.isOptional }
                ?? positions.first { dialect.parkedValue(of: entity.fields[$0]) != nil }
            if let field { fields.append(field) }
        }
        return fields.sorted()
    }

    /// Takes the statement that removes rows by key. ``SQLStatement/finish()`` has to follow.
    func takeDelete() throws -> SQLStatement {
        if let delete { return delete }
        let statement = try connection.prepare(table.deleteByKey, entity: table.entity.name)
        delete = statement
        return statement
    }

    /// Returns the update of some columns of a row, others than those of the last one.
    func update(_ fields: FieldSet) throws -> RowUpdate {
        if let update = updates[fields] {
            lastUpdate = update
            return update
        }
        // A model with many fields has more sets of fields than are worth keeping.
        if updates.count >= 64 { updates.removeAll() }
        let positions = table.entity.fields.indices.filter(fields.contains)
        let update = RowUpdate(fields: fields, batch: try connection.batch(.update(positions), of: table))
        updates[fields] = update
        lastUpdate = update
        return update
    }
}

/// An update of some columns of rows.
final class RowUpdate {
    let fields: FieldSet
    let batch: SQLRowBatch

    init(fields: FieldSet, batch: SQLRowBatch) {
        self.fields = fields
        self.batch = batch
    }
}
