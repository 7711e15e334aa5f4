#if DAO_THREAD_SANITIZER
    import Foundation

    /// The mutex of builds for ThreadSanitizer.
    ///
    /// On Linux, a thread that waits for the standard library's `Mutex` waits inside a library that was built
    /// without the sanitizer. The sanitizer does not see that the thread got the lock, and reports every access
    /// under it as a race. It does see the mutex of POSIX threads.
    package struct SanitizedMutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
        // The value is accessed only while the lock is held. Both pointers are constant.
        private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

        package init(_ initialValue: consuming sending Value) {
            value.initialize(to: initialValue)
            pthread_mutex_init(lock, nil)
        }

        deinit {
            pthread_mutex_destroy(lock)
            lock.deallocate()
            value.deinitialize(count: 1)
            value.deallocate()
        }

        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }
    }

    /// Takes precedence over the imported type of this name.
    typealias Mutex<Value: ~Copyable> = SanitizedMutex<Value>
#endif
