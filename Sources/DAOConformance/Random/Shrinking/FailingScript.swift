import DAOCore

/// A script that fails at its last step, whatever its steps are about.
protocol FailingScript {
    associatedtype Step

    /// The steps.
    var script: [Step] { get }
    /// How large it is.
    var weight: Int { get }
}

extension FailingScript {
    /// Delta debugging: ever smaller runs of steps are left out, for as long as there is time.
    ///
    /// - Parameters:
    ///   - deadline: When to stop.
    ///   - run: Runs steps; nil when they do not fail.
    func leavingOutSteps(until deadline: ContinuousClock.Instant, _ run: ([Step]) throws -> Self?) -> Self {
        var smallest = self
        var length = max(1, smallest.script.count / 2)
        while true {
            var start = 0
            var hasShrunk = false
            while start < smallest.script.count, ContinuousClock.now < deadline {
                var candidate = smallest.script
                candidate.removeSubrange(start..<min(start + length, candidate.count))
                if let found = try? run(candidate), found.weight < smallest.weight {
                    smallest = found
                    hasShrunk = true
                } else {
                    start += length
                }
            }
            if ContinuousClock.now >= deadline || (length == 1 && !hasShrunk) { return smallest }
            if !hasShrunk || length > smallest.script.count { length = max(1, length / 2) }
        }
    }
}
