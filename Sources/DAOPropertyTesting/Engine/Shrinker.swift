import DAOCore

/// Makes a failing script smaller while it still fails: first by removing steps, then within the remaining
/// steps.
struct Shrinker<Test: ModelBasedTest> {
    private typealias Failure = FailedScript<Test.Step>

    private let test: Test
    private let limit: Duration

    /// - Parameter limit: The maximum time.
    init(_ test: Test, _ limit: Duration) { (self.test, self.limit) = (test, limit) }

    /// The smallest failing script that was found.
    func shrink(_ failure: FailedScript<Test.Step>) -> FailedScript<Test.Step> {
        let deadline = ContinuousClock.now + limit
        // Each attempt waits only briefly for an event. On a busy machine the event may just be late.
        let waits = failure.script.last?.waits == true
        let smallest = Run(test: test.shrinking(isHasty: true), deadline: deadline, mayWait: waits).smallest(failure)
        if limit == .zero || !waits { return smallest }
        let patient = Run(test: test.shrinking(isHasty: false), deadline: deadline, mayWait: true)
        return patient.failure(of: smallest.script) ?? patient.smallest(failure)
    }

    private struct Run {
        let test: Test
        let deadline: ContinuousClock.Instant
        /// Whether the failing step may be one that waits for an event.
        let mayWait: Bool

        private var hasTime: Bool { ContinuousClock.now < deadline }

        func failure(of script: [Test.Step]) -> Failure? {
            guard !script.isEmpty, let found = try? test.failure(of: script) else { return nil }
            return mayWait || found.script.last?.waits == false ? found : nil
        }

        /// The failure of a candidate, if both weigh less than the smallest failure so far.
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

        /// Delta debugging: removes ever smaller runs of steps.
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

        /// Tries the scripts with a change in every step.
        private func shrinkThroughout(_ smallest: inout Failure) {
            var position = 0
            while hasTime {
                let scripts = test.smallerScripts(than: smallest.script)
                guard position < scripts.count else { return }
                if let found = failure(of: scripts[position], smallerThan: smallest) { smallest = found } else { position += 1 }
            }
        }

        /// Replaces each step by each of its smaller forms.
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
                        // The forms of the smaller step begin with those that were not tried yet.
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

extension Array {
    /// The list without each of its elements, and with the smaller forms of each in its place.
    func smaller(_ forms: (Element) -> [[Element]] = { _ in [] }) -> [[Element]] {
        indices.flatMap { index in
            ([[]] + forms(self[index])).map { form in
                var list = self
                list.replaceSubrange(index...index, with: form)
                return list
            }
        }
    }
}
