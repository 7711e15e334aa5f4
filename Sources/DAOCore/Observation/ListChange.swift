/// How a list that is shown becomes the next one, in the terms that views animate: what goes, what comes, what moves, what looks different.
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
    /// From the keys before to the keys now: applied to the former it gives the latter.
    ///
    /// An element that moves is a removal and an insertion that name each other by `associatedWith`. No more elements move than have to.
    public let difference: CollectionDifference<UniqueID>

    /// Where in the list now those are that were in it before and whose stored records have changed; ascending.
    public let updated: [Int]

    /// Whether nothing is different.
    public var isEmpty: Bool { difference.isEmpty && updated.isEmpty }

    /// What makes one list of keys another. Takes n log n steps for n keys.
    ///
    /// - Parameters:
    ///   - old: The keys before, each once.
    ///   - new: The keys now, each once.
    ///   - isUpdated: Whether an element that is in both looks different.
    public init(from old: [UniqueID], to new: [UniqueID], isUpdated: (UniqueID) -> Bool = { _ in false }) {
        let places = Dictionary(zip(old, old.indices), uniquingKeysWith: { first, _ in first })
        let common = new.indices.filter { places[new[$0]] != nil }
        updated = common.filter { isUpdated(new[$0]) }
        difference = Self.difference(from: old, to: new, common.map { (places[new[$0], default: 0], $0) })
    }

    /// - Parameter common: The offsets before and now of the keys that are in both, in the order of now.
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
        // Keys that are there twice, which a database does not give, make no valid pairs.
        return CollectionDifference(removals + insertions) ?? new.difference(from: old)
    }

    /// The positions of the longest run of numbers, not necessarily side by side, that only rise.
    private static func longestRise(in numbers: [Int]) -> [Int] {
        // For every length the position of the least number that such a run can end with, and for every position the one before it.
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
