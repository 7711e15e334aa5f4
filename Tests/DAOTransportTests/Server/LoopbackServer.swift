import Foundation

/// A real HTTP server on loopback, in a process of its own: started on an ephemeral port, stopped with this object or with the
/// process that started it.
public final class LoopbackServer: Sendable {
    /// Where it listens, with a trailing slash.
    public let url: URL

    private let process: Process

    /// Starts a server and waits until it listens.
    public init() throws {
        guard let script = Bundle.module.url(forResource: "server", withExtension: "py") else {
            throw CocoaError(.fileNoSuchFile)
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", script.path]
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), let first = byte.first, first != 0x0A {
            line.append(first)
        }
        guard let port = UInt16(String(decoding: line, as: UTF8.self)), let url = URL(string: "http://127.0.0.1:\(port)/")
        else { throw CocoaError(.executableLoad) }
        self.url = url
        self.process = process
    }

    deinit {
        stop()
    }

    /// Stops the server; requests to it cannot connect afterwards.
    public func stop() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }
}
