import DAOCore

// The errors about the use of an ordered store, which all stores of this package share. Calls through a
// database do not meet them: its transactions keep the rules.

extension StorageError {
    /// A transaction was used after its end.
    package static func storeTransactionEnded(_ path: String?) -> StorageError {
        StorageError(.invalidTransaction, "the transaction has ended; begin another one", path: path)
    }

    /// A write in a transaction that reads.
    package static func storeTransactionIsReadOnly(_ path: String?) -> StorageError {
        StorageError(.invalidTransaction, "the transaction only reads; begin one that writes", path: path)
    }

    /// A write transaction was used on another thread.
    package static func foreignThread(_ path: String?) -> StorageError {
        StorageError(
            .invalidTransaction, "the write transaction belongs to another thread; use it on the thread that began it",
            path: path)
    }

    /// A thread began a second write transaction.
    package static func threadIsWriting(_ path: String?) -> StorageError {
        StorageError(
            .invalidTransaction, "this thread runs a write transaction on the store already; use a savepoint inside it",
            path: path)
    }

    /// A savepoint was ended that was never begun.
    package static func noSavepoint(_ path: String?) -> StorageError {
        StorageError(.invalidTransaction, "there is no open savepoint to end; begin one first", path: path)
    }

    /// A transaction was committed inside a savepoint.
    package static func openSavepoint(_ path: String?) -> StorageError {
        StorageError(
            .invalidTransaction,
            "a savepoint was open at the commit, and the transaction was undone; end each savepoint first", path: path)
    }

    /// A key is empty or too long for a store.
    package static func storedKeyLength(_ length: Int?, path: String?) -> StorageError {
        let found = length.map { " and not \($0)" } ?? ""
        return StorageError(.invalidKey, "a stored key has 1 to 511 bytes\(found); use a shorter key", path: path)
    }
}
