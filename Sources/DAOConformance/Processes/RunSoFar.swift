#if os(Linux) || os(macOS)
    import DAOCore
    import Foundation

    /// What a run has done so far, for the report of one that a signal ends.
    final class RunSoFar: Sendable {
        private struct State {
            var ended: [ConformanceReport] = []
            var target = ""
            var cases: [ConformanceCase] = []
            var begun: Set<String> = []
            var results: [String: ConformanceResult] = [:]
            var workers: CaseWorkers?
            var isOver = false
        }

        private let state = Lock(State())

        /// The cases of a target are going to run, in other processes or in this one.
        func begin(_ target: String, _ cases: [ConformanceCase], in workers: CaseWorkers?) {
            state.withLock { state in
                (state.target, state.cases, state.begun, state.results, state.workers) = (target, cases, [], [:], workers)
            }
        }

        /// A case begins.
        func begin(_ id: String) { state.withLock { _ = $0.begun.insert(id) } }

        /// A case has ended.
        ///
        /// - Returns: False when the run is over, and the case was ended with it.
        func end(_ result: ConformanceResult) -> Bool {
            state.withLock { state in
                if !state.isOver { state.results[result.id] = result }
                return !state.isOver
            }
        }

        /// The cases of a target have run.
        func end(_ report: ConformanceReport) {
            state.withLock { state in
                state.ended.append(report)
                state.cases = []
            }
        }

        /// All cases have run.
        ///
        /// - Returns: False when a signal has ended the run before.
        func finish() -> Bool {
            state.withLock { state in
                defer { state.isOver = true }
                return !state.isOver
            }
        }

        /// Ends the run, and what runs in other processes.
        ///
        /// - Returns: The reports so far, in which cases that have not ended are skipped; nil when all cases have run.
        func interrupt() -> [ConformanceReport]? {
            guard finish() else { return nil }
            let workers = state.withLock { $0.workers }
            workers?.kill()
            return state.withLock { state in
                if state.cases.isEmpty { return state.ended }
                let results = state.cases.map { conformanceCase in
                    let id = conformanceCase.id
                    let reason =
                        state.begun.contains(id) ? "the run was interrupted in the case" : "the run was interrupted before"
                    return state.results[id] ?? ConformanceResult(conformanceCase, skipped: reason)
                }
                return state.ended + [ConformanceReport(target: state.target, engine: workers?.engine, results: results)]
            }
        }
    }

    /// The signals that ask a process to end: Ctrl-C, and a job of CI that takes too long.
    enum Interruption {
        private static let signals = [SIGINT, SIGTERM]
        // Written once, before the handler that reads it is set.
        private nonisolated(unsafe) static var pipe: Int32 = -1

        /// Calls a closure on another thread at the first of the signals. The others are ignored: a terminal and whoever started
        /// this process may both send one.
        static func handle(_ body: @escaping @Sendable (Int32) -> Void) {
            let ends = Pipe()
            pipe = ends.fileHandleForWriting.fileDescriptor
            for each in signals {
                signal(each) { number in
                    var byte = UInt8(truncatingIfNeeded: number)
                    _ = write(Interruption.pipe, &byte, 1)
                }
            }
            TaskThreads.startThread {
                if let number = try? ends.fileHandleForReading.read(upToCount: 1)?.first { body(Int32(number)) }
                withExtendedLifetime(ends) {}
            }
        }

        /// Leaves the signals to the process that has started this one.
        static func ignore() { for each in signals { signal(each, SIG_IGN) } }
    }
#endif
