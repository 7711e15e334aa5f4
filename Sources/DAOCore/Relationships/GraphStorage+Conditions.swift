// Conditions and sorts through relationships. They are resolved into sets of keys by queries on related rows and links, whose
// number does not follow that of the rows. Every database therefore returns the same rows, whatever it can evaluate
// itself. `GraphStorage+Limits.swift` resolves them for some rows at a time.

extension Query {
    /// Whether a sort term is about related rows.
    @inline(__always) var sortsThroughRelations: Bool {
        uncheckedOrder.contains {
            $0.relation != nil || $0.condition?.node.reachesRelated(Record.schema.description) == true
        }
    }

    /// Whether a condition is about related rows.
    @inline(__always) var hasRelatedConditions: Bool { predicate.tree.node.reachesRelated(Record.schema.description) }
}

extension GraphStorage {
    /// Whether the rows of a query cannot be sorted by the storage of the rows.
    func sortsBeyondRows(_ query: Query<Record>) throws -> Bool {
        if query.sortsThroughRelations { return true }
        guard let evaluating, query.uncheckedOrder.contains(where: { $0.condition != nil || !$0.options.isEmpty }) else {
            return false
        }
        return try !Record.schema.terms(of: query.uncheckedOrder).allSatisfy { evaluating.sorts(by: $0) }
    }

    /// Runs a query whose conditions on related rows the storage of the rows evaluates, or which are resolved into sets of
    /// keys.
    func answering<Result>(_ query: Query<Record>, _ body: (Query<Record>) throws -> Result) throws -> Result {
        if let evaluating, query.predicate.node.reachesRelated(nil) {
            var query = query
            query.predicate = Condition(
                ConditionTree(resolved: try resolvingFew(query.predicate.node, inLists: !evaluating.findsFewInLists)))
            do { return try body(query) } catch is RelatedConditionsUnavailable {}
        }
        return try body(rewritten(query))
    }

    /// Runs a query, without a sort by a field of related rows, in no snapshot, when the storage of the rows evaluates all of it
    /// in one statement.
    ///
    /// - Returns: Nil when the query reads related rows, too.
    func answeringAtOnce<Result>(_ query: Query<Record>, _ body: (Query<Record>) throws -> Result) throws -> Result? {
        guard let evaluating, try isAnswered(query.predicate.node, by: evaluating) else { return nil }
        do { return try body(query) } catch is RelatedConditionsUnavailable { return nil }
    }

    /// Whether a storage answers all conditions on related rows: those about their number, and those on the rows of lists where
    /// it finds few of them by itself.
    func isAnswered(_ node: PredicateNode, by storage: any RelatedEvaluating<Record>) throws -> Bool {
        try node.allLeaves { leaf in
            switch leaf {
            case .relatedCount(_, .constant(true), _, _): true
            case .related where storage.findsFewInLists: try Record.schema.existence(leaf)?.relation.isToOne == false
            default: !leaf.isAboutRelated(Record.schema.description)
            }
        }
    }

    /// Returns the query with its conditions on related rows resolved into sets of keys.
    func rewritten(_ query: Query<Record>) throws -> Query<Record> {
        let node = query.predicate.node
        if !node.reachesRelated(Record.schema.description) { return query }
        let resolved: PredicateNode
        if try isLedToFew(node) {
            // Only the related rows of these few are looked at.
            let conditions = node.conjuncts
            let own = conditions.filter { !$0.reachesRelated(Record.schema.description) }
            let keys = try flat.keys(Query(where: Condition(ConditionTree(resolved: .and(own)))))
            let others = conditions.filter { $0.reachesRelated(Record.schema.description) }
            resolved = .and([isOne(of: keys), try rewritten(.and(others), for: keys)])
        } else {
            resolved = try rewritten(node)
        }
        var query = query
        query.predicate = Condition(ConditionTree(resolved: resolved))
        return query
    }

    func withoutRelated(_ condition: Condition<Record>) throws -> Condition<Record> {
        try rewritten(Query(where: condition)).predicate
    }

    /// Returns a condition with its conditions on related rows resolved into sets of keys.
    ///
    /// - Parameters:
    ///   - keys: The rows that the result is for; nil for all rows.
    ///   - resolve: Returns what a condition on related rows becomes, for example itself; nil for the set of keys.
    func rewritten(
        _ node: PredicateNode, for keys: [Key]? = nil, by resolve: (PredicateNode) throws -> PredicateNode? = { _ in nil }
    ) throws -> PredicateNode {
        try node.folded(
            tooDeep: { PredicateProblem.tooDeep(PredicateNode.maximumDepth).error(entity: Record.schema.description.name) },
            leaf: { node, isNegated in
                let found = try resolve(node) ?? rewrittenLeaf(node, keys)
                return isNegated ? .not(found) : found
            },
            join: { isAnd, nodes in isAnd ? .and(nodes) : .or(nodes) })
    }

    private func rewrittenLeaf(_ node: PredicateNode, _ keys: [Key]?) throws -> PredicateNode {
        if let (relation, condition, isNegated) = try Record.schema.existence(node) {
            let found = try parents(relation, holding: condition, among: keys)
            return isNegated ? .not(found) : found
        }
        switch node {
        case .relatedCount(let field, let condition, let comparison, let count):
            return try counted(relation(at: field), holding: condition, comparison, count, among: keys)
        case .compareRelated(let field, let comparison, let relation, let relatedField):
            let relation = try Record.schema.compared(field, comparison, relation, relatedField)
            return try comparing(field, comparison, relation, relatedField, among: keys)
        case .compare(let field, let comparison, let value):
            guard let relation = Record.schema.relation(at: field) else { return node }
            return try comparing(relation, [value], comparison) ?? node
        case .isIn(let field, let values):
            guard let relation = Record.schema.relation(at: field) else { return node }
            return try comparing(relation, values, .equal) ?? node
        default: return node
        }
    }

    func relation(at field: Int) throws -> any Relation<Record> { try Record.schema.checkedRelation(at: field) }

    /// Returns a condition on the rows with a child that meets a condition.
    private func parents(
        _ relation: any Relation<Record>, holding node: PredicateNode, among keys: [Key]?
    ) throws -> PredicateNode {
        let links = try relation.links(in: graph)
        if let keys {
            guard node != .constant(true) else {
                let counts = try links.children(of: keys, limit: 1).counts
                return isOne(of: zip(keys, counts).filter { $1 > 0 }.map(\.0))
            }
            // Of a row with many children, a few are looked at first, and all only where none of them meets the condition.
            var found: [Key] = []
            var pending = keys
            var limit = LimitedReading.current.firstRelated
            repeat {
                let linked = try links.children(of: pending, limit: limit)
                let matching = Set(try relation.children(matching: node, among: linked.keys, in: graph))
                let lists = zip(pending, linked.lists)
                found += lists.filter { !matching.isDisjoint(with: $1) }.map(\.0)
                pending = lists.filter { $1.count == limit && matching.isDisjoint(with: $1) }.map(\.0)
                limit = limit > .max / 8 ? .max : limit * 8
            } while !pending.isEmpty
            return isOne(of: found)
        }
        if node == .constant(true) {
            if links.isInRows { return .compare(field: relation.field, .notEqual, .null) }
            return isOne(of: try parents(linkedBy: links))
        }
        return try parents(relation, of: relation.children(matching: node, among: nil, in: graph))
    }

    /// Returns a condition on the rows with one of some children.
    func parents(_ relation: any Relation<Record>, of children: [Key]) throws -> PredicateNode {
        let links = try relation.links(in: graph)
        return try links.isInRows
            ? .isIn(field: relation.field, children.map(\.value)) : isOne(of: links.parents(of: children))
    }

    /// Returns the rows with a child. Of few rows one link each is looked for, however many links there are.
    private func parents(linkedBy links: any LinkStorage) throws -> [Key] {
        if try flat.count(Query()) > Self.fewRows { return try links.counts().map(\.parent) }
        let keys = try flat.keys(Query())
        return zip(keys, try links.children(of: keys, limit: 1).counts).filter { $1 > 0 }.map(\.0)
    }

    /// The number of rows for which links are looked up one by one.
    private static var fewRows: Int { 1_000 }

    /// Returns a condition on the rows by their number of children that meet a condition.
    private func counted(
        _ relation: any Relation<Record>, holding node: PredicateNode, _ comparison: Comparison, _ count: Int, among keys: [Key]?
    ) throws -> PredicateNode {
        func holds(_ number: Int) -> Bool { comparison.holds(number, against: count) }
        if node != .constant(true) {
            let links = try relation.links(in: graph)
            let children = try keys.map { try links.children(of: $0) }
            let matching = try relation.children(matching: node, among: children?.keys, in: graph)
            let parents = try keys ?? links.parents(of: matching)
            let lists = try (children ?? links.children(of: parents)).lists
            let matchingKeys = Set(matching)
            let numbers = zip(parents, lists).map { ($0, $1.count { matchingKeys.contains($0) }) }
            if keys != nil { return isOne(of: numbers.filter { holds($1) }.map(\.0)) }
            return holds(0)
                ? .not(isOne(of: numbers.filter { !holds($1) }.map(\.0))) : isOne(of: numbers.filter { holds($1) }.map(\.0))
        }
        if let keys {
            // A list that is longer by one tells as much as a whole one.
            let limit = count == .max ? count : max(count, 0) + 1
            let counts = try relation.links(in: graph).children(of: keys, limit: limit).counts
            return isOne(of: zip(keys, counts).filter { holds($1) }.map(\.0))
        }
        let counts = try relation.links(in: graph).counts()
        return holds(0)
            ? .not(isOne(of: counts.filter { !holds($0.count) }.map(\.parent)))
            : isOne(of: counts.filter { holds($0.count) }.map(\.parent))
    }

    /// Returns a condition on the rows of which a field compares with a field of their related row.
    private func comparing(
        _ field: Int, _ comparison: Comparison, _ relation: any Relation<Record>, _ relatedField: Int, among keys: [Key]?
    ) throws -> PredicateNode {
        let entity = Record.schema.description
        // A row that is read without related rows has the key of a Reference, and not that of an optional model.
        let isInRows = try relation.isReference && relation.links(in: graph).isInRows
        let fields = Set([entity.keyIndex, field] + (isInRows ? [relation.field] : []))
        var columns: [Int: [Value]] = [:]
        try flat.readFields(fields.sorted(), keys.map { Query(where: Condition(isOne(of: $0))) } ?? Query()) { row in
            for field in fields { columns[field, default: []].append(try row.readValue(at: field)) }
        }
        let own = columns[entity.keyIndex, default: []]
        let related = try relation.values(
            of: relatedField, keys: own.compactMap { Key($0, of: entity.keyKind) },
            children: isInRows ? columns[relation.field, default: []] : nil, in: graph)
        let filter = Filter.compareFields(0, comparison, 1, isNegated: false)
        let pairs = zip(columns[field, default: []], related)
        let found = zip(own, pairs).filter { _, pair in filter.matches { $0 == 0 ? pair.0 : pair.1 } }
        return .isIn(field: entity.keyIndex, found.map(\.0))
    }

    /// Returns a condition on the rows whose related row is, or is not, in a list. With null in the list, no
    /// related row counts as being in it. It is nil when the rows contain the key of the related row, so the database
    /// evaluates the condition as it is.
    private func comparing(
        _ relation: any Relation<Record>, _ values: [Value], _ comparison: Comparison
    ) throws -> PredicateNode? {
        let keys = try relation.check(values, comparison)
        let links = try relation.links(in: graph)
        if links.isInRows { return nil }
        guard comparison == .equal || comparison == .notEqual else {
            guard let value = values.first, !value.isNull else { return .constant(false) }
            let node = PredicateNode.compare(field: relation.targetDescription.keyIndex, comparison, value)
            return try parents(relation, of: relation.children(matching: node, among: nil, in: graph))
        }
        var found = isOne(of: try links.parents(of: keys))
        if values.contains(.null) { found = .or([found, .not(isOne(of: try links.counts().map(\.parent)))]) }
        return comparison == .equal ? found : .not(found)
    }

    func isOne(of keys: [Key]) -> PredicateNode { .isIn(field: Record.schema.description.keyIndex, keys.map(\.value)) }
}

extension Schema {
    /// Returns the relationship of a field, or the inverse one at a position after the fields; nil when there is none.
    func relation(at field: Int) -> (any Relation<Record>)? {
        guard field < description.fields.count else { return inverses[field] }
        return relations.first { $0.field == field }
    }

    /// Returns the relationship at a position of a condition.
    func checkedRelation(at field: Int) throws -> any Relation<Record> {
        if let relation = relation(at: field) { return relation }
        let name = description.fields.indices.contains(field) ? description.fields[field].name : "\(field)"
        throw PredicateProblem("'\(name)' of '\(description.name)' is not a relationship", field: name)
            .error(entity: description.name)
    }

    /// Returns the to-one relationship at a position of a condition that compares a field with one of the related row.
    ///
    /// - Throws: `.invalidPredicate` when it is no such relationship, or the fields do not compare.
    func compared(
        _ field: Int, _ comparison: Comparison, _ relation: Int, _ relatedField: Int
    ) throws -> any Relation<Record> {
        let relation = try checkedRelation(at: relation)
        let target = relation.targetDescription
        guard relation.isToOne, description.fields.indices.contains(field), target.fields.indices.contains(relatedField) else {
            throw PredicateProblem(
                "'\(relation.name)' of '\(description.name)' leads to no single row with that field", field: relation.name
            ).error(entity: description.name)
        }
        let fields = (description.fields[field], target.fields[relatedField])
        try Literal.checkComparable(fields.0, fields.1, entity: description.name)
        try Literal.checkOrder(comparison, fields.0, entity: description.name)
        return relation
    }

    /// Returns what a condition on related rows says as the existence of one that meets a condition, or of none.
    ///
    /// - Returns: Nil for another node, and for one on the number of related rows.
    func existence(
        _ node: PredicateNode
    ) throws -> (relation: any Relation<Record>, condition: PredicateNode, isNegated: Bool)? {
        switch node {
        case .related(let field, let match, let inner):
            return (try checkedRelation(at: field), match == .all ? .not(inner) : inner, match != .any)
        case .through(let field, let inner):
            let relation = try checkedRelation(at: field)
            let isNegated = try inner.holdsWithoutRow(of: relation.target)
            return (relation, isNegated ? .not(inner) : inner, isNegated)
        case .relatedCount(let field, let condition, let comparison, let count):
            guard let exists = comparison.existence(of: count) else { return nil }
            return (try checkedRelation(at: field), condition, !exists)
        default: return nil
        }
    }
}

extension Relation {
    /// Checks that the related row can be compared with values, and returns their keys.
    @discardableResult func check(_ values: [Value], _ comparison: Comparison) throws -> [Key] {
        let entity = Parent.schema.description
        guard isToOne, isReference || comparison == .equal || comparison == .notEqual else {
            throw PredicateProblem(
                "'\(name)' of '\(entity.name)' is a relationship: only one to a single model compares, and only a Reference for more "
                    + "than equality",
                field: name
            ).error(entity: entity.name)
        }
        let target = targetDescription
        return try values.filter { !$0.isNull }.map { value -> Key in
            guard let key = Key(value, of: target.keyKind) else {
                throw PredicateProblem("the keys of '\(target.name)' are of type \(target.keyKind.rawValue)").error(
                    entity: entity.name)
            }
            return key
        }
    }
}

extension PredicateNode {
    /// Returns whether the node contains a condition on related rows.
    ///
    /// - Parameter entity: The entity of the rows; nil when comparisons of a relationship with a row do not count.
    func reachesRelated(_ entity: EntityDescription?) -> Bool { !allLeaves { !$0.isAboutRelated(entity) } }

    fileprivate func isAboutRelated(_ entity: EntityDescription?) -> Bool {
        switch self {
        case .related, .relatedCount, .through, .compareRelated: true
        case .compare(let field, _, _), .isIn(let field, _): entity?.isRelationship(at: field) == true
        default: false
        }
    }

    /// Whether all conditions that are joined and negated meet a condition.
    fileprivate func allLeaves(_ meets: (PredicateNode) throws -> Bool) rethrows -> Bool {
        var pending: [PredicateNode] = []
        var next: PredicateNode? = self
        while let node = next {
            switch node {
            case .and(let nodes), .or(let nodes): pending += nodes
            case .not(let node): pending.append(node)
            default: if try !meets(node) { return false }
            }
            next = pending.popLast()
        }
        return true
    }

    /// Returns whether the node holds where there is no row: all fields are nil, as in an optional chain, and
    /// all lists are empty.
    func holdsWithoutRow<Record: Model>(of model: Record.Type) throws -> Bool {
        try folded(
            tooDeep: { PredicateProblem.tooDeep(Self.maximumDepth).error(entity: Record.schema.description.name) },
            leaf: { try $0.leafHoldsWithoutRow(of: model) != $1 },
            join: { isAnd, parts in isAnd ? !parts.contains(false) : parts.contains(true) })
    }

    private func leafHoldsWithoutRow<Record: Model>(of model: Record.Type) throws -> Bool {
        switch self {
        case .related(_, let match, _): return match != .any
        case .relatedCount(_, _, let comparison, let count): return comparison.holds(0, against: count)
        case .compareRelated(_, let comparison, _, _): return comparison == .equal
        case .through(let field, let node):
            guard let relation = Record.schema.relation(at: field) else { return false }
            return try node.holdsWithoutRow(of: relation.target)
        case .compare(let field, let comparison, let value) where Record.schema.relation(at: field) != nil:
            return comparison == .equal ? value.isNull : comparison == .notEqual && !value.isNull
        case .isIn(let field, let values) where Record.schema.relation(at: field) != nil:
            return values.contains(.null)
        default: return try filter(for: Record.schema.description).matches { _ in .null }
        }
    }
}

extension EntityDescription {
    /// Whether the field at a position is a relationship; false where there is no field.
    func isRelationship(at index: Int) -> Bool { fields.indices.contains(index) && fields[index].type.kind.isRelationship }
}

extension Comparison {
    /// Whether a number of rows that compares so with another is any number but zero (true), or is zero (false); nil for others.
    fileprivate func existence(of number: Int) -> Bool? {
        switch (self, number) {
        case (.greater, 0), (.notEqual, 0), (.greaterOrEqual, 1): true
        case (.equal, 0), (.lessOrEqual, 0), (.less, 1): false
        default: nil
        }
    }

    /// Returns whether the comparison holds between two numbers.
    func holds(_ number: Int, against other: Int) -> Bool {
        holds(number < other ? -1 : (number == other ? 0 : 1))
    }
}
