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
    ///   - operations: The number of operations of the round.
    func script(seed: UInt64, operations: Int) -> [Step]

    /// Opens a database in a new place, and makes the reference model.
    ///
    /// - Returns: Nil when the database does not have the feature that the steps test.
    /// - Throws: The error of opening the database.
    func begin(_ script: [Step], at location: ConformanceTarget.Location) throws -> Session?

    /// The variant of the test that the shrinker uses.
    ///
    /// - Parameter isHasty: Whether it waits only briefly for events.
    func shrinking(isHasty: Bool) -> Self

    /// Scripts that may show the same failure more plainly, whatever their weight: the first that fails is
    /// shrunk in its place.
    func plainerScripts(than script: [Step]) -> [[Step]]

    /// Scripts with a change in every step. The engine itself removes steps, and replaces them by their
    /// smaller forms.
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
    /// - Returns: The difference; nil when both agree.
    mutating func run(_ step: Step, isLast: Bool) -> Difference<Step>?

    /// The database after the last step, to be verified; nil when it is not open, or cannot be verified.
    var verified: (any Database)? { get }

    /// Whether rows have values that a later declaration of their field cannot read, which a verification reports (contract L9).
    var hasUnreadable: Bool { get }

    /// Closes the databases.
    func close()
}

extension ModelBasedSession {
    /// No.
    var hasUnreadable: Bool { false }

    /// What a verification of the database finds.
    fileprivate var damage: String? {
        guard let verified, verified.capabilities.hasEvolution else { return nil }
        do {
            let report = try verified.verify()
            if hasUnreadable { return report.problems.contains { $0.kind != .corruptedValue } ? report.description : nil }
            return report.isSound ? nil : report.description
        } catch {
            return "\(error)"
        }
    }
}

/// A step of a script, as plain data.
protocol ScriptStep: Sendable {
    /// The number of steps, including nested steps.
    var size: Int { get }
    /// The size of the step for the shrinker. Each smaller form weighs less, so shrinking ends.
    var weight: Int { get }
    /// Whether the step, or a nested step, waits for an event.
    var waits: Bool { get }
    /// Replacements of the step that are smaller, from the largest reduction to the smallest.
    var smallerForms: [[Self]] { get }
}

extension ScriptStep {
    /// One: there are no nested steps.
    var size: Int { 1 }
    /// No.
    var waits: Bool { false }
    /// None.
    var smallerForms: [[Self]] { [] }
}

/// Where a database and its reference model differ.
struct Difference<Step: ScriptStep> {
    /// The check that shows the difference, when it was made after the step.
    var check: Step?
    /// The position of the nested step, from the outside in; empty for the step itself.
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
    /// - Throws: The error of making the place or of opening the database.
    func failure(of script: [Step]) throws -> FailedScript<Step>? {
        let location = try ConformanceTarget.Location.make()
        defer { target.remove(location) }
        guard var session = try begin(script, at: location) else { return nil }
        defer { session.close() }
        for (index, step) in script.enumerated() {
            guard let difference = session.run(step, isLast: index == script.count - 1) else { continue }
            return FailedScript(Array(script[...index]), difference)
        }
        return session.damage.map { FailedScript(script, Difference(expected: "a verification without problems", got: $0)) }
    }

    /// Runs a script that failed before.
    ///
    /// - Throws: The difference, as ``/DAOConformance/ConformanceFailure``.
    func replay(_ script: [Step]) throws {
        guard let failure = try failure(of: script) else { return }
        throw ConformanceFailure(
            "the last of \(failure.script.count) steps", expected: failure.expected, got: failure.got, file: #fileID, line: #line)
    }

    /// Runs the steps of a round, and shrinks them when they fail.
    ///
    /// - Parameters:
    ///   - round: The seed and the number of operations.
    ///   - limit: The maximum time for shrinking.
    /// - Returns: The number of steps, including nested steps, and the failure.
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

/// The input of the generators in one round.
struct Round {
    let seed: UInt64
    let operations: Int
}
