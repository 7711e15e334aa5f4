import DAOConformance

/// One seed on one target, ready to run as a test.
public struct PropertyTest: Sendable, CustomStringConvertible {
    let target: ConformanceTarget
    /// The seed of the first round.
    public let seed: UInt64
    /// How many operations.
    public let operations: Int

    /// The target's name and the seed.
    public var description: String { "\(target.name), seed \(seed)" }

    /// Runs the steps.
    ///
    /// - Throws: ``PropertyTestFailure``, with the smallest script.
    public func run() async throws {
        if let failure = await PropertyTesting.run(on: target, seed: seed, operations: operations).failure { throw failure }
    }
}
