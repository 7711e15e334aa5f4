import Synchronization

/// The relationships of a database, by the entity they lead to. All databases on one engine instance have the same.
///
/// Erasing a row has to find every list it may stand in, those of models that this run of the application has not opened included, and those that
/// another process has declared a moment ago.
final class RelationRegistry: Sendable {
    private struct State {
        var hasRead = false
        /// The version of the catalog that the relationships were read from; nil when they are to be read again.
        var version: UInt64?
        var relations: [String: Set<RelationDescription>] = [:]
    }

    /// How far a write transaction is with the catalog, in which nobody else changes it. Set by the thread that runs the transaction.
    private enum Look: UInt8, AtomicRepresentable {
        /// There is no transaction, or none that says so: every look is a new one.
        case none
        /// It has not looked.
        case toCome
        /// What is known is what it has seen.
        case done
    }

    private let state = Mutex(State())
    private let look = Atomic(Look.none)

    init() {}

    /// Adds relationships, and the first time those that the database says it has.
    func add(_ relations: [RelationDescription], in database: any Database) throws {
        var found = relations
        let hasRead = state.withLock { $0.hasRead }
        if !hasRead { found += try Self.stored(in: database) }
        state.withLock { state in
            state.hasRead = true
            for relation in found { state.relations[relation.target, default: []].insert(relation) }
        }
    }

    /// The relationships as the running write transaction sees them, by the entity they lead to.
    ///
    /// Where the catalog has a version, they are what the catalog says, and are read when it has another one than the last time. What this
    /// transaction has declared since is there too.
    func relations(in database: any Database) throws -> [String: Set<RelationDescription>] {
        if look.load(ordering: .relaxed) == .done { return state.withLock { $0.relations } }
        if let version = try database.catalogVersion(), state.withLock({ $0.version != version }) {
            let relations = Dictionary(grouping: try Self.stored(in: database), by: \.target).mapValues(Set.init)
            state.withLock { ($0.version, $0.relations) = (version, relations) }
        }
        if look.load(ordering: .relaxed) == .toCome { look.store(.done, ordering: .relaxed) }
        return state.withLock { $0.relations }
    }

    /// Says that a write transaction has begun: until it ends, one look at the catalog is enough.
    func transactionDidBegin() { look.store(.toCome, ordering: .relaxed) }

    /// Says that it has ended.
    func transactionDidEnd() { look.store(.none, ordering: .relaxed) }

    /// Says that writes were undone: the version that was seen last may come to stand for another catalog.
    func didUndo() {
        state.withLock { $0.version = nil }
        if look.load(ordering: .relaxed) == .done { look.store(.toCome, ordering: .relaxed) }
    }

    /// Whether any relationship is known that leads to an entity.
    func hasRelations(to entity: String) -> Bool { state.withLock { $0.relations[entity] != nil } }

    private static func stored(in database: any Database) throws -> [RelationDescription] {
        let entities = try database.entities()
        return entities.flatMap { $0.relations(among: entities) }
    }
}
