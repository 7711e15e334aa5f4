/// How an ``LMDBStore`` is opened.
///
/// ```swift
/// var options = LMDBOptions()
/// options.durability = .relaxed
/// let store = try LMDBStore(path: "/var/lib/app.lmdb", options: options)
/// ```
public struct LMDBOptions: Sendable, Equatable {

    /// What a commit has survived when it returns.
    public enum Durability: Sendable, Equatable {
        /// A loss of power: the data and the page that points to it were synced.
        case full
        /// A crash of the process. After a loss of power the last commits may be missing; the database is whole.
        case relaxed
    }

    /// What a commit has survived when it returns.
    public var durability: Durability

    /// Whether writes are refused. The file must be there; the lock file beside it is still written.
    public var isReadOnly: Bool

    /// Whether a file that is missing or empty becomes a new database.
    public var createIfMissing: Bool

    /// The size of the address range for the file in bytes, rounded up to whole pages; nil takes a range so large that it
    /// need not grow.
    ///
    /// It limits the file until the range grows, which happens between two transactions when nobody reads. The file itself
    /// is only as large as what is in it.
    public var initialMapSize: Int?

    /// How many read transactions all processes together may run at once. Whoever opens the file first decides.
    public var maximumReaders: Int

    /// How long to wait for another writer, in seconds, before a write transaction is refused with `busy`.
    public var writeTimeout: Double

    /// Whether the structure of the whole file is checked when it is opened, whatever its size.
    ///
    /// Files of less than 1 GiB always are, since a flipped bit in a page's structure can end the process that meets it.
    public var checksWholeFile: Bool

    /// Creates options.
    ///
    /// - Parameters:
    ///   - durability: What a commit has survived when it returns.
    ///   - isReadOnly: Whether writes are refused.
    ///   - createIfMissing: Whether a file that is missing or empty becomes a new database.
    ///   - initialMapSize: The size of the address range in bytes; nil for one that need not grow.
    ///   - maximumReaders: How many read transactions may run at once.
    ///   - writeTimeout: How long to wait for another writer, in seconds.
    ///   - checksWholeFile: Whether the whole file is checked when it is opened.
    public init(
        durability: Durability = .full,
        isReadOnly: Bool = false,
        createIfMissing: Bool = true,
        initialMapSize: Int? = nil,
        maximumReaders: Int = 1022,
        writeTimeout: Double = 5,
        checksWholeFile: Bool = false
    ) {
        self.durability = durability
        self.isReadOnly = isReadOnly
        self.createIfMissing = createIfMissing
        self.initialMapSize = initialMapSize
        self.maximumReaders = maximumReaders
        self.writeTimeout = writeTimeout
        self.checksWholeFile = checksWholeFile
    }
}
