import DAOCore

/// An SQL engine with an open database. A backend supplies an engine and a dialect, and gets a complete
/// database.
///
/// ``SQLDatabase`` implements tables, rows, queries, links, the catalog and migrations on top of it. An
/// engine guarantees:
///
/// - A read transaction sees a single commit. It never waits for a writer and never makes a writer wait.
/// - A write transaction sees its own writes. ``SQLDatabase`` runs as many at a time within the process as
///   ``SQLEngineTraits/maximumWriters`` says. The engine makes it wait for write transactions of other processes, unless
///   several can run.
/// - Text is compared and sorted by its UTF-8 bytes.
public protocol SQLEngine: AnyObject, Sendable {

    /// The SQL dialect of the engine.
    var dialect: any SQLDialect { get }

    /// The properties that capabilities and error messages report.
    var traits: SQLEngineTraits { get }

    /// Opens a connection. ``SQLDatabase`` opens as many connections for writing as there may be writers, and keeps
    /// connections for reading in a pool.
    ///
    /// - Throws: `StorageError`, with the path.
    func connect(_ access: SQLAccess) throws -> any SQLConnection

    /// Opens a connection to a replica of the database, for reading. Only an engine with ``SQLEngineTraits/hasReplicas`` is asked.
    /// By default it throws `.unsupported`.
    ///
    /// - Throws: `StorageError` when no replica can be used now. Reads then use a connection to the database itself.
    func connectToReplica() throws -> any SQLConnection

    /// Checks that the database is undamaged, before its first use. By default it does nothing.
    func check(_ connection: any SQLConnection) throws

    /// Why nothing may be written to the database, where the reason is neither the configuration nor a permission; nil, the
    /// default, when it may be written.
    var writeRefusal: StorageError? { get }

    /// Is told of the end of every read transaction, before its connection is used again. By default it does nothing.
    func didRead()

    /// Whether idle connections that read may keep their snapshots now; see ``SQLConnection/keepsSnapshot``. It is asked when one
    /// that does has become idle. By default false.
    var allowsKeptSnapshots: Bool { get }

    /// Gets a closure that ends the snapshots of all idle connections that read. By default it is not used.
    func useToEndSnapshots(_ end: @escaping @Sendable () -> Void)

    /// How to count the commits of all processes while the database is observed; nil, the default, when only
    /// this process writes.
    var commitCounter: ObservationHub.OpenCounter? { get }

    /// Copies what a connection sees into a file; it implements `Database.backup(to:)`. By default it throws
    /// `.unsupported`.
    ///
    /// - Parameters:
    ///   - path: The path of the file; see `BackupFile`.
    ///   - connection: A connection with a running read transaction.
    ///   - onProgress: A closure that is called from time to time. An error that it throws ends the backup.
    func writeBackup(
        to path: String, from connection: any SQLConnection, onProgress: (BackupProgress) throws -> Void) throws

    /// Releases what the engine itself holds beside its connections. They are closed now, and a later ``connect(_:)`` opens
    /// all of it again. By default it does nothing.
    func suspend()

    /// Frees the engine's resources. All connections are closed by then. By default it does nothing.
    func close()
}

extension SQLEngine {
    /// By default there are no replicas.
    public func connectToReplica() throws -> any SQLConnection {
        throw StorageError(.unsupported, "\(traits.name) has no replicas; read from the database", path: traits.path)
    }

    /// By default nothing is checked.
    public func check(_ connection: any SQLConnection) throws {}

    /// By default nil.
    public var writeRefusal: StorageError? { nil }

    /// By default it does nothing.
    public func didRead() {}

    /// By default false.
    public var allowsKeptSnapshots: Bool { false }

    /// By default it is not used.
    public func useToEndSnapshots(_ end: @escaping @Sendable () -> Void) {}

    /// By default nil: only this process writes.
    public var commitCounter: ObservationHub.OpenCounter? { nil }

    /// By default there is no file.
    public func writeBackup(
        to path: String, from connection: any SQLConnection, onProgress: (BackupProgress) throws -> Void
    ) throws {
        throw StorageError.backupUnsupported(traits.name, path: traits.path)
    }

    /// By default there is nothing to release.
    public func suspend() {}

    /// By default there is nothing to free.
    public func close() {}
}

/// The purpose of a connection.
public enum SQLAccess: Sendable {
    /// Read transactions.
    case read
    /// The write transaction.
    case write
}

/// The properties of an engine, for capabilities and error messages.
public struct SQLEngineTraits: Sendable {
    /// The engine's name and version as people know it, for example "SQLite 3.40.1".
    public var name: String
    /// The path of the file, or the location of the data.
    public var path: String
    /// Whether the data outlives the process.
    public var isPersistent: Bool
    /// Whether several processes may use the same data.
    public var isMultiProcess: Bool
    /// The maximum number of bytes of a value; nil when memory is the only limit.
    public var maximumValueLength: Int?
    /// The number of reads that may run at the same time, live cursors included; nil without a limit.
    public var maximumReaders: Int?
    /// The option of the driver that sets ``maximumReaders``.
    public var readersOption: String
    /// The number of write transactions that may run at the same time. With more than one, the engine ends one of two that
    /// cannot both be with `.conflict` and its own code.
    public var maximumWriters: Int
    /// How long a read waits for the end of another when as many are running as may run.
    public var busyTimeout: Duration
    /// Whether everything that is read has a checksum that is verified.
    public var hasChecksums: Bool
    /// Whether the engine has ``SQLEngine/writeBackup(to:from:onProgress:)``.
    public var hasBackup: Bool
    /// Whether asynchronous writes that wait at the same time share a commit, because a commit waits for a disk of this machine.
    public var sharesCommits: Bool
    /// Whether reads may use ``SQLEngine/connectToReplica()``.
    public var hasReplicas: Bool
    /// Whether the suite chooses the paths of queries: connections have ``SQLConnection/searchPaths(of:)``.
    public var hasSearchPaths: Bool
    /// The type of the handle for direct engine access; nil when there is none.
    public var underlyingType: UnderlyingType?

    /// Creates a description of an engine.
    ///
    /// - Parameters:
    ///   - name: The engine's name and version as people know it.
    ///   - path: The path of the file, or the location of the data.
    ///   - isPersistent: Whether the data outlives the process.
    ///   - isMultiProcess: Whether several processes may use the same data.
    ///   - maximumValueLength: The maximum number of bytes of a value; nil when memory is the only limit.
    ///   - maximumReaders: The number of reads that may run at the same time, live cursors included; nil without a
    ///     limit.
    ///   - maximumWriters: The number of write transactions that may run at the same time.
    ///   - readersOption: The option of the driver that sets the number of reads.
    ///   - busyTimeout: How long a read waits for the end of another when as many are running as may run.
    ///   - hasChecksums: Whether everything that is read has a checksum that is verified.
    ///   - hasBackup: Whether the engine has ``SQLEngine/writeBackup(to:from:onProgress:)``.
    ///   - sharesCommits: Whether asynchronous writes that wait at the same time share a commit.
    ///   - hasReplicas: Whether reads may use ``SQLEngine/connectToReplica()``.
    ///   - hasSearchPaths: Whether connections have ``SQLConnection/searchPaths(of:)``.
    ///   - underlyingType: The type of the handle for direct engine access; nil when there is none.
    public init(
        name: String, path: String, isPersistent: Bool = true, isMultiProcess: Bool = false,
        maximumValueLength: Int? = nil, maximumReaders: Int? = nil, maximumWriters: Int = 1, readersOption: String = "maxReaders",
        busyTimeout: Duration = .seconds(5), hasChecksums: Bool = false, hasBackup: Bool = false,
        sharesCommits: Bool = false, hasReplicas: Bool = false, hasSearchPaths: Bool = false,
        underlyingType: UnderlyingType? = nil
    ) {
        self.name = name
        self.path = path
        self.isPersistent = isPersistent
        self.isMultiProcess = isMultiProcess
        self.maximumValueLength = maximumValueLength
        self.maximumReaders = maximumReaders
        self.maximumWriters = maximumWriters
        self.readersOption = readersOption
        self.busyTimeout = busyTimeout
        self.hasChecksums = hasChecksums
        self.hasBackup = hasBackup
        self.sharesCommits = sharesCommits
        self.hasReplicas = hasReplicas
        self.hasSearchPaths = hasSearchPaths
        self.underlyingType = underlyingType
    }
}
