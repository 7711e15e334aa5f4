import DAOCore
import Foundation

/// Makes a failing script smaller for as long as it still fails: first by leaving out steps, then within the steps that are left.
struct Shrinker {
    private var replay: Replay
    /// How long at most.
    private let limit: Duration
    /// Whether a step that waits for what should come by itself may be the one that fails.
    private var mayWait = true

    init(replay: Replay, limit: Duration) {
        self.replay = replay
        self.limit = limit
        // What looked at the whole state and found something stands in the script as a step of its own.
        self.replay.checkInterval = nil
    }

    /// The smallest script that was found, with where it fails.
    func shrink(_ divergence: Replay.Divergence) -> Replay.Divergence {
        let deadline = ContinuousClock.now + limit
        // What does not come is not waited for as long each time: on a busy machine it may just be late.
        var hasty = self
        hasty.replay.patience = min(0.5, replay.patience)
        hasty.mayWait = divergence.script.last?.waits == true
        let smallest = hasty.shrink(divergence, deadline)
        if limit == .zero || !hasty.mayWait { return smallest }
        return failure(of: smallest.script) ?? shrink(divergence, deadline)
    }

    private func shrink(_ divergence: Replay.Divergence, _ deadline: ContinuousClock.Instant) -> Replay.Divergence {
        var smallest = plain(divergence)
        while ContinuousClock.now < deadline {
            let size = smallest.weight
            smallest = smallest.leavingOutSteps(until: deadline, failure)
            smallest = shrinkSteps(smallest, deadline)
            if smallest.weight == size { break }
        }
        return smallest
    }

    private func failure(of script: [Step]) -> Replay.Divergence? {
        guard !script.isEmpty, let found = (try? replay.run(script))?.divergence else { return nil }
        return mayWait || found.script.last?.waits == false ? found : nil
    }

    /// Instead of queries that do not agree with each other, the one of them that is wrong.
    private func plain(_ divergence: Replay.Divergence) -> Replay.Divergence {
        guard let last = divergence.script.last, !last.components.isEmpty else { return divergence }
        for component in last.components {
            if let found = failure(of: divergence.script.dropLast() + [component]) { return found }
        }
        return divergence
    }

    /// Each step is put into each of its smaller forms, the largest steps down first.
    private func shrinkSteps(_ divergence: Replay.Divergence, _ deadline: ContinuousClock.Instant) -> Replay.Divergence {
        var smallest = divergence
        var index = 0
        while index < smallest.script.count {
            var position = 0
            while index < smallest.script.count, ContinuousClock.now < deadline {
                let forms = smallest.script[index].smallerForms
                guard position < forms.count else { break }
                var candidate = smallest.script
                candidate.replaceSubrange(index...index, with: forms[position])
                if candidate.reduce(0, { $0 + $1.weight }) < smallest.weight, let found = failure(of: candidate),
                    found.weight < smallest.weight
                {
                    // The forms that were tried in vain stay behind: the ones of the smaller step begin with other ones.
                    smallest = found
                    position = max(0, position - 1)
                } else {
                    position += 1
                }
            }
            index += 1
        }
        return smallest
    }
}

extension Replay.Divergence: FailingScript {
    /// Steps, then what is in them.
    var weight: Int { script.reduce(0) { $0 + $1.weight } }
}

extension Step {
    /// Whether it, or a step inside it, waits for what should come by itself.
    fileprivate var waits: Bool {
        switch verb {
        case .watch, .leave, .outside, .snapshot, .outlive: true
        default: nested.contains(where: \.waits)
        }
    }
}
