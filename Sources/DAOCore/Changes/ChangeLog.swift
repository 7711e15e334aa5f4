import Foundation

/// The log of changes of a database, for the storages that write (contract D1).
struct ChangeLog {
    let rows: any Storage<ChangeRow>

    /// A change before it has a position.
    struct Entry {
        var key: Key
        var kind: Change.Kind
        var before: String?
        var after: String?
    }

    init(rows: any Storage<ChangeRow>) { self.rows = rows }

    init(_ database: any Database) throws { rows = try database.makeStorage(for: ChangeRow.self) }

    /// Adds changes of rows of an entity, in their order. It runs in the transaction that makes the changes.
    func add(_ entries: [Entry], of entity: String) throws {
        if entries.isEmpty { return }
        let running = AmbientTransaction.usable(of: rows.database.engineState)?.outermost(of: rows.database.engineState)
        var transaction: LoggedTransaction
        if let known = running?.logged {
            transaction = known
        } else {
            transaction = try LoggedTransaction(rows.database)
        }
        // What was undone since gives its positions back, where transactions run one after another.
        let start = try transaction.next ?? (last() ?? 0) + 1
        if transaction.first == 0 { transaction.first = start }
        if transaction.next != nil {
            transaction.next = try LoggedTransaction.end(of: entries.count, from: start, "logs", entity)
        }
        running?.logged = transaction
        let (first, origin) = (min(transaction.first, start), ChangeOrigin.current)
        try rows.insert(
            entries.enumerated().map { offset, entry in
                ChangeRow(
                    position: start + Int64(offset), first: first, mark: transaction.mark, date: transaction.date,
                    origin: origin, entity: entity, key: UniqueID(entry.key).rawValue, kind: entry.kind.rawValue,
                    before: entry.before, after: entry.after)
            })
        if isTurn(to: start + Int64(entries.count), entries.count, transaction) { try trim() }
    }

    /// The position of the last change; nil when there is none.
    func last() throws -> Int64? {
        let keys = try rows.keys(Query(orderedBy: [.descending(\.position)], limit: 1))
        guard case .integer(let number)? = keys.first else { return nil }
        return number
    }
}

extension Database {
    /// Puts the changes of a log before those that the database adds. Where it was restored into a cluster whose transactions have smaller
    /// numbers, they would come after these, and nobody could read them (contract D2). Positions of consumers go with them.
    ///
    /// - Complexity: O(1), and once O(*changes*).
    func alignLog() throws {
        // Those of the log first: others begin meanwhile.
        func distance() throws -> Int64? {
            guard let last = try ChangeLog(self).last(), let bound = try numberBound(), last >= bound else { return nil }
            return try LoggedTransaction.distance(from: last, below: bound)
        }
        if try distance() == nil { return }
        try withEntityStore(.write) { _ in
            try runTransaction { if let distance = try distance() { try ChangeLog(self).lower(by: distance) } }
        }
    }
}

extension ChangeLog {
    /// Lowers all positions by the same number.
    fileprivate func lower(by distance: Int64) throws {
        var place = Int64.min
        while true {
            let query = Query<ChangeRow>(where: Condition { [place] in $0.position > place }, limit: 1000)
            var batch = try rows.read(query)
            guard let end = batch.last?.position else { break }
            _ = try rows.erase(keys: batch.map { .integer($0.position) })
            for index in batch.indices {
                batch[index].position -= distance
                batch[index].first -= distance
            }
            try rows.insert(batch)
            place = end
        }
        _ = try rows.database.storedRows(of: ConsumerRow.self)?.update(Query(where: Condition { $0.number > .min })) {
            $0.number -= distance
        }
    }
}

/// What the changes of one transaction have in common.
struct LoggedTransaction {
    /// The position of the first change; zero before it.
    var first: Int64 = 0
    /// The next position, where the transaction has positions of its own; nil where they follow those of the transactions before.
    var next: Int64?
    let mark = UUID()
    let date = Date()

    /// The bits of a position that number the changes of one transaction, where transactions have numbers.
    private static let bits: Int64 = 24

    /// Begins to log the running transaction of a database.
    init(_ database: any Database) throws {
        guard let number = try (database as? any LogAwareDatabase)?.logNumber() else { return }
        next = Self.firstPosition(number)
    }

    /// The first position of a transaction with a number.
    static func firstPosition(_ number: Int64) -> Int64 { number << bits }

    /// Returns by how much a position is lowered to be below another one, in whole transactions.
    ///
    /// - Throws: `.corrupted` when positions could get below all.
    static func distance(from position: Int64, below end: Int64) throws -> Int64 {
        let (distance, isFar) = ((position >> bits) - (end >> bits) + 1).multipliedReportingOverflow(by: 1 << bits)
        if isFar || position < 0 || end < 0 {
            throw StorageError(.corrupted, "the log of changes has a position that no transaction has", entity: "dao_changes")
        }
        return distance
    }

    /// Returns the number after some numbers of one transaction, which begin with its own number.
    ///
    /// - Parameter use: What the transaction does with the numbers, for the error.
    /// - Throws: `.unsupported` when the transaction has no more numbers.
    static func end(of count: Int, from start: Int64, _ use: String, _ entity: String? = nil) throws -> Int64 {
        let end = start + Int64(count)
        // The first number of another transaction is not even the end.
        guard end >> bits == start >> bits else {
            throw StorageError(
                .unsupported, "a transaction of this database \(use) at most \((1 << bits) - 1) rows; use several", entity: entity
            )
        }
        return end
    }
}

extension AmbientTransaction {
    /// Runs a closure whose writes are logged by whoever calls them.
    static func logging<Result>(in engine: EngineState, _ body: () throws -> Result) rethrows -> Result {
        guard let running = usable(of: engine) else { return try body() }
        let before = running.isLogging
        running.isLogging = true
        defer { running.isLogging = before }
        return try body()
    }
}

extension EngineState {
    /// Refuses to write rows whose changes are logged, unless the caller logs them.
    ///
    /// - Throws: ``LoggedEntity``; `.detached` when another database has taken over the rows.
    @inline(__always) package func checkLog(of entity: EntityDescription) throws {
        // Only logged entities move.
        if entity.log != nil || entity.textIndex != nil { try checkLogged(entity) }
    }

    @inline(never) private func checkLogged(_ entity: EntityDescription) throws {
        try EntityDescription.checkPlace(of: [entity])
        if AmbientTransaction.usable(of: self)?.isLogging != true { throw LoggedEntity() }
    }
}

/// The rows that a storage was asked to write are logged: nothing was written, and no closure was called. ``LoggedStorage`` writes them.
package struct LoggedEntity: Error {}

/// Who asks for the changes of a call.
enum ChangeOrigin {
    @TaskLocal static var current: String?
}

extension Database {
    /// Runs a closure whose changes are logged with an origin, such as the user who asks for them (contract D1).
    ///
    /// ```swift
    /// try database.withOrigin(user.name) { try bills.persist(bill) }
    /// ```
    ///
    /// The closure is synchronous. In an asynchronous function, call this one inside of `database.transaction`.
    ///
    /// - Parameters:
    ///   - origin: The origin, which ``Change/origin`` has.
    ///   - body: The closure.
    /// - Returns: The result of the closure.
    public func withOrigin<Result>(_ origin: String, _ body: () throws -> Result) rethrows -> Result {
        try ChangeOrigin.$current.withValue(origin, operation: body)
    }
}

extension EntityDescription {
    /// Throws `.detached` when another database has taken over the rows of one of some entities.
    package static func checkPlace(of entities: [EntityDescription], path: String? = nil) throws {
        if let place = entities.lazy.compactMap(\.movedTo).first { throw StorageError.moved(to: place, path: path) }
    }
}
