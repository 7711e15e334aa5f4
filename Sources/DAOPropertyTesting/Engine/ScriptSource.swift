/// A script as Swift.
struct ScriptSource {
    /// What stands before the test, such as the models that it uses.
    var declarations = ""
    /// The body of the test.
    let body: String

    /// The script as a test that compiles where `target` is the target it failed on.
    func test(of round: Round, target: String) -> String {
        """
        import DAOConformance
        import DAOCore
        import DAOPropertyTesting
        import Foundation
        import Testing
        \(declarations)
        // Printed by PropertyTesting.run(on: target, seed: \(round.seed), operations: \(round.operations)),
        // where target is \(target).
        @Test func seed\(round.seed)() throws {
        \(body)
        }

        """
    }
}

/// A step that stands in printed tests as plain data, to be run by `PropertyTesting.replay`.
protocol ReplayedStep: ScriptStep {
    /// The step as Swift.
    var source: String { get }
}

extension ModelBasedTest where Step: ReplayedStep {
    /// The steps as an argument of `PropertyTesting.replay`.
    func source(of failure: FailedScript<Step>) -> ScriptSource {
        let steps = failure.script.map { "            \($0.source),\n" }.joined()
        return ScriptSource(body: "    try PropertyTesting.replay(\n        [\n\(steps)        ], on: target)")
    }
}
