import Foundation

/// A value that is read and written under a lock.
///
/// It is Foundation's lock and not the standard library's: on Linux the thread sanitizer does not see into the latter when threads wait for
/// it, and reports what is not there.
///
/// Nothing of the caller's may run inside `withLock` that could come back to the same box: the lock is not recursive.
package final class Locked<Value>: @unchecked Sendable {
    // Sendable because every access to `value` happens between `lock.lock()` and `lock.unlock()`.
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) {
        self.value = value
    }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
