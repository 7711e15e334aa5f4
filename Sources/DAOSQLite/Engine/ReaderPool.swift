import DAOCore
import Synchronization

/// The connections that read beside the writer: opened when all are busy, kept when idle.
///
/// There are as many as there are reads at once, a live cursor counting as one; those beyond a handful are closed when they become idle.
final class ReaderPool: Sendable {
    /// How many idle connections are kept.
    private static let capacity = 8

    private struct State {
        var idle: [SQLiteConnection] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let open: @Sendable () throws -> SQLiteConnection

    /// - Parameter open: Opens a connection.
    init(open: @escaping @Sendable () throws -> SQLiteConnection) { self.open = open }

    /// A connection for the caller alone; it comes back when its transaction is rolled back.
    func take() throws -> SQLiteConnection {
        if let connection = state.withLock({ $0.idle.popLast() }) { return connection }
        let connection = try open()
        connection.release = { [weak self] in self?.put($0) }
        return connection
    }

    private func put(_ connection: SQLiteConnection) {
        state.withLock { if !$0.isClosed, $0.idle.count < Self.capacity { $0.idle.append(connection) } }
    }

    /// Closes idle connections now and others when they come back.
    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        _ = idle
    }
}
