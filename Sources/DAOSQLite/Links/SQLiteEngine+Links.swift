import DAOCore
import DAOSQL
import DAOSystemSQLite

extension SQLiteEngine {
    /// The links of a relationship: known, found in the file, adopted, or made. Where nothing can be written, a missing table has no links.
    ///
    /// - Parameters:
    ///   - relation: The relationship.
    ///   - settings: For the transaction that makes the table; nil when nothing may be written.
    /// - Throws: `.schemaMismatch` when there is a table of another form.
    func links(for relation: RelationDescription, _ settings: WriteSettings?) throws -> SQLLinks {
        if let known = links.withLock({ $0[relation] }) { return known }
        let made = SQLLinks(relation, dialect: Self.dialect)
        let (isReady, canMake) = try coordinator.read { connection in
            (try StoredLinks(made, connection).isReady, connection.isWriter || !coordinator.isInside)
        }
        if !isReady, canMake, let settings { try make(made, settings) }
        links.withLock { $0[relation] = made }
        return made
    }

    /// Makes a table of links that is not there, be it for the first time, or because the transaction that made it was rolled back.
    func make(_ made: SQLLinks, _ settings: WriteSettings) throws {
        try coordinator.write(.call) { connection in
            try connection.apply(settings)
            try connection.beginWriting()
            let stored = try StoredLinks(made, connection)
            if !stored.hasTable { try connection.execute(made.createTable) }
            if !stored.hasIndex {
                let name = try StoredTable.freeName(made.indexName, connection)
                try connection.execute(made.createIndex(named: name))
            }
        }
    }
}

/// What the file has of a table of links, whoever made it.
private struct StoredLinks {
    private(set) var hasTable = false
    /// Whether children are found through an index.
    private(set) var hasIndex = false

    var isReady: Bool { hasTable && hasIndex }

    /// Looks for the table.
    ///
    /// - Throws: `.schemaMismatch` when it has another form.
    init(_ links: SQLLinks, _ connection: SQLiteConnection) throws {
        let name = "'" + links.name.replacing("'", with: "''") + "'"
        let columns = try connection.rows("PRAGMA table_xinfo(\(name))") {
            (
                name: SQLiteConnection.text($0, 1), type: SQLiteConnection.text($0, 2), keyPosition: sqlite3_column_int64($0, 5)
            )
        }
        if columns.isEmpty { return }
        hasTable = true
        let isSame =
            columns.map(\.name) == ["parent", "position", "child"] && columns.map(\.keyPosition) == [1, 2, 0]
            && zip(columns, links.columnTypes).allSatisfy { StoredTable.affinity($0.type) == StoredTable.affinity($1) }
        guard isSame else {
            let wanted = zip(["parent", "position", "child"], links.columnTypes).map { "\($0) \($1)" }.joined(separator: ", ")
            throw StorageError(
                .schemaMismatch,
                "the table '\(links.name)' is not one of links: it takes the columns \(wanted) and the primary key (parent, position)",
                entity: links.relation.entity, field: links.relation.field, path: connection.path)
        }
        let indexes = try connection.texts("SELECT name FROM pragma_index_list(\(name)) WHERE partial = 0")
        hasIndex = try indexes.contains { index in
            let name = index.replacing("'", with: "''")
            return try connection.texts("SELECT name FROM pragma_index_info('\(name)')").first == "child"
        }
    }
}
