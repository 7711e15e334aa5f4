import DAOCore
import Foundation

/// A script of steps of several processes, run on one database and on plain numbers side by side.
struct PeerRound {
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

    /// Where processes and reference parted.
    struct Divergence: FailedScript {
        /// The steps up to there.
        var script: [PeerStep]
        let expected: String
        let got: String
    }

    /// Runs steps on a fresh database; what is committed is compared after each.
    ///
    /// - Returns: Where they part; nil when they agree to the end.
    func run(_ script: [PeerStep]) throws -> Divergence? {
        let location = try ConformanceTarget.Location.make()
        defer { location.remove() }
        let runner = try PeerRunner(target, location)
        defer { runner.close() }
        var reference = PeerReference(wait: target.peerWait)
        for (index, step) in script.enumerated() where reference.allows(step) {
            let expectation = reference.run(step)
            func divergence(_ expected: String, _ got: String) -> Divergence {
                Divergence(script: Array(script[...index]), expected: expected, got: got)
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

    /// The smallest script that still fails, found by leaving out steps for as long as there is time.
    func shrink(_ divergence: Divergence, limit: Duration) -> Divergence { divergence.shrunk(limit: limit, run) }
}

extension RandomProof {
    /// Runs steps of several processes, and on plain numbers: what a failure's script calls.
    ///
    /// - Throws: What differs, as ``ConformanceFailure``.
    public static func replay(_ script: [PeerStep], on target: ConformanceTarget) throws {
        guard let divergence = try PeerRound(target: target).run(script) else { return }
        throw ConformanceFailure(
            "the last of \(divergence.script.count) steps", expected: divergence.expected, got: divergence.got, file: #fileID,
            line: #line)
    }
}

extension PeerRound.Divergence {
    /// The script, as Swift to paste into a test.
    var source: String {
        "try RandomProof.replay(\n    [\n" + script.map { "        \($0.source),\n" }.joined() + "    ], on: target)"
    }
}
