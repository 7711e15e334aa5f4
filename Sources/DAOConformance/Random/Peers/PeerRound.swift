import DAOCore
import Foundation

/// A script of steps of several processes, run on one database and on plain numbers side by side.
struct PeerRound: ScriptedRound {
    /// How many steps a round has: starting a process takes longer than a hundred steps of other rounds.
    static let length = 24

    let target: ConformanceTarget

    /// Whether a target has other processes, and databases that these may share.
    static func isPossible(on target: ConformanceTarget) -> Bool {
        guard target.startPeer != nil, let location = try? ConformanceTarget.Location.make() else { return false }
        defer { location.remove() }
        guard let database = try? target.open(location) else { return false }
        defer { try? database.close() }
        return database.capabilities.isMultiProcess
    }

    /// Runs steps on a fresh database; what is committed is compared after each.
    ///
    /// - Returns: Where they part; nil when they agree to the end.
    func run(_ script: [PeerStep]) throws -> FailedScript<PeerStep>? {
        let location = try ConformanceTarget.Location.make()
        defer { location.remove() }
        let runner = try PeerRunner(target, location)
        defer { runner.close() }
        var reference = PeerReference(wait: target.peerWait)
        for (index, step) in script.enumerated() where reference.allows(step) {
            let expectation = reference.run(step)
            func divergence(_ expected: String, _ got: String) -> FailedScript<PeerStep> {
                FailedScript(script: Array(script[...index]), expected: expected, got: got)
            }
            do {
                let began = ContinuousClock.now
                let got = try runner.run(step)
                let taken = ContinuousClock.now - began
                if case .killCommitting = step {
                    guard let batches = Int(got), batches > reference.state.batches else {
                        return divergence("a number of batches after \(reference.state.batches)", got)
                    }
                    reference.commit(batches: batches)
                } else if got != expectation.answer {
                    return divergence(expectation.answer, got)
                }
                if taken < expectation.atLeast {
                    return divergence("\(expectation.answer) after no less than \(expectation.atLeast)", "\(got) after \(taken)")
                }
                let state = try runner.state()
                if !reference.accepts(state) { return divergence(reference.state.description, state.description) }
            } catch {
                return divergence(expectation.answer, "\(error)")
            }
        }
        return nil
    }
}

extension RandomProof {
    /// Runs steps of several processes, and on plain numbers: what a failure's script calls.
    ///
    /// - Throws: What differs, as ``ConformanceFailure``.
    public static func replay(_ script: [PeerStep], on target: ConformanceTarget) throws {
        try PeerRound(target: target).replay(script)
    }
}
