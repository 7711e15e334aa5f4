import DAOCore

/// Which rows of a statement are read, one after another.
class RowSelection {
    /// Moves a reader to the next row that is to be read.
    ///
    /// - Returns: False when there are no more rows.
    func advance(_ reader: SQLRowReader) throws -> Bool { try reader.next() }
}

/// The rows of a statement that match a filter which the engine cannot evaluate.
final class MatchingRows: RowSelection {
    private let filter: Filter
    /// What the embedded fields contain that the filter compares; nil when it compares none.
    private let contents: [Int: EmbeddedContent]?
    /// The number of matching rows that are still to be skipped.
    private var offset: Int
    /// The number of rows that are still to be read; nil for all.
    private var limit: Int?

    init(_ filter: Filter, of entity: EntityDescription, offset: Int, limit: Int?) {
        self.filter = filter
        let contents = filter.comparedContents(of: entity)
        self.contents = contents.isEmpty ? nil : contents
        self.offset = offset
        self.limit = limit
    }

    override func advance(_ reader: SQLRowReader) throws -> Bool {
        if limit == 0 { return false }
        while try reader.next() {
            // A value that its field cannot hold counts as nil. Reading the row reports it.
            guard
                filter.matches({ field in
                    let value = (try? reader.readValue(at: field)) ?? .null
                    return contents?[field]?.canonicalOrSame(value) ?? value
                })
            else { continue }
            if offset > 0 {
                offset -= 1
                continue
            }
            limit = limit.map { $0 - 1 }
            return true
        }
        return false
    }
}

extension ResolvedQuery {
    /// Divides a query into the query that the engine of a table runs, and the selection of its rows.
    ///
    /// - Returns: The engine's query, and the selection, which is nil when all of its rows are read.
    func divided(for table: SQLTable) throws -> DividedQuery {
        let (evaluated, rest) = try filter.divided(for: table)
        guard let rest else { return DividedQuery(query: self, fields: [], selection: nil) }
        var query = self
        query.filter = evaluated
        query.limit = nil
        query.offset = 0
        return DividedQuery(
            query: query, fields: rest.fields.sorted(),
            selection: MatchingRows(rest, of: table.entity, offset: offset, limit: limit))
    }
}

/// A query, and which of its rows are read.
struct DividedQuery {
    /// The query that the engine runs.
    let query: ResolvedQuery
    /// The fields that the selection needs.
    let fields: [Int]
    /// Which of its rows are read; nil for all.
    let selection: MatchingRows?
}
