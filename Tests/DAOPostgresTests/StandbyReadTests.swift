import DAOCore
import DAOPostgres
import DAOTestSupport
import Foundation
import Testing

@Suite("Reads from a standby are never older than what the client has seen", .enabled(if: Server.isThere, "there is no server"))
struct StandbyReadTests {
    @Test func readsSeeOwnWritesAndNeverGoBack() async throws {
        try await onThread {
            let place = try StandbyReader()
            try place.pause()
            try place.other.books.create(Book(id: 2, title: "two", shelf: nil))
            // The client has not seen the write, so the standby may answer.
            #expect(try place.database.books.count() == 1)
            #expect(try place.database.snapshot { try place.database.books.read().count } == 1)
            // The client's own writes are seen at once, with all that was stored before them.
            try place.database.books.create(Book(id: 3, title: "three", shelf: nil))
            #expect(try place.database.books.count() == 3)
            #expect(try place.database.books.read().map(\.id) == [1, 2, 3])
            #expect(try place.database.snapshot { try place.database.books.read().count } == 3)
            // What a read has seen stays, also after the standby is asked again.
            usleep(1_100_000)
            #expect(try place.database.books.count() == 3)
            try place.cluster.onStandby("SELECT pg_wal_replay_resume()")
            #expect(try place.database.books.count() == 3)
            // What a transaction has read counts as seen.
            try place.pause()
            try place.other.books.create(Book(id: 4, title: "four", shelf: nil))
            #expect(try place.database.books.count() == 3)
            #expect(try place.database.transaction { try place.database.books.count() } == 4)
            #expect(try place.database.books.count() == 4)
            try place.cluster.onStandby("SELECT pg_wal_replay_resume()")
            try place.end()
        }
    }

    /// The header of a new file is no record that a standby could replay.
    @Test func readsComeFromTheStandbyWhenTheLogHasBegunAFile() async throws {
        try await onThread {
            let place = try StandbyReader()
            try place.pause()
            try place.cluster.onStandby("SELECT pg_wal_replay_resume()")
            try place.cluster.onPrimary("SELECT pg_switch_wal()")
            #expect(try place.database.transaction { try place.database.books.count() } == 1)
            try place.pauseReplay()
            try place.other.books.create(Book(id: 2, title: "two", shelf: nil))
            #expect(try place.database.books.count() == 1, "what the standby has")
            try place.cluster.onStandby("SELECT pg_wal_replay_resume()")
            try place.end()
        }
    }

    @Test func readsGoOnWithoutThePrimaryAndWithoutTheStandby() async throws {
        try await onThread {
            let place = try StandbyReader()
            usleep(1_100_000)
            #expect(try place.database.books.count() == 1)
            try place.cluster.killPrimary()
            #expect(try place.database.books.read().map(\.id) == [1])
            #expect(
                try storageError { try place.database.books.create(Book(id: 2, title: "two", shelf: nil)) }.kind == .unreachable)
            #expect(try place.database.books.count() == 1)
            try place.cluster.promote()
            try place.database.books.create(Book(id: 2, title: "two", shelf: nil))
            #expect(try place.database.books.read().map(\.id) == [1, 2])
            try place.cluster.addStandby()
            try place.database.books.create(Book(id: 3, title: "three", shelf: nil))
            // The standby is gone while the client reads from it.
            usleep(5_100_000)
            #expect(try place.database.books.count() == 3)
            #expect(try place.cluster.onStandby("SELECT 1 FROM pg_stat_activity WHERE application_name = 'reads'") == ["1"])
            try place.cluster.stopStandby()
            #expect(try place.database.books.read().map(\.id) == [1, 2, 3])
            try place.end()
        }
    }

    /// Behind one address there can be another standby than before.
    @Test func anotherStandbyIsAskedHowFarItIs() async throws {
        try await onThread {
            let place = try StandbyReader()
            let schema = try #require(try DatabaseConfiguration(url: place.url).options["schema"])
            func isReadingFromStandby() throws -> Bool {
                try place.cluster.onStandby("SELECT 1 FROM pg_stat_activity WHERE application_name = 'reads'") == ["1"]
            }
            try place.cluster.keepStandby()
            try place.other.books.create(Book(id: 2, title: "two", shelf: nil))
            #expect(
                try place.wait(for: 30) {
                    let count = try place.database.books.count()
                    return try count == 2 && isReadingFromStandby()
                })
            #expect(try place.database.books.count() == 2)
            try place.cluster.replaceStandbyByKept()
            #expect(try place.cluster.onStandby("SELECT id FROM \"\(schema)\".book") == ["1"], "it is behind")
            #expect(try place.database.books.count() == 2)
            #expect(try place.database.books.read().map(\.id) == [1, 2])
            try place.end()
        }
    }

    @Test func whatTheStandbyCancelsIsReadFromThePrimary() async throws {
        try await onThread {
            let place = try StandbyReader()
            let schema = try #require(try DatabaseConfiguration(url: place.url).options["schema"])
            // A standby cancels what reads rows that its log changes. This one always does.
            try place.cluster.onPrimary(
                """
                SET search_path = "\(schema)"; ALTER TABLE book RENAME TO stored;
                CREATE FUNCTION check_place() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
                IF pg_is_in_recovery() THEN RAISE 'canceling statement due to conflict with recovery' USING ERRCODE = '40001'; END IF;
                RETURN TRUE; END $$;
                CREATE VIEW book AS SELECT * FROM stored WHERE check_place();
                """)
            let position = try place.cluster.onPrimary("SELECT pg_current_wal_flush_lsn()")[0]
            #expect(try place.wait { try place.cluster.onStandby("SELECT pg_last_wal_replay_lsn() >= '\(position)'") == ["t"] })
            usleep(1_100_000)
            #expect(try place.database.books.read().map(\.id) == [1])
            // The primary is asked for a second, and then the standby again.
            usleep(1_100_000)
            #expect(try storageError { try place.database.snapshot { try place.database.books.count() } }.kind == .conflict)
            try place.end()
        }
    }
}

/// A client that reads from a standby.
private struct StandbyReader {
    let cluster: Cluster
    let url: String
    let database: any Database
    /// Another client, which only knows the primary.
    let other: any Database

    init() throws {
        cluster = try Cluster()
        url = cluster.newURL("connect_timeout=2")
        other = try DatabaseDrivers(.postgres).open(url + "&target_session_attrs=read-write")
        try other.books.create(Book(id: 1, title: "one", shelf: nil))
        database = try DatabaseDrivers(.postgres).open(url + "&reads=standby&application_name=reads")
        // It knows the table.
        #expect(try database.books.count() == 1)
    }

    func end() throws {
        try database.close()
        try other.close()
        cluster.remove()
    }

    /// Waits until a condition holds.
    func wait(for seconds: Int = 10, until condition: () throws -> Bool) rethrows -> Bool {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while try !condition() {
            if .now > deadline { return false }
            usleep(20_000)
        }
        return true
    }

    /// Stops the replay on the standby when it has all that is stored, and the client has asked for nothing for some time.
    func pause() throws {
        // It writes the log.
        try cluster.onPrimary("CHECKPOINT")
        try pauseReplay()
    }

    /// Stops the replay on the standby when it has all that is in the log.
    func pauseReplay() throws {
        let position = try cluster.onPrimary("SELECT pg_current_wal_flush_lsn()")[0]
        #expect(try wait { try cluster.onStandby("SELECT pg_last_wal_replay_lsn() >= '\(position)'") == ["t"] })
        try cluster.onStandby("SELECT pg_wal_replay_pause()")
        #expect(try wait { try cluster.onStandby("SELECT pg_get_wal_replay_pause_state()") == ["paused"] })
        usleep(1_100_000)
    }
}
