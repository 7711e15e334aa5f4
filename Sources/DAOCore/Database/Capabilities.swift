/// The features of a database. An application can query them. A feature that is declared as missing throws
/// `.unsupported`.
///
/// ```swift
/// if database.capabilities.hasEvolution { try database.evolve(evolution) }
/// ```
public struct Capabilities: Sendable, Hashable {
    /// The display name of the engine.
    public var engine: String
    /// Whether data outlives the process.
    public var isPersistent: Bool
    /// Whether several processes can use the same database at the same time.
    public var isMultiProcess: Bool
    /// Whether readers see a snapshot and never wait for a writer.
    public var hasSnapshotReads: Bool
    /// Whether write transactions run side by side. One of two that cannot both be ends with `.conflict` then; see
    /// `Database.transaction(retrying:_:)`. Otherwise they run one after another.
    public var hasConcurrentWriters: Bool
    /// Whether transactions can be nested.
    public var hasSavepoints: Bool
    /// Whether every record has a checksum that is verified on every read.
    public var hasChecksums: Bool
    /// Whether a file that lost its end is told from one to which the last write was interrupted. A store that appends
    /// to a log, and drops an incomplete record at its end as what a killed process left, cannot tell them apart: it
    /// opens such a file with an earlier commit.
    public var detectsTruncation: Bool
    /// Whether the database can update stored entities, run migrations and be copied; see
    /// ``Database/withEntityStore(_:_:)``.
    public var hasEvolution: Bool
    /// Whether the database can be copied into one file; see `Database.backup(to:onProgress:)`.
    public var hasBackup: Bool
    /// Whether the database refuses writes.
    public var isReadOnly: Bool
    /// The maximum length of a string or data value in bytes; nil when only memory limits it.
    public var maximumValueLength: Int?
    /// The types of engine handles that ``Database/underlying(as:touching:_:)`` supports; empty when there
    /// are none.
    public var underlyingTypes: Set<UnderlyingType>

    /// Creates capabilities.
    ///
    /// - Parameters:
    ///   - engine: The display name of the engine.
    ///   - isPersistent: Whether data outlives the process.
    ///   - isMultiProcess: Whether several processes can use the same database at the same time.
    ///   - hasSnapshotReads: Whether readers see a snapshot and never wait for a writer.
    ///   - hasConcurrentWriters: Whether write transactions run side by side.
    ///   - hasSavepoints: Whether transactions can be nested.
    ///   - hasChecksums: Whether every record has a checksum that is verified on every read.
    ///   - detectsTruncation: Whether a file that lost its end is told from one to which the last write was
    ///     interrupted.
    ///   - hasEvolution: Whether the database can update stored entities, run migrations and be copied.
    ///   - hasBackup: Whether the database can be copied into one file.
    ///   - isReadOnly: Whether the database refuses writes.
    ///   - maximumValueLength: The maximum length of a string or data value in bytes; nil when only memory
    ///     limits it.
    ///   - underlyingTypes: The types of engine handles that ``Database/underlying(as:touching:_:)``
    ///     supports.
    public init(
        engine: String, isPersistent: Bool = false, isMultiProcess: Bool = false, hasSnapshotReads: Bool = true,
        hasConcurrentWriters: Bool = false, hasSavepoints: Bool = true, hasChecksums: Bool = false,
        detectsTruncation: Bool = true, hasEvolution: Bool = false, hasBackup: Bool = false, isReadOnly: Bool = false,
        maximumValueLength: Int? = nil,
        underlyingTypes: Set<UnderlyingType> = []
    ) {
        self.engine = engine
        self.isPersistent = isPersistent
        self.isMultiProcess = isMultiProcess
        self.hasSnapshotReads = hasSnapshotReads
        self.hasConcurrentWriters = hasConcurrentWriters
        self.hasSavepoints = hasSavepoints
        self.hasChecksums = hasChecksums
        self.detectsTruncation = detectsTruncation
        self.hasEvolution = hasEvolution
        self.hasBackup = hasBackup
        self.isReadOnly = isReadOnly
        self.maximumValueLength = maximumValueLength
        self.underlyingTypes = underlyingTypes
    }
}
