import DAOCore
import Foundation

/// A script of the life of one database, run on it and on plain arrays side by side.
struct EvolutionRound: ScriptedRound {
    let target: ConformanceTarget

    /// Runs steps on a fresh database; everything is compared after each.
    ///
    /// - Returns: Where they part; nil when they agree to the end, or the database does not offer it.
    func run(_ script: [EvolutionStep]) throws -> FailedScript<EvolutionStep>? {
        let location = try ConformanceTarget.Location.make()
        defer { location.remove() }
        let runner = try EvolutionRunner(target, at: location)
        defer { try? runner.close() }
        guard runner.isAble else { return nil }
        var reference = EvolutionReference()
        for (index, step) in script.enumerated() {
            let done = Array(script[...index])
            let expected = reference.run(step)
            let got = runner.run(step)
            if !expected.contains(got) {
                return FailedScript(script: done, expected: expected.joined(separator: ", or "), got: got)
            }
            do {
                let content = try runner.content()
                if let line = Self.difference(reference.content, content) {
                    return FailedScript(script: done, expected: line.expected, got: line.got)
                }
            } catch {
                return FailedScript(script: done, expected: reference.content.joined(separator: "\n"), got: "\(error)")
            }
        }
        return nil
    }

    private static func difference(_ expected: [String], _ got: [String]) -> (expected: String, got: String)? {
        if expected == got { return nil }
        let index = zip(expected, got).enumerated().first { $1.0 != $1.1 }?.offset ?? min(expected.count, got.count)
        func line(_ lines: [String]) -> String { lines.indices.contains(index) ? lines[index] : "nothing more" }
        return (line(expected), line(got))
    }
}

extension RandomProof {
    /// Runs the life of a database that changes, and what the contract says of it on plain arrays: what a failure's script calls.
    ///
    /// - Throws: What differs, as ``ConformanceFailure``.
    public static func replay(_ script: [EvolutionStep], on target: ConformanceTarget) throws {
        try EvolutionRound(target: target).replay(script)
    }
}
