import DAOCore
import Foundation

/// Threads that read rows by their keys, beside a thread that commits all the time.
final class ReadersBesideWriter: Sendable {
    private let sum = Atomic<UInt64>(0)
    private let isDone = Atomic(false)
    private let failure = Lock<(any Error)?>(nil)

    /// Runs the threads until each reader has read all keys.
    ///
    /// - Parameters:
    ///   - keys: The keys.
    ///   - readers: What reads, for each thread.
    ///   - commits: What the writer commits, again and again.
    ///   - merge: Commits a change.
    /// - Returns: The sum of the keys of the rows that were read.
    static func run(
        _ keys: [Int], _ readers: [(Int) throws -> (some MeasuredRecord)?], _ commits: [Receipt],
        _ merge: @escaping ([Receipt]) throws -> Void
    ) throws -> UInt64 {
        let threads = ReadersBesideWriter()
        let (reading, writing) = (DispatchGroup(), DispatchGroup())
        threads.start(in: writing) { threads in
            while true {
                for commit in commits {
                    if threads.isDone.load(ordering: .relaxed) { return }
                    try merge([commit])
                }
            }
        }
        for read in readers {
            threads.start(in: reading) { threads in
                var sum: UInt64 = 0
                for key in keys { sum &+= UInt64(try read(key)?.id ?? 0) }
                threads.sum.add(sum, ordering: .relaxed)
            }
        }
        reading.wait()
        threads.isDone.store(true, ordering: .relaxed)
        writing.wait()
        if let failure = threads.failure.withLock({ $0 }) { throw failure }
        return threads.sum.load(ordering: .relaxed)
    }

    private func start(in group: DispatchGroup, _ work: @escaping (ReadersBesideWriter) throws -> Void) {
        // Only the new thread uses the closure.
        nonisolated(unsafe) let work = work
        group.enter()
        Thread.detachNewThread { [self] in
            do { try work(self) } catch { failure.withLock { $0 = error } }
            group.leave()
        }
    }
}
