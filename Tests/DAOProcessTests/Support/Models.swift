import DAOCore
import DAOLMDB
import DAOSQLite
import DAOSearch
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

/// Rows that are searched, in a database whose transactions are counted as those of a ``Ledger``.
public struct Pages: Sendable {
    private struct Page: Plain, Model, Equatable {
        var id: Int
        var text: String

        static let schema = Schema("page", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text, .searchable))
    }

    private static let kept = 300
    private let ledger: Ledger
    private let pages: DAO<Page>

    /// Opens the database, and creates it when it is missing.
    public init(_ url: String) throws {
        ledger = try Ledger(url)
        pages = DAO(storage: try ledger.database.storage(for: Page.self))
    }

    /// Returns the number of committed transactions.
    public func count() throws -> Int { try ledger.count() }

    /// Closes the database.
    public func close() throws { try ledger.database.close() }

    /// The page of a transaction: in the first half of its life, and later.
    private static func page(_ number: Int, isOld: Bool) -> Page {
        let words = (0..<60).map { "w\((number &* 31 &+ $0 &* $0) % 997)" }.joined(separator: " ")
        return Page(id: number, text: "page number\(number) \(isOld ? "old" : "new") \(words)")
    }

    /// Stores a page, changes one, and erases one: a merge of the index goes on in most of these transactions.
    ///
    /// - Returns: The number of the transaction.
    public func commitNext() throws -> Int {
        try ledger.database.transaction {
            let number = try count() + 1
            try pages.create(Self.page(number, isOld: false))
            if number > Self.kept / 2 { try pages.persist(Self.page(number - Self.kept / 2, isOld: true)) }
            try pages.erase { $0.id <= number - Self.kept }
            try ledger.tallies.persist(Tally(id: 1, value: number))
            return number
        }
    }

    /// Returns what is wrong with the rows, or with what searches find; nil when all is as the counted transactions leave it.
    public func problem() throws -> String? {
        let problems = try ledger.database.verify().problems
        if !problems.isEmpty { return "\(problems)" }
        return try ledger.database.snapshot {
            let count = try count()
            let expected =
                count == 0
                ? [] : (max(1, count - Self.kept + 1)...count).map { Self.page($0, isOld: $0 <= count - Self.kept / 2) }
            if try pages.read() != expected { return "the rows are others" }
            for word in ["page", "new", "old", "page -old", "w0", "w500", "number\(count)", "number\(count - Self.kept)"] {
                let found = try pages.search(word, limit: 1000).map(\.value.id).sorted()
                let words = word.split(separator: " ")
                let those = expected.filter { page in
                    let texts = page.text.split(separator: " ")
                    return words.allSatisfy { $0.first == "-" ? !texts.contains($0.dropFirst()) : texts.contains($0) }
                }
                if found != those.map(\.id) { return "'\(word)' finds \(found.count) pages instead of \(those.count)" }
            }
            return nil
        }
    }
}

/// The databases of the tests and their children.
public let drivers = DatabaseDrivers([.lmdb] + DatabaseDriver.sqlite.encryptingToo)
