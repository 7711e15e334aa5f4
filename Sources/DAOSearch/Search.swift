import DAOCore

/// A field that is searched.
struct SearchedField {
    let name: String
    /// The position of the field in the model.
    let position: Int
    let weight: Int
    /// Reads its texts at a row.
    let texts: (RowReader) throws -> [String]
}

/// A search in one state of a database.
struct Search<Record: Model> {
    /// A row that is found.
    struct Found {
        let key: Key
        let score: UInt64
    }

    /// Those of the first page.
    let statistics: SearchStatistics
    private let storage: any Storage<Record>
    private let condition: Condition<Record>
    private let isScoped: Bool
    private let start: (score: UInt64, key: Key)?
    private let rows: any SearchedRows

    /// - Parameters:
    ///   - storage: The rows, all or those of a scope.
    ///   - all: All rows where the others are those of a scope; nil where they are all.
    ///   - fields: The fields, at least one.
    ///   - cursor: The cursor behind whose row the rows come; nil for all.
    ///   - known: What scores depend on, when these rows are not all that is searched.
    init(
        _ storage: any Storage<Record>, all: (any Storage<Record>)? = nil, _ fields: [SearchedField], _ query: SearchQuery,
        _ condition: Condition<Record>, after cursor: SearchCursor? = nil, known: SearchStatistics? = nil
    ) throws {
        let entity = Record.schema.description.name
        storage.database.willRead(entity)
        (self.storage, self.condition, isScoped) = (storage, condition, all != nil)
        let matcher = QueryMatcher(query)
        start = try cursor?.start(of: query, leaves: matcher.leafCount, entity, keyKind: Record.schema.keyKind)
        let known = known ?? cursor?.statistics
        if query.isEmpty {
            (rows, statistics) = (NoRows(), SearchStatistics())
        } else if let index = try Self.index(in: storage.database, fields.map(\.name)) {
            let found: IndexSearch
            do {
                found = try IndexSearch(
                    index.rows, index: index.number, weights: fields.map(\.weight), matcher, known: known)
                SegmentMerger.seen(found.segments.count, index.rows, index: index.number, fields: fields.count)
            } catch is DamagedPostings {
                throw IndexRows.damaged
            }
            (rows, statistics) = (IndexedRows(rows: index.rows, index: index.number, found: found.hits), found.statistics)
        } else {
            let found = try ScannedRows(all ?? storage, fields, matcher, known: known)
            (rows, statistics) = (found, found.statistics)
        }
    }

    /// The index of the fields; nil where all rows have to be read.
    private static func index(in database: any Database, _ fields: [String]) throws -> (rows: IndexRows, number: Int64)? {
        guard database.capabilities.hasEvolution, let index = try database.textIndex(of: Record.schema.description.name),
            index.isCurrent, index.fields.elementsEqual(fields, by: { $0.hasSameBytes(as: $1) })
        else { return nil }
        // A database that nothing can be written to need not have the index yet.
        guard let stored = try? Indexing().index(index, in: database) as? StoredIndex, let number = try stored.number() else {
            return nil
        }
        return (stored.rows, number)
    }

    /// Returns a page of what is found.
    func page<Value>(
        _ limit: Int, of query: SearchQuery, _ values: ([Key]) throws -> [Value]
    ) throws -> SearchPage<Value> {
        let found = try first(limit)
        let entity = Record.schema.description.name
        return SearchPage(
            hits: try zip(values(found.map(\.key)), found).map { SearchHit(value: $0, score: Relevance.value($1.score)) },
            next: found.count < limit
                ? nil : found.last.map { SearchCursor(entity, query, statistics, score: $0.score, key: UniqueID($0.key)) })
    }

    /// Whether a condition filters what is found.
    private var isFiltered: Bool { !condition.isAll || isScoped }

    /// Returns the number of rows that are found.
    func count() throws -> Int { isFiltered ? try filtered().count : rows.hits.count }

    /// Returns the first rows, the best first.
    func first(_ limit: Int) throws -> [Found] {
        var hits = isFiltered ? try filtered() : rows.hits
        if let start { hits.removeAll { $0.score > start.score } }
        // The rows with the scores of the first ones; of equal ones it depends on the keys which come first.
        hits = Self.best(hits, limit + (start == nil ? 0 : hits.count { $0.score == start?.score }))
        let keys = try rows.keys(of: hits.map(\.number), Record.schema)
        var found = hits.compactMap { hit in keys[hit.number].map { Found(key: $0, score: hit.score) } }
        if let start { found.removeAll { $0.score == start.score && $0.key <= start.key } }
        found.sort { $0.score != $1.score ? $0.score > $1.score : $0.key < $1.key }
        return Array(found.prefix(limit))
    }

    /// Returns the rows that have one of the best scores.
    ///
    /// - Complexity: O(*n* log *limit*).
    private static func best(_ hits: [SearchedRow], _ limit: Int) -> [SearchedRow] {
        if hits.count <= limit { return hits }
        // A heap with the smallest of the best scores at its top.
        var heap = Array(hits[..<limit].map(\.score))
        func sink(_ start: Int) {
            var index = start
            while true {
                var least = index
                for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child] < heap[least] {
                    least = child
                }
                if least == index { return }
                heap.swapAt(index, least)
                index = least
            }
        }
        for index in (0..<limit / 2).reversed() { sink(index) }
        for hit in hits[limit...] where hit.score > heap[0] {
            heap[0] = hit.score
            sink(0)
        }
        let least = heap[0]
        return hits.filter { $0.score >= least }
    }

    /// The rows that meet the condition, and that of a scoped DAO.
    private func filtered() throws -> [SearchedRow] {
        let hits = rows.hits
        if hits.isEmpty { return [] }
        if hits.count <= Self.few {
            let keys = try rows.keys(of: hits.map(\.number), Record.schema)
            let among = Condition<Record>(.isIn(field: Record.schema.description.keyIndex, keys.values.sorted().map(\.value)))
            let met = Set(try storage.keys(Query(where: condition && among)))
            return hits.filter { keys[$0.number].map(met.contains) ?? false }
        }
        let met = try storage.keys(Query(where: condition))
        if met.count < hits.count, let numbers = try rows.numbers(of: met) {
            return hits.filter { numbers.contains($0.number) }
        }
        let keys = try rows.keys(of: hits.map(\.number), Record.schema)
        let all = Set(met)
        return hits.filter { keys[$0.number].map(all.contains) ?? false }
    }

    /// The number of rows whose keys a condition is asked for.
    private static var few: Int { 500 }
}

/// A row that a search finds, by its number.
struct SearchedRow {
    let number: Int64
    let score: UInt64
}

/// The rows that a search finds.
private protocol SearchedRows {
    /// In any order.
    var hits: [SearchedRow] { get }

    /// Returns the keys of rows.
    func keys<Record: Model>(of numbers: [Int64], _ schema: Schema<Record>) throws -> [Int64: Key]

    /// Returns the numbers of rows; nil where they are not known.
    func numbers(of keys: [Key]) throws -> Set<Int64>?
}

private struct NoRows: SearchedRows {
    var hits: [SearchedRow] { [] }
    func keys<Record: Model>(of numbers: [Int64], _ schema: Schema<Record>) throws -> [Int64: Key] { [:] }
    func numbers(of keys: [Key]) throws -> Set<Int64>? { nil }
}

/// Those that an index has.
private struct IndexedRows: SearchedRows {
    let rows: IndexRows
    let index: Int64
    let found: [SearchedRow]

    var hits: [SearchedRow] { found }

    func keys<Record: Model>(of numbers: [Int64], _ schema: Schema<Record>) throws -> [Int64: Key] {
        var keys: [Int64: Key] = [:]
        for start in stride(from: 0, to: numbers.count, by: 1000) {
            let part = numbers[start..<min(start + 1000, numbers.count)].map(Key.integer)
            for row in try rows.numbers.read(keys: part, includesSubentities: false) {
                keys[row.number] = try row.id.key(as: schema.keyKind, entity: schema.description.name)
            }
        }
        return keys
    }

    func numbers(of keys: [Key]) throws -> Set<Int64>? {
        Set(try rows.numbered(keys, in: index).map(\.number))
    }
}

/// Those that are found by reading all rows, where there is no index. Their numbers are the order in which they were read.
private struct ScannedRows: SearchedRows {
    private(set) var hits: [SearchedRow] = []
    private(set) var statistics = SearchStatistics()
    private var known: [Key] = []

    private struct Candidate {
        let key: Key
        let counts: [Int]
        let length: Int
    }

    /// - Parameters:
    ///   - matcher: The search.
    ///   - weights: The weights of the fields.
    ///   - cursor: The statistics of the first page; nil for the first page.
    ///   - forEachRow: Calls a closure with the texts of the fields of each row, and another one that returns the row's key.
    init(
        _ matcher: QueryMatcher, _ weights: [Int], known cursor: SearchStatistics?,
        _ forEachRow: ((_ texts: [[String]], _ key: () throws -> Key?) throws -> Void) throws -> Void
    ) throws {
        var statistics = SearchStatistics()
        statistics.counts = Array(repeating: 0, count: matcher.leafCount)
        var candidates: [Candidate] = []
        try forEachRow { texts, key in
            var counts = Array(repeating: 0, count: matcher.leafCount)
            var length = 0
            for (texts, weight) in zip(texts, weights) {
                let places = matcher.places(in: texts)
                length += places.length
                for (leaf, count) in matcher.counts(places).enumerated() { counts[leaf] += count * weight }
            }
            statistics.rows += 1
            statistics.words += length
            for (leaf, count) in counts.enumerated() where count > 0 { statistics.counts[leaf] += 1 }
            if matcher.matches(counts), let key = try key() {
                candidates.append(Candidate(key: key, counts: counts, length: length))
            }
        }
        self.statistics = cursor ?? statistics
        let relevance = Relevance(rows: self.statistics.rows, words: self.statistics.words)
        let rarities = self.statistics.counts.map(relevance.rarity)
        for row in candidates {
            let scores = matcher.scored.map {
                $0.times &* relevance.score(row.counts[$0.leaf], rarity: rarities[$0.leaf], length: row.length)
            }
            hits.append(SearchedRow(number: Int64(known.count), score: scores.reduce(0, &+)))
            known.append(row.key)
        }
    }

    /// Reads the rows of a model. The statistics are those of all rows, whatever the condition and the scope are.
    init<Record: Model>(
        _ storage: any Storage<Record>, _ fields: [SearchedField], _ matcher: QueryMatcher, known cursor: SearchStatistics?
    ) throws {
        let schema = Record.schema
        let keyIndex = schema.description.keyIndex
        try self.init(matcher, fields.map(\.weight), known: cursor) { body in
            try storage.readFields([keyIndex] + fields.map(\.position), Query()) { row in
                try body(try fields.map { try $0.texts(row) }) { try row.readKey(at: keyIndex, of: schema.keyKind) }
            }
        }
    }

    func keys<Record: Model>(of numbers: [Int64], _ schema: Schema<Record>) throws -> [Int64: Key] {
        Dictionary(uniqueKeysWithValues: numbers.map { ($0, known[Int($0)]) })
    }

    func numbers(of keys: [Key]) throws -> Set<Int64>? { nil }

    /// The keys and scores of the rows, the best first.
    var sorted: [(key: Key, score: UInt64)] {
        hits.map { (known[Int($0.number)], $0.score) }.sorted { $0.1 != $1.1 ? $0.1 > $1.1 : $0.0 < $1.0 }
    }
}

extension SearchQuery {
    /// What the search finds in rows that are given with the texts of their fields: the reference of the contract, which no index and no database
    /// has a part in.
    ///
    /// - Returns: The keys and scores, the best first.
    package func found(in rows: [(key: Key, texts: [[String]])], weights: [Int]) -> [(key: Key, score: Double)] {
        if isEmpty { return [] }
        let scan = try? ScannedRows(QueryMatcher(self), weights, known: nil) { body in
            for row in rows { try body(row.texts) { row.key } }
        }
        return (scan?.sorted ?? []).map { ($0.key, Relevance.value($0.score)) }
    }
}
