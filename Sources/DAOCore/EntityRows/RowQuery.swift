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
    ///
    /// ```swift
    /// let order: [RowQuery.Order] = [.last("isCompleted == true"), .ascending("dueDate", nils: .last), .descending("title", .caseInsensitive)]
    /// ```
    public struct Order: Sendable {
        private enum Subject {
            case field(String, TextOptions, NilPlacement)
            case condition(TextPredicate)
        }

        private let subject: Subject
        private let isAscending: Bool

        /// From the smallest value to the greatest.
        ///
        /// - Parameters:
        ///   - field: The stored name of the field; for a field of the related row, a path such as `author.name`.
        ///   - options: The differences that the order of a text ignores.
        ///   - nils: Where the rows come in which the field is nil.
        public static func ascending(_ field: String, _ options: TextOptions = [], nils: NilPlacement = .first) -> Order {
            Order(subject: .field(field, options, nils), isAscending: true)
        }

        /// From the greatest value to the smallest.
        ///
        /// - Parameters:
        ///   - field: The stored name of the field; for a field of the related row, a path such as `author.name`.
        ///   - options: The differences that the order of a text ignores.
        ///   - nils: Where the rows come in which the field is nil.
        public static func descending(_ field: String, _ options: TextOptions = [], nils: NilPlacement = .last) -> Order {
            Order(subject: .field(field, options, nils), isAscending: false)
        }

        /// The rows that meet a condition before all others.
        public static func first(_ condition: TextPredicate) -> Order {
            Order(subject: .condition(condition), isAscending: false)
        }

        /// The rows that meet a condition after all others.
        public static func last(_ condition: TextPredicate) -> Order {
            Order(subject: .condition(condition), isAscending: true)
        }

        /// The term of a model's sort.
        fileprivate func sort<Record: Model>(of model: Record.Type) -> Sort<Record> {
            switch subject {
            case .field(let field, let options, let nils): return .by(field, ascending: isAscending, options, nils: nils)
            case .condition(let predicate):
                let condition = Condition<Record>(predicate.format, arguments: predicate.arguments)
                return isAscending ? .last(condition) : .first(condition)
            }
        }
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
            orderedBy: order.map { $0.sort(of: model) }, limit: limit, offset: offset, after: after,
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
