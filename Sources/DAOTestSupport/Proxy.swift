import DAOCore
import Foundation

#if canImport(Glibc)
    import Glibc

    private let streamType = Int32(SOCK_STREAM.rawValue)
    private let sendFlags = Int32(MSG_NOSIGNAL)
#else
    private let streamType = SOCK_STREAM
    private let sendFlags = MSG_NOSIGNAL
#endif

/// A server in front of a PostgreSQL server on this machine, which passes bytes on until it is told to disturb.
package final class Proxy: Sendable {
    package enum Direction: Sendable, CaseIterable {
        case toServer, toClient
    }

    /// What happens to a connection.
    package enum Disturbance: Sendable {
        /// Both ends are closed.
        case cut
        /// The client's end is closed. What it has sent reaches the server with ``Proxy/deliver()``.
        case delay
        /// Nothing is passed on any more in this direction, and nobody is told.
        case stall
    }

    private struct State {
        var plan: (direction: Direction, bytes: Int, disturbance: Disturbance)?
        var isDown = false
        var isClosed = false
        var delivers = false
        var connections: [ObjectIdentifier: Connection] = [:]
        var roundTrips = 0
    }

    private let state = Lock(State())
    private let target: String
    /// The directory of the socket.
    package let directory: String

    /// - Parameter target: The directory of the server's socket.
    package init(to target: String) throws {
        self.target = target
        directory = "/tmp/dao-proxy-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let listener = UnixSocket.make()
        guard UnixSocket.withAddress(directory, { bind(listener, $0, $1) }) == 0, listen(listener, 100) == 0 else {
            throw NoSocket(directory: directory)
        }
        Thread.detachNewThread { [self] in take(from: listener) }
    }

    /// Disturbs a connection when that many more bytes have passed in a direction and more come.
    package func disturb(_ direction: Direction, after bytes: Int, _ disturbance: Disturbance = .cut) {
        state.withLock { $0.plan = (direction, bytes, disturbance) }
    }

    /// Returns whether a planned disturbance has not happened, and forgets it.
    package func forgetPlan() -> Bool {
        state.withLock { state in
            defer { state.plan = nil }
            return state.plan != nil
        }
    }

    /// How often a client has sent something after the server had answered, on any connection.
    package var roundTrips: Int { state.withLock { $0.roundTrips } }

    /// Refuses new connections, or accepts them again.
    package func setDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

    /// Ends all connections, as a server does that is stopped.
    package func cutAll() { for connection in state.withLock({ Array($0.connections.values) }) { connection.end() } }

    /// Lets the server have what was delayed, and waits until it has ended that connection.
    package func deliver() {
        state.withLock { $0.delivers = true }
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline, state.withLock({ $0.connections.values.contains { $0.isDelayed } }) {
            usleep(1000)
        }
        state.withLock { $0.delivers = false }
    }

    /// Ends all connections, and accepts no more.
    package func stop() {
        state.withLock { $0.isClosed = true }
        cutAll()
        // Wakes up the thread that accepts.
        let caller = UnixSocket.make()
        _ = UnixSocket.withAddress(directory) { connect(caller, $0, $1) }
        close(caller)
        try? FileManager.default.removeItem(atPath: directory)
    }

    // MARK: Threads

    private func take(from listener: Int32) {
        while true {
            let client = accept(listener, nil, nil)
            if client < 0 || state.withLock({ $0.isClosed }) {
                close(client)
                close(listener)
                return
            }
            let server = UnixSocket.make()
            if state.withLock({ $0.isDown }) || UnixSocket.withAddress(target, { connect(server, $0, $1) }) != 0 {
                close(client)
                close(server)
                continue
            }
            let connection = Connection(client, server)
            state.withLock { $0.connections[ObjectIdentifier(connection)] = connection }
            for direction in Direction.allCases {
                Thread.detachNewThread { [self] in
                    pass(direction, connection)
                    connection.end()
                    if connection.leave() {
                        _ = state.withLock { $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
                    }
                }
            }
        }
    }

    /// Passes bytes on until the connection ends.
    private func pass(_ direction: Direction, _ connection: Connection) {
        let (from, to) =
            direction == .toServer ? (connection.client, connection.server) : (connection.server, connection.client)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(from, &buffer, buffer.count, 0)
            if count <= 0 { return }
            let isFirst = connection.turns(to: direction)
            let (passed, disturbance) = state.withLock { state -> (Int, Disturbance?) in
                if isFirst, direction == .toServer { state.roundTrips += 1 }
                guard let plan = state.plan, plan.direction == direction else { return (count, nil) }
                if plan.bytes >= count {
                    state.plan?.bytes -= count
                    return (count, nil)
                }
                state.plan = nil
                if plan.disturbance == .delay { connection.setDelayed(true) }
                return (plan.bytes, plan.disturbance)
            }
            UnixSocket.send(buffer[..<passed], to)
            switch disturbance {
            case nil: continue
            case .cut: return
            case .delay:
                shutdown(connection.client, Int32(SHUT_RDWR))
                while state.withLock({ !$0.delivers && !$0.isClosed }) { usleep(1000) }
                UnixSocket.send(buffer[passed..<count], to)
                shutdown(to, Int32(SHUT_WR))
                // Until the server has ended it.
                while connection.isShared { usleep(1000) }
                connection.setDelayed(false)
                return
            case .stall:
                while recv(from, &buffer, buffer.count, 0) > 0 {}
                return
            }
        }
    }
}

/// A proxy that could not listen.
private struct NoSocket: Error {
    let directory: String
}

/// The sockets of a server in a directory.
package enum UnixSocket {
    package static func make() -> Int32 { socket(AF_UNIX, streamType, 0) }

    package static func send(_ bytes: ArraySlice<UInt8>, _ socket: Int32) {
        var rest = bytes
        while !rest.isEmpty {
            #if canImport(Glibc)
                let sent = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, sendFlags) }
            #else
                let sent = rest.withUnsafeBytes { Darwin.send(socket, $0.baseAddress, $0.count, sendFlags) }
            #endif
            if sent <= 0 { return }
            rest = rest.dropFirst(sent)
        }
    }

    package static func withAddress(_ directory: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array("\(directory)/.s.PGSQL.5432".utf8)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}

/// The two ends of a connection through a proxy. Two threads use them; the last one to leave closes them.
private final class Connection: Sendable {
    let client: Int32
    let server: Int32
    private let state = Lock((threads: 2, isDelayed: false, last: Proxy.Direction.toClient))

    init(_ client: Int32, _ server: Int32) { (self.client, self.server) = (client, server) }

    var isDelayed: Bool { state.withLock { $0.isDelayed } }
    func setDelayed(_ isDelayed: Bool) { state.withLock { $0.isDelayed = isDelayed } }

    /// Whether what passed last has passed in the other direction.
    func turns(to direction: Proxy.Direction) -> Bool {
        state.withLock { state in
            defer { state.last = direction }
            return state.last != direction
        }
    }

    /// Whether both threads use it.
    var isShared: Bool { state.withLock { $0.threads == 2 } }

    /// Ends it, so that both threads leave. What was delayed keeps the server's end.
    func end() {
        state.withLock { state in
            if state.threads == 0 { return }
            shutdown(client, Int32(SHUT_RDWR))
            if !state.isDelayed { shutdown(server, Int32(SHUT_RDWR)) }
        }
    }

    /// Leaves it, and returns whether it is closed now.
    func leave() -> Bool {
        state.withLock { state in
            state.threads -= 1
            if state.threads > 0 { return false }
            close(client)
            close(server)
            return true
        }
    }
}
