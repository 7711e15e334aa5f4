import DAOCore

/// Rows by a list of keys, in the order of the list, each row once.
final class KeyListSource: RowSource {
    private let keys: [Key]
    private let access: RowAccess
    private var position = 0
    private var seen: Set<Key> = []
    /// The key of the reader's current row.
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: KeyBuilder.capacity, alignment: 8)

    /// Creates a source.
    ///
    /// - Throws: `.invalidKey` when a key cannot belong to a row of the table.
    init(_ keys: [Key], _ access: RowAccess) throws {
        self.keys = keys
        self.access = access
        for key in keys {
            var builder = KeyBuilder(buffer)
            try builder.appendRow(key, of: access.table)
        }
    }

    deinit { buffer.deallocate() }

    override func next(_ reader: RecordReader) throws -> Bool {
        while position < keys.count {
            let key = keys[position]
            position += 1
            if keys.count > 1, !seen.insert(key).inserted { continue }
            var builder = KeyBuilder(buffer)
            try builder.appendRow(key, of: access.table)
            guard let record = try access.transaction.get(builder.bytes) else { continue }
            try reader.show(record, key: builder.bytes.from(access.table.keyspace.length))
            return true
        }
        return false
    }
}
