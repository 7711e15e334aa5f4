import DAOCore

/// What conditions on related rows read.
struct RelatedTables {
    let instance: SQLInstance
    let session: SQLSession
    /// Whether the query looks at few rows, so that the related rows of each are looked at: it ends before its last row, in an
    /// order that an index can have, or an index leads to few that meet its other conditions.
    private(set) var readsFewRows: Bool
    /// The conditions that few related rows meet.
    private(set) var metByFew: Set<ObjectIdentifier> = []
    /// Whether nothing had to be counted.
    private(set) var countsNothing = true
    /// Whether there is a condition on rows whose lists lead to the row.
    private var readsLists = false

    /// Finds what the conditions of a query read.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - known: The table of the rows.
    ///   - instance: The tables.
    ///   - session: Where rows are counted.
    ///   - assumesFew: Whether conditions that few rows may meet are taken as such, and nothing is counted.
    init(
        _ query: ResolvedQuery, of known: KnownTable, _ instance: SQLInstance, _ session: SQLSession, assumesFew: Bool = false
    ) throws {
        self.instance = instance
        self.session = session
        // Where no index can have the order, a limit ends no reading.
        readsFewRows = query.limit != nil && known.table.entity.canBeOrdered(by: query.order)
        let dependsOnRows = try findFew(in: query.filter, assumesFew)
        if readsFewRows || !dependsOnRows { return }
        let own = query.filter.conjuncts.filter { !$0.reachesRelated }
        if !own.isEmpty {
            readsFewRows = try isMetByFew(.every(own), of: known, assumesFew)
        } else if readsLists, try !known.searchPaths(session).isEmpty {
            // The links of each row end at the first match; one subquery looks at all of them, too, in no better an order.
            readsFewRows = try isSmall(known, assumesFew)
        }
    }

    /// Whether few related rows meet a condition, so that they are found first and lead to the rows.
    func isMetByFew(_ filter: RelatedFilter) -> Bool { !metByFew.isEmpty && metByFew.contains(ObjectIdentifier(filter)) }

    /// Whether statements read the same as with other tables of the same query.
    func isSame(as other: RelatedTables) -> Bool { metByFew == other.metByFew && readsFewRows == other.readsFewRows }

    /// Finds the conditions that few related rows meet.
    ///
    /// - Returns: Whether the others are evaluated in another way where few rows are looked at.
    private mutating func findFew(in filter: Filter, _ assumesFew: Bool) throws -> Bool {
        var dependsOnRows = false
        try filter.allLeaves { leaf in
            guard case .related(let filter, _) = leaf, case .any(let inner) = filter.test else { return true }
            if filter.relation.isToOne, !filter.isInverse {
                // The related rows of a reference were looked for before: where one key is found, an index may have the order,
                // too.
                dependsOnRows = true
            } else if !inner.reachesRelated,
                try isMetByFew(inner, of: instance.table(for: filter.target, in: session), assumesFew)
            {
                metByFew.insert(ObjectIdentifier(filter))
            } else if filter.isInverse {
                dependsOnRows = true
                if !filter.relation.isToOne { readsLists = true }
            }
            return true
        }
        return dependsOnRows
    }

    /// Whether an index leads to few rows of a table that can meet a condition, or there are only few.
    private mutating func isMetByFew(_ filter: Filter, of known: KnownTable, _ assumesFew: Bool) throws -> Bool {
        if try filter == .all || known.searchPaths(session).isEmpty { return false }
        if try isSmall(known, assumesFew) { return true }
        let shaped = try ShapedQuery(ResolvedQuery(filter: filter, order: []), of: known, self)
        let race = Race(known: known, session: session, shaped: shaped)
        let few = LimitedReading.current.few
        return try known.narrowPaths(shaped, session).contains { try $0.isSingle || !race.hasEntries($0, after: few) }
    }

    /// Whether a table has only few rows. Of an engine that chooses paths by itself nothing is asked.
    private mutating func isSmall(_ known: KnownTable, _ assumesFew: Bool) throws -> Bool {
        countsNothing = false
        if assumesFew { return true }
        if known.isLarge.load(ordering: .relaxed) { return false }
        if try !known.hasRows(after: LimitedReading.current.few, session) { return true }
        known.isLarge.store(true, ordering: .relaxed)
        return false
    }

    /// Returns the links of a relationship.
    func links(_ relation: RelationDescription) throws -> SQLLinks { try instance.links(for: relation, nil).links }

    /// Returns the table of a model.
    func table(_ target: EntityDeclaration) throws -> SQLTable { try instance.table(for: target, in: session).table }
}
