import DAOCore
import DAOPostgres
import DAOTestSupport
import Foundation
import Testing

/// Connections are cut by a proxy after any number of bytes. `ROUNDS=…` looks at more numbers.
@Suite("L1, T6 · What happens when connections are lost", .enabled(if: Server.isThere, "there is no server"))
struct LostConnectionTests {
    /// A database behind a proxy, and the same without.
    private struct Place {
        let proxy: Proxy
        let database: PostgresDatabase
        let direct: any Database

        init(_ options: String = "") throws {
            let url = try Server.newURL()
            proxy = try Proxy(to: Server.directory)
            direct = try DatabaseDrivers(.postgres).open(url)
            let host = try #require(try DatabaseConfiguration(url: url).options["host"])
            let escaped = { (path: String) in path.replacing("/", with: "%2F") }
            let behind = url.replacing(escaped(host), with: escaped(proxy.directory)) + (options.isEmpty ? "" : "&\(options)")
            database = try #require(try DatabaseDrivers(.postgres).open(behind) as? PostgresDatabase)
            try direct.books.create(Book(id: 0, title: "0", shelf: nil))
            try database.transaction { try database.books.persist(Book(id: 0, title: "0", shelf: nil)) }
        }

        func close() throws {
            try database.close()
            try direct.close()
            proxy.stop()
        }

        /// The number in the row.
        var number: Int { get throws { Int(try #require(try direct.books.read(byPrimaryKey: 0)).title) ?? -1 } }

        /// Adds one to the number in the row, in a transaction.
        func increase(beforeCommit: () -> Void = {}) throws {
            try database.transaction {
                var book = try #require(try database.books.read(byPrimaryKey: 0))
                book.title = "\((Int(book.title) ?? -1) + 1)"
                try database.books.persist(book)
                beforeCommit()
            }
        }
    }

    /// Every how many bytes a connection is cut.
    private static let step = ProcessInfo.processInfo.environment["ROUNDS"] == nil ? 23 : 1

    @Test(arguments: Proxy.Direction.allCases)
    func aCommitWhoseConnectionIsCutIsDecided(_ direction: Proxy.Direction) throws {
        let place = try Place()
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
        let place = try Place()
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
        let place = try Place()
        #expect(try storageError { try place.increase { place.proxy.disturb(.toServer, after: 5, .delay) } }.kind == .unreachable)
        #expect(try place.number == 0)
        place.proxy.deliver()
        #expect(try place.number == 0)
        try place.increase()
        #expect(try place.number == 1)
        try place.close()
    }

    @Test func aCommitThatNobodyCanDecideIsUnknownAndDecidedLater() throws {
        let place = try Place("connect_timeout=1")
        for (direction, outcome) in [
            (Proxy.Direction.toServer, PostgresDatabase.Outcome.rolledBack), (.toClient, .committed),
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
