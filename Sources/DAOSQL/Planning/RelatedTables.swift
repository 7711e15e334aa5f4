import DAOCore

/// What conditions on related rows read.
struct RelatedTables {
    let instance: SQLInstance
    let session: SQLSession
    /// Whether the query ends before its last row.
    let isLimited: Bool
    /// The conditions that few related rows meet.
    private(set) var metByFew: Set<ObjectIdentifier> = []

    /// Finds what the conditions of a query read.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - instance: The tables.
    ///   - session: Where rows are counted.
    ///   - assumesFew: Whether conditions that few related rows may meet are taken as such, and nothing is counted.
    init(_ query: ResolvedQuery, _ instance: SQLInstance, _ session: SQLSession, assumesFew: Bool = false) throws {
        self.instance = instance
        self.session = session
        isLimited = query.limit != nil
        try findFew(in: query.filter, assumesFew)
    }

    /// Whether few related rows meet a condition, so that they are found first and lead to the rows.
    func isMetByFew(_ filter: RelatedFilter) -> Bool { !metByFew.isEmpty && metByFew.contains(ObjectIdentifier(filter)) }

    private mutating func findFew(in filter: Filter, _ assumesFew: Bool) throws {
        switch filter {
        case .and(let filters), .or(let filters): for filter in filters { try findFew(in: filter, assumesFew) }
        case .related(let filter, _):
            // The related rows of a reference were looked for before: where one key is found, an index may have the order, too.
            if filter.relation.isToOne, !filter.isInverse { return }
            if case .any(let inner) = filter.test, try isMetByFew(inner, of: filter.target, assumesFew) {
                metByFew.insert(ObjectIdentifier(filter))
            }
        default: break
        }
    }

    /// Whether an index leads to few rows of a model that can meet a condition, or there are only few.
    private func isMetByFew(_ filter: Filter, of target: EntityDeclaration, _ assumesFew: Bool) throws -> Bool {
        if filter == .all || filter.reachesRelated { return false }
        let known = try instance.table(for: target, in: session)
        if try known.searchPaths(session).isEmpty { return false }
        if assumesFew { return true }
        let shaped = try ShapedQuery(ResolvedQuery(filter: filter, order: []), of: known, self)
        let race = Race(known: known, session: session, shaped: shaped)
        let few = LimitedReading.current.few
        if !known.isLarge.load(ordering: .relaxed) {
            if try !race.hasRows(after: few) { return true }
            known.isLarge.store(true, ordering: .relaxed)
        }
        return try known.narrowPaths(shaped, session).contains { try $0.isSingle || !race.hasEntries($0, after: few) }
    }

    /// Returns the links of a relationship.
    func links(_ relation: RelationDescription) throws -> SQLLinks { try instance.links(for: relation, nil).links }

    /// Returns the table of a model.
    func table(_ target: EntityDeclaration) throws -> SQLTable { try instance.table(for: target, in: session).table }
}
