/// The changes that migrate a database to a version of the application. A plan is determined without writing.
///
/// ```swift
/// if let plan = try drivers.pendingMigration(url, evolution: evolution) { print(plan) }
/// ```
public struct MigrationPlan: Sendable {
    /// The automatic change of an entity.
    public struct AutomaticChange: Sendable, Equatable {
        /// The name of the entity.
        public var entity: String
        /// Descriptions of the changes.
        public var changes: [String]
        /// Descriptions of the differences that need a migration step. Opening fails unless one of
        /// ``MigrationPlan/steps`` resolves them.
        public var obstacles: [String]
        /// The number of rows of the entity.
        public var rows: Int
    }

    /// The version of the database; 0 when no version was set.
    public let from: Int
    /// The version after the migration.
    public let to: Int
    /// The names of the steps that would run, in order.
    public let steps: [String]
    /// The automatic changes of the entities as they are stored now. Steps that run before them can make some
    /// of them unnecessary.
    public let automaticChanges: [AutomaticChange]
    /// The current number of rows of each entity.
    public let rows: [String: Int]
}

extension MigrationPlan: CustomStringConvertible {
    /// A readable description of the plan, on several lines.
    public var description: String {
        var lines = ["from version \(from) to \(to)"]
        lines += steps.map { "step: \($0)" }
        // Whether a step makes a change cannot be told before it runs.
        let obstacle = steps.isEmpty ? "needs a step: " : "is left to the steps: "
        for change in automaticChanges {
            lines += (change.changes + change.obstacles.map { obstacle + $0 }).map {
                "\(change.entity) (\(change.rows) rows): \($0)"
            }
        }
        return lines.joined(separator: "\n")
    }
}
