import Foundation

/// A value that is read and written under a lock.
///
/// It uses Foundation's lock instead of the standard library's. On Linux, ThreadSanitizer does not see
/// threads wait for the standard library's lock, and reports false races.
///
/// Code inside `withLock` must not access the same value again: the lock is not recursive.
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
