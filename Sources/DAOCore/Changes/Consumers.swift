import Foundation

/// How many changes the log keeps, as a row of an entity (contract D4).
struct LogLimitRow: OwnModel {
    /// 0, or ``trimmed``.
    var id: Int
    /// The number of changes; nil for all.
    var changes: Int?
    /// The seconds after which changes go; nil for never.
    var age: Double?

    /// The key of a row that says that changes were erased which a consumer may not have seen, behind which no other one may be left that
    /// would say so.
    static let trimmed = 1

    static let schema = Schema(
        "dao_loglimit", Self.init, Field("id", \.id, .primaryKey), Field("changes", \.changes), Field("age", \.age))
}

/// How many changes the log keeps, whether or not consumers have seen them (contract D4).
public struct ChangeLimit: Sendable, Hashable {
    /// The number of changes; nil for all.
    public var count: Int?
    /// The time after which a change goes; nil for none.
    public var age: Duration?

    /// Creates a limit.
    public init(count: Int? = nil, age: Duration? = nil) { (self.count, self.age) = (count, age) }

    /// What counts where nothing was said.
    static let standard = ChangeLimit(count: 1_000_000)
}

/// How far a consumer of the log of changes has come (contract D4).
public struct LogConsumer: Sendable, Hashable {
    /// The name that it has given itself.
    public var name: String
    /// The position of the last change that it has acknowledged.
    public var position: LogPosition
    /// When it has acknowledged it.
    public var date: Date
}

extension Database {
    /// Notes that a consumer has seen all changes up to a position, and trims the log to the slowest consumer (contract D4).
    ///
    /// In the transaction of its effect, a consumer sees every change exactly once. Otherwise it sees those again that came after its
    /// last acknowledgement.
    ///
    /// - Parameters:
    ///   - position: The position of the last change that was seen. One that is not after the acknowledged one changes nothing.
    ///   - consumer: The name of the consumer.
    /// - Throws: `.snapshotTooOld` when the log does not have the position.
    public func acknowledge(_ position: LogPosition, by consumer: String) throws {
        try transaction {
            let rows = try makeStorage(for: ChangeRow.self)
            guard try rows.read(key: .integer(position.number))?.mark == position.mark else {
                throw StorageError.behindLog(position)
            }
            let consumers = try makeStorage(for: ConsumerRow.self)
            let known = try consumers.read(key: .string(consumer))
            // One of another history is not ahead.
            if let known, known.number >= position.number, try rows.read(key: .integer(known.number))?.mark == known.mark {
                return
            }
            try consumers.upsert([ConsumerRow(name: consumer, number: position.number, mark: position.mark, date: Date())])
            guard let slowest = try consumers.read(Query()).map(\.number).min() else { return }
            _ = try rows.erase(Query(where: Condition { $0.position < slowest }))
        }
    }

    /// Notes a consumer that has seen no change: the log keeps all that come.
    func hold(for consumer: String) throws {
        try transaction {
            let start = LogPosition.beginning
            try makeStorage(for: ConsumerRow.self).upsert([
                ConsumerRow(name: consumer, number: start.number, mark: start.mark, date: Date())
            ])
        }
    }

    /// Whether changes were ever erased that a consumer may not have seen.
    func hasTrimmed() throws -> Bool {
        try storedRows(of: LogLimitRow.self)?.contains(key: .integer(Int64(LogLimitRow.trimmed))) ?? false
    }

    /// Returns the consumers that have acknowledged changes, by name.
    public func logConsumers() throws -> [LogConsumer] {
        try snapshot {
            try (storedRows(of: ConsumerRow.self)?.read(Query()) ?? []).map {
                LogConsumer(name: $0.name, position: LogPosition(number: $0.number, mark: $0.mark), date: $0.date)
            }
        }
    }

    /// Forgets a consumer, so that the log no longer waits for it.
    ///
    /// - Returns: Whether it was known.
    @discardableResult public func forgetConsumer(_ name: String) throws -> Bool {
        try transaction {
            try (storedRows(of: ConsumerRow.self)?.erase(keys: [.string(name)]) ?? 0) > 0
        }
    }

    /// Erases the changes before a date, whether or not consumers have seen them (contract D4).
    ///
    /// The last change always stays, so that positions never repeat.
    ///
    /// - Returns: The number of erased changes.
    @discardableResult public func trimChanges(before date: Date) throws -> Int {
        try transaction {
            guard let log = try storedRows(of: ChangeRow.self).map(ChangeLog.init(rows:)), let last = try log.last() else {
                return 0
            }
            let count = try log.rows.erase(Query(where: Condition { $0.date < date && $0.position < last }))
            if count > 0 { try log.noteTrim() }
            return count
        }
    }

    /// Returns how many changes the log keeps: one million where ``limitChanges(to:age:)`` has never said anything else.
    public func changeLimit() throws -> ChangeLimit {
        try snapshot {
            guard let row = try storedRows(of: LogLimitRow.self)?.read(key: .integer(0)) else { return .standard }
            return ChangeLimit(count: row.changes, age: row.age.map { .seconds($0) })
        }
    }

    /// Sets how many changes the log keeps, for every process and build: those beyond it are erased now, and then by whoever commits, now and
    /// then (contract D4). A consumer that has not seen them then gets `.snapshotTooOld`.
    ///
    /// ```swift
    /// try database.limitChanges(to: nil, age: .seconds(90 * 86_400))
    /// ```
    ///
    /// - Parameters:
    ///   - count: The number; nil to keep all.
    ///   - age: How old a change gets; nil for any age. Every process that writes looks every ten minutes, and after 10,000 changes.
    /// - Throws: `.invalidConfiguration` for a number below one, and an age of zero or less.
    public func limitChanges(to count: Int?, age: Duration? = nil) throws {
        if let count, count < 1 {
            throw StorageError(
                .invalidConfiguration, "a log of \(count) changes has none; use a number from one, or nil to keep all")
        }
        if let age, age <= .zero {
            throw StorageError(
                .invalidConfiguration, "a log of changes that are \(age) old has none; use a longer time, or nil for any age")
        }
        try transaction {
            try makeStorage(for: LogLimitRow.self).upsert([
                LogLimitRow(id: 0, changes: count, age: age.map { $0 / .seconds(1) })
            ])
            try storedRows(of: ChangeRow.self).map(ChangeLog.init(rows:))?.trim()
        }
    }
}

extension ChangeLog {
    /// The number of changes after which whoever logs looks at the limit. To look costs as much as some hundred changes on PostgreSQL.
    static let stretch: Int64 = 10_000

    /// How long a process writes before it looks at the limit, however little it logs.
    static let period = Duration.seconds(600)

    /// Whether it is time to look, after some changes up to a position.
    func isTurn(to end: Int64, _ count: Int, _ transaction: LoggedTransaction) -> Bool {
        let engine = rows.database.engineState
        let isLate = engine.lookedAtLog.withLock { last in
            let now = ContinuousClock.now
            if now - last < Self.period { return false }
            last = now
            return true
        }
        if isLate { return true }
        if transaction.next == nil { return (end - Int64(count)) / Self.stretch != end / Self.stretch }
        // Positions have gaps. A process that ends before it has logged so much looks as often as the others.
        let logged = engine.logged.add(count, ordering: .relaxed).newValue
        return logged >= Self.stretch || Int64.random(in: 0..<Self.stretch) < count
    }

    /// Erases the changes beyond the limit, in a transaction.
    func trim() throws {
        rows.database.engineState.logged.store(0, ordering: .relaxed)
        let limit = try rows.database.changeLimit()
        guard let last = try last() else { return }
        var erased = 0
        if let count = limit.count {
            var first = last &- Int64(count) &+ 1
            if try rows.database.numberBound() != nil {
                // Positions have gaps.
                let query = Query<ChangeRow>(orderedBy: [.descending(\.position)], limit: 1, offset: count - 1)
                first = if case .integer(let oldest)? = try rows.keys(query).first { oldest } else { .min }
            }
            erased += try rows.erase(Query(where: Condition { [first] in $0.position < first }))
        }
        if let age = limit.age {
            let date = Date(timeIntervalSinceNow: -(age / .seconds(1)))
            // From the oldest one on: a look at all would cost as much as to read the log.
            while true {
                let oldest = try rows.read(Query(limit: 1000)).prefix { $0.date < date && $0.position < last }
                erased += try rows.erase(keys: oldest.map { .integer($0.position) })
                if oldest.count < 1000 { break }
            }
        }
        if erased > 0 { try noteTrim() }
    }

    /// Notes that changes were erased which a consumer may not have seen.
    fileprivate func noteTrim() throws {
        try rows.database.makeStorage(for: LogLimitRow.self).upsert([LogLimitRow(id: LogLimitRow.trimmed)])
    }
}
