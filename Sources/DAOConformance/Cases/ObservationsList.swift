import DAOCore
import DAOTestSupport
import Foundation

/// Chapter O: a list for a view, which observes a query on the main actor.
enum ObservationsList {
    static let cases: [ConformanceCase] = [
        ConformanceCase(
            concurrent: "O.list", "O1", "O3",
            title: "a list follows its query, and begins anew with another one and after an error"
        ) { context in try await follow(context) },
        ConformanceCase("O.listChange", "O3", title: "the difference of two lists moves as few elements as can be") { _ in
            var random = SeededGenerator(seed: 5)
            for round in 0..<300 {
                let old = Array(Array(0..<12).shuffled(using: &random).prefix(Int.random(in: 0...12, using: &random)))
                let new = Array(Array(0..<12).shuffled(using: &random).prefix(Int.random(in: 0...12, using: &random)))
                let keys = (old.map { UniqueID($0) }, new.map { UniqueID($0) })
                let change = ListChange(from: keys.0, to: keys.1) { $0 == UniqueID(3) }
                try expectEqual(keys.0.applying(change.difference), keys.1, "round \(round): the new list")
                try expectEqual(
                    change.updated, old.contains(3) ? new.indices.filter { new[$0] == 3 } : [],
                    "round \(round): the updated elements")
                let common = Set(old).intersection(new)
                let moves = change.difference.insertions.filter { move in
                    if case .insert(_, _, let source) = move { source != nil } else { false }
                }
                try expectEqual(
                    moves.count, common.count - longestRise(old.filter(common.contains).map { new.firstIndex(of: $0) ?? 0 }),
                    "round \(round): the number of moved elements")
                try expectEqual(
                    change.difference.insertions.count - moves.count, new.count - common.count,
                    "round \(round): the number of new elements")
            }
        },
    ]

    /// The length of a longest increasing part of a list, by trying all ends.
    private static func longestRise(_ numbers: [Int]) -> Int {
        var lengths: [Int] = []
        for (position, number) in numbers.enumerated() {
            lengths.append(1 + ((0..<position).filter { numbers[$0] < number }.map { lengths[$0] }.max() ?? 0))
        }
        return lengths.max() ?? 0
    }

    @MainActor private static func follow(_ context: ConformanceContext) async throws {
        let (database, dao) = try await offTheMainThread {
            let database = try context.open()
            let dao = try database.dao(Item.self)
            try dao.create(Item.make(1...4))
            return (database, dao)
        }
        let list = ObservedList(dao, orderedBy: .descending(\.number), limit: 3) { $0.id != 2 }
        try expectEqual([list.isLoading, list.isEmpty, list.error == nil], [true, false, true], "a list that is loading")
        try await wait { !list.isLoading }
        try expectEqual(list.elements.map(\.id), [4, 3, 1], "the first result")
        try expectEqual([list.revision, list.change.difference.insertions.count], [1, 3], "the first change")
        _ = try await offTheMainThread { try dao.update(where: { $0.id == 1 }) { $0.number = 35 } }
        try await wait { list.revision == 2 }
        try expectEqual(list.elements.map(\.id), [4, 1, 3], "the result after an update")
        try expectEqual(list.change.updated, [1], "the updated elements")
        try expectEqual(list.change.difference.count, 2, "the steps of a move")

        list.query = list.query
        list.retry()
        try expectEqual(list.isLoading, false, "whether an equal query is observed anew")
        list.query = Query(where: Condition { $0.id > 4 })
        try expectEqual(list.isLoading, true, "whether another query is observed anew")
        try expectEqual(list.elements.map(\.id), [4, 1, 3], "the elements until its first result")
        try await wait { !list.isLoading }
        try expectEqual([list.isEmpty, list.elements.isEmpty], [true, true], "the result of another query")
        list.query = Query(where: Condition { $0.id > 2 })
        try await wait { list.elements.map(\.id) == [3, 4] }

        let revision = list.revision
        try await offTheMainThread { try database.close() }
        try await wait { list.error != nil }
        try expectEqual((list.error as? StorageError)?.kind, .closed, "the error that ended the list")
        try expectEqual([list.isLoading, list.isEmpty], [false, false], "a list that has ended")
        try expectEqual(list.elements.map(\.id), [3, 4], "the elements of the last result")
        list.retry()
        try expectEqual([list.isLoading, list.error == nil], [true, true], "a list that is observed again")
        try await wait { list.error != nil }
        try expectEqual([list.revision == revision, list.isLoading], [true, false], "a list that has ended again")
    }

    /// Runs calls of a storage on another thread than the main thread. A call that does not return would keep the lists of every other
    /// case from that thread.
    private static func offTheMainThread<Result: Sendable>(_ calls: @Sendable () throws -> Result) async throws -> Result {
        try calls()
    }

    /// Waits until a property of a list has changed. The time limit of the case is the limit.
    @MainActor private static func wait(until holds: () -> Bool) async throws {
        while !holds() { try await Task.sleep(for: .milliseconds(1)) }
    }
}
