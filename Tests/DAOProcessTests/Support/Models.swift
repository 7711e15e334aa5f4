import DAOCore
import DAOLMDB
import DAOSQLite

/// A row of a batch: what one transaction writes.
public struct Entry: Plain, Model, Equatable {
    /// The batch's number times ten, and some.
    public var id: Int
    /// The number of the transaction.
    public var batch: Int
    /// As long as the batch says.
    public var text: String

    /// Makes a row.
    public init(id: Int, batch: Int, text: String) {
        self.id = id
        self.batch = batch
        self.text = text
    }

    /// What is stored.
    public static let schema = Schema(
        "entry", Self.init, Field("id", \.id, .primaryKey), Field("batch", \.batch, .indexed), Field("text", \.text))
}

/// A number that goes up with every transaction.
public struct Tally: Plain, Model, Equatable {
    /// Which number.
    public var id: Int
    /// The number.
    public var value: Int

    /// Makes a number.
    public init(id: Int, value: Int) {
        self.id = id
        self.value = value
    }

    /// What is stored.
    public static let schema = Schema("tally", Self.init, Field("id", \.id, .primaryKey), Field("value", \.value))
}

/// A database with the two entities that parents and children look at.
public struct Ledger: Sendable {
    /// The database.
    public let database: any Database
    /// The rows of batches.
    public let entries: DAO<IdentityTranslator<Entry>>
    /// The numbers; the first counts transactions.
    public let tallies: DAO<IdentityTranslator<Tally>>

    /// Opens it, and creates it when it is not there.
    public init(_ url: String) throws {
        database = try DatabaseDrivers(.sqlite, .lmdb).open(url)
        entries = try DAO(storage: database.storage(for: Entry.self))
        tallies = try DAO(storage: database.storage(for: Tally.self))
    }

    /// How many transactions were committed.
    public func count() throws -> Int { try tallies.read(byPrimaryKey: 1)?.value ?? 0 }

    /// Adds to the count, which has to be read and written in one transaction.
    public func increment(by number: Int = 1) throws {
        try database.transaction { try tallies.persist(Tally(id: 1, value: try count() + number)) }
    }
}

/// What the transactions of a crashing process write: the next one follows from the count, and so does all that must be there.
public enum Batches {
    /// How many batches there are at most; each goes when the one so many later comes.
    private static let kept = 12

    /// The rows of a batch: some small, some larger than a page of any engine.
    public static func rows(_ batch: Int) -> [Entry] {
        (0..<1 + batch % 5).map {
            Entry(id: batch * 10 + $0, batch: batch, text: String(repeating: "\(batch),", count: batch * 37 % 1900))
        }
    }

    /// What has to be stored after so many transactions, in key order.
    public static func expected(after count: Int) -> [Entry] {
        guard count > 0 else { return [] }
        return (max(1, count - kept + 1)...count).flatMap(rows)
    }

    /// Commits the next batch.
    ///
    /// - Returns: Its number.
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
    /// Whether one snapshot has exactly the rows that the transactions counted in it have left.
    public func isWhole() throws -> Bool {
        try database.snapshot {
            let expected = Batches.expected(after: try count())
            // By key, and through the index, which a torn commit could have left behind.
            return try entries.read() == expected && entries.count { $0.batch >= 0 } == expected.count
        }
    }
}
