import DAOCore

/// The statements that change a table to its wanted form, when `ALTER TABLE` can do it.
struct TableAlteration {
    private let change: EntityChange
    private let table: SQLTable
    /// The names of indexes that have to be dropped first.
    private var droppedIndexes: [String] = []
    /// The names of columns that are dropped.
    private var droppedColumns: [String] = []
    /// The names of columns that are renamed.
    private var renamedColumns: [(old: String, new: String)] = []
    /// The declarations of columns that are added.
    private var addedColumns: [String] = []
    /// The indexes that are created.
    private var addedIndexes: [IndexDescription] = []
    /// The indexes on elements that are dropped first, and those that are created.
    private let droppedElements: [ElementTable]
    private let addedElements: [ElementTable]

    /// Finds the statements.
    ///
    /// - Returns: Nil when the rows have to be rewritten: a column changes its constraint, existing rows get
    ///   a value that has no exact literal, or a column has an index that cannot be dropped alone.
    init?(_ change: EntityChange, _ schema: StoredSchema) throws {
        guard change.fills.allSatisfy({ $0 == nil }) else { return nil }
        self.change = change
        table = SQLTable(change.wanted, dialect: schema.dialect)
        let (old, new) = (SQLTable(change.stored, dialect: schema.dialect).elementTables, table.elementTables)
        droppedElements = old.filter { old in !new.contains { $0.create == old.create } }
        addedElements = new.filter { new in !old.contains { $0.create == new.create } }
        let found = try schema.session.connection.storedTable(change.stored.name)
        var kept: Set<Int> = []
        let stored = change.stored.rowForm
        // A list of models has no column.
        for (index, field) in table.entity.fields.enumerated() where !field.type.kind.isRelationship {
            switch change.sources[index] {
            case .stored(let origin):
                let old = stored.fields[origin]
                guard old.type == field.type || field.isPrimaryKey else { return nil }
                kept.insert(origin)
                if !old.name.hasSameBytes(as: field.name) { renamedColumns.append((old.name, field.name)) }
            case .value(let value):
                guard let literal = table.dialect.literal(value) else { return nil }
                addedColumns.append(
                    "\(table.columns[index]) \(table.dialect.columnType(of: field))\(field.type.isOptional ? "" : " NOT NULL")"
                        + (value.isNull ? "" : " DEFAULT \(literal)"))
            }
        }
        var goneIndexes: [SQLStoredTable.Index] = []
        var keptIndexes: Set<IndexDescription> = []
        for (index, origin) in change.indexSources where index.elements == nil {
            // A partial index is found by its condition, which has the names of fields.
            if let origin, origin.isUnique == index.isUnique, origin.condition == index.condition {
                keptIndexes.insert(origin)
            } else {
                addedIndexes.append(index)
            }
        }
        for index in stored.allIndexes where index.elements == nil && !keptIndexes.contains(index) {
            goneIndexes += found?.indexes(of: index, table.dialect) ?? []
        }
        for (origin, field) in stored.fields.enumerated()
        where !kept.contains(origin) && !field.type.kind.isRelationship {
            // Another program's indexes would keep the column too.
            let storedName = table.dialect.storedName(field.name)
            goneIndexes +=
                found?.indexes.filter { index in index.columns.contains { $0.name.hasSameBytes(as: storedName) } } ?? []
            droppedColumns.append(field.name)
        }
        goneIndexes.removeAll { $0.origin == .primaryKey }
        // An index that belongs to the declaration of the table cannot be dropped.
        if goneIndexes.contains(where: { $0.origin == .constraint }) { return nil }
        for index in goneIndexes where !droppedIndexes.contains(index.name) { droppedIndexes.append(index.name) }
    }

    /// Runs the statements.
    ///
    /// - Throws: `.uniqueViolation` with field and both keys when rows have the same value in a field that
    ///   becomes unique.
    func run(_ schema: StoredSchema) throws {
        let connection = schema.session.connection
        let quoted = table.dialect.quoted
        let name = table.name
        for elements in droppedElements { try schema.drop(elements) }
        for index in droppedIndexes { try connection.execute("DROP INDEX \(quoted(index))") }
        for column in droppedColumns { try connection.execute("ALTER TABLE \(name) DROP COLUMN \(quoted(column))") }
        // A new name may be the old name of another column, so all columns first get temporary names.
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
        for elements in addedElements { try schema.create(elements) }
        for index in addedIndexes {
            do {
                try schema.create(index, of: table)
            } catch let error as StorageError where index.isUnique && error.engineCode != nil {
                throw (try? collision(in: index, schema.session)) ?? error
            }
        }
    }

    /// Returns the error with the keys of the first two rows of an index that have the same values in its fields.
    private func collision(in index: IndexDescription, _ session: SQLSession) throws -> StorageError? {
        let entity = change.wanted
        let fields = entity.positions(of: index)
        let key = table.columns[entity.keyIndex]
        let columns = fields.map { table.columns[$0] }
        let rows = columns.map { "\($0) IS NOT NULL" } + (table.condition(of: index).map { [$0.text] } ?? [])
        var error: StorageError?
        let first = SQLText(
            """
            SELECT k, f FROM (
              SELECT \(key) AS k, first_value(\(key)) OVER w AS f, row_number() OVER w AS n
              FROM \(table.name) WHERE \(rows.joined(separator: " AND "))
              WINDOW w AS (PARTITION BY \(columns.joined(separator: ", ")) ORDER BY \(key))
            ) AS numbered WHERE n = 2 ORDER BY k LIMIT 1
            """)
        try session.forEachRow(first, entity: entity.name) { row in
            guard let second = row.key(inColumn: 0, of: entity.keyKind), let first = row.key(inColumn: 1, of: entity.keyKind)
            else { return }
            error = .collision(second, first, field: entity.names(of: fields), of: entity.name, path: session.path)
        }
        return error
    }
}
