import DAOCore
import DAOTestSupport
import Foundation
import Testing

@testable import DAOPostgres

/// Contract C7: what one process has seen, the reads of another show.
@Suite("Positions", .enabled(if: Server.isThere, "there is no server")) struct PositionTests {
    private static let drivers = DatabaseDrivers(.postgres)

    /// The answer of a standby can come after a later commit of the same client.
    @Test func aLateAnswerTakesNothingBack() {
        let seen = SeenPosition()
        for position in [5, 9, 7, 9, 8] as [UInt64] { seen.note(position) }
        #expect(seen.position == 9)
    }

    @Test func anotherProcessReadsNothingOlder() async throws {
        try await onThread {
            let cluster = try Cluster()
            defer { cluster.remove() }
            let url = cluster.newURL("connect_timeout=2")
            let writer = try Self.drivers.open(url + "&target_session_attrs=read-write")
            try writer.books.create(Book(id: 1, title: "one", shelf: nil))
            // Other options make other connections: as in another process.
            var balanced = try DatabaseConfiguration(url: url + "&reads=standby&application_name=balanced")
            let before = try Self.drivers.open(balanced)
            #expect(try before.books.count() == 1)
            try cluster.onStandby("SELECT pg_wal_replay_pause()")
            while try cluster.onStandby("SELECT pg_get_wal_replay_pause_state()") != ["paused"] { usleep(10_000) }
            try writer.books.create(Book(id: 2, title: "two", shelf: nil))
            let position = try #require(try writer.position)
            #expect(position.hasPrefix("1-"))
            // Nothing says that it must be seen: the standby answers.
            usleep(1_100_000)
            #expect(try before.books.count() == 1)
            balanced.seenPosition = position
            let after = try Self.drivers.open(balanced)
            #expect(try after.books.count() == 2)
            #expect(try before.books.count() == 2)
            #expect(try after.snapshot { try after.books.read().map(\.id) } == [1, 2])

            // A client of the standby alone waits for it, and not for ever.
            let port = try cluster.onStandby("SHOW port")[0]
            let host = try Server.directory.replacing("/", with: "%2F")
            let schema = try #require(balanced.options["schema"])
            var alone = try DatabaseConfiguration(
                url: "postgres://dao@\(host):\(port)/postgres?schema=\(schema)&readOnly=true&timeout=0.3")
            let stale = try Self.drivers.open(alone)
            #expect(try stale.books.count() == 1)
            #expect(try stale.position != position)
            alone.seenPosition = position
            #expect(try storageError { try Self.drivers.open(alone) }.kind == .busy)
            // Who did not ask for it goes on.
            #expect(try stale.books.count() == 1)
            try cluster.onStandby("SELECT pg_wal_replay_resume()")
            alone.busyTimeout = .seconds(10)
            let fresh = try Self.drivers.open(alone)
            #expect(try fresh.books.count() == 2)
            // What a standby has shown is a position, too.
            alone.seenPosition = try fresh.position
            try Self.drivers.open(alone).close()

            // A new primary has a history of its own, which begins with the old one.
            for database in [stale, fresh, before, after] { try database.close() }
            try cluster.killPrimary()
            try cluster.promote()
            var configuration = try DatabaseConfiguration(url: url + "&target_session_attrs=read-write&application_name=new")
            configuration.seenPosition = position
            let new = try Self.drivers.open(configuration)
            #expect(try new.books.count() == 2)
            #expect(try #require(try new.position).hasPrefix("2-"))
            // The end of the earlier history is not known: all that is left is seen.
            configuration.seenPosition = "1-ffffffffff"
            try Self.drivers.open(configuration).close()
            try new.close()
            try writer.close()
        }
    }

    @Test func aPositionOfAnotherHistoryIsNotFound() async throws {
        try await onThread {
            let url = try Server.newURL()
            let database = try Self.drivers.open(url)
            var configuration = try DatabaseConfiguration(url: url)
            for text in ["1-ffffffffffffff", "99-1"] {
                configuration.seenPosition = text
                #expect(try storageError { try Self.drivers.open(configuration) }.kind == .notFound)
            }
            // A refused text binds nobody.
            _ = try database.entities()
            try database.books.create(Book(id: 1, title: "one", shelf: nil))
            let first = try Self.log(of: database)
            try database.books.create(Book(id: 2, title: "two", shelf: nil))
            #expect(try first < Self.log(of: database))
            // The log goes on in a new file, without a record.
            try Server.psql("SELECT pg_switch_wal()")
            configuration.seenPosition = try database.position
            try Self.drivers.open(configuration).close()
            try database.close()
            try PostgresDatabase.dropSchema(of: DatabaseConfiguration(url: url))
        }
    }

    private static func log(of database: any Database) throws -> UInt64 {
        let text = try #require(try database.position)
        return try #require(PostgresPosition(text)).log
    }

    @Test func connectionsToStandbysBeginWithAnyOfTheServers() throws {
        let url = "postgres://a:1,b:2,c:3/app?reads=standby"
        let settings = try PostgresSettings(DatabaseConfiguration(url: url))
        var first: Set<String> = []
        for _ in 0..<200 {
            let standby = settings.forStandby.parameters
            let hosts = try #require(standby["host"]).split(separator: ",").map(String.init)
            let ports = try #require(standby["port"]).split(separator: ",").map(String.init)
            // Each host keeps its port.
            #expect(zip(hosts, ports).map { $0 + $1 }.sorted() == ["a1", "b2", "c3"])
            first.insert(hosts[0])
        }
        #expect(first == ["a", "b", "c"])
        #expect(settings.parameters["host"] == "a,b,c")
        let onePort = try PostgresSettings(DatabaseConfiguration(url: "postgres:app?host=a,b,c&port=7&reads=standby"))
        #expect(onePort.forStandby.parameters["port"] == "7")
    }
}
