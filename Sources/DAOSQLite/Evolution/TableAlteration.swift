import DAOCore
import DAOSQL
import DAOSystemSQLite

/// The statements that make a table what it is to be, where `ALTER TABLE` can.
struct TableAlteration {
    private let change: EntityChange
    private let table: SQLTable
    /// The names of indexes that are in the way.
    private var droppedIndexes: [String] = []
    /// Columns that are dropped, by their names.
    private var droppedColumns: [String] = []
    /// Columns that get another name.
    private var renamedColumns: [(old: String, new: String)] = []
    /// The declarations of columns that are added.
    private var addedColumns: [String] = []
    /// The positions of the wanted fields that get an index.
    private var addedIndexes: [Int] = []

    /// Finds the statements.
    ///
    /// - Returns: Nil when the rows have to be written anew: columns change their constraint, or hold from now on what SQLite has no exact
    ///   literal for, or have an index that cannot be dropped alone.
    init?(_ change: EntityChange, _ connection: SQLiteConnection) throws {
        guard change.fills.allSatisfy({ $0 == nil }) else { return nil }
        self.change = change
        table = SQLTable(change.wanted, dialect: SQLiteEngine.dialect)
        var kept: Set<Int> = []
        // A relationship has no column.
        for (index, field) in change.wanted.fields.enumerated() where !field.type.kind.isRelationship {
            switch change.sources[index] {
            case .stored(let origin):
                let old = change.stored.fields[origin]
                guard old.type == field.type || field.isPrimaryKey else { return nil }
                kept.insert(origin)
                if !old.name.hasSameBytes(as: field.name) { renamedColumns.append((old.name, field.name)) }
                if (old.isIndexed, old.isUnique) == (field.isIndexed, field.isUnique) || field.isPrimaryKey { continue }
                if old.isIndexed {
                    guard let names = try Self.indexes(on: old.name, alone: true, of: change.stored.name, connection) else {
                        return nil
                    }
                    droppedIndexes += names
                }
            case .value(let value):
                guard let literal = Self.literal(value) else { return nil }
                addedColumns.append(
                    "\(table.columns[index]) \(table.dialect.columnType(of: field))\(field.type.isOptional ? "" : " NOT NULL")"
                        + (value.isNull ? "" : " DEFAULT \(literal)"))
            }
            if field.isIndexed { addedIndexes.append(index) }
        }
        for (origin, field) in change.stored.fields.enumerated()
        where !kept.contains(origin) && !field.type.kind.isRelationship {
            guard let names = try Self.indexes(on: field.name, alone: false, of: change.stored.name, connection) else {
                return nil
            }
            droppedIndexes += names
            droppedColumns.append(field.name)
        }
    }

    /// Runs the statements.
    ///
    /// - Throws: `.uniqueViolation` naming field and both keys when rows have the same value in a field that becomes unique.
    func run(_ connection: SQLiteConnection) throws {
        let quoted = table.dialect.quoted
        let name = table.name
        for index in droppedIndexes { try connection.execute("DROP INDEX \(quoted(index))") }
        for column in droppedColumns { try connection.execute("ALTER TABLE \(name) DROP COLUMN \(quoted(column))") }
        // A new name may be another column's old one: all of them step aside first.
        if renamedColumns.count > 1 {
            for (position, column) in renamedColumns.enumerated() {
                try connection.execute(
                    "ALTER TABLE \(name) RENAME COLUMN \(quoted(column.old)) TO \(quoted("dao old \(position)"))")
            }
        }
        for (position, column) in renamedColumns.enumerated() {
            let old = renamedColumns.count > 1 ? "dao old \(position)" : column.old
            try connection.execute("ALTER TABLE \(name) RENAME COLUMN \(quoted(old)) TO \(quoted(column.new))")
        }
        for column in addedColumns { try connection.execute("ALTER TABLE \(name) ADD COLUMN \(column)") }
        for field in addedIndexes {
            let index = try StoredTable.freeName(change.wanted.name + "_" + change.wanted.fields[field].name, connection)
            do {
                try connection.execute(table.createIndex(index, on: field))
            } catch let error as StorageError where error.engineCode == Int(ExtendedCode.constraintUnique) {
                throw try collision(in: field, connection) ?? error
            }
        }
    }

    /// The error that names the first two rows with one value in a field.
    private func collision(in field: Int, _ connection: SQLiteConnection) throws -> StorageError? {
        let entity = change.wanted
        let (key, column) = (table.columns[entity.keyIndex], table.columns[field])
        let statement = try connection.prepare(
            """
            SELECT k, f FROM (
              SELECT \(key) AS k, first_value(\(key)) OVER w AS f, row_number() OVER w AS n
              FROM \(table.name) WHERE \(column) IS NOT NULL WINDOW w AS (PARTITION BY \(column) ORDER BY \(key))
            ) WHERE n = 2 ORDER BY k LIMIT 1
            """, entity: entity.name)
        defer { statement.finish() }
        let reader = SQLiteRowReader(statement, connection, entity, keyColumn: 0)
        guard try reader.advance(), let second = reader.key(inColumn: 0), let first = reader.key(inColumn: 1) else { return nil }
        return StorageError.collision(
            second, first, field: entity.fields[field].name, of: entity.name, path: connection.path)
    }

    /// The names of the indexes on a column, alone or among others; nil when one of them is a part of the table's declaration.
    private static func indexes(
        on column: String, alone: Bool, of table: String, _ connection: SQLiteConnection
    ) throws -> [String]? {
        let text = "'" + table.replacing("'", with: "''") + "'"
        let list = try connection.rows("PRAGMA index_list(\(text))") {
            (name: SQLiteConnection.text($0, 1), origin: SQLiteConnection.text($0, 3))
        }
        var names: [String] = []
        for index in list where index.origin != "pk" {
            let indexed = try connection.texts("SELECT name FROM pragma_index_info('\(index.name.replacing("'", with: "''"))')")
            guard indexed.contains(where: { $0.hasSameBytes(as: column) }), !alone || indexed.count == 1 else { continue }
            guard index.origin == "c" else { return nil }
            names.append(index.name)
        }
        return names
    }

    /// A value as it stands in a statement; nil where that would not be exactly it.
    private static func literal(_ value: Value) -> String? {
        switch value {
        case .null: "NULL"
        case .bool(let flag): flag ? "1" : "0"
        // The greatest negative number has no literal of its own: the minus sign is an operator.
        case .integer(let number): number == .min ? nil : String(number)
        case .double(let number): literal(number)
        case .date(let date): literal(date.timeIntervalSinceReferenceDate)
        case .decimal(let number): "'\(number.storedText)'"
        case .string(let text):
            text.utf8.count > 1000 || text.utf8.contains(0) ? nil : "'\(text.replacing("'", with: "''"))'"
        case .uuid, .data, .unsigned: nil
        }
    }

    /// Only whole numbers are sure to be read as they were written.
    private static func literal(_ number: Double) -> String? {
        guard let whole = Int32(exactly: number) else { return nil }
        return "\(whole).0"
    }
}
