import DAOCore
import DAOSQL
import DAOSystemSQLite

extension SQLiteStorage {
    func explain(_ query: Query<Record>) throws -> QueryPlan {
        let resolved = try query.resolved()
        if resolved.isEmpty { return QueryPlan(access: .nothing, filtersRows: false, sortsRows: false) }
        var sql = try table.select(resolved)
        sql.text = "EXPLAIN QUERY PLAN " + sql.text
        return try reading { connection in
            // Explaining does not look whether the tables are what the connection remembers; reading anything does.
            _ = try connection.integers("SELECT count(*) FROM sqlite_master")
            let statement = try connection.statement(sql, entity: entity.name)
            defer { statement.finish() }
            var details: [String] = []
            while true {
                let code = sqlite3_step(statement.pointer)
                if code == SQLITE_DONE { break }
                guard code == SQLITE_ROW else { throw connection.failure(code, entity: entity.name) }
                details.append(SQLiteConnection.text(statement.pointer, 3))
            }
            let access = try access(details, connection)
            return QueryPlan(
                access: access, filtersRows: filtersRows(resolved.filter, access),
                sortsRows: details.contains { $0.contains("TEMP B-TREE") && $0.contains("ORDER BY") }, details: details)
        }
    }

    /// How SQLite says that it finds the rows.
    private func access(_ details: [String], _ connection: SQLiteConnection) throws -> QueryPlan.Access {
        for line in details where line.hasPrefix("SEARCH ") || line.hasPrefix("SCAN ") {
            if line.contains("USING INTEGER PRIMARY KEY") || line.contains("USING PRIMARY KEY") { return .primaryKey }
            let words = line.split(separator: " ")
            guard let word = words.firstIndex(of: "INDEX"), word + 1 < words.count else { continue }
            let index = words[word + 1].replacing("'", with: "''")
            guard let column = try connection.texts("SELECT name FROM pragma_index_info('\(index)')").first else { continue }
            if column == entity.fields[entity.keyIndex].name { return .primaryKey }
            return .index(field: column)
        }
        return .scan
    }

    /// Whether the access finds rows that the filter then drops: not when every condition is a range of what was searched.
    private func filtersRows(_ filter: Filter, _ access: QueryPlan.Access) -> Bool {
        let served: Int? =
            switch access {
            case .primaryKey: entity.keyIndex
            case .index(let field): entity.index(of: field)
            default: nil
            }
        switch filter {
        case .all, .none: return false
        case .and(let parts): return parts.contains { filtersRows($0, access) }
        case .isNull(let field, _): return field != served
        case .compare(let field, let comparison, _): return field != served || comparison == .notEqual
        case .isIn(let field, _, let isNegated): return field != served || isNegated
        case .text(let field, let pattern, let isNegated):
            let isRange = pattern.options.isEmpty && (pattern.match == .hasPrefix || pattern.match == .equals)
            return field != served || isNegated || !isRange
        case .or, .compareFields: return true
        }
    }
}
