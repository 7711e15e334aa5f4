import DAOCore

/// A value that a search has found.
///
/// ```swift
/// for hit in try articles.search("sqlite OR lmdb", limit: 20) { print(hit.value.title, hit.score) }
/// ```
public struct SearchHit<Plain> {
    /// The value.
    public let value: Plain
    /// How well it fits; 0 for a search of negations only. Scores of different searches cannot be compared.
    public let score: Double
}

extension SearchHit: Sendable where Plain: Sendable {}
extension SearchHit: Equatable where Plain: Equatable {}

extension DAO {
    /// Returns the values in whose searchable fields a search finds something, the best first (contract chapter S).
    ///
    /// ```swift
    /// let hits = try articles.search(searchField.text, limit: 20) { !$0.isArchived }
    /// ```
    ///
    /// The fields are those that the model declares with `.searchable`. Each call reads them in all rows: the complexity is linear in
    /// the length of their texts, 1.7 s for 20,000 rows of 100 words in SQLite, and 0.2 s for 2,000.
    ///
    /// - Parameters:
    ///   - text: What somebody has typed; see ``SearchQuery``. It is never an error.
    ///   - limit: The maximum number of values.
    ///   - condition: A closure that makes a condition from the fields of the model, which the rows have to meet, too. Scores do not
    ///     depend on it.
    /// - Returns: The values with their scores, descending; those with equal scores in the order of their keys. None where the
    ///   text has no word.
    /// - Throws: `.invalidQuery` when the model has no searchable field, and for a limit below 1.
    public func search(
        _ text: String, limit: Int, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [SearchHit<Plain>] {
        try search(SearchQuery(text), limit: limit, where: .once(condition))
    }

    /// Returns the values in whose searchable fields a search finds something, the best first, as the form with a closure does.
    public func search(_ text: String, limit: Int, where condition: Condition<Record> = .all) throws -> [SearchHit<Plain>] {
        try search(SearchQuery(text), limit: limit, where: condition)
    }

    /// Returns the values in whose searchable fields a prepared search finds something, the best first, as the form with a text does.
    public func search(_ query: SearchQuery, limit: Int, where condition: Condition<Record> = .all) throws -> [SearchHit<Plain>] {
        try searchPage(query, limit: limit, where: condition).hits
    }

    /// Returns a page of what a search finds, the best first.
    ///
    /// ```swift
    /// var page = try articles.searchPage(query, limit: 20)
    /// if let next = page.next { page = try articles.searchPage(query, limit: 20, after: next) }
    /// ```
    ///
    /// Rows that stay as they are keep their scores from page to page, whatever is written meanwhile (contract S7). Each page reads the
    /// searchable fields of all rows, as a search without pages does.
    ///
    /// - Parameters:
    ///   - query: The search.
    ///   - limit: The maximum number of values.
    ///   - cursor: The cursor of the page before; nil for the first page.
    ///   - condition: A condition that the rows have to meet, too.
    /// - Throws: `.invalidQuery` as a search does, and for a cursor of another search or entity.
    public func searchPage(
        _ query: SearchQuery, limit: Int, after cursor: SearchCursor? = nil, where condition: Condition<Record> = .all
    ) throws -> SearchPage<Plain> {
        let entity = Record.schema.description.name
        if limit < 1 { throw StorageError(.invalidQuery, "the limit is below 1", entity: entity) }
        return try storage.database.reads {
            let search = try RowSearch(self, query, condition, after: cursor)
            let found = search.found.prefix(limit)
            let values = try translator.translate(models: storage.read(keys: found.map(\.key), includesSubentities: true))
            return SearchPage(
                hits: zip(values, found).map { SearchHit(value: $0, score: Double($1.score) / 4_294_967_296) },
                next: found.count < limit
                    ? nil
                    : found.last.map {
                        SearchCursor(entity, query, search.statistics, score: $0.score, key: UniqueID($0.key))
                    })
        }
    }

    /// Returns the number of rows in whose searchable fields a search finds something.
    public func searchCount(_ query: SearchQuery, where condition: Condition<Record> = .all) throws -> Int {
        try storage.database.reads { try RowSearch(self, query, condition).found.count }
    }

    /// Returns the number of rows in whose searchable fields a text finds something.
    public func searchCount(_ text: String, where condition: Condition<Record> = .all) throws -> Int {
        try searchCount(SearchQuery(text), where: condition)
    }

    /// Returns the values in whose searchable fields a search finds something, the best first.
    public nonisolated(nonsending) func search(
        _ text: String, limit: Int, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [SearchHit<Plain>] {
        try await search(SearchQuery(text), limit: limit, where: .once(condition))
    }

    /// Returns the values in whose searchable fields a search finds something, the best first.
    public func search(_ text: String, limit: Int, where condition: Condition<Record> = .all) async throws -> [SearchHit<Plain>] {
        try await search(SearchQuery(text), limit: limit, where: condition)
    }

    /// Returns the values in whose searchable fields a prepared search finds something, the best first.
    public func search(
        _ query: SearchQuery, limit: Int, where condition: Condition<Record> = .all
    ) async throws -> [SearchHit<Plain>] {
        try await reading { try $0.search(query, limit: limit, where: condition) }
    }

    /// Returns a page of what a search finds, the best first.
    public func searchPage(
        _ query: SearchQuery, limit: Int, after cursor: SearchCursor? = nil, where condition: Condition<Record> = .all
    ) async throws -> SearchPage<Plain> {
        try await reading { try $0.searchPage(query, limit: limit, after: cursor, where: condition) }
    }

    /// Returns the number of rows in whose searchable fields a text finds something.
    public func searchCount(_ text: String, where condition: Condition<Record> = .all) async throws -> Int {
        try await reading { try $0.searchCount(text, where: condition) }
    }
}

/// The rows that a search finds, read one after another.
private struct RowSearch<Record: Model> {
    struct Found {
        let key: Key
        var score: UInt64
    }

    private struct Candidate {
        let key: Key
        let counts: [Int]
        let length: Int
    }

    /// The rows, the best first.
    private(set) var found: [Found] = []
    /// Those of the first page.
    private(set) var statistics = SearchStatistics()

    /// - Parameter cursor: The cursor behind whose row the rows come; nil for all.
    init<Subject: TranslatorOrModel>(
        _ dao: DAO<Subject>, _ query: SearchQuery, _ condition: Condition<Record>, after cursor: SearchCursor? = nil
    ) throws where DAO<Subject>.Record == Record {
        let schema = Record.schema
        let fields = schema.searchable.enumerated().compactMap { index, field in field.map { (index: index, field: $0) } }
        if fields.isEmpty {
            throw StorageError(
                .invalidQuery, "the model has no searchable field; declare one with .searchable", entity: schema.description.name)
        }
        let matcher = QueryMatcher(query)
        let start = try cursor?.start(
            of: query, leaves: matcher.leafCount, schema.description.name, keyKind: schema.keyKind)
        if query.isEmpty { return }
        statistics.counts = Array(repeating: 0, count: matcher.leafCount)
        var candidates: [Candidate] = []
        // The statistics are those of all rows, whatever the condition and the scope are.
        try dao.withoutScope.storage.readFields([schema.description.keyIndex] + fields.map(\.index), Query()) { row in
            var counts = Array(repeating: 0, count: matcher.leafCount)
            var length = 0
            for (index, field) in fields {
                let places = matcher.places(in: try field.texts(row, index))
                length += places.length
                for (leaf, count) in matcher.counts(places).enumerated() { counts[leaf] += count * field.weight }
            }
            statistics.rows += 1
            statistics.words += length
            for (leaf, count) in counts.enumerated() where count > 0 { statistics.counts[leaf] += 1 }
            if matcher.matches(counts) {
                guard let key = try row.readKey(at: schema.description.keyIndex, of: schema.keyKind) else { return }
                candidates.append(Candidate(key: key, counts: counts, length: length))
            }
        }
        if let cursor { statistics = cursor.statistics }
        if !candidates.isEmpty, !condition.isAll || dao.isScoped {
            let keys = Set(try dao.storage.keys(Query(where: condition)))
            candidates.removeAll { !keys.contains($0.key) }
        }
        let relevance = Relevance(rows: statistics.rows, words: statistics.words)
        let rarities = statistics.counts.map(relevance.rarity)
        found = candidates.map { row in
            let scores = matcher.scored.map {
                relevance.score(row.counts[$0], rarity: rarities[$0], length: row.length)
            }
            return Found(key: row.key, score: scores.reduce(0, +))
        }
        if let start { found.removeAll { $0.score != start.score ? $0.score > start.score : $0.key <= start.key } }
        found.sort { $0.score != $1.score ? $0.score > $1.score : $0.key < $1.key }
    }
}
