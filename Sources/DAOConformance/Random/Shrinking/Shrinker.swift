import DAOCore
import Foundation

/// Makes a failing script smaller for as long as it still fails: first by leaving out steps, then within the steps that are left.
struct Shrinker {
    let replay: Replay
    /// How long at most.
    let limit: Duration

    /// The smallest script that was found, with where it fails.
    func shrink(_ divergence: Replay.Divergence) -> Replay.Divergence {
        let deadline = ContinuousClock.now + limit
        var smallest = divergence
        smallest = plain(smallest)
        while ContinuousClock.now < deadline {
            let size = weight(smallest.script)
            smallest = removeSteps(smallest, deadline)
            smallest = shrinkSteps(smallest, deadline)
            if weight(smallest.script) == size { break }
        }
        return isConfirmed(smallest) ? smallest : divergence
    }

    /// Whether a script that waited in vain for a short while also does when it is given its time: perhaps the machine was busy.
    private func isConfirmed(_ divergence: Replay.Divergence) -> Bool {
        guard limit > .zero, divergence.script.contains(where: \.waits) else { return true }
        return failure(of: divergence.script, patience: replay.patience) != nil
    }

    /// - Parameter patience: How many seconds to wait for what should come by itself. What once did not come is not given long each time.
    private func failure(of script: [Step], patience: Double = 0.5) -> Replay.Divergence? {
        guard !script.isEmpty else { return nil }
        var replay = replay
        // What looked at the whole state and found something stands in the script as a step of its own.
        replay.checkInterval = nil
        replay.patience = patience
        return (try? replay.run(script))?.divergence
    }

    /// How large a script is: steps, then what is in them.
    private func weight(_ script: [Step]) -> Int { script.reduce(0) { $0 + $1.weight } }

    /// Instead of queries that do not agree with each other, the one of them that is wrong.
    private func plain(_ divergence: Replay.Divergence) -> Replay.Divergence {
        guard let last = divergence.script.last, !last.components.isEmpty else { return divergence }
        for component in last.components {
            if let found = failure(of: divergence.script.dropLast() + [component]) { return found }
        }
        return divergence
    }

    /// Delta debugging: ever smaller runs of steps are left out.
    private func removeSteps(_ divergence: Replay.Divergence, _ deadline: ContinuousClock.Instant) -> Replay.Divergence {
        var smallest = divergence
        var length = max(1, smallest.script.count / 2)
        while true {
            var start = 0
            var hasShrunk = false
            while start < smallest.script.count, ContinuousClock.now < deadline {
                var candidate = smallest.script
                candidate.removeSubrange(start..<min(start + length, candidate.count))
                if let found = failure(of: candidate), weight(found.script) < weight(smallest.script) {
                    smallest = found
                    hasShrunk = true
                } else {
                    start += length
                }
            }
            if ContinuousClock.now >= deadline { return smallest }
            if length == 1, !hasShrunk { return smallest }
            if !hasShrunk || length > smallest.script.count { length = max(1, length / 2) }
        }
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
                if weight(candidate) < weight(smallest.script), let found = failure(of: candidate),
                    weight(found.script) < weight(smallest.script)
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

extension Step {
    /// Whether it, or a step inside it, waits for what should come by itself.
    fileprivate var waits: Bool {
        switch verb {
        case .watch, .leave, .outside, .snapshot, .outlive: true
        default: nested.contains(where: \.waits)
        }
    }
}
