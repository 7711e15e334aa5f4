import DAOCore
import Foundation

/// Runs one case in a new directory, within a time limit, and cleans up afterwards.
enum CaseRunner {
    /// How the closure of a case ended.
    enum Ending: Sendable {
        case passed
        case failed(any Error)
        case hung
        /// The process that ran it has ended, with a status as of `Process.waitForEnd()`; and what it wrote last.
        case processEnded(Int32, String)
    }

    /// Runs a case to its end or its time limit. A case that hangs keeps its thread and its directory, since neither
    /// can be taken away.
    static func run(
        _ conformanceCase: ConformanceCase, on target: ConformanceTarget, timeLimit: Duration, hangs: Hangs,
        hasBegun: @Sendable () -> Void = {}
    ) async -> ConformanceResult {
        await ParallelCases.shared.enter()
        hasBegun()
        // The time that a case waits for its turn is not its own.
        let start = ContinuousClock.now
        let timeLimit = hangs.shortened(timeLimit)
        let ending = await runAlone(conformanceCase, target, timeLimit)
        let duration = ContinuousClock.now - start
        if case .hung = ending { hangs.add() }
        await ParallelCases.shared.leave()
        return ConformanceResult(conformanceCase, ending, timeLimit: timeLimit, duration: duration)
    }

    private static func runAlone(
        _ conformanceCase: ConformanceCase, _ target: ConformanceTarget, _ timeLimit: Duration
    ) async -> Ending {
        let location: ConformanceTarget.Location
        do {
            location = try .make()
        } catch {
            return .failed(error)
        }
        let context = ConformanceContext(target: target, location: location)
        let ending: Ending
        switch conformanceCase.body {
        case .blocking(let body):
            ending = await race(timeLimit) { finish in
                TaskThreads.startThread { finish(result { try body(context) }) }
            }
        case .concurrent(let body):
            ending = await race(timeLimit) { finish in
                // A database may block the thread. Blocked threads of the cooperative pool would hang every later case.
                Task.detached(executorPreference: TaskThreads.shared) {
                    do {
                        try await body(context)
                        finish(.passed)
                    } catch {
                        finish(.failed(error))
                    }
                }
            }
        }
        if case .hung = ending { return .hung }
        let verifies = if case .passed = ending { true } else { false }
        let closing = await race(timeLimit) { finish in
            TaskThreads.startThread { finish(result { try context.closeAll(verifies: verifies) }) }
        }
        target.remove(location)
        if case .failed = ending { return ending }
        return closing
    }

    /// How a process ended, and the last words that it wrote.
    static func words(_ status: Int32, _ written: String) -> String {
        let lines = written.split(separator: "\n").map(String.init)
        let last = lines.last { $0.contains("Fatal error") || $0.contains("Assertion failed") } ?? lines.last
        let how = status < 0 ? "signal \(-status) (\(String(cString: strsignal(-status))))" : "exit code \(status)"
        return how + (last.map { ": \(shortened($0))" } ?? "")
    }

    private static func result(_ body: () throws -> Void) -> Ending {
        do {
            try body()
            return .passed
        } catch {
            return .failed(error)
        }
    }

    /// How many cases run in this process.
    private static let running = Shared(0)

    /// Returns the first ending: that of the closure or that of the time limit.
    private static func race(_ limit: Duration, _ start: (@escaping @Sendable (Ending) -> Void) -> Void) async -> Ending {
        running.change { $0 += 1 }
        defer { running.change { $0 -= 1 } }
        return await withCheckedContinuation { continuation in
            let box = FirstEnding(continuation)
            let patience = Patience(limit)
            start { box.finish($0) }
            // A separate thread: a database that blocks may hold all threads of the queues.
            TaskThreads.startThread {
                var patience = patience
                while !box.hasEnded.wait(seconds: patience.interval) {
                    if patience.isOver(cases: running.value) { return box.finish(.hung) }
                }
            }
        }
    }

    private final class FirstEnding: Sendable {
        let hasEnded = Signal()
        private let waiting: Lock<CheckedContinuation<Ending, Never>?>

        init(_ continuation: CheckedContinuation<Ending, Never>) { waiting = Lock(continuation) }

        func finish(_ ending: Ending) {
            let continuation = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            continuation?.resume(returning: ending)
            hasEnded.send()
        }
    }
}

/// The number of cases of a run that hung. After ten of them, the run does not wait long for the other cases.
final class Hangs: Sendable {
    private let count = Shared(0)

    func add() { count.change { $0 += 1 } }

    /// Returns the time limit of the next case.
    func shortened(_ timeLimit: Duration) -> Duration { count.value < 10 ? timeLimit : min(timeLimit, .seconds(2)) }
}

/// Limits the number of cases that run in parallel when a test runner starts all cases at once.
actor ParallelCases {
    static let shared = ParallelCases()

    /// One more than the processors: many cases wait for other threads and processes.
    private var free = max(2, ProcessInfo.processInfo.activeProcessorCount) + 1
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func enter() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
