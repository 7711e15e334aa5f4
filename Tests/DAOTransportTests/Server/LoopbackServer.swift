import DAOCurl
import DAOTestSupport
import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
#if canImport(Glibc)
    import Glibc
#endif

extension CurlConfiguration {
    /// Waits ten minutes for the next byte: on a machine that runs many tests at once, a minute without any happens.
    public static var patient: CurlConfiguration { CurlConfiguration(timeout: .seconds(600)) }
}

/// A real HTTP server on loopback in a separate process. It uses an ephemeral port and stops when this object
/// is released or the process that started it ends.
public final class LoopbackServer: Sendable {
    /// The address of the server, with a trailing slash.
    public let url: URL

    private let process: Process
    private let port: UInt16
    /// The socket that reserves the port of a stopped server.
    private let holder = Locked<Int32?>(nil)

    /// The file of the certificate of a server with TLS.
    public let certificate: URL?

    /// Starts a server and waits until it listens.
    ///
    /// - Parameter tls: how a server with TLS answers, as the script of that server says; nil for a server without TLS.
    public init(tls mode: String? = nil) throws {
        guard let script = Bundle.module.url(forResource: mode == nil ? "server" : "tls", withExtension: "py") else {
            throw CocoaError(.fileNoSuchFile)
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", script.path] + (mode.map { [$0] } ?? [])
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), let first = byte.first, first != 0x0A {
            line.append(first)
        }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard let port = words.first.flatMap({ UInt16($0) }),
            let url = URL(string: "\(mode == nil ? "http" : "https")://127.0.0.1:\(port)/")
        else { throw CocoaError(.executableLoad) }
        self.url = url
        self.port = port
        self.process = process
        certificate = words.count > 1 ? URL(fileURLWithPath: String(words[1])) : nil
    }

    deinit {
        stop()
        if let socket = holder.withLock({ $0 }) { close(socket) }
        if let certificate { try? FileManager.default.removeItem(at: certificate.deletingLastPathComponent()) }
    }

    /// Stops the server. Requests to it cannot connect afterwards, for the lifetime of this object.
    public func stop() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitForEnd()
        holder.withLock { $0 = Self.hold(port) }
    }

    /// A socket that is bound to the port and does not listen. Without it, the server of another test can
    /// receive the port and respond in place of the stopped server.
    private static func hold(_ port: UInt16) -> Int32? {
        #if canImport(Glibc)
            let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let socket = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard socket >= 0 else { return nil }
        var isOn: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        let isBound = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard isBound == 0 else {
            close(socket)
            return nil
        }
        return socket
    }
}
