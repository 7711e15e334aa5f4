import DAOCore
import Foundation
import Testing

/// Contract L4: a failed engine is not handed to the next opening.
@Suite struct SharedInstancesTests {
    private final class Engine: Sendable {
        let hasFailed = Atomic(false)
    }

    private let engines = SharedInstances<String, Engine>()

    private func open() throws -> Engine {
        try engines.acquire("a", isFailed: { $0.hasFailed.load(ordering: .acquiring) }) { Engine() }
    }

    @Test func anOpenerWaitsForTheEndOfAFailedEngine() throws {
        let first = try open()
        #expect(try open() === first)
        engines.release("a") { _ in }
        first.hasFailed.store(true, ordering: .releasing)
        // A database that was dropped is released by the last call that holds it.
        // The threads of Dispatch may all be in the hands of other tests.
        Thread.detachNewThread { [engines] in
            Thread.sleep(forTimeInterval: 0.05)
            engines.release("a") { _ in }
        }
        let second = try open()
        #expect(second !== first)
        engines.release("a") { _ in }
    }

    @Test func aFailedEngineThatIsKeptOpenIsStillTheEngine() throws {
        let first = try open()
        first.hasFailed.store(true, ordering: .releasing)
        let began = ContinuousClock.now
        #expect(try open() === first)
        #expect(.now - began > .milliseconds(900))
    }
}
