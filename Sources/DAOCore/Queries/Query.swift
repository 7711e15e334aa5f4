/// A description of the rows to read. It is a value that every backend interprets in the same way.
///
/// ```swift
/// let query = Query<MessageModel>(where: Condition { !$0.isRead }, orderedBy: [.descending(\.date)], limit: 50)
/// ```
public struct Query<Record: Model>: Sendable, Hashable {
    /// The condition that rows must meet.
    public var predicate: Condition<Record>
    /// The sort terms. Without terms, the order is that of the primary key.
    public var order: [Sort<Record>]
    /// The maximum number of rows; nil for all.
    public var limit: Int?
    /// The number of rows to skip.
    public var offset: Int
    /// The cursor of the previous page, from ``Page/next``; nil for the first page.
    public var after: PageCursor?
    /// Whether related models are read. If they are not read, relationship fields are empty and are never
    /// written back (contract R6).
    public var includesSubentities: Bool

    /// Creates a query.
    ///
    /// - Parameters:
    ///   - predicate: The condition that rows must meet.
    ///   - order: The sort terms. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of rows; nil for all. With a negative limit, the query throws
    ///     `.invalidQuery` when it runs.
    ///   - offset: The number of rows to skip. With a negative offset, the query throws `.invalidQuery` when
    ///     it runs.
    ///   - after: The cursor of the previous page; nil for the first page.
    ///   - includesSubentities: Whether related models are read.
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
