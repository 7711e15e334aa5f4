/// The version of an application's data, and how a database gets there.
///
/// ```swift
/// let evolution = Evolution(version: 3, migrations: [
///     Migration(to: 2, "titles") { step in try step.renameEntity("note", to: "message") },
///     Migration(to: 3, "dates") { step in
///         try step.changeType(of: "date", in: "message", to: FieldType(.date))
///     },
/// ], models: [MessageModel.self])
/// let database = try drivers.open("sqlite:///var/lib/app.db", evolution: evolution)
/// ```
///
/// The steps of the versions that a database has not seen run in their order, then its entities become what the models declare, then it
/// gets the version: all in one transaction. A failure, or the end of the process, leaves the database as it was.
///
/// A database that no version was ever given to is of version 0; one without entities gets the version without running a step.
public struct Evolution: Sendable {
    /// The version of the application's data: 1 or more.
    public var version: Int
    /// The steps, in any order. A version without a step needs none.
    public var migrations: [Migration]
    /// Models whose entities become what they declare in the same transaction; those of other models do when their storage is first asked for.
    public var models: [any Model.Type]

    /// Describes an evolution.
    ///
    /// - Parameters:
    ///   - version: The version of the application's data.
    ///   - migrations: The steps.
    ///   - models: Models whose entities become what they declare in the same transaction.
    public init(version: Int, migrations: [Migration] = [], models: [any Model.Type] = []) {
        self.version = version
        self.migrations = migrations
        self.models = models
    }

    /// The steps from one version to this one, in their order.
    func steps(from stored: Int) -> [Migration] {
        migrations.filter { $0.version > stored }.sorted { $0.version < $1.version }
    }

    /// What the models declare.
    func declarations() throws -> [EntityDeclaration] {
        func declaration<Record: Model>(_ model: Record.Type) throws -> EntityDeclaration {
            if let problem = Record.schema.problem { throw problem }
            return try Record.schema.declaration
        }
        return try models.map { try declaration($0) }
    }

    /// - Throws: `.invalidConfiguration` when the versions contradict each other.
    func check() throws {
        guard version > 0 else {
            throw StorageError(.invalidConfiguration, "the version of an application's data is \(version); use 1 or more")
        }
        var seen: Set<Int> = []
        for migration in migrations {
            guard (1...version).contains(migration.version) else {
                throw StorageError(
                    .invalidConfiguration,
                    "a migration leads to version \(migration.version), and the application's is \(version); use a version from 1 to that"
                )
            }
            guard seen.insert(migration.version).inserted else {
                throw StorageError(.invalidConfiguration, "two migrations lead to version \(migration.version); make one of them")
            }
        }
    }
}
