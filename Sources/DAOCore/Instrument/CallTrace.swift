/// Collects what one call does, for the instruments of its database.
package final class CallTrace: Sendable {
    /// The call that runs in this task; nil when no instrument is told of it.
    @TaskLocal static var current: CallTrace?
    /// Whether the process has ever made an instrument or asked for a log. Where it has not, nothing else is looked at.
    static let isUsed = Atomic(false)
    /// The trace of the calls that an instrument makes, which are not reported.
    private static let ofInstruments = CallTrace(.transaction, nil, CallListeners(instruments: []), isSilent: true)
    /// The number of statements that a report can have.
    private static let capacity = 1_000

    private struct State {
        var waited: Duration = .zero
        var retries = 0
        var statements: [StatementReport] = []
        var pinnedBytes: Int?
        var isEnded = false
    }

    /// Whether statements are reported with their values.
    let includesValues: Bool
    private let operation: CallReport.Operation
    private let entity: String?
    private let listeners: CallListeners
    private let isSilent: Bool
    private let state = Lock(State())

    private init(_ operation: CallReport.Operation, _ entity: String?, _ listeners: CallListeners, isSilent: Bool = false) {
        self.operation = operation
        self.entity = entity
        self.listeners = listeners
        self.isSilent = isSilent
        includesValues = listeners.instruments.contains(where: \.includesValues)
    }

    /// Whether calls inside this one are reported by themselves: those of the closure of a transaction are.
    private var reportsInnerCalls: Bool {
        !isSilent && (operation == .transaction || operation == .snapshot || state.withLock { $0.isEnded })
    }

    /// The trace that statements of the calling code belong to.
    static var running: CallTrace? { isUsed.load(ordering: .relaxed) ? current : nil }

    /// Runs a call and reports it, unless it is part of another call.
    static func run<Result>(
        _ operation: CallReport.Operation, _ entity: String?, _ listeners: CallListeners, rows: (Result) -> Int?,
        _ body: () throws -> Result
    ) rethrows -> Result {
        let outer = current
        if let outer, !outer.reportsInnerCalls { return try body() }
        let trace = CallTrace(operation, entity, listeners)
        let start = ContinuousClock.now
        let isInside = AmbientTransaction.current != nil
        do {
            let result = try $current.withValue(trace, operation: body)
            trace.end(start, rows: rows(result), error: nil, isInside)
            return result
        } catch {
            trace.end(start, rows: nil, error: error, isInside)
            throw error
        }
    }

    private func end(_ start: ContinuousClock.Instant, rows: Int?, error: (any Error)?, _ isInside: Bool) {
        let duration = ContinuousClock.now - start
        let state = state.withLock { state in
            state.isEnded = true
            return state
        }
        var report = CallReport(
            operation: operation, entity: entity, duration: duration, waited: state.waited, retries: state.retries, rows: rows,
            error: error, isInsideTransaction: isInside, pinnedBytes: state.pinnedBytes)
        Self.$current.withValue(Self.ofInstruments) {
            for instrument in listeners.instruments {
                report.statements = []
                for var statement in state.statements {
                    if instrument.includesValues { statement.text = statement.textWithValues ?? statement.text }
                    statement.textWithValues = nil
                    report.statements.add(statement)
                }
                instrument.report(report)
            }
        }
    }

    // MARK: What a call does

    /// Adds a statement.
    func add(_ statement: StatementReport) {
        state.withLock { state in
            if state.statements.last?.hasSameText(as: statement) == true
                || (!state.isEnded && state.statements.count < Self.capacity)
            {
                state.statements.add(statement)
            }
        }
    }

    /// Runs a closure that may wait for others.
    @inline(__always) package static func waiting<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let running else { return try body() }
        let start = ContinuousClock.now
        defer {
            let waited = ContinuousClock.now - start
            running.state.withLock { $0.waited += waited }
        }
        return try body()
    }

    /// Notes what snapshots keep, if it is above the limit. It is measured only for a call that is reported and has a limit.
    package static func notePinned(_ bytes: @autoclosure () -> Int?) {
        guard let running, let limit = running.listeners.pinnedLimit, let bytes = bytes(), bytes > limit else { return }
        running.state.withLock { $0.pinnedBytes = bytes }
    }

    /// Counts another run of the running call.
    package static func willRunAgain() { running?.state.withLock { $0.retries += 1 } }
}

extension [StatementReport] {
    /// Adds a statement, or further runs of the last one.
    fileprivate mutating func add(_ statement: StatementReport) {
        guard let last, last.hasSameText(as: statement) else { return append(statement) }
        self[count - 1].add(statement)
    }
}

extension StatementReport {
    fileprivate func hasSameText(as other: StatementReport) -> Bool {
        text == other.text && textWithValues == other.textWithValues
    }

    /// Adds further runs of the same statement.
    fileprivate mutating func add(_ other: StatementReport) {
        runs += other.runs
        duration += other.duration
        rowsLookedAt = rowsLookedAt.flatMap { count in other.rowsLookedAt.map { count + $0 } }
        steps = steps.flatMap { count in other.steps.map { count + $0 } }
    }
}

/// Who is told of the calls of a database.
struct CallListeners: Sendable {
    /// The instrument of the configuration, and the log of the option `log`.
    var instruments: [Instrument]
    /// From how many bytes on what snapshots keep is reported; nil for never.
    var pinnedLimit: Int?
}

extension DatabaseConfiguration {
    /// Who is told of calls; nil where nobody is.
    var listeners: CallListeners? {
        guard CallTrace.isUsed.load(ordering: .relaxed) else { return nil }
        let log: Instrument? =
            switch log {
            case nil: nil
            case .slow: .slowLog
            case .all: .fullLog
            }
        let instruments = [instrument, log].compactMap { $0 }
        return instruments.isEmpty ? nil : CallListeners(instruments: instruments, pinnedLimit: pinnedLimit)
    }
}

extension Database {
    /// Runs a call that concerns the whole database, and reports it.
    func reporting<Result>(
        _ operation: CallReport.Operation, of entity: String? = nil, _ body: () throws -> Result
    ) rethrows -> Result {
        guard let listeners = configuration.listeners else { return try body() }
        return try CallTrace.run(operation, entity, listeners, rows: { _ in nil }, body)
    }
}
