// Sorts that the storage of the rows cannot evaluate: by fields of related rows, and what its engine has no expression for.

/// An order by fields of related rows.
final class RelatedOrder<Record: Model>: Sendable {
    /// The parts of an order whose first term is a field of the related row, and no other one is, where rows contain the key of
    /// the related row.
    final class First: Sendable {
        let relation: any Relation<Record>
        /// The first term, from the first row.
        fileprivate let sort: RelatedSort
        /// The other terms.
        fileprivate let others: [Sort<Record>]
        fileprivate let otherTerms: [SortTerm]

        fileprivate init(_ relation: any Relation<Record>, _ term: SortTerm, field: Int, others: Query<Record>) throws {
            self.relation = relation
            sort = RelatedSort(
                relation: relation.description, target: relation.targetDeclaration, field: field,
                isAscending: term.isAscending, nilsFirst: term.nilsFirst)
            self.others = others.order
            otherTerms = try others.orderTerms()
        }
    }

    fileprivate let order: [UncheckedSortTerm]
    /// The terms, without repeated ones, and with the primary key as the last one.
    let terms: [SortTerm]
    /// Nil for another order.
    fileprivate let first: First?

    fileprivate init(_ query: Query<Record>, in graph: StorageGraph) throws {
        order = query.uncheckedOrder
        terms = try Record.schema.terms(of: query.uncheckedOrder)
        guard let term = terms.first, let place = term.relation, case .field(let field) = term.subject,
            terms.dropFirst().allSatisfy({ if case .field = $0.subject { $0.relation == nil } else { false } }),
            case let relation = try Record.schema.checkedRelation(at: place), try relation.links(in: graph).isInRows
        else {
            first = nil
            return
        }
        first = try First(
            relation, term, field: field, others: Query(orderedBy: query.order.filter { $0.term.relation == nil }))
    }
}

extension RelatedOrder.First {
    /// Returns a query without the first term, from the first row.
    fileprivate func rest(of query: Query<Record>) -> Query<Record> {
        var rest = query
        (rest.order, rest.after) = (others, nil)
        return rest
    }

    /// Returns the first term, for the rows after one with the values of all terms; nil for all rows.
    fileprivate func sort(after start: [Value]?) -> RelatedSort {
        var sort = sort
        sort.start = start.map {
            RelatedSort.Start(
                value: $0[0], filter: PageCursor.filter(after: $0.dropFirst(), in: otherTerms, of: Record.schema.description))
        }
        return sort
    }

    /// Returns a position among the rows with one value of the first term.
    fileprivate func restStart(_ start: [Value]?) -> PageCursor? {
        start.map { PageCursor(after: $0.dropFirst(), in: otherTerms, of: Record.schema.description) }
    }
}

/// The last order by fields of related rows. To find what it leads to costs as much as to read ten rows.
final class LastRelatedOrder<Record: Model>: Sendable {
    private let last = Lock<RelatedOrder<Record>?>(nil)

    /// Returns the order of a query.
    fileprivate func order(of query: Query<Record>, in graph: StorageGraph) throws -> RelatedOrder<Record> {
        if let order = last.withLock({ $0 }), order.order == query.uncheckedOrder { return order }
        let order = try RelatedOrder(query, in: graph)
        last.withLock { $0 = order }
        return order
    }
}

extension GraphStorage {
    /// Returns the rows of a query that sorts by fields of related rows, in its order, without related rows.
    func sortedRows(_ query: Query<Record>) throws -> [Record] {
        let (order, start) = try checkedSort(query)
        if query.limit == 0 { return [] }
        if let first = order.first {
            if let evaluating {
                do {
                    return try answering(first.rest(of: query)) { try evaluating.read($0, sortedBy: first.sort(after: start)) }
                } catch is RelatedConditionsUnavailable {}
            } else if let limit = query.limit, let wanted = query.wanted(limit),
                let rows = try rows(of: query, by: first, after: start, wanted)
            {
                return Array(rows.dropFirst(query.offset))
            }
        }
        return try flat.read(keys: sortedKeys(query, order.terms, start), includesSubentities: false)
    }

    /// Returns the keys of the rows of a query that sorts by fields of related rows, in its order. Nothing but the fields of the
    /// sort is read, of all rows that meet the condition.
    func sortedKeys(_ query: Query<Record>) throws -> [Key] {
        let (order, start) = try checkedSort(query)
        return try sortedKeys(query, order.terms, start)
    }

    private func sortedKeys(_ query: Query<Record>, _ terms: [SortTerm], _ start: [Value]?) throws -> [Key] {
        let entity = Record.schema.description
        let relations = try terms.map { try $0.relation.map { try relation(at: $0) } }
        // A row that is read without related rows has the key of a Reference, and not that of an optional model.
        let isInRows = try relations.map { try $0.map { try $0.isReference && $0.links(in: graph).isInRows } ?? true }
        // The values of each field that is read of all rows.
        var columns: [Int: [Value]] = [entity.keyIndex: []]
        for (term, isInRows) in zip(terms, isInRows) where isInRows {
            for field in term.relation.map({ [$0] }) ?? ownFields(of: term) { columns[field] = [] }
        }
        let fields = columns.keys.sorted()
        var unsorted = query
        (unsorted.order, unsorted.after, unsorted.limit, unsorted.offset) = ([], nil, nil, 0)
        try answering(unsorted) {
            for field in fields { columns[field] = [] }
            try flat.readFields(fields, $0) { row in for field in fields { columns[field]?.append(try row.readValue(at: field)) }
            }
        }
        let keys = columns[entity.keyIndex, default: []].compactMap { Key($0, of: entity.keyKind) }
        let values: [[Value]] = try zip(terms, relations).map { term, relation in
            if let relation, let place = term.relation {
                let values = try relation.values(of: term.subject.field ?? 0, keys: keys, children: columns[place], in: graph)
                return values.map { value in term.value { _ in value } }
            }
            if ownFields(of: term).isEmpty {
                let found = try self.keys(of: unsorted, alsoMeeting: condition(of: term, in: query))
                return keys.map { .bool(found.contains($0)) }
            }
            return keys.indices.map { row in term.value { columns[$0]?[row] ?? .null } }
        }
        func isBefore(_ left: (Int) -> Value, _ right: (Int) -> Value) -> Bool {
            for (number, term) in terms.enumerated() {
                let order = term.order(left(number), right(number))
                if order != 0 { return order < 0 }
            }
            return false
        }
        var order = Array(keys.indices)
        if let start { order.removeAll { index in !isBefore({ start[$0] }, { values[$0][index] }) } }
        order.sort { left, right in isBefore({ values[$0][left] }, { values[$0][right] }) }
        let rest = order.dropFirst(query.offset)
        return (query.limit.map { rest.prefix($0) } ?? rest).map { keys[$0] }
    }

    /// The fields of a row from which a term has its value; none for a condition that is about related rows.
    private func ownFields(of term: SortTerm) -> [Int] {
        switch term.subject {
        case .field(let field), .folded(let field, _): [field]
        case .condition(let filter, _):
            filter.reachesRelated || !filter.fields.isDisjoint(with: Record.schema.relations.map(\.field))
                ? [] : filter.fields.sorted()
        }
    }

    /// The condition of a term of a query.
    private func condition(of term: SortTerm, in query: Query<Record>) throws -> PredicateNode {
        for sort in query.uncheckedOrder {
            if let condition = sort.condition, try Record.schema.term(of: sort)?.hasSameSubject(as: term) == true {
                return condition.node
            }
        }
        return .constant(false)
    }

    /// Returns the keys of the rows of a query that meet a further condition.
    private func keys(of query: Query<Record>, alsoMeeting node: PredicateNode) throws -> Set<Key> {
        var query = query
        query.predicate = Condition(ConditionTree(resolved: .and([query.predicate.node, node])))
        return Set(try answering(query, flat.keys))
    }

    /// Returns the rows of a query that sorts by a field of related rows in no snapshot, when the storage of the rows evaluates
    /// all of it.
    ///
    /// - Returns: Nil when the query reads related rows, too.
    func sortedAtOnce(_ query: Query<Record>) throws -> [Record]? {
        guard let evaluating, try isAnswered(query.predicate.node, by: evaluating) else { return nil }
        let (order, start) = try sort(of: query)
        guard let first = order.first else { return nil }
        do {
            return try evaluating.read(first.rest(of: query), sortedBy: first.sort(after: start))
        } catch is RelatedConditionsUnavailable { return nil }
    }

    /// Returns the order of a query, and the values of the row that it begins after; nil for the first row.
    private func sort(of query: Query<Record>) throws -> (order: RelatedOrder<Record>, start: [Value]?) {
        let order = try lastOrder.order(of: query, in: graph)
        return (order, try query.after?.values(of: order.terms, in: Record.schema))
    }

    /// Returns the order of a query, whose limit, offset and condition are checked.
    private func checkedSort(_ query: Query<Record>) throws -> (order: RelatedOrder<Record>, start: [Value]?) {
        let sort = try sort(of: query)
        var unsorted = query
        (unsorted.order, unsorted.after) = ([], nil)
        _ = try Record.schema.resolved(unsorted, withRelated: true)
        return sort
    }

    /// Returns the value of a term of a query in a row.
    func value(of term: SortTerm, _ record: Record, in query: Query<Record>) throws -> Value {
        let schema = Record.schema
        if let related = term.relation {
            let key = schema.key(of: record)
            let value = try relation(at: related).values(of: term.subject.field ?? 0, keys: [key], in: graph)[0]
            return term.value { _ in value }
        }
        if ownFields(of: term).isEmpty {
            return .bool(try !keys(among: [schema.key(of: record)], meeting: condition(of: term, in: query)).isEmpty)
        }
        return term.value { schema.value(at: $0, of: record) }
    }

    /// Whether an index leads to so few rows that it is better to sort them.
    func isLedToFew(_ node: PredicateNode) throws -> Bool {
        let conditions = node.conjuncts.filter { !$0.reachesRelated(Record.schema.description) }
        if conditions.isEmpty || conditions == [.constant(true)] { return false }
        let plan = try flat.explain(Query(where: Condition(ConditionTree(resolved: .and(conditions)))))
        return plan.access != .scan && plan.estimatedRows.map { $0 < LimitedReading.current.few } == true
    }

    /// Returns the first rows of a query in the order of a field of their related rows. The related rows lead to them, read in the
    /// order of an index on the field, until there are enough.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - first: The first term of its order.
    ///   - start: The values of the row that the rows come after; nil for the first rows.
    ///   - wanted: The number of rows.
    /// - Returns: Nil when there is no such index, or when it would not lead to the rows soon.
    private func rows(
        of query: Query<Record>, by first: RelatedOrder<Record>.First, after start: [Value]?, _ wanted: Int
    ) throws -> [Record]? {
        let (relation, sort, condition) = (first.relation, first.sort, query.predicate.node)
        let field = relation.targetDescription.fields[sort.field]
        if try !(field.isIndexed || field.isPrimaryKey) || isLedToFew(condition) { return nil }
        // Rows without a related row are equal to rows whose related row has no value.
        var withoutValue = PredicateNode.compare(field: relation.field, .equal, .null)
        if field.type.isOptional {
            let node = PredicateNode.compare(field: sort.field, .equal, .null)
            guard let children = try relation.few(LimitedReading.current.few, matching: node, in: graph) else { return nil }
            withoutValue = .or([withoutValue, .isIn(field: relation.field, children.map(\.value))])
        }
        var part = first.rest(of: query)
        part.offset = 0
        var rows: [Record] = []
        /// Adds the rows that meet a condition, and returns whether more are wanted.
        func add(_ node: PredicateNode, after cursor: PageCursor?) throws -> Bool {
            part.limit = wanted - rows.count
            part.after = cursor
            part.predicate = Condition(ConditionTree(resolved: .and([condition, node])))
            rows += try flatRows(part)
            return rows.count < wanted
        }
        let startValue = start?.first
        func addWithoutValue() throws -> Bool {
            try add(withoutValue, after: startValue?.isNull == true ? first.restStart(start) : nil)
        }
        var wantsMore = true
        if sort.nilsFirst, startValue?.isNull != false { wantsMore = try addWithoutValue() }
        // Where nil comes last, no row with a value comes after one without.
        if wantsMore, sort.nilsFirst || startValue?.isNull != true {
            let value = startValue?.isNull == true ? nil : startValue
            var fruitless = 0
            let isComplete = try relation.forEachGroup(
                by: sort.field, isAscending: sort.isAscending, from: value, limit: LimitedReading.current.few, in: graph
            ) { children, groupValue in
                let count = rows.count
                let isStart = value.map { Value.order($0, groupValue) == 0 } == true
                wantsMore = try add(
                    .isIn(field: relation.field, children.map(\.value)), after: isStart ? first.restStart(start) : nil)
                fruitless = rows.count > count ? 0 : fruitless + 1
                return wantsMore && fruitless < LimitedReading.current.few
            }
            if !isComplete || fruitless == LimitedReading.current.few { return nil }
        }
        if wantsMore, !sort.nilsFirst { _ = try addWithoutValue() }
        return rows
    }
}
