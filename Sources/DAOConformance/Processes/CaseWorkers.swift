#if os(Linux) || os(macOS)
    import DAOCore
    import DAOTestSupport
    import Foundation

    /// Other processes of this program, each of which runs one case at a time. A case that ends its process, or does not come back,
    /// costs this process nothing: its result says so, and another process runs the rest.
    final class CaseWorkers: Sendable {
        /// A process that runs cases, and what it writes to standard error.
        private struct Worker: Sendable {
            let process: ChildProcess
            let errors: WrittenText
        }

        private let program: URL
        private let url: String
        /// Gets what the cases write.
        private let pass: @Sendable (String) -> Void
        private let idle = Lock<[Worker]>([])
        private let busy = Lock<[ObjectIdentifier: ChildProcess]>([:])
        private let knownEngine = Lock<String?>(nil)

        /// - Parameters:
        ///   - program: This program.
        ///   - url: The kind of database.
        ///   - pass: Gets what the cases write to standard output and standard error.
        init(_ program: URL, url: String, pass: @escaping @Sendable (String) -> Void) {
            self.program = program
            self.url = url
            self.pass = pass
        }

        /// The name of the engine, when a process could open it.
        var engine: String? { knownEngine.withLock { $0 } }

        /// Runs a case in a process that runs no other one.
        func result(
            of conformanceCase: ConformanceCase, timeLimit: Duration, hangs: Hangs, hasBegun: @Sendable () -> Void
        ) async -> ConformanceResult {
            await ParallelCases.shared.enter()
            hasBegun()
            let start = ContinuousClock.now
            let timeLimit = hangs.shortened(timeLimit)
            let result = await withTaskExecutorPreference(TaskThreads.shared) { run(conformanceCase, timeLimit, start) }
            if result.status == .hung { hangs.add() }
            await ParallelCases.shared.leave()
            return result
        }

        private func run(
            _ conformanceCase: ConformanceCase, _ timeLimit: Duration, _ start: ContinuousClock.Instant
        ) -> ConformanceResult {
            func ended(_ ending: CaseRunner.Ending) -> ConformanceResult {
                ConformanceResult(conformanceCase, ending, timeLimit: timeLimit, duration: .now - start)
            }
            do {
                let worker = try idle.withLock { $0.popLast() } ?? begin()
                busy.withLock { $0[ObjectIdentifier(worker.process)] = worker.process }
                defer { busy.withLock { $0[ObjectIdentifier(worker.process)] = nil } }
                let seconds = timeLimit / .seconds(1)
                try worker.process.say("\(seconds) \(conformanceCase.id)")
                // It says itself that the case hangs, unless it can do nothing any more. Closing and starting have their time, too.
                let answer: String?
                do {
                    answer = try worker.process.line(within: Int(seconds) * Patience.most + 20)
                } catch {
                    worker.process.kill()
                    pass(worker.errors.next())
                    return ended(.hung)
                }
                let written = worker.errors.next()
                pass(written)
                guard let answer else { return ended(.processEnded(worker.process.wait(), written)) }
                let result = try JSONDecoder().decode(ConformanceResult.self, from: Data(answer.utf8))
                if result.status == .hung {
                    // The next case does not run beside the thread of this one.
                    worker.process.kill()
                } else {
                    idle.withLock { $0.append(worker) }
                }
                return result
            } catch {
                return ended(.failed(error))
            }
        }

        private func begin() throws -> Worker {
            let errors = try WrittenText()
            let process = try ChildProcess(program, ["--worker", url], standardError: errors.handle)
            let engine = try process.line(within: 60)
            guard let engine else {
                let written = errors.next()
                pass(written)
                throw WorkerFailure(description: "the process could not begin: \(CaseRunner.words(process.wait(), written))")
            }
            if !engine.isEmpty { knownEngine.withLock { $0 = engine } }
            return Worker(process: process, errors: errors)
        }

        /// Kills the processes that run a case.
        func kill() { for process in busy.withLock({ Array($0.values) }) { process.kill() } }

        /// Ends the processes.
        func end() {
            for worker in idle.withLock({ $0 }) {
                worker.process.end()
                pass(worker.errors.next())
            }
        }
    }

    private struct WorkerFailure: Error, CustomStringConvertible {
        let description: String
    }

    /// What another process writes into a file without a name.
    private final class WrittenText: Sendable {
        let handle: FileHandle
        private let read: Lock<FileHandle>

        init() throws {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("conformance-\(UUID().uuidString).txt")
            // Both of a process and of those that it starts write at the end.
            let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw StorageError(.io, "the file cannot be made", path: file.path) }
            handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            read = Lock(try FileHandle(forReadingFrom: file))
            unlink(file.path)
        }

        /// What was written since the last call.
        func next() -> String { read.withLock { String(decoding: (try? $0.readToEnd()) ?? Data(), as: UTF8.self) } }
    }

    extension ConformanceProcesses {
        /// Runs the cases that another process names, one after the other, and exits.
        static func runCases(on target: @Sendable () throws -> ConformanceTarget) async throws -> Never {
            Interruption.ignore()
            // What a storage prints is no answer.
            let output = FileHandle(fileDescriptor: dup(STDOUT_FILENO), closeOnDealloc: false)
            _ = fcntl(output.fileDescriptor, F_SETFD, FD_CLOEXEC)
            dup2(STDERR_FILENO, STDOUT_FILENO)
            func answer(_ line: String) {
                guard (try? output.write(contentsOf: Data((line + "\n").utf8))) != nil else { exit(0) }
            }
            try await withTaskExecutorPreference(TaskThreads.shared) {
                let target = try target()
                let capabilities = Conformance.capabilities(of: target, within: nil)
                answer(capabilities?.engine ?? "")
                let cases = Dictionary(Conformance.all.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
                while let line = readLine() {
                    let words = line.split(separator: " ")
                    guard words.count == 2, let seconds = Double(words[0]), let chosen = cases[String(words[1])] else { continue }
                    let result =
                        if let reason = chosen.reasonToSkip(on: target, capabilities) {
                            ConformanceResult(chosen, skipped: reason)
                        } else {
                            await ConformanceTest(conformanceCase: chosen, target: target, timeLimit: .seconds(seconds)).result()
                        }
                    fflush(nil)
                    answer((try? JSONEncoder().encode(result)).map { String(decoding: $0, as: UTF8.self) } ?? "")
                }
            }
            exit(0)
        }
    }
#endif
