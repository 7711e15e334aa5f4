import DAOCore
import DAOTestSupport
import Foundation

/// How far the cases of a target are, for whoever waits.
final class ConformanceProgress: Sendable {
    private struct State {
        var total: Int
        var done = 0
        var failed = 0
        var running: [String: ContinuousClock.Instant] = [:]
    }

    private let target: String
    private let state: Lock<State>

    /// - Parameters:
    ///   - target: The name of the target.
    ///   - total: How many cases there are.
    init(of target: String, total: Int = 0) {
        self.target = target
        state = Lock(State(total: total))
    }

    func add(_ total: Int) { state.withLock { $0.total += total } }

    func begin(_ id: String) { state.withLock { $0.running[id] = .now } }

    func end(_ result: ConformanceResult) {
        state.withLock { state in
            state.running[result.id] = nil
            state.done += 1
            if result.isFailure { state.failed += 1 }
        }
    }

    /// The cases that are done, of how many, and the one that has run the longest; nil while none runs.
    var line: String? {
        state.withLock { state in
            guard let slowest = state.running.min(by: { $0.value < $1.value }) else { return nil }
            let failures = state.failed == 0 ? "" : ", \(state.failed) failed"
            let seconds = (ContinuousClock.now - slowest.value) / .seconds(1)
            let slow = seconds < 1 ? slowest.key : "\(slowest.key) for \(Int(seconds)) s"
            return "\(target)\(target.hasSuffix(":") ? "" : ":") \(state.done) of \(state.total) cases\(failures); \(slow)"
        }
    }
}

/// The cases of a target that a test runner runs: how far they are is said from time to time, and the report so far is in a file.
final class ConformanceTestRun: Sendable {
    let progress: ConformanceProgress
    private let journal: ConformanceJournal
    private let lines = Lock<ProgressLine?>(nil)

    private static let runs = Lock<[String: ConformanceTestRun]>([:])

    /// The run of a target in this process, which has some more cases.
    static func adding(_ count: Int, of target: String) -> ConformanceTestRun {
        runs.withLock { runs in
            let run = runs[target] ?? ConformanceTestRun(target)
            run.progress.add(count)
            runs[target] = run
            return run
        }
    }

    private init(_ target: String) {
        journal = ConformanceJournal(of: target)
        progress = ConformanceProgress(of: target)
    }

    func begin(_ id: String) {
        progress.begin(id)
        journal.begin(id)
        lines.withLock { lines in
            // A test runner writes lines of its own, so none rewrites itself.
            if lines == nil { lines = ProgressLine(isTerminal: false, every: 30) { [weak self] in self?.progress.line } }
        }
    }

    func end(_ result: ConformanceResult) {
        progress.end(result)
        journal.end(result)
    }
}

/// The report so far in a file: a line when a case begins, and one when it has ended. It is there when the process is killed.
final class ConformanceJournal: Sendable {
    private let target: String
    private let journal = Lock<(file: FileHandle?, isOpen: Bool)>((nil, false))

    init(of target: String) { self.target = target }

    /// The file: in `.build/conformance` of the package that is tested, or else in the temporary directory.
    static func file(of target: String) -> URL {
        let here = URL(fileURLWithPath: FileManager.default.currentDirectoryPath).appendingPathComponent(".build")
        let folder = FileManager.default.isWritableFile(atPath: here.path) ? here : FileManager.default.temporaryDirectory
        let name = String(target.map { $0.isLetter || $0.isNumber || $0 == "-" ? $0 : "-" })
        return folder.appendingPathComponent("conformance").appendingPathComponent("\(name).txt")
    }

    func begin(_ id: String) { write("begun   \(id)") }

    func end(_ result: ConformanceResult) { write(result.line) }

    private func write(_ line: String) {
        journal.withLock { journal in
            if !journal.isOpen { journal = (open(), true) }
            try? journal.file?.write(contentsOf: Data((line + "\n").utf8))
        }
    }

    private func open() -> FileHandle? {
        let file = Self.file(of: target)
        try? FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        guard (try? Data().write(to: file)) != nil, let handle = try? FileHandle(forWritingTo: file) else { return nil }
        FileHandle.standardError.write(Data("\(target): the report so far is in \(file.path)\n".utf8))
        return handle
    }
}

extension ConformanceResult {
    /// The result as a line of a report.
    var line: String {
        let what = status.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0)
        return "\(what)\(id)  \(Int(seconds * 1000)) ms"
            + (status == .passed ? "" : "  \(explanation.replacing("\n", with: " "))")
    }
}
