/// One step of the way from an earlier version of an application's data to a later one, written once for every database.
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
/// A step does not use the application's models, which are those of the newest version and not of the one it leads to. What is added,
/// dropped or renamed by declaration alone needs no step.
public struct Migration: Sendable {
    /// The version it leads to.
    public let version: Int
    /// What it does, for people.
    public let name: String
    private let body: @Sendable (MigrationStep) throws -> Void

    /// Describes a step.
    ///
    /// - Parameters:
    ///   - version: The version it leads to, from the one before; 1 or more.
    ///   - name: What it does, for people.
    ///   - body: Changes entities and rows. It runs inside the one transaction of the whole migration, and touches nothing else that it could not
    ///     do again: after a failure it runs anew.
    public init(to version: Int, _ name: String = "", perform body: @escaping @Sendable (MigrationStep) throws -> Void) {
        self.version = version
        self.name = name.isEmpty ? "to version \(version)" : name
        self.body = body
    }

    /// Runs the step.
    func run(in store: any EntityStore, _ report: @escaping (EvolutionProgress) -> Void) throws {
        try body(MigrationStep(store, name: name, report))
    }
}

/// How far a migration is.
public struct EvolutionProgress: Sendable, Equatable {
    /// What is being done: the name of a migration step, or of an automatic change.
    public var step: String
    /// The entity whose rows are being written.
    public var entity: String
    /// How many of its rows are done.
    public var rows: Int
    /// How many rows it has.
    public var total: Int

    /// Describes progress.
    public init(step: String, entity: String, rows: Int, total: Int) {
        self.step = step
        self.entity = entity
        self.rows = rows
        self.total = total
    }
}
