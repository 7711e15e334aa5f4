/// Finds the words of a query in texts.
struct QueryMatcher {
    /// A word of the query.
    struct Atom: Hashable {
        let text: String
        let isPrefix: Bool
    }

    /// What is counted: words side by side, or two of them near each other.
    private enum Leaf: Hashable {
        /// The numbers of the words.
        case words([Int])
        case near([Int], [Int], distance: Int)
    }

    private indirect enum Node: Hashable {
        case leaf(Int)
        case and([Node])
        case or([Node])
        case not(Node)
    }

    private var atoms: [Atom: Int] = [:]
    /// Those of which the beginning is enough.
    private var beginnings: [Atom: Int] = [:]
    private var leaves: [Leaf] = []
    private var leafNumbers: [Leaf: Int] = [:]
    /// The leaves below no NOT, whose occurrences count, and how often the query has each.
    private(set) var scored: [(leaf: Int, times: UInt64)] = []
    private var scoredPlaces: [Int: Int] = [:]
    private var root: Node?

    /// The number of leaves.
    var leafCount: Int { leaves.count }

    init(_ query: SearchQuery) {
        root = query.root.map { compile($0, isNegated: false) }
        beginnings = atoms.filter(\.key.isPrefix)
    }

    private mutating func compile(_ node: SearchQuery.Node, isNegated: Bool) -> Node {
        switch node {
        case .words(let words, let isPrefix): return leaf(.words(numbers(words, isPrefix)), isNegated)
        case .near(.words(let first, let firstIsPrefix), .words(let second, let secondIsPrefix), let distance):
            return leaf(.near(numbers(first, firstIsPrefix), numbers(second, secondIsPrefix), distance: distance), isNegated)
        case .near(let first, let second, _): return compile(.and([first, second]), isNegated: isNegated)
        case .and(let parts): return .and(different(parts, isNegated))
        case .or(let parts): return .or(different(parts, isNegated))
        case .not(let part): return .not(compile(part, isNegated: true))
        }
    }

    /// The parts that are different: somebody can repeat a word a thousand times.
    private mutating func different(_ parts: [SearchQuery.Node], _ isNegated: Bool) -> [Node] {
        var known: Set<Node> = []
        return parts.map { compile($0, isNegated: isNegated) }.filter { known.insert($0).inserted }
    }

    private mutating func leaf(_ leaf: Leaf, _ isNegated: Bool) -> Node {
        let number = leafNumbers[leaf] ?? leaves.count
        if number == leaves.count {
            leaves.append(leaf)
            leafNumbers[leaf] = number
        }
        if !isNegated {
            if let place = scoredPlaces[number] {
                scored[place].times += 1
            } else {
                scoredPlaces[number] = scored.count
                scored.append((number, 1))
            }
        }
        return .leaf(number)
    }

    private mutating func numbers(_ words: [String], _ isPrefix: Bool) -> [Int] {
        words.indices.map { index in
            let atom = Atom(text: words[index], isPrefix: isPrefix && index == words.count - 1)
            let number = atoms[atom] ?? atoms.count
            atoms[atom] = number
            return number
        }
    }

    // MARK: The index

    /// The words of a leaf.
    func atoms(of leaf: Int) -> [Atom] {
        let byNumber = Dictionary(uniqueKeysWithValues: atoms.map { ($1, $0) })
        return numbers(of: leaves[leaf]).compactMap { byNumber[$0] }
    }

    private func numbers(of leaf: Leaf) -> [Int] {
        switch leaf {
        case .words(let numbers): numbers
        case .near(let first, let second, _): first + second
        }
    }

    /// Whether a leaf is words side by side.
    func isPhrase(_ leaf: Int) -> Bool { if case .words = leaves[leaf] { true } else { false } }

    /// Whether rows are found that have no word of the query.
    var findsRowsWithoutWords: Bool { matches(Array(repeating: 0, count: leafCount)) }

    /// Counts how often a leaf occurs in a row.
    ///
    /// - Parameters:
    ///   - places: The places of its words, as ``atoms(of:)`` has them.
    ///   - weight: How often an occurrence at a place counts.
    func count(of leaf: Int, _ found: [[Int]], weight: (Int) -> Int) -> Int {
        var places = Places(atoms.count)
        for (number, list) in zip(numbers(of: leaves[leaf]), found) { places.places[number] = list }
        return occurrences(of: leaves[leaf], places).reduce(0) { $0 + weight($1[0].lowerBound) }
    }

    // MARK: Texts

    /// How many places are between two texts of a field: words of both are neither side by side nor near each other.
    static let textGap = SearchQuery.maximumDistance + 1

    /// Where the words of the query are in the texts of one field.
    struct Places {
        /// For each word of the query its places, ascending.
        fileprivate var places: [[Int]]
        /// The number of words of the texts.
        fileprivate(set) var length = 0
        /// The place of the next word.
        private var next = 0

        fileprivate init(_ count: Int) { places = Array(repeating: [], count: count) }

        fileprivate mutating func add(_ numbers: [Int]) {
            for number in numbers { places[number].append(next) }
            next += 1
            length += 1
        }

        /// Words of two texts are neither side by side nor near each other.
        fileprivate mutating func endText() { next += QueryMatcher.textGap }
    }

    /// Returns where the words of the query are in the texts of a field.
    func places(in texts: [String]) -> Places { places(in: texts.lazy.map(Term.terms)) }

    /// Returns where the words of the query are in the words of texts.
    private func places(in texts: some Sequence<[Term]>) -> Places {
        var places = Places(atoms.count)
        for terms in texts {
            for term in terms {
                var numbers: [Int] = []
                if let number = atoms[Atom(text: term.text, isPrefix: false)] { numbers.append(number) }
                for (atom, number) in beginnings where term.text.utf8.starts(with: atom.text.utf8) { numbers.append(number) }
                places.add(numbers)
            }
            places.endText()
        }
        return places
    }

    /// Returns how often each leaf occurs in a field.
    func counts(_ places: Places) -> [Int] { leaves.map { occurrences(of: $0, places).count } }

    /// Returns the places of the words of a leaf, one after another where it is found.
    private func occurrences(of leaf: Leaf, _ places: Places) -> [[Range<Int>]] {
        switch leaf {
        case .words(let numbers): return starts(of: numbers, places).map { [$0..<$0 + numbers.count] }
        case .near(let first, let second, let distance):
            let (firsts, seconds) = (starts(of: first, places), starts(of: second, places))
            // Each occurrence of the first part counts once, with the nearest of the second.
            return firsts.compactMap { start in
                let range = start..<start + first.count
                let near = seconds.lazy.map { $0..<$0 + second.count }.min { gap(range, $0) < gap(range, $1) }
                guard let near, gap(range, near) <= distance else { return nil }
                return [range, near]
            }
        }
    }

    /// The number of words between two runs; more than any distance where they overlap.
    private func gap(_ first: Range<Int>, _ second: Range<Int>) -> Int {
        if first.overlaps(second) { return Int.max }
        return max(second.lowerBound - first.upperBound, first.lowerBound - second.upperBound)
    }

    private func starts(of numbers: [Int], _ places: Places) -> [Int] {
        guard let first = numbers.first else { return [] }
        if numbers.count == 1 { return places.places[first] }
        return places.places[first].filter { start in
            numbers.indices.dropFirst().allSatisfy { places.places[numbers[$0]].hasSorted(start + $0) }
        }
    }

    /// Returns whether a row is found, from how often each leaf occurs in it.
    func matches(_ counts: [Int]) -> Bool { root.map { matches($0, counts) } ?? false }

    private func matches(_ node: Node, _ counts: [Int]) -> Bool {
        switch node {
        case .leaf(let number): counts[number] > 0
        case .and(let parts): parts.allSatisfy { matches($0, counts) }
        case .or(let parts): parts.contains { matches($0, counts) }
        case .not(let part): !matches(part, counts)
        }
    }

    /// Returns the ranges of what is found in the words of a text, ascending. They do not overlap.
    func foundWords(in terms: [Term]) -> [Range<Int>] {
        let places = places(in: CollectionOfOne(terms))
        var ranges = scored.flatMap { occurrences(of: leaves[$0.leaf], places).joined() }
        ranges.sort { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }
        var merged: [Range<Int>] = []
        for range in ranges {
            if let last = merged.last, range.lowerBound < last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }
}

extension RandomAccessCollection where Element == Int, Index == Int {
    /// Whether ascending numbers have one.
    func hasSorted(_ number: Int) -> Bool {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < endIndex && self[low] == number
    }
}
