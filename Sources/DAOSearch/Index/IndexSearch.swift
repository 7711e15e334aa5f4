import DAOCore

/// Evaluates a query on the index of an entity: which rows it finds, and what they score.
struct IndexSearch {
    /// The rows in which a part of a query occurs, ascending.
    private struct Found {
        var numbers: [Int64] = []
        /// How often it does, each time as often as the weight of the field.
        var counts: [Int] = []
        /// The words of each row.
        var lengths: [Int] = []

        mutating func append(_ number: Int64, _ count: Int, _ length: Int) {
            numbers.append(number)
            counts.append(count)
            lengths.append(length)
        }

        /// Sorts the rows, and adds up what is of one row.
        mutating func sort() {
            guard let first = numbers.min(), let last = numbers.max(), !numbers.isAscending else { return }
            var sorted = Found()
            // No number is negative, so that the difference of two is one.
            if last - first < 8 * numbers.count {
                // The words of a beginning are in many rows each: their counts are added up in an array of all rows.
                var sums = Array(repeating: (count: 0, length: -1), count: Int(last - first) + 1)
                for index in numbers.indices {
                    let place = Int(numbers[index] - first)
                    sums[place] = (sums[place].count + counts[index], lengths[index])
                }
                for (place, sum) in sums.enumerated() where sum.length >= 0 {
                    sorted.append(first + Int64(place), sum.count, sum.length)
                }
            } else {
                for index in numbers.indices.sorted(by: { numbers[$0] < numbers[$1] }) {
                    if sorted.numbers.last == numbers[index] {
                        sorted.counts[sorted.counts.count - 1] += counts[index]
                    } else {
                        sorted.append(numbers[index], counts[index], lengths[index])
                    }
                }
            }
            self = sorted
        }
    }

    private let reader: TermReader
    let segments: [SegmentRow]
    private let merged: [Int64: SegmentRow.Merged]
    /// Rows that are in a segment and were taken away by another one.
    private var erased: NumberSet
    private let weights: [Int]
    /// The number of rows and words.
    private(set) var statistics = SearchStatistics()
    private(set) var hits: [SearchedRow] = []

    /// - Parameters:
    ///   - rows: The rows of the index.
    ///   - index: The number of the index.
    ///   - weights: The weights of its searchable fields, in the order of the index.
    ///   - matcher: The query.
    ///   - known: The statistics of the first page; nil for the first page.
    init(_ rows: IndexRows, index: Int64, weights: [Int], _ matcher: QueryMatcher, known: SearchStatistics?) throws {
        reader = TermReader(rows: rows, fields: weights.count)
        self.weights = weights
        segments = try rows.segments(of: index).sorted { $0.first < $1.first }
        merged = segments.merged
        erased = NumberSet(segments.numbers)
        for segment in segments {
            for list in [ListTerm.erased, ListTerm.omitted]
            where list == ListTerm.erased ? segment.erased > 0 : segment.inputs != nil {
                try reader.forEachRow(of: list, in: segment) { number, _ in erased.insert(number) }
            }
        }
        for segment in segments where segment.inputs == nil {
            statistics.rows &+= segment.rows &- segment.erased
            statistics.words &+= segment.words &- segment.erasedWords
        }
        guard statistics.isSound else { throw DamagedPostings() }
        var leaves: [Found] = []
        for leaf in 0..<matcher.leafCount { leaves.append(try found(leaf, matcher)) }
        statistics.counts = leaves.map { min($0.numbers.count, statistics.rows) }
        evaluate(matcher, leaves, known ?? statistics, try matcher.findsRowsWithoutWords ? allRows() : nil)
        if let known { statistics = known }
    }

    // MARK: Postings

    /// Calls a closure with the pieces of a word that count, from segments that are complete, and from those that are being merged: of
    /// these, rows up to a limit are in the segment that they are merged into.
    private func forEachPiece(
        _ term: [UInt8], isPrefix: Bool = false,
        _ body: (inout PostingReader, _ end: Int, _ base: Int64, _ limit: Int64) throws -> Void
    ) throws {
        for segment in segments {
            let merged = merged[segment.id]
            if let merged, !isPrefix, term.precedes(merged.term) { continue }
            try reader.forEachPiece(of: term, isPrefix: isPrefix, in: segment) { reader, end, base, term in
                if let merged, term.precedes(merged.term) { return }
                try body(&reader, end, base, merged?.term == term ? merged?.number ?? -1 : -1)
            }
        }
    }

    private func allRows() throws -> Found {
        var found = Found()
        try forEachPiece(ListTerm.rows) { reader, end, base, limit in
            var number = base
            while reader.position < end {
                number &+= Int64(truncatingIfNeeded: try reader.number())
                let length = try reader.count()
                if number > limit, !erased.contains(number) { found.append(number, 0, length) }
            }
        }
        found.sort()
        return found
    }

    /// Returns the rows that have a word, or words that begin so.
    private func found(_ atom: QueryMatcher.Atom) throws -> Found {
        var found = Found()
        let occurrences = Occurrences(fields: weights.count)
        try weights.withUnsafeBufferPointer { weights in
            try forEachPiece(Array(atom.text.utf8), isPrefix: atom.isPrefix) { reader, end, base, limit in
                var number = base
                while reader.position < end {
                    number &+= Int64(truncatingIfNeeded: try reader.number())
                    let length = try reader.count()
                    let count = try occurrences.weigh(&reader, weights)
                    if number > limit, erased.isEmpty || !erased.contains(number) { found.append(number, count, length) }
                }
            }
        }
        found.sort()
        return found
    }

    /// The places of a word in rows, ascending: the field in the upper half.
    private struct Places {
        var numbers: [Int64] = []
        var lengths: [Int] = []
        /// Where the places of each row end.
        var ends: [Int] = []
        var places: [Int] = []

        func places(at row: Int) -> ArraySlice<Int> { places[(row == 0 ? 0 : ends[row - 1])..<ends[row]] }

        mutating func append(_ number: Int64, _ length: Int, _ new: some Sequence<Int>) {
            numbers.append(number)
            lengths.append(length)
            places += new
            ends.append(places.count)
        }

        /// Sorts the rows, and what is of one row.
        mutating func sort() {
            if numbers.isAscending { return }
            var sorted = Places()
            let order = numbers.indices.sorted { numbers[$0] < numbers[$1] }
            var start = 0
            while start < order.count {
                let number = numbers[order[start]]
                let end = order[start...].firstIndex { numbers[$0] != number } ?? order.count
                sorted.append(number, lengths[order[start]], order[start..<end].flatMap { places(at: $0) }.sorted())
                start = end
            }
            self = sorted
        }
    }

    private func places(of atom: QueryMatcher.Atom) throws -> Places {
        var found = Places()
        let occurrences = Occurrences(fields: weights.count)
        try forEachPiece(Array(atom.text.utf8), isPrefix: atom.isPrefix) { reader, end, base, limit in
            var number = base
            while reader.position < end {
                number &+= Int64(truncatingIfNeeded: try reader.number())
                let length = try reader.count()
                let start = found.places.count
                try occurrences.read(&reader) { found.places.append($0 << 32 | $1) }
                if number > limit, !erased.contains(number) {
                    found.append(number, length, EmptyCollection())
                } else {
                    found.places.removeSubrange(start...)
                }
            }
        }
        found.sort()
        return found
    }

    private func found(_ leaf: Int, _ matcher: QueryMatcher) throws -> Found {
        let atoms = matcher.atoms(of: leaf)
        if atoms.count == 1 { return try found(atoms[0]) }
        // The places of each word, in the rows that have all of them.
        var found = Found()
        let lists = try atoms.map(places)
        let isPhrase = matcher.isPhrase(leaf)
        var positions = Array(repeating: 0, count: lists.count)
        search: for (row, number) in lists[0].numbers.enumerated() {
            positions[0] = row
            for index in 1..<lists.count {
                while positions[index] < lists[index].numbers.count, lists[index].numbers[positions[index]] < number {
                    positions[index] += 1
                }
                guard positions[index] < lists[index].numbers.count else { break search }
                guard lists[index].numbers[positions[index]] == number else { continue search }
            }
            var count = 0
            if isPhrase {
                // Without an array for each row; `searchesSeeWhatIsBeingMerged` compares with the way below, which the reference has.
                for start in lists[0].places(at: row)
                where (1..<lists.count).allSatisfy({ lists[$0].places(at: positions[$0]).hasSorted(start + $0) }) {
                    count += weights[start >> 32]
                }
            } else {
                let places = lists.indices.map { Array(lists[$0].places(at: positions[$0])) }
                count = matcher.count(of: leaf, places) { weights[$0 >> 32] }
            }
            if count > 0 { found.append(number, count, lists[0].lengths[row]) }
        }
        return found
    }

    // MARK: Rows

    private mutating func evaluate(_ matcher: QueryMatcher, _ leaves: [Found], _ statistics: SearchStatistics, _ all: Found?) {
        let relevance = Relevance(rows: statistics.rows, words: statistics.words)
        let rarities = statistics.counts.map(relevance.rarity)
        let lists = leaves + (all.map { [$0] } ?? [])
        var positions = Array(repeating: 0, count: lists.count)
        var counts = Array(repeating: 0, count: matcher.leafCount)
        // Rows of few words that have a word once or twice are frequent, and a score is a division of 128 bits.
        var known = Array(repeating: UInt64.max, count: matcher.leafCount <= 64 ? matcher.leafCount << 12 : 0)
        while true {
            var (number, length) = (Int64.max, 0)
            for (list, position) in zip(lists, positions) where position < list.numbers.count && list.numbers[position] < number {
                (number, length) = (list.numbers[position], list.lengths[position])
            }
            if number == .max { return }
            for index in lists.indices {
                let position = positions[index]
                let isFound = position < lists[index].numbers.count && lists[index].numbers[position] == number
                if index < counts.count { counts[index] = isFound ? lists[index].counts[position] : 0 }
                if isFound { positions[index] += 1 }
            }
            guard matcher.matches(counts) else { continue }
            var score: UInt64 = 0
            for (leaf, times) in matcher.scored where counts[leaf] > 0 {
                let place = (leaf << 3 | counts[leaf]) << 9 | length
                if counts[leaf] < 8, length < 512, place < known.count {
                    if known[place] == .max {
                        known[place] = relevance.score(counts[leaf], rarity: rarities[leaf], length: length)
                    }
                    score &+= times &* known[place]
                } else {
                    score &+= times &* relevance.score(counts[leaf], rarity: rarities[leaf], length: length)
                }
            }
            hits.append(SearchedRow(number: number, score: score))
        }
    }
}

extension [Int64] {
    /// Whether each number is greater than the one before it.
    fileprivate var isAscending: Bool { zip(self, dropFirst()).allSatisfy { $0 < $1 } }
}
