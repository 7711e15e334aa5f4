import DAOChildProcesses
import DAOCore
import DAOTestSupport
import Foundation
import Testing

/// Contract C2: several processes on one database.
@Suite(.serialized, .timeLimit(.minutes(30))) struct SharingTests {
    @Test(arguments: Place.Kind.allCases + Place.Kind.encrypted) func concurrentWritersLoseNoUpdate(_ kind: Place.Kind)
        async throws
    {
        try await onThread {
            let place = Place(kind)
            let times = 300
            let children = try (0..<2).map { _ in try Child("increment", place.url("durability=relaxed&timeout=60"), "\(times)") }
            for child in children { try child.expect("open") }
            for child in children { try child.say("go") }
            let ledger = try Ledger(place.url("durability=relaxed&timeout=60"))
            for _ in 0..<times { try ledger.increment() }
            for child in children { try child.expect("done") }
            #expect(try ledger.count() == 3 * times)
        }
    }

    @Test(arguments: Place.Kind.allCases) func readersSeeWholeCommitsInOrder(_ kind: Place.Kind) async throws {
        try await onThread {
            let place = Place(kind)
            let writer = try Child("crash", place.url("durability=relaxed"))
            _ = try writer.line()
            let reader = try Child("serve", place.url())
            try reader.expect("open")
            let ledger = try Ledger(place.url())
            var last = (here: 0, there: 0)
            for _ in 0..<50 {
                let acknowledged = try #require(try writer.line().flatMap { Int($0) })
                let here = try ledger.count()
                let there = try #require(Int(try reader.ask("count")))
                #expect(here >= max(last.here, acknowledged) && there >= max(last.there, here))
                #expect(try ledger.isWhole())
                #expect(try reader.ask("check") == "whole")
                last = (here, there)
            }
            writer.kill()
            writer.wait()
        }
    }

    @Test(arguments: Place.Kind.allCases + Place.Kind.encrypted) func killedWriterLeavesNoWritesAndNoLocks(_ kind: Place.Kind)
        async throws
    {
        try await onThread {
            let place = Place(kind)
            let ledger = try Ledger(place.url("timeout=10"))
            try ledger.increment()
            for round in 1...5 {
                let holder = try Child("hold", place.url())
                try holder.expect("holding")
                // Readers continue during the transaction and do not see its writes.
                #expect(try ledger.count() == round)
                holder.kill()
                holder.wait()
                try ledger.increment()
                #expect(try ledger.count() == round + 1)
            }
        }
    }

    @Test(arguments: Place.Kind.allCases) func killedReadersDoNotRetainOldPages(_ kind: Place.Kind) async throws {
        try await onThread {
            let place = Place(kind)
            let ledger = try Ledger(place.url("durability=relaxed"))
            let readers = try (0..<8).map { _ in try Child("look", place.url()) }
            for reader in readers { try reader.expect("looking") }
            for reader in readers {
                reader.kill()
                reader.wait()
            }
            func size() throws -> Int {
                let names = try FileManager.default.contentsOfDirectory(atPath: place.directory.path)
                return try names.reduce(0) {
                    let attributes = try FileManager.default.attributesOfItem(
                        atPath: place.directory.appendingPathComponent($1).path)
                    return try $0 + #require(attributes[.size] as? Int)
                }
            }
            for _ in 0..<300 { _ = try Batches.commitNext(ledger) }
            let early = try size()
            for _ in 0..<1200 { _ = try Batches.commitNext(ledger) }
            #expect(try size() <= early + early / 2 + (4 << 20), "the files grow although few rows are stored")
        }
    }

    @Test(arguments: Place.Kind.allCases) func concurrentOpeningAndClosingSucceeds(_ kind: Place.Kind) async throws {
        try await onThread {
            let place = Place(kind)
            let children = try (0..<4).map { _ in try Child("reopen", place.url("durability=relaxed&timeout=60"), "15") }
            for child in children { try child.expect("done") }
            #expect(try Ledger(place.url()).count() == 60)
        }
    }

    /// One makes the file while the others look whose it is. One of a hundred files was taken for that of another program.
    @Test(arguments: Place.Kind.allCases) func aNewFileIsNobodyElses(_ kind: Place.Kind) async throws {
        try await onThread {
            for _ in 0..<Rounds.count(50) {
                let place = Place(kind)
                let children = try (0..<4).map { _ in try Child("reopen", place.url("durability=relaxed&timeout=60"), "1") }
                for child in children { try child.expect("done") }
                #expect(try Ledger(place.url()).count() == 4)
            }
        }
    }

    @Test(arguments: Place.Kind.allCases) func fileThatAnotherProcessGrowsIsReadAndWritten(_ kind: Place.Kind) async throws {
        try await onThread {
            let place = Place(kind)
            let options = kind == .lmdb ? "mapSize=256K&durability=relaxed" : "durability=relaxed"
            let ledger = try Ledger(place.url(options))
            let child = try Child("serve", place.url(options))
            try child.expect("open")
            let text = String(repeating: "z", count: 30_000)
            for round in 0..<6 {
                // A transaction that reaches the end of the map is rolled back. The next transaction has a
                // larger map.
                var isStored = false
                while !isStored {
                    do {
                        try ledger.entries.persist((0..<40).map { Entry(id: -1 - round * 40 - $0, batch: -1, text: text) })
                        isStored = true
                    } catch let error as StorageError where error.kind == .outOfSpace {}
                }
                #expect(Int(try child.ask("batch")) == round + 1)
                #expect(try ledger.count() == round + 1)
            }
            #expect(try ledger.entries.count { $0.batch == -1 } == 240)
        }
    }

    // MARK: Waiting for the writer of another process

    @Test(arguments: Place.Kind.allCases) func writerWaitsForItsTimeout(_ kind: Place.Kind) async throws {
        try await onThread {
            let place = Place(kind)
            let holder = try Child("hold", place.url())
            try holder.expect("holding")
            for seconds in [0, 0.3, 1] {
                let ledger = try Ledger(place.url("timeout=\(seconds)"))
                let clock = ContinuousClock()
                let waited = clock.measure {
                    #expect { try ledger.increment() } throws: { ($0 as? StorageError)?.kind == .busy }
                }
                // A busy machine can only make the wait longer.
                #expect(waited >= .seconds(seconds) && waited < .seconds(seconds + 20), "\(seconds) s: \(waited)")
                #expect(try ledger.count() == 0)
                try ledger.database.close()
            }
            let patient = try Ledger(place.url("timeout=60"))
            try holder.say("commit")
            try patient.increment()
            try holder.expect("ended")
            #expect(try patient.count() == 1001)
        }
    }

    @Test(arguments: Place.Kind.allCases) func databasesOnTheSameFileHaveSeparateTimeouts(_ kind: Place.Kind) async throws {
        try await onThread {
            let place = Place(kind)
            let patient = try Ledger(place.url("timeout=60"))
            let hasty = try Ledger(place.url("timeout=0"))
            let holder = try Child("hold", place.url())
            try holder.expect("holding")
            let waited = ContinuousClock().measure {
                #expect { try hasty.increment() } throws: { ($0 as? StorageError)?.kind == .busy }
            }
            #expect(waited < .seconds(20))
            try holder.say("rollback")
            try patient.increment()
            #expect(try hasty.count() == 1)
        }
    }
}
