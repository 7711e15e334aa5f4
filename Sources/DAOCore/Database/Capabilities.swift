/// What a database can do, declared and queryable; what it declares it does not do is refused as `.unsupported`.
public struct Capabilities: Sendable, Hashable {
    /// The engine's name as people know it.
    public var engine: String
    /// Whether data outlives the process.
    public var isPersistent: Bool
    /// Whether several processes may use the same database at once.
    public var isMultiProcess: Bool
    /// Whether readers see a snapshot and never wait for a writer.
    public var hasSnapshotReads: Bool
    /// Whether a transaction can be inside another.
    public var hasSavepoints: Bool
    /// Whether every record carries a checksum that is verified when it is read.
    public var hasChecksums: Bool
    /// Whether it brings stored entities up to date, runs migrations, and can be copied: ``Database/withEntityStore(_:_:)``.
    public var hasEvolution: Bool
    /// Whether the database only refuses writes.
    public var isReadOnly: Bool
    /// The longest string or data value in bytes; nil when memory is the only limit.
    public var maximumValueLength: Int?
    /// The engine's own handles that ``Database/underlying(as:touching:_:)`` gives; none where there is nothing underneath.
    public var underlyingTypes: Set<UnderlyingType>

    /// Declares capabilities.
    ///
    /// - Parameters:
    ///   - engine: The engine's name as people know it.
    ///   - isPersistent: Whether data outlives the process.
    ///   - isMultiProcess: Whether several processes may use the same database at once.
    ///   - hasSnapshotReads: Whether readers see a snapshot and never wait for a writer.
    ///   - hasSavepoints: Whether a transaction can be inside another.
    ///   - hasChecksums: Whether every record carries a checksum that is verified when it is read.
    ///   - hasEvolution: Whether it brings stored entities up to date, runs migrations, and can be copied.
    ///   - isReadOnly: Whether the database refuses writes.
    ///   - maximumValueLength: The longest string or data value in bytes; nil when memory is the only limit.
    ///   - underlyingTypes: The engine's own handles that it gives.
    public init(
        engine: String, isPersistent: Bool = false, isMultiProcess: Bool = false, hasSnapshotReads: Bool = true,
        hasSavepoints: Bool = true, hasChecksums: Bool = false, hasEvolution: Bool = false, isReadOnly: Bool = false,
        maximumValueLength: Int? = nil, underlyingTypes: Set<UnderlyingType> = []
    ) {
        self.engine = engine
        self.isPersistent = isPersistent
        self.isMultiProcess = isMultiProcess
        self.hasSnapshotReads = hasSnapshotReads
        self.hasSavepoints = hasSavepoints
        self.hasChecksums = hasChecksums
        self.hasEvolution = hasEvolution
        self.isReadOnly = isReadOnly
        self.maximumValueLength = maximumValueLength
        self.underlyingTypes = underlyingTypes
    }
}
