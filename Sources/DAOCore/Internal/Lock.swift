import Synchronization

/// A mutex with the value that it protects, for the targets of this package.
///
/// It is the standard library's `Mutex`, and visible to ThreadSanitizer. On Linux, a thread waits for a `Mutex` in a library that
/// was built without the sanitizer, which therefore reports every access under the lock as a race. It sees the atomic value that
/// each thread reads after it got the lock, and writes before it gives the lock back.
package typealias Lock<Value: ~Copyable> = _Lock<Value>

/// Public for the compiler alone, which does not specialise generic code of a `package` type in other modules.
public struct _Lock<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline let mutex: Mutex<Value>
    @usableFromInline let handover = Atomic(false)

    /// Creates an open lock.
    @inlinable public init(_ initialValue: consuming sending Value) { mutex = Mutex(initialValue) }

    /// Calls a closure with the value while the calling thread has the lock.
    @inlinable @inline(__always) public borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { (value: inout sending Value) throws(Failure) -> sending Result in
            _ = handover.load(ordering: .acquiring)
            defer { handover.store(true, ordering: .releasing) }
            return try body(&value)
        }
    }
}
