import Synchronization

/// The relationships of a database, by the entity they lead to. All databases on one engine instance have the same.
///
/// Erasing a row has to find every list it may stand in, those of models that this run of the application has not opened included.
final class RelationRegistry: Sendable {
    private struct State {
        var hasRead = false
        var relations: [String: Set<RelationDescription>] = [:]
    }

    private let state = Mutex(State())

    init() {}

    /// Adds relationships, and the first time those that the database says it has.
    func add(_ relations: [RelationDescription], in database: any Database) throws {
        var found = relations
        let hasRead = state.withLock { $0.hasRead }
        if !hasRead {
            let entities = try database.entities()
            found += entities.flatMap { $0.relations(among: entities) }
        }
        state.withLock { state in
            state.hasRead = true
            for relation in found { state.relations[relation.target, default: []].insert(relation) }
        }
    }

    /// The relationships that lead to an entity.
    func relations(to entity: String) -> Set<RelationDescription> { state.withLock { $0.relations[entity] ?? [] } }

    /// Whether any relationship leads to an entity.
    func hasRelations(to entity: String) -> Bool { state.withLock { $0.relations[entity] != nil } }
}
