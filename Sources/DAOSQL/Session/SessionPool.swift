import DAOCore
import Synchronization

/// The sessions that read. A session is opened when all others are in use, and kept when it becomes idle.
///
/// There are as many sessions as concurrent reads, including live cursors. Idle sessions beyond a small
/// number are closed.
final class SessionPool: Sendable {
    /// The number of idle sessions that are kept.
    private static let capacity = 8

    private struct State {
        var idle: [SQLSession] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let open: @Sendable () throws -> SQLSession

    /// - Parameter open: Opens a session.
    init(open: @escaping @Sendable () throws -> SQLSession) { self.open = open }

    /// Takes a session for exclusive use. It returns to the pool when its transaction is rolled back.
    func take() throws -> SQLSession {
        if let session = state.withLock({ $0.idle.popLast() }) { return session }
        let session = try open()
        session.release = { [weak self] in self?.put($0) }
        return session
    }

    private func put(_ session: SQLSession) {
        state.withLock { if !$0.isClosed, $0.idle.count < Self.capacity { $0.idle.append(session) } }
    }

    /// Closes idle sessions now, and the sessions in use when they return.
    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        _ = idle
    }
}
