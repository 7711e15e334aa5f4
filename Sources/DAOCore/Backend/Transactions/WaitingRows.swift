/// A row of a call that has a unique value of another row, and waits for the end of the call (contract W6).
package protocol WaitingRow: AnyObject {
    /// The entity.
    var entity: String { get }
    /// The key.
    var key: Key { get }
    /// Takes the row out of the unique indexes, where the engine does not let two rows collide for a moment.
    func release() throws
    /// Stores the row.
    ///
    /// - Throws: `.uniqueViolation` when it still collides with a row that does not wait.
    func store() throws
}

/// The rows of one call that wait for its end.
///
/// A call of a storage has such a list when one of its rows has to wait. The calls of storages that make up a larger call, such as
/// a row with its related rows, share that of the larger one.
package final class WaitingRows {
    private struct Name: Hashable {
        let entity: String
        let key: Key
    }

    /// In the order of the call; nil for a row that no longer waits.
    private var rows: [(any WaitingRow)?] = []
    private var places: [Name: Int] = [:]
    private var followers: [() throws -> Void] = []
    /// Whether the rows are being stored. No other rows wait then.
    package private(set) var isEnding = false

    package init() {}

    /// Whether no row waits.
    package var isEmpty: Bool { places.isEmpty }

    /// The row with a key, as it waits.
    package subscript(entity: String, key: Key) -> (any WaitingRow)? {
        places[Name(entity: entity, key: key)].flatMap { rows[$0] }
    }

    /// Lets a row wait, behind all others. It replaces one with the same key.
    package func add(_ row: any WaitingRow) {
        remove(row.entity, row.key)
        places[Name(entity: row.entity, key: row.key)] = rows.count
        rows.append(row)
    }

    /// Forgets a row, because it is written again or erased.
    package func remove(_ entity: String, _ key: Key) {
        if let place = places.removeValue(forKey: Name(entity: entity, key: key)) { rows[place] = nil }
    }

    /// Runs a closure when the rows are stored.
    package func follow(_ body: @escaping () throws -> Void) { followers.append(body) }

    /// Stores the rows.
    package func end() throws {
        if rows.isEmpty { return }
        isEnding = true
        let waiting = rows.compactMap(\.self)
        for row in waiting { try row.release() }
        for row in waiting {
            remove(row.entity, row.key)
            try row.store()
        }
        rows = []
        isEnding = false
        let bodies = followers
        followers = []
        for body in bodies { try body() }
    }
}

extension Database {
    /// The rows that wait for the end of the larger call that the running one is a part of; nil when it is a call of its own.
    package var waitingRows: WaitingRows? { AmbientTransaction.waiting(of: engineState) }

    /// Runs calls of storages that form one call for the application, inside a transaction. Rows that wait are stored at its end.
    package func asOneCall<Result>(_ body: () throws -> Result) throws -> Result {
        guard let transaction = AmbientTransaction.usable(of: engineState), transaction.waiting == nil else { return try body() }
        let waiting = WaitingRows()
        transaction.waiting = waiting
        defer { transaction.waiting = nil }
        let result = try body()
        try waiting.end()
        return result
    }

    /// Runs code of the application inside such a call. The calls that it makes are calls of their own.
    package func outsideCall<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let transaction = AmbientTransaction.usable(of: engineState), let waiting = transaction.waiting else {
            return try body()
        }
        transaction.waiting = nil
        defer { transaction.waiting = waiting }
        return try body()
    }
}
