import Dispatch
import Foundation
import Testing

@testable import DAOCore

/// The watch for commits of other processes.
@Suite struct CommitWatchTests {
    /// What a counter has open, such as a connection. Closing it takes time.
    private final class Opened: Sendable {
        let closing = DispatchSemaphore(value: 0)
        let isClosed: Atomic<Bool>

        init() { isClosed = Atomic(false) }

        func close() {
            closing.signal()
            usleep(100_000)
            isClosed.store(true, ordering: .releasing)
        }
    }

    private final class Lease: Sendable {
        let opened: Opened
        init(_ opened: Opened) { self.opened = opened }
        deinit { opened.close() }
    }

    // Closing a database ends the watch just as an observer of another thread goes away, which closes the counter.
    @Test(arguments: ["stop", "pause"]) func endsWhenTheCounterIsClosed(_ end: String) throws {
        let opened = Opened()
        let hub = ObservationHub()
        hub.watchOthers {
            let lease = Lease(opened)
            return { withExtendedLifetime(lease) { 0 } }
        }
        let id = hub.add { _ in }
        DispatchQueue.global().async { hub.remove(id) }
        try #require(opened.closing.wait(timeout: .now() + 10) == .success)
        if end == "stop" { hub.stopWatchingOthers() } else { hub.pauseWatchingOthers() }
        let isClosed = opened.isClosed.load(ordering: .acquiring)
        #expect(isClosed)
    }
}
