import DAOCore
import DAOSQL
import Foundation

extension SQLiteDatabase {
    /// Returns what the tables of another program in the file would become: names, types by what is stored, relationships.
    ///
    /// It reads every row once. Nothing is changed. The tables of this library are not among them.
    ///
    /// - Parameter timeZone: The zone of dates that are stored without one; nil where it is not known.
    /// - Throws: `.corrupted` and `.io`.
    public func tableMapping(timeZone: TimeZone? = nil) throws -> TableMapping {
        try reading { try MappingGuess($0, taken: Set(entities().map(\.name)), timeZone: timeZone?.identifier).mapping }
    }

    /// The tables and views of another program in the file.
    package func foreignTables() throws -> [ForeignTableSummary] {
        try reading { try ForeignSchema($0, taken: Set(entities().map(\.name))).summaries($0) }
    }

    /// Moves the rows of another program's tables into a database of any kind, where they are entities of a mapping.
    ///
    /// The rows are read from one snapshot, in batches, and compared with what was written. An interrupted move goes on when it is called
    /// again. Nothing of the file is changed. An application calls it at its first launch, before it opens its models:
    ///
    /// ```swift
    /// let old = try SQLiteDatabase(path: "/path/of/the/old.sqlite")
    /// let report = try old.move(by: mapping, to: database, as: Artist.self, Album.self)
    /// ```
    ///
    /// - Parameters:
    ///   - mapping: What the tables become.
    ///   - target: The database that gets the rows. It can have other entities.
    ///   - models: The models that the application is going to use. When one does not fit, nothing is moved.
    ///   - onProgress: A closure that is called after each batch. An error that it throws interrupts the move.
    /// - Returns: What has come, and what has not.
    /// - Throws: `.invalidConfiguration` when dates have no zone and the mapping names none, `.invalidSchema` for a mapping that
    ///   contradicts itself, `.schemaMismatch` for one that does not fit the models, or names tables or columns which are not there, and the
    ///   errors of `copy(to:onProgress:)`.
    @discardableResult public func move(
        by mapping: TableMapping, to target: any Database, as models: any Model.Type...,
        onProgress: (CopyProgress) throws -> Void = { _ in }
    ) throws -> MoveReport {
        let differences = try mapping.differences(models)
        guard differences.isEmpty else {
            throw StorageError(
                .schemaMismatch,
                "the mapping does not give what the models declare: \(differences.joined(separator: "; ")). Nothing was moved",
                path: configuration.path)
        }
        try check(mapping)
        return try reading { connection in
            let source = try ForeignTables(connection, mapping, models, path: configuration.path) { entity, rows in
                try onProgress(CopyProgress(entity: entity, rows: 0, total: rows))
            }
            defer { source.close() }
            let report = try target.receive(from: source, named: configuration.place, onProgress)
            return MoveReport(
                rows: report.rows, rowsWritten: report.rowsWritten, rowsLeftOut: source.problems.rows,
                problems: source.problems.list, problemCount: source.problems.count, left: mapping.left)
        }
    }

    /// Checks a mapping against the file, without reading rows.
    ///
    /// - Parameter needsZone: Whether the zone of dates that are stored without one must be said.
    /// - Throws: The errors of ``move(by:to:as:onProgress:)`` for the mapping.
    package func check(_ mapping: TableMapping, needsZone: Bool = true) throws {
        if needsZone, let (entity, field) = mapping.datesWithoutZone() {
            throw StorageError(
                .invalidConfiguration,
                "the dates in '\(field)' of '\(entity)' are stored without a time zone; say which it is, as in \"timeZone\": \"UTC\"",
                entity: entity, field: field, path: configuration.path)
        }
        _ = try mapping.zone()
        try reading { try ForeignTables.check(mapping, $0) }
    }

    /// Runs a closure with a connection in one snapshot.
    private func reading<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try runSnapshot {
            try lifetime.call {
                try instance.coordinator.read { session in
                    guard let connection = session.connection as? SQLiteConnection else { throw StorageError.closed(nil) }
                    return try connection.withStandInCollations { try body(connection) }
                }
            }
        }
    }
}

extension SQLiteDatabase: ForeignTableHolder {
    /// Returns the number of rows and tables of a file that has rows and no entities; nil for any other.
    package func foreignContents() throws -> String? {
        guard try entities().isEmpty, case let tables = try foreignTables(), tables.hasRows else { return nil }
        return tables.contents
    }
}

/// The result of a move.
public struct MoveReport: Sendable, Equatable {
    /// The number of rows of each entity. They were compared with the file's.
    public var rows: [String: Int]
    /// The number of written rows. After an interruption it is less than the number of rows.
    public var rowsWritten: Int
    /// The number of rows of the mapped tables that could not come.
    public var rowsLeftOut: Int
    /// The first problems, at most 100,000: rows, links and references that could not come, and why.
    public var problems: [TableProblem]
    /// The number of all problems.
    public var problemCount: Int
    /// The tables and views that the mapping leaves behind.
    public var left: [TableMapping.Left]
}

/// A table or a view of another program.
package struct ForeignTableSummary: Sendable {
    package var name: String
    /// What it is: a table, a view, a virtual table.
    package var kind: String
    /// The number of its rows; nil when they cannot be counted.
    package var rows: Int?
    /// Its columns with their declared types.
    package var columns: [(name: String, type: String)]
}

extension [ForeignTableSummary] {
    /// Whether a table has rows, or rows that cannot be counted.
    package var hasRows: Bool { contains { ($0.kind == "table" || $0.kind == "virtual table") && $0.rows != 0 } }

    /// The number of rows and tables, as people say it.
    package var contents: String {
        func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
        let views = self.count { $0.kind == "view" }
        let rows = filter { $0.kind != "view" && $0.kind != "table of a virtual table" }.reduce(0) { $0 + ($1.rows ?? 0) }
        return "\(counted(rows, "row")) in \(counted(count - views, "table"))"
            + (views == 0 ? "" : " and \(counted(views, "view"))")
    }
}
