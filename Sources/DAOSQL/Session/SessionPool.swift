import DAOCore
import Synchronization

/// The sessions that read beside the writer: opened when all are busy, kept when idle.
///
/// There are as many as there are reads at once, a live cursor counting as one; those beyond a handful are
/// closed when they become idle.
final class SessionPool: Sendable {
    /// How many idle sessions are kept.
    private static let capacity = 8

    private struct State {
        var idle: [SQLSession] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let open: @Sendable () throws -> SQLSession

    /// - Parameter open: Opens a session.
    init(open: @escaping @Sendable () throws -> SQLSession) { self.open = open }

    /// A session for the caller alone; it comes back when its transaction is rolled back.
    func take() throws -> SQLSession {
        if let session = state.withLock({ $0.idle.popLast() }) { return session }
        let session = try open()
        session.release = { [weak self] in self?.put($0) }
        return session
    }

    private func put(_ session: SQLSession) {
        state.withLock { if !$0.isClosed, $0.idle.count < Self.capacity { $0.idle.append(session) } }
    }

    /// Closes idle sessions now and others when they come back.
    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        _ = idle
    }
}
