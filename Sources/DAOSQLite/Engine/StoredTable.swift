import DAOCore
import DAOSQL
import DAOSystemSQLite

/// A table as it is in the file, whoever made it.
struct StoredTable {
    private struct Column {
        let name: String
        let affinity: String
        let isNotNull: Bool
        let isKey: Bool
    }

    private let name: String
    private var columns: [Column] = []
    /// The indexes on one column that cover every row: whether they are unique, by the column's name.
    private var indexes: [String: Bool] = [:]
    private var isRowIDAlias = false

    /// Looks at a table; nil when there is none.
    init?(_ name: String, _ connection: SQLiteConnection) throws {
        // Names are letters, digits and underscores, but a name in a text is quoted all the same.
        let text = "'" + name.replacing("'", with: "''") + "'"
        let found = try connection.rows(
            "SELECT name, type FROM sqlite_master WHERE name = \(text) COLLATE NOCASE AND type <> 'index'"
        ) {
            (name: SQLiteConnection.text($0, 0), type: SQLiteConnection.text($0, 1))
        }
        guard let table = found.first else { return nil }
        guard table.type == "table", table.name == name else {
            throw StorageError(
                .schemaMismatch,
                "the database has a \(table.type) '\(table.name)' already, whose name differs from '\(name)' in case only or is not a table's",
                entity: name)
        }
        self.name = name
        columns = try connection.rows("PRAGMA table_xinfo(\(text))") {
            Column(
                name: SQLiteConnection.text($0, 1), affinity: Self.affinity(SQLiteConnection.text($0, 2)),
                isNotNull: sqlite3_column_int64($0, 3) != 0, isKey: sqlite3_column_int64($0, 5) != 0)
        }
        let list = try connection.rows("PRAGMA index_list(\(text))") {
            (
                name: SQLiteConnection.text($0, 1), isUnique: sqlite3_column_int64($0, 2) != 0,
                isPartial: sqlite3_column_int64($0, 4) != 0
            )
        }
        for index in list where !index.isPartial {
            let indexed = try connection.texts("SELECT name FROM pragma_index_info('\(index.name.replacing("'", with: "''"))')")
            if indexed.count == 1 { indexes[indexed[0]] = index.isUnique || indexes[indexed[0]] == true }
        }
    }

    /// Compares the table with what the suite would have made.
    ///
    /// - Throws: `.schemaMismatch`, with every difference.
    func check(_ table: SQLTable) throws {
        var differences: [String] = []
        for field in table.entity.fields where !field.type.kind.isRelationship {
            guard let column = columns.first(where: { $0.name == field.name }) else {
                differences.append("the table has no column '\(field.name)'")
                continue
            }
            let wanted = table.dialect.columnType(of: field)
            if column.affinity != Self.affinity(wanted) {
                differences.append(
                    "the column '\(field.name)' has the affinity \(column.affinity), \(field.type) is kept as \(wanted)")
            }
            if column.isKey != field.isPrimaryKey {
                differences.append("the column '\(field.name)' is \(column.isKey ? "" : "not ")the table's primary key")
            } else if !field.isPrimaryKey, column.isNotNull == field.type.isOptional {
                differences.append(
                    "the column '\(field.name)' \(column.isNotNull ? "refuses" : "allows") NULL, the field is \(field.type)")
            }
            guard !field.isPrimaryKey else { continue }
            if field.isIndexed, indexes[field.name] == nil {
                differences.append("the column '\(field.name)' has no index")
            } else if field.isUnique != (indexes[field.name] == true) {
                differences.append("the column '\(field.name)' is \(field.isUnique ? "not " : "")unique in the table")
            }
        }
        for column in columns where !table.entity.fields.contains(where: { $0.name == column.name }) {
            differences.append("the table's column '\(column.name)' is not in the model")
        }
        guard differences.isEmpty else {
            throw StorageError(
                .schemaMismatch,
                "the stored '\(name)' is not what the model declares: \(differences.joined(separator: "; ")). Nothing was changed",
                entity: name)
        }
    }

    /// The affinity of a declared type, by SQLite's own rules.
    static func affinity(_ type: String) -> String {
        let type = type.uppercased()
        if type.contains("INT") { return "INTEGER" }
        if type.contains("CHAR") || type.contains("CLOB") || type.contains("TEXT") { return "TEXT" }
        if type.contains("BLOB") || type.isEmpty { return "BLOB" }
        if type.contains("REAL") || type.contains("FLOA") || type.contains("DOUB") { return "REAL" }
        return "NUMERIC"
    }
}

// Tables and indexes share one space of names, in which "a" with a field "b_c" and "a_b" with a field "c" would meet.
extension StoredTable {
    /// A name that nothing has yet, as near to the wanted one as can be.
    static func freeName(_ wanted: String, _ connection: SQLiteConnection) throws -> String {
        let taken = Set(try connection.texts("SELECT lower(name) FROM sqlite_master"))
        var name = wanted
        var number = 2
        while taken.contains(asciiLowercased(name)) {
            name = "\(wanted)_\(number)"
            number += 1
        }
        return name
    }

    /// Gives an index of ours that has a table's name another one.
    static func makeRoom(for table: String, _ connection: SQLiteConnection) throws {
        let indexes = try connection.rows("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL") {
            (name: SQLiteConnection.text($0, 0), sql: SQLiteConnection.text($0, 1))
        }
        for index in indexes where asciiLowercased(index.name) == asciiLowercased(table) {
            let name = try freeName(index.name + "_index", connection)
            try connection.execute("DROP INDEX \"\(index.name)\"")
            try connection.execute(index.sql.replacing("INDEX \"\(index.name)\"", with: "INDEX \"\(name)\"", maxReplacements: 1))
        }
    }

    private static func asciiLowercased(_ text: String) -> String {
        String(decoding: text.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
