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

    /// Creates a hit, as a preview or a test needs one.
    public init(value: Plain, score: Double) { (self.value, self.score) = (value, score) }
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
    /// The fields are those that the model declares with `.searchable`. Where the database has an index of them (contract S8), the
    /// complexity is that of what the words are found in: a millisecond for 20,000 rows. Otherwise all rows are read.
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
    /// Rows that stay as they are keep their scores from page to page, whatever is written meanwhile (contract S7). Each page costs as
    /// much as a search.
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
        try SearchQuery.check(limit, Record.schema.description.name)
        return try storage.database.reads {
            try searching(query, condition, after: cursor).page(limit, of: query, searched)
        }
    }

    /// Returns the values of rows that were found, in their order.
    func searched(_ keys: [Key]) throws -> [Plain] {
        try translator.translate(models: storage.read(keys: keys, includesSubentities: true))
    }

    /// Begins a search.
    func searching(
        _ query: SearchQuery, _ condition: Condition<Record>, after cursor: SearchCursor? = nil, known: SearchStatistics? = nil
    ) throws -> Search<Record> {
        let schema = Record.schema
        let fields = schema.searchable.enumerated().compactMap { position, field in
            field.map { field in
                SearchedField(name: schema.description.fields[position].name, position: position, weight: field.weight) {
                    try field.texts($0, position)
                }
            }
        }
        if fields.isEmpty {
            throw StorageError(
                .invalidQuery, "the model has no searchable field; declare one with .searchable", entity: schema.description.name)
        }
        return try Search(
            storage, all: isScoped ? withoutScope.storage : nil, fields, query, condition, after: cursor, known: known)
    }

    /// Returns the number of rows in whose searchable fields a search finds something.
    public func searchCount(_ query: SearchQuery, where condition: Condition<Record> = .all) throws -> Int {
        try storage.database.reads { try searching(query, condition).count() }
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
