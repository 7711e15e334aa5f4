import DAOChildProcesses
import DAOTestSupport
import Foundation
import Testing

/// Contract L5: damaged bytes give typed errors and never end the process. Where everything that is read has a checksum,
/// they are never another value. Set `ROUNDS=100000` in the
/// environment for more damaged files.
@Suite(.serialized, .timeLimit(.minutes(120))) struct FuzzTests {
    /// SQLite checks small files when they are opened. Of large files it checks only the parts that are used.
    @Test(
        arguments: [(Place.Kind.sqlite, ""), (.sqlite, "&checksums=true"), (.lmdb, "")] + Place.Kind.encrypted.map { ($0, "") },
        ["small", "large"])
    func damagedFilesNeverEndTheProcess(_ database: (Place.Kind, String), _ size: String) async throws {
        let (kind, options) = database
        try await onThread {
            let place = Place(kind)
            let ledger = try Ledger(place.url("durability=relaxed\(options)"))
            if size == "large" {
                try ledger.entries.persist((1000..<5000).map(Batches.large))
            }
            for _ in 0..<40 { _ = try Batches.commitNext(ledger) }
            try ledger.database.close()
            let whole = try Data(contentsOf: place.file)
            var seed = Rounds.seed
            let rounds = Rounds.count(size == "large" ? 20 : 100)
            var outcomes: [String: Int] = [:]
            var child = try Child("probe")
            try child.expect("ready")
            let began = ContinuousClock.now
            for round in 0..<rounds {
                var random = SeededGenerator(seed: seed)
                let file = place.directory.appendingPathComponent("\(round).db")
                try damaged(whole, &random).write(to: file)
                defer {
                    for suffix in ["", "-lock", "-wal", "-shm", "-journal"] {
                        try? FileManager.default.removeItem(atPath: file.path + suffix)
                    }
                }
                let outcome: String
                do {
                    outcome = try child.ask("\(kind.rawValue)://\(file.path)?durability=relaxed\(options)", within: 30)
                } catch {
                    child.kill()
                    outcome = "ended with \(child.wait())"
                    Issue.record("SEED=\(seed) \(kind)\(options) \(size): \(error), the process \(outcome)")
                    child = try Child("probe")
                    try child.expect("ready")
                }
                #expect(
                    !outcome.contains("untyped") && !outcome.contains("wrong"),
                    "SEED=\(seed) \(kind)\(options) \(size): \(outcome)")
                outcomes[outcome, default: 0] += 1
                seed = random.next()
            }
            let rate = Double(rounds) / ((ContinuousClock.now - began) / .seconds(1))
            print(
                "\(kind)\(options) \(size): \(Int(rate)) damaged files a second; \(outcomes.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" })"
            )
        }
    }

    /// Returns bytes with a few changes: single bits, zeros, other bytes, and sometimes a whole range or the
    /// end.
    private func damaged(_ whole: Data, _ random: inout SeededGenerator) -> Data {
        var bytes = whole
        for _ in 0..<[1, 1, 1, 2, 5, 20][Int.random(in: 0..<6, using: &random)] {
            // The beginnings of pages contain their structure. They are damaged more often than other bytes.
            var position = Int.random(in: 0..<bytes.count, using: &random)
            if Int.random(in: 0..<2, using: &random) == 0 { position = position & ~4095 + Int.random(in: 0..<64, using: &random) }
            position = min(position, bytes.count - 1)
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<12: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 12..<15: bytes[position] = 0
            case 15..<18: bytes[position] = UInt8.random(in: 0...255, using: &random)
            case 18:
                let end = min(bytes.count, position + Int.random(in: 2..<5000, using: &random))
                for index in position..<end { bytes[index] = UInt8.random(in: 0...255, using: &random) }
            default:
                if Int.random(in: 0..<4, using: &random) == 0, position > 200 { bytes.removeSubrange(position...) }
            }
        }
        return bytes
    }
}
