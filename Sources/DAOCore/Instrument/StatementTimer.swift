/// Measures one statement of an engine for the instruments of the running call. A backend uses it.
///
/// ```swift
/// let timer = StatementTimer.begin()
/// let rows = try runStatement()
/// timer?.end("SELECT * FROM message", rowsLookedAt: rows.count)
/// ```
public final class StatementTimer: Sendable {
    // A class, so that where no instrument is told, as in nearly every read, the timer is a pointer that is nil.
    private let trace: CallTrace
    private let start = ContinuousClock.now

    /// Whether any instrument exists in this process.
    public static var isUsed: Bool { CallTrace.isUsed.load(ordering: .relaxed) }

    /// Begins to measure.
    ///
    /// - Returns: Nil when no instrument is told of the running call. It then takes a few nanoseconds.
    public static func begin() -> StatementTimer? { CallTrace.running.map(StatementTimer.init) }

    private init(trace: CallTrace) { self.trace = trace }

    /// Whether an instrument asks for the text of the statement with its values.
    public var includesValues: Bool { trace.includesValues }

    /// Reports the statement.
    ///
    /// - Parameters:
    ///   - text: The text of the statement.
    ///   - textWithValues: The text with its values, for the instruments that ask for them; nil when it has none.
    ///   - runs: How often the statement ran.
    ///   - rowsLookedAt: The number of rows and entries of indexes that were read; nil when it is not known.
    ///   - steps: The engine's own measure of its work; nil when it has none.
    public func end(
        _ text: String, withValues textWithValues: String? = nil, runs: Int = 1, rowsLookedAt: Int? = nil, steps: Int? = nil
    ) {
        var statement = StatementReport(
            text: text, runs: runs, rowsLookedAt: rowsLookedAt, steps: steps, duration: ContinuousClock.now - start)
        statement.textWithValues = textWithValues
        trace.add(statement)
    }
}
