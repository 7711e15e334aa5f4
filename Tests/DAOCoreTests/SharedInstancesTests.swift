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

    @Test func anOpeningHoldsUpItsOwnOpenersOnly() async throws {
        let (hasBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let count = Count()
        // Threads, since the tasks of other tests can take all of the pool's.
        func openers(_ number: Int) -> AsyncStream<Result<Void, any Error>> {
            let (results, continuation) = AsyncStream.makeStream(of: Result<Void, any Error>.self)
            for _ in 0..<number {
                Thread.detachNewThread { [engines] in
                    continuation.yield(
                        Result {
                            _ = try engines.acquire("slow") {
                                // The first one fails, and each that waits tries itself.
                                if count.value.add(1, ordering: .relaxed).newValue > 1 { return Engine() }
                                hasBegun.signal()
                                mayEnd.wait()
                                throw Failed()
                            }
                        })
                }
            }
            return results
        }
        let first = openers(1)
        #expect(Self.wait(hasBegun))
        let others = openers(4)
        _ = try open()
        engines.release("a") { _ in }
        #expect(!engines.contains("a"))
        mayEnd.signal()
        var results = first.makeAsyncIterator()
        let failed = await results.next()
        #expect(throws: Failed.self) { try failed?.get() }
        results = others.makeAsyncIterator()
        for _ in 0..<4 { try await results.next()?.get() }
        #expect(count.value.load(ordering: .relaxed) == 2)
        #expect(engines.contains("slow"))
        for _ in 0..<4 { engines.release("slow") { _ in } }
        #expect(!engines.contains("slow"))
    }

    private struct Failed: Error {}

    private final class Count: Sendable {
        let value = Atomic(0)
    }

    private static func wait(_ semaphore: DispatchSemaphore) -> Bool { semaphore.wait(timeout: .now() + 10) == .success }
}
