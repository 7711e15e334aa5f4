import DAOChildProcesses
import DAOCore
import DAOTestSupport
import Foundation
import Testing

/// Contract L3: `kill -9` at any instant leaves exactly the committed transactions. Set `ROUNDS=5000` in the
/// environment for more kills.
@Suite(.serialized, .timeLimit(.minutes(60))) struct CrashTests {
    @Test(arguments: Place.Kind.allCases, ["full", "relaxed"])
    func killedProcessLeavesExactlyItsCommits(_ kind: Place.Kind, _ durability: String) async throws {
        try await onThread {
            let place = Place(kind)
            let url = place.url("durability=\(durability)")
            let seed = Rounds.seed
            var random = SeededGenerator(seed: seed)
            var count = 0
            var interrupted = 0
            for round in 1...Rounds.count(30) {
                let child = try Child("crash", url)
                // Some processes are killed while they open the database, or recover it from the previous
                // kill.
                let lines = Int.random(in: 0...12, using: &random)
                var acknowledged = count
                for _ in 0..<lines { acknowledged = try #require(try child.line().flatMap { Int($0) }) }
                usleep(UInt32.random(in: 0..<(lines == 0 ? 60_000 : 3_000), using: &random))
                child.kill()
                #expect(child.wait() == -SIGKILL)
                // The process wrote these lines before it was killed.
                while let line = try child.line() { acknowledged = try #require(Int(line)) }
                let ledger = try Ledger(url)
                count = try ledger.count()
                #expect(
                    count == acknowledged || count == acknowledged + 1,
                    "SEED=\(seed), round \(round): \(acknowledged) acknowledged, \(count) there"
                )
                #expect(try ledger.isWhole(), "SEED=\(seed), round \(round)")
                if count > acknowledged { interrupted += 1 }
                // In every second round, the next child recovers the database; otherwise this process does.
                if round % 2 == 0 { try ledger.database.close() }
            }
            print("\(kind), \(durability): \(count) transactions, \(interrupted) committed but not acknowledged")
        }
    }

    /// Contract T9: calls that share a commit are there when they have returned, each as a whole.
    @Test(arguments: Place.Kind.allCases) func killedTasksLeaveWholeCalls(_ kind: Place.Kind) async throws {
        try await onThread {
            let place = Place(kind)
            let seed = Rounds.seed
            var random = SeededGenerator(seed: seed)
            var stored = [Int](repeating: 0, count: 16)
            for round in 1...Rounds.count(10) {
                let child = try Child("crash-tasks", place.url())
                var acknowledged = stored
                func read(_ line: String) throws { acknowledged[try #require(Int(line))] += 2 }
                for _ in 0..<Int.random(in: 0...200, using: &random) { try read(#require(try child.line())) }
                child.kill()
                #expect(child.wait() == -SIGKILL)
                while let line = try child.line() { try read(line) }
                let ledger = try Ledger(place.url())
                for task in stored.indices {
                    let ids = try ledger.entries.read { $0.batch == task }.map(\.id)
                    stored[task] = ids.count
                    #expect(ids == (0..<ids.count).map { task * 1_000_000 + $0 }, "SEED=\(seed), round \(round)")
                    #expect(
                        ids.count == acknowledged[task] || ids.count == acknowledged[task] + 2,
                        "SEED=\(seed), round \(round), task \(task): \(acknowledged[task]) acknowledged, \(ids.count) there")
                }
                try ledger.database.close()
            }
        }
    }

    /// Contract S8: a process that is killed in the middle of a merge leaves an index that is that of its commits.
    @Test(arguments: Place.Kind.allCases) func killedMergesLeaveAWholeIndex(_ kind: Place.Kind) async throws {
        try await onThread {
            let place = Place(kind)
            let url = place.url("durability=relaxed")
            let seed = Rounds.seed
            var random = SeededGenerator(seed: seed)
            var count = 0
            for round in 1...Rounds.count(8) {
                let child = try Child("crash-search", url)
                var acknowledged = count
                for _ in 0..<Int.random(in: 0...120, using: &random) {
                    acknowledged = try #require(try child.line().flatMap { Int($0) })
                }
                usleep(UInt32.random(in: 0..<3000, using: &random))
                child.kill()
                #expect(child.wait() == -SIGKILL)
                while let line = try child.line() { acknowledged = try #require(Int(line)) }
                let pages = try Pages(url)
                count = try pages.count()
                #expect(count == acknowledged || count == acknowledged + 1, "SEED=\(seed), round \(round)")
                #expect(try pages.problem() == nil, "SEED=\(seed), round \(round), after \(count) transactions")
                if round % 2 == 0 { try pages.close() }
            }
            print("\(kind): \(count) transactions of pages that are searched")
        }
    }
}
