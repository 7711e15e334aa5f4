import DAOCore
import DAOKeyValue

/// The open stores, by path.
private let stores = SharedStores()

extension DatabaseDriver {
    /// Opens databases of KeyValueSkeleton, as in `keyvalueskeleton:name`.
    public static let keyvalueskeleton = DatabaseDriver(scheme: "keyvalueskeleton") { configuration in
        try stores.open(configuration.path, configuration: configuration) { KeyValueSkeletonStore() }
    }
}

/// Ordered keys and values: the entries of the last commit.
final class KeyValueSkeletonStore: OrderedKeyValueStore {
    var traits: KeyValueStoreTraits { KeyValueStoreTraits(name: "KeyValueSkeleton") }

    func begin(_ access: KeyValueAccess) throws -> any KeyValueTransaction { KeyValueSkeletonTransaction(access) }

    func close() {}
}

/// A transaction: a snapshot of the entries, with its own changes. Its pointers are valid until its next write or its end.
final class KeyValueSkeletonTransaction: KeyValueTransaction {
    private let access: KeyValueAccess

    init(_ access: KeyValueAccess) { self.access = access }

    func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? { throw unfinished() }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws { throw unfinished() }

    func delete(_ key: UnsafeRawBufferPointer) throws -> Bool { throw unfinished() }

    func cursor() throws -> KeyValueCursor { KeyValueSkeletonCursor() }

    func beginSavepoint() throws { throw unfinished() }

    func releaseSavepoint() throws { throw unfinished() }

    func rollbackSavepoint() throws { throw unfinished() }

    func commit() throws { throw unfinished() }

    func abort() {}
}

/// A position among the entries. A move sets `key` and `value`.
final class KeyValueSkeletonCursor: KeyValueCursor {
    /// Moves to the first key that is not less than the given one.
    override func seek(_ key: UnsafeRawBufferPointer) throws -> Bool { throw unfinished() }

    /// Moves to the last key that is less than the given one.
    override func seekBefore(_ key: UnsafeRawBufferPointer) throws -> Bool { throw unfinished() }

    override func next() throws -> Bool { throw unfinished() }

    override func previous() throws -> Bool { throw unfinished() }
}

/// The error of a method that is still to be written.
private func unfinished(_ method: String = #function) -> StorageError {
    StorageError(.unsupported, "'\(method)' of KeyValueSkeleton is still to be implemented")
}
