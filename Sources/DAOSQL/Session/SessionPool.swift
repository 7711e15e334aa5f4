import DAOCore
import Foundation

/// The sessions that read, or those that write where several can. A session is opened when all others are in use, and
/// kept when it becomes idle.
///
/// There are as many sessions as concurrent reads, including live cursors, up to a limit: a session costs the process
/// file descriptors, and others need some too. Idle sessions beyond a small number are closed.
final class SessionPool: Sendable {
    /// A thread gets the session back that it has used last: that has the pages and statements that it needs.
    private let idle: Spares<SQLSession>
    private let isClosed = Atomic(false)
    private let open: @Sendable () throws -> SQLSession
    private let didRead: @Sendable () -> Void
    private let allowsKeptSnapshots: @Sendable () -> Bool
    /// How many calls visit the idle sessions, and have taken one of them for a moment.
    private let visits = Atomic(0)
    /// Counts the sessions that may still be taken; nil without a limit.
    private let free: DispatchSemaphore?
    private let limit: Int
    private let timeout: DispatchTimeInterval
    private static let atOnce = DispatchTime(uptimeNanoseconds: 0)
    private let path: String
    private let option: String

    /// - Parameters:
    ///   - traits: How long to wait at the limit.
    ///   - maximum: The limit; nil without one.
    ///   - capacity: The number of idle sessions that are kept.
    ///   - open: Opens a session.
    ///   - didRead: Is called when a session returns, before it can be taken again.
    ///   - allowsKeptSnapshots: Whether idle sessions may keep their snapshots.
    init(
        _ traits: SQLEngineTraits, maximum: Int?, capacity: Int, open: @escaping @Sendable () throws -> SQLSession,
        didRead: @escaping @Sendable () -> Void = {}, allowsKeptSnapshots: @escaping @Sendable () -> Bool = { false }
    ) {
        self.open = open
        self.didRead = didRead
        self.allowsKeptSnapshots = allowsKeptSnapshots
        idle = Spares(count: max(capacity, 1))
        path = traits.path
        option = traits.readersOption
        timeout = .milliseconds(Int(traits.busyTimeout.milliseconds))
        // A semaphore must not end with a smaller value than it began with.
        free = maximum.map { _ in DispatchSemaphore(value: 0) }
        limit = maximum ?? 0
        for _ in 0..<limit { free?.signal() }
    }

    /// Takes a session for exclusive use. It returns to the pool when its transaction is rolled back.
    ///
    /// - Throws: `.busy` when too many sessions were in use for the whole timeout.
    func take() throws -> SQLSession {
        if let free, free.wait(timeout: Self.atOnce) == .timedOut,
            CallTrace.waiting({ free.wait(timeout: .now() + timeout) }) == .timedOut
        {
            throw StorageError.tooManyReads(path, option: option)
        }
        while let session = idle.take() ?? takeVisited() {
            if session.connection.canReadAgain() { return session }
        }
        do {
            let session = try open()
            // The pool lives as long as its sessions. It lets go of the idle ones when it is closed.
            session.pool = self
            return session
        } catch {
            free?.signal()
            throw error
        }
    }

    /// Takes a session that another call has visited in this moment; nil when there is none.
    @inline(never) private func takeVisited() -> SQLSession? {
        for _ in 0..<100 where visits.load(ordering: .relaxed) > 0 {
            sched_yield()
            if let session = idle.take() { return session }
        }
        return nil
    }

    /// Ends the snapshots that idle sessions have kept.
    func endSnapshots() {
        visits.add(1, ordering: .sequentiallyConsistent)
        idle.forEach { $0.connection.endSnapshot() }
        visits.subtract(1, ordering: .sequentiallyConsistent)
        if isClosed.load(ordering: .sequentiallyConsistent) { idle.drain { _ in } }
    }

    /// Takes a session that sees all commits that this process has seen; nil when there is none now.
    func takeCaughtUp() -> SQLSession? {
        guard let session = try? take() else { return nil }
        if session.connection.hasCaughtUp() { return session }
        put(session)
        return nil
    }

    /// Waits until no session is in use, closes all of them and runs a closure. A session that is taken later is a new one.
    ///
    /// - Throws: `.busy` when a session is in use for the whole timeout; any error of the closure.
    func withoutSessions(_ body: () throws -> Void) throws {
        let deadline = DispatchTime.now() + timeout
        var taken = 0
        defer { for _ in 0..<taken { free?.signal() } }
        while taken < limit {
            guard free?.wait(timeout: deadline) != .timedOut else { throw StorageError.readsPreventSuspension(path) }
            taken += 1
        }
        idle.drain { _ in }
        while visits.load(ordering: .sequentiallyConsistent) > 0 { sched_yield() }
        // Those that were being visited.
        idle.drain { _ in }
        try body()
    }

    /// Takes back a session.
    func put(_ session: SQLSession) {
        let keepsSnapshot = session.connection.keepsSnapshot
        didRead()
        // Where there is no place for it, it is closed.
        _ = idle.leave(session)
        if isClosed.load(ordering: .sequentiallyConsistent) { idle.drain { _ in } }
        // Whoever has ended the snapshots of idle sessions a moment ago did not find this one.
        if keepsSnapshot, !allowsKeptSnapshots() { endSnapshots() }
        free?.signal()
    }

    /// Closes idle sessions now, and the sessions in use when they return.
    func close() {
        isClosed.store(true, ordering: .sequentiallyConsistent)
        idle.drain { _ in }
    }
}

extension [SessionPool] {
    /// Runs a closure while no session of any of the pools is in use.
    func withoutSessions(_ body: () throws -> Void) throws {
        guard let first else { return try body() }
        try first.withoutSessions { try Array(dropFirst()).withoutSessions(body) }
    }
}
