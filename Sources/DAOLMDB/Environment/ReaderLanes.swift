import DAOCore

/// Lets readers begin and end without the lock of their environment, while nothing keeps them from it.
///
/// Where a reader must wait, be refused, or tell of its end, the lanes are closed: then readers take the lock.
struct ReaderLanes: ~Copyable, Sendable {
    /// Which snapshots readers keep when they end: those with this number or a larger one.
    struct Kept: RawRepresentable, AtomicRepresentable, Equatable {
        let rawValue: UInt64

        /// All.
        static let all = Kept(rawValue: 0)
        /// None.
        static let none = Kept(rawValue: .max - 1)
        /// The reader takes the lock, and asks.
        static let asked = Kept(rawValue: .max)
    }

    /// Counts the transactions that run or are about to run.
    let running = CallLanes()
    /// Idle readers. Each holds a slot of the reader table that all processes share.
    let idle = Spares<LMDBReader>(count: 32)
    private let keptNow = Atomic(Kept.asked)
    private let wasUsed = Atomic(false)

    /// Which snapshots readers keep that end now.
    @inline(__always) var kept: Kept { keptNow.load(ordering: .sequentiallyConsistent) }

    /// Decides it. A reader that ends at this moment looks again once it is idle, so that a caller that then visits the idle
    /// readers finds it, or it sees the decision.
    func keep(_ kept: Kept) { keptNow.store(kept, ordering: .sequentiallyConsistent) }

    /// Notes that the process reads.
    @inline(__always) func use() {
        if !wasUsed.load(ordering: .relaxed) { wasUsed.store(true, ordering: .relaxed) }
    }

    /// Whether the process has read since the last call.
    func takeUse() -> Bool { wasUsed.exchange(false, ordering: .relaxed) }
}
