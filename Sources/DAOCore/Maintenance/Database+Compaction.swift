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
    /// or the compact one.
    ///
    /// - Returns: The sizes of the file. Both are zero for a database without a file.
    /// - Throws: `.busy` when a writer, a reader that the engine cannot do this beside, or another process that has an LMDB file
    ///   open does not end in time; `.outOfSpace`, `.io`, `.readOnly`; `.invalidTransaction` inside a transaction or a
    ///   snapshot of this database; `.unsupported` when a backend cannot do it.
    /// - Complexity: Everything that is stored is written once.
    @discardableResult public func compact() throws -> CompactionReport {
        if AmbientTransaction.isInside(engineState) {
            throw StorageError(
                .invalidTransaction, "a database cannot be made smaller inside a transaction or a snapshot; call compact outside of it",
                path: configuration.path)
        }
        if capabilities.isReadOnly { throw StorageError.readOnly(configuration.path) }
        return try runCompaction()
    }

    /// Gives the space that erased rows have left in the file back to the file system, on the writer thread; see
    /// ``compact()-()``.
    @discardableResult public func compact() async throws -> CompactionReport {
        try await engineState.executor.write { try (self.compact as () throws -> CompactionReport)() }
    }

    /// Throws `.unsupported`.
    public func runCompaction() throws -> CompactionReport {
        throw StorageError(
            .unsupported, "\(capabilities.engine) databases cannot be made smaller; copy the database into a new one",
            path: configuration.path)
    }
}
