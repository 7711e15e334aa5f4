import Synchronization

/// The cursors of one database that hold a session, so that closing the database ends them.
final class LiveCursors: Sendable {
    private struct State {
        var next = 0
        var leases: [Int: CursorLease] = [:]
    }

    private let state = Mutex(State())

    /// Keeps a cursor's session and gives it a number.
    func add(_ lease: CursorLease) -> Int {
        state.withLock { state in
            state.next += 1
            state.leases[state.next] = lease
            return state.next
        }
    }

    /// Gives a cursor's session back, unless that has been done.
    func end(_ number: Int) { state.withLock { $0.leases.removeValue(forKey: number) }?.end() }

    /// Gives all sessions back. No cursor is running: the database is closed.
    func endAll() {
        let leases = state.withLock { state in
            defer { state.leases = [:] }
            return state.leases.values
        }
        for lease in leases { lease.end() }
    }
}

/// The session and the statement that a cursor holds.
final class CursorLease: @unchecked Sendable {
    // Sendable because it is used by the cursor's thread, or by the one that takes it out of `LiveCursors`, which only one can, and which
    // does so when no call of the cursor runs.
    let session: SQLSession
    let statement: SQLStatement

    init(_ session: SQLSession, _ statement: SQLStatement) {
        self.session = session
        self.statement = statement
    }

    func end() {
        statement.giveBack()
        session.rollback()
    }
}
