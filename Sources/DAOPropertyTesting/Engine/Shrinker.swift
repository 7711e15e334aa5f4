import DAOCore

/// Makes a failing script smaller for as long as it still fails: first by leaving out steps, then within the
/// steps that are left.
struct Shrinker<Test: ModelBasedTest> {
    private typealias Failure = FailedScript<Test.Step>

    private let test: Test
    private let limit: Duration

    /// - Parameter limit: How long at most.
    init(_ test: Test, _ limit: Duration) { (self.test, self.limit) = (test, limit) }

    /// The smallest script that was found, with where it fails.
    func shrink(_ failure: FailedScript<Test.Step>) -> FailedScript<Test.Step> {
        let deadline = ContinuousClock.now + limit
        // What does not come is not waited for as long each time: on a busy machine it may just be late.
        let waits = failure.script.last?.waits == true
        let smallest = Run(test: test.shrinking(isHasty: true), deadline: deadline, mayWait: waits).smallest(failure)
        if limit == .zero || !waits { return smallest }
        let patient = Run(test: test.shrinking(isHasty: false), deadline: deadline, mayWait: true)
        return patient.failure(of: smallest.script) ?? patient.smallest(failure)
    }

    private struct Run {
        let test: Test
        let deadline: ContinuousClock.Instant
        /// Whether a step that waits for what should come by itself may be the one that fails.
        let mayWait: Bool

        private var hasTime: Bool { ContinuousClock.now < deadline }

        func failure(of script: [Test.Step]) -> Failure? {
            guard !script.isEmpty, let found = try? test.failure(of: script) else { return nil }
            return mayWait || found.script.last?.waits == false ? found : nil
        }

        /// The failure of a candidate that weighs less than another script, and fails with less.
        private func failure(of candidate: [Test.Step], smallerThan smallest: Failure) -> Failure? {
            guard candidate.reduce(0, { $0 + $1.weight }) < smallest.weight, let found = failure(of: candidate),
                found.weight < smallest.weight
            else { return nil }
            return found
        }

        func smallest(_ failure: Failure) -> Failure {
            var smallest = plainer(failure)
            while hasTime {
                let weight = smallest.weight
                leaveOutSteps(of: &smallest)
                shrinkThroughout(&smallest)
                shrinkSteps(of: &smallest)
                if smallest.weight == weight { break }
            }
            return smallest
        }

        private func plainer(_ failure: Failure) -> Failure {
            for script in test.plainerScripts(than: failure.script) {
                if let found = self.failure(of: script) { return found }
            }
            return failure
        }

        /// Delta debugging: ever smaller runs of steps are left out.
        private func leaveOutSteps(of smallest: inout Failure) {
            var length = max(1, smallest.script.count / 2)
            while true {
                var start = 0
                var hasShrunk = false
                while start < smallest.script.count, hasTime {
                    var candidate = smallest.script
                    candidate.removeSubrange(start..<min(start + length, candidate.count))
                    if let found = failure(of: candidate, smallerThan: smallest) {
                        smallest = found
                        hasShrunk = true
                    } else {
                        start += length
                    }
                }
                if !hasTime || (length == 1 && !hasShrunk) { return }
                if !hasShrunk || length > smallest.script.count { length = max(1, length / 2) }
            }
        }

        /// What is smaller in every step at once.
        private func shrinkThroughout(_ smallest: inout Failure) {
            var position = 0
            while hasTime {
                let scripts = test.smallerScripts(than: smallest.script)
                guard position < scripts.count else { return }
                if let found = failure(of: scripts[position], smallerThan: smallest) { smallest = found } else { position += 1 }
            }
        }

        /// Each step is put into each of its smaller forms.
        private func shrinkSteps(of smallest: inout Failure) {
            var index = 0
            while index < smallest.script.count {
                var position = 0
                while index < smallest.script.count, hasTime {
                    let forms = smallest.script[index].smallerForms
                    guard position < forms.count else { break }
                    var candidate = smallest.script
                    candidate.replaceSubrange(index...index, with: forms[position])
                    if let found = failure(of: candidate, smallerThan: smallest) {
                        // The forms that were tried in vain stay behind: those of the smaller step begin with
                        // others.
                        smallest = found
                        position = max(0, position - 1)
                    } else {
                        position += 1
                    }
                }
                index += 1
            }
        }
    }
}
