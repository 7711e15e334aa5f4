/// A script as Swift.
struct ScriptSource {
    /// The declarations before the test, such as its models.
    var declarations = ""
    /// The body of the test.
    let body: String

    /// The script as a test. It compiles where `target` is the target on which the script failed.
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

/// A step that printed tests contain as plain data and run with `PropertyTesting.replay`.
protocol ReplayedStep: ScriptStep {
    /// The step as Swift.
    var source: String { get }
}

extension ReplayedStep {
    /// The case and its values.
    var source: String { SwiftLiteral.source(self) }
    /// The size of the step for the shrinker.
    var weight: Int { 1000 * size + SwiftLiteral.weight(of: source) }
}

extension ModelBasedTest where Step: ReplayedStep {
    /// The steps as an argument of `PropertyTesting.replay`.
    func source(of failure: FailedScript<Step>) -> ScriptSource {
        let steps = failure.script.map { "            \($0.source),\n" }.joined()
        return ScriptSource(body: "    try PropertyTesting.replay(\n        [\n\(steps)        ], on: target)")
    }
}
