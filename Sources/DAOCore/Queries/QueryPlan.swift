/// The plan of a query.
///
/// ```swift
/// let plan = try messages.explain { $0.date > cutoff }
/// print(plan)  // through the index on 'date'
/// ```
public struct QueryPlan: Sendable, Hashable, CustomStringConvertible {
    /// The access path of a query.
    public enum Access: Sendable, Hashable {
        /// The primary key.
        case primaryKey
        /// The index on one or several fields, in their order.
        case index([String])
        /// A scan of all rows.
        case scan
        /// No access: no row can match.
        case nothing
    }

    /// The access path.
    public var access: Access
    /// Whether the access path also returns rows that do not match, which are then filtered.
    public var filtersRows: Bool
    /// Whether the rows are sorted after they are read.
    public var sortsRows: Bool
    /// How many rows the access path leads to, as the engine estimates before it reads them; nil when it does not tell.
    ///
    /// Key-value databases count up to 1,000 entries: for more, the number is at least 1,000. SQLite does not tell.
    public var estimatedRows: Int?
    /// The engine's description of the plan; empty when it has none.
    public var details: [String]

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - access: The access path.
    ///   - filtersRows: Whether the access path also returns rows that do not match.
    ///   - sortsRows: Whether the rows are sorted after they are read.
    ///   - estimatedRows: How many rows the access path leads to, as the engine estimates.
    ///   - details: The engine's description of the plan.
    public init(
        access: Access, filtersRows: Bool, sortsRows: Bool, estimatedRows: Int? = nil, details: [String] = []
    ) {
        self.access = access
        self.filtersRows = filtersRows
        self.sortsRows = sortsRows
        self.estimatedRows = estimatedRows
        self.details = details
    }

    /// A short description of the plan.
    public var description: String {
        let found =
            switch access {
            case .primaryKey: "by primary key"
            case .index(let fields): "through the index on '\(fields.joined(separator: ", "))'"
            case .scan: "by looking at every row"
            case .nothing: "not at all"
            }
        return found + (filtersRows ? ", filtered" : "") + (sortsRows ? ", sorted" : "")
    }
}
