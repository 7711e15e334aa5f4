/// A description of the rows of an entity to read, by the names of its fields. ``EntityRows`` reads them.
///
/// ```swift
/// let query = RowQuery(where: TextPredicate("author == %@", 5), orderedBy: [.descending("date")], limit: 50)
/// ```
public struct RowQuery: Sendable {
    /// The condition that rows must meet; nil for all rows.
    public var predicate: TextPredicate?
    /// The sort terms. Without terms, the order is that of the primary key.
    public var order: [Order]
    /// The maximum number of rows; nil for all.
    public var limit: Int?
    /// The number of rows to skip.
    public var offset: Int
    /// The cursor of the previous page, from ``Page/next``; nil for the first page.
    public var after: PageCursor?

    /// A term of a sort, with the meaning of ``Sort``.
    public struct Order: Sendable, Hashable {
        /// The stored name of the field; for a field of the related row, a path such as `author.name`.
        public var field: String
        /// Whether the order is ascending.
        public var isAscending: Bool

        /// From the smallest value to the greatest, with nil first.
        public static func ascending(_ field: String) -> Order { Order(field: field, isAscending: true) }

        /// From the greatest value to the smallest, with nil last.
        public static func descending(_ field: String) -> Order { Order(field: field, isAscending: false) }
    }

    /// Creates a query.
    ///
    /// - Parameters:
    ///   - predicate: The condition that rows must meet; nil for all rows.
    ///   - order: The sort terms. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of rows; nil for all. With a negative limit, the query throws `.invalidQuery`
    ///     when it runs.
    ///   - offset: The number of rows to skip. With a negative offset, the query throws `.invalidQuery` when it runs.
    ///   - after: The cursor of the previous page; nil for the first page.
    public init(
        where predicate: TextPredicate? = nil, orderedBy order: [Order] = [], limit: Int? = nil, offset: Int = 0,
        after: PageCursor? = nil
    ) {
        self.predicate = predicate
        self.order = order
        self.limit = limit
        self.offset = offset
        self.after = after
    }

    /// The query of a model.
    func query<Record: Model>(of model: Record.Type) -> Query<Record> {
        Query(
            where: predicate.map { Condition($0.format, arguments: $0.arguments) } ?? .all,
            orderedBy: order.map { .by($0.field, ascending: $0.isAscending) }, limit: limit, offset: offset, after: after,
            includesSubentities: false)
    }
}

/// A condition as text, with the values of its placeholders; see ``Condition/init(_:_:)`` for the grammar.
///
/// ```swift
/// let predicate: TextPredicate = "title CONTAINS[c] 'swift'"
/// let recent = TextPredicate("date > %@ AND author.name == %@", cutoff, "Ada")
/// ```
public struct TextPredicate: Sendable, ExpressibleByStringLiteral {
    /// The text.
    public let format: String
    /// The values of the placeholders, in order.
    public let arguments: [(any PredicateArgument)?]

    /// Creates a condition.
    ///
    /// - Parameters:
    ///   - format: The text.
    ///   - arguments: The values of the placeholders, in order. A nil argument is nil.
    public init(_ format: String, _ arguments: (any PredicateArgument)?...) {
        self.format = format
        self.arguments = arguments
    }

    /// Creates a condition without placeholders.
    public init(stringLiteral value: String) { self.init(value) }
}
