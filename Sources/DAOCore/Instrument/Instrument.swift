/// A closure that is told of every call of a database: what it did, how long it took, and the statements that it ran.
///
/// ```swift
/// var configuration = try DatabaseConfiguration(url: "sqlite:app.db")
/// configuration.instrument = Instrument { call in
///     if call.duration > .milliseconds(20) { print(call) }
/// }
/// let database = try DatabaseDrivers(.sqlite).open(configuration)
/// ```
///
/// The closure runs on the thread of the call, after the call has ended. Inside a transaction of the application the
/// transaction is still running. Calls that the closure makes are not reported. A database without an instrument measures
/// nothing.
public struct Instrument: Sendable {
    /// Whether the texts of statements have their values.
    let includesValues: Bool
    let report: @Sendable (CallReport) -> Void
    private let identity = Identity()

    /// Creates an instrument.
    ///
    /// - Parameters:
    ///   - includesValues: Whether the texts of statements have their values, which can be private, and long. SQLite databases have them.
    ///   - report: A closure that is called after every call.
    public init(includesValues: Bool = false, _ report: @escaping @Sendable (CallReport) -> Void) {
        self.includesValues = includesValues
        self.report = report
        CallTrace.isUsed.store(true, ordering: .relaxed)
    }

    /// Distinguishes instruments, whose closures cannot be compared.
    private final class Identity: Sendable {}
}

extension Instrument: Hashable {
    /// Whether both are the same instrument. Two instruments with equal closures are different.
    public static func == (left: Instrument, right: Instrument) -> Bool { left.identity === right.identity }

    /// Hashes the identity of the instrument.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
}
