import DAOCore
import DAOMemory
import Testing

private struct Reminder: Plain, Model, Equatable {
    var id: Int
    var rank: Int
    static let schema = Schema("reminder", Self.init, Field("id", \.id, .primaryKey), Field("rank", \.rank))
}

/// The closure of a condition runs in the isolation of the caller, so asynchronous calls can use the state of
/// the caller's actor.
@Suite struct ActorTests {
    @MainActor private final class ViewModel {
        var minimum = 2
        private let reminders: DAO<Reminder>

        init(_ reminders: DAO<Reminder>) { self.reminders = reminders }

        func run() async throws {
            try await reminders.create((1...4).map { Reminder(id: $0, rank: $0) })
            #expect(try await reminders.read(orderedBy: .descending(\.id)) { $0.rank >= minimum }.map(\.id) == [4, 3, 2])
            #expect(try await reminders.first { $0.rank >= minimum }?.id == 2)
            #expect(try await reminders.page(limit: 2) { $0.rank >= minimum }.elements.map(\.id) == [2, 3])
            #expect(try await reminders.count { $0.rank >= minimum } == 3)
            #expect(try await reminders.exists { $0.rank >= minimum })
            #expect(try await reminders.update(where: { $0.rank >= minimum }) { $0.rank += 1 } == 3)
            minimum = 5
            #expect(try await reminders.erase { $0.rank >= minimum } == 1)
            let kept = [1, 2, 3]
            #expect(try await reminders.read(byPrimaryKeys: kept).map(\.rank) == [1, 3, 4])
            #expect(try await reminders.read(byPrimaryKey: minimum) == nil)
        }
    }

    @Test func conditionsCanUseMainActorState() async throws {
        let database = try MemoryDatabase.open()
        try await ViewModel(DAO(storage: try database.storage(for: Reminder.self))).run()
    }
}
