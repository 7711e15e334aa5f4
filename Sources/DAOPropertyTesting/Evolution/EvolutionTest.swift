import DAOConformance
import DAOCore

/// Steps in the life of a database whose application changes.
struct EvolutionTest: ModelBasedTest {
    let target: ConformanceTarget

    /// Fewer than others: everything is compared after each.
    func script(seed: UInt64, operations: Int) -> [EvolutionStep] {
        var generator = EvolutionGenerator(seed: seed)
        return generator.script(max(1, operations / 12))
    }

    func begin(_ script: [EvolutionStep], at location: ConformanceTarget.Location) throws -> EvolutionSession? {
        let runner = try EvolutionRunner(target, at: location)
        if runner.isAble { return EvolutionSession(runner: runner) }
        try runner.close()
        return nil
    }

    /// The script in which no version has a field, for each of the fields.
    func smallerScripts(than script: [EvolutionStep]) -> [[EvolutionStep]] {
        Set(script.flatMap(\.fieldNames)).sorted().map { script.without(field: $0) }
    }
}

/// A database that evolves, and the reference model.
struct EvolutionSession: ModelBasedSession {
    let runner: EvolutionRunner
    private var reference = EvolutionReference()

    init(runner: EvolutionRunner) { self.runner = runner }

    func close() { try? runner.close() }

    mutating func run(_ step: EvolutionStep, isLast: Bool) -> Difference<EvolutionStep>? {
        let expected = reference.run(step)
        let got = runner.run(step)
        if !expected.contains(got) { return Difference(expected: expected.joined(separator: ", or "), got: got) }
        do {
            return Self.difference(reference.content, try runner.content())
        } catch {
            return Difference(expected: reference.content.joined(separator: "\n"), got: "\(error)")
        }
    }

    private static func difference(_ expected: [String], _ got: [String]) -> Difference<EvolutionStep>? {
        if expected == got { return nil }
        let index = zip(expected, got).enumerated().first { $1.0 != $1.1 }?.offset ?? min(expected.count, got.count)
        func line(_ lines: [String]) -> String { lines.indices.contains(index) ? lines[index] : "nothing more" }
        return Difference(expected: line(expected), got: line(got))
    }
}

extension PropertyTesting {
    /// Runs the life of a database that changes, and that of a reference model: what a printed test calls.
    ///
    /// - Throws: What differs, as `ConformanceFailure`.
    public static func replay(_ script: [EvolutionStep], on target: ConformanceTarget) throws {
        try EvolutionTest(target: target).replay(script)
    }
}
