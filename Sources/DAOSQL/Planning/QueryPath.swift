import DAOCore

/// What a ``SQLSearchPath`` does for a query: the conditions that restrict it, and the order that it has.
struct QueryPath {
    /// What makes a statement use the path.
    let hint: String
    /// The look-up by an element of an array; nil for a path of the table.
    let elements: ElementLookUp?
    /// The conditions on its columns, by their position in the conjunction. All other rows are not looked at.
    let restricting: FieldSet
    /// The fields of the query's order that its rows are in already. Fields with one value in all rows are not among them.
    let ordered: [Int]
    /// Whether its rows are in the query's order, except perhaps rows that are equal in ``ordered``.
    let isOrdered: Bool
    /// Whether rows that are equal in ``ordered`` have to be sorted.
    let sortsGroups: Bool
    /// Whether it leads to one row at most.
    let isSingle: Bool
    /// Whether the values of its first column have no bound on one side at least.
    let isOpen: Bool
    /// The condition of the rows that it leads to, which the query's condition implies.
    let condition: Filter

    /// Creates the path of a query.
    init(_ path: SearchPath, _ query: ResolvedQuery, _ conjuncts: [Filter]) {
        hint = path.hint
        elements = nil
        condition = path.condition ?? .all
        let parts = condition.conjuncts
        var restricting = FieldSet()
        if !parts.isEmpty {
            for number in conjuncts.indices where parts.contains(where: conjuncts[number].implies) { restricting.insert(number) }
        }
        var fixed = FieldSet()
        search: for column in path.columns {
            var isSingle = false
            for (number, conjunct) in conjuncts.enumerated() where conjunct.isRange(of: column.field) {
                restricting.insert(number)
                if conjunct.hasSingleValues(of: column.field) { isSingle = true }
                if conjunct.hasOneValue(of: column.field) { fixed.insert(column.field) }
            }
            if !isSingle { break search }
        }
        self.restricting = restricting
        isSingle = path.uniqueFields?.allSatisfy(fixed.contains) == true
        let first = path.columns[0].field
        var (isFromBelow, isFromAbove) = (true, true)
        for conjunct in conjuncts where conjunct.isRange(of: first) {
            if !conjunct.isLowerBound { isFromBelow = false }
            if !conjunct.isUpperBound { isFromAbove = false }
        }
        isOpen = isFromBelow || isFromAbove
        // Fields with one value change no order.
        var columns = path.columns[...]
        var ordered: [Int] = []
        var isForward: Bool?
        var count = 0
        for term in query.order where term.subject.field.map(fixed.contains) != true {
            count += 1
            // Not when an earlier term is in another order.
            guard ordered.count == count - 1 else { continue }
            columns = columns.drop { fixed.contains($0.field) }
            guard let field = term.field, let column = columns.popFirst(), column.field == field else { continue }
            let isParallel = term.isAscending == column.isAscending
            if isForward ?? isParallel != isParallel { continue }
            isForward = isParallel
            ordered.append(field)
        }
        self.ordered = ordered
        isOrdered = count == 0 || !ordered.isEmpty
        sortsGroups = ordered.count < count
    }

    /// Whether another path of the table leads to the same rows, in the same order.
    func doesTheSame(as other: QueryPath) -> Bool {
        restricting == other.restricting && ordered == other.ordered && sortsGroups == other.sortsGroups
    }
}

/// A ``SQLSearchPath`` with the positions of its fields.
struct SearchPath: Sendable {
    /// What makes a statement use the path.
    let hint: String
    /// A column of a path.
    struct Column: Sendable {
        let field: Int
        let isAscending: Bool
    }

    /// The columns that conditions and sorts can use, in order; at the end the key, when it follows.
    let columns: [Column]
    /// The fields of which no two rows have the same values; nil when there are such rows.
    let uniqueFields: [Int]?
    /// The condition of the rows that it leads to; nil for all rows.
    let condition: Filter?

    /// Finds the fields of a path. The path ends at a column that is compared in another way than it is stored.
    init(_ path: SQLSearchPath, of table: SQLTable) {
        hint = path.hint
        condition = path.condition.map { $0.filter(of: table.entity) ?? .none }
        let fields = table.entity.fields
        var columns: [Column] = []
        for column in path.columns {
            let field = fields.firstIndex { table.dialect.storedName($0.name) == column.name }
            guard let field, table.comparable[field] == table.columns[field] else { break }
            columns.append(Column(field: field, isAscending: column.isAscending))
        }
        let isWhole = columns.count == path.columns.count
        uniqueFields = isWhole && path.isUnique ? columns.map(\.field) : nil
        if isWhole, !columns.contains(where: { $0.field == table.entity.keyIndex }) {
            columns.append(Column(field: table.entity.keyIndex, isAscending: true))
        }
        self.columns = columns
    }

    /// Whether the path leads to all rows that a filter matches.
    func serves(_ filter: Filter) -> Bool { condition.map(filter.implies) ?? true }
}

extension Filter {
    /// Whether an index on a field finds the rows that the filter matches.
    func isRange(of field: Int) -> Bool {
        switch self {
        case .compare(field, let comparison, _): comparison != .notEqual
        case .text(field, let pattern, isNegated: false) where pattern.match == .hasPrefix:
            pattern.options.isEmpty && !pattern.text.isEmpty
        default: hasSingleValues(of: field)
        }
    }

    /// Whether the filter allows all values from one on.
    var isLowerBound: Bool {
        if case .compare(_, let comparison, _) = self { comparison == .greater || comparison == .greaterOrEqual } else { false }
    }

    /// Whether the filter allows all values up to one.
    var isUpperBound: Bool {
        if case .compare(_, let comparison, _) = self { comparison == .less || comparison == .lessOrEqual } else { false }
    }

    /// Whether the filter allows only single values of a field.
    func hasSingleValues(of field: Int) -> Bool {
        switch self {
        case .isIn(field, _, isNegated: false): true
        default: hasOneValue(of: field)
        }
    }

    /// Whether the filter allows only one value of a field.
    func hasOneValue(of field: Int) -> Bool {
        switch self {
        case .isNull(field, true), .compare(field, .equal, _): true
        case .text(field, let pattern, isNegated: false): pattern.options.isEmpty && pattern.match == .equals
        default: false
        }
    }
}
