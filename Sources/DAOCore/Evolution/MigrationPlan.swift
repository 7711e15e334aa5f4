/// What a database would go through to get to an application's version: found out without writing anything.
public struct MigrationPlan: Sendable {
    /// What would happen to one entity by itself.
    public struct AutomaticChange: Sendable, Equatable {
        /// The entity.
        public var entity: String
        /// The changes, in words.
        public var changes: [String]
        /// What takes a migration step, in words: opening fails unless one of ``MigrationPlan/steps`` does it.
        public var obstacles: [String]
        /// How many rows the entity has.
        public var rows: Int
    }

    /// The version that the database has; 0 when it never got one.
    public let from: Int
    /// The version that it would get.
    public let to: Int
    /// The names of the steps that would run, in their order.
    public let steps: [String]
    /// What would happen to entities by itself, as they are stored now; steps that run before may leave less to do.
    public let automaticChanges: [AutomaticChange]
    /// How many rows each entity has now.
    public let rows: [String: Int]
}

extension MigrationPlan: CustomStringConvertible {
    /// The plan for people, on several lines.
    public var description: String {
        var lines = ["from version \(from) to \(to)"]
        lines += steps.map { "step: \($0)" }
        for change in automaticChanges {
            lines += (change.changes + change.obstacles.map { "needs a step: " + $0 }).map {
                "\(change.entity) (\(change.rows) rows): \($0)"
            }
        }
        return lines.joined(separator: "\n")
    }
}
