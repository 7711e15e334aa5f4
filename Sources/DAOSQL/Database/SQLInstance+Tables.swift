import DAOCore
import Synchronization

/// A table that was found or created, for one model.
final class KnownTable: Sendable {
    /// The statements of the table.
    let table: SQLTable
    /// The number of the table within the instance, by which sessions find its prepared statements.
    let number: Int
    /// The description in the catalog.
    let stored: EntityDescription
    /// What the model declares.
    let declaration: EntityDeclaration
    /// Whether the stored entity is as the model declares it.
    let isUpToDate: Bool
    /// Whether the stored entity has changed since.
    private let outdated = Atomic(false)
    /// The paths between which the suite chooses, once they were looked up.
    private let paths = Mutex<[SearchPath]?>(nil)

    init(_ table: SQLTable, number: Int, _ stored: EntityDescription, _ declaration: EntityDeclaration) {
        (self.table, self.number, self.stored, self.declaration) = (table, number, stored, declaration)
        isUpToDate = EntityChange(from: stored, to: declaration).isEmpty
    }

    var isOutdated: Bool { outdated.load(ordering: .relaxed) }
    func becomeOutdated() { outdated.store(true, ordering: .relaxed) }

    /// What is kept for the shapes of recent queries.
    let plans = QueryPlans()

    /// Whether the table once had more rows than conditions on related rows ask for.
    let isLarge = Atomic(false)

    /// Returns the paths that the conditions of a query restrict.
    func narrowPaths(_ shaped: ShapedQuery, _ session: SQLSession) throws -> [QueryPath] {
        try shaped.plan.narrowPaths.value {
            let conjuncts = shaped.query.filter.conjuncts
            return try searchPaths(session).filter { $0.serves(shaped.query.filter) }
                .map { QueryPath($0, shaped.query, conjuncts) }
                .filter { !$0.restricting.isEmpty || $0.condition != .all }
        }
    }

    /// Lets the engine choose the paths, because an index is gone.
    func leavePlanning() {
        paths.withLock { $0 = [] }
        plans.removeAll()
    }

    /// The paths between which the suite chooses; none when the engine does.
    func searchPaths(_ session: SQLSession) throws -> [SearchPath] {
        if let paths = paths.withLock({ $0 }) { return paths }
        // Of paths that do the same for a query, the first is used: that with the fewest columns.
        let found = try session.connection.searchPaths(of: table).sorted { $0.columns.count < $1.columns.count }
            .map { SearchPath($0, of: table) }.filter { !$0.columns.isEmpty }
        paths.withLock { $0 = found }
        return found
    }
}

extension SQLInstance {
    /// Returns the table of a model. It is known, or found in the database, changed as the model declares it,
    /// adopted or created.
    ///
    /// - Parameters:
    ///   - declaration: The declaration of the model.
    ///   - settings: The settings of the transaction that creates it; nil when nothing may be written.
    /// - Throws: `.schemaMismatch` when the stored entity differs and needs a migration step; `.readOnly`
    ///   when it is missing or of an earlier version and nothing can be written.
    func table(for declaration: EntityDeclaration, _ settings: SQLWriteSettings?) throws -> KnownTable {
        let declared = declaration.description
        if let known = known(declaration), known.isUpToDate { return known }
        if let stored = try coordinator.read({ try schema($0).entity(named: declared.name) }) {
            let change = EntityChange(from: stored, to: declaration)
            guard change.obstacles.isEmpty else { throw change.mismatch(path: path) }
            if !change.isEmpty, !(change.canWait && (settings == nil || coordinator.isInside)) {
                try bringUpToDate(change, declaration, settings)
            }
        } else {
            try make(declaration, settings)
        }
        do {
            return try coordinator.read { try table(for: declaration, in: $0) }
        } catch let missing as SQLMissingTable {
            throw missing.underlying
        }
    }

    /// The table of a model, as a session sees the stored entity.
    ///
    /// - Throws: `.schemaMismatch` when the model cannot use the entity as it is stored.
    func table(for declaration: EntityDeclaration, in session: SQLSession) throws -> KnownTable {
        let declared = declaration.description
        if let known = known(declaration) { return known }
        // The changes of a write transaction can be rolled back. It has compared the version at its beginning.
        if !session.hasCheckedCatalog, tables.withLock({ $0.isEmpty }) {
            catalogVersion.store(try session.connection.schemaVersion(), ordering: .releasing)
        }
        guard let stored = try schema(session).description(of: declared.name) else {
            throw SQLMissingTable(.noEntity(declared.name, path: path))
        }
        guard let layout = RowLayout(of: stored, for: declaration) else { throw outdated(declared.name) }
        return tables.withLock { tables in
            // Another thread may have been first. A number always belongs to the same version of the same
            // entity.
            let others = tables[declared.name] ?? []
            if let known = others.first(where: { $0.declaration == declaration && $0.stored == stored }) { return known }
            let known = KnownTable(
                SQLTable(layout, dialect: dialect), number: numbers.add(1, ordering: .relaxed).oldValue, stored, declaration)
            for other in others where other.stored != stored { other.becomeOutdated() }
            tables[declared.name] = others.filter { $0.stored == stored } + [known]
            return known
        }
    }

    private func known(_ declaration: EntityDeclaration) -> KnownTable? {
        tables.withLock { $0[declaration.description.name]?.first { $0.declaration == declaration } }
    }

    /// Forgets the tables of entities that have changed. Storages with these tables notice it at their next
    /// call.
    func forget(_ names: Set<String>) {
        tables.withLock { tables in
            for name in names { tables.removeValue(forKey: name)?.forEach { $0.becomeOutdated() } }
        }
    }

    /// Lets the engine choose the paths to the rows of an entity, because an index is gone.
    func leavePlanning(of name: String) { tables.withLock { $0[name]?.forEach { $0.leavePlanning() } } }

    /// Forgets what is known of entities that another process has changed, at the beginning of a write
    /// transaction. A row that is stored without a column that the process has added would lack its default.
    func checkCatalog(_ session: SQLSession) throws {
        if session.hasCheckedCatalog { return }
        let version = try session.connection.schemaVersion()
        if catalogVersion.load(ordering: .acquiring) != version {
            let names = tables.withLock { Set($0.keys) }
            for name in names {
                // A table that is gone is made again.
                guard let stored = try schema(session).description(of: name) else { continue }
                if tables.withLock({ $0[name]?.contains { $0.stored != stored } }) == true { forget([name]) }
            }
            catalogVersion.store(version, ordering: .releasing)
        }
        session.hasCheckedCatalog = true
    }

    /// Creates a missing table, for the first time or because the transaction that created it was rolled
    /// back.
    func make(_ declaration: EntityDeclaration, _ settings: SQLWriteSettings?) throws {
        let declared = declaration.whole
        if try coordinator.read({ try schema($0).entity(named: declared.name) }) != nil { return }
        guard let settings else {
            throw StorageError.readOnly(path)
        }
        try coordinator.write(.call) { session in
            try begin(session, settings, changesTables: true)
            let schema = schema(session)
            if try schema.entity(named: declared.name) == nil { try schema.create(SQLTable(declared, dialect: dialect)) }
        }
    }

    /// Changes a stored entity as a model declares it, in one transaction.
    private func bringUpToDate(
        _ change: EntityChange, _ declaration: EntityDeclaration, _ settings: SQLWriteSettings?
    ) throws {
        let name = declaration.description.name
        guard let settings else { throw change.readOnly(path: path) }
        if coordinator.isInside { throw change.insideTransaction(path: path) }
        try coordinator.write(.call, touching: name) { session in
            try begin(session, settings, changesTables: true)
            let schema = schema(session)
            // Another process may have changed it since.
            guard let stored = try schema.entity(named: name) else {
                return try schema.create(SQLTable(declaration.whole, dialect: dialect))
            }
            try SQLEntityStore(schema) { _ in }.apply(EntityChange(from: stored, to: declaration), path: path)
        }
        forget([name])
    }

    /// Reads the entities in the catalog.
    func entities() throws -> [EntityDescription] {
        try coordinator.read { try schema($0).entities() }
    }

    /// Returns the catalog and the tables as a session sees them.
    func schema(_ session: SQLSession) -> StoredSchema { StoredSchema(session: session, dialect: dialect, catalog: catalog) }

    /// Returns the error of a storage whose entity was changed after it was opened.
    func outdated(_ entity: String) -> StorageError { .outdated(entity, path: path) }
}
