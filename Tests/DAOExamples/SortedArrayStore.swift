import DAOCore
import DAOKeyValue
import Foundation

/// A complete custom store: a sorted array of entries, copied when it is changed.
///
/// Reads are logarithmic, a snapshot is free, and a write moves all later entries.
package final class SortedArrayStore: OrderedKeyValueStore {

    /// A key and its value. Blobs do not move, so transactions can return pointers to them.
    fileprivate struct Entry: Sendable {
        let key: Blob
        let value: Blob
    }

    private let lock = NSLock()
    /// The entries of the last commit, ordered by key, for the thread that has the lock.
    private nonisolated(unsafe) var committed: [Entry] = []

    package init() {}

    package var traits: KeyValueStoreTraits { KeyValueStoreTraits(name: "Sorted array") }

    package func begin(_ access: KeyValueAccess) throws -> any KeyValueTransaction {
        SortedArrayTransaction(entries: lock.withLock { committed }) { entries in
            if access == .write { self.lock.withLock { self.committed = entries } }
        }
    }

    package func close() { lock.withLock { committed = [] } }
}

/// A transaction: the array at its beginning, with the transaction's changes.
///
/// The array keeps its blobs alive, so a pointer is valid until its entry is replaced or the transaction ends.
private final class SortedArrayTransaction: KeyValueTransaction {
    private var entries: [SortedArrayStore.Entry]
    /// The arrays at the beginning of each open savepoint.
    private var savepoints: [[SortedArrayStore.Entry]] = []
    private let publish: ([SortedArrayStore.Entry]) -> Void

    init(entries: [SortedArrayStore.Entry], publish: @escaping ([SortedArrayStore.Entry]) -> Void) {
        self.entries = entries
        self.publish = publish
    }

    func get(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        let position = entries.position(of: key)
        return entries.has(key, at: position) ? entries[position].value.bytes : nil
    }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        let entry = SortedArrayStore.Entry(key: Blob(copying: key), value: Blob(copying: value))
        let position = entries.position(of: key)
        if entries.has(key, at: position) { entries[position] = entry } else { entries.insert(entry, at: position) }
    }

    func delete(_ key: UnsafeRawBufferPointer) throws -> Bool {
        let position = entries.position(of: key)
        guard entries.has(key, at: position) else { return false }
        entries.remove(at: position)
        return true
    }

    func cursor() throws -> KeyValueCursor { SortedArrayCursor(entries) }

    func beginSavepoint() throws { savepoints.append(entries) }
    func releaseSavepoint() throws { savepoints.removeLast() }
    func rollbackSavepoint() throws { entries = savepoints.removeLast() }

    func commit() throws { publish(entries) }
    func abort() {}
}

/// A position in the array.
private final class SortedArrayCursor: KeyValueCursor {
    private let entries: [SortedArrayStore.Entry]
    private var position = 0

    init(_ entries: [SortedArrayStore.Entry]) {
        self.entries = entries
        super.init()
    }

    override func seek(_ key: UnsafeRawBufferPointer) throws -> Bool { move(to: entries.position(of: key)) }
    override func seekBefore(_ key: UnsafeRawBufferPointer) throws -> Bool { move(to: entries.position(of: key) - 1) }
    override func next() throws -> Bool { move(to: position + 1) }
    override func previous() throws -> Bool { move(to: position - 1) }

    private func move(to position: Int) -> Bool {
        guard entries.indices.contains(position) else { return false }
        self.position = position
        key = entries[position].key.bytes
        value = entries[position].value.bytes
        return true
    }
}

extension [SortedArrayStore.Entry] {
    /// The position of the first entry whose key is not less than the given key.
    fileprivate func position(of key: UnsafeRawBufferPointer) -> Int {
        var range = indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = isBefore(self[middle].key.bytes, key) ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    /// Whether an entry exists at a position and has the given key.
    fileprivate func has(_ key: UnsafeRawBufferPointer, at position: Int) -> Bool {
        position < count && !isBefore(key, self[position].key.bytes)
    }
}

/// Whether the left bytes order first: as unsigned numbers, with a prefix before longer bytes.
private func isBefore(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    left.lexicographicallyPrecedes(right)
}
