import DAOCore

extension SQLStorage {
    func explain(_ query: Query<Record>) throws -> QueryPlan {
        let resolved = try schema.resolved(query, withRelated: true)
        if resolved.isEmpty { return QueryPlan(access: .nothing, filtersRows: false, sortsRows: false) }
        return try reading(resolved) { session, known in
            let shaped = try ShapedQuery(resolved, of: known, tables(session, resolved, known))
            let choice = try PathChoice(shaped, known, session)
            let table = known.table.using(choice)
            let sql = try table.select(resolved.divided(for: table).query, shaped.related)
            var plan = try session.connection.explain(sql, of: table.entity)
            if let choice { plan.details.append(choice.description) }
            if let elements = choice?.path.elements { plan.access = .index([entity.fields[elements.table.field].name]) }
            plan.filtersRows = filtersRows(resolved.filter, servedFields(resolved.filter, plan.access))
            return plan
        }
    }

    /// The fields whose conditions are part of the searched range: those of the access up to the first that does
    /// not have one value.
    private func servedFields(_ filter: Filter, _ access: QueryPlan.Access) -> Set<Int> {
        let fields: [Int]
        switch access {
        case .primaryKey: fields = [entity.keyIndex]
        case .index(let names): fields = names.compactMap { entity.index(of: $0) }
        default: return []
        }
        let conjuncts = filter.conjuncts
        let open = fields.firstIndex { field in !conjuncts.contains { $0.hasSingleValues(of: field) } } ?? fields.count
        return Set(fields.prefix(open + 1))
    }

    /// Whether the filter drops rows that the access finds. It does not when every condition is part of the
    /// searched range.
    private func filtersRows(_ filter: Filter, _ served: Set<Int>) -> Bool {
        switch filter {
        case .all, .none: return false
        case .and(let parts): return parts.contains { filtersRows($0, served) }
        case .isNull(let field, _): return !served.contains(field)
        case .compare(let field, let comparison, _): return !served.contains(field) || comparison == .notEqual
        case .isIn(let field, _, let isNegated): return !served.contains(field) || isNegated
        case .text(let field, let pattern, let isNegated):
            let isRange = pattern.options.isEmpty && (pattern.match == .hasPrefix || pattern.match == .equals)
            return !served.contains(field) || isNegated || !isRange
        case .or, .compareFields, .compareFolded, .related, .embedded: return true
        }
    }
}
