import DAOCore
import DAOTestSupport
import Testing

@Suite struct ListChangeTests {
    private func ids(_ numbers: some Sequence<Int>) -> [UniqueID] { numbers.map { UniqueID($0) } }

    @Test func insertionsAndRemovalsAreFound() {
        let change = ListChange(from: ids([1, 2, 3]), to: ids([2, 4]))
        #expect(
            change.difference.map { $0 } == [
                .remove(offset: 2, element: 3, associatedWith: nil), .remove(offset: 0, element: 1, associatedWith: nil),
                .insert(offset: 1, element: 4, associatedWith: nil),
            ])
        #expect(change.updated.isEmpty && !change.isEmpty)
        #expect(ListChange(from: ids([1, 2]), to: ids([1, 2])).isEmpty)
        #expect(ListChange(from: [], to: []).isEmpty)
    }

    @Test func movedElementIsTheOnlyMove() {
        let change = ListChange(from: ids([1, 2, 3, 4, 5]), to: ids([5, 1, 2, 3, 4]))
        #expect(
            change.difference.map { $0 } == [
                .remove(offset: 4, element: 5, associatedWith: 0), .insert(offset: 0, element: 5, associatedWith: 4),
            ])
    }

    @Test func updatesHaveTheirNewOffsets() {
        let change = ListChange(from: ids([1, 2, 3]), to: ids([3, 9, 1])) { $0 == 3 || $0 == 9 }
        #expect(change.updated == [0], "an inserted element is not an update")
        #expect(ListChange(from: ids([1]), to: ids([1])) { _ in true }.isEmpty == false)
    }

    @Test func duplicateKeysDoNotTrap() {
        let change = ListChange(from: ids([1, 1, 2]), to: ids([2, 1, 1]))
        #expect(ids([1, 1, 2]).applying(change.difference) == ids([2, 1, 1]))
    }

    /// Applying the difference to the old list gives the new list, with the minimal number of moved elements.
    @Test(arguments: 1...3 as ClosedRange<UInt64>) func generatedListsChangeWithMinimalMoves(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for size in 0..<60 {
            for _ in 0..<20 {
                let pool = Array(0..<max(size, 1))
                let old = pool.shuffled(using: &random).prefix(Int.random(in: 0...size, using: &random))
                let new = pool.shuffled(using: &random).prefix(Int.random(in: 0...size, using: &random))
                let change = ListChange(from: ids(old), to: ids(new))
                #expect(ids(old).applying(change.difference) == ids(new), "from \(old) to \(new)")
                let order = new.compactMap { old.firstIndex(of: $0) }
                // The longest increasing subsequence, computed by the quadratic algorithm.
                var lengths: [Int] = []
                for (position, place) in order.enumerated() {
                    lengths.append(1 + (0..<position).filter { order[$0] < place }.map { lengths[$0] }.reduce(0, max))
                }
                let moves = change.difference.insertions.filter {
                    guard case .insert(_, _, let source) = $0 else { return false }
                    return source != nil
                }
                #expect(moves.count == order.count - (lengths.max() ?? 0), "from \(old) to \(new)")
            }
        }
    }
}
