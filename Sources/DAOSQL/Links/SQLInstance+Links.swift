import DAOCore

/// The table of a relationship's links, after it was found or created.
struct KnownLinks: Sendable {
    /// The statements of the table.
    let links: SQLLinks
    /// The number of the table within the instance, by which sessions find its prepared statements.
    let number: Int
}

extension SQLInstance {
    /// Returns the links of a relationship. They are known, or found in the database, adopted or created.
    /// Where nothing can be written, a missing table has no links.
    ///
    /// - Parameters:
    ///   - relation: The relationship.
    ///   - settings: The settings of the transaction that creates the table; nil when nothing may be written.
    /// - Throws: `.schemaMismatch` when the table has a different form.
    func links(for relation: RelationDescription, _ settings: SQLWriteSettings?) throws -> KnownLinks {
        if let known = links.withLock({ $0[relation] }) { return known }
        let made = SQLLinks(relation, dialect: dialect)
        // The column of a to-one relationship belongs to the table of the parents.
        if made.isInRows { return known(made) }
        let (isReady, canMake) = try consistently { session in
            (try StoredLinks(made, session).isReady, session.isWriter || !coordinator.isInside)
        }
        if !isReady, canMake, let settings { try make(made, settings) }
        return known(made)
    }

    private func known(_ made: SQLLinks) -> KnownLinks {
        links.withLock { links in
            if let known = links[made.relation] { return known }
            let known = KnownLinks(links: made, number: numbers.add(1, ordering: .relaxed).oldValue)
            links[made.relation] = known
            return known
        }
    }

    /// Creates a missing table of links, for the first time or because the transaction that created it was
    /// rolled back.
    func make(_ made: SQLLinks, _ settings: SQLWriteSettings) throws {
        try coordinator.write(.call) { session in
            let connection = session.connection
            try begin(session, settings, changesTables: true)
            let stored = try StoredLinks(made, session)
            if !stored.hasTable { try connection.execute(made.createTable) }
            if !stored.hasIndex { try connection.execute(made.createIndex(named: connection.freeName(made.indexName, dialect))) }
        }
    }
}

/// A table of links as it is in the database, created by the suite or by another tool.
struct StoredLinks {
    private(set) var hasTable = false
    /// Whether an index finds children.
    private(set) var hasIndex = false

    var isReady: Bool { hasTable && hasIndex }

    /// Looks up the table.
    ///
    /// - Throws: `.schemaMismatch` when the table has a different form.
    init(_ links: SQLLinks, _ session: SQLSession) throws {
        guard let stored = try session.connection.storedTable(links.name) else { return }
        hasTable = true
        let names = ["parent", "position", "child"]
        let isSame =
            stored.columns.map(\.name) == names && stored.columns.map(\.keyPosition) == [1, 2, 0]
            && zip(stored.columns, links.columnTypes).allSatisfy { $0.type == links.table.dialect.storedType($1) }
        guard isSame else {
            let wanted = zip(names, links.columnTypes).map { "\($0) \($1)" }.joined(separator: ", ")
            throw StorageError(
                .schemaMismatch,
                "the table '\(links.name)' does not hold links; it needs the columns \(wanted) and the primary key (parent, position)",
                entity: links.relation.entity, field: links.relation.field, path: session.path)
        }
        hasIndex = stored.indexes.contains { !$0.isPartial && $0.columns.first?.name == "child" }
    }
}
