import DAOConformance
import DAOCore

/// One kind of model-based test: steps are generated from a seed, run on a database and on a reference model
/// side by side, and compared after each.
protocol ModelBasedTest: Sendable {
    associatedtype Session: ModelBasedSession
    typealias Step = Session.Step

    /// The kind of database.
    var target: ConformanceTarget { get }

    /// Generates steps.
    ///
    /// - Parameters:
    ///   - seed: The same seed gives the same steps.
    ///   - operations: How many operations the round has that the steps are a part of.
    func script(seed: UInt64, operations: Int) -> [Step]

    /// Opens a database in a new place, and makes the reference model.
    ///
    /// - Returns: Nil when the database does not offer what the steps are about.
    /// - Throws: What opening the database throws.
    func begin(_ script: [Step], at location: ConformanceTarget.Location) throws -> Session?

    /// The test as scripts are shrunk with it.
    ///
    /// - Parameter isHasty: Whether it waits only for a moment for what should come by itself.
    func shrinking(isHasty: Bool) -> Self

    /// Scripts that may show the same failure more plainly, whatever their weight: the first that fails is
    /// shrunk in its place.
    func plainerScripts(than script: [Step]) -> [[Step]]

    /// Scripts that are smaller throughout. Steps are left out, and put into their smaller forms, by the
    /// engine.
    func smallerScripts(than script: [Step]) -> [[Step]]

    /// A failed script as Swift.
    func source(of failure: FailedScript<Step>) -> ScriptSource
}

/// A database and its reference model, from the first step of a script to the last.
protocol ModelBasedSession {
    associatedtype Step: ScriptStep

    /// Runs a step on both.
    ///
    /// - Parameter isLast: Whether no step follows.
    /// - Returns: Where they differ; nil when they agree.
    mutating func run(_ step: Step, isLast: Bool) -> Difference<Step>?

    /// Closes what is open.
    func close()
}

/// A step of a script, as plain data.
protocol ScriptStep: Sendable {
    /// How many steps it is, with those inside.
    var size: Int { get }
    /// How large it is to the shrinker. Each smaller form weighs less, so shrinking ends.
    var weight: Int { get }
    /// Whether it, or a step inside it, waits for what should come by itself.
    var waits: Bool { get }
    /// What stands in the step's place when it is made smaller, from the boldest cut to the finest.
    var smallerForms: [[Self]] { get }
}

extension ScriptStep {
    /// One, where there are none inside.
    var size: Int { 1 }
    /// As many times a thousand as there are steps.
    var weight: Int { 1000 * size }
    /// No.
    var waits: Bool { false }
    /// None.
    var smallerForms: [[Self]] { [] }
}

/// Where a database and its reference model differ.
struct Difference<Step: ScriptStep> {
    /// The step that shows it, when that is a check made after the one that was run.
    var check: Step?
    /// Which of the steps inside steps it is, from the outside in; empty for the step itself.
    var path: [Int] = []
    let expected: String
    let got: String
}

extension ModelBasedTest {
    /// Itself.
    func shrinking(isHasty: Bool) -> Self { self }
    /// None.
    func plainerScripts(than script: [Step]) -> [[Step]] { [] }
    /// None.
    func smallerScripts(than script: [Step]) -> [[Step]] { [] }

    /// Runs a script in a new place.
    ///
    /// - Returns: The script up to the step on which database and reference model differ; nil when they agree
    ///   to the end.
    /// - Throws: What making the place or opening the database throws.
    func failure(of script: [Step]) throws -> FailedScript<Step>? {
        let location = try ConformanceTarget.Location.make()
        defer { location.remove() }
        guard var session = try begin(script, at: location) else { return nil }
        defer { session.close() }
        for (index, step) in script.enumerated() {
            guard let difference = session.run(step, isLast: index == script.count - 1) else { continue }
            return FailedScript(Array(script[...index]), difference)
        }
        return nil
    }

    /// Runs a script that failed before.
    ///
    /// - Throws: What differs, as ``ConformanceFailure``.
    func replay(_ script: [Step]) throws {
        guard let failure = try failure(of: script) else { return }
        throw ConformanceFailure(
            "the last of \(failure.script.count) steps", expected: failure.expected, got: failure.got, file: #fileID, line: #line)
    }

    /// Runs the steps of a round, and shrinks them when they fail.
    ///
    /// - Parameters:
    ///   - round: What the steps are generated from.
    ///   - limit: How long they are shrunk at most.
    /// - Returns: How many steps there were, with those inside others, and the failure.
    func result(of round: Round, shrinkingFor limit: Duration) -> (operations: Int, failure: PropertyTestFailure?) {
        let script = script(seed: round.seed, operations: round.operations)
        do {
            let failure = try failure(of: script).map { failure in
                PropertyTestFailure(Shrinker(self, limit).shrink(failure), of: self, in: round)
            }
            return (script.reduce(0) { $0 + $1.size }, failure)
        } catch {
            let difference = Difference<Step>(expected: "an open database", got: "\(error)")
            return (0, PropertyTestFailure(FailedScript([], difference), of: self, in: round))
        }
    }
}

/// What the scripts of one round are generated from.
struct Round {
    let seed: UInt64
    let operations: Int
}
