extension EntityChange {
    /// Returns the error for a change of a read-only database.
    ///
    /// - Parameter path: The path of the database's file.
    public func readOnly(path: String? = nil) -> StorageError {
        StorageError(
            .readOnly,
            "the stored '\(wanted.name)' is of an earlier version (\(steps.joined(separator: "; "))), and the database is open for reading only; "
                + "open it once without readOnly=true",
            entity: wanted.name, path: path)
    }

    /// Returns the error for a change that was found inside a transaction.
    ///
    /// - Parameter path: The path of the database's file.
    public func insideTransaction(path: String? = nil) -> StorageError {
        StorageError(
            .invalidTransaction,
            "the stored '\(wanted.name)' is of an earlier version (\(steps.joined(separator: "; "))), and is changed in a separate "
                + "transaction; ask for its storage before the transaction or snapshot",
            entity: wanted.name, path: path)
    }
}
