/// A term of a resolved order.
public struct SortTerm: Sendable, Hashable {
    /// What rows are compared by.
    public enum Subject: Sendable, Hashable {
        /// The value of the field at a position.
        case field(Int)
        /// The text of the field at a position, without what the options ignore. Texts are compared by their bytes then.
        case folded(Int, TextOptions)
        /// Whether a filter matches: in ascending order, the rows that it matches come last. The other filter matches exactly all
        /// other rows.
        case condition(Filter, otherwise: Filter)

        /// The position of the field; nil for a condition.
        public var field: Int? {
            switch self {
            case .field(let field), .folded(let field, _): field
            case .condition: nil
            }
        }
    }

    /// What rows are compared by.
    public var subject: Subject
    /// Whether the order is ascending.
    public var isAscending: Bool
    /// Whether rows without a value come first. Without a choice they do in ascending order, as they do when there are none.
    public var nilsFirst: Bool
    /// The position of the to-one relationship whose row has the field; nil for a field of the row itself, and in the queries
    /// that the storages of rows get.
    package let relation: Int?

    /// Creates a term.
    ///
    /// - Parameters:
    ///   - subject: What rows are compared by.
    ///   - isAscending: Whether the order is ascending.
    ///   - nilsFirst: Whether rows without a value come first; nil for first in ascending and last in descending order.
    public init(_ subject: Subject, isAscending: Bool, nilsFirst: Bool? = nil) {
        self.init(subject, isAscending: isAscending, nilsFirst: nilsFirst, relation: nil)
    }

    init(_ subject: Subject, isAscending: Bool, nilsFirst: Bool?, relation: Int?) {
        self.subject = subject
        self.isAscending = isAscending
        self.nilsFirst = nilsFirst ?? isAscending
        self.relation = relation
    }

    /// The position of the field by whose values, with nil where it is without a choice, rows are compared: the order that an
    /// index on the field has, in one of its directions. It is nil for any other order.
    public var field: Int? {
        if case .field(let field) = subject, nilsFirst == isAscending { field } else { nil }
    }

    /// Returns the value by which a row is compared.
    ///
    /// - Parameter row: A closure that returns a field of the row by its position.
    public func value(_ row: (Int) throws -> Value) rethrows -> Value {
        switch subject {
        case .field(let field): return try row(field)
        case .folded(let field, let options):
            guard case .string(let text) = try row(field) else { return .null }
            return .string(text.folded(options))
        case .condition(let filter, _): return .bool(try filter.matches(row))
        }
    }

    /// Returns a negative number, zero or a positive number when a row with the first value comes before, beside or after a row
    /// with the second value.
    public func order(_ left: Value, _ right: Value) -> Int {
        if left.isNull != right.isNull { return left.isNull == nilsFirst ? -1 : 1 }
        let order = Value.order(left, right)
        return isAscending ? order : order > 0 ? -1 : order < 0 ? 1 : 0
    }

    /// Whether a term is about related rows.
    var isAboutRelated: Bool {
        if relation != nil { return true }
        if case .condition(let filter, _) = subject { return filter.reachesRelated }
        return false
    }

    /// Whether a term compares rows by the same, in whatever direction.
    func hasSameSubject(as other: SortTerm) -> Bool { relation == other.relation && subject == other.subject }
}
