// Queries with a limit and conditions on related rows. The rows are read in the query's order, some at a time, and
// their related rows are looked at, until there are as many as the query asks for. The cost follows the answer, and
// not the number of rows.

/// The numbers of rows that queries with a limit work with.
package struct LimitedReading: Sendable {
    /// The numbers of the current task; tests lower them.
    @TaskLocal package static var current = LimitedReading()

    /// Up to this number of wanted rows, rows are read some at a time.
    package var maximumWanted = 10_000
    /// A condition that this number of related rows meet, and that an index finds, is resolved first.
    package var few = 1_000
    /// When none of this number of rows meets the conditions, the related rows are searched instead.
    var maximumFruitless = 4_096
    /// The smallest and the largest number of rows that are read at a time.
    var batch = 16...1_024
    /// How many related rows of each row are looked at first.
    var firstRelated = 8
    /// How many steps of an SQL engine related rows are followed for, in the order of a sort, before anything else is counted.
    package var steps = 40_000
    /// After how many queries of one shape, counted with one result, an SQL storage repeats its choices without counting.
    package var streak = 32

    /// Numbers that a handful of rows exceeds.
    package static let low = LimitedReading(
        maximumWanted: 6, few: 2, maximumFruitless: 3, batch: 1...2, firstRelated: 1, steps: 100, streak: 1)
}

extension GraphStorage {
    /// Returns the keys of the given rows that meet a condition, in ascending order.
    func keys(among keys: [Key], meeting node: PredicateNode) throws -> [Key] {
        let rewritten = try rewritten(node, for: keys)
        return try flat.keys(Query(where: Condition(ConditionTree(resolved: .and([isOne(of: keys), rewritten])))))
    }

    /// Returns the rows of a query, in its order, without related rows. It has no sort by a field of related rows.
    func flatRows(_ query: Query<Record>) throws -> [Record] {
        if evaluating != nil { return try answering(query, flat.read) }
        guard let limit = query.limit, let wanted = query.wanted(limit),
            query.predicate.node.reachesRelated(Record.schema.description)
        else { return try flat.read(rewritten(query)) }
        let conditions = try resolvingFew(query.predicate.node).conjuncts
        let pending = conditions.filter { $0.reachesRelated(nil) }
        var rest = query
        rest.predicate = Condition(ConditionTree(resolved: .and(conditions.filter { !$0.reachesRelated(nil) })))
        if pending.isEmpty { return try flat.read(rest) }
        // Without a path that can have the order, each batch would be all rows, sorted.
        guard try Record.schema.description.canBeOrdered(by: query.orderTerms()) else { return try flat.read(rewritten(query)) }
        return try rows(of: rest, wanted, meeting: .and(pending)) ?? flat.read(rewritten(query))
    }

    /// Returns the condition with those parts resolved into keys that few related rows meet.
    ///
    /// - Parameter inLists: Whether that includes the rows of lists, and the rows that refer to a row.
    func resolvingFew(_ node: PredicateNode, inLists: Bool = true) throws -> PredicateNode {
        try rewritten(node) { leaf in
            if case .relatedCount(_, .constant(true), _, _) = leaf { return leaf }
            guard let (relation, condition, isNegated) = try Record.schema.existence(leaf) else { return nil }
            if !inLists, !relation.isToOne { return leaf }
            guard let few = try relation.few(LimitedReading.current.few, matching: condition, in: graph) else { return leaf }
            let found = try parents(relation, of: few)
            return isNegated ? .not(found) : found
        }
    }

    /// Returns the rows of a query that also meet a condition on related rows; nil when the first of them meet it so
    /// rarely that it is better to search the related rows.
    private func rows(of query: Query<Record>, _ wanted: Int, meeting node: PredicateNode) throws -> [Record]? {
        let schema = Record.schema
        let order = try query.orderTerms()
        var batch = query
        batch.offset = 0
        var size = min(max(wanted * 2, LimitedReading.current.batch.lowerBound), LimitedReading.current.batch.upperBound)
        var found: [Record] = []
        var count = 0
        while true {
            batch.limit = wanted == 0 ? 0 : size
            let records = try flat.read(batch)
            let keys = schema.keys(of: records)
            // Also without rows: the condition can be invalid.
            let matching = Set(try self.keys(among: keys, meeting: node))
            found += zip(keys, records).lazy.filter { matching.contains($0.0) }.map(\.1).prefix(wanted - found.count)
            count += records.count
            guard found.count < wanted, records.count == size, let last = records.last else { break }
            if found.isEmpty, count >= LimitedReading.current.maximumFruitless { return nil }
            batch.after = PageCursor(after: last, in: order)
            size = min(size * 2, LimitedReading.current.batch.upperBound)
        }
        return Array(found.dropFirst(query.offset))
    }
}

extension EntityDescription {
    /// Whether the key or an index has the first of some terms, so that rows can be read in that order until there are enough.
    package func canBeOrdered(by terms: [SortTerm]) -> Bool {
        guard let first = terms.first else { return true }
        guard case .field(let position) = first.subject else { return false }
        let field = fields[position]
        return field.isPrimaryKey || field.isIndexed || field.type.kind == .toOne
            || indexes.contains { $0.fields.contains { $0.name.hasSameBytes(as: field.name) } }
    }
}

extension Query {
    /// The number of rows from the first to the last of the query; nil when they are too many to be read some at a
    /// time, or the numbers are not valid.
    func wanted(_ limit: Int) -> Int? {
        let most = LimitedReading.current.maximumWanted
        return 0...most ~= limit && 0...most - limit ~= offset ? limit + offset : nil
    }
}

extension PredicateNode {
    /// The conditions that all hold when the node does, in their order.
    var conjuncts: [PredicateNode] {
        var pending = [self]
        var found: [PredicateNode] = []
        while let node = pending.popLast() {
            if case .and(let nodes) = node { pending += nodes.reversed() } else { found.append(node) }
        }
        return found
    }
}
