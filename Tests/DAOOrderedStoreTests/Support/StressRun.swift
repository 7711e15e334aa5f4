import DAOCore
import DAOKeyValue
import DAOTestSupport
import Foundation
import Testing

/// A writer that preserves an invariant in every commit, and readers that check it.
///
/// Every commit moves amounts between accounts, so that their sum stays constant, and writes its number to
/// two keys.
final class StressRun: Sendable {
    private let store: any OrderedKeyValueStore
    private let isDone = Atomic(false)
    private let failures = Lock<[String]>([])

    private static let accounts: UInt64 = 500
    private static let amount: UInt64 = 1_000

    init(_ store: any OrderedKeyValueStore) { self.store = store }

    /// Runs all rounds.
    ///
    /// A sanitizer needs many rounds: the environment variable `DAO_STRESS_FACTOR` multiplies their number.
    func run(rounds: Int, readers: Int = 3) throws {
        let factor = ProcessInfo.processInfo.environment["DAO_STRESS_FACTOR"].flatMap { Int($0) } ?? 1
        try store.write { transaction in
            for account in 0..<Self.accounts { try transaction.store(rowKey(1, account), number(Self.amount)) }
            try transaction.store([2], number(0))
            try transaction.store([9], number(0))
        }
        let group = DispatchGroup()
        for seed in 0..<readers {
            Thread.detachNewThread(in: group) { [self] in attempt { try readUntilDone(seed: UInt64(seed)) } }
        }
        Thread.detachNewThread(in: group) { [self] in
            attempt { try write(rounds: rounds * factor) }
            isDone.store(true, ordering: .releasing)
        }
        group.wait()
        #expect(failures.withLock { $0 } == [])
    }

    private func attempt(_ body: () throws -> Void) {
        do { try body() } catch { failures.withLock { $0.append("\(error)") } }
    }

    private func fail(_ what: String) { failures.withLock { $0.append(what) } }

    private func write(rounds: Int) throws {
        var random = SeededGenerator(seed: 99)
        for round in 1...UInt64(rounds) {
            let transaction = try store.begin(.write)
            for _ in 0..<random.below(20) {
                let from = rowKey(1, random.next() % Self.accounts)
                let to = rowKey(1, random.next() % Self.accounts)
                guard from != to else { continue }
                if random.below(3) == 0 { try transaction.beginSavepoint() }
                let moved = random.next() % 10
                let (left, right) = (value(try transaction.value(from)), value(try transaction.value(to)))
                guard left >= moved else { continue }
                // Removes and inserts keys, so that nodes are freed and created.
                _ = try transaction.remove(from)
                try transaction.store(to, number(right + moved))
                _ = try transaction.add(from, number(left - moved))
            }
            while (try? transaction.releaseSavepoint()) != nil {}
            try transaction.store([2], number(round))
            try transaction.store([9], number(round))
            if random.below(8) == 0 { transaction.abort() } else { try transaction.commit() }
        }
    }

    private func readUntilDone(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var last: UInt64 = 0
        while !isDone.load(ordering: .acquiring) {
            let transaction = try store.begin(.read)
            defer { transaction.abort() }
            for _ in 0...random.below(3) {
                let round = value(try transaction.value([2]))
                if value(try transaction.value([9])) != round { fail("one commit was seen in part") }
                if round < last { fail("a later snapshot was older than an earlier snapshot") }
                last = round
                var sum: UInt64 = 0
                let cursor = try transaction.cursor()
                var stands = try cursor.seek(rowKey(1, 0))
                while stands, cursor.key.count == 9 {
                    sum += value(Bytes(cursor.value))
                    stands = try cursor.next()
                }
                if sum != Self.accounts * Self.amount { fail("the sum was \(sum)") }
            }
        }
    }

    private func number(_ value: UInt64) -> Bytes { withUnsafeBytes(of: value.bigEndian, Bytes.init) }

    private func value(_ bytes: Bytes?) -> UInt64 { (bytes ?? []).reduce(0) { $0 << 8 | UInt64($1) } }
}

extension Thread {
    /// Runs a closure on a separate thread that a group waits for.
    static func detachNewThread(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
        group.enter()
        detachNewThread {
            body()
            group.leave()
        }
    }
}
