import DAOConformance
import DAOPropertyTesting
import DAOTestSupport
import Foundation

/// Runs seed after seed on every target at once, and says how far it is.
final class Soak: Sendable {
    private struct Progress {
        /// The steps of the seeds that are done, and of the one that runs.
        var operations = 0
        var running = 0
        var seeds = 0
        var current: UInt64 = 0
    }

    private let options: SoakOptions
    private let start = ContinuousClock.now
    private let progress = Shared<[String: Progress]>([:])
    private let hasFailed = Shared(false)

    init(_ options: SoakOptions) { self.options = options }

    /// Runs until the time is over or something fails.
    ///
    /// - Returns: Whether everything agreed.
    func run() async -> Bool {
        let first = options.seed ?? UInt64.random(in: 0...UInt64(Int64.max))
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let line = ProgressLine(
            isTerminal: isTerminal, write: { FileHandle.standardOutput.write(Data($0.utf8)) },
            { [self] in isTerminal ? brief : report })
        line.say("property-based tests on \(options.targets.map(\.name).joined(separator: ", ")), from seed \(first)")
        await withTaskGroup(of: Void.self) { group in
            for target in options.targets { group.addTask { await self.run(target, from: first, line) } }
        }
        line.say(report)
        line.end()
        return !hasFailed.value
    }

    private var isOver: Bool {
        guard !hasFailed.value else { return true }
        guard let minutes = options.minutes else { return false }
        return ContinuousClock.now - start >= .seconds(minutes * 60)
    }

    private func run(_ target: ConformanceTarget, from first: UInt64, _ line: ProgressLine) async {
        var seed = first
        while !isOver {
            let result = await PropertyTesting.run(on: target, seed: seed, operations: options.operations) { [seed] done, _ in
                self.change(target) { ($0.running, $0.current) = (done, seed) }
            }
            change(target) { progress in
                progress.operations += result.operations
                progress.running = 0
                progress.seeds += 1
            }
            if let failure = result.failure {
                hasFailed.change { $0 = true }
                line.say("\n\(failure)\nThe test belongs into Tests/DAOPropertyTestingTests/FoundFailures.swift.\n")
            }
            seed &+= 1
        }
    }

    private func change(_ target: ConformanceTarget, _ body: (inout Progress) -> Void) {
        progress.change { body(&$0[target.name, default: Progress()]) }
    }

    private var seconds: Double { (ContinuousClock.now - start) / .seconds(1) }

    /// The steps and the seeds of every target.
    private var report: String {
        let parts = progress(of: { name, progress in
            let operations = progress.operations + progress.running
            return "\(name) \(operations) operations, \(progress.seeds) seeds (now \(progress.current)), "
                + "\(Int(Double(operations) / max(seconds, 0.001)))/s"
        })
        return "\(Int(seconds)) s: " + parts.joined(separator: "; ")
    }

    /// The same for the width of a terminal.
    private var brief: String {
        let parts = progress(of: { "\($0) \($1.operations + $1.running)" })
        return "\(Int(seconds)) s: operations on " + parts.joined(separator: ", ")
    }

    private func progress(of describe: (String, Progress) -> String) -> [String] {
        let progress = progress.value
        return options.targets.map { describe($0.name, progress[$0.name] ?? Progress()) }
    }
}
