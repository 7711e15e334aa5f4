import Foundation
import Synchronization

/// Runs a body on several threads of their own at once, and waits for all of them.
///
/// - Parameters:
///   - count: How many threads.
///   - body: Gets the number of its thread, from zero.
/// - Throws: The first error any of them threw.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let runs = (0..<count).map { index in Background { try body(index) } }
    for run in runs { try run.wait(seconds: 120) }
}

/// A body that runs on a thread of its own.
package final class Background: Sendable {
    private let result = Mutex<Result<Void, any Error>?>(nil)
    private let ended = Signal()

    /// Starts the body.
    package init(_ body: @escaping @Sendable () throws -> Void) {
        let thread = Thread { [self] in
            let outcome = Result { try body() }
            result.withLock { $0 = outcome }
            ended.send()
        }
        thread.stackSize = 8 << 20
        thread.start()
    }

    /// Whether it has ended.
    package var hasEnded: Bool { result.withLock { $0 != nil } }

    /// Waits for its end.
    ///
    /// - Throws: What the body threw, or a failure when it does not end in time.
    package func wait(seconds: Double = 10, _ what: String = "a thread", file: StaticString = #fileID, line: UInt = #line) throws
    {
        guard ended.wait(seconds: seconds) else {
            throw ConformanceFailure("\(what) did not end within \(seconds) seconds", file: file, line: line)
        }
        try result.withLock { $0 }?.get()
    }
}

/// A flag that threads can wait for. Once sent it stays sent.
package final class Signal: Sendable {
    private let condition = NSCondition()
    private let isSent = Mutex(false)

    package init() {}

    /// Lets everybody go on who waits, or will.
    package func send() {
        condition.lock()
        isSent.withLock { $0 = true }
        condition.broadcast()
        condition.unlock()
    }

    /// Waits for the flag.
    ///
    /// - Returns: False when it was not sent in time.
    package func wait(seconds: Double = 10) -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while !isSent.withLock({ $0 }) {
            if !condition.wait(until: deadline) { return isSent.withLock { $0 } }
        }
        return true
    }
}

/// A value that several threads change.
package final class Shared<Value: Sendable>: Sendable {
    private let storage: Mutex<Value>

    package init(_ value: Value) { storage = Mutex(value) }

    package var value: Value { storage.withLock { $0 } }

    package func change<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try storage.withLock { value in try body(&value) }
    }
}
