import Foundation

#if !canImport(Darwin)
    import Synchronization
#endif

/// The lanes over which threads spread, so that they seldom write to the same cache line.
package enum ThreadLanes {
    /// The number of lanes, a power of two.
    @inlinable package static var count: Int { 16 }

    /// The lane of the calling thread.
    @inlinable @inline(__always) package static var own: Int {
        // The addresses of threads differ by multiples of their stacks' size: only the upper bits of the product are spread.
        let thread = UInt64(withUnsafeBytes(of: pthread_self()) { $0.load(as: UInt.self) })
        return Int((thread &* 0x9E37_79B9_7F4A_7C15) >> 60)
    }
}

/// Counts running calls, and keeps new ones out while it is closed. Each thread counts in its lane.
///
/// While it is open, the number of calls changes at any moment. While it is closed, it only falls, and each call that ends is told
/// so: the count of a lane and its closing are one number, so that one of the two sees the other.
package struct CallLanes: ~Copyable, @unchecked Sendable {
    // Unchecked because of the pointer: it is constant, and points to atomic values.

    @usableFromInline struct Lane: ~Copyable {
        /// Twice the number of running calls; odd while the lane is closed.
        @usableFromInline let state = Atomic<Int>(0)
        /// Fills the cache line.
        private let padding = (SIMD4<UInt64>(), SIMD2<UInt64>(), UInt64())
    }

    @usableFromInline let lanes: UnsafeMutablePointer<Lane>

    /// Begins to count; open.
    package init() {
        lanes = .allocate(capacity: ThreadLanes.count)
        for lane in 0..<ThreadLanes.count { (lanes + lane).initialize(to: Lane()) }
    }

    deinit {
        lanes.deinitialize(count: ThreadLanes.count)
        lanes.deallocate()
    }

    /// Counts a call in, unless its lane is closed.
    @inlinable @inline(__always) package func enter(_ lane: Int) -> Bool {
        let lane = lanes + lane
        var state = lane.pointee.state.load(ordering: .relaxed)
        while state & 1 == 0 {
            let (isDone, found) = lane.pointee.state.weakCompareExchange(
                expected: state, desired: state + 2, ordering: .acquiring)
            if isDone { return true }
            state = found
        }
        return false
    }

    /// Counts a call in, also in a closed lane.
    package func enterClosed(_ lane: Int) { lanes[lane].state.add(2, ordering: .acquiringAndReleasing) }

    /// Counts a call out.
    ///
    /// - Returns: Whether the lane is closed: somebody may wait for the end of the call.
    @inlinable @inline(__always) package func leave(_ lane: Int) -> Bool {
        let lane = lanes + lane
        return lane.pointee.state.subtract(2, ordering: .acquiringAndReleasing).oldValue & 1 == 1
    }

    /// The number of running calls.
    package var count: Int { (0..<ThreadLanes.count).reduce(0) { $0 + lanes[$1].state.load(ordering: .acquiring) / 2 } }

    /// Closes all lanes, or opens them. One thread at a time calls it.
    package func set(isClosed: Bool) {
        for lane in 0..<ThreadLanes.count {
            if isClosed {
                lanes[lane].state.bitwiseOr(1, ordering: .acquiringAndReleasing)
            } else {
                lanes[lane].state.bitwiseAnd(~1, ordering: .acquiringAndReleasing)
            }
        }
    }
}
