import Foundation

/// A change of a row, as the log has it (contract D1).
///
/// ```swift
/// for change in try database.changes(after: last, limit: 1000) {
///     print(change.entity, change.key, change.kind)
///     last = change.position
/// }
/// ```
public struct Change: Sendable, Hashable {
    /// What happened to a row.
    public enum Kind: Int, Sendable, Hashable, Codable {
        /// The row is new.
        case inserted
        /// Fields of the row, or its lists, have changed.
        case updated
        /// The row is gone.
        case erased
    }

    /// The place in the log. It is greater than that of every change before it.
    public var position: LogPosition
    /// The position of the first change that its transaction has logged: the same for all changes of one transaction.
    public var transaction: Int64
    /// When its transaction logged the first change.
    public var date: Date
    /// Who has asked for the change, as ``Database/withOrigin(_:_:)`` and ``Database/apply(_:origin:)`` say; nil when nobody said so.
    public var origin: String?
    /// The name of the entity.
    public var entity: String
    /// The key of the row.
    public var key: UniqueID
    /// What happened.
    public var kind: Kind
    /// The values before the change; nil where the log does not keep them, and for a new row.
    public var before: [String: Value]?
    /// The values after the change: all of them, or those of the fields that an update has changed. Nil where the log does not keep
    /// them, and for an erased row.
    public var after: [String: Value]?
    /// The lists that have changed, by name.
    public var lists: [String: List]

    /// A change of a list of rows.
    public struct List: Sendable, Hashable {
        /// The keys of its rows before the change; nil where the log does not keep them.
        public var before: [UniqueID]?
        /// The keys of its rows after the change; nil where the log does not keep them.
        public var after: [UniqueID]?
    }
}

/// A place in the log of changes of a database.
public struct LogPosition: Sendable, Hashable, Comparable, LosslessStringConvertible, Codable {
    /// The number of the change.
    let number: Int64
    /// The mark of its transaction.
    let mark: UUID

    init(number: Int64, mark: UUID) { (self.number, self.mark) = (number, mark) }

    /// The place before every change, of a consumer that has seen none.
    package static let beginning = LogPosition(
        number: .min, mark: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))

    /// Reads the text of a position; nil for another text.
    public init?(_ description: String) {
        let parts = description.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let number = Int64(parts[0]), let mark = UUID(uuidString: String(parts[1])) else { return nil }
        self.init(number: number, mark: mark)
    }

    /// The position as text, which a consumer can store.
    public var description: String { "\(number).\(mark.uuidString)" }

    /// Whether a change of the same log comes before another one.
    public static func < (left: LogPosition, right: LogPosition) -> Bool { left.number < right.number }

    /// Decodes the text of a position.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let position = LogPosition(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "a position in a log of changes was expected")
        }
        self = position
    }

    /// Encodes the position as its text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension Database {
    /// Returns the changes of logged entities, in the order of their commits (contract D1).
    ///
    /// - Parameters:
    ///   - position: The position of the last change that was read; nil to begin with the oldest one.
    ///   - limit: The maximum number of changes. It can cut a transaction, whose other changes then follow.
    ///   - entities: The names of the entities; nil for all.
    ///   - keepsTransactions: Whether the last transaction is read to its end, beyond the limit, as ``apply(_:origin:)`` needs it.
    /// - Throws: `.snapshotTooOld` when the log does not reach back to the position, or when it is of another history: after a
    ///   fail-over that lost commits, or a backup that was restored. Whoever follows the log then copies the rows again.
    public func changes(
        after position: LogPosition? = nil, limit: Int? = nil, of entities: Set<String>? = nil, keepsTransactions: Bool = false
    ) throws -> [Change] {
        try readChanges(after: position, limit: limit, of: entities, keepsTransactions: keepsTransactions).changes
    }

    /// Reads changes.
    ///
    /// - Returns: The changes, and whether others wait for a transaction that has begun before them and has not ended.
    fileprivate func readChanges(
        after position: LogPosition?, limit: Int?, of entities: Set<String>?, keepsTransactions: Bool = false
    ) throws -> (changes: [Change], isHeldBack: Bool) {
        // A database that has never logged has no entity for it.
        let name = ChangeRow.schema.description.name
        // Whoever follows the log hears of its first change, too.
        ObservedReads.current?.willRead(TouchedEntities(names: [name]), in: engineState)
        return try snapshot {
            guard let rows = try storedRows(of: ChangeRow.self) else {
                if let position { throw StorageError.behindLog(position) }
                return ([], false)
            }
            if let position {
                guard try rows.read(key: .integer(position.number))?.mark == position.mark else {
                    throw StorageError.behindLog(position)
                }
            }
            let start = position?.number ?? .min
            var condition = Condition<ChangeRow> { $0.position > start }
            var isHeldBack = false
            if let end = try logEnd() {
                condition = condition && Condition { $0.position < end }
                isHeldBack = try rows.count(Query(where: Condition { $0.position >= end }, limit: 1)) > 0
            }
            if let names = entities.map({ Array($0) }) { condition = condition && Condition { $0.entity.in(names) } }
            var found = try rows.read(Query(where: condition, limit: limit))
            while keepsTransactions, let limit, found.count >= max(limit, 1), let last = found.last {
                let (position, count) = (last.position, found.count)
                let next = try rows.read(Query(where: condition && Condition { $0.position > position }, limit: 1000))
                found += next.prefix { $0.first == last.first }
                if found.count < count + 1000 { break }
            }
            return (try found.map { try Change($0) }, isHeldBack)
        }
    }

    /// Returns the position of the last change that can be read; nil when there is none.
    func lastChange() throws -> LogPosition? {
        try snapshot {
            guard let rows = try storedRows(of: ChangeRow.self) else { return nil }
            let end = try logEnd() ?? .max
            let query = Query<ChangeRow>(where: Condition { $0.position < end }, orderedBy: [.descending(\.position)], limit: 1)
            return try rows.read(query).first.map { LogPosition(number: $0.position, mark: $0.mark) }
        }
    }

    /// The position that changes are read below; nil where all that are committed can be read.
    private func logEnd() throws -> Int64? {
        try (self as? any LogAwareDatabase)?.logHorizon().map { LoggedTransaction.firstPosition($0.ended) }
    }

    /// Returns the number of committed changes that cannot be read yet: on PostgreSQL, those of transactions that began after one
    /// that has not ended (contract D2). Zero on every other database.
    public func pendingChanges() throws -> Int {
        try snapshot {
            guard let end = try logEnd(), let rows = try storedRows(of: ChangeRow.self) else { return 0 }
            return try rows.count(Query(where: Condition { $0.position >= end }))
        }
    }
}

extension Database {
    /// Returns the changes after a position, and then those of every commit, of other processes too, in their order (contract D3).
    ///
    /// ```swift
    /// for try await changes in database.followChanges(after: last) {
    ///     for change in changes { try await index.update(change) }
    ///     try database.acknowledge(changes.last!.position, by: "index")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - position: The position of the last change that was read; nil to begin with the oldest one.
    ///   - entities: The names of the entities; nil for all.
    /// - Returns: Changes, at most a thousand at a time. The sequence throws as ``changes(after:limit:of:keepsTransactions:)`` does, and ends with an error.
    public func followChanges(after position: LogPosition? = nil, of entities: Set<String>? = nil) -> ValueObservation<[Change]> {
        ValueObservation(self) {
            let last = Lock(position)
            let most = 1000
            return {
                let (changes, isHeldBack) = try self.readChanges(after: last.withLock { $0 }, limit: most, of: entities)
                let signal = ObservedReads.current?.signal
                // What follows a full page waits for no commit, and what waits for the end of another transaction for no more.
                if changes.count == most {
                    signal?.raise()
                } else if isHeldBack, let signal {
                    Task.detached {
                        try? await Task.sleep(for: .milliseconds(50))
                        signal.raise()
                    }
                }
                guard let end = changes.last else { return nil }
                last.withLock { $0 = end.position }
                return changes
            }
        }
    }
}

extension Change {
    init(_ row: ChangeRow) throws {
        guard let kind = Kind(rawValue: row.kind) else {
            throw StorageError(
                .corruptedValue, "a change in the log is of an unknown kind; open the database with a newer build",
                entity: row.entity,
                key: UniqueID(row.key))
        }
        let key = UniqueID(row.key)
        let before = try row.before.map { try ChangedValues.contents($0, entity: row.entity, key: key) }
        let after = try row.after.map { try ChangedValues.contents($0, entity: row.entity, key: key) }
        let lists = after?.lists ?? [:]
        self.init(
            position: LogPosition(number: row.position, mark: row.mark), transaction: row.first, date: row.date,
            origin: row.origin, entity: row.entity, key: key, kind: kind,
            // A change of a list has no values, which is not to have lost them.
            before: before.flatMap { $0.values.isEmpty ? nil : $0.values },
            after: after.flatMap { $0.values.isEmpty ? nil : $0.values },
            lists: Dictionary(
                uniqueKeysWithValues: lists.map { name, keys in
                    (name, List(before: before?.lists[name] ?? nil, after: keys))
                }))
    }
}

extension StorageError {
    /// The error of a position that the log does not have.
    static func behindLog(_ position: LogPosition) -> StorageError {
        StorageError(
            .snapshotTooOld,
            "the log of changes does not have the position \(position): it was trimmed, or the database is of another history; copy the "
                + "rows again, and follow the log from there")
    }
}
