/// The options for the records and index entries of a ``KeyValueDatabase``.
public struct KeyValueOptions: Sendable, Hashable {
    /// Whether records and index entries get a checksum when they are written, which is verified when they
    /// are read. True by default.
    ///
    /// Databases with and without checksums can share a file. A record with a checksum keeps it until it is
    /// rewritten.
    public var usesChecksums: Bool

    /// Creates options.
    ///
    /// - Parameter usesChecksums: Whether records and index entries get a checksum that is verified when they
    ///   are read.
    public init(usesChecksums: Bool = true) { self.usesChecksums = usesChecksums }
}
