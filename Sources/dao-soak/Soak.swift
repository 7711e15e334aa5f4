import DAOConformance
import DAOPropertyTesting
import Foundation

/// Runs seed after seed on every target at once, and says how far it is.
actor Soak {
    private struct Progress {
        var operations = 0
        var seeds = 0
        var current: UInt64 = 0
    }

    private let options: SoakOptions
    private let start = ContinuousClock.now
    private var progress: [String: Progress] = [:]
    private var hasFailed = false

    init(_ options: SoakOptions) { self.options = options }

    /// Runs until the time is over or something fails.
    ///
    /// - Returns: Whether everything agreed.
    func run() async -> Bool {
        let first = options.seed ?? UInt64.random(in: 0...UInt64(Int64.max))
        say("property-based tests on \(options.targets.map(\.name).joined(separator: ", ")), from seed \(first)")
        let reporter = Task {
            while !Task.isCancelled {
                try await Task.sleep(for: .seconds(10))
                report()
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for target in options.targets { group.addTask { await self.run(target, from: first) } }
        }
        reporter.cancel()
        report()
        return !hasFailed
    }

    private var isOver: Bool {
        guard !hasFailed else { return true }
        guard let minutes = options.minutes else { return false }
        return ContinuousClock.now - start >= .seconds(minutes * 60)
    }

    private func run(_ target: ConformanceTarget, from first: UInt64) async {
        var seed = first
        while !isOver {
            progress[target.name, default: Progress()].current = seed
            let result = await PropertyTesting.run(on: target, seed: seed, operations: options.operations)
            progress[target.name, default: Progress()].operations += result.operations
            progress[target.name, default: Progress()].seeds += 1
            if let failure = result.failure {
                hasFailed = true
                say("\n\(failure)\nThe test belongs into Tests/DAOPropertyTestingTests/FoundFailures.swift.\n")
            }
            seed &+= 1
        }
    }

    private func report() {
        let elapsed = ContinuousClock.now - start
        let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        let parts = options.targets.map { target in
            let progress = progress[target.name] ?? Progress()
            return "\(target.name) \(progress.operations) operations, \(progress.seeds) seeds (now \(progress.current)), "
                + "\(Int(Double(progress.operations) / max(seconds, 0.001)))/s"
        }
        say("\(Int(seconds)) s: " + parts.joined(separator: "; "))
    }
}

/// Prints a line at once, into a pipe too.
private func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
