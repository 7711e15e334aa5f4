import DAOCore

/// The kind of the storage error that a closure throws; nil when there is none.
func failureKind(_ body: () throws -> Void) -> StorageError.Kind? {
    failure(body)?.kind
}

/// The storage error that a closure throws; nil when there is none.
func failure(_ body: () throws -> Void) -> StorageError? {
    do {
        try body()
        return nil
    } catch {
        return error as? StorageError
    }
}
