import DAOCore
import Foundation

extension RandomProof {
    /// Where the target has peers, one of so many rounds has steps of several processes beside its others, the first round always: they cost more
    /// than all others.
    static let roundsPerPeerRound = 8

    /// Runs random steps of several processes, and nothing else, on a target that has peers.
    ///
    /// - Parameters:
    ///   - target: The kind of database.
    ///   - seed: Makes the steps of the first round. A failure names the seed of its round, which alone repeats it.
    ///   - rounds: How many rounds, each on an empty database of its own.
    ///   - shrinkingFor: How long a failed script is made smaller at most.
    public static func runPeers(
        on target: ConformanceTarget, seed: UInt64, rounds: Int, shrinkingFor: Duration = .seconds(60)
    ) async -> RandomProofResult {
        await withCheckedContinuation { continuation in
            // A thread of its own: the steps wait for other processes.
            Thread.detachNewThread {
                let start = ContinuousClock.now
                var result = RandomProofResult(target: target.name, seed: seed)
                var seeds = SplitMix64(seed: seed)
                var roundSeed = seed
                for _ in 0..<rounds where result.failure == nil {
                    result.failure = peerFailure(on: target, roundSeed, operations: 1, shrinkingFor)
                    result.operations += PeerRound.length
                    roundSeed = seeds.next()
                }
                result.duration = ContinuousClock.now - start
                continuation.resume(returning: result)
            }
        }
    }

    /// Runs the steps of a round about several processes.
    static func peerFailure(
        on target: ConformanceTarget, _ seed: UInt64, operations: Int, _ limit: Duration
    ) -> RandomProofFailure? {
        var generator = PeerGenerator(seed: seed, for: target)
        return PeerRound(target: target).failure(
            of: generator.script(PeerRound.length), target: target.name, seed: seed, operations: operations, limit: limit)
    }
}
