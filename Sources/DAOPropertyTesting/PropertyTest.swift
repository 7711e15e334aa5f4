import DAOConformance
import DAOTestSupport

/// One seed on one target, ready to run as a test.
public struct PropertyTest: Sendable, CustomStringConvertible {
    let target: ConformanceTarget
    /// The seed of the first round.
    public let seed: UInt64
    /// How many operations.
    public let operations: Int

    /// The target's name and the seed.
    public var description: String { "\(target.name), seed \(seed)" }

    /// Runs the steps. How many are done is said on standard error from time to time.
    ///
    /// - Throws: ``PropertyTestFailure``, with the smallest script.
    public func run() async throws {
        let round = Shared((done: 0, seed: seed))
        let progress = ProgressLine(isTerminal: false, every: 30) {
            let (done, roundSeed) = round.value
            return "\(description): \(done) of \(operations) operations, now those of seed \(roundSeed)"
        }
        defer { progress.end() }
        let report = await PropertyTesting.run(on: target, seed: seed, operations: operations) { done, seed in
            round.change { $0 = (done, seed) }
        }
        if let failure = report.failure { throw failure }
    }
}
