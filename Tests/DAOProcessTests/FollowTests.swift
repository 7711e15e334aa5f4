import DAOChildProcesses
import DAOCore
import DAOTestSupport
import Foundation
import Testing

/// Contract D6: a copy that follows its source, and is killed at any moment. Set `ROUNDS=200` in the environment for more.
@Suite(.serialized, .timeLimit(.minutes(60))) struct FollowTests {
    @Test(arguments: [(Place.Kind.sqlite, Place.Kind.lmdb), (.lmdb, .sqlite)])
    func nothingThatWasAcknowledgedIsMissingAfterTheMove(_ from: Place.Kind, _ to: Place.Kind) async throws {
        try await onThread {
            var seed = Rounds.seed
            for _ in 0..<Rounds.count(3) {
                try move(from, to, seed)
                var random = SeededGenerator(seed: seed)
                seed = random.next()
            }
        }
    }

    private func move(_ from: Place.Kind, _ to: Place.Kind, _ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (source, target) = (Place(from), Place(to))
        let options = "durability=relaxed&timeout=60"
        let ledger = try Ledger(source.url(options))
        for _ in 0..<30 { _ = try Batches.commitNext(ledger) }
        try DAO<Label>(storage: ledger.database.storage(for: Label.self)).persist(Label.all)
        let writers = try (0..<2).map { _ in try Child("relay", source.url(options)) }
        func follow(_ times: Int) throws -> Child {
            try Child("follow", source.url(options), target.url(options), "\(times)")
        }
        var kills = 0
        for _ in 0..<Int.random(in: 0..<6, using: &random) {
            // From the first call to some rounds after it is caught up, which one that hands over at once does not survive.
            let child = try follow(Int.random(in: 1..<4, using: &random) * 100)
            Thread.sleep(forTimeInterval: .random(in: 0.005...0.4, using: &random))
            child.kill()
            child.wait()
            kills += 1
        }
        var isDone = false
        while !isDone {
            let child = try follow(Int.random(in: 1..<4, using: &random))
            // About half of those that would hand over are killed before or while they do.
            if Int.random(in: 0..<2, using: &random) == 0 {
                while let line = try child.line(within: 60), line == "caught up" {}
                isDone = true
            } else {
                Thread.sleep(forTimeInterval: .random(in: 0.005...0.15, using: &random))
                child.kill()
                while let line = try child.line(within: 60) { isDone = isDone || line.hasPrefix("done") }
                kills += 1
            }
            child.wait()
        }
        var acknowledged = 30
        for writer in writers {
            let line = try writer.line(within: 60)
            writer.wait()
            let last = line.flatMap { $0.hasPrefix("moved after ") ? Int($0.dropFirst(12)) : nil }
            acknowledged = max(acknowledged, try #require(last, "SEED=\(seed) \(from) to \(to): '\(line ?? "nothing")'"))
        }
        let copy = try Ledger(target.url(options))
        let count = try copy.count()
        #expect(count == acknowledged, "SEED=\(seed) \(from) to \(to), \(kills) kills")
        #expect(
            try copy.entries.read() == Batches.expected(after: count) && copy.entries.count { $0.batch >= 0 } > 0,
            "SEED=\(seed) \(from) to \(to)")
        #expect(try DAO<Label>(storage: copy.database.storage(for: Label.self)).read() == Label.all)
        #expect(try copy.database.verify().isSound && ledger.database.verify().isSound)
        // The target takes writes now.
        #expect(try Batches.commitNext(copy) == acknowledged + 1)
        print("\(from) to \(to): \(acknowledged) commits, \(kills) kills")
    }
}
