#if canImport(Darwin)
    import Darwin
#else
    import Synchronization
#endif

/// A mutex with the value that it protects, for the targets of this package.
///
/// On Linux it is the standard library's `Mutex`, and visible to ThreadSanitizer. There, a thread waits for a `Mutex` in a library
/// that was built without the sanitizer, which therefore reports every access under the lock as a race. It sees the atomic value
/// that each thread reads after it got the lock, and writes before it gives the lock back. On Apple's systems, whose `Mutex` begins
/// with macOS 15 and iOS 18, it is the lock that `Mutex` is there, and the sanitizer knows it.
package typealias Lock<Value: ~Copyable> = _Lock<Value>

#if canImport(Darwin)
    /// Public for the compiler alone, which does not specialise generic code of a `package` type in other modules.
    public struct _Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
        // Unchecked because of the pointers: they are constant, and what they point to is of the thread that has the lock.

        // The lock of the system must not move.
        @usableFromInline let lock: UnsafeMutablePointer<os_unfair_lock>
        @usableFromInline let value: UnsafeMutablePointer<Value>

        /// Creates an open lock.
        @inlinable public init(_ initialValue: consuming sending Value) {
            lock = .allocate(capacity: 1)
            lock.initialize(to: os_unfair_lock())
            value = .allocate(capacity: 1)
            value.initialize(to: initialValue)
        }

        @inlinable deinit {
            value.deinitialize(count: 1)
            value.deallocate()
            lock.deallocate()
        }

        /// Calls a closure with the value while the calling thread has the lock.
        @inlinable @inline(__always) public borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            os_unfair_lock_lock(lock)
            defer { os_unfair_lock_unlock(lock) }
            return try body(&value.pointee)
        }
    }
#else
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
#endif
