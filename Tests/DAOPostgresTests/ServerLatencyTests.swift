import DAOCore
import DAOPostgres
import DAOTestSupport
import Foundation
import Testing

/// Promises in seconds. `Scripts/test.sh` runs these tests separately from all other tests.
@Suite("No wait without an end", .serialized, .enabled(if: Server.isThere, "there is no server"))
struct ServerLatencyTests {
    private func open(_ options: String = "") throws -> any Database {
        let database = try DatabaseDrivers(.postgres).open(Server.newURL(options))
        try database.books.create(Book(id: 1, title: "one", shelf: nil))
        return database
    }

    /// Runs a closure, and fails when it takes longer than some seconds.
    private func expect(within seconds: Int, _ body: () throws -> Void) rethrows {
        let start = ContinuousClock.now
        try body()
        #expect(.now - start < .seconds(seconds))
    }

    private static func sleep(_ database: any Database, _ seconds: Int) throws {
        _ = try database.underlying(as: PostgresHandle.self, touching: .models(Book.self)) { handle in
            try handle.execute("SELECT pg_sleep(\(seconds))")
        }
    }

    /// Cancels a call once it waits on the server, and returns its error.
    private func cancelled(
        _ name: String, _ call: @escaping @Sendable () async throws -> Void
    ) async throws -> (any Error)? {
        let task = Task { try await call() }
        let deadline = ContinuousClock.now + .seconds(10)
        let waiting = """
            SELECT 1 FROM pg_stat_activity WHERE application_name = '\(name)' AND state = 'active'
            AND wait_event IN ('PgSleep', 'relation', 'transactionid')
            """
        while try Server.psql(waiting).isEmpty, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(5)) }
        task.cancel()
        let start = ContinuousClock.now
        let result = await task.result
        #expect(.now - start < .seconds(3))
        #expect(try Server.psql(waiting).isEmpty, "the server works on")
        do { try result.get() } catch { return error }
        return nil
    }

    @Test func aCancelledTaskCancelsItsStatement() async throws {
        let database = try open("application_name=cancel&timeout=20")
        let error = try await cancelled("cancel") {
            try await database.transaction {
                try database.books.create(Book(id: 2, title: "two", shelf: nil))
                try Self.sleep(database, 30)
            }
        }
        #expect(error is CancellationError)
        #expect(try await database.books.read().map(\.id) == [1])
        // The connection is as good as before.
        try await database.transaction { try database.books.create(Book(id: 3, title: "three", shelf: nil)) }
        #expect(try await database.books.count() == 2)
        try database.close()
    }

    @Test func aTransactionThatCatchesItsCancellationStoresNothing() async throws {
        let database = try open("application_name=caught")
        let error = try await cancelled("caught") {
            try await database.transaction {
                #expect(throws: CancellationError.self) { try Self.sleep(database, 30) }
                try database.books.create(Book(id: 2, title: "two", shelf: nil))
            }
        }
        #expect(error is CancellationError)
        #expect(try await database.books.count() == 1)
        try database.close()
    }

    @Test func aCancelledTaskWaitsForNoOtherClient() async throws {
        let database = try open("application_name=waits&timeout=20")
        let schema = try #require(database.configuration.options["schema"])
        for (table, call) in [
            ("dao_gate", { @Sendable in _ = try await database.books.create(Book(id: 2, title: "two", shelf: nil)) }),
            ("book", { @Sendable in _ = try await database.books.read() }),
            // Many rows are copied.
            (
                "book",
                { @Sendable in
                    try await database.books.create((2..<2000).map { Book(id: $0, title: "\($0)", shelf: nil) })
                }
            ),
        ] {
            let error = try await Server.locking("\"\(schema)\".\(table)") { try await cancelled("waits", call) }
            #expect(error is CancellationError)
        }
        #expect(try await database.books.count() == 1)
        try database.close()
    }

    @Test func aLongStatementIsEnded() throws {
        let database = try open("statementTimeout=1")
        try expect(within: 4) {
            let error = try storageError { try database.transaction { try Self.sleep(database, 30) } }
            #expect(error.kind == .busy)
            #expect(error.message.contains("statementTimeout"))
        }
        try database.transaction { try database.books.create(Book(id: 2, title: "two", shelf: nil)) }
        try database.close()
    }

    @Test(arguments: Proxy.Direction.allCases)
    func aServerThatStopsAnsweringIsUnreachable(_ direction: Proxy.Direction) throws {
        let place = try ProxiedBooks("statementTimeout=1&connect_timeout=2")
        // In a call of a transaction, and in its commit.
        try expect(within: 4) {
            let error = try storageError {
                try place.database.transaction {
                    place.proxy.disturb(direction, after: 20, .stall)
                    _ = try place.database.books.read()
                }
            }
            #expect(error.kind == .unreachable)
        }
        try expect(within: 8) {
            do {
                try place.increase { place.proxy.disturb(direction, after: 20, .stall) }
                #expect(direction == .toClient)
            } catch let error as StorageError {
                #expect(error.kind == .unreachable)
                #expect(direction == .toServer)
            }
        }
        try place.increase()
        #expect(try place.number == (direction == .toClient ? 2 : 1))
        try place.close()
    }

    @Test func aServerThatDoesNotAnswerAtFirstIsUnreachable() throws {
        let place = try ProxiedBooks("connect_timeout=1")
        for bytes in [0, 400] {
            try expect(within: 4) {
                place.proxy.disturb(.toClient, after: bytes, .stall)
                let url = place.url + "&application_name=\(bytes)"
                let error = try storageError { try DatabaseDrivers(.postgres).open(url) }
                #expect(error.kind == .unreachable)
            }
        }
        try place.close()
    }

    @Test func aServerThatStopsAnsweringKeepsNoOtherObservationWaiting() async throws {
        let place = try ProxiedBooks()
        var stopped = try place.database.books.observe(byPrimaryKey: 0).makeAsyncIterator()
        #expect(try await stopped.next()??.title == "0")
        let url = try Server.newURL()
        let (database, other) = (
            try DatabaseDrivers(.postgres).open(url), try DatabaseDrivers(.postgres).open(url + "&application_name=other")
        )
        var books = try database.books.observe().makeAsyncIterator()
        #expect(try await books.next() == [])
        // The next to use the proxy is the one that looks for commits.
        place.proxy.disturb(.toClient, after: 0, .stall)
        try await Task.sleep(for: .milliseconds(300))
        #expect(place.proxy.forgetPlan() == false)
        let start = ContinuousClock.now
        try await other.books.create(Book(id: 1, title: "one", shelf: nil))
        #expect(try await books.next()?.map(\.id) == [1])
        #expect(.now - start < .seconds(1))
        place.proxy.cutAll()
        try place.close()
        try database.close()
        try other.close()
    }
}
