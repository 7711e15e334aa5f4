extension EntityChange {
    /// The error for a change that a database which is only read cannot make.
    ///
    /// - Parameter path: The database's file.
    public func readOnly(path: String? = nil) -> StorageError {
        StorageError(
            .readOnly,
            "the stored '\(wanted.name)' is of an earlier version (\(steps.joined(separator: "; "))), and the database can only be read: "
                + "open it once to write",
            entity: wanted.name, path: path)
    }

    /// The error for a change that was come upon inside a transaction.
    ///
    /// - Parameter path: The database's file.
    public func insideTransaction(path: String? = nil) -> StorageError {
        StorageError(
            .invalidTransaction,
            "the stored '\(wanted.name)' is of an earlier version (\(steps.joined(separator: "; "))), and is brought up to date in a "
                + "transaction of its own: ask for its storage before the transaction or snapshot",
            entity: wanted.name, path: path)
    }
}

extension StorageError {
    /// The error of a storage whose entity was changed under it.
    package static func outdated(_ entity: String, path: String?) -> StorageError {
        StorageError(
            .schemaMismatch,
            "the stored '\(entity)' was changed by another version of the application while this one was using it: "
                + "ask the database for the storage again",
            entity: entity, path: path)
    }
}
