import DAOCore
import DAOKeyValue
import Foundation

/// An ordered key-value store in memory, which is gone when it is.
///
/// It is a B+tree whose versions share what did not change. A read transaction takes the last committed version under a
/// short lock; from then on it waits for nobody and nobody waits for it, however long it lives. What only it still sees is
/// freed when it ends.
///
/// ```swift
/// let store = MemoryStore()
/// let writer = try store.begin(.write)
/// try writer.put(key, value)
/// try writer.commit()
/// ```
public final class MemoryStore: OrderedKeyValueStore, @unchecked Sendable {
    // Unchecked because of the variables below: `state` locks every access to them.

    /// What the application calls it; for its eyes only.
    public let name: String?

    /// What the store keeps to: it lives and dies with the process.
    public let traits = KeyValueStoreTraits(name: "memory")

    // Guards all variables, and wakes those who wait to write.
    private let state = NSCondition()
    private var committed = Tree()
    private var lastStamp: UInt64 = 0
    private var writer: pthread_t?
    private var isClosed = false

    /// Makes an empty store.
    ///
    /// - Parameter name: What the application calls it. Two stores of one name are still two stores.
    public init(name: String? = nil) {
        self.name = name
    }

    /// Begins a transaction.
    ///
    /// A second write transaction waits until the first has ended; on the same thread it would wait for ever, and is refused.
    ///
    /// - Parameter access: Whether it only reads.
    /// - Returns: The running transaction.
    /// - Throws: `StorageError` of kind `closed`, or `invalidTransaction` when this thread already runs a write transaction.
    public func begin(_ access: KeyValueAccess) throws -> any KeyValueTransaction {
        state.lock()
        defer { state.unlock() }
        if access == .write { try waitToWrite() }
        guard !isClosed else { throw StorageError.closed }
        switch access {
        case .read:
            return MemoryTransaction(committed)
        case .write:
            writer = pthread_self()
            return MemoryWriteTransaction(committed, stamp: lastStamp + 1, store: self)
        }
    }

    /// Drops everything that no transaction still sees.
    public func close() {
        state.lock()
        isClosed = true
        let dropped = committed
        committed = Tree()
        state.broadcast()
        state.unlock()
        // A large tree takes a while to free; that happens here, after the lock.
        _ = consume dropped
    }

    /// Waits, with the lock held, until no write transaction runs.
    private func waitToWrite() throws {
        while let writer, !isClosed {
            guard pthread_equal(writer, pthread_self()) == 0 else {
                throw StorageError.threadIsWriting(nil)
            }
            state.wait()
        }
    }

    /// Ends the write transaction.
    ///
    /// - Parameters:
    ///   - tree: The new state; nil leaves the old one.
    ///   - lastStamp: The last stamp given to a node.
    /// - Returns: The state that was replaced, for the caller to free when no lock is held.
    func endWriting(publishing tree: Tree?, lastStamp: UInt64) -> Tree? {
        state.lock()
        defer { state.unlock() }
        self.lastStamp = lastStamp
        writer = nil
        state.signal()
        guard let tree, !isClosed else { return nil }
        let replaced = committed
        committed = tree
        return replaced
    }
}
