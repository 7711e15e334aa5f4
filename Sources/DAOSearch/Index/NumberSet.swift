/// A set of numbers of rows: a bit for each row of an index, so that a search can pass over half a million rows that were erased.
struct NumberSet {
    private let first: Int64
    private var bits: [UInt64]
    /// Numbers that are not among those of the index: what is damaged has any.
    private var others: Set<Int64> = []
    private(set) var isEmpty = true

    /// The rows that have a bit at most; more would be memory for what is damaged.
    private static let most = 1 << 30

    /// - Parameter range: The numbers of the index.
    init(_ range: Range<Int64>) {
        first = range.lowerBound
        let (count, isTooLarge) = range.upperBound.subtractingReportingOverflow(range.lowerBound)
        bits = isTooLarge || count > Self.most ? [] : Array(repeating: 0, count: Int(count + 63) / 64)
    }

    /// The place of a number; nil when it has no bit.
    @inline(__always) private func place(_ number: Int64) -> (word: Int, bit: UInt64)? {
        let place = number &- first
        guard place >= 0, place < Int64(bits.count) << 6 else { return nil }
        return (Int(place >> 6), 1 << UInt64(place & 63))
    }

    mutating func insert(_ number: Int64) {
        isEmpty = false
        if let (word, bit) = place(number) { bits[word] |= bit } else { others.insert(number) }
    }

    @inline(__always) func contains(_ number: Int64) -> Bool {
        if let (word, bit) = place(number) { return bits[word] & bit != 0 }
        return !others.isEmpty && others.contains(number)
    }
}

extension [SegmentRow] {
    /// The numbers of their rows, and of those between.
    var numbers: Range<Int64> {
        let (first, end) = (map(\.first).min() ?? 0, map(\.end).max() ?? 0)
        return first..<Swift.max(first, end)
    }
}
