import DAOCore
import DAOSystemSQLite

// Statistics for the planner. Without them SQLite takes every index for selective: for the ten newest of many rows with
// one status, it reads and sorts all of them.
extension SQLiteConnection {
    /// The number of different values up to which a column's values are counted.
    private static let mostValues = 1000

    /// Asks for statistics: now when a large file has none, or has none of an index, otherwise after many changes.
    func watchStatistics() throws { statisticsLimit = try lacksStatistics() ? 0 : 1000 }

    /// Asks for statistics now when an index was made in a large file.
    func watchNewIndexes() throws {
        if statisticsLimit > 0, try lacksStatistics() { statisticsLimit = 0 }
    }

    /// Whether a large file has no statistics, or none of an index that has entries.
    private func lacksStatistics() throws -> Bool {
        if try integers("PRAGMA page_count").first ?? 0 < 64 { return false }
        if try integers("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'").isEmpty { return true }
        // A partial index can be without entries.
        let tables = try texts(
            """
            SELECT DISTINCT tbl_name FROM sqlite_master WHERE type = 'index' AND sql NOT LIKE '%) WHERE %'
            AND name NOT IN (SELECT idx FROM sqlite_stat1 WHERE idx IS NOT NULL)
            """)
        return try tables.contains { try !integers("SELECT 1 FROM \(SQLiteDialect().quoted($0)) LIMIT 1").isEmpty }
    }

    var needsOptimizing: Bool { sqlite3_total_changes(handle) >= statisticsLimit }

    /// Takes milliseconds, however large the tables are. The version of the schema changes, so that all connections read
    /// the statistics.
    func optimize() throws {
        guard try beginWritingAtOnce() else { return }
        let changes = max(sqlite3_total_changes(handle), 1000)
        try execute("PRAGMA analysis_limit = 400; ANALYZE")
        try countFewValues()
        try execute("ANALYZE sqlite_master")
        try catalogDidChange()
        statisticsLimit = changes.multipliedReportingOverflow(by: 10).overflow ? .max : changes * 10
    }

    /// Corrects the statistics of columns with few values. The limit of the analysis bounds the number of rows that have
    /// the same value, and that is the number which matters for such columns.
    private func countFewValues() throws {
        let indexes = try rows("SELECT tbl, idx, stat FROM sqlite_stat1 WHERE idx IS NOT NULL") {
            (table: Self.text($0, 0), index: Self.text($0, 1), numbers: Self.text($0, 2).split(separator: " "))
        }
        for index in indexes {
            guard index.numbers.count > 1, let rowCount = Int(index.numbers[0]), let share = Int(index.numbers[1]), share > 50,
                let column = try texts("SELECT name FROM pragma_index_info(\(index.index.quotedLiteral))").first, !column.isEmpty
            else { continue }
            let dialect = SQLiteDialect()
            let (table, name) = (dialect.quoted(index.table), dialect.quoted(column))
            // One search of the index for each value.
            let count = try integers(
                """
                WITH RECURSIVE found(value) AS (SELECT min(\(name)) FROM \(table) UNION ALL
                SELECT (SELECT min(\(name)) FROM \(table) WHERE \(name) > value) FROM found
                WHERE value IS NOT NULL LIMIT \(Self.mostValues + 1)) SELECT count(value) FROM found
                """)
            guard let count = count.first.map(Int.init), 1...Self.mostValues ~= count, rowCount / count > share else { continue }
            var numbers = index.numbers.map(String.init)
            numbers[1] = String(rowCount / count)
            try execute(
                "UPDATE sqlite_stat1 SET stat = '\(numbers.joined(separator: " "))' WHERE idx = \(index.index.quotedLiteral)")
        }
    }
}
