import DAOCore
import DAOSQL
import DAOSystemPostgres
import Foundation

/// A row of a statement that the suite itself needs.
struct CatalogRow {
    let result: PostgresResult
    let row: Int32

    func text(_ column: Int32) -> String { result.text(row, column) ?? "" }
    func integer(_ column: Int32) -> Int64 { result.integer(row, column) ?? 0 }
    func flag(_ column: Int32) -> Bool { integer(column) != 0 }
    func uuid(_ column: Int32) -> UUID? { result.uuid(row, column) }
}

// The description of tables and queries by PostgreSQL, which differs between engines.
extension PostgresConnection {
    /// The number of the schema.
    var namespace: String {
        "(SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = \(PostgresDialect().storedName(settings.schema).quotedLiteral))"
    }

    /// Returns the rows of a statement with texts as parameters, for rare statements.
    func rows(_ text: String, _ texts: [String] = []) throws -> [CatalogRow] {
        try sendHeld()
        var parameters = Parameters()
        for value in texts { try parameters.append(value, as: TypeID.text) }
        let types = Array(repeating: TypeID.text, count: texts.count)
        guard let result = try run([.typed(text, types, parameters)], text, entity: "").first else { return [] }
        return (0..<result.count).map { CatalogRow(result: result, row: $0) }
    }

    func hasTable(_ name: String) throws -> Bool {
        let sql = """
            SELECT 1 FROM pg_catalog.pg_class WHERE relnamespace = \(namespace) AND relname = $1 AND relkind IN ('r', 'p')
            """
        return try !rows(sql, [PostgresDialect().storedName(name)]).isEmpty
    }

    func storedTable(_ name: String) throws -> SQLStoredTable? {
        let found = try rows(
            """
            SELECT relname::text, relkind::text, oid::int8 FROM pg_catalog.pg_class
            WHERE relnamespace = \(namespace) AND lower(relname::text) = lower($1) AND relkind NOT IN ('i', 'I', 't')
            ORDER BY relname::text = $1 DESC LIMIT 1
            """, [PostgresDialect().storedName(name)])
        guard let table = found.first else { return nil }
        let identifier = table.integer(2)
        let columns = try rows(
            """
            SELECT a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull, coalesce(k.place, 0),
              a.attcollation IN (0, 950, 951)
            FROM pg_catalog.pg_attribute a LEFT JOIN (
              SELECT u.number, u.place FROM pg_catalog.pg_index i, unnest(i.indkey) WITH ORDINALITY AS u(number, place)
              WHERE i.indrelid = \(identifier) AND i.indisprimary
            ) k ON k.number = a.attnum
            WHERE a.attrelid = \(identifier) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
            """
        ).map { row in
            SQLStoredTable.Column(
                name: row.text(0), type: row.text(1) + (row.flag(4) ? "" : " with a collation other than \"C\""),
                isNotNull: row.flag(2), keyPosition: Int(row.integer(3)))
        }
        var indexes: [SQLStoredTable.Index] = []
        for row in try rows(
            """
            SELECT c.relname::text, i.indisunique, i.indpred IS NOT NULL,
              CASE WHEN i.indisprimary THEN 'p' WHEN EXISTS (
                SELECT 1 FROM pg_catalog.pg_constraint o WHERE o.conindid = c.oid AND o.contype IN ('u', 'x')
              ) THEN 'c' ELSE '' END,
              coalesce(a.attname::text, ''), pg_catalog.pg_get_indexdef(c.oid, n, true), i.indoption[n - 1] & 1
            FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
            CROSS JOIN generate_series(1, i.indnkeyatts::int4) n
            LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[n - 1] AND a.attnum > 0
            WHERE i.indrelid = \(identifier) ORDER BY c.relname, n
            """)
        {
            if indexes.last?.name != row.text(0) {
                indexes.append(
                    SQLStoredTable.Index(
                        name: row.text(0), columns: [], isUnique: row.flag(1), isPartial: row.flag(2),
                        origin: row.text(3) == "p" ? .primaryKey : row.text(3) == "c" ? .constraint : .statement))
            }
            guard let column = row.text(4).isEmpty ? Self.prefixedColumn(row.text(5)) : row.text(4) else { continue }
            indexes[indexes.count - 1].columns.append(IndexedField(column, isAscending: row.integer(6) == 0))
        }
        let kind = ["r": "table", "p": "table", "v": "view", "m": "materialized view", "S": "sequence"][table.text(1)]
        return SQLStoredTable(name: table.text(0), kind: kind ?? "type", columns: columns, indexes: indexes)
    }

    /// The column of which an index has the beginnings; nil when it has something else, such as a hash.
    private static func prefixedColumn(_ expression: String) -> String? {
        guard let name = expression.firstMatch(of: /^(?:"left"|substr)\((.+?), (?:1, )?\d+\)$/).map({ String($0.1) }) else {
            return nil
        }
        return name.hasPrefix("\"") ? String(name.dropFirst().dropLast()).replacing("\"\"", with: "\"") : name
    }

    func takenNames() throws -> Set<String> {
        Set(
            try rows("SELECT lower(relname::text) FROM pg_catalog.pg_class WHERE relnamespace = \(namespace)").map {
                $0.text(0)
            })
    }

    func makeRoom(for table: String) throws {
        let dialect = PostgresDialect()
        let name = dialect.storedName(table)
        let isTaken = try !rows(
            "SELECT 1 FROM pg_catalog.pg_class WHERE relnamespace = \(namespace) AND relname = $1 AND relkind IN ('i', 'I')",
            [name]
        ).isEmpty
        guard isTaken else { return }
        try execute("ALTER INDEX \(dialect.quoted(name)) RENAME TO \(dialect.quoted(freeName(name + "_index", dialect)))")
    }

    func ties(to table: String) throws -> [String] {
        let name = PostgresDialect().storedName(table)
        let relation = "(SELECT oid FROM pg_catalog.pg_class WHERE relnamespace = \(namespace) AND relname = $1)"
        let triggers = try rows(
            "SELECT tgname::text FROM pg_catalog.pg_trigger WHERE tgrelid = \(relation) AND NOT tgisinternal", [name])
        let views = try rows(
            """
            SELECT DISTINCT r.ev_class::regclass::text FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid
            WHERE d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.refobjid = \(relation) AND r.ev_class <> d.refobjid
            """, [name])
        let references = try rows(
            """
            SELECT DISTINCT conrelid::regclass::text FROM pg_catalog.pg_constraint WHERE contype = 'f'
            AND (confrelid = \(relation) OR conrelid = \(relation))
            """, [name])
        return triggers.map { "the trigger '\($0.text(0))'" } + views.map { "'\($0.text(0))'" }
            + references.map { "a foreign key of '\($0.text(0))'" }
    }

    // MARK: Plans

    func explain(_ query: SQLText, of entity: EntityDescription) throws -> QueryPlan {
        let statement = PostgresStatement(query.text, self, entity: entity.name)
        try statement.bind(query.bindings)
        let result = try statement.explain()
        let details = (0..<result.count).map { result.text($0, 0) ?? "" }
        return QueryPlan(
            access: try access(details, entity), filtersRows: false, sortsRows: details.contains { $0.contains("Sort Key:") },
            details: details)
    }

    /// Parses PostgreSQL's description of how it finds the rows.
    private func access(_ details: [String], _ entity: EntityDescription) throws -> QueryPlan.Access {
        let table = try storedTable(entity.name)
        for line in details {
            guard
                let name = line.firstMatch(of: /Index (?:Only )?Scan (?:Backward )?(?:using|on) (?:"([^"]+)"|([^" ]+))/).flatMap({
                    ($0.1 ?? $0.2).map(String.init)
                }),
                let index = table?.indexes.first(where: { $0.name == name })
            else { continue }
            if index.origin == .primaryKey { return .primaryKey }
            let dialect = PostgresDialect()
            return .index(
                index.columns.map { column in
                    entity.fields.first { dialect.storedName($0.name) == column.name }?.name ?? column.name
                })
        }
        return .scan
    }
}
