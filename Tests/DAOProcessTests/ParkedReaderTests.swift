import DAOChildProcesses
import DAOCore
import DAOTestSupport
import Foundation
import Testing

/// Contract C4: what SQLite keeps open between reads.
@Suite(.serialized, .timeLimit(.minutes(30))) struct ParkedReaderTests {
    @Test func readsThatFollowEachOtherTakeFewLocks() async throws {
        try await onThread {
            let place = Place(.sqlite)
            let child = try Child("locks", place.url(), "100")
            let locks = try #require(try child.line(within: 60).flatMap { Int($0) })
            // A read takes one lock otherwise.
            #expect(locks < 25, "\(locks) locks for 100 reads")
        }
    }

    @Test func readersDoNotKeepTheLog() async throws {
        try await onThread {
            let place = Place(.sqlite)
            let ledger = try Ledger(place.url("durability=relaxed&timeout=20"))
            try ledger.increment()
            let readers = try (0..<2).map { _ in try Child("read", place.url()) }
            for reader in readers { try reader.expect("reading") }
            let log = URL(fileURLWithPath: ledger.database.configuration.path + "-wal")
            func length() throws -> Int {
                try #require(FileManager.default.attributesOfItem(atPath: log.path)[.size] as? Int)
            }
            // A commit writes 50 kB. SQLite begins the log again when all of it is in the file, which readers delay.
            for _ in 0..<2000 { _ = try Batches.commitNext(ledger) }
            #expect(try length() < 2000 * 50_000 / 2)
            // This needs a moment in which no other process reads from the log. A compaction waits 0.2 s for one (contract L11).
            for _ in 0..<3 {
                let end = ContinuousClock.now + .seconds(10)
                repeat { _ = try ledger.database.compact() } while try length() != 0 && .now < end
                #expect(try length() == 0)
                _ = try Batches.commitNext(ledger)
            }
            for reader in readers {
                reader.kill()
                reader.wait()
            }
        }
    }

    /// Contract L13.
    @Test func suspendedProcessHoldsNoLock() async throws {
        try await onThread {
            let place = Place(.sqlite)
            let path = try DatabaseConfiguration(url: place.url()).path
            let child = try Child("serve", place.url())
            try child.expect("open")
            // The files are not open in this process.
            func isLocked() -> Bool {
                ["", "-wal", "-shm"].contains { ProcessLock.isHeldElsewhere(path + $0, in: 0..<1 << 62) }
            }
            for round in 0..<3 {
                for _ in 0..<40 { #expect(try child.ask("count") == "\(2 * round)") }
                #expect(isLocked())
                #expect(try child.ask("suspend") == "suspended")
                #expect(!isLocked())
                let ledger = try Ledger(place.url())
                try ledger.increment()
                try ledger.database.close()
                _ = try child.ask("add")
            }
        }
    }
}
