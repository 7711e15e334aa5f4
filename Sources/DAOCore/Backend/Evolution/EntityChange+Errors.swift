extension EntityChange {
    /// The error for a change that a database which is only read cannot make.
    ///
    /// - Parameter path: The database's file.
    public func readOnly(path: String? = nil) -> StorageError {
        StorageError(
            .readOnly,
            "the stored '\(wanted.name)' is of an earlier version (\(steps.joined(separator: "; "))), and the database is open for reading only; "
                + "open it once without readOnly=true",
            entity: wanted.name, path: path)
    }

    /// The error for a change that was come upon inside a transaction.
    ///
    /// - Parameter path: The database's file.
    public func insideTransaction(path: String? = nil) -> StorageError {
        StorageError(
            .invalidTransaction,
            "the stored '\(wanted.name)' is of an earlier version (\(steps.joined(separator: "; "))), and is changed in a transaction "
                + "of its own; ask for its storage before the transaction or snapshot",
            entity: wanted.name, path: path)
    }
}
