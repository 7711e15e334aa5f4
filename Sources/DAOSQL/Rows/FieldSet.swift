/// A set of small numbers, such as the positions of fields.
package struct FieldSet: Hashable {
    /// The first 64 numbers, one bit each.
    @usableFromInline var low: UInt64 = 0
    /// The remaining fields.
    @usableFromInline var high: [UInt64] = []

    package init() {}

    /// Creates the set of the fields at some positions.
    package init(_ positions: [Int]) {
        for position in positions { insert(position) }
    }

    var count: Int { high.reduce(low.nonzeroBitCount) { $0 + $1.nonzeroBitCount } }

    var isEmpty: Bool { low == 0 && high.isEmpty }

    @inlinable package func contains(_ index: Int) -> Bool {
        if index < 64 { return low & (1 << UInt64(index)) != 0 }
        let word = index / 64 - 1
        return word < high.count && high[word] & (1 << UInt64(index % 64)) != 0
    }

    func isSubset(of other: FieldSet) -> Bool {
        low & ~other.low == 0 && high.indices.allSatisfy { high[$0] & ~($0 < other.high.count ? other.high[$0] : 0) == 0 }
    }

    func intersection(_ other: FieldSet) -> FieldSet {
        var common = self
        common.low &= other.low
        for index in high.indices { common.high[index] &= index < other.high.count ? other.high[index] : 0 }
        while common.high.last == 0 { common.high.removeLast() }
        return common
    }

    @inline(__always) mutating func insert(_ index: Int) {
        if index < 64 { low |= 1 << UInt64(index) } else { insertHigh(index) }
    }

    private mutating func insertHigh(_ index: Int) {
        let word = index / 64 - 1
        while high.count <= word { high.append(0) }
        high[word] |= 1 << UInt64(index % 64)
    }

    mutating func removeAll() {
        low = 0
        if !high.isEmpty { high = [] }
    }
}
