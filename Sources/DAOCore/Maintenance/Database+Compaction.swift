/// The size of a database's file before and after a compaction.
public struct CompactionReport: Sendable, Equatable {
    /// The number of bytes before.
    public var bytesBefore: Int
    /// The number of bytes after.
    public var bytesAfter: Int

    /// Creates a report.
    ///
    /// - Parameters:
    ///   - bytesBefore: The number of bytes before.
    ///   - bytesAfter: The number of bytes after.
    public init(bytesBefore: Int, bytesAfter: Int) {
        self.bytesBefore = bytesBefore
        self.bytesAfter = bytesAfter
    }
}

extension Database {
    /// Gives the space that erased rows have left in the file back to the file system (contract L11).
    ///
    /// The rows, and all that belongs to them, stay as they are. Writers wait for the end, and it waits for them, up to the
    /// timeout. Meanwhile up to three times the size of the file is in use. Whatever happens, the file is the earlier
    /// one or the compact one. SQLite files are compacted while other processes use them; an LMDB file is replaced by its
    /// copy, which no reader and no other process may have open at that moment.
    ///
    /// ```swift
    /// let report = try await database.compact()
    /// print("\(report.bytesBefore - report.bytesAfter) bytes less")
    /// ```
    ///
    /// - Returns: The sizes of the file, with its log. Both are zero when there is nothing to give back: in memory, or in a
    ///   database of one's own that does not implement it.
    /// - Throws: `.busy` when a writer, or a reader or another process that has an LMDB file open, does not end in time;
    ///   `.outOfSpace`, `.io`, `.readOnly`; `.unsupported` for an LMDB file with a second name (a hard link);
    ///   `.invalidTransaction` inside a transaction or a snapshot of this database. The file is then unchanged.
    /// - Complexity: Everything that is stored is written once.
    @discardableResult public func compact() throws -> CompactionReport {
        if AmbientTransaction.isInside(engineState) {
            throw StorageError(
                .invalidTransaction,
                "a database cannot be made smaller inside a transaction or a snapshot; call compact outside of it",
                path: configuration.path)
        }
        if configuration.isReadOnly { throw StorageError.readOnly(configuration.path) }
        return try reporting(.compact) { try runCompaction() }
    }

    /// Gives the space that erased rows have left in the file back to the file system, on the writer thread; see
    /// ``compact()-()``.
    @discardableResult public func compact() async throws -> CompactionReport {
        try await engineState.executor.write { try (self.compact as () throws -> CompactionReport)() }
    }

    /// There is nothing to give back.
    public func runCompaction() throws -> CompactionReport { CompactionReport(bytesBefore: 0, bytesAfter: 0) }
}
