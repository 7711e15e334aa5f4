import DAOCore

extension SQLStorage {
    func explain(_ query: Query<Record>) throws -> QueryPlan {
        let resolved = try query.resolved()
        if resolved.isEmpty { return QueryPlan(access: .nothing, filtersRows: false, sortsRows: false) }
        return try reading { session, known in
            var plan = try session.connection.explain(known.table.select(resolved), of: known.table.entity)
            plan.filtersRows = filtersRows(resolved.filter, plan.access)
            return plan
        }
    }

    /// Whether the filter drops rows that the access finds. It does not when every condition is part of the
    /// searched range.
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
