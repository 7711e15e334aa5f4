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
            access = .index(table.description(of: index).fields.map(\.name))
            details.append("in the index on '\(table.description(of: index))'")
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
        let ordered = paths.compactMap(orderedPath).min { left, right in
            if isMoreSelective(left.path, right.path) || isMoreSelective(right.path, left.path) {
                return isMoreSelective(left.path, right.path)
            }
            return left.sortsGroups != right.sortsGroups ? right.sortsGroups : isBetter(left.path, right.path)
        }?.path
        let narrow = paths.filter { $0.shape != .all }.min { isBetter($0, $1) }
        guard let narrow else {
            return ordered.map { Plan(path: $0, order: .path) } ?? Plan(path: paths.first, order: .sort)
        }
        guard let ordered else { return Plan(path: narrow, order: .sort) }
        if !isMoreSelective(narrow, ordered) { return Plan(path: ordered, order: .path) }
        guard let wanted, narrow.shape != .keys else { return Plan(path: narrow, order: .sort) }
        let few = max(2_000, min(wanted, 1_000_000) * 20)
        return try isFew(narrow, few) ? Plan(path: narrow, order: .sort) : Plan(path: ordered, order: .path)
    }

    /// The plan for counting, where the order is irrelevant.
    func planForCounting() -> Plan {
        if query.filter == .none || query.limit == 0 { return Plan(path: nil, order: .path) }
        let paths = self.paths()
        if paths.contains(where: \.ranges.isEmpty) { return Plan(path: nil, order: .path) }
        return Plan(path: paths.min { isBetter($0, $1) }, order: .path)
    }

    /// Whether a path probably leads to fewer rows than another.
    private func isMoreSelective(_ left: AccessPath, _ right: AccessPath) -> Bool {
        left.shape != right.shape ? left.shape < right.shape : left.depth > right.depth
    }

    /// Whether a path is to be preferred to another: it leads to fewer rows, or to as many with fewer conditions
    /// left.
    private func isBetter(_ left: AccessPath, _ right: AccessPath) -> Bool {
        if isMoreSelective(left, right) { return true }
        return !isMoreSelective(right, left) && left.residual.count < right.residual.count
    }

    /// All paths, the rows themselves first.
    private func paths() -> [AccessPath] {
        let conjuncts: [Filter] =
            switch query.filter {
            case .all: []
            case .and(let filters): filters
            default: [query.filter]
            }
        return [AccessPath(primaryKeyOf: table, conjuncts)] + table.indexes.map { AccessPath($0, conjuncts) }
    }

    /// A path that leads to the rows in the query's order, and whether it sorts rows with equal values in the index;
    /// nil for a path that does not.
    private func orderedPath(_ path: AccessPath) -> (path: AccessPath, sortsGroups: Bool)? {
        switch path.target {
        case .table: query.order.first?.field == table.keyField ? (path, false) : nil
        case .index(let index):
            IndexOrder(query.order, index, fixedCount: path.fixedCount).map { (path, $0.sortsGroups) }
        }
    }
}

/// How the entries of an index are read to get the rows in an order, which begins with fields of the index.
struct IndexOrder {
    /// The number of leading fields of the index that have one value in all rows.
    let fixedCount: Int
    /// The number of leading fields that a group of entries has in common: those with one value in all rows, and
    /// those in the order.
    let groupCount: Int
    /// Whether the groups are read in the order of the entries.
    let isForward: Bool
    /// Whether the entries of a group are in the order already, when they are read in the direction of the groups.
    let isKeyParallel: Bool
    /// Whether every group has to be sorted.
    let sortsGroups: Bool

    /// Whether all entries are one group, which is read in the order of the entries.
    var isOneForwardGroup: Bool { groupCount == fixedCount && isForward && isKeyParallel }

    /// Creates an order; nil when the entries are not in it.
    ///
    /// - Parameters:
    ///   - terms: The order; its last term is the primary key.
    ///   - index: The index.
    ///   - fixedCount: The number of leading fields of the index that have one value in all rows.
    init?(_ terms: [SortTerm], _ index: Table.Index, fixedCount: Int) {
        let fixed = index.components.prefix(fixedCount)
        // A field with one value does not order rows.
        let terms = terms.filter { term in !fixed.contains { $0.field == term.field } }
        let matched = zip(index.components.dropFirst(fixedCount), terms).prefix { $0.field == $1.field }
        let directions = matched.map { $0.isAscending == $1.isAscending }
        let count = directions.prefix { $0 == directions.first }.count
        self.fixedCount = fixedCount
        groupCount = fixedCount + count
        let rest = terms.dropFirst(count)
        let isForward = directions.first ?? (rest.first?.isAscending ?? true)
        // The entries of a group are in the order of their primary keys, when no field is left.
        let isInKeyOrder = groupCount == index.components.count && rest.count <= 1
        if count == 0, !isInKeyOrder { return nil }
        self.isForward = isForward
        isKeyParallel = isInKeyOrder && rest.allSatisfy { $0.isAscending == isForward }
        sortsGroups = !isInKeyOrder || (isForward && !isKeyParallel)
    }
}
