/// The options for opening an ``LMDBStore``.
///
/// ```swift
/// var options = LMDBOptions()
/// options.durability = .relaxed
/// let store = try LMDBStore(path: "/var/lib/app.lmdb", options: options)
/// ```
public struct LMDBOptions: Sendable, Equatable {

    /// The failures that a commit survives once it has returned.
    public enum Durability: Sendable, Equatable {
        /// A power loss: the data and the meta page are synced.
        case full
        /// A crash of the process. After a power loss the last commits can be missing; the database is
        /// intact.
        case relaxed
    }

    /// The failures that a commit survives once it has returned.
    public var durability: Durability

    /// Whether writes are refused. The file must exist; the lock file next to it is still written if possible.
    public var isReadOnly: Bool

    /// Whether a missing or empty file becomes a new database.
    public var createIfMissing: Bool

    /// The size of the address range for the file in bytes, rounded up to whole pages; nil for a range that
    /// need not grow.
    ///
    /// It limits the file until the range grows, which happens between two transactions when no reader runs.
    /// The file itself is only as large as its contents.
    public var initialMapSize: Int?

    /// The maximum number of concurrent read transactions of all processes together. The process that opens
    /// the file first sets it.
    public var maximumReaders: Int

    /// The time to wait for other processes, in seconds, before opening the file or a write transaction is refused
    /// with `busy`.
    public var writeTimeout: Double

    /// Whether the structure of the whole file is checked when it is opened, regardless of its size.
    ///
    /// Files of less than 1 GiB are always checked, because a flipped bit in the structure of a page can
    /// crash the process.
    public var checksWholeFile: Bool

    /// The permissions of the file and its lock file when they are created; nil for those that the process gives its
    /// files.
    public var fileMode: UInt16?

    /// Creates options.
    ///
    /// - Parameters:
    ///   - durability: The failures that a commit survives once it has returned.
    ///   - isReadOnly: Whether writes are refused.
    ///   - createIfMissing: Whether a missing or empty file becomes a new database.
    ///   - initialMapSize: The size of the address range in bytes; nil for a range that need not grow.
    ///   - maximumReaders: The maximum number of concurrent read transactions.
    ///   - writeTimeout: The time to wait for another writer, in seconds.
    ///   - checksWholeFile: Whether the whole file is checked when it is opened.
    ///   - fileMode: The permissions of created files; nil for those that the process gives its files.
    public init(
        durability: Durability = .full,
        isReadOnly: Bool = false,
        createIfMissing: Bool = true,
        initialMapSize: Int? = nil,
        maximumReaders: Int = 1022,
        writeTimeout: Double = 5,
        checksWholeFile: Bool = false,
        fileMode: UInt16? = nil
    ) {
        self.durability = durability
        self.isReadOnly = isReadOnly
        self.createIfMissing = createIfMissing
        self.initialMapSize = initialMapSize
        self.maximumReaders = maximumReaders
        self.writeTimeout = writeTimeout
        self.checksWholeFile = checksWholeFile
        self.fileMode = fileMode
    }
}
