import DAOExamples
import DAOKeyValue

/// The bytes of an entry in a store.
typealias StoredEntry = (key: [UInt8], value: [UInt8])

extension SortedArrayStore {
    /// Returns a store with entries.
    static func containing(_ entries: [StoredEntry]) throws -> SortedArrayStore {
        let store = SortedArrayStore()
        let transaction = try store.begin(.write)
        for entry in entries {
            try entry.key.withUnsafeBytes { key in try entry.value.withUnsafeBytes { try transaction.put(key, $0) } }
        }
        try transaction.commit()
        return store
    }

    /// The committed entries, in order.
    func entries() throws -> [StoredEntry] {
        let cursor = try begin(.read).cursor()
        var found: [StoredEntry] = []
        var isThere = try cursor.seek(UnsafeRawBufferPointer(start: nil, count: 0))
        while isThere {
            found.append((Array(cursor.key), Array(cursor.value)))
            isThere = try cursor.next()
        }
        return found
    }
}
