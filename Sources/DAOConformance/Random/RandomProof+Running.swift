import DAOCore
import Foundation
import Synchronization

extension RandomProof {
    /// Runs random steps on a kind of database and on plain arrays, and compares what comes of each.
    ///
    /// Rounds of ``roundLength`` steps, each on an empty database of its own, until there were enough of them or one fails. Cancelling the task ends it
    /// after the round.
    ///
    /// - Parameters:
    ///   - target: The kind of database.
    ///   - seed: Makes the steps. A failure names the seed of its round, which alone repeats it.
    ///   - operations: How many steps.
    ///   - shrinkingFor: How long a failed script is made smaller at most.
    ///   - patience: How long to wait for what should come by itself, such as an observation's result. Only a failure takes as long.
    public static func run(
        on target: ConformanceTarget, seed: UInt64, operations: Int, shrinkingFor: Duration = .seconds(60),
        patience: Duration = .seconds(60)
    ) async -> RandomProofResult {
        let isCancelled = Shared(false)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // A thread of its own: the steps are synchronous, and deep conditions need a deep stack.
                let thread = Thread {
                    continuation.resume(
                        returning: run(on: target, seed, operations, shrinkingFor, patience / .seconds(1)) { isCancelled.value })
                }
                thread.name = "random proof"
                thread.stackSize = 16 << 20
                thread.start()
            }
        } onCancel: {
            isCancelled.change { $0 = true }
        }
    }

    private static func run(
        on target: ConformanceTarget, _ seed: UInt64, _ operations: Int, _ limit: Duration, _ patience: Double,
        isCancelled: () -> Bool
    ) -> RandomProofResult {
        let start = ContinuousClock.now
        var result = RandomProofResult(target: target.name, seed: seed)
        var seeds = SplitMix64(seed: seed)
        // The first round's seed is the one that was given, so that a failure's seed repeats it.
        var roundSeed = seed
        var untilPeers = 0
        let hasPeers = PeerRound.isPossible(on: target)
        while result.operations < operations, !isCancelled() {
            let steps = min(roundLength, operations - result.operations)
            var generator = Generator(seed: roundSeed)
            let script = generator.script(steps: steps)
            let replay = Replay(target: target, patience: patience)
            do {
                let ran = try replay.run(script)
                result.operations += ran.steps
                if let divergence = ran.divergence {
                    let smallest = Shrinker(replay: replay, limit: limit).shrink(divergence)
                    result.failure = RandomProofFailure(target: target.name, seed: roundSeed, operations: steps, smallest)
                }
            } catch {
                result.failure = RandomProofFailure(target: target.name, seed: roundSeed, operations: steps, error)
            }
            if result.failure == nil {
                var generator = RelationGenerator(seed: roundSeed)
                result.failure = RelationRound(target: target).failure(
                    of: generator.script(relationSteps(steps)), target: target.name, seed: roundSeed, operations: steps,
                    limit: limit)
            }
            if result.failure == nil {
                var generator = EvolutionGenerator(seed: roundSeed)
                result.failure = EvolutionRound(target: target).failure(
                    of: generator.script(evolutionSteps(steps)), target: target.name, seed: roundSeed, operations: steps,
                    limit: limit)
            }
            if hasPeers, result.failure == nil, untilPeers == 0 {
                untilPeers = roundsPerPeerRound
                result.failure = peerFailure(on: target, roundSeed, operations: steps, limit)
                result.operations += PeerRound.length
            }
            untilPeers -= 1
            if result.failure != nil { break }
            result.operations += relationSteps(steps) + evolutionSteps(steps)
            roundSeed = seeds.next()
        }
        result.duration = ContinuousClock.now - start
        return result
    }

    /// How many steps about models that refer to each other a round has beside its others: everything is compared after each.
    private static func relationSteps(_ steps: Int) -> Int { steps / 8 }

    /// How many steps in the life of a database that changes a round has beside its others.
    private static func evolutionSteps(_ steps: Int) -> Int { steps / 12 }

    /// Each seed on a target, ready to run as a test.
    ///
    /// - Parameters:
    ///   - target: The kind of database.
    ///   - seeds: The seeds, each a test.
    ///   - operations: How many steps each.
    public static func tests(
        for target: ConformanceTarget, seeds: some Sequence<UInt64>, operations: Int
    ) -> [RandomProofTest] {
        seeds.map { RandomProofTest(target: target, seed: $0, operations: operations) }
    }
}

/// What came of a run of the random proof.
public struct RandomProofResult: Sendable, CustomStringConvertible {
    /// The target's name.
    public let target: String
    /// The seed of the first round.
    public let seed: UInt64
    /// How many steps were done, those inside transactions counted too.
    public internal(set) var operations = 0
    /// How long it took.
    public internal(set) var duration: Duration = .zero
    /// Where database and arrays parted; nil when they agreed to the end.
    public internal(set) var failure: RandomProofFailure?

    init(target: String, seed: UInt64) {
        self.target = target
        self.seed = seed
    }

    /// One line, or the failure.
    public var description: String {
        failure?.description ?? "\(target): \(operations) operations from seed \(seed) agree, in \(duration)"
    }
}

/// A step on which a database and the contract part, with the smallest script that shows it.
public struct RandomProofFailure: Error, Sendable, CustomStringConvertible {
    /// The target's name.
    public let target: String
    /// The seed of the round.
    public let seed: UInt64
    /// How many steps the round has.
    public let operations: Int
    /// What the contract expects of the last step.
    public let expected: String
    /// What came.
    public let got: String
    /// How many steps the smallest script has.
    public let scriptLength: Int
    /// The smallest script, as Swift to paste into a test.
    public let script: String

    init(target: String, seed: UInt64, operations: Int, _ divergence: Replay.Divergence) {
        (self.target, self.seed, self.operations) = (target, seed, operations)
        (expected, got) = (divergence.expected.text, divergence.got.text)
        scriptLength = divergence.script.reduce(0) { $0 + $1.size }
        script = ScriptPrinter.text(of: divergence, target: target, seed: seed, operations: operations)
    }

    init<Step>(target: String, seed: UInt64, operations: Int, _ failure: FailedScript<Step>) {
        (self.target, self.seed, self.operations) = (target, seed, operations)
        (expected, got) = (failure.expected, failure.got)
        scriptLength = failure.weight
        script = failure.source
    }

    init(target: String, seed: UInt64, operations: Int, _ error: any Error) {
        (self.target, self.seed, self.operations) = (target, seed, operations)
        (expected, got, scriptLength, script) = ("an open database", "\(error)", 0, "")
    }

    /// What was expected, what came, how to repeat it, and the script.
    public var description: String {
        """
        \(target) and the contract part at seed \(seed):
          expected \(expected)
          got      \(got)
        Repeat it with RandomProof.run(on: target, seed: \(seed), operations: \(operations)), or with this script:

        \(script)
        """
    }
}

/// One seed on one target, ready to run as a test.
public struct RandomProofTest: Sendable, CustomStringConvertible {
    let target: ConformanceTarget
    /// The seed of the first round.
    public let seed: UInt64
    /// How many steps.
    public let operations: Int

    /// The target's name and the seed.
    public var description: String { "\(target.name), seed \(seed)" }

    /// Runs the steps.
    ///
    /// - Throws: ``RandomProofFailure``, with the smallest script.
    public func run() async throws {
        if let failure = await RandomProof.run(on: target, seed: seed, operations: operations).failure { throw failure }
    }
}
