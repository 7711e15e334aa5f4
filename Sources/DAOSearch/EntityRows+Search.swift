import DAOCore

extension EntityRows {
    /// Returns the rows in whose searchable fields a search finds something, the best first, as the form of a DAO does (contract chapter S).
    ///
    /// ```swift
    /// for hit in try database.rows(of: "article").search("sqlite OR lmdb", limit: 20) { print(hit.value.key, hit.score) }
    /// ```
    ///
    /// The fields and their weights are those that the last model declared that was stored.
    ///
    /// - Parameters:
    ///   - text: What somebody has typed; see ``SearchQuery``. It is never an error.
    ///   - limit: The maximum number of rows.
    ///   - predicate: A condition that the rows have to meet, too; nil for none. Scores do not depend on it.
    /// - Throws: `.invalidQuery` when the entity has no searchable field, and for a limit below 1; `.invalidPredicate`.
    public func search(_ text: String, limit: Int, where predicate: TextPredicate? = nil) throws -> [SearchHit<EntityRow>] {
        try searchPage(SearchQuery(text), limit: limit, where: predicate).hits
    }

    /// Returns a page of what a search finds, the best first, as the form of a DAO does.
    public func searchPage(
        _ query: SearchQuery, limit: Int, after cursor: SearchCursor? = nil, where predicate: TextPredicate? = nil
    ) throws -> SearchPage<EntityRow> {
        try SearchQuery.check(limit, name)
        return try visit(PageVisitor(query: query, limit: limit, cursor: cursor, predicate: predicate))
    }

    /// Returns the number of rows in whose searchable fields a text finds something.
    public func searchCount(_ text: String, where predicate: TextPredicate? = nil) throws -> Int {
        try visit(CountVisitor(query: SearchQuery(text), predicate: predicate))
    }
}

private struct PageVisitor: EntityRowsVisitor {
    let query: SearchQuery
    let limit: Int
    let cursor: SearchCursor?
    let predicate: TextPredicate?

    func visit<Record: Model>(
        _ rows: any Storage<Record>, _ entity: EntityDescription, condition: (TextPredicate) -> Condition<Record>,
        row: (Record) -> EntityRow
    ) throws -> SearchPage<EntityRow> {
        let search = try Search(rows, SearchedField.fields(of: entity), query, predicate.map(condition) ?? .all, after: cursor)
        return try search.page(limit, of: query) { try rows.read(keys: $0, includesSubentities: true).map(row) }
    }
}

private struct CountVisitor: EntityRowsVisitor {
    let query: SearchQuery
    let predicate: TextPredicate?

    func visit<Record: Model>(
        _ rows: any Storage<Record>, _ entity: EntityDescription, condition: (TextPredicate) -> Condition<Record>,
        row: (Record) -> EntityRow
    ) throws -> Int {
        try Search(rows, SearchedField.fields(of: entity), query, predicate.map(condition) ?? .all).count()
    }
}

extension SearchedField {
    /// The searchable fields of a stored entity.
    ///
    /// - Throws: `.invalidQuery` when it has none.
    fileprivate static func fields(of entity: EntityDescription) throws -> [SearchedField] {
        let index = entity.textIndex
        let fields = zip(index?.fields ?? [], index?.weights ?? []).compactMap { name, weight in
            entity.index(of: name).map { position in
                let field = entity.fields[position]
                return SearchedField(name: name, position: position, weight: weight) { row in
                    row.isNull(at: position) ? [] : try row.readValue(at: position).searchedTexts(field)
                }
            }
        }
        if fields.isEmpty {
            throw StorageError(
                .invalidQuery, "'\(entity.name)' has no searchable field; a model declares one with .searchable",
                entity: entity.name)
        }
        return fields
    }
}

extension SearchQuery {
    /// - Throws: `.invalidQuery` for a limit below 1.
    static func check(_ limit: Int, _ entity: String?) throws {
        if limit < 1 { throw StorageError(.invalidQuery, "the limit is below 1", entity: entity) }
    }
}
