import DAOChildProcesses
import DAOTestSupport
import Foundation
import Testing

@testable import DAOCore

/// Contract O across processes: commits of other processes are detected soon, and the detection leaves no
/// resources behind.
@Suite(.serialized, .timeLimit(.minutes(30))) struct ObservationTests {
    @Test(arguments: Place.Kind.allCases) func ownCommitsWakeObserversOnce(_ kind: Place.Kind) async throws {
        try await onThread {
            let place = Place(kind)
            let ledger = try Ledger(place.url("durability=relaxed"))
            let hub = ledger.database.engineState.observations
            let wakes = Wakes()
            let id = hub.add { if $0.names?.contains("entry") ?? true { wakes.add() } }
            defer { hub.remove(id) }
            // Long enough for several checks for commits of other processes.
            let end = ContinuousClock.now + .milliseconds(300)
            var commits = 0
            while ContinuousClock.now < end {
                commits = try Batches.commitNext(ledger)
                // Empty transactions, single statements and commits of other entities must not wake the
                // observer.
                try ledger.database.transaction {}
                try ledger.tallies.persist(Tally(id: 2, value: commits))
                _ = try ledger.tallies.erase { $0.id == 3 }
            }
            // When a thread is delayed during a commit, the commit may be attributed to another process. The
            // observer is then woken once more.
            let told = wakes.count
            #expect((commits...commits + 2).contains(told), "\(commits) commits")
            let child = try Child("serve", place.url())
            try child.expect("open")
            _ = try child.ask("add")
            wakes.wait(for: told + 1)
            #expect(wakes.count == told + 1)
        }
    }

    #if os(Linux)
        @Test(arguments: Place.Kind.allCases) func observationReleasesItsFileDescriptors(_ kind: Place.Kind) async throws {
            func descriptors() throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
                }
                .filter { $0.contains("test.db") }
            }
            let place = Place(kind)
            let ledger = try Ledger(place.url())
            _ = try ledger.count()
            func mine() throws -> Int { try descriptors().filter { $0.contains(place.directory.lastPathComponent) }.count }
            func observe() async throws {
                var observer = ledger.tallies.observe().makeAsyncIterator()
                _ = try await observer.next()
            }
            try await observe()
            let before = try mine()
            for _ in 0..<50 { try await observe() }
            // SQLite's parked reader can have begun meanwhile.
            #expect(try mine() < before + 10)
            var last = ledger.tallies.observe().makeAsyncIterator()
            _ = try await last.next()
            try ledger.database.close()
            #expect(try mine() == 0, "after the database was closed")
            await #expect(throws: StorageError.self) { _ = try await last.next() }
        }
    #endif
}

/// Counts wakes from any thread.
private final class Wakes: @unchecked Sendable {
    // `condition` guards the number.
    private let condition = NSCondition()
    private var number = 0

    var count: Int { condition.withLock { number } }

    func add() {
        condition.withLock {
            number += 1
            condition.broadcast()
        }
    }

    func wait(for wanted: Int) {
        condition.withLock {
            while number < wanted { condition.wait() }
        }
    }
}
