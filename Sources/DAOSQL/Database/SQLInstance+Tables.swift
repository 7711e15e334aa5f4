import DAOCore

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
    /// Whether a row can have to wait for the end of its call.
    let hasUniqueIndexes: Bool
    /// Whether the stored entity has changed since, or is that of an earlier snapshot.
    private let outdated = Atomic(false)
    /// The version of the catalog that has the entity as it is described here (contract E9).
    let version: Atomic<UInt64>
    /// The paths between which the suite chooses, once they were looked up.
    private let paths = Lock<[SearchPath]?>(nil)

    init(
        _ table: SQLTable, number: Int, _ stored: EntityDescription, _ declaration: EntityDeclaration, version: UInt64
    ) {
        (self.table, self.number, self.stored, self.declaration) = (table, number, stored, declaration)
        self.version = Atomic(version)
        isUpToDate = EntityChange(from: stored, to: declaration).isEmpty
        hasUniqueIndexes = !stored.uniqueIndexes.isEmpty
    }

    var isOutdated: Bool { outdated.load(ordering: .relaxed) }
    func becomeOutdated() { outdated.store(true, ordering: .relaxed) }

    /// Whether a session that reads in a snapshot sees the entity as it is described here, as far as known.
    @inline(__always) func isKnown(at snapshotVersion: UInt64?) -> Bool {
        guard let snapshotVersion else { return !isOutdated }
        return version.load(ordering: .relaxed) == snapshotVersion
    }

    /// What is kept for the shapes of recent queries.
    let plans = QueryPlans()

    /// Whether the table once had more rows than conditions on related rows ask for.
    let isLarge = Atomic(false)

    /// Whether the table has more rows than a number.
    func hasRows(after count: Int, _ session: SQLSession) throws -> Bool {
        try session.hasRow(table.entries(after: count), entity: table.entity.name)
    }

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
        // Another build may change the entity between any two of these steps.
        func attempt() throws -> KnownTable? {
            let found: (stored: EntityDescription, table: KnownTable?)? = try consistently { session in
                if let known = known(declaration, session), known.isUpToDate { return (known.stored, known) }
                guard let stored = try schema(session).entity(named: declaration.description.name) else { return nil }
                let change = EntityChange(from: stored, to: declaration)
                guard change.obstacles.isEmpty else { throw change.mismatch(path: path) }
                let canUse = change.isEmpty || change.canWait && (settings == nil || coordinator.isInside)
                return (stored, canUse ? try table(for: declaration, in: session) : nil)
            }
            if let table = found?.table { return table }
            if let found {
                try bringUpToDate(EntityChange(from: found.stored, to: declaration), declaration, settings)
            } else if try settings != nil || !lend(declaration.whole) {
                try make(declaration, settings)
            }
            // Another process can have made it, as it declares it.
            return nil
        }
        return try SQLMissingTable.repeating {
            for _ in 0..<8 { if let table = try attempt() { return table } }
            throw outdated(declaration.description.name)
        }
    }

    /// Reads the catalog and what the engine knows of the tables from one commit.
    func consistently<Result>(_ body: (SQLSession) throws -> Result) throws -> Result {
        try coordinator.read { session in
            try session.beginReading()
            return try body(session)
        }
    }

    /// The table of a model, as a session sees the stored entity.
    ///
    /// - Throws: `.schemaMismatch` when the model cannot use the entity as it is stored.
    func table(for declaration: EntityDeclaration, in session: SQLSession) throws -> KnownTable {
        let declared = declaration.description
        if let known = known(declaration, session) { return known }
        var version = session.connection.snapshotVersion
        let isEarlier = version.map { $0 < catalogVersion.load(ordering: .acquiring) } ?? false
        if let version, !isEarlier {
            try compare(version, session)
            if let known = known(declaration, session) { return known }
        }
        if version == nil {
            // The changes of a write transaction can be rolled back. It has compared the version at its beginning.
            version = session.isWriter ? catalogVersion.load(ordering: .acquiring) : try session.connection.schemaVersion()
            if !session.hasCheckedCatalog, let version, tables.withLock({ $0.isEmpty }) {
                catalogVersion.store(version, ordering: .releasing)
            }
        }
        guard let stored = try schema(session).description(of: declared.name) else {
            throw SQLMissingTable(.noEntity(declared.name, path: path))
        }
        guard let layout = RowLayout(of: stored, for: declaration) else { throw outdated(declared.name) }
        let otherOrder = try session.connection.columnsNotComparedByBytes(in: stored.name, stored)
        return tables.withLock { tables in
            // Another thread may have been first. A number always belongs to the same version of the same
            // entity.
            let others = tables[declared.name] ?? []
            if let known = others.first(where: { $0.declaration == declaration && $0.stored == stored }) { return known }
            let known = KnownTable(
                SQLTable(layout, otherOrder: otherOrder, dialect: dialect), number: numbers.add(1, ordering: .relaxed).oldValue,
                stored, declaration,
                version: version ?? .max)
            // A snapshot that is older than the known tables has its own.
            if isEarlier {
                known.becomeOutdated()
                return known
            }
            for other in others where other.stored != stored { other.becomeOutdated() }
            tables[declared.name] = others.filter { $0.stored == stored } + [known]
            return known
        }
    }

    private func known(_ declaration: EntityDeclaration, _ session: SQLSession) -> KnownTable? {
        let version = session.connection.snapshotVersion
        return known(declaration).flatMap { $0.isKnown(at: version) ? $0 : nil }
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

    /// Forgets all tables, because a transaction that made or changed some of them was undone.
    func forgetTables() { forget(Set(tables.withLock { Array($0.keys) })) }

    /// Lets the engine choose the paths to the rows of an entity, because an index is gone.
    func leavePlanning(of name: String) { tables.withLock { $0[name]?.forEach { $0.leavePlanning() } } }

    /// Forgets what is known of entities that another process has changed, at the beginning of a write
    /// transaction. A row that is stored without a column that the process has added would lack its default.
    func checkCatalog(_ session: SQLSession) throws {
        if session.hasCheckedCatalog { return }
        let version = try session.connection.schemaVersion()
        if catalogVersion.load(ordering: .acquiring) != version { try compare(version, session) }
        session.hasCheckedCatalog = true
    }

    /// Compares the known tables with the catalog, and forgets those whose entities have changed or are gone.
    ///
    /// - Parameters:
    ///   - version: The version of the catalog, or an earlier one.
    ///   - session: Reads the catalog.
    /// - Returns: Whether all entities are as they were.
    @discardableResult private func compare(_ version: UInt64, _ session: SQLSession) throws -> Bool {
        var changed: Set<String> = []
        for (name, tables) in tables.withLock({ $0 }) {
            let stored = try schema(session).description(of: name)
            if tables.allSatisfy({ $0.stored == stored }) {
                for table in tables { table.version.store(version, ordering: .releasing) }
            } else {
                changed.insert(name)
            }
        }
        forget(changed)
        catalogVersion.store(version, ordering: .releasing)
        return changed.isEmpty
    }

    /// Checks that a read, which used a table, has seen the entity as the table describes it, although it saw another version of
    /// the catalog (``SQLSession/hasRead(_:)``).
    ///
    /// - Parameters:
    ///   - known: The table.
    ///   - session: The session that has read.
    /// - Throws: ``SQLMissingTable`` when the read has to be repeated.
    @inline(never) func compareAfterRead(_ known: KnownTable, _ session: SQLSession) throws {
        let isSame = try compare(session.connection.schemaVersion(), session)
        if !isSame || known.isOutdated { throw SQLMissingTable(outdated(known.declaration.description.name), isColumn: true) }
    }

    /// Creates a missing table, for the first time or because the transaction that created it was rolled
    /// back.
    func make(_ declaration: EntityDeclaration, _ settings: SQLWriteSettings?) throws {
        let declared = declaration.whole
        if try consistently({ try schema($0).entity(named: declared.name) }) != nil { return }
        guard let settings else {
            throw readOnly
        }
        try coordinator.write(.call, touching: declared.name) { session in
            try begin(session, settings, changesTables: true)
            let schema = schema(session)
            if try schema.entity(named: declared.name) != nil { return }
            if !declared.isOwn { try EntityDescription.checkPlace(of: schema.entities(), path: path) }
            try schema.create(SQLTable(declared, dialect: dialect))
        }
    }

    /// Lets a model read the table of another program in a file that cannot be written, without a catalog.
    ///
    /// - Returns: False when there is no such table.
    /// - Throws: `.schemaMismatch` when it could not be adopted either.
    private func lend(_ entity: EntityDescription) throws -> Bool {
        let exists = try consistently { session in
            guard let found = try session.connection.table(of: entity.name, dialect) else { return false }
            try schema(session).checkAdoption(of: found, SQLTable(entity, dialect: dialect))
            return true
        }
        if exists { lent.withLock { $0[entity.name] = entity } }
        return exists
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
        try SQLMissingTable.repeating { try consistently { try schema($0).entities() } }
    }

    /// Returns the catalog and the tables as a session sees them.
    func schema(_ session: SQLSession) -> StoredSchema {
        StoredSchema(session: session, dialect: dialect, catalog: catalog, lent: lent.withLock { $0 })
    }

    /// Returns the error of a storage whose entity was changed after it was opened.
    func outdated(_ entity: String) -> StorageError { .outdated(entity, path: path) }
}
