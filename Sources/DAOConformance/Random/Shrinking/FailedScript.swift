/// A list of steps that fails at its last, whatever the steps are about.
protocol FailedScript {
    associatedtype Step

    /// The steps.
    var script: [Step] { get }
}

extension FailedScript {
    /// The smallest script that still fails, found by leaving out steps for as long as there is time.
    ///
    /// - Parameters:
    ///   - limit: How long to go on.
    ///   - run: Runs steps; nil when they do not fail.
    func shrunk(limit: Duration, _ run: ([Step]) throws -> Self?) -> Self {
        let deadline = ContinuousClock.now + limit
        var smallest = self
        var length = max(1, smallest.script.count / 2)
        while true {
            var start = 0
            var hasShrunk = false
            while start < smallest.script.count, ContinuousClock.now < deadline {
                var candidate = smallest.script
                candidate.removeSubrange(start..<min(start + length, candidate.count))
                if let found = try? run(candidate) {
                    smallest = found
                    hasShrunk = true
                } else {
                    start += length
                }
            }
            if ContinuousClock.now >= deadline || (length == 1 && !hasShrunk) { return smallest }
            length = hasShrunk ? length : length / 2
        }
    }
}
