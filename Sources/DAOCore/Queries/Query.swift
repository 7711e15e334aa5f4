/// What to read: a plain value that every backend interprets alike.
///
/// ```swift
/// let query = Query<MessageModel>(where: Condition { !$0.isRead }, orderedBy: [.descending(\.date)], limit: 50)
/// ```
public struct Query<Record: Model>: Sendable, Hashable {
    /// Which rows.
    public var predicate: Condition<Record>
    /// In which order; by primary key when empty.
    public var order: [Sort<Record>]
    /// How many at most; nil for all.
    public var limit: Int?
    /// How many of the first to leave out.
    public var offset: Int
    /// The page to go on after, from ``Page/next``.
    public var after: PageCursor?
    /// Whether related models are read too; without them, relationship fields are empty and never written back (contract R6).
    public var includesSubentities: Bool

    /// Describes a query.
    ///
    /// - Parameters:
    ///   - predicate: Which rows.
    ///   - order: In which order; by primary key when empty.
    ///   - limit: How many at most; nil for all. Negative is `.invalidQuery` when the query runs.
    ///   - offset: How many of the first to leave out. Negative is `.invalidQuery` when the query runs.
    ///   - after: The page to go on after.
    ///   - includesSubentities: Whether related models are read too.
    public init(
        where predicate: Condition<Record> = .all, orderedBy order: [Sort<Record>] = [], limit: Int? = nil, offset: Int = 0,
        after: PageCursor? = nil, includesSubentities: Bool = true
    ) {
        self.predicate = predicate
        self.order = order
        self.limit = limit
        self.offset = offset
        self.after = after
        self.includesSubentities = includesSubentities
    }
}

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
        if let limit, limit < 0 { throw StorageError.negative("limit", limit, entity.name) }
        if offset < 0 { throw StorageError.negative("offset", offset, entity.name) }
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
                    .unsupported,
                    "a sort by a field of related rows needs the storage of a database and has no pages; use limit and offset",
                    entity: entity.name)
            }
            guard let field = sort.index, !terms.contains(where: { $0.field == field }) else { continue }
            terms.append(SortTerm(field: field, isAscending: sort.isAscending))
            if field == entity.keyIndex { return terms }
        }
        return terms + [SortTerm(field: entity.keyIndex, isAscending: true)]
    }
}
