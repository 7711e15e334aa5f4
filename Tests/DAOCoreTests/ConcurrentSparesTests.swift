import DAOCore
import Foundation
import Testing

@Suite("objects that are kept for other calls")
struct ConcurrentSparesTests {
    /// Counts those that exist.
    private final class Counted: Sendable {
        static let existing = Atomic(0)
        /// Whether somebody has it.
        let isTaken = Atomic(true)

        init() { Self.existing.add(1, ordering: .relaxed) }
        deinit { Self.existing.subtract(1, ordering: .relaxed) }
    }

    @Test("an object is taken by one thread at a time, given back when there is no place, and freed once")
    func objectsAreMoved() {
        let rounds = ProcessInfo.processInfo.environment["DAO_RACE_ROUNDS"].flatMap { Int($0) } ?? 20_000
        let shared = Atomic(0)
        let others = Atomic(0)
        do {
            let pool = Pool()
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                for round in 0..<rounds {
                    if round % 64 == 0 { pool.spares.forEach { _ in } }
                    let object = pool.spares.take()
                    if let object, object.isTaken.exchange(true, ordering: .acquiringAndReleasing) {
                        shared.add(1, ordering: .relaxed)
                    }
                    let left = object ?? Counted()
                    left.isTaken.store(false, ordering: .releasing)
                    if let back = pool.spares.leave(left), back !== left { others.add(1, ordering: .relaxed) }
                }
            }
            #expect(shared.load(ordering: .relaxed) == 0)
            #expect(others.load(ordering: .relaxed) == 0)
            #expect(Counted.existing.load(ordering: .relaxed) <= Pool.count)

            // Fills all places.
            while pool.spares.leave(Counted()) == nil {}
            #expect(Counted.existing.load(ordering: .relaxed) == Pool.count)
            var visited = 0
            pool.spares.forEach { _ in visited += 1 }
            #expect(visited == Pool.count)
            let late = Counted()
            #expect(pool.spares.leave(late) === late)
        }
        #expect(Counted.existing.load(ordering: .relaxed) == 0)
    }

    private final class Pool: Sendable {
        static let count = 3
        let spares = Spares<Counted>(count: count)
    }
}
