import DAOTestSupport
import Foundation

/// A child process. It gets commands and returns answers as lines.
final class Child {
    /// How a process ended.
    enum Ending: Equatable {
        /// It exited, and had written these unread lines.
        case said([String])
        /// It was killed by SIGKILL.
        case killed
        /// It ended in another way.
        case other(Int32)
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var buffer = Data()

    init(_ arguments: String...) throws {
        let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
        let directory = (bundle ?? URL(fileURLWithPath: CommandLine.arguments[0])).deletingLastPathComponent()
        process.executableURL = directory.appendingPathComponent("dao-evolution-child")
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Returns the next line of output; nil at the end.
    func line() -> String? {
        while !buffer.contains(10) {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { return nil }
            buffer += data
        }
        guard let end = buffer.firstIndex(of: 10) else { return nil }
        defer { buffer.removeSubrange(...end) }
        return String(decoding: buffer[..<end], as: UTF8.self)
    }

    /// Sends a line to the process.
    func say(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

    /// Waits until the process ends.
    func wait() -> Ending {
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        switch process.waitForEnd() {
        case 0: return .said(lines)
        case -SIGKILL: return .killed
        case let status: return .other(status)
        }
    }
}
