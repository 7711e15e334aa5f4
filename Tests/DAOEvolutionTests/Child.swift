import Foundation

/// A process of its own, told on a line and answering in lines.
final class Child {
    /// How a process ended.
    enum Ending: Equatable {
        /// By itself, having said these lines that nobody had read.
        case said([String])
        /// By SIGKILL.
        case killed
        /// In another way.
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

    /// The next line that it says; nil when there is none any more.
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

    /// Says a line to it.
    func say(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

    /// Waits for its end.
    func wait() -> Ending {
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        process.waitUntilExit()
        if process.terminationReason == .uncaughtSignal {
            return process.terminationStatus == SIGKILL ? .killed : .other(process.terminationStatus)
        }
        return process.terminationStatus == 0 ? .said(lines) : .other(process.terminationStatus)
    }
}
