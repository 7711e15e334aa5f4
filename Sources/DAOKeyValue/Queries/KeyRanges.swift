/// A range of keys of the store, by their bytes.
struct KeyRange: Hashable, Sendable {
    /// The lower bound, inclusive.
    var lower: [UInt8]
    /// The upper bound, exclusive.
    var upper: [UInt8]

    /// Creates the range of all keys with a prefix, which must not be all `FF`.
    init(prefix: [UInt8]) {
        lower = prefix
        upper = prefix.successor
    }

    init(lower: [UInt8], upper: [UInt8]) {
        self.lower = lower
        self.upper = upper
    }
}

/// Ranges of keys in ascending order that neither overlap nor touch.
struct KeyRanges: Hashable, Sendable {
    private(set) var ranges: [KeyRange]

    /// Whether there are no ranges.
    var isEmpty: Bool { ranges.isEmpty }

    /// No keys.
    static let none = KeyRanges([])

    /// Creates a single range, or no range when the bounds are reversed.
    init(_ range: KeyRange) { ranges = isLess(range.lower, range.upper) ? [range] : [] }

    private init(_ ranges: [KeyRange]) { self.ranges = ranges }

    /// The union of the ranges.
    static func union(_ parts: [KeyRanges]) -> KeyRanges {
        var all = parts.flatMap(\.ranges)
        var isSorted = true
        for index in all.indices.dropFirst() where isLess(all[index].lower, all[index - 1].lower) { isSorted = false }
        if !isSorted { all.sort { isLess($0.lower, $1.lower) } }
        var merged: [KeyRange] = []
        merged.reserveCapacity(all.count)
        for range in all {
            if let last = merged.last, !isLess(last.upper, range.lower) {
                if isLess(last.upper, range.upper) { merged[merged.count - 1].upper = range.upper }
            } else {
                merged.append(range)
            }
        }
        return KeyRanges(merged)
    }

    /// Whether a key is in one of the ranges.
    ///
    /// The complexity is O(log n) in the number of ranges.
    func contains(_ key: [UInt8]) -> Bool {
        var (start, end) = (0, ranges.count)
        while start < end {
            let middle = (start + end) / 2
            if isLess(key, ranges[middle].upper) { end = middle } else { start = middle + 1 }
        }
        return start < ranges.count && !isLess(key, ranges[start].lower)
    }

    /// The ranges after each of the prefixes, which ascend; none of them is the beginning of another.
    func prefixed(with prefixes: [[UInt8]]) -> KeyRanges {
        var all: [KeyRange] = []
        all.reserveCapacity(prefixes.count * ranges.count)
        for prefix in prefixes {
            for range in ranges { all.append(KeyRange(lower: prefix + range.lower, upper: prefix + range.upper)) }
        }
        return KeyRanges(all)
    }

    /// The intersection of both.
    func intersection(_ other: KeyRanges) -> KeyRanges {
        var common: [KeyRange] = []
        var (left, right) = (0, 0)
        while left < ranges.count, right < other.ranges.count {
            let (first, second) = (ranges[left], other.ranges[right])
            let lower = isLess(first.lower, second.lower) ? second.lower : first.lower
            let isFirstShorter = isLess(first.upper, second.upper)
            let upper = isFirstShorter ? first.upper : second.upper
            if isLess(lower, upper) { common.append(KeyRange(lower: lower, upper: upper)) }
            if isFirstShorter { left += 1 } else { right += 1 }
        }
        return KeyRanges(common)
    }
}

extension [UInt8] {
    /// The least bytes that are greater than all bytes with this prefix, which must not be all `FF`.
    var successor: [UInt8] {
        var bytes = self
        while bytes.last == 0xFF { bytes.removeLast() }
        if let last = bytes.indices.last { bytes[last] += 1 }
        return bytes
    }
}

private func isLess(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.withUnsafeBytes { left in right.withUnsafeBytes { left.order(against: $0) < 0 } }
}
