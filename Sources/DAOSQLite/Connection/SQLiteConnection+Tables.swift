import DAOCore
import DAOSQL
import DAOSystemSQLite

// The description of tables and queries by SQLite, which differs between engines.
extension SQLiteConnection {
    func catalogDidChange() throws {
        try execute("PRAGMA schema_version = \((try schemaVersion() + 1) & 0x7FFF_FFFF)")
        try watchNewIndexes()
    }

    func hasTable(_ name: String) throws -> Bool {
        try !texts("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = \(name.quotedLiteral) COLLATE NOCASE").isEmpty
    }

    func storedTable(_ name: String) throws -> SQLStoredTable? {
        let text = name.quotedLiteral
        let found = try rows(
            "SELECT name, type FROM sqlite_master WHERE name = \(text) COLLATE NOCASE AND type <> 'index'"
        ) {
            (name: Self.text($0, 0), kind: Self.text($0, 1))
        }
        guard let table = found.first else { return nil }
        let columns = try rows("PRAGMA table_xinfo(\(text))") {
            SQLStoredTable.Column(
                name: Self.text($0, 1), type: SQLiteDialect().storedType(Self.text($0, 2)),
                isNotNull: sqlite3_column_int64($0, 3) != 0, keyPosition: Int(sqlite3_column_int64($0, 5)))
        }
        var indexes = try rows("PRAGMA index_list(\(text))") {
            SQLStoredTable.Index(
                name: Self.text($0, 1), columns: [], isUnique: sqlite3_column_int64($0, 2) != 0,
                isPartial: sqlite3_column_int64($0, 4) != 0, origin: Self.origin(Self.text($0, 3)))
        }
        for number in indexes.indices {
            let name = indexes[number].name.quotedLiteral
            indexes[number].columns = try rows("SELECT name, \"desc\" FROM pragma_index_xinfo(\(name)) WHERE key") {
                IndexedField(Self.text($0, 0), isAscending: sqlite3_column_int64($0, 1) == 0)
            }
        }
        return SQLStoredTable(name: table.name, kind: table.kind, columns: columns, indexes: indexes)
    }

    /// The indexes, and the table itself where it is in the order of its row numbers. SQLite's statistics have only the average
    /// number of rows for a value. There are none when another program made a partial index, or an index has another
    /// collation than conditions have: then only SQLite knows what it serves.
    func searchPaths(of table: SQLTable) throws -> [SQLSearchPath] {
        let name = table.entity.name.quotedLiteral
        let others = try texts(
            "SELECT i.name FROM pragma_index_list(\(name)) AS i, pragma_index_xinfo(i.name) AS c "
                + "WHERE c.key AND (c.name IS NULL OR c.coll <> 'BINARY')")
        guard others.isEmpty, let stored = try storedTable(table.entity.name) else { return [] }
        let key = table.entity.fields[table.entity.keyIndex]
        var paths: [SQLSearchPath] = []
        for index in stored.indexes {
            let condition = table.entity.indexes.first { $0.namePrefix.map(index.name.hasPrefix) ?? false }?.condition
            if index.isPartial, condition == nil { return [] }
            paths.append(
                SQLSearchPath(
                    columns: index.columns, isUnique: index.isUnique,
                    hint: " INDEXED BY \(SQLiteDialect().quoted(index.name))", condition: index.isPartial ? condition : nil))
        }
        if stored.indexes.contains(where: { $0.origin == .primaryKey }) { return paths }
        return [SQLSearchPath(columns: [IndexedField(key.name)], isUnique: true, hint: " NOT INDEXED")] + paths
    }

    private static func origin(_ text: String) -> SQLStoredTable.Index.Origin {
        switch text {
        case "c": .statement
        case "pk": .primaryKey
        default: .constraint
        }
    }

    func takenNames() throws -> Set<String> { Set(try texts("SELECT lower(name) FROM sqlite_master")) }

    func makeRoom(for table: String) throws {
        let indexes = try rows("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL") {
            (name: Self.text($0, 0), sql: Self.text($0, 1))
        }
        for index in indexes where index.name.asciiLowercased == table.asciiLowercased {
            let name = try freeName(index.name + "_index", SQLiteDialect())
            try execute("DROP INDEX \"\(index.name)\"")
            try execute(index.sql.replacing("INDEX \"\(index.name)\"", with: "INDEX \"\(name)\"", maxReplacements: 1))
        }
    }

    /// The names of the triggers that keep tables of elements.
    private static let elementTriggers = "'%.%.elements.%'"

    func ties(to table: String) throws -> [String] {
        let text = table.quotedLiteral
        let triggers = try texts(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = \(text) COLLATE NOCASE "
                + "AND name NOT LIKE \(Self.elementTriggers)")
        let views = try texts(
            "SELECT name FROM sqlite_master WHERE type IN ('view', 'trigger') AND tbl_name <> \(text) COLLATE NOCASE "
                + "AND instr(lower(sql), lower(\(text))) > 0 AND name NOT LIKE \(Self.elementTriggers)")
        let references = try texts(
            "SELECT m.name FROM sqlite_master m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table' "
                + "AND f.\"table\" = \(text) COLLATE NOCASE")
        let own = SQLWords(try texts("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = \(text)").first ?? "")
        // No table of the suite has these words.
        let clauses = ["CHECK", "REFERENCES", "COLLATE", "AUTOINCREMENT", "GENERATED", "STRICT"].filter { own.contains([$0]) }
        return clauses.map { "the clause \($0) of the table" } + triggers.map { "the trigger '\($0)'" } + views.map { "'\($0)'" }
            + references.map { "a foreign key of '\($0)'" }
    }

    func indexesToFillLater(of table: String) throws -> [SQLIndexStatements] {
        let text = table.quotedLiteral
        // A running statement would fail when an index is dropped. Triggers and foreign keys of other tools may need one.
        guard !isReading, try integers("SELECT 1 FROM \(SQLiteDialect().quoted(table)) LIMIT 1").isEmpty,
            try !integers("SELECT 1 FROM pragma_table_info(\(text)) WHERE pk > 0").isEmpty,
            try integers(
                """
                SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = \(text) COLLATE NOCASE
                AND name NOT LIKE \(Self.elementTriggers)
                UNION ALL SELECT 1 FROM sqlite_master m, pragma_foreign_key_list(m.name) f
                WHERE m.type = 'table' AND f."table" = \(text) COLLATE NOCASE
                """
            ).isEmpty
        else { return [] }
        let indexes = try rows(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = \(text) COLLATE NOCASE AND sql IS NOT NULL ORDER BY rowid"
        ) {
            SQLIndexStatements(
                drop: "DROP INDEX \(SQLiteDialect().quoted(Self.text($0, 0)))", create: Self.text($0, 1))
        }
        // An index takes its statistics with it.
        if !indexes.isEmpty { statisticsLimit = 0 }
        return indexes
    }

    /// Whether a statement of the connection has been begun and not ended.
    private var isReading: Bool {
        var statement = sqlite3_next_stmt(handle, nil)
        while let current = statement {
            if sqlite3_stmt_busy(current) != 0 { return true }
            statement = sqlite3_next_stmt(handle, current)
        }
        return false
    }

    // MARK: Plans

    func explain(_ query: SQLText, of entity: EntityDescription) throws -> QueryPlan {
        // Explaining a query does not check whether the connection's schema is current; any read does.
        _ = try integers("SELECT count(*) FROM sqlite_master")
        let statement = try prepare("EXPLAIN QUERY PLAN " + query.text, entity: entity.name)
        try statement.bind(query.bindings)
        let reader = statement.makeReader(of: entity, keyColumn: -1)
        var details: [String] = []
        while try reader.advance() { details.append(reader.text(inColumn: 3)) }
        return QueryPlan(
            access: try access(details, entity), filtersRows: false,
            sortsRows: details.contains { $0.contains("TEMP B-TREE") && $0.contains("ORDER BY") }, details: details)
    }

    /// Parses SQLite's description of how it finds the rows.
    private func access(_ details: [String], _ entity: EntityDescription) throws -> QueryPlan.Access {
        for line in details where line.hasPrefix("SEARCH ") || line.hasPrefix("SCAN ") {
            // The tables of conditions on related rows have names that begin with a dot.
            if line.drop(while: { $0 != " " }).hasPrefix(" .") { continue }
            if line.contains("USING INTEGER PRIMARY KEY") || line.contains("USING PRIMARY KEY") { return .primaryKey }
            guard let use = line.range(of: " INDEX ") else { continue }
            // The name of an index can have spaces and parentheses.
            let rest = line[use.upperBound...]
            let names = try texts("SELECT name FROM sqlite_master WHERE type = 'index'")
            guard let name = names.filter({ rest == $0 || rest.hasPrefix("\($0) (") }).max(by: { $0.utf8.count < $1.utf8.count })
            else { continue }
            let index = name.quotedLiteral
            let columns = try texts("SELECT name FROM pragma_index_info(\(index))")
            if columns.isEmpty { continue }
            if columns.contains(where: { $0.hasPrefix(".") }) {
                // The table has the elements of an array. Its index is that of the field.
                let table = try texts("SELECT tbl_name FROM sqlite_master WHERE name = \(index)")
                let elements = entity.indexes.first {
                    $0.elements != nil && table == ["\(entity.name).\($0.fieldNames).elements"]
                }
                guard let elements else { continue }
                return .index([elements.fieldNames])
            }
            return columns == [entity.fields[entity.keyIndex].name] ? .primaryKey : .index(columns)
        }
        return .scan
    }
}
