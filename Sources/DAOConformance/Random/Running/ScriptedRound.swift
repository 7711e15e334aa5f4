import DAOCore

/// One kind of script, run on a database and on plain values side by side.
protocol ScriptedRound {
    associatedtype Step: ScriptedStep

    /// Runs steps on a fresh database.
    ///
    /// - Returns: Where database and plain values part; nil when they agree to the end.
    func run(_ script: [Step]) throws -> FailedScript<Step>?

    /// The smallest script that still fails, found for as long as there is time.
    func shrink(_ failure: FailedScript<Step>, limit: Duration) -> FailedScript<Step>
}

/// A step of a script, as plain data.
protocol ScriptedStep: Sendable {
    /// How many steps it is, with those inside.
    var size: Int { get }
    /// The step as Swift.
    var source: String { get }
}

extension ScriptedStep {
    /// One, where there are none inside.
    var size: Int { 1 }
}

/// A script that fails at its last step.
struct FailedScript<Step: ScriptedStep>: FailingScript, Sendable {
    /// The steps.
    var script: [Step]
    /// What the contract expects of the last one.
    let expected: String
    /// What came.
    let got: String

    /// How many steps there are, with those inside others.
    var weight: Int { script.reduce(0) { $0 + $1.size } }

    /// The script, as Swift to paste into a test.
    var source: String {
        "try RandomProof.replay(\n    [\n" + script.map { "        \($0.source),\n" }.joined() + "    ], on: target)"
    }
}

extension ScriptedRound {
    /// Leaves out steps.
    func shrink(_ failure: FailedScript<Step>, limit: Duration) -> FailedScript<Step> {
        failure.leavingOutSteps(until: ContinuousClock.now + limit, run)
    }

    /// Runs a script that failed before.
    ///
    /// - Throws: What differs, as ``ConformanceFailure``.
    func replay(_ script: [Step]) throws {
        guard let failure = try run(script) else { return }
        throw ConformanceFailure(
            "the last of \(failure.script.count) steps", expected: failure.expected, got: failure.got, file: #fileID, line: #line)
    }

    /// Runs a script, and makes it smaller when it fails.
    ///
    /// - Parameters:
    ///   - script: The steps.
    ///   - target: The target's name.
    ///   - seed: What the steps were made from.
    ///   - operations: How many operations repeat it.
    ///   - limit: How long it is made smaller at most.
    func failure(
        of script: [Step], target: String, seed: UInt64, operations: Int, limit: Duration
    ) -> RandomProofFailure? {
        do {
            return try run(script).map {
                RandomProofFailure(target: target, seed: seed, operations: operations, shrink($0, limit: limit))
            }
        } catch {
            return RandomProofFailure(target: target, seed: seed, operations: operations, error)
        }
    }
}
