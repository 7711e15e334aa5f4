import Foundation
import Synchronization

/// Lets calls in until the database is closed, and lets closing wait for those that are inside (contract L2).
///
/// Entering and leaving cost one atomic addition each.
public final class CallGate: Sendable {
    /// Twice the number of calls inside, plus one once it is closed.
    private let state = Atomic<Int>(0)
    private let drained = DispatchSemaphore(value: 0)

    /// Creates an open gate.
    public init() {}

    /// Whether the gate is closed.
    public var isClosed: Bool { state.load(ordering: .acquiring) & 1 == 1 }

    /// Runs a call, unless the gate is closed.
    ///
    /// - Throws: `.closed`, or what the body throws.
    @inlinable public func run<Result>(_ body: () throws -> Result) throws -> Result {
        try enter()
        defer { leave() }
        return try body()
    }

    /// Lets a call in; ``leave()`` has to follow.
    public func enter() throws {
        let before = state.add(2, ordering: .acquiringAndReleasing).oldValue
        if before & 1 == 1 {
            leave()
            throw StorageError.closed
        }
    }

    /// Lets a call out.
    public func leave() {
        if state.subtract(2, ordering: .acquiringAndReleasing).newValue == 1 { drained.signal() }
    }

    /// Closes the gate and waits until every call inside has left.
    ///
    /// - Returns: False when it was closed before.
    public func close() -> Bool {
        let before = state.bitwiseOr(1, ordering: .acquiringAndReleasing).oldValue
        if before & 1 == 1 { return false }
        while state.load(ordering: .acquiring) != 1 { drained.wait() }
        return true
    }
}
