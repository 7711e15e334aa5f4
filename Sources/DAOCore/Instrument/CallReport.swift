import Foundation

/// What an ``Instrument`` is told of one call of a database.
///
/// A call of a DAO is one call of its storage. What a call does inside, such as reading related rows, belongs to it. A
/// transaction is a call too: it is reported when it ends, after the calls inside it.
public struct CallReport: Sendable {
    /// What a call does.
    public enum Operation: String, Sendable, CaseIterable {
        /// Reads rows of a query.
        case read
        /// Reads rows by their keys.
        case readByKey = "read by key"
        /// Reads some fields of rows, different values, or what a total needs.
        case readFields = "read fields"
        /// Reads the keys of rows.
        case readKeys = "read keys"
        /// Counts rows.
        case count
        /// Groups rows.
        case group
        /// Opens a stream, or reads its next rows.
        case stream
        /// Explains a query.
        case explain
        /// Stores new rows.
        case insert
        /// Stores or replaces rows.
        case upsert
        /// Merges values into rows.
        case merge
        /// Changes the rows of a query.
        case update
        /// Sets a field of rows.
        case set
        /// Erases rows.
        case erase
        /// Runs a transaction of the application.
        case transaction
        /// Runs a snapshot of the application.
        case snapshot
        /// Opens the storage of a model, which may create or change its entity.
        case open
        /// Migrates the database.
        case migrate
        /// Copies rows to another database.
        case copy
        /// Verifies the database.
        case verify
        /// Copies the database into a file.
        case backup
        /// Makes the file smaller.
        case compact
        /// Gives up the locks on the files.
        case suspend
    }

    /// What the call did.
    public var operation: Operation
    /// The entity of the call; nil for a call that concerns the whole database.
    public var entity: String?
    /// How long the call took, ``waited`` included.
    public var duration: Duration
    /// How long it waited for other writers, or for readers to end.
    public var waited: Duration
    /// How often it ran again, because the store had to grow or another process changed an entity.
    public var retries: Int
    /// The number of rows that the call returned or stored; nil where it does not tell.
    public var rows: Int?
    /// What the engine ran, in order. Equal statements one after the other are one report, and a call has at most 1,000.
    public var statements: [StatementReport]
    /// The error that the call threw; nil when it succeeded.
    public var error: (any Error)?
    /// Whether the call ran inside a transaction or snapshot of the application.
    public var isInsideTransaction: Bool
    /// How many bytes of the file (LMDB) or of its log (SQLite) cannot be used again because of snapshots, where they are more than
    /// the option `pinnedLimit`; nil otherwise. For a stream and a snapshot it is what was written since their snapshot began;
    /// for a write it is what the snapshots of all processes keep, on SQLite above the few megabytes that its log has in any case.
    public var pinnedBytes: Int?

    /// Creates a report.
    public init(
        operation: Operation, entity: String? = nil, duration: Duration, waited: Duration = .zero, retries: Int = 0,
        rows: Int? = nil, statements: [StatementReport] = [], error: (any Error)? = nil, isInsideTransaction: Bool = false,
        pinnedBytes: Int? = nil
    ) {
        self.operation = operation
        self.entity = entity
        self.duration = duration
        self.waited = waited
        self.retries = retries
        self.rows = rows
        self.statements = statements
        self.error = error
        self.isInsideTransaction = isInsideTransaction
        self.pinnedBytes = pinnedBytes
    }

    /// The number of rows that the engine looked at; nil when it does not tell for each statement, or tells of no statement.
    public var rowsLookedAt: Int? {
        statements.isEmpty
            ? nil
            : statements.reduce(0 as Int?) { sum, statement in sum.flatMap { sum in statement.rowsLookedAt.map { sum + $0 } } }
    }
}

/// One statement of a call: SQL, or the access of a key-value database.
public struct StatementReport: Sendable, Hashable {
    /// The text of the SQL statement, with its values only when the instrument asks for them; for a key-value database the
    /// entity and the ``QueryPlan``.
    public var text: String
    /// How often the statement ran.
    public var runs: Int
    /// The number of rows and entries of indexes that were read, whether or not they matched; nil when the engine does not
    /// tell, as SQLite.
    public var rowsLookedAt: Int?
    /// The engine's own measure of its work; nil when it has none. SQLite counts the instructions of its virtual machine.
    public var steps: Int?
    /// The text with its values, until the report is given to an instrument.
    var textWithValues: String?
    /// How long the runs took, what the library did with their rows included.
    public var duration: Duration

    /// Creates a report.
    public init(text: String, runs: Int = 1, rowsLookedAt: Int? = nil, steps: Int? = nil, duration: Duration) {
        self.text = text
        self.runs = runs
        self.rowsLookedAt = rowsLookedAt
        self.steps = steps
        self.duration = duration
    }
}

extension CallReport: CustomStringConvertible {
    /// One line for the call, and an indented line for each statement.
    public var description: String {
        var line = operation.rawValue
        if let entity { line += " \(entity)" }
        if let rows { line += ", \(rows) \(rows == 1 ? "row" : "rows")" }
        line += ", \(Self.text(duration))"
        if waited > .microseconds(100) { line += " (\(Self.text(waited)) of it waiting)" }
        if retries > 0 { line += ", \(retries + 1) runs" }
        if let pinnedBytes { line += ", \(pinnedBytes >> 20) MiB kept by snapshots" }
        if let error { line += ", failed: \(error)" }
        // Of many statements, the slowest ones say where the time has gone.
        let many = 12
        let slowest = statements.indices.sorted { statements[$0].duration > statements[$1].duration }.prefix(many)
        for place in slowest.sorted() { line += "\n    " + "\(statements[place])".replacing("\n", with: "\n    ") }
        if statements.count > many {
            let shown = Set(slowest)
            let rest = statements.indices.filter { !shown.contains($0) }.map { statements[$0].duration }
            line += "\n    and \(rest.count) more, \(Self.text(rest.reduce(.zero, +)))"
        }
        return line
    }

    /// Returns a duration with three digits, in a unit that suits it.
    static func text(_ duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        let (value, unit) = seconds >= 1 ? (seconds, "s") : seconds >= 1e-3 ? (seconds * 1e3, "ms") : (seconds * 1e6, "µs")
        let digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
        return String(format: "%.\(digits)f ", value) + unit
    }
}

extension StatementReport: CustomStringConvertible {
    /// The text, then what is known of its runs.
    public var description: String {
        var facts = [CallReport.text(duration)]
        if runs != 1 { facts.insert("\(runs) runs", at: 0) }
        if let rowsLookedAt { facts.append("\(rowsLookedAt) \(rowsLookedAt == 1 ? "row" : "rows") looked at") }
        if let steps { facts.append("\(steps) steps") }
        return text + " (\(facts.joined(separator: ", ")))"
    }
}
