import DAOCore
import Synchronization

/// Lets readers begin and end without the lock of their environment, while nothing keeps them from it.
///
/// Where a reader must wait, be refused, or tell of its end, the lanes are closed: then readers take the lock.
struct ReaderLanes: ~Copyable, Sendable {
    /// What a reader that ends does with its snapshot.
    enum Ending: UInt8, AtomicRepresentable {
        /// It takes the lock, and asks.
        case asks
        /// It keeps the snapshot.
        case keeps
        /// It gives the snapshot up: this process is writing.
        case givesUp
    }

    /// Counts the transactions that run or are about to run.
    let running = CallLanes()
    /// Idle readers. Each holds a slot of the reader table that all processes share.
    let idle = Spares<LMDBReadTransaction>(count: 32)
    private let endingNow = Atomic(Ending.asks)
    private let wasUsed = Atomic(false)

    /// What a reader that ends now does with its snapshot.
    @inline(__always) var ending: Ending { endingNow.load(ordering: .sequentiallyConsistent) }

    /// Decides it. A reader that ends at this moment looks again once it is idle, so that a caller that then visits the idle
    /// readers finds it, or it sees the decision.
    func decide(_ ending: Ending) { endingNow.store(ending, ordering: .sequentiallyConsistent) }

    /// Notes that the process reads.
    @inline(__always) func use() {
        if !wasUsed.load(ordering: .relaxed) { wasUsed.store(true, ordering: .relaxed) }
    }

    /// Whether the process has read since the last call.
    func takeUse() -> Bool { wasUsed.exchange(false, ordering: .relaxed) }
}
