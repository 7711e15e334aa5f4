import Foundation

/// The lock of the single write transaction of an engine in this process (contract T4).
///
/// A thread that holds the lock of one engine can wait for the lock of another. When the holder of that lock waits
/// for the first one, directly or through others, neither would ever end. The last one to wait gets `.busy` at once.
final class WriterLock: Sendable {
    private let lock = NSLock()
    /// The thread that holds the lock; zero when there is none.
    private let holder = Atomic<UInt>(0)
    /// The path for errors.
    private let path: String?

    /// What the threads wait for that hold another lock.
    private static let waits = Lock<[UInt: WriterLock]>([:])

    init(path: String?) { self.path = path }

    /// Takes the lock. The calling thread does not hold it.
    ///
    /// - Throws: `.busy` when its holder waits for a lock of this thread.
    func acquire() throws {
        let thread = Self.currentThread
        if AmbientTransaction.isWriting { try waitBesideOthers(thread) } else { lock.lock() }
        holder.store(thread, ordering: .sequentiallyConsistent)
    }

    /// Takes the lock if nobody holds it.
    func acquireAtOnce() -> Bool {
        guard lock.try() else { return false }
        holder.store(Self.currentThread, ordering: .sequentiallyConsistent)
        return true
    }

    func release() {
        holder.store(0, ordering: .sequentiallyConsistent)
        lock.unlock()
    }

    private func waitBesideOthers(_ thread: UInt) throws {
        let isCycle = Self.waits.withLock { waits in
            var seen: Set<UInt> = []
            var next: WriterLock? = self
            while let lock = next {
                let holder = lock.holder.load(ordering: .sequentiallyConsistent)
                if holder == thread { return true }
                // A thread that has just got its lock is still among those that wait.
                next = seen.insert(holder).inserted ? waits[holder] : nil
            }
            waits[thread] = self
            return false
        }
        if isCycle { throw StorageError.waitsInCircle(path) }
        lock.lock()
        _ = Self.waits.withLock { $0.removeValue(forKey: thread) }
    }

    private static var currentThread: UInt {
        #if canImport(Darwin)
            UInt(bitPattern: pthread_self())
        #else
            UInt(pthread_self())
        #endif
    }
}
