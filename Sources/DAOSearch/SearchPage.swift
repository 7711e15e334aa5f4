import DAOCore

/// A page of what a search finds, and the cursor of the next page.
///
/// ```swift
/// let page = try articles.searchPage(SearchQuery("sqlite OR lmdb"), limit: 20)
/// ```
public struct SearchPage<Plain> {
    /// The values with their scores, the best first.
    public let hits: [SearchHit<Plain>]
    /// The cursor of the next page; nil when this page is not full, because nothing follows.
    public let next: SearchCursor?
}

extension SearchPage: Sendable where Plain: Sendable {}

/// The position after the last hit of a page. It is opaque, and can be stored or sent as text.
///
/// It has the statistics of the first page: how many rows and words there were, and in how many rows each part of the search occurs.
public struct SearchCursor: Sendable, Hashable, Codable {
    private let entity: String
    private let query: String
    let statistics: SearchStatistics
    private let score: UInt64
    private let key: String

    init(_ entity: String, _ query: SearchQuery, _ statistics: SearchStatistics, score: UInt64, key: UniqueID) {
        (self.entity, self.query, self.statistics) = (entity, query.description, statistics)
        (self.score, self.key) = (score, key.rawValue)
    }

    /// Returns the position.
    ///
    /// - Parameter leaves: How many parts of the search are counted.
    /// - Throws: `.invalidQuery` for the cursor of another search or entity, and a damaged one.
    func start(of query: SearchQuery, leaves: Int, _ entity: String, keyKind: ValueKind) throws -> (score: UInt64, key: Key) {
        guard self.entity == entity, self.query.hasSameBytes(as: query.description) else {
            throw StorageError(
                .invalidQuery, "the cursor belongs to another search, or one of another entity; begin at the first page",
                entity: entity)
        }
        guard statistics.isSound, statistics.counts.count == leaves,
            let key = try? UniqueID(rawValue: key).key(as: keyKind, entity: entity)
        else {
            throw StorageError(.invalidQuery, "the cursor of the search is damaged; begin at the first page", entity: entity)
        }
        return (score, key)
    }
}

/// What scores depend on beside the row.
struct SearchStatistics: Sendable, Hashable, Codable {
    /// The number of rows.
    var rows = 0
    /// The number of words of all rows.
    var words = 0
    /// The number of rows in which each leaf of the query occurs.
    var counts: [Int] = []

    /// The statistics of the rows of both.
    static func + (first: Self, second: Self) -> Self {
        SearchStatistics(
            rows: first.rows + second.rows, words: first.words + second.words,
            counts: first.counts.isEmpty ? second.counts : zip(first.counts, second.counts).map(+))
    }

    /// Whether a database can have them.
    var isSound: Bool {
        0...1 << 40 ~= rows && 0...1 << 50 ~= words && counts.allSatisfy { 0...rows ~= $0 }
    }
}
