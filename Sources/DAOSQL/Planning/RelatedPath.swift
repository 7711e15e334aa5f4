import DAOCore

/// How a statement joins rows with the related rows that it sorts by.
enum RelatedJoin: Hashable {
    /// The rows, and to each the related row, if there is one.
    case rowsFirst
    /// The related rows that have a value in the order of an index, and to each the rows that refer to it, by another index.
    /// Where the order begins with rows without a related row, there may be none, or nothing is read.
    case relatedFirst(hint: String, rowHint: String, ifNoneIsMissing: Bool)
    /// The rows whose related rows have a value, as the engine likes.
    case chosenByEngine
}

/// A way from related rows, read in the order of a field, to the rows that refer to them.
enum RelatedPath {
    /// The engine chooses, because it knows how the values are distributed.
    case chosenByEngine
    /// Two indexes.
    case indexes(Indexes)

    struct Indexes {
        /// What makes a statement read the related rows in their order.
        let relatedHint: String
        /// What makes a statement find the rows that refer to a related row.
        let rowHint: String
        /// The paths that the query's conditions restrict.
        fileprivate let rivals: [QueryPath]
        fileprivate let race: Race

        /// Whether a path that the query's conditions restrict has at most a number of entries.
        ///
        /// - Parameter orTable: Whether it is enough that the table has at most as many rows.
        func hasShortRival(after count: Int, orTable: Bool = false) throws -> Bool {
            if orTable, try !race.known.hasRows(after: count, race.session) { return true }
            return try rivals.contains { try $0.isSingle || !race.hasEntries($0, after: count) }
        }
    }

    /// Finds the path of a query.
    ///
    /// - Returns: Nil when there are no such indexes.
    init?(
        _ sort: RelatedSort, _ shaped: ShapedQuery, _ known: KnownTable, _ related: KnownTable, _ session: SQLSession
    ) throws {
        let (paths, relatedPaths) = (try known.searchPaths(session), try related.searchPaths(session))
        if paths.isEmpty, relatedPaths.isEmpty {
            self = .chosenByEngine
            return
        }
        func hint(_ paths: [SearchPath], _ field: Int?) -> String? {
            paths.first { $0.condition == nil && $0.columns[0].field == field }?.hint
        }
        guard let relatedHint = hint(relatedPaths, sort.field),
            let rowHint = hint(paths, known.table.entity.index(of: sort.relation.field))
        else { return nil }
        self = .indexes(
            Indexes(
                relatedHint: relatedHint, rowHint: rowHint,
                rivals: try known.narrowPaths(shaped, session), race: Race(known: known, session: session, shaped: shaped)))
    }
}
