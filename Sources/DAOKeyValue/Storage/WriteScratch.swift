import DAOCore

/// The buffers that the write calls of a transaction use in turn.
final class WriteScratch {
    /// Whether records get a checksum.
    let isChecked: Bool
    /// Encodes records.
    let writer: RecordWriter
    /// The buffer for the key of an encoded row.
    let rowKey = UnsafeMutableRawBufferPointer.allocate(byteCount: KeyBuilder.capacity, alignment: 8)
    /// The buffer for the key of a searched row.
    let storeKey = UnsafeMutableRawBufferPointer.allocate(byteCount: KeyBuilder.capacity, alignment: 8)
    /// The buffer for the common prefix of the index entries of equal values.
    let prefix = UnsafeMutableRawBufferPointer.allocate(byteCount: KeyBuilder.capacity, alignment: 8)
    @exclusivity(unchecked) private var conditions: IndexConditions?
    private let entries = ByteArena()
    // Only calls that run code of the application need it.
    private lazy var kept = ByteArena()
    @exclusivity(unchecked) private var entryEnds: [(end: Int, isRemoval: Bool)] = []

    /// The rows that wait for the end of the call; nil as long as none does.
    @exclusivity(unchecked) var waiting: WaitingRows?
    /// The storage whose rows can wait; nil where each row is judged when it is stored.
    @exclusivity(unchecked) var readers: (any RecordReaders)?

    init(_ table: Table, isChecked: Bool) {
        self.isChecked = isChecked
        writer = RecordWriter(table: table, isChecked: isChecked)
    }

    deinit {
        rowKey.deallocate()
        storeKey.deallocate()
        prefix.deallocate()
    }

    /// The conditions of a table's partial indexes; nil when there are none. The calls that use the buffers in turn can have
    /// different tables.
    func conditions(of table: Table) -> IndexConditions? {
        if !table.hasPartialIndexes { return nil }
        if let conditions, conditions.table === table { return conditions }
        let made = IndexConditions(table)
        conditions = made
        return made
    }

    /// Copies the bytes of a row. The copy is valid until the next one.
    func keep(_ record: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        kept.truncate(to: 0)
        kept.append(record)
        return kept.bytes
    }

    /// Removes the index entries of the previous row.
    func beginEntries() {
        entries.truncate(to: 0)
        entryEnds.removeAll(keepingCapacity: true)
    }

    /// Records an index entry.
    ///
    /// - Parameters:
    ///   - isRemoval: Whether the entry is removed.
    ///   - build: Builds its key.
    func addEntry(isRemoval: Bool, _ build: (inout KeyBuilder) throws -> Void) rethrows {
        try entries.extend(KeyBuilder.capacity, build)
        entryEnds.append((entries.count, isRemoval))
    }

    /// Passes the recorded index entries to a closure, in the order of recording.
    func forEachEntry(_ body: (UnsafeRawBufferPointer, Bool) throws -> Void) rethrows {
        var start = 0
        for entry in entryEnds {
            try body(UnsafeRawBufferPointer(rebasing: entries.bytes[start..<entry.end]), entry.isRemoval)
            start = entry.end
        }
    }
}
