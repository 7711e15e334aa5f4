import DAOCore

/// Buffers that the writing calls of one transaction use one after another.
final class WriteScratch {
    /// Whether records get a checksum.
    let isChecked: Bool
    /// Encodes records.
    let writer: RecordWriter
    /// Room for the key of a row that is encoded.
    let rowKey = UnsafeMutableRawBufferPointer.allocate(byteCount: KeyBuilder.capacity, alignment: 8)
    /// Room for the key of a row that is looked for.
    let storeKey = UnsafeMutableRawBufferPointer.allocate(byteCount: KeyBuilder.capacity, alignment: 8)
    /// Room for the part of an index entry that equal values have in common.
    let prefix = UnsafeMutableRawBufferPointer.allocate(byteCount: KeyBuilder.capacity, alignment: 8)
    private let entries = ByteArena()
    @exclusivity(unchecked) private var entryEnds: [(end: Int, isRemoval: Bool)] = []

    init(_ table: Table, isChecked: Bool) {
        self.isChecked = isChecked
        writer = RecordWriter(table: table, isChecked: isChecked)
    }

    deinit {
        rowKey.deallocate()
        storeKey.deallocate()
        prefix.deallocate()
    }

    /// Forgets the index entries of the row before.
    func beginEntries() {
        entries.truncate(to: 0)
        entryEnds.removeAll(keepingCapacity: true)
    }

    /// Remembers an index entry.
    ///
    /// - Parameters:
    ///   - isRemoval: Whether it is to be removed.
    ///   - build: Builds its key.
    func addEntry(isRemoval: Bool, _ build: (inout KeyBuilder) throws -> Void) rethrows {
        try entries.extend(KeyBuilder.capacity, build)
        entryEnds.append((entries.count, isRemoval))
    }

    /// Gives out the remembered index entries in the order they came.
    func forEachEntry(_ body: (UnsafeRawBufferPointer, Bool) throws -> Void) rethrows {
        var start = 0
        for entry in entryEnds {
            try body(UnsafeRawBufferPointer(rebasing: entries.bytes[start..<entry.end]), entry.isRemoval)
            start = entry.end
        }
    }
}
