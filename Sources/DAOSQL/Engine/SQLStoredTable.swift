import DAOCore

/// A table as it is in the database, created by the suite or by another tool.
public struct SQLStoredTable: Sendable {
    /// A column.
    public struct Column: Sendable {
        /// The name of the column.
        public var name: String
        /// The declared type in the form of ``SQLDialect/storedType(_:)``.
        public var type: String
        /// Whether the column refuses null.
        public var isNotNull: Bool
        /// The position in the primary key, from one; zero for a column that is not in it.
        public var keyPosition: Int

        /// Creates a column.
        ///
        /// - Parameters:
        ///   - name: The name of the column.
        ///   - type: The declared type in the form of ``SQLDialect/storedType(_:)``.
        ///   - isNotNull: Whether the column refuses null.
        ///   - keyPosition: The position in the primary key, from one; zero for a column that is not in it.
        public init(name: String, type: String, isNotNull: Bool, keyPosition: Int) {
            self.name = name
            self.type = type
            self.isNotNull = isNotNull
            self.keyPosition = keyPosition
        }
    }

    /// An index.
    public struct Index: Sendable {
        /// The name of the index.
        public var name: String
        /// The columns of the index, in order, with their directions.
        public var columns: [IndexedField]
        /// Whether the index refuses equal values.
        public var isUnique: Bool
        /// Whether the index covers only some of the rows.
        public var isPartial: Bool
        /// The origin of the index.
        public var origin: Origin

        /// The origin of an index.
        public enum Origin: Sendable {
            /// A separate statement.
            case statement
            /// A constraint in the declaration of the table. The index can only be dropped together with the
            /// constraint.
            case constraint
            /// The primary key.
            case primaryKey
        }

        /// Creates an index.
        ///
        /// - Parameters:
        ///   - name: The name of the index.
        ///   - columns: The columns of the index, in order, with their directions.
        ///   - isUnique: Whether the index refuses equal values.
        ///   - isPartial: Whether the index covers only some of the rows.
        ///   - origin: The origin of the index.
        public init(name: String, columns: [IndexedField], isUnique: Bool, isPartial: Bool, origin: Origin) {
            self.name = name
            self.columns = columns
            self.isUnique = isUnique
            self.isPartial = isPartial
            self.origin = origin
        }
    }

    /// The name as it was declared.
    public var name: String
    /// The kind of the object: "table", or the engine's word, such as "view".
    public var kind: String
    /// The columns, in order.
    public var columns: [Column]
    /// The indexes.
    public var indexes: [Index]

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - name: The name as it was declared.
    ///   - kind: The kind of the object: "table", or the engine's word.
    ///   - columns: The columns, in order.
    ///   - indexes: The indexes.
    public init(name: String, kind: String = "table", columns: [Column], indexes: [Index]) {
        self.name = name
        self.kind = kind
        self.columns = columns
        self.indexes = indexes
    }
}

extension SQLStoredTable {
    /// The indexes on columns that cover every row.
    func indexes(on columns: [IndexedField]) -> [Index] { indexes.filter { !$0.isPartial && $0.columns == columns } }

    /// The indexes with the columns and the condition of a described index.
    func indexes(of index: IndexDescription, _ dialect: any SQLDialect) -> [Index] {
        let columns = dialect.stored(index.fields)
        guard let prefix = index.namePrefix else { return indexes(on: columns) }
        return indexes.filter { $0.isPartial && $0.columns == columns && $0.name.hasPrefix(prefix) }
    }

    /// Compares the table with the table that the suite would create.
    ///
    /// - Throws: `.schemaMismatch`, with every difference.
    func check(_ table: SQLTable) throws {
        var differences: [String] = []
        func remedy(_ index: IndexDescription) -> String {
            (try? table.create(index, named: table.indexName(index))).map { " (\($0) makes it)" } ?? ""
        }
        for field in table.entity.fields where !field.type.kind.isRelationship {
            guard let column = columns.first(where: { $0.name == table.dialect.storedName(field.name) }) else {
                differences.append("the table has no column '\(field.name)'")
                continue
            }
            let wanted = table.dialect.columnType(of: field)
            if column.type != table.dialect.storedType(wanted) {
                differences.append(
                    "the column '\(field.name)' has the affinity \(column.type), \(field.type) is kept as \(wanted)")
            }
            let isKey = column.keyPosition != 0
            if isKey != field.isPrimaryKey {
                differences.append("the column '\(field.name)' is \(isKey ? "" : "not ")the table's primary key")
            } else if !field.isPrimaryKey, column.isNotNull == field.type.isOptional {
                differences.append(
                    "the column '\(field.name)' \(column.isNotNull ? "refuses" : "allows") NULL, the field is \(field.type)")
            }
            guard !field.isPrimaryKey else { continue }
            let indexes = indexes(on: table.dialect.stored([IndexedField(field.name)]))
            if field.isIndexed, indexes.isEmpty {
                let index = IndexDescription([IndexedField(field.name)], isUnique: field.isUnique)
                differences.append("the column '\(field.name)' has no index" + remedy(index))
            } else if field.isUnique != indexes.contains(where: \.isUnique) {
                differences.append("the column '\(field.name)' is \(field.isUnique ? "not " : "")unique in the table")
            }
        }
        for index in table.entity.indexes {
            let indexes = indexes(of: index, table.dialect)
            if indexes.isEmpty {
                differences.append("the table has no index on '\(index)'" + remedy(index))
            } else if index.isUnique != indexes.contains(where: \.isUnique) {
                differences.append("the table's index on '\(index)' is \(index.isUnique ? "not " : "")unique")
            }
        }
        for column in columns where !table.entity.fields.contains(where: { table.dialect.storedName($0.name) == column.name }) {
            differences.append("the table's column '\(column.name)' is not in the model")
        }
        guard differences.isEmpty else {
            throw StorageError(
                .schemaMismatch,
                "the stored '\(name)' is not what the model declares: \(differences.joined(separator: "; ")); change the model or the table. The table was not changed",
                entity: name)
        }
    }
}

extension SQLConnection {
    /// Looks up the table of an entity; nil when there is none.
    ///
    /// - Throws: `.schemaMismatch` when an object that is not a table has the name, or when the name of the
    ///   table differs in case only.
    func table(of entity: String, _ dialect: any SQLDialect) throws -> SQLStoredTable? {
        guard let found = try storedTable(entity) else { return nil }
        guard found.kind == "table", found.name == dialect.storedName(entity) else {
            throw StorageError(
                .schemaMismatch,
                "the database has a \(found.kind) '\(found.name)' already, whose name differs from '\(entity)' in case only or is not a table's; choose another name",
                entity: entity)
        }
        return found
    }

    /// Returns a name that no table or index has, as close as possible to the wanted name.
    ///
    /// Tables and indexes may share one namespace. Then the index on "b_c" of "a" and the index on "c" of
    /// "a_b" would have the same name.
    public func freeName(_ wanted: String, _ dialect: any SQLDialect) throws -> String {
        let taken = try takenNames()
        var name = wanted
        var number = 2
        while taken.contains(dialect.storedName(name).asciiLowercased) {
            name = "\(wanted)_\(number)"
            number += 1
        }
        return name
    }
}

extension String {
    /// The text with the letters A to Z in lower case, as engines compare names.
    package var asciiLowercased: String {
        String(decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
