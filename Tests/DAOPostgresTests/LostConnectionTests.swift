import DAOCore
import DAOPostgres
import DAOTestSupport
import Foundation
import Testing

/// Connections are cut by a proxy after any number of bytes. `ROUNDS=…` looks at more numbers.
@Suite("L1, T6 · What happens when connections are lost", .enabled(if: Server.isThere, "there is no server"))
struct LostConnectionTests {
    /// Every how many bytes a connection is cut.
    private static let step = ProcessInfo.processInfo.environment["ROUNDS"] == nil ? 37 : 1

    @Test(arguments: Proxy.Direction.allCases)
    func aCommitWhoseConnectionIsCutIsDecided(_ direction: Proxy.Direction) throws {
        let place = try ProxiedBooks()
        var (expected, stored, lost) = (0, 0, 0)
        for bytes in stride(from: 0, through: 10_000, by: Self.step) {
            do {
                try place.increase { place.proxy.disturb(direction, after: bytes) }
                expected += 1
                stored += 1
            } catch let error as StorageError {
                #expect(error.kind == .unreachable)
                lost += 1
            }
            #expect(try place.number == expected, "cut after \(bytes) bytes")
            if place.proxy.forgetPlan() { break }
        }
        // The last commit was not cut. What reached the server as a whole was decided.
        #expect(direction == .toServer ? lost > 0 : stored > 1)
        try place.close()
    }

    @Test(arguments: Proxy.Direction.allCases)
    func aCallWhoseConnectionIsCutAnywhereIsDoneOnceOrNotAtAll(_ direction: Proxy.Direction) throws {
        let place = try ProxiedBooks()
        var expected = 0
        for bytes in stride(from: 0, through: 100_000, by: 3 * Self.step) {
            place.proxy.disturb(direction, after: bytes)
            var attempts = 0
            while true {
                attempts += 1
                do {
                    try place.increase()
                    break
                } catch let error as StorageError {
                    #expect(error.kind == .unreachable)
                    #expect(attempts == 1, "the next transaction works")
                    if attempts > 3 { return }
                }
            }
            expected += 1
            #expect(try place.number == expected, "cut after \(bytes) bytes")
            if place.proxy.forgetPlan() { break }
        }
        try place.close()
    }

    @Test func whatArrivesAfterItWasDecidedIsRefused() throws {
        let place = try ProxiedBooks()
        #expect(try storageError { try place.increase { place.proxy.disturb(.toServer, after: 5, .delay) } }.kind == .unreachable)
        #expect(try place.number == 0)
        place.proxy.deliver()
        #expect(try place.number == 0)
        try place.increase()
        #expect(try place.number == 1)
        try place.close()
    }

    @Test func aCommitThatNobodyCanDecideIsUnknownAndDecidedLater() throws {
        let place = try ProxiedBooks("connect_timeout=1")
        for (direction, outcome) in [
            (Proxy.Direction.toServer, CommitOutcome.rolledBack), (.toClient, .committed),
        ] {
            let error = try storageError {
                try place.increase {
                    place.proxy.disturb(direction, after: 0)
                    place.proxy.setDown(true)
                }
            }
            #expect(error.kind == .outcomeUnknown)
            let token = try #require(error.commitToken)
            #expect(error.description.contains(token))
            #expect(try storageError { try place.database.outcome(of: token) }.kind == .unreachable)
            place.proxy.setDown(false)
            // The next transaction does not take its place.
            try place.database.transaction { try place.database.books.persist(Book(id: 1, title: "", shelf: nil)) }
            #expect(try place.database.outcome(of: token) == outcome)
        }
        #expect(try place.number == 1)
        for token in ["", "a/b", "\(UUID())/\(UUID())"] {
            #expect(try storageError { try place.database.outcome(of: token) }.kind == .notFound)
        }
        try place.close()
    }

    @Test func anObservationGoesOnWhenTheServerIsBack() async throws {
        let place = try ProxiedBooks("connect_timeout=1")
        let books = try place.database.books
        var iterator = books.observe(byPrimaryKey: 0).makeAsyncIterator()
        #expect(try await iterator.next()??.title == "0")
        place.proxy.setDown(true)
        place.proxy.cutAll()
        // Something has changed, as far as it knows.
        place.database.engineState.observations.wakeAll()
        let later = Task {
            // Long enough for the observation to look for the server without finding it.
            try await Task.sleep(for: .milliseconds(400))
            try await place.direct.books.persist(Book(id: 0, title: "1", shelf: nil))
            place.proxy.setDown(false)
        }
        #expect(try await iterator.next()??.title == "1")
        try await later.value
        // An observation that has delivered nothing reports the error.
        place.proxy.setDown(true)
        place.proxy.cutAll()
        var second = books.observe(byPrimaryKey: 0).makeAsyncIterator()
        await #expect(throws: StorageError.self) { try await second.next() }
        try place.close()
    }

    @Test func clientsThatAreLongGoneAreForgotten() throws {
        let url = try Server.newURL()
        let schema = try #require(try DatabaseConfiguration(url: url).options["schema"])
        func write() throws {
            let database = try DatabaseDrivers(.postgres).open(url)
            try database.books.create(Book(id: Int.random(in: 0...Int.max), title: "", shelf: nil))
            try database.close()
        }
        try write()
        try Server.psql("UPDATE \"\(schema)\".dao_commit SET time = now() - INTERVAL '31 days'")
        try write()
        try write()
        #expect(try Server.psql("SELECT count(*) FROM \"\(schema)\".dao_commit") == ["2"])
    }
}
