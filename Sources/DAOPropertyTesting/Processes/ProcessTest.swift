import DAOConformance
import DAOCore

/// Steps of several processes.
struct ProcessTest: ModelBasedTest {
    let target: ConformanceTarget
    /// How many seconds to wait for what has to come.
    var patience = 60.0

    /// Whether a target has other processes, and databases that these may share.
    static func isPossible(on target: ConformanceTarget) -> Bool {
        guard target.startProcess != nil, let location = try? ConformanceTarget.Location.make() else { return false }
        defer { target.remove(location) }
        guard let database = try? target.open(location) else { return false }
        defer { try? database.close() }
        return database.capabilities.isMultiProcess
    }

    /// Few steps: starting a process takes longer than a hundred steps of other kinds.
    func script(seed: UInt64, operations: Int) -> [ProcessStep] {
        var generator = ProcessGenerator(seed: seed, for: target)
        return generator.script(24)
    }

    func begin(_ script: [ProcessStep], at location: ConformanceTarget.Location) throws -> ProcessSession? {
        let runner = try ProcessRunner(target, location, patience: patience)
        return ProcessSession(
            runner: runner, reference: ProcessReference(wait: target.processWait, takesTurns: runner.takesTurns))
    }
}

/// A database that several processes share, and the reference model.
struct ProcessSession: ModelBasedSession {
    let runner: ProcessRunner
    var reference: ProcessReference

    var verified: (any Database)? { runner.verified }

    func close() { runner.close() }

    mutating func run(_ step: ProcessStep, isLast: Bool) -> Difference<ProcessStep>? {
        guard reference.allows(step) else { return nil }
        let expectation = reference.run(step)
        do {
            let began = ContinuousClock.now
            let got = try runner.run(step)
            let taken = ContinuousClock.now - began
            if case .killCommitting = step {
                guard let batches = Int(got), batches > reference.state.batches else {
                    return Difference(expected: "a number of batches after \(reference.state.batches)", got: got)
                }
                reference.commit(batches: batches)
            } else if got != expectation.answer {
                return Difference(expected: expectation.answer, got: got)
            }
            if taken < expectation.atLeast {
                return Difference(
                    expected: "\(expectation.answer) after no less than \(expectation.atLeast)", got: "\(got) after \(taken)")
            }
            let state = try runner.state()
            if reference.accepts(state) { return nil }
            return Difference(expected: reference.state.description, got: state.description)
        } catch {
            return Difference(expected: expectation.answer, got: "\(error)")
        }
    }
}

extension PropertyTesting {
    /// Runs steps of several processes, and those of a reference model: what a printed test calls.
    ///
    /// - Throws: The difference, as `ConformanceFailure`.
    public static func replay(_ script: [ProcessStep], on target: ConformanceTarget) throws {
        try ProcessTest(target: target).replay(script)
    }
}
