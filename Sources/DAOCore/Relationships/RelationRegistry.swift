import Synchronization

/// The relationships of a database. All databases on one engine instance share them.
///
/// Erasing a row must find every list that may contain it, and every list that it has. This includes lists of
/// models that the application has not opened, and lists of models that another process has just declared.
final class RelationRegistry: Sendable {
    private struct State {
        var hasRead = false
        /// The version of the catalog that the relationships were read from; nil when they must be read
        /// again.
        var version: UInt64?
        var relations = KnownRelations()
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

    /// Adds relationships. The first call, and a call with an unknown relationship, also add the relationships
    /// that the database has stored.
    func add(_ relations: [RelationDescription], in database: any Database) throws {
        let isKnown = state.withLock { state in state.hasRead && relations.allSatisfy(state.relations.contains) }
        if isKnown { return }
        let stored = try Self.stored(in: database)
        state.withLock { state in
            state.hasRead = true
            state.relations = KnownRelations(state.relations.all + relations + stored)
        }
    }

    /// Returns the relationships as the running write transaction sees them.
    ///
    /// When the catalog has a version, the relationships are those of the catalog. They are read again when
    /// the version changed. They include the relationships that this transaction has declared.
    func relations(in database: any Database) throws -> KnownRelations {
        if look.load(ordering: .relaxed) == .done { return state.withLock { $0.relations } }
        if let version = try database.catalogVersion(), state.withLock({ $0.version != version }) {
            let relations = KnownRelations(try Self.stored(in: database))
            state.withLock { ($0.version, $0.relations) = (version, relations) }
            // Another writer may replace them at once.
            if look.load(ordering: .relaxed) == .none { return relations }
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

    /// Returns whether a known relationship begins at an entity or leads to it.
    func touches(_ entity: String) -> Bool { state.withLock { $0.relations.touches(entity) } }

    private static func stored(in database: any Database) throws -> [RelationDescription] {
        let entities = try database.entities()
        return entities.flatMap { $0.relations(among: entities) }
    }
}
