/// The value of an index entry: a checksum of the entry's whole key in four bytes, little-endian: of ``WyHash``, or of ``XXH64``
/// in an entry from before format 3. It is empty in an entry that was written without checksums.
///
/// A damaged entry can be read, or missed. Keys that are out of order are detected when a file is opened, so
/// a damaged entry is still between its neighbours. A read of a range of entries therefore verifies the
/// entries before and after it too.
enum EntryFormat {
    /// The checksum of an entry.
    @inline(__always) static func checksum(_ key: UnsafeRawBufferPointer) -> UInt32 {
        UInt32(truncatingIfNeeded: WyHash.hash(key)).littleEndian
    }

    /// Whether a value is that of an entry with a key.
    @inline(__always) static func isValue(_ value: UnsafeRawBufferPointer, of key: UnsafeRawBufferPointer) -> Bool {
        value.isEmpty || value.count == 4 && value.loadUnaligned(as: UInt32.self) == checksum(key) || isEarlier(value, of: key)
    }

    @inline(never) private static func isEarlier(_ value: UnsafeRawBufferPointer, of key: UnsafeRawBufferPointer) -> Bool {
        value.count == 4
            && UInt32(littleEndian: value.loadUnaligned(as: UInt32.self)) == UInt32(truncatingIfNeeded: XXH64.hash(key))
    }
}

/// Verifies the entries of an index.
struct EntryCheck {
    private let table: Table
    private let index: Table.Index

    /// Creates a check; nil when checksums are not verified.
    init?(_ index: Table.Index, of table: Table, verifies: Bool) {
        guard verifies else { return nil }
        self.table = table
        self.index = index
    }

    /// Verifies an entry.
    ///
    /// - Throws: `.corrupted` with the entity and the field.
    @inline(__always) func verify(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        guard EntryFormat.isValue(value, of: key) else { throw table.corruptedIndex(index) }
    }

    /// Verifies the entry of a cursor outside the range that is read, if it belongs to the index.
    @inline(never) func verifyNeighbour(_ cursor: KeyValueCursor) throws {
        if index.keyspace.isPrefix(of: cursor.key) { try verify(cursor.key, cursor.value) }
    }

    /// Moves a cursor to the first entry that is not less than the given bytes, and verifies the entry before.
    func seek(_ cursor: KeyValueCursor, _ bytes: UnsafeRawBufferPointer) throws -> Bool {
        guard try cursor.seekBefore(bytes) else { return try cursor.seek(bytes) }
        try verifyNeighbour(cursor)
        return try cursor.next()
    }

    /// Moves a cursor to the last entry that is less than the given bytes, and verifies the entry after.
    func seekBefore(_ cursor: KeyValueCursor, _ bytes: UnsafeRawBufferPointer) throws -> Bool {
        guard try cursor.seek(bytes) else { return try cursor.seekBefore(bytes) }
        try verifyNeighbour(cursor)
        return try cursor.previous()
    }
}
