import DAOConformance
import DAOCore
import DAOTestSupport

/// Generates steps of several processes from a seed.
struct ProcessGenerator {
    /// How many processes there are beside this one.
    private static let others = 2

    private var random: SeededGenerator
    private var reference: ProcessReference
    /// Whether this process may open databases that wait as long as a step says.
    private let opensHastily: Bool

    init(seed: UInt64, for target: ConformanceTarget) {
        random = SeededGenerator(seed: seed)
        reference = ProcessReference(wait: target.processWait)
        opensHastily = target.openConfiguration != nil
    }

    /// A script, which begins with a process.
    mutating func script(_ count: Int) -> [ProcessStep] {
        var steps: [ProcessStep] = []
        append(.start(1), to: &steps)
        if random.below(2) == 0 {
            // Builds that start at once, often beside an older one that has rows.
            if random.below(2) == 0 { append(.publish(.older, 0, 1, by: 0), to: &steps) }
            append(.start(2), to: &steps)
            append(publishAtOnce(by: [1, 2]), to: &steps)
            append(.pamphlets(.newer, by: 0), to: &steps)
        }
        // This process then reads the relationships before another process declares one.
        if random.below(2) == 0 { append(.take(0, by: 0), to: &steps) }
        while steps.count < count {
            let step = step()
            guard reference.allows(step) else { continue }
            append(step, to: &steps)
            switch step {
            // What a step did is looked at before anything hides it.
            case .publish(_, _, _, let process):
                append(.pamphlets(.newer, by: reference.running.subtracting([process]).max() ?? 0), to: &steps)
            case .publishAtOnce: append(.pamphlets(.older, by: reference.running.max() ?? 0), to: &steps)
            case .give, .take: append(.list(by: reference.running.max() ?? 0), to: &steps)
            default: break
            }
        }
        return steps
    }

    private mutating func publishAtOnce(by processes: [Int]) -> ProcessStep {
        .publishAtOnce(
            processes.enumerated().map { place, process in
                .init(random.pick(ConformanceProcesses.Build.allCases), place, random.below(100), by: process)
            })
    }

    private mutating func append(_ step: ProcessStep, to steps: inout [ProcessStep]) {
        _ = reference.run(step)
        steps.append(step)
    }

    private mutating func step() -> ProcessStep {
        let process = random.below(Self.others + 1)
        let amount = 1 + random.below(9)
        switch random.below(36) {
        case 0...1: return .start(process)
        case 2...5:
            // While another process is in a transaction, this one has to say how long it waits.
            let waiting = [0, 1, 60, 150][random.below(4)]
            return .add(amount, by: process, waiting: process == 0 && opensHastily && reference.holder != nil ? waiting : nil)
        case 6...7: return .read(by: process)
        case 8...9: return .race(Array(reference.running).sorted(), times: amount)
        case 10...13: return .hold(amount, by: process)
        case 14...15: return .end(commits: random.below(2) == 0)
        case 16...17: return .queue(amount, by: process, commits: random.below(2) == 0)
        case 18: return .kill(reference.holder?.process ?? process)
        case 19: return .killCommitting(process, after: 1 + random.below(4))
        case 20...21: return .observe(1 + random.below(3), by: process)
        case 22: return .reopen
        case 23...24:
            // As a rule others than this process, which then knows nothing of topics.
            return .give(
                (0..<random.below(5)).map { _ in random.below(6) },
                by: random.below(5) == 0 ? process : 1 + random.below(Self.others))
        case 25...26: return .take(random.below(4) == 0 ? random.below(6) : reference.posts?.first ?? 0, by: process)
        case 27: return .list(by: process)
        case 28...31:
            return .publish(random.pick(ConformanceProcesses.Build.allCases), random.below(4), random.below(100), by: process)
        case 32...33: return publishAtOnce(by: reference.running.sorted())
        default: return .pamphlets(random.pick(ConformanceProcesses.Build.allCases), by: process)
        }
    }
}
