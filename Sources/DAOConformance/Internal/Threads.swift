import DAOCore
import Foundation

/// Runs a closure on several new threads at once, and waits for all of them.
///
/// - Parameters:
///   - count: The number of threads.
///   - body: The closure; it gets the number of its thread, from zero.
/// - Throws: The first error that a thread throws.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let runs = (0..<count).map { index in Background { try body(index) } }
    for run in runs { try run.wait(seconds: 120) }
}

/// A closure that runs on a new thread.
package final class Background: Sendable {
    private let result = Lock<Result<Void, any Error>?>(nil)
    private let ended = Signal()

    /// Starts the closure, on a stack of this size in bytes.
    package init(stackSize: Int = 8 << 20, _ body: @escaping @Sendable () throws -> Void) {
        let thread = Thread { [self] in
            let outcome = Result { try body() }
            result.withLock { $0 = outcome }
            ended.send()
        }
        thread.stackSize = stackSize
        thread.start()
    }

    /// Whether the closure has ended.
    package var hasEnded: Bool { result.withLock { $0 != nil } }

    /// Waits for the end of the closure.
    ///
    /// - Throws: The error of the closure, or a failure when the closure does not end in time.
    package func wait(seconds: Double = 10, _ what: String = "a thread", file: StaticString = #fileID, line: UInt = #line) throws
    {
        guard ended.wait(seconds: seconds) else {
            throw ConformanceFailure("\(what) did not end within \(seconds) seconds", file: file, line: line)
        }
        try result.withLock { $0 }?.get()
    }
}

/// A flag that threads can wait for. Once set it stays set.
package final class Signal: Sendable {
    private let condition = NSCondition()
    private let isSent = Lock(false)

    package init() {}

    /// Sets the flag. All current and later waits return.
    package func send() {
        condition.lock()
        isSent.withLock { $0 = true }
        condition.broadcast()
        condition.unlock()
    }

    /// Waits for the flag.
    ///
    /// - Returns: False when the flag was not set in time.
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
    private let storage: Lock<Value>

    package init(_ value: Value) { storage = Lock(value) }

    package var value: Value { storage.withLock { $0 } }

    package func change<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try storage.withLock { value in try body(&value) }
    }
}
