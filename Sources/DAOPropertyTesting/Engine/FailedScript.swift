/// A script that fails at its last step.
struct FailedScript<Step: ScriptStep>: Sendable {
    let script: [Step]
    /// Which of the steps inside the last one it is, from the outside in; empty for the last step itself.
    let path: [Int]
    /// What the contract expects of it.
    let expected: String
    /// What came.
    let got: String

    /// Takes over a difference after the last of some steps.
    init(_ steps: [Step], _ difference: Difference<Step>) {
        script = steps + (difference.check.map { [$0] } ?? [])
        (path, expected, got) = (difference.path, difference.expected, difference.got)
    }

    /// How large it is to the shrinker.
    var weight: Int { script.reduce(0) { $0 + $1.weight } }
}
