import DAOCore

/// A table as it is in the database, whoever made it.
public struct SQLStoredTable: Sendable {
    /// A column.
    public struct Column: Sendable {
        /// Its name.
        public var name: String
        /// What ``SQLDialect/storedType(_:)`` makes of its declared type.
        public var type: String
        /// Whether it refuses null.
        public var isNotNull: Bool
        /// Its place in the primary key, from one; zero for none.
        public var keyPosition: Int

        /// Creates a column.
        ///
        /// - Parameters:
        ///   - name: Its name.
        ///   - type: What ``SQLDialect/storedType(_:)`` makes of its declared type.
        ///   - isNotNull: Whether it refuses null.
        ///   - keyPosition: Its place in the primary key, from one; zero for none.
        public init(name: String, type: String, isNotNull: Bool, keyPosition: Int) {
            self.name = name
            self.type = type
            self.isNotNull = isNotNull
            self.keyPosition = keyPosition
        }
    }

    /// An index.
    public struct Index: Sendable {
        /// Its name.
        public var name: String
        /// Its columns, in order.
        public var columns: [String]
        /// Whether it refuses equal values.
        public var isUnique: Bool
        /// Whether it leaves out rows.
        public var isPartial: Bool
        /// What made it.
        public var origin: Origin

        /// What made an index.
        public enum Origin: Sendable {
            /// A statement of its own.
            case statement
            /// A constraint in the table's declaration, with which alone it goes.
            case constraint
            /// The primary key.
            case primaryKey
        }

        /// Creates an index.
        ///
        /// - Parameters:
        ///   - name: Its name.
        ///   - columns: Its columns, in order.
        ///   - isUnique: Whether it refuses equal values.
        ///   - isPartial: Whether it leaves out rows.
        ///   - origin: What made it.
        public init(name: String, columns: [String], isUnique: Bool, isPartial: Bool, origin: Origin) {
            self.name = name
            self.columns = columns
            self.isUnique = isUnique
            self.isPartial = isPartial
            self.origin = origin
        }
    }

    /// The name as it was declared.
    public var name: String
    /// What it is: "table", or else the engine's word, such as "view".
    public var kind: String
    /// The columns, in order.
    public var columns: [Column]
    /// The indexes.
    public var indexes: [Index]

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - name: The name as it was declared.
    ///   - kind: What it is: "table", or else the engine's word.
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
            // Indexes on one column that cover every row.
            let indexes = indexes.filter { !$0.isPartial && $0.columns == [field.name] }
            if field.isIndexed, indexes.isEmpty {
                differences.append("the column '\(field.name)' has no index")
            } else if field.isUnique != indexes.contains(where: \.isUnique) {
                differences.append("the column '\(field.name)' is \(field.isUnique ? "not " : "")unique in the table")
            }
        }
        for column in columns where !table.entity.fields.contains(where: { $0.name == column.name }) {
            differences.append("the table's column '\(column.name)' is not in the model")
        }
        guard differences.isEmpty else {
            throw StorageError(
                .schemaMismatch,
                "the stored '\(name)' is not what the model declares: \(differences.joined(separator: "; ")); change the model or the table. Nothing was changed",
                entity: name)
        }
    }
}

extension SQLConnection {
    /// The table of an entity; nil when there is none.
    ///
    /// - Throws: `.schemaMismatch` when something else has the name, or a table one that differs in case
    ///   only.
    func table(of entity: String) throws -> SQLStoredTable? {
        guard let found = try storedTable(entity) else { return nil }
        guard found.kind == "table", found.name == entity else {
            throw StorageError(
                .schemaMismatch,
                "the database has a \(found.kind) '\(found.name)' already, whose name differs from '\(entity)' in case only or is not a table's; choose another name",
                entity: entity)
        }
        return found
    }

    /// A name that no table or index has yet, as near to the wanted one as can be.
    ///
    /// Where tables and indexes share one space of names, "a" with a field "b_c" and "a_b" with a field "c"
    /// would meet in it.
    public func freeName(_ wanted: String) throws -> String {
        let taken = try takenNames()
        var name = wanted
        var number = 2
        while taken.contains(name.asciiLowercased) {
            name = "\(wanted)_\(number)"
            number += 1
        }
        return name
    }
}

extension String {
    /// The text with the letters from A to Z in lower case, as engines compare names.
    package var asciiLowercased: String {
        String(decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
