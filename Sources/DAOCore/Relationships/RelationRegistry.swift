/// The relationships of a database. All databases on one engine instance share them.
///
/// Erasing a row must find every list that may contain it, and every list that it has. This includes lists of
/// models that the application has not opened, and lists of models that another process, a migration or a copy has
/// just brought. So they are those of the catalog, as the running transaction sees it (contract E9).
final class RelationRegistry: Sendable {
    private struct State {
        /// The version of the catalog that the relationships were read from; nil when they must be read
        /// again.
        var version: UInt64?
        var relations = KnownRelations()
        /// The entities whose log and index for searches are known to be there, in this catalog.
        var prepared: Set<String> = []
    }

    /// Whether a write transaction has read the catalog. No other writer changes the catalog during the
    /// transaction. The thread that runs the transaction sets the value.
    private enum Look: UInt8, AtomicRepresentable {
        /// No transaction runs, or it did not call ``transactionDidBegin()``. Every access checks the
        /// catalog.
        case none
        /// The transaction has not checked the catalog since it may have changed.
        case toCome
        /// The transaction has checked the catalog, and the known relationships are current.
        case done
    }

    private let state = Lock(State())
    private let look = Atomic(Look.none)

    init() {}

    /// Returns the relationships as the running write transaction sees them.
    func relations(in database: any Database) throws -> KnownRelations {
        if look.load(ordering: .relaxed) == .done { return state.withLock { $0.relations } }
        let version = try database.catalogVersion()
        let known = state.withLock { $0.version == version ? $0.relations : nil }
        let relations = try known ?? Self.stored(in: database)
        if known == nil { state.withLock { $0 = State(version: version, relations: relations) } }
        // Another writer may replace them at once, where writers run side by side.
        if look.load(ordering: .relaxed) == .toCome { look.store(.done, ordering: .relaxed) }
        return relations
    }

    /// Records that a write transaction began. The catalog is checked once during the transaction.
    func transactionDidBegin() { look.store(.toCome, ordering: .relaxed) }

    /// Records that the write transaction ended.
    func transactionDidEnd() { look.store(.none, ordering: .relaxed) }

    /// Records that storages were made, which may have changed the catalog in the running transaction.
    func didMakeStorages() { checkAgain() }

    /// Runs a closure that makes the log and the index for searches of an entity, unless it has ended for this catalog.
    func prepare(_ entity: String, _ body: () throws -> Void) rethrows {
        if state.withLock({ $0.prepared.contains(entity) }) { return }
        try body()
        state.withLock { _ = $0.prepared.insert(entity) }
    }

    /// Records that an index for searches is no longer there.
    func willPrepareAgain() { state.withLock { $0.prepared = [] } }

    /// Records that writes were rolled back. The last version can later belong to a different catalog.
    func didUndo() {
        state.withLock { ($0.version, $0.prepared) = (nil, []) }
        checkAgain()
    }

    private func checkAgain() {
        if look.load(ordering: .relaxed) == .done { look.store(.toCome, ordering: .relaxed) }
    }

    private static func stored(in database: any Database) throws -> KnownRelations {
        KnownRelations(of: try database.entities())
    }
}
