/// The progress of a backup.
public struct BackupProgress: Sendable, Equatable {
    /// The number of bytes that were written.
    public var bytes: Int
    /// The number of bytes of the backup. Before the end it can be too large: unused parts of the file are not always
    /// copied.
    public var total: Int

    /// Creates a progress.
    ///
    /// - Parameters:
    ///   - bytes: The number of bytes that were written.
    ///   - total: The expected number of bytes.
    public init(bytes: Int, total: Int) {
        self.bytes = bytes
        self.total = total
    }
}

extension Database {
    /// Copies the last commit into a file that opens as a database of the same kind (contract L10).
    ///
    /// The database stays in use: readers and writers of all processes go on, and what they commit after the beginning is
    /// not in the backup. The backup is written beside the path under a temporary name, synced, and then renamed. Whatever
    /// happens, the path has the earlier backup or the new one. Only an earlier backup of the same database is replaced, never the
    /// file of another program or another database.
    /// The backup has the permissions of the database's file.
    ///
    /// ```swift
    /// try database.backup(to: "/backup/app.db")
    /// ```
    ///
    /// To copy into a database of another kind, use `copy(to:onProgress:)`.
    ///
    /// - Parameters:
    ///   - path: The path of the backup. An earlier backup there is replaced.
    ///   - onProgress: A closure that is called at least at the end, on this thread.
    /// - Throws: `.notADatabase` when the path has another file, or a database of another program; `.invalidConfiguration`
    ///   when it leads to the database itself, or to another one; `.corrupted` when what is there is damaged; `.busy` when the file there is open, or another backup to the path is running; `.notFound`,
    ///   `.notPermitted`, `.readOnly`, `.outOfSpace` and `.io`; `.invalidTransaction` inside a transaction or a snapshot of this database;
    ///   `.unsupported` when the database has no file.
    public func backup(to path: String, onProgress: (BackupProgress) -> Void = { _ in }) throws {
        try checkBackup()
        let path = try FilePath.absolute(path)
        try reporting(.backup) { try runBackup(to: path, onProgress: onProgress) }
    }

    /// Copies the last commit into a file without blocking the thread of the calling task; see
    /// `backup(to:onProgress:)`.
    ///
    /// - Throws: The errors of the synchronous form; `CancellationError` when the task is cancelled. The path then has what
    ///   it had before.
    public func backup(
        to path: String, onProgress: @escaping @Sendable (BackupProgress) -> Void = { _ in }
    ) async throws {
        try checkBackup()
        let path = try FilePath.absolute(path)
        try await engineState.executor.readCancellable { isCancelled in
            try self.reporting(.backup) {
                try self.runBackup(to: path) { progress in
                    if isCancelled() { throw CancellationError() }
                    onProgress(progress)
                }
            }
        }
    }

    private func checkBackup() throws {
        guard AmbientTransaction.isInside(engineState) else { return }
        throw StorageError(
            .invalidTransaction,
            "a backup has the last commit, and this code runs inside a transaction or a snapshot; call backup outside of it",
            path: configuration.path)
    }

    /// Throws `.unsupported`.
    public func runBackup(to path: String, onProgress: (BackupProgress) throws -> Void) throws {
        throw StorageError.backupUnsupported(capabilities.engine, path: configuration.path)
    }
}

extension StorageError {
    /// Returns the error for a backup of a database without a file.
    package static func backupUnsupported(_ engine: String, path: String?) -> StorageError {
        StorageError(
            .unsupported,
            "\(engine) databases have no file that could be backed up; copy the database into one that has, with copy(to:)",
            path: path)
    }
}
