import DAOCore
import DAOLMDB
import DAOMemory
import DAOSQLite
import Foundation
import Observation
import Testing

private struct Chore: Plain, Model, Equatable {
    var id: Int
    var title: String
    var rank: Int

    static let schema = Schema(
        "chore", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("rank", \.rank, .indexed))

    static func make(_ ids: some Sequence<Int>) -> [Chore] { ids.map { Chore(id: $0, title: "chore \($0)", rank: $0 * 10) } }
}

/// A translator that fails while its closure returns true.
private struct FailingTranslator: ReplacingTranslator {
    struct Failure: Error, Equatable {}
    let fails: @Sendable () -> Bool

    func translate(model: Chore) throws -> Chore {
        if fails() { throw Failure() }
        return model
    }
    func translate(plain: Chore) throws -> Chore { plain }
}

/// Waits until a condition on the properties of a view holds. It checks again only when the observation
/// reports a change.
@MainActor private func wait(until holds: @MainActor () -> Bool) async {
    while true {
        let (changed, change) = AsyncStream<Void>.makeStream()
        if withObservationTracking(holds, onChange: { change.finish() }) { return }
        for await _ in changed {}
    }
}

@MainActor @Suite(.timeLimit(.minutes(30))) struct ObservedListTests {
    private func openDatabase() throws -> (database: any Database, tasks: DAO<Chore>) {
        let database = try MemoryDatabase.open()
        return (database, DAO(storage: try database.storage(for: Chore.self)))
    }

    @Test(arguments: ["memory:", "sqlite:{directory}/list.db", "lmdb:{directory}/list.mdb"])
    func listFollowsItsQueryOnEveryBackend(_ url: String) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("list-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let database = try DatabaseDrivers(.memory, .sqlite, .lmdb).open(url.replacing("{directory}", with: directory.path))
        let tasks = DAO(storage: try database.storage(for: Chore.self))
        try await tasks.create(Chore.make(1...4))

        let list = ObservedList(tasks, orderedBy: .descending(\.rank), limit: 3) { $0.id != 2 }
        #expect(list.isLoading && list.elements.isEmpty && !list.isEmpty && list.error == nil)
        await wait { !list.isLoading }
        #expect(list.elements.map(\.id) == [4, 3, 1])
        #expect(list.revision == 1 && list.change.difference.insertions.count == 3)

        try await tasks.update(where: { $0.id == 1 }) { $0.rank = 35 }
        await wait { list.revision == 2 }
        #expect(list.elements.map(\.id) == [4, 1, 3])
        #expect(
            list.change.difference.map { $0 } == [
                .remove(offset: 1, element: 3, associatedWith: 2), .insert(offset: 2, element: 3, associatedWith: 1),
            ]
                || list.change.difference.map { $0 } == [
                    .remove(offset: 2, element: 1, associatedWith: 1), .insert(offset: 1, element: 1, associatedWith: 2),
                ])
        #expect(list.change.updated == [1])

        try await database.transaction {
            try tasks.erase(byPrimaryKey: 4)
            try tasks.create(Chore(id: 9, title: "new", rank: 1))
            try tasks.update(where: { $0.id == 3 }) { $0.title = "changed" }
        }
        await wait { list.revision == 3 }
        #expect(list.elements.map(\.id) == [1, 3, 9])
        #expect(
            list.change.difference.map { $0 } == [
                .remove(offset: 0, element: 4, associatedWith: nil), .insert(offset: 2, element: 9, associatedWith: nil),
            ])
        #expect(list.change.updated == [1])

        try await tasks.erase()
        await wait { list.isEmpty }
        #expect(list.revision == 4 && list.change.difference.removals.count == 3)
        try database.close()
        await wait { list.error != nil }
        #expect((list.error as? StorageError)?.kind == .closed)
        #expect(!list.isLoading && !list.isEmpty)
    }

    @Test func emptyResultEndsLoading() async throws {
        let (_, tasks) = try openDatabase()
        let list = ObservedList(tasks)
        await wait { list.isEmpty }
        #expect(!list.isLoading && list.revision == 0 && list.change.isEmpty)
        try await tasks.create(Chore.make([1]))
        await wait { !list.isEmpty }
        #expect(list.elements == Chore.make([1]))
    }

    @Test func newQueryKeepsTheElementsUntilItsFirstResult() async throws {
        let (_, tasks) = try openDatabase()
        try await tasks.create(Chore.make(1...5))
        let list = ObservedList(tasks) { $0.id <= 3 }
        await wait { !list.isLoading }
        let first = list.query
        list.query = first
        #expect(!list.isLoading, "setting an equal query does nothing")

        list.query = Query(where: Condition { $0.id >= 3 }, orderedBy: [.descending(\.id)])
        #expect(list.isLoading && list.elements.map(\.id) == [1, 2, 3], "the result of the old query remains")
        await wait { !list.isLoading }
        #expect(list.elements.map(\.id) == [5, 4, 3])
        #expect(list.revision == 2)
        #expect(list.change.updated == [2], "elements of both results count as updated")
        #expect([1, 2, 3].map { UniqueID($0) }.applying(list.change.difference) == [5, 4, 3])

        // Only the last of these queries is observed.
        for limit in 1...50 { list.query.limit = limit % 4 }
        list.query.limit = 1
        await wait { !list.isLoading }
        #expect(list.elements.map(\.id) == [5])
        try await tasks.erase(byPrimaryKey: 1)
        try await tasks.create(Chore.make([6]))
        await wait { list.elements.map(\.id) == [6] }
    }

    @Test func errorKeepsTheElementsAndRetryResumes() async throws {
        let (database, tasks) = try openDatabase()
        try await tasks.create(Chore.make([1]))
        let fails = Lock(false)
        let dao = DAO(
            storage: try database.storage(for: Chore.self), translator: FailingTranslator(fails: { fails.withLock { $0 } }))
        let list = ObservedList(dao)
        await wait { !list.isLoading }
        list.retry()
        #expect(!list.isLoading, "retry does nothing without an error")

        fails.withLock { $0 = true }
        try await tasks.create(Chore.make([2]))
        await wait { list.error != nil }
        #expect(list.error as? FailingTranslator.Failure == FailingTranslator.Failure())
        #expect(list.elements.map(\.id) == [1] && !list.isLoading)
        list.retry()
        #expect(list.isLoading && list.error == nil)
        await wait { list.error != nil }

        fails.withLock { $0 = false }
        list.retry()
        await wait { !list.isLoading }
        #expect(list.elements.map(\.id) == [1, 2] && list.error == nil)
        try await tasks.create(Chore.make([3]))
        await wait { list.elements.count == 3 }
    }

    @Test func unchangedPropertiesDoNotNotifyViews() async throws {
        let (_, tasks) = try openDatabase()
        try await tasks.create(Chore.make([1]))
        let list = ObservedList(tasks)
        await wait { !list.isLoading }
        let errors = Lock(0)
        withObservationTracking {
            _ = list.error
            _ = list.isLoading
        } onChange: {
            errors.withLock { $0 += 1 }
        }
        try await tasks.create(Chore.make([2]))
        await wait { list.elements.count == 2 }
        #expect(errors.withLock { $0 } == 0)
    }

    @Test func lastOfManyCommitsIsDelivered() async throws {
        let (_, tasks) = try openDatabase()
        let list = ObservedList(tasks)
        await wait { !list.isLoading }
        for id in 1...100 { try await tasks.create(Chore.make([id])) }
        await wait { list.elements.count == 100 }
        #expect(list.revision <= 100)
    }

    @Test func releasedListStopsObserving() async throws {
        let (database, tasks) = try openDatabase()
        weak var freed: ObservedList<Chore>?
        do {
            let list = ObservedList(tasks)
            freed = list
            await wait { !list.isLoading }
            list.query = Query(limit: 1)
            await wait { !list.isLoading }
            #expect(database.engineState.observations.isObserved)
        }
        #expect(freed == nil)
        // The task of the list ends asynchronously. The hub then has no observers.
        while database.engineState.observations.isObserved { await Task.yield() }
        try await tasks.create(Chore.make([1]))

        // A list that is released before its first result.
        do { _ = ObservedList(tasks) }
        while database.engineState.observations.isObserved { await Task.yield() }
    }
}
