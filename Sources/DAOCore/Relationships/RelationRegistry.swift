import Synchronization

/// The relationships of a database, by the entity that they lead to. All databases on one engine instance
/// share them.
///
/// Erasing a row must find every list that may contain it. This includes lists of models that the application
/// has not opened, and lists of models that another process has just declared.
final class RelationRegistry: Sendable {
    private struct State {
        var hasRead = false
        /// The version of the catalog that the relationships were read from; nil when they must be read
        /// again.
        var version: UInt64?
        var relations: [String: Set<RelationDescription>] = [:]
    }

    /// Whether a write transaction has read the catalog. No other writer changes the catalog during the
    /// transaction. The thread that runs the transaction sets the value.
    private enum Look: UInt8, AtomicRepresentable {
        /// No transaction runs, or it did not call ``transactionDidBegin()``. Every access checks the
        /// catalog.
        case none
        /// The transaction has not checked the catalog.
        case toCome
        /// The transaction has checked the catalog, and the known relationships are current.
        case done
    }

    private let state = Mutex(State())
    private let look = Atomic(Look.none)

    init() {}

    /// Adds relationships. The first call also adds the relationships that the database has stored.
    func add(_ relations: [RelationDescription], in database: any Database) throws {
        var found = relations
        let hasRead = state.withLock { $0.hasRead }
        if !hasRead { found += try Self.stored(in: database) }
        state.withLock { state in
            state.hasRead = true
            for relation in found { state.relations[relation.target, default: []].insert(relation) }
        }
    }

    /// Returns the relationships as the running write transaction sees them, by the entity that they lead to.
    ///
    /// When the catalog has a version, the relationships are those of the catalog. They are read again when
    /// the version changed. They include the relationships that this transaction has declared.
    func relations(in database: any Database) throws -> [String: Set<RelationDescription>] {
        if look.load(ordering: .relaxed) == .done { return state.withLock { $0.relations } }
        if let version = try database.catalogVersion(), state.withLock({ $0.version != version }) {
            let relations = Dictionary(grouping: try Self.stored(in: database), by: \.target).mapValues(Set.init)
            state.withLock { ($0.version, $0.relations) = (version, relations) }
        }
        if look.load(ordering: .relaxed) == .toCome { look.store(.done, ordering: .relaxed) }
        return state.withLock { $0.relations }
    }

    /// Records that a write transaction began. The catalog is checked once during the transaction.
    func transactionDidBegin() { look.store(.toCome, ordering: .relaxed) }

    /// Records that the write transaction ended.
    func transactionDidEnd() { look.store(.none, ordering: .relaxed) }

    /// Records that writes were rolled back. The last version can later belong to a different catalog.
    func didUndo() {
        state.withLock { $0.version = nil }
        if look.load(ordering: .relaxed) == .done { look.store(.toCome, ordering: .relaxed) }
    }

    /// Returns whether a known relationship leads to an entity.
    func hasRelations(to entity: String) -> Bool { state.withLock { $0.relations[entity] != nil } }

    private static func stored(in database: any Database) throws -> [RelationDescription] {
        let entities = try database.entities()
        return entities.flatMap { $0.relations(among: entities) }
    }
}
