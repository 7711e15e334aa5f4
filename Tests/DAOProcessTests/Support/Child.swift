import Foundation

/// A process of its own that has a database open, told in lines what to do and answering in lines.
public final class Child: Sendable {
    /// What went wrong with a child, not with a database.
    public struct Failure: Error, CustomStringConvertible {
        /// What.
        public let description: String

        /// Says what went wrong.
        public init(_ description: String) { self.description = description }
    }

    private let process: ProcessBox
    private let input: FileHandle
    private let output: LineReader

    /// Foundation's object, which is only used to learn of the end.
    private final class ProcessBox: @unchecked Sendable {
        // Set up before it is shared; afterwards only its identifier is read, and its end waited for by one thread at a time.
        let process = Process()
    }

    /// Programs are built beside the tests.
    private static var program: URL {
        let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
        let directory = (bundle ?? URL(fileURLWithPath: CommandLine.arguments[0])).deletingLastPathComponent()
        return directory.appendingPathComponent("dao-child")
    }

    /// Starts a process.
    ///
    /// - Parameter arguments: A command and what it takes; see the program.
    public init(_ arguments: String...) throws {
        // A child that was killed while it was being told something must not take this process with it.
        signal(SIGPIPE, SIG_IGN)
        let (toChild, fromChild) = (Pipe(), Pipe())
        process = ProcessBox()
        process.process.executableURL = Self.program
        process.process.arguments = arguments
        // A backtrace takes seconds, and a crash is seen without.
        process.process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        process.process.standardInput = toChild
        process.process.standardOutput = fromChild
        input = toChild.fileHandleForWriting
        output = LineReader(fromChild.fileHandleForReading)
        try process.process.run()
    }

    deinit { kill() }

    /// Tells the child something.
    public func say(_ line: String) throws { try input.write(contentsOf: Data((line + "\n").utf8)) }

    /// The child's next line; nil when it has ended.
    ///
    /// - Parameter seconds: How long to wait, after which waiting fails: longer than anything takes.
    public func line(within seconds: Int = 60) throws -> String? { try output.next(within: seconds) }

    /// The child's next line, which has to be there.
    public func expect(_ wanted: String, within seconds: Int = 60) throws {
        let line = try line(within: seconds)
        guard line == wanted else { throw Failure("the child said '\(line ?? "nothing")' instead of '\(wanted)'") }
    }

    /// Says one thing and returns the answer.
    public func ask(_ line: String, within seconds: Int = 60) throws -> String {
        try say(line)
        guard let answer = try self.line(within: seconds) else { throw Failure("the child ended at '\(line)'") }
        return answer
    }

    /// Ends the child at once, wherever it is.
    public func kill() { Foundation.kill(process.process.processIdentifier, SIGKILL) }

    /// Waits for the end.
    ///
    /// - Returns: The exit status; the negated number of the signal when it was one.
    @discardableResult public func wait() -> Int32 {
        process.process.waitUntilExit()
        let status = process.process.terminationStatus
        return process.process.terminationReason == .uncaughtSignal ? -status : status
    }
}

/// Reads lines from a pipe, and does not wait for ever.
private final class LineReader: @unchecked Sendable {
    // `lock` guards the buffer, and lets one thread read at a time.
    private let lock = NSLock()
    private let handle: FileHandle
    private var buffer: [UInt8] = []

    init(_ handle: FileHandle) { self.handle = handle }

    func next(within seconds: Int) throws -> String? {
        try lock.withLock {
            let deadline = ContinuousClock.now + .seconds(seconds)
            while true {
                if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { buffer.removeSubrange(...end) }
                    return String(decoding: buffer[..<end], as: UTF8.self)
                }
                guard try read(until: deadline) else { return nil }
            }
        }
    }

    /// Reads some bytes; false at the end.
    private func read(until deadline: ContinuousClock.Instant) throws -> Bool {
        while true {
            var request = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
            let remaining = (deadline - .now) / .milliseconds(1)
            guard remaining > 0 else { throw Child.Failure("a child said nothing for too long") }
            let ready = poll(&request, 1, Int32(clamping: Int(remaining.rounded(.up))))
            if ready == 0 || (ready < 0 && errno == EINTR) { continue }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = Foundation.read(handle.fileDescriptor, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            buffer += bytes[..<count]
            return true
        }
    }
}
