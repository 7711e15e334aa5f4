/// The change from one displayed list to the next, in the terms that views animate: removals, insertions,
/// moves and updates.
///
/// ```swift
/// for step in list.change.difference {
///     switch step {
///     case .remove(let offset, _, let target): target == nil ? table.delete(offset) : table.lift(offset)
///     case .insert(let offset, _, let source): source == nil ? table.insert(offset) : table.drop(offset)
///     }
/// }
/// for offset in list.change.updated { table.reload(offset) }
/// ```
public struct ListChange: Sendable, Hashable {
    /// The difference from the old keys to the new keys. Applying it to the old keys gives the new keys.
    ///
    /// A moved element is a removal and an insertion that refer to each other with `associatedWith`. The
    /// number of moved elements is minimal.
    public let difference: CollectionDifference<UniqueID>

    /// The offsets in the new list of elements that were in the old list and whose stored records have
    /// changed, in ascending order.
    public let updated: [Int]

    /// Whether nothing changed.
    public var isEmpty: Bool { difference.isEmpty && updated.isEmpty }

    /// Creates the change from one list of keys to another. The complexity is O(n log n) for n keys.
    ///
    /// - Parameters:
    ///   - old: The old keys, without duplicates.
    ///   - new: The new keys, without duplicates.
    ///   - isUpdated: Returns whether an element of both lists has changed.
    public init(from old: [UniqueID], to new: [UniqueID], isUpdated: (UniqueID) -> Bool = { _ in false }) {
        let places = Dictionary(zip(old, old.indices), uniquingKeysWith: { first, _ in first })
        let common = new.indices.filter { places[new[$0]] != nil }
        updated = common.filter { isUpdated(new[$0]) }
        difference = Self.difference(from: old, to: new, common.map { (places[new[$0], default: 0], $0) })
    }

    /// - Parameter common: The old and new offsets of the keys in both lists, in the order of the new list.
    private static func difference(
        from old: [UniqueID], to new: [UniqueID], _ common: [(old: Int, new: Int)]
    ) -> CollectionDifference<UniqueID> {
        var targets: [Int: Int] = [:]
        var sources: [Int: Int] = [:]
        var (kept, stays) = (Set<Int>(), Set<Int>())
        for index in longestRise(in: common.map(\.old)) {
            kept.insert(common[index].old)
            stays.insert(common[index].new)
        }
        for pair in common where !stays.contains(pair.new) {
            targets[pair.old] = pair.new
            sources[pair.new] = pair.old
        }
        let removals = old.indices.filter { !kept.contains($0) }.map {
            CollectionDifference<UniqueID>.Change.remove(offset: $0, element: old[$0], associatedWith: targets[$0])
        }
        let insertions = new.indices.filter { !stays.contains($0) }.map {
            CollectionDifference<UniqueID>.Change.insert(offset: $0, element: new[$0], associatedWith: sources[$0])
        }
        // Duplicate keys, which a database never returns, do not make valid pairs.
        return CollectionDifference(removals + insertions) ?? new.difference(from: old)
    }

    /// Returns the positions of a longest increasing subsequence of numbers.
    private static func longestRise(in numbers: [Int]) -> [Int] {
        // For every length, the position of the smallest number that such a subsequence can end with. For
        // every position, the position before it in the subsequence.
        var ends: [Int] = []
        var previous = [Int?](repeating: nil, count: numbers.count)
        for (position, number) in numbers.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[position] = ends[low - 1] }
            if low == ends.count { ends.append(position) } else { ends[low] = position }
        }
        var run: [Int] = []
        var position = ends.last
        while let current = position {
            run.append(current)
            position = previous[current]
        }
        return run.reversed()
    }
}
