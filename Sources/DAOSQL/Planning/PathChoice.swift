import DAOCore

/// The path that was chosen for a query, by counting the entries of the paths that it has.
///
/// Entries of all paths are counted side by side, until the first path ends: it is the shortest one, and it is found at a cost
/// that follows its own length. Where a path has the order of a query with a limit, its rows are looked at until there are as
/// many as the query reads, or until another path has ended. A range with one bound, in the order of the keys, is read by its
/// index while that leads to less than one of eight rows; longer ones are sooner read in the order that is asked for.
struct PathChoice: CustomStringConvertible {
    /// The path.
    private(set) var path: QueryPath
    /// Why it was chosen.
    let description: String

    /// Chooses a path.
    ///
    /// - Parameter fields: The only fields that the statement reads, those of its conditions and its order included; nil for whole
    ///   rows. Of paths that do the same for the query, one that has all of them leads to no row.
    /// - Returns: Nil when the engine chooses: a query with one path, a unique key, or conditions on related rows.
    init?(
        _ shaped: ShapedQuery, _ known: KnownTable, _ session: SQLSession, reading fields: @autoclosure () -> Set<Int>? = nil
    ) throws {
        let query = shaped.pathQuery
        let question = try shaped.plan.question.value { try PathQuestion.make(query, known, session) }
        let race = Race(known: known, session: session, shaped: shaped)
        switch question {
        case .engine: return nil
        case .answered(let path, let reason): (self.path, description) = (path, reason)
        case .ifShort(let path):
            if try race.choice({ try race.isShort(path) ? 0 : 1 }) > 0 { return nil }
            (self.path, description) = (path, "chosen by counting: it leads to few of the rows")
        case .shortest(let paths):
            path = paths[try race.choice { try race.winner(among: paths) }]
            description = "chosen by counting: it ends first"
        case .inOrder(let ordered, let rivals):
            let (sum, overflows) = (query.limit ?? .max).addingReportingOverflow(query.offset)
            let number = try race.choice {
                try race.winner(among: rivals, ordered: ordered, wanted: overflows ? .max : sum)
            }
            if number < rivals.count {
                (path, description) = (rivals[number], "chosen by counting: it ends first")
            } else {
                path = ordered[number - rivals.count]
                description = "chosen by counting: in its order, the wanted rows come first"
            }
        }
        if path.elements == nil, path.condition == .all, let fields = fields(),
            let covering = try Self.covering(fields, shaped, known, session).first(where: { $0.doesTheSame(as: path) })
        {
            path = covering
        }
    }

    /// Chooses a path that has all that a statement reads, where no other leads to fewer rows; an engine without statistics may take
    /// one that leads to each row.
    ///
    /// - Returns: Nil when there is none, and when the engine chooses.
    init?(covering fields: Set<Int>?, _ shaped: ShapedQuery, _ known: KnownTable, _ session: SQLSession) throws {
        guard let fields, !shaped.pathQuery.filter.reachesRelated else { return nil }
        let paths = try known.narrowPaths(shaped, session)
        guard
            let covering = try Self.covering(fields, shaped, known, session).first(where: { path in
                !path.restricting.isEmpty
                    && paths.allSatisfy { !$0.isSingle && $0.condition == .all && $0.restricting.isSubset(of: path.restricting) }
            })
        else { return nil }
        (path, description) = (covering, "chosen because it has all that is read")
    }

    /// The paths of the table that have some fields.
    private static func covering(
        _ fields: Set<Int>, _ shaped: ShapedQuery, _ known: KnownTable, _ session: SQLSession
    ) throws -> some Sequence<QueryPath> {
        let query = shaped.pathQuery
        let conjuncts = query.filter.conjuncts
        return try known.searchPaths(session).lazy
            .filter { $0.condition == nil && fields.isSubset(of: $0.columns.lazy.map(\.field)) }
            .map { QueryPath($0, query, conjuncts) }
    }
}

/// What has to be asked of the data to choose the path of a query. It depends on the shape of the query, and on values only
/// where indexes have conditions or elements.
enum PathQuestion: Sendable {
    /// Nothing: the engine chooses.
    case engine
    /// Nothing: the path, and why it was chosen.
    case answered(QueryPath, String)
    /// Whether the path leads to few rows; otherwise the engine chooses.
    case ifShort(QueryPath)
    /// Which of the paths ends first.
    case shortest([QueryPath])
    /// Whether a path ends before as many rows as are wanted were found on one that has the query's order, and on which of these
    /// they come first.
    case inOrder([QueryPath], rivals: [QueryPath])

    /// Analyses the paths of a query.
    static func make(_ query: ResolvedQuery, _ known: KnownTable, _ session: SQLSession) throws -> PathQuestion {
        let conjuncts = query.filter.conjuncts
        guard let first = conjuncts.first else { return .engine }
        let mayBeOpen = first.isLowerBound || first.isUpperBound || known.table.entity.indexes.contains { $0.condition != nil }
        let isPlain = conjuncts.count == 1 && query.limit == nil && query.order.count < 2
        let elements = ElementLookUp.all(in: conjuncts, known.table).map {
            QueryPath($0, query, keyIndex: known.table.entity.keyIndex)
        }
        if elements.isEmpty, isPlain, !(query.isInKeyOrder && mayBeOpen) { return .engine }
        let searchPaths = try known.searchPaths(session)
        var paths: [QueryPath] = []
        for path in searchPaths where path.serves(query.filter) {
            let first = path.columns[0].field
            guard path.condition != nil || conjuncts.contains(where: { $0.isRange(of: first) }) else { continue }
            paths.append(QueryPath(path, query, conjuncts))
        }
        let narrowCount = paths.count
        paths += elements
        if paths.isEmpty || query.filter.reachesRelated { return .engine }
        // No other path leads to fewer rows, or has the order.
        if elements.isEmpty, paths.count == 1, paths[0].isOrdered { return .engine }
        var rivals: [QueryPath] = []
        for path in paths {
            if path.isSingle { return .engine }
            if rivals.contains(where: { path.restricting.isSubset(of: $0.restricting) }) { continue }
            rivals.removeAll { $0.restricting.isSubset(of: path.restricting) }
            rivals.append(path)
        }
        // Without an order, each path has it.
        let inOrder =
            query.order.isEmpty
            ? (query.limit == nil ? [] : paths)
            : (searchPaths.filter { $0.serves(query.filter) }.map { QueryPath($0, query, conjuncts) } + elements)
                .filter(\.isOrdered)
        let ordered = inOrder.min(by: Self.isShorter)
        if ordered != nil, query.limit != nil {
            // One that has the conditions of another leads to fewer rows, in the same order.
            var shortest: [QueryPath] = []
            for path in inOrder.sorted(by: Self.isShorter)
            where !shortest.contains(where: { path.restricting.isSubset(of: $0.restricting) }) { shortest.append(path) }
            let others = rivals.filter { rival in !shortest.contains { rival.restricting.isSubset(of: $0.restricting) } }
            if shortest.count > 1 || !others.isEmpty { return .inOrder(shortest, rivals: others) }
        }
        if let ordered {
            rivals.removeAll { $0.restricting.isSubset(of: ordered.restricting) }
            // Without a limit the order is no reason to look at more rows.
            let isShorter = !rivals.contains { ordered.restricting.isSubset(of: $0.restricting) }
            if query.limit == nil, isShorter { rivals.append(ordered) }
        }
        if rivals.count > 1 { return .shortest(rivals) }
        // The path has the conditions of all others. Without a limit, one that has only the order leads to all rows.
        guard let best = rivals.first ?? ordered else { return .engine }
        if best.elements != nil { return .answered(best, "chosen for an element") }
        if narrowCount < 2, best.isOrdered || ordered == nil || query.isInKeyOrder {
            // An engine that takes an open range for a large part of the rows reads all of them in the order of their keys.
            return query.isInKeyOrder && best.isOpen && !best.isOrdered ? .ifShort(best) : .engine
        }
        return .answered(best, "chosen for its conditions")
    }

    private static func isShorter(_ left: QueryPath, _ right: QueryPath) -> Bool {
        left.restricting.count != right.restricting.count
            ? left.restricting.count > right.restricting.count : !left.sortsGroups && right.sortsGroups
    }
}

/// Counts the entries of paths side by side.
struct Race {
    let known: KnownTable
    let session: SQLSession
    let shaped: ShapedQuery

    fileprivate var table: SQLTable { known.table }
    private var conjuncts: [Filter] { shaped.query.filter.conjuncts }

    /// The number of the path that a closure finds by counting; that of the last queries of the shape, where it is repeated.
    func choice(_ count: () throws -> Int) throws -> Int {
        if shaped.repeatsChoices, let choice = shaped.plan.choices.last { return choice }
        let number = try count()
        shaped.plan.choices.learn(number)
        return number
    }

    /// The number of the shortest of some paths.
    func winner(among paths: [QueryPath]) throws -> Int {
        let walk = try Walk(self, paths)
        defer { walk.end() }
        while true { if let winner = try walk.step() { return winner } }
    }

    /// The number of the shortest of some paths, or, after these, of the path among those that are read in their order which has
    /// as many rows as are wanted before.
    func winner(among paths: [QueryPath], ordered: [QueryPath], wanted: Int) throws -> Int {
        // To count an entry costs a fraction of what it costs to look at a row.
        let head = max(min(wanted, 1_000_000) * 3, 64)
        if paths.count == 1, try !hasEntries(paths[0], after: head) { return 0 }
        let walk = try Walk(self, paths)
        defer { walk.end() }
        if paths.count > 1 { for _ in 0..<head { if let winner = try walk.step() { return winner } } }
        var searches: [OrderedSearch] = []
        defer { for search in searches { search.end() } }
        for path in ordered { searches.append(try OrderedSearch(self, path, wanted: wanted)) }
        var looked = 0
        while true {
            for (number, search) in searches.enumerated() where try search.isDoneWithNextRow() { return paths.count + number }
            looked += 1
            // Three entries for two rows, since an entry costs less.
            for _ in 0..<1 + looked % 2 { if let winner = try walk.step() { return winner } }
        }
    }

    /// Whether a path leads to less than one of eight rows.
    func isShort(_ path: QueryPath) throws -> Bool {
        // Large tables are not counted for a few rows.
        if try !hasEntries(path, after: 64) { return try known.hasRows(after: 512, session) }
        if try !hasEntries(path, after: 1_024), try known.hasRows(after: 8_192, session) { return true }
        var rows = 0
        try session.forEachRow(try table.count(.all), entity: table.entity.name) { rows = Int($0.integer(inColumn: 0)) }
        return try !hasEntries(path, after: rows / 8)
    }

    /// Whether a path has more entries than a number.
    func hasEntries(_ path: QueryPath, after count: Int) throws -> Bool {
        let sql = try shaped.plan.text(
            ShapePlan.Statement(kind: .entries, hint: path.hint),
            binding: try ShapedQuery.values(of: own(of: path), limit: 1, offset: count)
        ) { try table.entries(of: path, where: divided(by: path).own, after: count) }
        return try session.hasRow(sql, entity: table.entity.name)
    }

    private func own(of path: QueryPath) -> some Sequence<Filter> {
        conjuncts.enumerated().lazy.filter { path.restricting.contains($0.offset) }.map(\.element)
    }

    /// The conditions that restrict a path, and the others.
    func divided(by path: QueryPath) -> (own: Filter, others: Filter) {
        func all(_ filters: [Filter]) -> Filter { filters.count > 1 ? .and(filters) : filters.first ?? .all }
        return (
            all(Array(own(of: path))),
            all(conjuncts.indices.filter { !path.restricting.contains($0) }.map { conjuncts[$0] })
        )
    }
}

/// The rows of a path that is read in its order, until there are as many as are wanted.
private final class OrderedSearch {
    private let path: QueryPath
    private let wanted: Int
    private let statement: SQLStatement
    private let reader: SQLRowReader
    private var found = 0
    /// The values of the last row that is read: where rows are sorted within a group, all of the group are looked at.
    private var last: [Value]?

    init(_ race: Race, _ path: QueryPath, wanted: Int) throws {
        (self.path, self.wanted) = (path, wanted)
        let (own, others) = race.divided(by: path)
        let entity = race.table.entity
        statement = try race.session.statement(
            try race.table.entries(of: path, where: own, matching: others, race.shaped.query), entity: entity.name)
        reader = statement.makeReader(of: entity, firstField: -1, keyColumn: -1)
    }

    /// Looks at one more row. Returns whether no more have to be looked at.
    func isDoneWithNextRow() throws -> Bool {
        guard try reader.advance() else { return true }
        if let last { return values != last }
        if reader.integer(inColumn: 0) != 0 { found += 1 }
        if found < wanted { return false }
        if path.sortsGroups { last = values }
        return !path.sortsGroups
    }

    /// The values by which the path is ordered. A value that its field cannot hold counts as nil.
    private var values: [Value] { path.ordered.map { (try? reader.readValue(at: $0)) ?? .null } }

    func end() { statement.giveBack() }
}

/// The entries of some paths, one after another.
private final class Walk {
    private var statements: [SQLStatement] = []
    private var readers: [SQLRowReader] = []

    init(_ race: Race, _ paths: [QueryPath]) throws {
        do {
            for path in paths {
                let sql = try race.table.entries(of: path, where: race.divided(by: path).own)
                let statement = try race.session.statement(sql, entity: race.table.entity.name)
                statements.append(statement)
                readers.append(statement.makeReader(of: race.table.entity, keyColumn: -1))
            }
        } catch {
            end()
            throw error
        }
    }

    /// Counts one more entry of each path. Returns the number of the path that has no more.
    func step() throws -> Int? { try readers.firstIndex { try !$0.advance() } }

    func end() { statements.forEach { $0.giveBack() } }
}
