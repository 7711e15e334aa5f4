/// How a ``KeyValueDatabase`` keeps its records.
public struct KeyValueOptions: Sendable, Hashable {
    /// Whether records get a checksum when they are written, and have it verified when they are read. On by default.
    ///
    /// Databases with and without may share a file: a record that has a checksum keeps it until it is rewritten.
    public var usesChecksums: Bool

    /// Describes how records are kept.
    ///
    /// - Parameter usesChecksums: Whether records get a checksum, and have it verified.
    public init(usesChecksums: Bool = true) { self.usesChecksums = usesChecksums }
}
