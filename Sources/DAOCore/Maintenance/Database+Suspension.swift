extension Database {
    /// Gives up every lock on the files of the database, for an application that the system is about to freeze (contract L13).
    ///
    /// Systems end frozen applications that hold locks on files which they share with others. The next call of any database
    /// on the same file takes the locks again, sees every commit that was made meanwhile, and resumes observations.
    ///
    /// ```swift
    /// try database.suspend()
    /// ```
    ///
    /// The call waits for running calls, and for streams that are being read, up to the timeout.
    ///
    /// - Throws: `.busy` when a call or a stream does not end in time; `.invalidTransaction` inside a transaction or a snapshot
    ///   of this database; `.unsupported` for an engine that holds its locks as long as a file is open, such as LMDB: close
    ///   the database instead. The locks are then as they were. A database without files has nothing to give up.
    public func suspend() throws {
        if AmbientTransaction.isInside(engineState) {
            throw StorageError(
                .invalidTransaction,
                "a database cannot be suspended inside a transaction or a snapshot; call suspend outside of it",
                path: configuration.path)
        }
        try reporting(.suspend) { try runSuspension() }
    }

    /// Gives up every lock on the files of the database, on the writer thread; see ``suspend()-()``.
    public func suspend() async throws {
        try await engineState.executor.write { try (self.suspend as () throws -> Void)() }
    }

    /// There is nothing to give up.
    public func runSuspension() throws {}
}
