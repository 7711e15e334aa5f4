import DAOCore
import DAOLMDB
import DAOSQLite
import DAOTestSupport

/// A row of a batch. One transaction writes a batch.
public struct Entry: Plain, Model, Equatable {
    /// Ten times the number of the batch, plus the index of the row.
    public var id: Int
    /// The number of the batch.
    public var batch: Int
    /// A text whose length depends on the number of the batch.
    public var text: String

    /// Creates a row.
    public init(id: Int, batch: Int, text: String) {
        self.id = id
        self.batch = batch
        self.text = text
    }

    /// The declaration of the model.
    public static let schema = Schema(
        "entry", Self.init, Field("id", \.id, .primaryKey), Field("batch", \.batch, .indexed), Field("text", \.text))
}

/// A number that every transaction increments.
public struct Tally: Plain, Model, Equatable {
    /// The id of the number.
    public var id: Int
    /// The value of the number.
    public var value: Int

    /// Creates a number.
    public init(id: Int, value: Int) {
        self.id = id
        self.value = value
    }

    /// The declaration of the model.
    public static let schema = Schema("tally", Self.init, Field("id", \.id, .primaryKey), Field("value", \.value))
}

/// A database with the two entities that parent and child processes use.
public struct Ledger: Sendable {
    /// The database.
    public let database: any Database
    /// The rows of batches.
    public let entries: DAO<Entry>
    /// The numbers. The first number counts transactions.
    public let tallies: DAO<Tally>

    /// Opens the database, and creates it when it is missing.
    public init(_ url: String) throws {
        database = try drivers.open(url)
        entries = try DAO(storage: database.storage(for: Entry.self))
        tallies = try DAO(storage: database.storage(for: Tally.self))
    }

    /// Returns the number of committed transactions.
    public func count() throws -> Int { try tallies.read(byPrimaryKey: 1)?.value ?? 0 }

    /// Increments the count. The count is read and written in one transaction.
    public func increment(by number: Int = 1) throws {
        try database.transaction { try tallies.persist(Tally(id: 1, value: try count() + number)) }
    }
}

/// The transactions of a process that is killed. The count determines the next transaction and all rows that
/// must be stored.
public enum Batches {
    /// The maximum number of stored batches. A new batch replaces the oldest batch.
    private static let kept = 12

    /// Returns the rows of a batch. Some are small, some are larger than a page of any engine.
    public static func rows(_ batch: Int) -> [Entry] {
        (0..<1 + batch % 5).map {
            Entry(id: batch * 10 + $0, batch: batch, text: String(repeating: "\(batch),", count: batch * 37 % 1900))
        }
    }

    /// Returns a row that fills a large file.
    public static func large(_ id: Int) -> Entry {
        Entry(id: id, batch: id % 40, text: String(repeating: "large ", count: 200) + "\(id)")
    }

    /// Whether a row is one that ``commitNext(_:)`` or ``large(_:)`` has made.
    public static func isKnown(_ entry: Entry) -> Bool {
        switch entry.id {
        case 0..<1000: rows(entry.id / 10).contains(entry)
        case 1000..<5000: entry == large(entry.id)
        default: false
        }
    }

    /// Returns the rows that must be stored after a number of transactions, in key order.
    public static func expected(after count: Int) -> [Entry] {
        guard count > 0 else { return [] }
        return (max(1, count - kept + 1)...count).flatMap(rows)
    }

    /// Commits the next batch.
    ///
    /// - Returns: The number of the batch.
    public static func commitNext(_ ledger: Ledger) throws -> Int {
        try ledger.database.transaction {
            let batch = try ledger.count() + 1
            try ledger.entries.create(rows(batch))
            try ledger.entries.erase { $0.batch <= batch - kept }
            try ledger.tallies.persist(Tally(id: 1, value: batch))
            return batch
        }
    }
}

extension Ledger {
    /// Returns whether one snapshot contains exactly the rows of its counted transactions.
    public func isWhole() throws -> Bool {
        try database.snapshot {
            let expected = Batches.expected(after: try count())
            // The rows are read by key and through the index, because a torn commit could leave the index
            // behind.
            return try entries.read() == expected && entries.count { $0.batch >= 0 } == expected.count
        }
    }
}

/// The databases of the tests and their children.
public let drivers = DatabaseDrivers([.lmdb] + DatabaseDriver.sqlite.encryptingToo)
