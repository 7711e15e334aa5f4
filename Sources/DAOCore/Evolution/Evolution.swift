/// The version of an application's data, and the migration of a database to it.
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
/// The steps of the versions after the database's version run in order. Then the stored entities are changed
/// to the declarations of the models, and the version is set. All of this is one transaction. An error, or
/// the end of the process, leaves the database unchanged.
///
/// A database without a version has version 0. A database without entities gets the version, and no step
/// runs.
public struct Evolution: Sendable {
    /// The version of the application's data, at least 1.
    public var version: Int
    /// The steps, in any order. A version can have no step.
    public var migrations: [Migration]
    /// Models whose entities are changed to their declarations in the same transaction. The entities of other
    /// models are changed when their storage is first requested.
    public var models: [any Model.Type]

    /// Creates an evolution.
    ///
    /// - Parameters:
    ///   - version: The version of the application's data, at least 1.
    ///   - migrations: The steps, in any order.
    ///   - models: Models whose entities are changed to their declarations in the same transaction.
    public init(version: Int, migrations: [Migration] = [], models: [any Model.Type] = []) {
        self.version = version
        self.migrations = migrations
        self.models = models
    }

    /// Returns the steps from a version to this version, in order.
    func steps(from stored: Int) -> [Migration] {
        migrations.filter { $0.version > stored }.sorted { $0.version < $1.version }
    }

    /// Returns the declarations of the models.
    func declarations() throws -> [EntityDeclaration] {
        func declaration<Record: Model>(_ model: Record.Type) throws -> EntityDeclaration {
            if let problem = Record.schema.problem { throw problem }
            if let whole = Record.schema.whole { return try declaration(whole) }
            return Record.schema.declaration
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
