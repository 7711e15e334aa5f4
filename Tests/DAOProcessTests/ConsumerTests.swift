import DAOChildProcesses
import DAOCore
import DAOTestSupport
import Foundation
import Testing

/// Contract D1, D4 and D5: a consumer of the log that is killed, restarted and late beside processes that write. Set `ROUNDS=250000` in the
/// environment for more calls of each of four processes.
@Suite(.serialized, .timeLimit(.minutes(240))) struct ConsumerTests {
    @Test(arguments: [(Place.Kind.sqlite, Place.Kind.lmdb), (.lmdb, .sqlite)])
    func aConsumerThatIsKilledAppliesEachChangeOnce(_ from: Place.Kind, _ to: Place.Kind) async throws {
        try await onThread {
            let seed = Rounds.seed
            var random = SeededGenerator(seed: seed)
            let (source, target, other) = (Place(from), Place(to), Place(from))
            let options = "durability=relaxed&timeout=60"
            let depot = try Depot(source.url(options))
            // An archive has seen the first change, and keeps the log from there.
            try depot.database.limitChanges(to: nil)
            try depot.act(&random)
            while try depot.database.changes().isEmpty { try depot.act(&random) }
            try depot.database.acknowledge(depot.database.changes()[0].position, by: "archive")
            let calls = Rounds.count(250)
            let writers = try (0..<(calls > 1000 ? 4 : 2)).map { number in
                try Child("depot", source.url(options), "\(seed &+ UInt64(number) &* 977)", "\(calls)")
            }
            let isDone = Lock(false)
            // Read beside the consumers: their lines would fill the pipes.
            let waiting = Thread {
                for writer in writers { _ = try? writer.line(within: 7200) }
                isDone.withLock { $0 = true }
            }
            waiting.start()
            var kills = 0
            while !isDone.withLock({ $0 }) || kills < 4 {
                let child = try Child("consume", source.url(options), target.url(options))
                Thread.sleep(forTimeInterval: .random(in: 0.005...(calls > 1000 ? 2 : 0.3), using: &random))
                child.kill()
                #expect(child.wait() == -SIGKILL, "SEED=\(seed) \(from) to \(to)")
                kills += 1
            }
            for writer in writers { #expect(writer.wait() == 0, "SEED=\(seed) \(from) to \(to)") }
            let expected = try depot.content()
            #expect(expected.count > 0)

            let copy = try Depot(target.url(options))
            while true {
                let last = try copy.database.appliedPosition(of: "depot")
                let changes = try depot.database.changes(after: last, limit: 500, keepsTransactions: true)
                if try copy.database.apply(changes, origin: "depot") == 0 { break }
            }
            #expect(try copy.content() == expected, "SEED=\(seed) \(from) to \(to), \(kills) kills")

            // The whole log leads from nothing to the same rows.
            let replay = try Depot(other.url(options))
            var (last, count) = (LogPosition?.none, 0)
            while true {
                let changes = try depot.database.changes(after: last, limit: 5000, keepsTransactions: true)
                guard let end = changes.last?.position else { break }
                #expect(try replay.database.apply(changes, origin: "all") == changes.count)
                (last, count) = (end, count + changes.count)
            }
            #expect(try replay.content() == expected, "SEED=\(seed) \(from) to \(to)")
            for each in [depot, copy, replay] { #expect(try each.database.verify().isSound) }
            print("\(from) to \(to): \(writers.count * calls) calls, \(count) changes, \(kills) kills")
        }
    }
}
