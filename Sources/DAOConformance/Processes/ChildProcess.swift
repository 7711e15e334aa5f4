#if os(Linux) || os(macOS)
    import DAOTestSupport
    import Foundation

    /// A program of one's own that has a database open, told in lines what to do and answering in lines.
    public final class ChildProcess: ConformanceProcess {
        private let process: ProcessBox
        private let input: FileHandle
        private let output: LineReader

        /// Foundation's object, of which only the identifier is read and the end waited for.
        private final class ProcessBox: @unchecked Sendable {
            // Set up before it is shared, and not changed afterwards.
            let process = Process()
        }

        /// Starts a process.
        ///
        /// - Parameters:
        ///   - program: The executable.
        ///   - arguments: What it is started with.
        public init(_ program: URL, _ arguments: [String]) throws {
            // One that was killed while it was being told something must not take this process with it.
            signal(SIGPIPE, SIG_IGN)
            let (toPeer, fromPeer) = (Pipe(), Pipe())
            process = ProcessBox()
            process.process.executableURL = program
            process.process.arguments = arguments
            // A backtrace takes seconds, and a crash is seen without.
            process.process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
            process.process.standardInput = toPeer
            process.process.standardOutput = fromPeer
            input = toPeer.fileHandleForWriting
            output = LineReader(fromPeer.fileHandleForReading)
            try process.process.run()
        }

        deinit { Foundation.kill(process.process.processIdentifier, SIGKILL) }

        /// Sends a line to the process.
        public func say(_ line: String) throws { try input.write(contentsOf: Data((line + "\n").utf8)) }

        /// The next line from the process; nil when it has ended.
        public func line(within seconds: Int = 60) throws -> String? { try output.next(within: seconds) }

        /// Ends the process at once, and waits until it is gone.
        public func kill() {
            Foundation.kill(process.process.processIdentifier, SIGKILL)
            wait()
        }

        /// Waits for the end of the process.
        ///
        /// - Returns: The exit status; the negated number of the signal when it was one.
        @discardableResult public func wait() -> Int32 {
            process.process.waitForEnd()
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
                guard remaining > 0 else { throw fail("another process said nothing for too long") }
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
#endif
