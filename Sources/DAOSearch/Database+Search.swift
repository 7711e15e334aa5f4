import DAOCore

/// Rows in which `database.search` looks, and what a value of theirs becomes in the list of all hits.
///
/// ```swift
/// enum Line { case story(Story), person(Person) }
/// let hits = try database.search(
///     typed, in: [SearchSource(stories) { Line.story($0) }, SearchSource(people) { Line.person($0) }], limit: 20)
/// ```
public struct SearchSource<Result>: Sendable {
    fileprivate let engine: EngineState
    /// Begins a search, with the statistics of all sources; nil to ask for those of this one.
    fileprivate let begin: @Sendable (SearchQuery, SearchStatistics?) throws -> any SourceSearch<Result>

    /// - Parameters:
    ///   - dao: The rows, those of a scope too.
    ///   - condition: A condition that the rows have to meet. Scores do not depend on it.
    ///   - transform: Returns what a value becomes.
    public init<Subject>(
        _ dao: DAO<Subject>, where condition: Condition<DAO<Subject>.Record> = .all,
        _ transform: @escaping @Sendable (DAO<Subject>.Plain) -> Result
    ) {
        engine = dao.storage.database.engineState
        begin = { query, known in
            Begun(dao: dao, search: try dao.searching(query, condition, known: known), transform: transform)
        }
    }

    private struct Begun<Subject: TranslatorOrModel>: SourceSearch {
        let dao: DAO<Subject>
        let search: Search<DAO<Subject>.Record>
        let transform: (DAO<Subject>.Plain) -> Result

        var statistics: SearchStatistics { search.statistics }
        func first(_ limit: Int) throws -> [(score: UInt64, key: Key)] { try search.first(limit).map { ($0.score, $0.key) } }
        func values(_ keys: [Key]) throws -> [Result] { try dao.searched(keys).map(transform) }
    }
}

/// A search in one source.
private protocol SourceSearch<Result> {
    associatedtype Result

    var statistics: SearchStatistics { get }
    /// The first rows, the best first.
    func first(_ limit: Int) throws -> [(score: UInt64, key: Key)]
    /// What rows become.
    func values(_ keys: [Key]) throws -> [Result]
}

extension Database {
    /// Returns what a search finds in several entities, the best first (contract S10).
    ///
    /// A row has the score that it would have if the rows of all sources were of one entity. So the scores can be compared, and a word that
    /// is frequent in one entity only counts for as much as its frequency in all of them says.
    ///
    /// - Parameters:
    ///   - query: The search.
    ///   - sources: Where it looks.
    ///   - limit: The maximum number of hits of all sources together.
    /// - Returns: The hits, by descending score; those with equal scores in the order of the sources, then of their keys.
    /// - Throws: `.invalidQuery` for a model without a searchable field, for a source of another database, and for a limit below 1.
    /// - Complexity: That of two searches of each source.
    public func search<Result>(
        _ query: SearchQuery, in sources: [SearchSource<Result>], limit: Int
    ) throws -> [SearchHit<Result>] {
        try SearchQuery.check(limit, nil)
        guard sources.allSatisfy({ $0.engine === engineState }) else {
            throw StorageError(.invalidQuery, "a source of the search is in another database", path: configuration.path)
        }
        return try reads {
            let statistics = try sources.map { try $0.begin(query, nil).statistics }.reduce(SearchStatistics(), +)
            let searches = try sources.map { try $0.begin(query, statistics) }
            var found: [(score: UInt64, source: Int, key: Key)] = []
            for (source, search) in searches.enumerated() {
                found += try search.first(limit).map { ($0.score, source, $0.key) }
            }
            found.sort { $0.score != $1.score ? $0.score > $1.score : ($0.source, $0.key) < ($1.source, $1.key) }
            found = Array(found.prefix(limit))
            var values = try searches.enumerated().map { source, search in
                try search.values(found.filter { $0.source == source }.map(\.key))[...]
            }
            return found.compactMap { hit in
                values[hit.source].popFirst().map { SearchHit(value: $0, score: Relevance.value(hit.score)) }
            }
        }
    }

    /// Returns what a text finds in several entities, the best first.
    public func search<Result>(_ text: String, in sources: [SearchSource<Result>], limit: Int) throws -> [SearchHit<Result>] {
        try search(SearchQuery(text), in: sources, limit: limit)
    }

    /// Returns what a search finds in several entities, the best first.
    public func search<Result: Sendable>(
        _ query: SearchQuery, in sources: [SearchSource<Result>], limit: Int
    ) async throws -> [SearchHit<Result>] {
        try await snapshot { try self.search(query, in: sources, limit: limit) }
    }

    /// Returns what a text finds in several entities, the best first.
    public func search<Result: Sendable>(
        _ text: String, in sources: [SearchSource<Result>], limit: Int
    ) async throws -> [SearchHit<Result>] {
        try await search(SearchQuery(text), in: sources, limit: limit)
    }
}
