import DAOCore
import DAOSystemPostgres
import Dispatch

/// One of libpq's connections.
final class ServerConnection: @unchecked Sendable {
    // Sendable because one thread uses it at a time: that of the ``PostgresConnection`` that has it.

    fileprivate(set) var pointer: OpaquePointer
    /// The number of answers that nobody has waited for.
    var unread = 0
    /// The required position that its server is known to have.
    var reached: UInt64 = 0

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { PQfinish(pointer) }

    /// Puts another connection into the place of one that was lost.
    func replace(_ new: OpaquePointer) {
        PQfinish(pointer)
        pointer = new
        unread = 0
        reached = 0
    }
}

/// The connections to a database of a server that all databases of this process share whose configuration says `pooler=process`.
///
/// A transaction has one of them, until it ends. As behind a pooler, none remembers anything of who had it before.
final class ServerConnections: Sendable {
    /// Those in use, by libpq's parameters.
    private static let all = Lock<[[String: String]: Reference]>([:])

    private struct Reference {
        weak var value: ServerConnections?
    }

    private struct State {
        /// Those that nobody has. The one that came last is given first, so that few are used at all.
        var idle: [ServerConnection] = []
        /// How many were lost.
        var losses = 0
        /// How many engines use them.
        var users = 0
    }

    private let state = Lock(State())
    /// Counts those that may still be taken.
    private let free = DispatchSemaphore(value: 0)

    private init(maximum: Int) { for _ in 0..<maximum { free.signal() } }

    /// The connections with libpq's parameters.
    ///
    /// - Parameter maximum: Their maximum number. Configurations with another one have other connections.
    static func shared(_ parameters: [String: String], maximum: Int) -> ServerConnections {
        let identity = parameters.merging(["pool": "\(maximum)"]) { $1 }
        return all.withLock { all in
            if let known = all[identity]?.value { return known }
            all = all.filter { $0.value.value != nil }
            let new = ServerConnections(maximum: maximum)
            all[identity] = Reference(value: new)
            return new
        }
    }

    /// Lets connections that nobody has stay open until ``endUse()``.
    func beginUse() { state.withLock { $0.users += 1 } }

    /// Closes the connections that nobody has when no engine uses them any more.
    func endUse() {
        let unused = state.withLock { state -> [ServerConnection] in
            state.users -= 1
            guard state.users == 0 else { return [] }
            defer { state.idle = [] }
            return state.idle
        }
        withExtendedLifetime(unused) {}
    }

    /// How many connections were lost.
    var losses: Int { state.withLock { $0.losses } }

    /// Takes a connection, which the caller gives back.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait for one.
    ///   - connect: A closure that makes a connection where all others are in use.
    /// - Throws: `.busy` when none was free for the whole timeout; errors of the closure.
    func take(waiting timeout: Duration, path: String, _ connect: () throws -> OpaquePointer) throws -> ServerConnection {
        if free.wait(timeout: .now()) == .timedOut,
            CallTrace.waiting({ free.wait(timeout: .now() + .milliseconds(Int(timeout.milliseconds))) }) == .timedOut
        {
            throw StorageError(
                .busy,
                "all connections that the databases of this server share were in use; end transactions and streams sooner, or set "
                    + "'pool' to more",
                path: path)
        }
        if let known = state.withLock({ $0.idle.popLast() }) { return known }
        do {
            return try ServerConnection(connect())
        } catch {
            free.signal()
            throw error
        }
    }

    /// Takes a connection back. One that is lost, or in a transaction, is closed.
    func put(_ connection: ServerConnection) {
        let pointer = connection.pointer
        let isIdle = connection.unread > 0 || PQtransactionStatus(pointer) == PQTRANS_IDLE
        state.withLock {
            guard PQstatus(pointer) == CONNECTION_OK, isIdle else { return $0.losses += 1 }
            if $0.users > 0 { $0.idle.append(connection) }
        }
        free.signal()
    }
}
