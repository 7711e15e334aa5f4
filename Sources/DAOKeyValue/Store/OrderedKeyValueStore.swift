import DAOCore

/// A store of byte strings in byte order: all that a backend has to supply to become a whole database.
///
/// ``KeyValueDatabase`` builds everything else on top: records, indexes, queries, the catalog. A store keeps these promises:
///
/// - Keys are unique and ordered by unsigned bytes, a prefix before what it begins (`memcmp`, then length).
/// - A read transaction sees one state for as long as it lives, never waits for a writer and never makes one wait.
/// - A write transaction sees its own writes. There is one at a time; the database above serialises them within the process.
/// - A write transaction is begun, used and ended on one thread. A read transaction may move between threads, but is
///   used by one at a time.
///
/// Keys are never empty and never longer than 511 bytes. Values may be empty and as large as 64 MiB and more.
public protocol OrderedKeyValueStore: AnyObject, Sendable {

    /// What the store keeps to beyond the promises above.
    var traits: KeyValueStoreTraits { get }

    /// Begins a transaction.
    ///
    /// - Parameter access: ``KeyValueAccess/read`` or ``KeyValueAccess/write``.
    /// - Returns: The running transaction. Its owner calls `commit` or `abort` exactly once.
    /// - Throws: `StorageError`, for instance `.busy` when another process holds the write lock for too long.
    func begin(_ access: KeyValueAccess) throws -> any KeyValueTransaction

    /// Begins the transaction that writes, waiting so long for other processes.
    ///
    /// - Parameter busyTimeout: How long until `.busy`; zero to not wait at all.
    func beginWriting(waiting busyTimeout: Duration) throws -> any KeyValueTransaction

    /// A number that every commit changes, whichever process makes it, as soon as it can be read; nil when only this process writes.
    ///
    /// It is read many times a second while somebody observes, and only then.
    func commitCount() throws -> UInt64?

    /// Frees everything the store holds. Called once, when no transaction runs any more.
    func close()
}

extension OrderedKeyValueStore {
    /// Begins a transaction as ``begin(_:)`` does: nobody else writes.
    public func beginWriting(waiting busyTimeout: Duration) throws -> any KeyValueTransaction { try begin(.write) }

    /// Nil: nobody else writes.
    public func commitCount() throws -> UInt64? { nil }
}

/// What a transaction is for.
public enum KeyValueAccess: Sendable {
    /// A snapshot to read from.
    case read
    /// The one transaction that may write.
    case write
}

/// What sort of store it is, for capabilities and error messages.
public struct KeyValueStoreTraits: Sendable {
    /// The engine's name as people know it, for example "LMDB".
    public var name: String
    /// The file the data is in; nil when it is in memory only.
    public var path: String?
    /// Whether the data outlives the process.
    public var isPersistent: Bool
    /// Whether several processes may have the same file open.
    public var isMultiProcess: Bool
    /// Whether writes are refused with `.readOnly`.
    public var isReadOnly: Bool
    /// The type of the handle that its transactions have underneath; nil when they have none.
    public var underlyingType: UnderlyingType?

    /// Creates a description of a store.
    ///
    /// - Parameters:
    ///   - name: The engine's name as people know it.
    ///   - path: The file the data is in; nil for memory.
    ///   - isPersistent: Whether the data outlives the process.
    ///   - isMultiProcess: Whether several processes may have the same file open.
    ///   - isReadOnly: Whether writes are refused.
    ///   - underlyingType: The type of the handle that its transactions have underneath.
    public init(
        name: String, path: String? = nil, isPersistent: Bool = false, isMultiProcess: Bool = false, isReadOnly: Bool = false,
        underlyingType: UnderlyingType? = nil
    ) {
        self.name = name
        self.path = path
        self.isPersistent = isPersistent
        self.isMultiProcess = isMultiProcess
        self.isReadOnly = isReadOnly
        self.underlyingType = underlyingType
    }
}

/// A running transaction on an ``OrderedKeyValueStore``.
///
/// Pointers that it and its cursors return stay valid until the next write in this transaction, or until its end, also when a cursor
/// has moved on. A cursor is not used after a write: the database above collects first and writes then.
public protocol KeyValueTransaction: AnyObject {

    /// The number of the last commit that the transaction sees, growing with every commit of any process; nil for a store that belongs to one
    /// process.
    ///
    /// By it the database above notices that another process has changed an entity.
    var snapshotNumber: UInt64? { get }

    /// The value of a key, in place, or nil when there is none. Logarithmic in the number of keys.
    func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer?

    /// Stores a value under a key, whether or not there was one.
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws

    /// Stores a value under a key that is not there yet.
    ///
    /// - Returns: False, with nothing changed, when the key was there.
    func insert(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool

    /// Removes a key and its value.
    ///
    /// - Returns: False when there was none.
    func delete(_ key: UnsafeRawBufferPointer) throws -> Bool

    /// A cursor, standing nowhere until one of its `seek` methods is called.
    func cursor() throws -> KeyValueCursor

    /// The store's own handle of this transaction, as it is inside the innermost savepoint; nil, the default, when there is none.
    var underlyingHandle: (any UnderlyingHandle)? { get }

    /// Begins a savepoint inside the running write transaction. Savepoints nest and end in reverse order.
    func beginSavepoint() throws

    /// Ends the innermost savepoint and keeps its writes.
    func releaseSavepoint() throws

    /// Ends the innermost savepoint and undoes its writes.
    func rollbackSavepoint() throws

    /// Ends the transaction. For a write transaction everything is durable, at the store's configured level, on return.
    func commit() throws

    /// Ends the transaction; nothing it wrote remains.
    func abort()

    /// What this transaction's commit made of the store's ``OrderedKeyValueStore/commitCount()``, which was one less before it; nil when
    /// it wrote nothing, or the store does not know.
    var countAfterCommit: UInt64? { get }
}

extension KeyValueTransaction {
    /// Nil: the store belongs to one process.
    public var snapshotNumber: UInt64? { nil }

    /// Nil: observers look for themselves.
    public var countAfterCommit: UInt64? { nil }

    /// None.
    public var underlyingHandle: (any UnderlyingHandle)? { nil }

    /// Looks the key up, then stores the value when there was none. A store that can do both in one step replaces this.
    public func insert(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool {
        guard try get(key) == nil else { return false }
        try put(key, value)
        return true
    }
}

/// A position in the order of keys. A store subclasses it; the database above reads ``key`` and ``value`` in place.
///
/// It is a class with stored properties, not a protocol, so that walking a million rows costs one virtual call a row.
/// After a method returned true, ``key`` and ``value`` are those of the entry it stands on; after false they mean nothing.
open class KeyValueCursor {

    /// The key of the entry the cursor stands on.
    @exclusivity(unchecked) public final var key = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The value of the entry the cursor stands on.
    @exclusivity(unchecked) public final var value = UnsafeRawBufferPointer(start: nil, count: 0)

    /// Creates a cursor that stands nowhere.
    public init() {}

    /// Moves to the first entry whose key is not less than the given one. The base class has no entries.
    ///
    /// - Returns: False when there is none.
    open func seek(_ key: UnsafeRawBufferPointer) throws -> Bool { false }

    /// Moves to the last entry whose key is less than the given one. The base class has no entries.
    ///
    /// - Returns: False when there is none.
    open func seekBefore(_ key: UnsafeRawBufferPointer) throws -> Bool { false }

    /// Moves to the next entry in order. Only called while the cursor stands on an entry.
    ///
    /// - Returns: False when the entry was the last.
    open func next() throws -> Bool { false }

    /// Moves to the previous entry in order. Only called while the cursor stands on an entry.
    ///
    /// - Returns: False when the entry was the first.
    open func previous() throws -> Bool { false }
}
