import DAOCore
import DAOSystemSQLite
import Foundation

/// The tables and views of another program, as its file declares them.
struct ForeignSchema {
    struct Table {
        var name: String
        /// `table`, `view`, `virtual` or `shadow`.
        var kind: String
        var sql: String
        var columns: [Column] = []
        var foreignKeys: [ForeignKey] = []
        var indexes: [Index] = []

        /// The columns of the primary key, in its order.
        var key: [Column] { columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition } }

        func column(_ name: String) -> Column? { columns.first { $0.name.lowercased() == name.lowercased() } }
    }

    struct Column {
        var name: String
        /// The declared type in capital letters.
        var type: String
        var isNotNull: Bool
        var keyPosition: Int
    }

    struct ForeignKey {
        var table: String
        var columns: [String]
        var targets: [String]
        var onDelete: String
    }

    struct Index {
        var columns: [String]
        var isUnique: Bool
    }

    private(set) var tables: [Table]

    /// Reads the schema.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - taken: The entities of this library in the file.
    init(_ connection: SQLiteConnection, taken: Set<String>) throws {
        let names = taken.map { $0.lowercased() }
        tables = try connection.rows(
            """
            SELECT l.name, l.type, coalesce(m.sql, '') FROM pragma_table_list l LEFT JOIN sqlite_master m ON m.name = l.name
            AND m.type IN ('table', 'view') WHERE l.schema = 'main' ORDER BY l.name
            """
        ) { row in
            Table(name: SQLiteConnection.text(row, 0), kind: SQLiteConnection.text(row, 1), sql: SQLiteConnection.text(row, 2))
        }.filter { table in
            let name = table.name.lowercased()
            // Tables of links and elements are named after their entity.
            let isOurs = names.contains(name) || names.contains { name.hasPrefix($0 + ".") }
            return !name.hasPrefix("sqlite_") && !name.hasPrefix("dao_") && !isOurs
        }
        for number in tables.indices { try? read(&tables[number], connection) }
    }

    /// Reads what a table has. A view or a virtual table can name what is not there.
    private func read(_ table: inout Table, _ connection: SQLiteConnection) throws {
        let text = table.name.quotedLiteral
        table.columns = try connection.rows("SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(\(text))") {
            row in
            (
                column: Column(
                    name: SQLiteConnection.text(row, 0), type: SQLiteConnection.text(row, 1).uppercased(),
                    isNotNull: sqlite3_column_int64(row, 2) != 0, keyPosition: Int(sqlite3_column_int64(row, 3))),
                isHidden: sqlite3_column_int64(row, 4) == 1
            )
        }.filter { !$0.isHidden }.map(\.column)
        guard table.kind == "table" else { return }
        let keys = try connection.rows(
            "SELECT id, \"table\", \"from\", coalesce(\"to\", ''), on_delete FROM pragma_foreign_key_list(\(text)) ORDER BY id, seq"
        ) { row in
            (
                id: sqlite3_column_int64(row, 0), table: SQLiteConnection.text(row, 1), from: SQLiteConnection.text(row, 2),
                to: SQLiteConnection.text(row, 3), onDelete: SQLiteConnection.text(row, 4)
            )
        }
        for (_, parts) in Dictionary(grouping: keys, by: \.id).sorted(by: { $0.key < $1.key }) {
            table.foreignKeys.append(
                ForeignKey(
                    table: parts[0].table, columns: parts.map(\.from), targets: parts.map(\.to), onDelete: parts[0].onDelete))
        }
        let indexes = try connection.rows(
            "SELECT name, \"unique\" FROM pragma_index_list(\(text)) WHERE origin <> 'pk' AND NOT partial ORDER BY name"
        ) { (name: SQLiteConnection.text($0, 0), isUnique: sqlite3_column_int64($0, 1) != 0) }
        for index in indexes {
            let columns = try connection.rows(
                "SELECT coalesce(name, '') FROM pragma_index_xinfo(\(index.name.quotedLiteral)) WHERE key"
            ) { SQLiteConnection.text($0, 0) }
            // An index on an expression serves nobody else.
            if !columns.contains("") { table.indexes.append(Index(columns: columns, isUnique: index.isUnique)) }
        }
    }

    /// The tables and views with the numbers of their rows.
    func summaries(_ connection: SQLiteConnection) -> [ForeignTableSummary] {
        tables.map { table in
            let kind =
                switch table.kind {
                case "virtual": "virtual table"
                case "shadow": "table of a virtual table"
                default: table.kind
                }
            func count() throws -> Int? {
                try connection.integers("SELECT count(*) FROM \(table.name.quotedIdentifier)").first.map(Int.init)
            }
            // A view can be a query that takes hours: after some seconds, it is not counted.
            let rows = try? table.kind == "view" ? connection.interrupting(afterSteps: 100_000_000, count) ?? nil : count()
            return ForeignTableSummary(
                name: table.name, kind: kind, rows: rows, columns: table.columns.map { ($0.name, $0.type) })
        }
    }
}

extension SQLiteConnection {
    /// The name of the number of a table's rows: that of SQLite's three which no column has.
    func rowNumber(of table: String) throws -> String {
        let columns = try rows("SELECT lower(name) FROM pragma_table_xinfo(\(table.quotedLiteral))") { Self.text($0, 0) }
        return ["rowid", "_rowid_", "oid"].first { !columns.contains($0) } ?? "rowid"
    }

    /// The declared type of a column in capital letters; empty for one without a type.
    func declaredType(of column: String, in table: String) throws -> String {
        try rows(
            "SELECT type FROM pragma_table_xinfo(\(table.quotedLiteral)) WHERE name = \(column.quotedLiteral) COLLATE NOCASE"
        ) { Self.text($0, 0).uppercased() }.first ?? ""
    }
}

/// What is stored in the columns of a table, found in one pass.
struct ColumnFacts {
    var nulls = 0
    var integers = 0
    var reals = 0
    var texts = 0
    var blobs = 0
    var isBoolean = true
    var isUUID = true
    var isUppercaseUUID = true
    var isDate = true
    var hasDateWithoutZone = false
    var isExactNumber = true
    var isExternal = true
    /// Whether a value is the name of a file of Core Data.
    var hasExternalName = false
    /// Whether each integer has the digits of a day, as 20240131, or of a second, as 20240131235959.
    var isCalendar = true
    var isIntegral = true
    var isUTF8 = true
    var (low, high) = (Double.infinity, -Double.infinity)
    var longestText = 0

    /// The number of values.
    var count: Int { integers + reals + texts + blobs }

    mutating func add(_ value: ForeignValue) {
        switch value.type {
        case SQLITE_NULL: nulls += 1
        case SQLITE_INTEGER:
            integers += 1
            (low, high) = (min(low, Double(value.integer)), max(high, Double(value.integer)))
            (isUUID, isUppercaseUUID, isDate) = (false, false, false)
            if isBoolean { isBoolean = value.bool != nil }
            if isCalendar { isCalendar = Self.isCalendar(value.integer) }
        case SQLITE_FLOAT:
            reals += 1
            (low, high) = (min(low, value.double), max(high, value.double))
            if isIntegral { isIntegral = value.exactInteger != nil }
            (isUUID, isUppercaseUUID, isDate, isBoolean) = (false, false, false, false)
            if isExactNumber { isExactNumber = value.decimal != nil }
        case SQLITE_TEXT:
            texts += 1
            isIntegral = false
            longestText = max(longestText, Int(sqlite3_column_bytes(value.statement, value.column)))
            guard let text = value.text else {
                (isBoolean, isUUID, isUppercaseUUID, isDate, isExactNumber, isUTF8) = (false, false, false, false, false, false)
                return
            }
            if isBoolean { isBoolean = value.bool != nil }
            if isUUID { isUUID = value.uuid != nil }
            if isUppercaseUUID { isUppercaseUUID = value.uuid?.uuidString == text }
            if isExactNumber { isExactNumber = Decimal(strictText: text) != nil }
            if isDate {
                isDate = Date(isoText: text) != nil
                if isDate, !hasDateWithoutZone { hasDateWithoutZone = Date(isoText: text, needsZone: true) == nil }
            }
        default:
            blobs += 1
            let count = sqlite3_column_bytes(value.statement, value.column)
            (isBoolean, isUppercaseUUID, isDate, isExactNumber, isIntegral) = (false, false, false, false, false)
            if isUUID { isUUID = count == 16 }
            let first = sqlite3_column_blob(value.statement, value.column)?.load(as: UInt8.self)
            if isExternal { isExternal = first == 1 || first == 2 }
            if first == 2, count == 38, !hasExternalName {
                let name = value.data.dropFirst()
                hasExternalName = name.last == 0 && UUID(uuidString: String(decoding: name.dropLast(), as: UTF8.self)) != nil
            }
        }
    }

    /// Whether a number has the digits of a day, or of a second.
    private static func isCalendar(_ number: Int64) -> Bool {
        let (day, time) = number > 99_999_999 ? (number / 1_000_000, number % 1_000_000) : (number, 0)
        return 1000_01_01...9999_12_31 ~= day && 1...12 ~= day / 100 % 100 && 1...31 ~= day % 100
            && time / 10_000 < 24 && time / 100 % 100 < 60 && time % 100 <= 60
    }

    /// The first and the last day of numbers that are dates in a form.
    func days(as form: StoredForm) -> String {
        let days = [low, high].map { number in
            form.seconds(of: number).map { Date(timeIntervalSinceReferenceDate: $0).ISO8601Format().prefix(10) } ?? ""
        }
        return "\(days[0]) to \(days[1])"
    }

    /// What the numbers of dates count; nil for other values.
    func dateForm(_ dialect: String?) -> StoredForm? {
        if texts == count, isDate { return hasDateWithoutZone ? .localText : .text }
        guard integers + reals == count, count > 0 else { return nil }
        if dialect == MappingGuess.coreData { return .seconds2001 }
        // Numbers with the digits of a date, and years. As seconds since 1970 they would be in its first months.
        if reals == 0, isCalendar || low > 0 && high < 10_000 { return nil }
        let largest = max(abs(low), abs(high))
        // Days of the years 1900 to 2132; as seconds they would be four weeks of 1970.
        if low >= 2_415_020, high < 2_500_000 { return .julianDays }
        // Nanoseconds, which a date cannot hold.
        if largest >= 1e17 { return nil }
        if largest >= 1e16 { return .microseconds1601 }
        if largest >= 1e14 { return .microseconds1970 }
        if largest >= 1e11 { return .milliseconds1970 }
        // Fractions of seconds are what Foundation writes. The number is a year before 2001, or one before 2032.
        if reals > 0, high < 978_307_200 { return .seconds2001 }
        return .seconds1970
    }
}
