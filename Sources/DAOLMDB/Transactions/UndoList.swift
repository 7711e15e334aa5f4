/// What has to be written to undo the writes since a savepoint: keys, each with its value before a write, or none.
///
/// The bytes of all entries are in one array, so that an entry costs no allocation.
struct UndoList {

    private struct Entry {
        var start: Int
        var keyLength: Int
        /// Nil when there was no value.
        var valueLength: Int?
    }

    private var entries: [Entry] = []
    private var bytes: [UInt8] = []

    /// The number of entries.
    var count: Int { entries.count }

    /// Adds a key with its value before a write, nil when there was none.
    mutating func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) {
        entries.append(Entry(start: bytes.count, keyLength: key.count, valueLength: value?.count))
        bytes.append(contentsOf: key)
        if let value { bytes.append(contentsOf: value) }
    }

    /// Removes the entries from a position on.
    mutating func removeAll(from position: Int) {
        guard position < entries.count else { return }
        bytes.removeSubrange(entries[position].start...)
        entries.removeSubrange(position...)
    }

    /// Calls a closure with each entry from a position on, the last entry first, and removes them.
    mutating func undo(
        from position: Int, _ write: (UnsafeRawBufferPointer, UnsafeRawBufferPointer?) throws -> Void
    ) rethrows {
        defer { removeAll(from: position) }
        try bytes.withUnsafeBytes { bytes in
            for entry in entries[position...].reversed() {
                let end = entry.start + entry.keyLength
                let value = entry.valueLength.map { UnsafeRawBufferPointer(rebasing: bytes[end..<end + $0]) }
                try write(UnsafeRawBufferPointer(rebasing: bytes[entry.start..<end]), value)
            }
        }
    }
}
