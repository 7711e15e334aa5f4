import DAOCore
import Synchronization

/// The table of a relationship's links that was found or made.
struct KnownLinks: Sendable {
    /// The statements about it.
    let links: SQLLinks
    /// Its small number in its instance, by which sessions keep its statements.
    let number: Int
}

extension SQLInstance {
    /// The links of a relationship: known, found in the database, adopted, or made. Where nothing can be
    /// written, a missing table has no links.
    ///
    /// - Parameters:
    ///   - relation: The relationship.
    ///   - settings: For the transaction that makes the table; nil when nothing may be written.
    /// - Throws: `.schemaMismatch` when there is a table of another form.
    func links(for relation: RelationDescription, _ settings: SQLWriteSettings?) throws -> KnownLinks {
        if let known = links.withLock({ $0[relation] }) { return known }
        let made = SQLLinks(relation, dialect: dialect)
        let (isReady, canMake) = try coordinator.read { session in
            (try StoredLinks(made, session).isReady, session.isWriter || !coordinator.isInside)
        }
        if !isReady, canMake, let settings { try make(made, settings) }
        return links.withLock { links in
            if let known = links[relation] { return known }
            let known = KnownLinks(links: made, number: numbers.add(1, ordering: .relaxed).oldValue)
            links[relation] = known
            return known
        }
    }

    /// Makes a table of links that is not there, be it for the first time, or because the transaction that
    /// made it was rolled back.
    func make(_ made: SQLLinks, _ settings: SQLWriteSettings) throws {
        try coordinator.write(.call) { session in
            let connection = session.connection
            try begin(session, settings)
            let stored = try StoredLinks(made, session)
            if !stored.hasTable { try connection.execute(made.createTable) }
            if !stored.hasIndex { try connection.execute(made.createIndex(named: connection.freeName(made.indexName))) }
        }
    }
}

/// What the database has of a table of links, whoever made it.
private struct StoredLinks {
    private(set) var hasTable = false
    /// Whether children are found through an index.
    private(set) var hasIndex = false

    var isReady: Bool { hasTable && hasIndex }

    /// Looks for the table.
    ///
    /// - Throws: `.schemaMismatch` when it has another form.
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
        hasIndex = stored.indexes.contains { !$0.isPartial && $0.columns.first == "child" }
    }
}
