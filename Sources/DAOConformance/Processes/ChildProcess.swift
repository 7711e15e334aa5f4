#if os(Linux) || os(macOS)
    import DAOTestSupport
    import Foundation

    /// A program that has a database open. It reads commands as lines and writes its answers as lines.
    public final class ChildProcess: ConformanceProcess {
        private let process: ProcessBox
        private let input: FileHandle
        private let output: LineReader

        /// The process as Foundation knows it. Only its identifier is read and its end awaited.
        private final class ProcessBox: @unchecked Sendable {
            // Configured before it is shared, and not changed afterwards.
            let process = Process()
        }

        /// Starts a process.
        ///
        /// - Parameters:
        ///   - program: The executable.
        ///   - arguments: The arguments of the program.
        ///   - standardError: Where the process writes its errors; nil for where this process does.
        public init(_ program: URL, _ arguments: [String], standardError: FileHandle? = nil) throws {
            // Writing to a process that was killed must not kill this process.
            signal(SIGPIPE, SIG_IGN)
            let (toPeer, fromPeer) = (Pipe(), Pipe())
            // A process that another thread starts meanwhile would keep the pipe open after this one has ended.
            for pipe in [toPeer, fromPeer] {
                for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
                    _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
                }
            }
            process = ProcessBox()
            process.process.executableURL = program
            process.process.arguments = arguments
            // A backtrace takes seconds, and a crash is detected without it.
            process.process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
            process.process.standardInput = toPeer
            process.process.standardOutput = fromPeer
            if let standardError { process.process.standardError = standardError }
            input = toPeer.fileHandleForWriting
            output = LineReader(fromPeer.fileHandleForReading)
            try process.process.run()
        }

        // One that never ran has the number 0, which means this process and all others of its group.
        deinit { if process.process.isRunning { Foundation.kill(process.process.processIdentifier, SIGKILL) } }

        /// Sends a line to the process.
        public func say(_ line: String) throws { try input.write(contentsOf: Data((line + "\n").utf8)) }

        /// Returns the next line from the process; nil when the process has ended.
        public func line(within seconds: Int = 60) throws -> String? { try output.next(within: seconds) }

        /// Sends a signal, such as that which stops the process.
        package func send(signal: Int32) { Foundation.kill(process.process.processIdentifier, signal) }

        /// Kills the process, and waits until it has ended.
        public func kill() {
            Foundation.kill(process.process.processIdentifier, SIGKILL)
            wait()
        }

        /// Closes the input of the process, and waits until it has ended.
        func end() {
            try? input.close()
            wait()
        }

        /// Waits for the end of the process.
        ///
        /// - Returns: The exit status, or the negated number of the signal that ended the process.
        @discardableResult public func wait() -> Int32 {
            process.process.waitForEnd()
        }
    }

    /// Reads lines from a pipe with a timeout.
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

        /// Reads some bytes; returns false at the end.
        private func read(until deadline: ContinuousClock.Instant) throws -> Bool {
            while true {
                var request = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
                let remaining = (deadline - .now) / .milliseconds(1)
                guard remaining > 0 else { throw fail("another process sent no line before the timeout") }
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
