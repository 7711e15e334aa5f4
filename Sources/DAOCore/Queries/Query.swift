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
