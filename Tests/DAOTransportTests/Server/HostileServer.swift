import DAOTransport
import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// A server on loopback that answers with whatever bytes a test wants, on sockets without any HTTP library. It
/// stops when this object is released.
public final class HostileServer: Sendable {
    /// A request as it arrived.
    public struct Request: Sendable {
        /// The method.
        public let method: String
        /// The path with its query.
        public let path: String
        /// The headers, by name in lower case.
        public let headers: [String: String]
        /// The body.
        public let body: String
    }

    /// A connection with a client. Sending ends the answer when the client has gone.
    public struct Connection: Sendable {
        fileprivate let socket: Int32

        /// Sends text; false when the client has gone.
        @discardableResult
        public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

        /// Sends bytes; false when the client has gone.
        @discardableResult
        public func send(_ bytes: [UInt8]) -> Bool {
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes { transmit(socket, $0.baseAddress! + sent, $0.count - sent) }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }

        /// Closes the connection, for both sides.
        public func hangUp() { shutdown(socket, Int32(SHUT_RDWR)) }

        /// Sends a complete response without a body, or with one.
        public func respond(_ status: Int, _ headers: [String: String] = [:], _ body: String = "") {
            let lines = headers.map { "\($0): \($1)\r\n" }.joined()
            send("HTTP/1.1 \(status) Status\r\n\(lines)Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
        }
    }

    /// The port; the server listens on 127.0.0.1.
    public let port: UInt16
    /// The address, with a trailing slash.
    public var url: URL { URL(string: "http://127.0.0.1:\(port)/")! }

    private let isClosed = Locked(false)
    private let received = Locked<[Request]>([])
    private let connected = Locked(0)

    /// The requests so far, in the order of their arrival.
    public var requests: [Request] { received.withLock { $0 } }

    /// The number of connections so far.
    public var connections: Int { connected.withLock { $0 } }

    /// Starts a server that calls the closure for every request, on a thread for each connection.
    ///
    /// - Parameter keepsAlive: whether a connection has further requests after its first one.
    public init(keepsAlive: Bool = false, _ answer: @escaping @Sendable (Request, Connection) -> Void) throws {
        let listener = socket(AF_INET, streamType, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else { throw CocoaError(.executableLoad) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [received, connected, isClosed] in
            while true {
                let client = accept(listener, nil, nil)
                // Closed by the thread that accepts: a new server's socket could otherwise get the number meanwhile.
                if client < 0 || isClosed.withLock({ $0 }) {
                    close(client)
                    close(listener)
                    return
                }
                connected.withLock { $0 += 1 }
                Thread.detachNewThread {
                    while let request = Self.read(client) {
                        received.withLock { $0.append(request) }
                        answer(request, Connection(socket: client))
                        guard keepsAlive else { break }
                    }
                    close(client)
                }
            }
        }
    }

    deinit {
        isClosed.withLock { $0 = true }
        // Wakes up the thread that accepts. To shut its socket down does so on Linux alone.
        let caller = socket(AF_INET, streamType, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(caller, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        close(caller)
    }

    private static func read(_ socket: Int32) -> Request? {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let end = text.range(of: "\r\n\r\n") {
                let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
                let first = lines[0].split(separator: " ")
                var headers: [String: String] = [:]
                for line in lines.dropFirst() {
                    let parts = line.split(separator: ":", maxSplits: 1)
                    headers[parts[0].lowercased()] = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
                }
                let body = text[end.upperBound...]
                // To close a connection before all was read resets it, and the client may see that instead of the answer.
                let isWhole =
                    headers["transfer-encoding"] == "chunked"
                    ? body.hasSuffix("0\r\n\r\n") : body.utf8.count >= Int(headers["content-length"] ?? "0") ?? 0
                if isWhole {
                    return Request(method: String(first[0]), path: String(first[1]), headers: headers, body: String(body))
                }
            }
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
    }
}

#if canImport(Glibc)
    private let streamType = Int32(SOCK_STREAM.rawValue)
    private let noSignal = Int32(MSG_NOSIGNAL)
#else
    private let streamType = SOCK_STREAM
    private let noSignal = MSG_NOSIGNAL
#endif

private func transmit(_ socket: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    send(socket, bytes, count, noSignal)
}

/// A gzip stream of a prefix, and of a pattern of 1 or 13 bytes that then repeats: every 258 bytes of it take 13
/// or 15 bits.
public func gzip(prefix: [UInt8] = [], pattern: [UInt8], repetitions: Int) -> [UInt8] {
    // The code of the distance, and two more bits for 13.
    let distance = [1: (0, 0), 13: (7, 2)][pattern.count]!
    var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
    var pending: UInt32 = 0
    var count = 0
    /// Huffman codes begin with their highest bit, all other numbers with their lowest.
    func put(_ value: Int, _ bits: Int, isCode: Bool = true) {
        for bit in 0..<bits {
            pending |= UInt32(value >> (isCode ? bits - 1 - bit : bit) & 1) << count
            count += 1
            guard count == 8 else { continue }
            bytes.append(UInt8(pending))
            (pending, count) = (0, 0)
        }
    }
    put(0b011, 3, isCode: false)  // the last block, with the codes of the standard
    for byte in prefix + pattern { byte < 144 ? put(0x30 + Int(byte), 8) : put(0x190 + Int(byte) - 144, 9) }
    for _ in 0..<repetitions {
        put(0b1100_0101, 8)  // a length of 258
        put(distance.0, 5)
        put(0, distance.1, isCode: false)
    }
    return bytes
}
