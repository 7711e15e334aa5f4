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
    public func resolved() throws -> ResolvedQuery { try resolved(withRelated: false) }

    /// Returns the query in the form that SQL engines interpret, with its conditions on related rows.
    package func resolvedWithRelated() throws -> ResolvedQuery { try resolved(withRelated: true) }

    private func resolved(withRelated: Bool) throws -> ResolvedQuery {
        let entity = Record.schema.description
        if let limit, limit < 0 { throw StorageError.negative("limit", limit, entity.name) }
        if offset < 0 { throw StorageError.negative("offset", offset, entity.name) }
        let terms = try orderTerms()
        var filter = try predicate.filter(withRelated: withRelated)
        if let after { filter = .every([filter, try after.filter(order: terms, entity: entity)]) }
        return ResolvedQuery(
            filter: filter, order: terms, limit: limit, offset: offset, includesSubentities: includesSubentities)
    }

    /// Returns the order without duplicate fields and with the primary key as its last term.
    func orderTerms() throws -> [SortTerm] {
        let entity = Record.schema.description
        let order = uncheckedOrder
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
