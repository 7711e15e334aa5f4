import DAOCore

/// A store of byte strings in byte order: the only part that a backend has to implement to become a complete
/// database.
///
/// ``KeyValueDatabase`` implements records, indexes, queries and the catalog on top of it. A store
/// guarantees:
///
/// - Keys are unique and ordered by unsigned bytes; a prefix orders before longer keys (`memcmp`, then
///   length).
/// - A read transaction sees the same state for its whole lifetime. It never waits for a writer, and no
///   writer waits for it.
/// - A write transaction sees its own writes. There is one at a time; the database serialises them within the
///   process.
/// - A write transaction is begun, used and ended on one thread. A read transaction can move between threads,
///   but only one thread uses it at a time.
///
/// Keys are never empty and never longer than 511 bytes. Values can be empty, and can be 64 MiB and larger.
public protocol OrderedKeyValueStore: AnyObject, Sendable {

    /// The properties of the store beyond the guarantees above.
    var traits: KeyValueStoreTraits { get }

    /// Begins a transaction.
    ///
    /// - Parameter access: ``KeyValueAccess/read`` or ``KeyValueAccess/write``.
    /// - Returns: The running transaction. The caller calls `commit` or `abort` exactly once.
    /// - Throws: `StorageError`, for example `.busy` when another process holds the write lock for too long.
    func begin(_ access: KeyValueAccess) throws -> any KeyValueTransaction

    /// Begins a write transaction. Waits up to the given time for other processes.
    ///
    /// - Parameter busyTimeout: The time until the error `.busy`; zero to fail immediately.
    func beginWriting(waiting busyTimeout: Duration) throws -> any KeyValueTransaction

    /// A number that every commit of any process changes, as soon as the commit can be read; nil when only
    /// this process writes.
    ///
    /// It is read many times a second, but only while an observation is active.
    func commitCount() throws -> UInt64?

    /// Checks the structure of what is stored, so that every key of the last commit can be read without a crash. The
    /// default does nothing.
    ///
    /// - Throws: `.corrupted` when it is damaged.
    func verify() throws

    /// Makes the file as small as its content allows; it implements `Database.compact()`. No transaction of the caller is
    /// running. By default there is nothing to do.
    func compact(waiting busyTimeout: Duration) throws -> CompactionReport

    /// Copies the last commit into a file; it implements `Database.backup(to:)`. The default throws `.unsupported`.
    ///
    /// - Parameters:
    ///   - path: The path of the file; see `BackupFile`.
    ///   - onProgress: A closure that is called from time to time. An error that it throws ends the backup.
    func writeBackup(to path: String, onProgress: (BackupProgress) throws -> Void) throws

    /// Frees all resources of the store. Called once, when no transaction is running.
    func close()
}

extension OrderedKeyValueStore {
    /// Begins a transaction with ``begin(_:)``, because no other process writes.
    public func beginWriting(waiting busyTimeout: Duration) throws -> any KeyValueTransaction { try begin(.write) }

    /// Nil, because no other process writes.
    public func commitCount() throws -> UInt64? { nil }

    /// Does nothing.
    public func verify() throws {}

    /// There is nothing to do.
    public func compact(waiting busyTimeout: Duration) throws -> CompactionReport {
        CompactionReport(bytesBefore: 0, bytesAfter: 0)
    }

    /// Throws `.unsupported`.
    public func writeBackup(to path: String, onProgress: (BackupProgress) throws -> Void) throws {
        throw StorageError.backupUnsupported(traits.name, path: traits.path)
    }
}

/// The kind of access of a transaction.
public enum KeyValueAccess: Sendable {
    /// A read-only snapshot.
    case read
    /// The single write transaction.
    case write
}

/// The properties of a store, for capabilities and error messages.
public struct KeyValueStoreTraits: Sendable {
    /// The well-known name of the engine, for example "LMDB".
    public var name: String
    /// The file of the data; nil when the data is only in memory.
    public var path: String?
    /// Whether the data outlives the process.
    public var isPersistent: Bool
    /// Whether several processes can have the same file open.
    public var isMultiProcess: Bool
    /// Whether writes are refused with `.readOnly`.
    public var isReadOnly: Bool
    /// Whether a file that was cut off is told from one whose last write was interrupted; see
    /// `Capabilities.detectsTruncation`.
    public var detectsTruncation: Bool
    /// Whether the store has ``OrderedKeyValueStore/writeBackup(to:onProgress:)``.
    public var hasBackup: Bool
    /// The type of the engine's own handle of its transactions; nil when there is none.
    public var underlyingType: UnderlyingType?

    /// Creates a description of a store.
    ///
    /// - Parameters:
    ///   - name: The well-known name of the engine.
    ///   - path: The file of the data; nil for memory.
    ///   - isPersistent: Whether the data outlives the process.
    ///   - isMultiProcess: Whether several processes can have the same file open.
    ///   - isReadOnly: Whether writes are refused.
    ///   - detectsTruncation: Whether a file that was cut off is told from one whose last write was interrupted.
    ///   - hasBackup: Whether the store has ``OrderedKeyValueStore/writeBackup(to:onProgress:)``.
    ///   - underlyingType: The type of the engine's own handle of its transactions.
    public init(
        name: String, path: String? = nil, isPersistent: Bool = false, isMultiProcess: Bool = false, isReadOnly: Bool = false,
        detectsTruncation: Bool = true, hasBackup: Bool = false, underlyingType: UnderlyingType? = nil
    ) {
        self.name = name
        self.path = path
        self.isPersistent = isPersistent
        self.isMultiProcess = isMultiProcess
        self.isReadOnly = isReadOnly
        self.detectsTruncation = detectsTruncation
        self.hasBackup = hasBackup
        self.underlyingType = underlyingType
    }
}

/// A running transaction on an ``OrderedKeyValueStore``.
///
/// Pointers from the transaction and its cursors stay valid until the next write in this transaction, or
/// until its end, even when a cursor has moved. A cursor is not used after a write: the database collects
/// first and then writes.
public protocol KeyValueTransaction: AnyObject {

    /// The number of the last commit that the transaction sees. It grows with every commit of any process;
    /// nil for a store that belongs to one process.
    ///
    /// The database uses it to detect that another process has changed an entity.
    var snapshotNumber: UInt64? { get }

    /// The value of a key, in place, or nil when there is none. Logarithmic in the number of keys.
    func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer?

    /// Stores a value under a key, and replaces an existing value.
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws

    /// Stores a value under a new key.
    ///
    /// - Returns: False, with nothing changed, when the key exists.
    func insert(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool

    /// Removes a key and its value.
    ///
    /// - Returns: False when there was none.
    func delete(_ key: UnsafeRawBufferPointer) throws -> Bool

    /// The number of entries whose keys begin with a byte, where the store knows it without a walk; nil, the default,
    /// otherwise. Counting all rows of an entity then takes constant time.
    func entryCount(of first: UInt8) -> Int?

    /// What snapshots keep in the file, in bytes: that of this transaction when it reads, those of all when it writes. Nil, the
    /// default, where the store does not tell.
    var pinnedBytes: Int? { get }

    /// Creates a cursor. It has no position until one of its `seek` methods is called.
    func cursor() throws -> KeyValueCursor

    /// The engine's own handle of this transaction, inside the innermost savepoint; nil, the default, when
    /// there is none.
    var underlyingHandle: (any UnderlyingHandle)? { get }

    /// Begins a savepoint inside the running write transaction. Savepoints nest and end in reverse order.
    func beginSavepoint() throws

    /// Ends the innermost savepoint and keeps its writes.
    func releaseSavepoint() throws

    /// Ends the innermost savepoint and undoes its writes.
    func rollbackSavepoint() throws

    /// Ends the transaction. When a write transaction returns, its writes are durable at the store's
    /// configured level.
    func commit() throws

    /// Ends the transaction and discards its writes.
    func abort()

    /// The value of the store's ``OrderedKeyValueStore/commitCount()`` after this transaction's commit, which
    /// was one less before it; nil when the transaction wrote nothing, or the store does not know the value.
    var countAfterCommit: UInt64? { get }
}

extension KeyValueTransaction {
    /// Nil, because the store belongs to one process.
    public var snapshotNumber: UInt64? { nil }

    /// Nil, so observations read the commit count themselves.
    public var countAfterCommit: UInt64? { nil }

    /// Nil, because the entries have to be counted.
    public func entryCount(of first: UInt8) -> Int? { nil }

    /// Nil, because the store does not tell.
    public var pinnedBytes: Int? { nil }

    /// Nil, because the store has no handle.
    public var underlyingHandle: (any UnderlyingHandle)? { nil }

    /// Searches the key, then stores the value when the key does not exist. A store that can do both in one
    /// step overrides it.
    public func insert(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool {
        guard try get(key) == nil else { return false }
        try put(key, value)
        return true
    }
}

/// A position in the order of keys. A store subclasses it; the database reads ``key`` and ``value`` in place.
///
/// It is a class, not a protocol, so that reading a million rows costs one virtual
/// call per row. After a method returns true, ``key`` and ``value`` are those of the current entry; after
/// false they are undefined.
open class KeyValueCursor {

    /// The key of the current entry.
    @inlinable public final var key: UnsafeRawBufferPointer {
        get { currentKey }
        set { currentKey = newValue }
    }
    /// The value of the current entry.
    @inlinable public final var value: UnsafeRawBufferPointer {
        get { currentValue }
        set { currentValue = newValue }
    }

    // Behind computed properties: the compiler of another module would check each access to these at run time.
    @exclusivity(unchecked) @usableFromInline final var currentKey = UnsafeRawBufferPointer(start: nil, count: 0)
    @exclusivity(unchecked) @usableFromInline final var currentValue = UnsafeRawBufferPointer(start: nil, count: 0)

    /// Creates a cursor without a position.
    public init() {}

    /// Moves to the first entry whose key is not less than the given key. The base class has no entries.
    ///
    /// - Returns: False when there is none.
    open func seek(_ key: UnsafeRawBufferPointer) throws -> Bool { false }

    /// Moves to the last entry whose key is less than the given key. The base class has no entries.
    ///
    /// - Returns: False when there is none.
    open func seekBefore(_ key: UnsafeRawBufferPointer) throws -> Bool { false }

    /// Moves to the next entry in order. Only called while the cursor is on an entry.
    ///
    /// - Returns: False when the entry was the last.
    open func next() throws -> Bool { false }

    /// Moves to the previous entry in order. Only called while the cursor is on an entry.
    ///
    /// - Returns: False when the entry was the first.
    open func previous() throws -> Bool { false }
}
