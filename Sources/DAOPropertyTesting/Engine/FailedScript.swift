/// A script that fails at its last step.
struct FailedScript<Step: ScriptStep>: Sendable {
    let script: [Step]
    /// The position of the failing step inside the last one, from the outside in; empty for the last step
    /// itself.
    let path: [Int]
    /// The outcome that the contract expects.
    let expected: String
    /// The outcome of the database.
    let got: String
    /// The size of the script for the shrinker.
    let weight: Int

    /// Creates a script from steps and a difference after the last of them.
    init(_ steps: [Step], _ difference: Difference<Step>) {
        script = steps + (difference.check.map { [$0] } ?? [])
        (path, expected, got) = (difference.path, difference.expected, difference.got)
        weight = script.reduce(0) { $0 + $1.weight }
    }
}
