/// A step on which a database and the contract differ, with the smallest script that shows it.
public struct PropertyTestFailure: Error, Sendable, CustomStringConvertible {
    /// The target's name.
    public let target: String
    /// The seed of the round.
    public let seed: UInt64
    /// How many operations the round has.
    public let operations: Int
    /// What the contract expects of the last step.
    public let expected: String
    /// The outcome of the database.
    public let got: String
    /// How many steps the smallest script has.
    public let scriptLength: Int
    /// The smallest script as a test in Swift, to paste into a test target; empty when the database could not
    /// be opened.
    public let test: String

    init<Test: ModelBasedTest>(_ failure: FailedScript<Test.Step>, of test: Test, in round: Round) {
        (target, seed, operations) = (test.target.name, round.seed, round.operations)
        (expected, got) = (failure.expected, failure.got)
        scriptLength = failure.script.reduce(0) { $0 + $1.size }
        self.test = failure.script.isEmpty ? "" : test.source(of: failure).test(of: round, target: test.target.name)
    }

    /// What was expected, what came, how to repeat it, and the test.
    public var description: String {
        """
        \(target) and the contract differ at seed \(seed):
          expected \(expected)
          got      \(got)
        Repeat it with PropertyTesting.run(on: target, seed: \(seed), operations: \(operations)), or with this test:

        \(test)
        """
    }
}
