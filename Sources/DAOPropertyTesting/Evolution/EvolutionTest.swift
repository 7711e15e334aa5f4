import DAOConformance
import DAOCore

/// Steps in the life of a database whose application changes.
struct EvolutionTest: ModelBasedTest {
    let target: ConformanceTarget

    /// Fewer steps than of other kinds: the whole state is compared after each step.
    func script(seed: UInt64, operations: Int) -> [EvolutionStep] {
        var generator = EvolutionGenerator(seed: seed)
        return generator.script(max(1, operations / 12))
    }

    func begin(_ script: [EvolutionStep], at location: ConformanceTarget.Location) throws
        -> ComparedSession<EvolutionStep, EvolutionRunner, EvolutionReference>?
    {
        let runner = try EvolutionRunner(target, at: location)
        if runner.isAble { return ComparedSession(runner) }
        try runner.close()
        return nil
    }

    /// The script in which no version has a field, for each of the fields.
    func smallerScripts(than script: [EvolutionStep]) -> [[EvolutionStep]] {
        Set(script.flatMap(\.fieldNames)).sorted().map { script.without(field: $0) }
    }
}

extension PropertyTesting {
    /// Runs the steps of a changing database on the database and on a reference model. Printed tests call it.
    ///
    /// - Throws: The difference, as `ConformanceFailure`.
    public static func replay(_ script: [EvolutionStep], on target: ConformanceTarget) throws {
        try EvolutionTest(target: target).replay(script)
    }
}
