/// A migration step from an earlier version of an application's data to a later version. It is written once
/// and works on every database.
///
/// ```swift
/// Migration(to: 2, "sizes of messages") { step in
///     try step.addField(FieldDescription(name: "size", type: FieldType(.int64)), to: "message", value: .integer(0))
///     try step.forEachRow(of: "message") { row in
///         if case .string(let text) = row["text"] { row["size"] = .integer(Int64(text.utf8.count)) }
///     }
/// }
/// ```
///
/// A step does not use the application's models, because these have the newest version and not the version of
/// the step. Changes that are only declared, such as added, dropped and renamed fields, need no step.
public struct Migration: Sendable {
    /// The version after the step.
    public let version: Int
    /// The name of the step, for progress and plans.
    public let name: String
    private let body: @Sendable (MigrationStep) throws -> Void

    /// Creates a step.
    ///
    /// - Parameters:
    ///   - version: The version after the step, at least 1. The step starts from the version before it.
    ///   - name: The name of the step, for progress and plans.
    ///   - body: A closure that changes entities and rows. It runs inside the transaction of the whole
    ///     migration. After a failure it runs again from the beginning, so any effect outside the database
    ///     must be repeatable.
    public init(to version: Int, _ name: String = "", perform body: @escaping @Sendable (MigrationStep) throws -> Void) {
        self.version = version
        self.name = name.isEmpty ? "to version \(version)" : name
        self.body = body
    }

    /// Runs the step.
    func run(in store: any EntityStore, of database: any Database, _ report: @escaping (EvolutionProgress) -> Void) throws {
        try body(MigrationStep(store, of: database, name: name, report))
    }
}

/// The progress of a migration.
public struct EvolutionProgress: Sendable, Equatable {
    /// The name of the running migration step, or of the automatic change.
    public var step: String
    /// The entity whose rows are written.
    public var entity: String
    /// The number of rows that are done.
    public var rows: Int
    /// The number of rows of the entity.
    public var total: Int

    /// Creates a progress value.
    public init(step: String, entity: String, rows: Int, total: Int) {
        self.step = step
        self.entity = entity
        self.rows = rows
        self.total = total
    }
}
