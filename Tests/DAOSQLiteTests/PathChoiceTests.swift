import DAOCore
import DAOSQLite
import DAOTestSupport
import Foundation
import Testing

/// Where a query has several paths, their entries are counted first. `PlanQualityTests` shows what is gained.
@Suite struct PathChoiceTests {
    private struct Ticket: Model, Plain {
        var id: Int
        var status: String
        var owner: Int?
        var date: Int
        static let schema = Schema(
            "ticket", Self.init, Field("id", \.id, .primaryKey), Field("status", \.status, .indexed),
            Field("owner", \.owner, .indexed), Field("date", \.date, .indexed))
    }

    private struct Job: Model, Plain {
        var id: Int
        var status: String
        var date: Int
        static let schema = Schema(
            "job", Self.init, Field("id", \.id, .primaryKey), Field("status", \.status), Field("date", \.date, .indexed),
            indexes: [Index(orderedBy: .descending(\.status), .ascending(\.date))])
    }

    private let place = Place()

    /// One of a hundred tickets is open, one of a thousand has owner 7, and half have no owner.
    private static let tickets = (0..<5_000).map {
        Ticket(
            id: $0, status: $0 % 100 == 0 ? "open" : "closed", owner: $0 % 1_000 == 3 ? 7 : $0 % 2 == 0 ? nil : 1,
            date: $0 * 7 % 5_000)
    }

    private func makeTickets(_ database: SQLiteDatabase) throws -> DAO<Ticket> {
        let tickets = DAO(storage: try database.storage(for: Ticket.self))
        try tickets.persist(Self.tickets)
        return tickets
    }

    /// Choices are repeated within a number of steps, which SQLite asks for as it asks for the cancellation of a task.
    @Test func aReadIsStillCancelledAfterChoicesWereRepeated() async throws {
        let tickets = try makeTickets(place.database())
        func repeatChoices() throws {
            let long = String(repeating: "no such word, ", count: 200)
            try tickets.persist((10_000..<11_000).map { Ticket(id: $0, status: long, owner: nil, date: $0) })
            for owner in 0..<100 { _ = try tickets.read(limit: 3) { $0.status == "open" && $0.owner == owner } }
        }
        try repeatChoices()
        let words = (0..<40).map { number in Condition<Ticket> { $0.status.contains("such \(number)") } }
        let anyWord = words.dropFirst().reduce(words[0]) { $0 || $1 }
        let count: @Sendable () throws -> Int = { try tickets.count { _ in anyWord } }
        let whole = try ContinuousClock().measure { _ = try count() }
        var shortest = whole
        for _ in 0..<10 where shortest > whole / 2 {
            // Threads of their own: those of the pool are taken by other tests.
            let begins = DispatchSemaphore(value: 0)
            let task = Task.detached {
                begins.signal()
                return ContinuousClock().measure { _ = try? count() }
            }
            Thread.detachNewThread {
                begins.wait()
                Thread.sleep(forTimeInterval: whole / .seconds(10))
                task.cancel()
            }
            shortest = min(shortest, await task.value)
        }
        #expect(shortest < whole / 2, "\(shortest) of \(whole)")
    }

    @Test func valuesDecideBetweenIndexes() throws {
        let tickets = try makeTickets(place.database())
        func access(_ status: String, _ owner: Int?, limit: Int? = nil) throws -> QueryPlan.Access {
            try tickets.explain(orderedBy: .descending(\.date), limit: limit) { $0.status == status && $0.owner == owner }.access
        }
        #expect(try access("open", 1) == .index(["status"]))
        #expect(try access("closed", 7) == .index(["owner"]))
        #expect(try access("open", nil) == .index(["status"]))
        #expect(try access("closed", nil, limit: 10) == .index(["date"]))
        #expect(try access("closed", 7, limit: 10) == .index(["owner"]))
        let plan = try tickets.explain(limit: 10) { $0.status == "open" && $0.owner == nil }
        #expect(plan.access == .index(["status"]))
        #expect(plan.details.last == "chosen by counting: in its order, the wanted rows come first")
        let newest = try tickets.read(orderedBy: .descending(\.date), limit: 10) { $0.status == "closed" && $0.owner == nil }
        let all = Self.tickets.filter { $0.status == "closed" && $0.owner == nil }.sorted { $0.date > $1.date }
        #expect(newest.map(\.id) == all.prefix(10).map(\.id))
    }

    private struct Parcel: Model, Plain {
        var id: Int
        var status: Int
        var owner: Int
        var date: Int
        static let schema = Schema(
            "parcel", Self.init, Field("id", \.id, .primaryKey), Field("status", \.status), Field("owner", \.owner),
            Field("date", \.date),
            indexes: [
                Index(orderedBy: .ascending(\.owner), .descending(\.date)),
                Index(orderedBy: .ascending(\.status), .ascending(\.date)),
            ])
    }

    /// Two indexes are in the order: on one of them the wanted rows come first.
    @Test func valuesDecideBetweenIndexesInTheOrder() throws {
        let parcels = DAO(storage: try place.database().storage(for: Parcel.self))
        let all = (0..<6_000).map {
            Parcel(id: $0, status: $0 % 100 == 7 ? 1 : 0, owner: $0 % 50 == 9 ? 1 : 0, date: $0 * 7 % 6_000)
        }
        try parcels.persist(all)
        for (status, owner, index) in [(1, 0, ["status", "date"]), (0, 1, ["owner", "date"])] {
            let condition = Condition<Parcel> { $0.status == status && $0.owner == owner }
            let query = Query(where: condition, orderedBy: [.descending(\.date)], limit: 20)
            #expect(try parcels.explain(query).access == .index(index))
            let expected = all.filter { $0.status == status && $0.owner == owner }.sorted { $0.date > $1.date }
            #expect(try parcels.read(query).map(\.id) == expected.prefix(20).map(\.id))
        }
    }

    /// SQLite takes a range with one bound for a quarter of the rows, and would read all rows in the order of their keys.
    @Test func anOpenRangeIsReadByItsIndexWhileItIsShort() throws {
        let tickets = try makeTickets(place.database())
        #expect(try tickets.explain { $0.date > 4_990 }.access == .index(["date"]))
        #expect(try tickets.explain { $0.date <= 500 }.access == .index(["date"]))
        #expect(try tickets.explain { $0.date >= 4_900 && $0.status != "open" }.access == .index(["date"]))
        #expect(try tickets.explain { $0.date <= 1_000 }.access == .scan)
        #expect(try tickets.explain { $0.date > 10 }.access == .scan)
        #expect(try tickets.explain(orderedBy: .descending(\.id)) { $0.date > 10 }.access == .scan)
        for bound in [0, 10, 600, 4_000, 4_999] {
            #expect(try tickets.read { $0.date >= bound }.map(\.id) == Self.tickets.filter { $0.date >= bound }.map(\.id))
        }
    }

    @Test func aQueryWithOnePathIsOneStatement() throws {
        let database = try place.database()
        let tickets = try makeTickets(database)
        func statements(_ body: () throws -> Void) throws -> Int {
            try database.snapshot {
                // The first read after a change of the catalog, which the engine's statistics are, too, looks it up.
                _ = try tickets.exists(byPrimaryKey: 1)
                let before = try database.statementStatistics
                try body()
                let after = try database.statementStatistics
                return after.hits + after.misses - before.hits - before.misses
            }
        }
        #expect(try statements { _ = try tickets.read { $0.owner == 7 } } == 1)
        #expect(try statements { _ = try tickets.read(limit: 10) { $0.owner == 7 } } == 1)
        #expect(try statements { _ = try tickets.read(orderedBy: .ascending(\.date), limit: 10) } == 1)
        #expect(try statements { _ = try tickets.read { $0.id == 7 && $0.owner == 1 } } == 1)
        #expect(try statements { _ = try tickets.count { $0.status == "open" } } == 1)
        #expect(try statements { _ = try tickets.count { $0.status == "open" && $0.owner == 1 } } == 3)
    }

    /// The values decide for writes and groups as they do for reads: one of the two ways leads to most of the rows.
    @Test(arguments: [("open", 1), ("open", nil), ("closed", 7)]) func writesAndGroupsTakeTheShorterWay(
        status: String, owner: Int?
    ) throws {
        let steps = Lock(0)
        let database = try place.database {
            $0.instrument = Instrument { call in
                steps.withLock { $0 += call.statements.reduce(0) { $0 + ($1.steps ?? 0) } }
            }
        }
        let tickets = try makeTickets(database)
        let count = Self.tickets.count { $0.status == status && $0.owner == owner }
        func expect<Result: Equatable>(_ result: Result, _ body: () throws -> Result) throws {
            steps.withLock { $0 = 0 }
            #expect(try body() == result)
            let used = steps.withLock { $0 }
            #expect(used > 0 && used < 4_000, "\(used) steps")
        }
        try expect(count > 0 ? [owner] : []) { try tickets.distinct(\.owner) { $0.status == status && $0.owner == owner } }
        try expect(count) {
            try tickets.groups(by: \.owner, totals: .count) { $0.status == status && $0.owner == owner }.first?.1 ?? 0
        }
        try expect(count) { try tickets.set(\.date, to: -1) { $0.status == status && $0.owner == owner } }
        try expect(count) { try tickets.erase { $0.status == status && $0.owner == owner } }
        #expect(try tickets.count() == Self.tickets.count - count)
    }

    /// What is asked for is little: whether there is a row, and a page in the middle.
    @Test func existsAndPagesEndAsSoonAsTheyCan() throws {
        let steps = Lock(0)
        let database = try place.database {
            $0.instrument = Instrument { call in
                steps.withLock { $0 += call.statements.reduce(0) { $0 + ($1.steps ?? 0) } }
            }
        }
        let all = Self.tickets.map { Job(id: $0.id, status: $0.status, date: $0.date) }
        let jobs = DAO(storage: try database.storage(for: Job.self))
        try jobs.persist(all)
        func expect<Result: Equatable>(_ result: Result, _ body: () throws -> Result) throws {
            steps.withLock { $0 = 0 }
            #expect(try body() == result)
            let used = steps.withLock { $0 }
            #expect(used > 0 && used < 2_000, "\(used) steps")
        }
        try expect(true) { try jobs.exists { $0.date != 3 } }
        try expect(3) { try jobs.count(Query(where: Condition { $0.status == "closed" && $0.id > 2 }, limit: 3, offset: 40)) }
        let sorted = all.sorted { ($0.status, -$0.date) > ($1.status, -$1.date) }
        for (order, rows) in [
            ([.descending(\.date)], all.sorted { $0.date > $1.date }),
            ([.descending(\.status), .ascending(\.date)], sorted),
        ] as [([Sort<Job>], [Job])] {
            var query = Query(orderedBy: order)
            query.after = try jobs.page(query, limit: 2_500).next
            try expect(rows[2_500..<2_507].map(\.id)) { try jobs.page(query, limit: 7).elements.map(\.id) }
        }
    }

    /// Counting is spared where it led to the same choice for many queries, until the values of one lead to more rows.
    @Test func aChoiceThatStaysTheSameIsRepeated() throws {
        let total = Lock((steps: 0, statements: 0))
        let database = try place.database {
            $0.instrument = Instrument { call in
                // Without the look-up of the catalog after the engine has made statistics.
                let statements = call.statements.filter { $0.text.contains("ticket") }
                total.withLock {
                    $0.statements += statements.count
                    $0.steps += statements.reduce(0) { $0 + ($1.steps ?? 0) }
                }
            }
        }
        let tickets = try makeTickets(database)
        func cost(_ status: String, _ owner: Int?, times: Int = 1) throws -> (steps: Int, statements: Int) {
            total.withLock { $0 = (0, 0) }
            let expected = Self.tickets.filter { $0.status == status && $0.owner == owner }.map(\.id)
            for _ in 0..<times { #expect(try tickets.read { $0.status == status && $0.owner == owner }.map(\.id) == expected) }
            return total.withLock { $0 }
        }
        // The first query looks up the indexes.
        _ = try cost("closed", 7)
        let counted = try cost("closed", 7)
        #expect(counted.statements == 3)
        // 31 more times, and once after 256.
        let many = try cost("closed", 7, times: 399)
        #expect(many.statements == 399 + 32 * 2, "\(many)")
        let repeated = try cost("closed", 7)
        #expect(repeated.statements == 1 && repeated.steps < counted.steps)
        // Of the open tickets are 50, and of those of owner 1 are 2,495: the wrong way is given up soon.
        let other = try cost("open", 1)
        #expect(other.statements == 4 && other.steps < 4_000, "\(other)")
        #expect(try cost("closed", 7).statements == 3)
    }

    @Test func anIndexThatAnotherProgramHasDroppedIsNotUsed() throws {
        let tickets = try makeTickets(place.database())
        func count() throws -> Int { try tickets.read { $0.status == "open" && $0.owner == nil }.count }
        #expect(try count() == 50)
        let raw = try Raw(place.path())
        let name = try raw.texts("SELECT name FROM sqlite_master WHERE type = 'index' AND sql LIKE '%(\"status\")'")
        try raw.run("DROP INDEX \"\(try #require(name.first))\"")
        #expect(try count() == 50)
        let plan = try tickets.explain { $0.status == "open" && $0.owner == nil }
        #expect(!plan.details.contains { $0.hasPrefix("chosen") })
    }

    @Test func indexesThatOnlySQLiteKnowsAreLeftToIt() throws {
        let database = try place.database()
        _ = try makeTickets(database)
        try database.close()
        try Raw(place.path()).run("CREATE INDEX mine ON ticket(status) WHERE owner = 7")
        let again = DAO(storage: try place.database().storage(for: Ticket.self))
        let plan = try again.explain { $0.status == "open" && $0.owner == nil }
        #expect(!plan.details.contains { $0.hasPrefix("chosen") })
    }
}
