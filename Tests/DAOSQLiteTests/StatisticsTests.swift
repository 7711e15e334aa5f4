import DAOCore
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

/// SQLite gets statistics by itself, and plans with them.
@Suite struct StatisticsTests {
    private struct Task: Model {
        var id: Int
        var status: String
        var date: Date
        static let schema = Schema(
            "task", Self.init, Field("id", \.id, .primaryKey), Field("status", \.status, .indexed),
            Field("date", \.date, .indexed))

        /// Nearly all tasks are done.
        static func make(_ ids: Range<Int>) -> [Task] {
            ids.map {
                Task(
                    id: $0, status: $0 % 100 == 0 ? "open" : "done",
                    date: Date(timeIntervalSinceReferenceDate: Double($0 * 7919 % 10_007)))
            }
        }
    }

    private let place = Place()
    /// A query that SQLite plans by itself: `OR` leads to several paths at once.
    private let newest = Query<Task>(
        where: Condition { $0.status == "done" || $0.status == "late" && $0.id > 4 }, orderedBy: [.descending(\.date)], limit: 10)

    private func access(_ storage: any Storage<Task>) throws -> QueryPlan.Access { try storage.explain(newest).access }

    @Test func importsChangeThePlan() throws {
        let database = try place.database()
        let storage = try database.storage(for: Task.self)
        try storage.insert(Task.make(0..<200))
        #expect(try access(storage) == .index(["status"]))
        try storage.insert(Task.make(200..<20_000))
        let deadline = Date(timeIntervalSinceNow: 20)
        while try access(storage) == .index(["status"]), Date() < deadline { usleep(10_000) }
        #expect(try access(storage) == .index(["date"]))
        #expect(try storage.read(newest).count == 10)
        try storage.insert(Task.make(20_000..<20_010))
    }

    @Test func statisticsAreThereAfterClosing() throws {
        let database = try place.database()
        try database.storage(for: Task.self).insert(Task.make(0..<20_000))
        try database.close()
        #expect(try Raw(place.path()).texts("SELECT idx FROM sqlite_stat1 WHERE tbl = 'task'").count == 2)
        let reader = try place.database { $0.isReadOnly = true }
        #expect(try access(reader.storage(for: Task.self)) == .index(["date"]))
    }

    @Test func fileOfAnEarlierVersionGetsThemWithTheFirstCommit() throws {
        let first = try place.database()
        try first.storage(for: Task.self).insert(Task.make(0..<20_000))
        try first.close()
        try Raw(place.path()).run("DROP TABLE sqlite_stat1")
        let storage = try place.database().storage(for: Task.self)
        #expect(try access(storage) == .index(["status"]))
        try storage.upsert(Task.make(0..<1))
        let deadline = Date(timeIntervalSinceNow: 20)
        while try access(storage) == .index(["status"]), Date() < deadline { usleep(10_000) }
        #expect(try access(storage) == .index(["date"]))
    }

    /// The same table before it has an index on the status.
    private struct Earlier: Model {
        var id: Int
        var status: String
        var date: Date
        static let schema = Schema(
            "task", Self.init, Field("id", \.id, .primaryKey), Field("status", \.status), Field("date", \.date, .indexed))
    }

    @Test func newIndexGetsThemAtOnce() throws {
        let first = try place.database()
        try first.storage(for: Earlier.self).insert(
            Task.make(0..<20_000).map { Earlier(id: $0.id, status: $0.status, date: $0.date) })
        try first.close()
        func indexes() throws -> [String] { try Raw(place.path()).texts("SELECT idx FROM sqlite_stat1 WHERE tbl = 'task'") }
        #expect(try indexes() == ["task_date"])
        let storage = try place.database().storage(for: Task.self)
        let deadline = Date(timeIntervalSinceNow: 20)
        while try indexes().count < 2, Date() < deadline { usleep(10_000) }
        #expect(try indexes().sorted() == ["task_date", "task_status"])
        #expect(try access(storage) == .index(["date"]))
    }
}
