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

    /// How many rows of a path are counted for an estimate.
    static let countedRows = 1_000

    /// The path; nil when no row can match.
    var path: AccessPath?
    /// The source of the order of rows.
    var order: Order
    /// The paths that lead to fewer rows, perhaps, than have to be looked at on this one until the limit is reached.
    var race: PathRace?
    /// The entries of the path, where they were looked at to choose it; nil when they have to be looked for.
    var entries: [UnsafeRawBufferPointer]?

    /// The public description of the plan.
    func description(_ table: Table, estimatedRows: Int? = nil) -> QueryPlan {
        guard let path else { return QueryPlan(access: .nothing, filtersRows: false, sortsRows: false, estimatedRows: 0) }
        let access: QueryPlan.Access
        let count = path.ranges.ranges.count
        var details = ["\(count) \(count == 1 ? "run" : "runs") of keys"]
        switch path.target {
        case .table:
            access = path.shape == .all ? .scan : .primaryKey
            details.append("in the rows of '\(table.description.name)'")
            if path.isUnion { details.append("that indexes lead to, one for each alternative") }
        case .index(let index):
            access = .index(table.description(of: index).fields.map(\.name))
            details.append("in the index on '\(table.description(of: index))'")
        }
        details = [details.joined(separator: " ")]
        if let estimatedRows {
            let isLeast = path.shape != .all && estimatedRows == Self.countedRows
            details[0] +=
                isLeast ? ", \(estimatedRows) rows or more" : ", \(estimatedRows) \(estimatedRows == 1 ? "row" : "rows")"
        }
        for rival in race?.paths ?? [] {
            details.append("or \(Plan(path: rival, order: .sort).description(table)), as soon as that is shorter")
        }
        return QueryPlan(
            access: access, filtersRows: !path.residual.isEmpty, sortsRows: order == .sort, estimatedRows: estimatedRows,
            details: details)
    }
}

/// Selects the path for a query, by the data: paths that could lead to fewer rows than others are compared by counting
/// their entries; see ``PathRace``.
///
/// A path in the query's order stops at the limit. A selective path has to be read to its end and sorted. When both exist
/// and the query has a limit, the rows are read in order first, and the run changes to the selective path as soon as
/// that is the shorter one. So a query looks at no more than twice the rows of the better one.
struct Planner {
    let table: Table
    let query: ResolvedQuery
    let transaction: any KeyValueTransaction
    /// Whether checksums are verified.
    let verifies: Bool

    /// The number of requested rows, including the skipped rows; nil for all.
    var wanted: Int? {
        query.limit.map { limit in
            let sum = limit.addingReportingOverflow(query.offset)
            return sum.overflow ? .max : sum.partialValue
        }
    }

    /// The plan for rows in the query's order.
    func plan() throws -> Plan {
        if query.filter == .none || query.limit == 0 { return Plan(path: nil, order: .path) }
        let paths = self.paths()
        if paths.contains(where: \.ranges.isEmpty) { return Plan(path: nil, order: .path) }
        let narrow = try narrowOrUnion(paths)
        let ordered = paths.compactMap(orderedPath).min { left, right in
            if isMoreSelective(left.path, right.path) || isMoreSelective(right.path, left.path) {
                return isMoreSelective(left.path, right.path)
            }
            return left.sortsGroups != right.sortsGroups ? right.sortsGroups : isBetter(left.path, right.path)
        }?.path
        guard let ordered else {
            return Plan(path: try shortest(narrow) ?? paths.first, order: .sort)
        }
        let rivals = narrow.filter { !$0.restricted.isSubset(of: ordered.restricted) }
        if rivals.isEmpty { return Plan(path: ordered, order: .path) }
        guard let wanted else {
            let shortest = try shortest(ordered.shape == .all ? rivals : rivals + [ordered])
            return Plan(path: shortest, order: shortest.flatMap(orderedPath) == nil ? .sort : .path)
        }
        let race = try PathRace(rivals, of: table, transaction, verifies: verifies)
        // To count an entry costs a fraction of what it costs to look at a row.
        if let winner = try race.winner(within: max(min(wanted, 1_000_000) * 4, 64)) {
            return Plan(path: winner, order: orderedPath(winner) == nil ? .sort : .path, entries: race.entriesOfWinner)
        }
        return Plan(path: ordered, order: .path, race: race)
    }

    /// The plan for counting, where the order is irrelevant.
    func planForCounting() throws -> Plan {
        if query.filter == .none || query.limit == 0 { return Plan(path: nil, order: .path) }
        let paths = self.paths()
        if paths.contains(where: \.ranges.isEmpty) { return Plan(path: nil, order: .path) }
        return Plan(path: try shortest(narrowOrUnion(paths)) ?? paths.first, order: .path)
    }

    /// The paths that conditions restrict; without any, the rows of alternatives that indexes lead to.
    private func narrowOrUnion(_ paths: [AccessPath]) throws -> [AccessPath] {
        let narrow = narrowPaths(among: paths)
        return try narrow.isEmpty ? union(paths[0]).map { [$0] } ?? [] : narrow
    }

    /// The path to the rows of a condition with alternatives, each of which indexes lead to few entries of; nil without such a one.
    ///
    /// - Parameter path: The path through the rows.
    private func union(_ path: AccessPath) throws -> AccessPath? {
        for (number, conjunct) in query.filter.conjuncts.enumerated() {
            guard case .or(let alternatives) = conjunct, let keys = try keys(of: alternatives) else { continue }
            var path = path
            path.ranges = path.ranges.intersection(keys)
            path.residual = query.filter.conjuncts
            (path.shape, path.depth, path.fixedCount) = (.values, 2, 0)
            path.restricted = [~number]
            path.isUnion = true
            return path
        }
        return nil
    }

    /// The keys of the rows of some alternatives, as the store has them; nil when there are too many.
    private func keys(of alternatives: [Filter]) throws -> KeyRanges? {
        // Where rows are read until there are enough, looking for others must not cost much more.
        var left = min(Plan.countedRows, max(64, wanted.map { min($0, Plan.countedRows) * 4 } ?? .max))
        var keys: Set<[UInt8]> = []
        for alternative in alternatives {
            let planner = Planner(
                table: table, query: ResolvedQuery(filter: alternative, order: []), transaction: transaction, verifies: verifies)
            let paths = planner.paths()
            if paths.contains(where: \.ranges.isEmpty) { continue }
            guard let path = planner.narrowPaths(among: paths).first else { return nil }
            var walk = try RangeWalk(path, of: table, transaction, verifies: verifies)
            while try walk.next() {
                if left == 0 { return nil }
                left -= 1
                guard case .index(let index) = path.target else {
                    keys.insert(Array(walk.key))
                    continue
                }
                guard let offset = index.keyOffset(in: walk.key) else { throw table.corruptedIndex(index) }
                keys.insert(table.keyspace.prefix + walk.key[offset...])
            }
        }
        return .union(keys.map { KeyRanges(KeyRange(lower: $0, upper: $0 + [0])) })
    }

    /// The paths that conditions restrict, the best ones first, without those that cannot be shorter than another one.
    private func narrowPaths(among paths: [AccessPath]) -> [AccessPath] {
        var narrow: [AccessPath] = []
        let restricted = paths.filter { $0.shape != .all }
        for path in restricted.count < 2 ? restricted : restricted.sorted(by: isBetter)
        where !narrow.contains(where: { path.restricted.isSubset(of: $0.restricted) }) {
            narrow.removeAll { $0.restricted.isSubset(of: path.restricted) }
            narrow.append(path)
        }
        return narrow
    }

    /// The path with the fewest entries; nil when there are no paths.
    private func shortest(_ paths: [AccessPath]) throws -> AccessPath? {
        if paths.count < 2 { return paths.first }
        return try PathRace(paths, of: table, transaction, verifies: verifies).winner(within: .max)
    }

    /// Whether a path probably leads to fewer rows than another.
    private func isMoreSelective(_ left: AccessPath, _ right: AccessPath) -> Bool {
        left.shape != right.shape ? left.shape < right.shape : left.depth > right.depth
    }

    /// Whether a path is to be preferred to another: it leads to fewer rows, or to as many with fewer conditions
    /// left.
    func isBetter(_ left: AccessPath, _ right: AccessPath) -> Bool {
        if isMoreSelective(left, right) { return true }
        return !isMoreSelective(right, left) && left.residual.count < right.residual.count
    }

    /// All paths, the rows themselves first.
    func paths() -> [AccessPath] {
        let conjuncts = query.filter.conjuncts
        var paths = [AccessPath(primaryKeyOf: table, conjuncts)]
        for index in table.indexes {
            if index.elements != nil {
                paths += conjuncts.indices.compactMap { AccessPath(elements: index, conjuncts, $0) }
                continue
            }
            guard let condition = table.condition(of: index) else {
                paths.append(AccessPath(index, of: table, conjuncts))
                continue
            }
            if query.filter.implies(condition) { paths.append(AccessPath(index, of: table, conjuncts, meeting: condition)) }
        }
        return paths
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
        let terms = fixedCount == 0 ? terms : terms.filter { term in !fixed.contains { $0.field == term.subject.field } }
        // Whether the first fields of the index are in the order as they are, or all reversed.
        var direction: Bool?
        var count = 0
        for (component, term) in zip(index.components.dropFirst(fixedCount), terms) {
            let isSame = component.isAscending == term.isAscending
            guard component.field == term.field, direction ?? isSame == isSame else { break }
            direction = isSame
            count += 1
        }
        self.fixedCount = fixedCount
        groupCount = fixedCount + count
        let rest = terms.dropFirst(count)
        let isForward = direction ?? rest.first?.isAscending ?? true
        // The entries of a group are in the order of their primary keys, when no field is left.
        let isInKeyOrder = groupCount == index.components.count && rest.count <= 1
        if count == 0, !isInKeyOrder { return nil }
        self.isForward = isForward
        isKeyParallel = isInKeyOrder && rest.allSatisfy { $0.isAscending == isForward }
        sortsGroups = !isInKeyOrder || (isForward && !isKeyParallel)
    }
}
