import DAOCore

/// What the text of a query's statements, and the analysis of its paths, depend on: the query without its values, which the
/// statements bind.
struct QueryShape: Hashable, Sendable {
    private enum Part: Hashable {
        case all, none
        case and(Int)
        case or(Int)
        case isNull(Int, Bool)
        case compare(Int, Comparison)
        case compareFields(Int, Comparison, Int, isNegated: Bool)
        /// A condition on the rows of a table, by the number of the table. The names of the relationship are apart.
        case related(Int, isInverse: Bool, isNegated: Bool, isMetByFew: Bool, readsFewRows: Bool)
        case isLinked
        case any
        case count(Comparison)
        /// The sort by a field of the related row.
        case sort(Int, field: Int, isAscending: Bool, nilsFirst: Bool, hasStart: Bool)
        case order(Int, isAscending: Bool, nilsFirst: Bool)
        case foldedOrder(Int, TextOptions, isAscending: Bool, nilsFirst: Bool)
        case conditionOrder(isAscending: Bool)
        case limit
        case offset
    }

    /// Larger queries are rare, and their texts are long.
    private static let maximumParts = 100

    private var parts: [Part] = []
    private var relations: [LinkName] = []

    fileprivate init() { parts.reserveCapacity(8) }

    /// Adds a filter and its values, in the order in which ``ConditionWriter`` binds them.
    ///
    /// - Returns: False when the text depends on the values too, or is not worth to be kept.
    fileprivate mutating func add(_ filter: Filter, _ values: inout [SQLBinding], _ related: RelatedTables?) throws -> Bool {
        if parts.count > Self.maximumParts { return false }
        switch filter {
        case .all: parts.append(.all)
        case .none: parts.append(.none)
        case .and(let filters):
            parts.append(.and(filters.count))
            for filter in filters { guard try add(filter, &values, related) else { return false } }
        case .or(let filters):
            parts.append(.or(filters.count))
            for filter in filters { guard try add(filter, &values, related) else { return false } }
        case .isNull(let field, let expected): parts.append(.isNull(field, expected))
        case .compare(let field, let comparison, let value):
            parts.append(.compare(field, comparison))
            values.append(.value(value))
        case .compareFields(let left, let comparison, let right, let isNegated):
            parts.append(.compareFields(left, comparison, right, isNegated: isNegated))
        case .related(let filter, let isNegated):
            guard let related else { return false }
            try add(filter.relation, filter.target, related) {
                .related(
                    $0, isInverse: filter.isInverse, isNegated: isNegated, isMetByFew: related.isMetByFew(filter),
                    readsFewRows: related.readsFewRows)
            }
            switch filter.test {
            case .isLinked: parts.append(.isLinked)
            case .any(let inner):
                parts.append(.any)
                return try add(inner, &values, related)
            case .count(let comparison, let number):
                parts.append(.count(comparison))
                values += comparison.countBindings(number, mayRepeat: filter.mayRepeat)
            case .countMatching, .compares: return false
            }
        case .isIn, .text, .compareFolded, .embedded: return false
        }
        return true
    }

    /// Adds the sort by a field of the related row, and the values of its start.
    fileprivate mutating func add(_ sort: RelatedSort, _ values: inout [SQLBinding], _ related: RelatedTables) throws -> Bool {
        try add(sort.relation, sort.target, related) {
            .sort(
                $0, field: sort.field, isAscending: sort.isAscending, nilsFirst: sort.nilsFirst, hasStart: sort.start != nil)
        }
        guard let start = sort.start else { return true }
        if start.value.isNull { return false }
        // As the end of one condition and the beginning of the other.
        values += [.value(start.value), .value(start.value)]
        return try add(start.filter, &values, related)
    }

    private mutating func add(
        _ relation: RelationDescription, _ target: EntityDeclaration, _ related: RelatedTables, _ part: (Int) -> Part
    ) throws {
        relations.append(LinkName(entity: relation.entity, field: relation.field))
        // The number stands for one model and one stored form of its entity.
        parts.append(part(try related.instance.table(for: target, in: related.session).number))
    }

    /// Adds the order, the limit and the offset of a query, and the values of conditions in the order.
    fileprivate mutating func end(with query: ResolvedQuery, _ values: inout [SQLBinding]) throws -> Bool {
        for term in query.order {
            let (isAscending, nilsFirst) = (term.isAscending, term.nilsFirst)
            switch term.subject {
            case .field(let field): parts.append(.order(field, isAscending: isAscending, nilsFirst: nilsFirst))
            case .folded(let field, let options):
                parts.append(.foldedOrder(field, options, isAscending: isAscending, nilsFirst: nilsFirst))
            case .condition(let filter, _):
                parts.append(.conditionOrder(isAscending: isAscending))
                guard try add(filter, &values, nil) else { return false }
            }
        }
        if query.limit != nil { parts.append(.limit) }
        if query.offset > 0 { parts.append(.offset) }
        return true
    }
}

/// A query with what is kept for its shape. It belongs to one call.
final class ShapedQuery {
    /// The query.
    let query: ResolvedQuery
    /// Whether a field of the related row comes before the query's order.
    private let isSortedByRelated: Bool
    /// What is kept for the shape; for a shape that nothing is kept for, what was found for this query.
    let plan: ShapePlan
    /// The values of all conditions, of the limit and of the offset.
    let values: [SQLBinding]
    /// What conditions on related rows, and the sort, read.
    let related: RelatedTables
    /// Whether the choices of the last queries are repeated, and nothing is counted.
    private(set) var repeatsChoices = false

    /// Finds the shape of a query.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - sort: The sort by a field of the related row that comes before the query's order.
    ///   - known: The table of the rows.
    ///   - related: What conditions on related rows, and the sort, read.
    init(_ query: ResolvedQuery, sortedBy sort: RelatedSort? = nil, of known: KnownTable, _ related: RelatedTables) throws {
        (self.query, isSortedByRelated, self.related) = (query, sort != nil, related)
        var shape = QueryShape()
        var values: [SQLBinding] = []
        values.reserveCapacity(4)
        // The values say whether a partial index serves a query, and whether an index on elements does.
        var isKept = known.table.partialIndexes.isEmpty && known.table.elementTables.isEmpty
        if isKept, let sort { isKept = try shape.add(sort, &values, related) }
        if isKept { isKept = try shape.add(query.filter, &values, related) }
        if isKept { isKept = try shape.end(with: query, &values) }
        if query.limit != nil || query.offset > 0 { values.append(.count(query.limit)) }
        if query.offset > 0 { values.append(.count(query.offset)) }
        plan = isKept ? known.plans.plan(of: shape) : ShapePlan(isKept: false)
        self.values = values
    }

    /// Runs a closure with the choices of the last queries of the shape.
    ///
    /// - Returns: False when rows have to be counted.
    func repeatingChoices(on connection: any SQLConnection, _ body: () throws -> Void) throws -> Bool {
        repeatsChoices = true
        defer { repeatsChoices = false }
        return try plan.choices.repeating(on: connection, body)
    }

    /// The query by which paths to the rows are chosen: without a limit, where the order is not that of a path.
    var pathQuery: ResolvedQuery { isSortedByRelated ? ResolvedQuery(filter: query.filter, order: []) : query }

    /// The values of some of the conjuncts, of a limit and of an offset.
    static func values(of conjuncts: some Sequence<Filter>, limit: Int, offset: Int) throws -> [SQLBinding]? {
        var shape = QueryShape()
        var values: [SQLBinding] = []
        for conjunct in conjuncts { guard try shape.add(conjunct, &values, nil) else { return nil } }
        return values + [.count(limit), .count(offset)]
    }
}

/// The plans of recent queries on a table, by their shapes.
final class QueryPlans: Sendable {
    private static let capacity = 256

    private struct State {
        var plans: [QueryShape: ShapePlan] = [:]
        // To compare two shapes costs less than to hash one.
        var last: (shape: QueryShape, plan: ShapePlan)?
    }

    private let state = Lock(State())

    /// Returns what is kept for a shape.
    func plan(of shape: QueryShape) -> ShapePlan {
        state.withLock { state in
            if let last = state.last, last.shape == shape { return last.plan }
            if let plan = state.plans[shape] {
                state.last = (shape, plan)
                return plan
            }
            if state.plans.count >= Self.capacity { state.plans.removeAll() }
            let plan = ShapePlan(isKept: true)
            state.plans[shape] = plan
            return plan
        }
    }

    /// Forgets everything.
    func removeAll() { state.withLock { $0 = State() } }
}

/// What is kept for queries of one shape.
package final class ShapePlan: Sendable {
    /// A statement of a query.
    struct Statement: Hashable, Sendable {
        enum Kind: Hashable {
            /// The declared columns of the rows.
            case rows
            /// The declared columns of the rows in the order of a field of their related rows.
            case sortedRows(RelatedJoin)
            /// Some columns of the rows, at the positions of their fields.
            case fields([Int])
            /// The keys of the rows.
            case keys
            /// The number of rows.
            case count
            /// Whether a path has more entries than a number.
            case entries
            /// Whether a row has no related row.
            case hasMissing
        }

        let kind: Kind
        /// What makes the statement use a path.
        let hint: String
    }

    /// Whether texts that are kept are composed all the same, and compared; tests set it.
    package static let verifies = Atomic(false)
    /// How many of them were not as composed.
    package static let mistakes = Atomic(0)

    /// What has to be asked to choose the path.
    let question = Memo<PathQuestion>()
    /// The paths that the conditions restrict.
    let narrowPaths = Memo<[QueryPath]>()
    /// What counting led to.
    let choices = RepeatedChoices()
    /// Whether rows without a related row were found that come first in the order.
    let hasMissing = Atomic(false)
    private static let maximumTexts = 32
    private let texts = Lock<[Statement: String]>([:])
    private let isKept: Bool

    init(isKept: Bool) { self.isKept = isKept }

    /// Returns a statement of a query. Its text is composed for the first query of the shape.
    ///
    /// - Parameters:
    ///   - statement: The statement.
    ///   - values: The values that the statement binds; nil when they are not known before it is composed.
    ///   - compose: Composes the statement.
    func text(
        _ statement: @autoclosure () -> Statement, binding values: @autoclosure () throws -> [SQLBinding]?,
        _ compose: () throws -> SQLText
    ) throws -> SQLText {
        guard isKept, let values = try values() else { return try compose() }
        let statement = statement()
        if let text = texts.withLock({ $0[statement] }) {
            if Self.verifies.load(ordering: .relaxed) {
                let composed = try compose()
                if composed.text != text || !composed.bindings.isSame(as: values) { Self.mistakes.add(1, ordering: .relaxed) }
            }
            return SQLText(text, values)
        }
        let composed = try compose()
        // A statement that binds anything else, as for a filter that the engine calls back, is composed each time.
        guard composed.bindings.isSame(as: values) else { return composed }
        texts.withLock {
            // One for each set of chosen fields.
            if $0.count >= Self.maximumTexts { $0.removeAll() }
            $0[statement] = composed.text
        }
        return composed
    }
}

/// A value that is made once.
struct Memo<Value: Sendable>: ~Copyable, Sendable {
    private let kept = Lock<Value?>(nil)

    /// Returns the value, made by a closure the first time. The lock is not held meanwhile.
    borrowing func value(_ make: () throws -> Value) rethrows -> Value {
        if let value = kept.withLock({ $0 }) { return value }
        let value = try make()
        kept.withLock { $0 = value }
        return value
    }
}

extension [SQLBinding] {
    /// Whether both are the same values and counts, in the same order.
    fileprivate func isSame(as other: [SQLBinding]) -> Bool {
        count == other.count
            && zip(self, other).allSatisfy { left, right in
                switch (left, right) {
                case (.value(let left), .value(let right)): left == right
                case (.count(let left), .count(let right)): left == right
                default: false
                }
            }
    }
}
