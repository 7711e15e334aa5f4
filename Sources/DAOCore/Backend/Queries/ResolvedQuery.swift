/// A query in the form that backends interpret. It is checked, fields are positions, and the order is total.
public struct ResolvedQuery: Sendable {
    /// The filter of the rows, including the lower bound of the page.
    public var filter: Filter
    /// The order, without repeated terms. The last term is always the primary key, so no two rows are equal
    /// in it.
    public var order: [SortTerm]
    /// The maximum number of rows; nil for all.
    public var limit: Int?
    /// The number of rows to skip; never negative.
    public var offset: Int
    /// Whether related models are read.
    public var includesSubentities: Bool

    /// Creates a query.
    package init(
        filter: Filter, order: [SortTerm], limit: Int? = nil, offset: Int = 0, includesSubentities: Bool = false
    ) {
        self.filter = filter
        self.order = order
        self.limit = limit
        self.offset = offset
        self.includesSubentities = includesSubentities
    }

    /// Whether the order is the ascending order of the primary key.
    public var isInKeyOrder: Bool { order.count == 1 && order[0].isAscending }
}

extension Query {
    /// Returns the query in the form that backends interpret.
    ///
    /// - Throws: `.invalidPredicate` or `.invalidQuery` when the query is not valid for the model.
    public func resolved() throws -> ResolvedQuery { try Record.schema.resolved(self) }

    /// Returns the order without repeated terms and with the primary key as its last term.
    ///
    /// - Throws: `.unsupported` for a term that is about related rows.
    func orderTerms() throws -> [SortTerm] { try Record.schema.ownTerms(of: uncheckedOrder) }
}

// Functions of the schema: code that is not compiled for a model has the type of an instance of a class, and looks up that of a
// structure in each call.
extension Schema {
    /// Returns a query in the form that backends interpret.
    ///
    /// - Parameter withRelated: Whether it has its conditions on related rows, as SQL engines interpret them.
    package func resolved(_ query: Query<Record>, withRelated: Bool = false) throws -> ResolvedQuery {
        if let limit = query.limit, limit < 0 { throw StorageError.negative("limit", limit, description.name) }
        if query.offset < 0 { throw StorageError.negative("offset", query.offset, description.name) }
        let terms = try ownTerms(of: query.uncheckedOrder)
        var filter = try filter(of: query.predicate, withRelated: withRelated)
        if let after = query.after { filter = .every([filter, try after.filter(order: terms, entity: description)]) }
        return ResolvedQuery(
            filter: filter, order: terms, limit: query.limit, offset: query.offset,
            includesSubentities: query.includesSubentities)
    }

    /// Checks a query, which can have sorts by fields of related rows, without running it.
    func check(_ query: Query<Record>) throws {
        var own = query
        if query.sortsThroughRelations {
            _ = try terms(of: query.uncheckedOrder)
            (own.order, own.after) = ([], nil)
        }
        _ = try resolved(own, withRelated: true)
    }

    /// Returns the filter of a condition, without or with conditions on related rows.
    ///
    /// - Throws: `.invalidPredicate` when the condition is not valid for the model; `.unsupported` for a condition on related rows
    ///   without these.
    private func filter(of condition: Condition<Record>, withRelated: Bool) throws -> Filter {
        let tree = condition.tree
        func make() throws -> Filter {
            try withRelated ? tree.node.filter(of: Record.self) : tree.node.filter(for: description)
        }
        return try condition.resolved?.filter(withRelated: withRelated, make) ?? make()
    }

    /// Returns an order as ``terms(of:)`` does, for a storage of rows alone.
    func ownTerms(of order: [UncheckedSortTerm]) throws -> [SortTerm] {
        let terms = try terms(of: order)
        if terms.contains(where: \.isAboutRelated) {
            throw StorageError(
                .unsupported,
                "rows of a storage without relationships are not sorted by a field of related rows; sort by a field of their own",
                entity: description.name)
        }
        return terms
    }

    /// Returns an order without repeated terms. After its terms come the exact texts of those that ignore differences, then the
    /// primary key.
    func terms(of order: [UncheckedSortTerm]) throws -> [SortTerm] {
        let keyIndex = description.keyIndex
        var terms: [SortTerm] = []
        terms.reserveCapacity(order.count + 1)
        var folded: [SortTerm] = []
        for sort in order {
            guard let term = try term(of: sort), !terms.contains(where: term.hasSameSubject) else { continue }
            terms.append(term)
            if term.field == keyIndex, term.relation == nil { return terms }
            if case .folded = term.subject { folded.append(term) }
        }
        for var term in folded {
            guard case .folded(let field, _) = term.subject else { continue }
            term.subject = .field(field)
            if terms.contains(where: term.hasSameSubject) { continue }
            terms.append(term)
            if field == keyIndex, term.relation == nil { return terms }
        }
        terms.append(SortTerm(.field(keyIndex), isAscending: true))
        return terms
    }

    /// Returns a term of an order; nil for a condition that all rows meet, or none.
    func term(of sort: UncheckedSortTerm) throws -> SortTerm? {
        if let problem = sort.problem { throw problem.error(entity: description.name) }
        if let condition = sort.condition {
            let filter = try condition.node.filter(of: Record.self)
            if filter == .all || filter == .none { return nil }
            let otherwise = try PredicateNode.not(condition.node).filter(of: Record.self)
            return SortTerm(.condition(filter, otherwise: otherwise), isAscending: sort.isAscending)
        }
        guard let field = sort.index else { return nil }
        let mayBeNull = sort.relation != nil || description.fields[field].type.isOptional
        return SortTerm(
            sort.options.isEmpty ? .field(field) : .folded(field, sort.options), isAscending: sort.isAscending,
            nilsFirst: mayBeNull ? sort.nilsFirst : nil, relation: sort.relation)
    }
}
