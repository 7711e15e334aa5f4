import Synchronization

/// The cursors of one database that hold a connection, so that closing the database ends them.
final class LiveCursors: Sendable {
    private struct State {
        var next = 0
        var connections: [Int: CursorLease] = [:]
    }

    private let state = Mutex(State())

    /// Keeps a cursor's connection and gives it a number.
    func add(_ lease: CursorLease) -> Int {
        state.withLock { state in
            state.next += 1
            state.connections[state.next] = lease
            return state.next
        }
    }

    /// Gives a cursor's connection back, unless that has been done.
    func end(_ number: Int) { state.withLock { $0.connections.removeValue(forKey: number) }?.end() }

    /// Gives all connections back. No cursor is running: the database is closed.
    func endAll() {
        let leases = state.withLock { state in
            defer { state.connections = [:] }
            return state.connections.values
        }
        for lease in leases { lease.end() }
    }
}

/// The connection and the statement that a cursor holds.
final class CursorLease: @unchecked Sendable {
    // Sendable because it is used by the cursor's thread, or by the one that takes it out of `LiveCursors`, which only one can, and which
    // does so when no call of the cursor runs.
    let connection: SQLiteConnection
    let statement: Statement

    init(_ connection: SQLiteConnection, _ statement: Statement) {
        self.connection = connection
        self.statement = statement
    }

    func end() {
        statement.finish()
        connection.rollback()
    }
}
