/// A query in the form that backends interpret. It is checked, fields are positions, and the order is total.
public struct ResolvedQuery: Sendable {
    /// The filter of the rows, including the lower bound of the page.
    public var filter: Filter
    /// The order, without duplicate fields. The last term is always the primary key, so no two rows are equal
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

/// A term of a resolved order.
public struct SortTerm: Sendable, Hashable {
    /// The position of the field.
    public var field: Int
    /// Whether the order is ascending.
    public var isAscending: Bool

    /// Creates a term.
    ///
    /// - Parameters:
    ///   - field: The position of the field.
    ///   - isAscending: Whether the order is ascending.
    public init(field: Int, isAscending: Bool) {
        self.field = field
        self.isAscending = isAscending
    }
}

extension Query {
    /// Returns the query in the form that backends interpret.
    ///
    /// - Throws: `.invalidPredicate` or `.invalidQuery` when the query is not valid for the model.
    public func resolved() throws -> ResolvedQuery { try Record.schema.resolved(self) }

    /// Returns the order without duplicate fields and with the primary key as its last term.
    func orderTerms() throws -> [SortTerm] { try SortTerm.terms(of: uncheckedOrder, in: Record.schema.description) }
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
        let terms = try SortTerm.terms(of: query.uncheckedOrder, in: description)
        var filter = try filter(of: query.predicate, withRelated: withRelated)
        if let after = query.after { filter = .every([filter, try after.filter(order: terms, entity: description)]) }
        return ResolvedQuery(
            filter: filter, order: terms, limit: query.limit, offset: query.offset,
            includesSubentities: query.includesSubentities)
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
}

extension SortTerm {
    /// Returns an order without duplicate fields and with the primary key as its last term.
    fileprivate static func terms(of order: [UncheckedSortTerm], in entity: EntityDescription) throws -> [SortTerm] {
        var terms: [SortTerm] = []
        terms.reserveCapacity(order.count + 1)
        for sort in order {
            if let problem = sort.problem { throw problem.error(entity: entity.name) }
            if sort.relation != nil {
                throw StorageError(
                    .unsupported,
                    "rows of a group, of an inverse relationship or of a storage without relationships are not sorted by a field of related rows; sort by a field of their own",
                    entity: entity.name)
            }
            guard let field = sort.index, !terms.contains(where: { $0.field == field }) else { continue }
            terms.append(SortTerm(field: field, isAscending: sort.isAscending))
            if field == entity.keyIndex { return terms }
        }
        terms.append(SortTerm(field: entity.keyIndex, isAscending: true))
        return terms
    }
}
