import DAOCore

/// What a reference model says of steps and of the state that they leave, as text.
protocol ReferenceModel<Step> {
    associatedtype Step: ScriptStep

    /// A model of an empty database.
    init()
    /// Runs a step.
    ///
    /// - Returns: What may come of it.
    mutating func run(_ step: Step) -> [String]
    /// The whole state.
    var lines: [String] { get }
    /// Whether rows have values that a later declaration of their field cannot read.
    var hasUnreadable: Bool { get }
}

extension ReferenceModel {
    /// No.
    var hasUnreadable: Bool { false }
}

/// The same of a database.
protocol DatabaseRunner<Step> {
    associatedtype Step: ScriptStep

    /// Runs a step.
    ///
    /// - Returns: What came of it.
    func run(_ step: Step) throws -> String
    /// The whole state.
    func lines() throws -> [String]
    /// The database after the last step, to be verified; nil when it is not open, or cannot be verified.
    var verified: (any Database)? { get }
    /// Closes the database.
    func close() throws
}

/// A database and a reference model whose outcomes and states are compared as text.
struct ComparedSession<Step, Runner: DatabaseRunner<Step>, Reference: ReferenceModel<Step>>: ModelBasedSession {
    private let runner: Runner
    private var reference = Reference()

    init(_ runner: Runner) { self.runner = runner }

    var verified: (any Database)? { runner.verified }
    var hasUnreadable: Bool { reference.hasUnreadable }

    func close() { try? runner.close() }

    mutating func run(_ step: Step, isLast: Bool) -> Difference<Step>? {
        let expected = reference.run(step)
        do {
            let got = try runner.run(step)
            if !expected.contains(got) { return Difference(expected: expected.joined(separator: ", or "), got: got) }
            return Self.difference(reference.lines, try runner.lines())
        } catch {
            return Difference(expected: expected.joined(separator: ", or "), got: "\(error)")
        }
    }

    /// The first line that differs.
    private static func difference(_ expected: [String], _ got: [String]) -> Difference<Step>? {
        if expected == got { return nil }
        let index = zip(expected, got).enumerated().first { $1.0 != $1.1 }?.offset ?? min(expected.count, got.count)
        func line(_ lines: [String]) -> String { lines.indices.contains(index) ? lines[index] : "nothing more" }
        return Difference(expected: line(expected), got: line(got))
    }
}
