import DAOCore

/// The plan of a query: the path to its rows, and the source of their order.
struct Plan {
    /// The source of the order of rows.
    enum Order {
        /// The path itself has the order.
        case path
        /// The rows of the path are sorted.
        case sort
    }

    /// The path; nil when no row can match.
    var path: AccessPath?
    /// The source of the order of rows.
    var order: Order

    /// The public description of the plan.
    func description(_ table: Table) -> QueryPlan {
        guard let path else { return QueryPlan(access: .nothing, filtersRows: false, sortsRows: false) }
        let access: QueryPlan.Access
        let count = path.ranges.ranges.count
        var details = ["\(count) \(count == 1 ? "run" : "runs") of keys"]
        switch path.target {
        case .table:
            access = path.shape == .all ? .scan : .primaryKey
            details.append("in the rows of '\(table.description.name)'")
        case .index(let index):
            access = .index(field: table.name(of: index))
            details.append("in the index on '\(table.name(of: index))'")
        }
        return QueryPlan(
            access: access, filtersRows: !path.residual.isEmpty, sortsRows: order == .sort,
            details: [details.joined(separator: " ")])
    }
}

/// Selects the path for a query.
///
/// A path in the query's order stops at the limit. A selective path has to be read to its end and sorted.
/// When both exist and the query has a limit, the selective path is used if it leads to few rows.
struct Planner {
    let table: Table
    let query: ResolvedQuery

    /// The number of requested rows, including the skipped rows; nil for all.
    var wanted: Int? {
        query.limit.map { limit in
            let sum = limit.addingReportingOverflow(query.offset)
            return sum.overflow ? .max : sum.partialValue
        }
    }

    /// The plan for rows in the query's order.
    ///
    /// - Parameter isFew: Returns whether a path leads to at most the given number of rows.
    func plan(isFew: (AccessPath, Int) throws -> Bool) rethrows -> Plan {
        if query.filter == .none || query.limit == 0 { return Plan(path: nil, order: .path) }
        let paths = self.paths()
        if paths.contains(where: \.ranges.isEmpty) { return Plan(path: nil, order: .path) }
        let ordered = paths.filter(bringsOrder).min { $0.shape < $1.shape }
        let narrow = paths.filter { $0.shape != .all }.min { $0.shape < $1.shape }
        guard let narrow else {
            return ordered.map { Plan(path: $0, order: .path) } ?? Plan(path: paths.first, order: .sort)
        }
        guard let ordered else { return Plan(path: narrow, order: .sort) }
        if ordered.shape <= narrow.shape { return Plan(path: ordered, order: .path) }
        guard let wanted, narrow.shape != .keys else { return Plan(path: narrow, order: .sort) }
        let few = max(2_000, min(wanted, 1_000_000) * 20)
        return try isFew(narrow, few) ? Plan(path: narrow, order: .sort) : Plan(path: ordered, order: .path)
    }

    /// The plan for counting, where the order is irrelevant.
    func planForCounting() -> Plan {
        if query.filter == .none || query.limit == 0 { return Plan(path: nil, order: .path) }
        let paths = self.paths()
        if paths.contains(where: \.ranges.isEmpty) { return Plan(path: nil, order: .path) }
        let best = paths.min { left, right in
            left.shape != right.shape ? left.shape < right.shape : left.residual.count < right.residual.count
        }
        return Plan(path: best, order: .path)
    }

    /// All paths, the rows themselves first.
    private func paths() -> [AccessPath] {
        let conjuncts: [Filter] =
            switch query.filter {
            case .all: []
            case .and(let filters): filters
            default: [query.filter]
            }
        return [AccessPath(table, KeyField(primaryKeyOf: table), conjuncts)]
            + table.indexes.map { AccessPath(table, KeyField($0), conjuncts) }
    }

    /// Whether a path leads to the rows in the query's order.
    private func bringsOrder(_ path: AccessPath) -> Bool {
        switch path.target {
        case .table: query.order.first?.field == table.keyField
        case .index(let index):
            query.order.first?.field == index.field
                // The rows of a value are in the order of their keys.
                || (query.isInKeyOrder && path.isOneValue)
        }
    }
}
