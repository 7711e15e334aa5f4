import DAOConformance
import DAOCore

/// Steps in which rules of different chapters meet.
struct PairTest: ModelBasedTest {
    let target: ConformanceTarget
    /// How many seconds to wait for what should come by itself.
    var patience = 60.0

    /// Fewer steps than of other kinds: the whole state is compared after each step.
    func script(seed: UInt64, operations: Int) -> [PairStep] {
        var generator = PairGenerator(seed: seed)
        return generator.script(max(1, operations / 8))
    }

    func begin(_ script: [PairStep], at location: ConformanceTarget.Location) throws
        -> ComparedSession<PairStep, PairRunner, PairReference>?
    {
        let runner = try PairRunner(target, at: location, patience: patience)
        if runner.isAble { return ComparedSession(runner) }
        try runner.close()
        return nil
    }

    func shrinking(isHasty: Bool) -> Self {
        var test = self
        if isHasty { test.patience = min(0.5, patience) }
        return test
    }
}

extension PropertyTesting {
    /// Runs steps in which rules meet, on the database and on a reference model. Printed tests call it.
    ///
    /// - Throws: The difference, as `ConformanceFailure`.
    public static func replay(_ script: [PairStep], on target: ConformanceTarget) throws {
        try PairTest(target: target).replay(script)
    }
}
