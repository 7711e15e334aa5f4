import DAOCore
import DAOKeyValue
import Foundation

/// An ordered key-value store in memory. Its contents are released with it.
///
/// It is a B+tree whose versions share unchanged nodes. A read transaction takes the last committed version
/// under a short lock. Afterwards it waits for no other transaction, and no other transaction waits for it,
/// regardless of its lifetime. Nodes that only it still uses are freed when it ends.
///
/// ```swift
/// let store = MemoryStore()
/// let writer = try store.begin(.write)
/// try writer.put(key, value)
/// try writer.commit()
/// ```
public final class MemoryStore: OrderedKeyValueStore, @unchecked Sendable {
    // Unchecked because of the variables below: every access to them holds the lock of `writing`.

    /// The application's name for the store. The store does not use it.
    public let name: String?

    /// The traits of the store. It is not persistent.
    public let traits = KeyValueStoreTraits(name: "memory")

    // Nil after closing. It has a lock of its own, so that reads never wait for those who begin and end to write.
    private let committed = Lock<MemoryState?>(.empty)
    // Protects the variables, and wakes threads that wait to write.
    private let writing = NSCondition()
    private var lastStamp: UInt64 = 0
    private var writer: pthread_t?

    /// Creates an empty store.
    ///
    /// - Parameter name: The application's name for the store. Two stores with the same name are separate.
    public init(name: String? = nil) {
        self.name = name
    }

    /// Begins a transaction.
    ///
    /// A second write transaction waits until the first has ended. On the same thread it would wait for ever,
    /// so it is refused.
    ///
    /// - Parameter access: Whether it only reads.
    /// - Returns: The running transaction.
    /// - Throws: `StorageError` of kind `closed`, or `invalidTransaction` when this thread already runs a
    ///   write transaction.
    public func begin(_ access: KeyValueAccess) throws -> any KeyValueTransaction {
        if access == .read { return MemoryTransaction(try newest(), self) }
        writing.lock()
        defer { writing.unlock() }
        let state = try waitToWrite()
        writer = pthread_self()
        return MemoryWriteTransaction(state, stamp: lastStamp + 1, store: self)
    }

    /// The last committed state.
    func newest() throws -> MemoryState {
        guard let state = committed.withLock({ $0 }) else { throw StorageError.closed(nil) }
        return state
    }

    /// Releases all data that no transaction still uses.
    public func close() {
        let dropped = replaceCommitted(by: nil)
        writing.lock()
        writing.broadcast()
        writing.unlock()
        // Freeing a large tree takes time, so it happens here, without a lock.
        _ = consume dropped
    }

    /// Waits, with the lock held, until no write transaction runs.
    ///
    /// - Returns: The last committed state.
    private func waitToWrite() throws -> MemoryState {
        while true {
            let state = try newest()
            guard let writer else { return state }
            guard pthread_equal(writer, pthread_self()) == 0 else {
                throw StorageError.threadIsWriting(nil)
            }
            writing.wait()
        }
    }

    /// Replaces the committed state, unless the store is closed. Returns the replaced state.
    private func replaceCommitted(by new: MemoryState?) -> MemoryState? {
        committed.withLock { committed in
            guard let replaced = committed else { return nil }
            committed = new
            return replaced
        }
    }

    /// Ends the write transaction.
    ///
    /// - Parameters:
    ///   - new: The new state; nil keeps the old state.
    ///   - lastStamp: The last stamp given to a node.
    /// - Returns: The replaced state. The caller frees it without a lock held.
    func endWriting(publishing new: MemoryState?, lastStamp: UInt64) -> MemoryState? {
        writing.lock()
        defer { writing.unlock() }
        self.lastStamp = lastStamp
        writer = nil
        writing.signal()
        return new.flatMap(replaceCommitted)
    }
}
