/// A query in the form that backends interpret: checked, with positions for fields, and in an order that is total.
public struct ResolvedQuery: Sendable {
    /// Which rows, the page's lower end included.
    public var filter: Filter
    /// The order, without repetitions; the primary key is always its last term, so no two rows tie.
    public var order: [SortTerm]
    /// How many rows at most; nil for all.
    public var limit: Int?
    /// How many of the first to leave out; never negative.
    public var offset: Int
    /// Whether related models are wanted.
    public var includesSubentities: Bool

    /// Whether the order is the primary key's, ascending.
    public var isInKeyOrder: Bool { order.count == 1 && order[0].isAscending }
}

/// One term of a resolved order.
public struct SortTerm: Sendable, Hashable {
    /// The position of the field.
    public var field: Int
    /// The direction.
    public var isAscending: Bool

    /// Creates a term.
    ///
    /// - Parameters:
    ///   - field: The position of the field.
    ///   - isAscending: The direction.
    public init(field: Int, isAscending: Bool) {
        self.field = field
        self.isAscending = isAscending
    }
}

extension Query {
    /// The query in the form that backends interpret.
    ///
    /// - Throws: `.invalidPredicate` or `.invalidQuery` when it does not make sense for the model.
    public func resolved() throws -> ResolvedQuery {
        let entity = Record.schema.description
        if let limit, limit < 0 { throw StorageError(.invalidQuery, "the limit is negative: \(limit)", entity: entity.name) }
        if offset < 0 { throw StorageError(.invalidQuery, "the offset is negative: \(offset)", entity: entity.name) }
        let terms = try orderTerms()
        var filter = try predicate.node.filter(for: entity)
        if let after { filter = .every([filter, try after.filter(order: terms, entity: entity)]) }
        return ResolvedQuery(
            filter: filter, order: terms, limit: limit, offset: offset, includesSubentities: includesSubentities)
    }

    /// The order with repetitions dropped and the primary key at its end.
    func orderTerms() throws -> [SortTerm] {
        let entity = Record.schema.description
        var terms: [SortTerm] = []
        for sort in order {
            if let problem = sort.problem { throw problem.error(entity: entity.name) }
            if sort.relation != nil {
                throw StorageError(
                    .unsupported, "a sort by a field of related rows needs the storage of a database, and has no pages",
                    entity: entity.name)
            }
            guard let field = sort.index, !terms.contains(where: { $0.field == field }) else { continue }
            terms.append(SortTerm(field: field, isAscending: sort.isAscending))
            if field == entity.keyIndex { return terms }
        }
        return terms + [SortTerm(field: entity.keyIndex, isAscending: true)]
    }
}
