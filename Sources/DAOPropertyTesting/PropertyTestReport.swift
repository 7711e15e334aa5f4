/// The outcome of a run of property-based tests.
public struct PropertyTestReport: Sendable, CustomStringConvertible {
    /// The target's name.
    public let target: String
    /// The seed of the first round.
    public let seed: UInt64
    /// How many steps were run, those inside transactions counted too.
    public internal(set) var operations = 0
    /// How long it took.
    public internal(set) var duration: Duration = .zero
    /// Where database and reference model differ; nil when they agree to the end.
    public internal(set) var failure: PropertyTestFailure?

    init(target: String, seed: UInt64) {
        self.target = target
        self.seed = seed
    }

    /// One line, or the failure.
    public var description: String {
        failure?.description ?? "\(target): \(operations) operations from seed \(seed) agree, in \(duration)"
    }
}
