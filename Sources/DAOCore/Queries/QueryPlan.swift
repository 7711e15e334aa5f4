/// How a query is answered.
public struct QueryPlan: Sendable, Hashable, CustomStringConvertible {
    /// How the rows are found.
    public enum Access: Sendable, Hashable {
        /// By primary key.
        case primaryKey
        /// Through the index on a field.
        case index(field: String)
        /// By looking at every row.
        case scan
        /// Not at all: no row can match.
        case nothing
    }

    /// How the rows are found.
    public var access: Access
    /// Whether rows are looked at that may not match.
    public var filtersRows: Bool
    /// Whether the rows have to be sorted after they are found.
    public var sortsRows: Bool
    /// The engine's own words, if it has any.
    public var details: [String]

    /// Describes a plan.
    ///
    /// - Parameters:
    ///   - access: How the rows are found.
    ///   - filtersRows: Whether rows are looked at that may not match.
    ///   - sortsRows: Whether the rows have to be sorted after they are found.
    ///   - details: The engine's own words.
    public init(access: Access, filtersRows: Bool, sortsRows: Bool, details: [String] = []) {
        self.access = access
        self.filtersRows = filtersRows
        self.sortsRows = sortsRows
        self.details = details
    }

    /// The plan in a few words.
    public var description: String {
        let found =
            switch access {
            case .primaryKey: "by primary key"
            case .index(let field): "through the index on '\(field)'"
            case .scan: "by looking at every row"
            case .nothing: "not at all"
            }
        return found + (filtersRows ? ", filtered" : "") + (sortsRows ? ", sorted" : "")
    }
}
