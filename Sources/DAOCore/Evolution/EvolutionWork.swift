/// The work to migrate a database to a version, as far as it is known before the steps run.
struct EvolutionWork {
    /// The version of the database; nil when no version was set.
    let stored: Int?

    private let evolution: Evolution
    private let declarations: [EntityDeclaration]
    private let entities: [EntityDescription]
    private let steps: [Migration]
    private let changes: [EntityChange]
    private let path: String

    /// Determines the work for a database.
    ///
    /// - Throws: `.schemaIsNewer` when the database has a later version.
    init(_ evolution: Evolution, _ declarations: [EntityDeclaration], _ store: any EntityStore, path: String) throws {
        let stored = try store.version()
        let entities = try store.entities()
        if let stored, stored > evolution.version {
            throw StorageError(
                .schemaIsNewer,
                "the database was written by version \(stored) of the application, and this is version \(evolution.version); update the "
                    + "application. Nothing was changed", path: path)
        }
        self.evolution = evolution
        self.declarations = declarations
        self.stored = stored
        self.entities = entities
        self.path = path
        steps = stored == nil && entities.isEmpty ? [] : evolution.steps(from: stored ?? 0)
        changes = Self.changes(declarations, entities)
    }

    /// Whether nothing is to be done.
    var isNothing: Bool { stored == evolution.version && changes.isEmpty }

    private static func changes(_ declarations: [EntityDeclaration], _ entities: [EntityDescription]) -> [EntityChange] {
        declarations.compactMap { declaration in
            guard let entity = entities.first(where: { $0.name.hasSameBytes(as: declaration.description.name) }) else {
                return nil
            }
            let change = EntityChange(from: entity, to: declaration)
            return change.isEmpty ? nil : change
        }
    }

    /// Does the work.
    ///
    /// - Returns: The names of the entities that it has changed.
    func run(
        _ store: any EntityStore, of database: any Database, _ report: @escaping (EvolutionProgress) -> Void
    ) throws -> [String] {
        try EntityDescription.checkPlace(of: store.entities(), path: path)
        for step in steps { try step.run(in: store, of: database, report) }
        // Steps write rows of any entity past the indexes for searches.
        if !steps.isEmpty { try TextIndexes.forget(store.entities(), in: store, of: database) }
        for change in Self.changes(declarations, try store.entities()) {
            let total = try store.count(change.wanted.name)
            try store.apply(change, path: path)
            report(
                EvolutionProgress(
                    step: change.steps.joined(separator: "; "), entity: change.wanted.name, rows: total, total: total))
        }
        if stored != evolution.version { try store.setVersion(evolution.version) }
        return Set(entities).symmetricDifference(try store.entities()).map(\.name)
    }

    /// Returns the plan of the work.
    func plan(_ store: any EntityStore) throws -> MigrationPlan {
        var rows: [String: Int] = [:]
        for entity in entities { rows[entity.name] = try store.count(entity.name) }
        return MigrationPlan(
            from: stored ?? 0, to: evolution.version, steps: steps.map(\.name),
            automaticChanges: changes.map {
                MigrationPlan.AutomaticChange(
                    entity: $0.wanted.name, changes: $0.steps, obstacles: $0.obstacles, rows: rows[$0.stored.name] ?? 0)
            }, rows: rows)
    }
}
