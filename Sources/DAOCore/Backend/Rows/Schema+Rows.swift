// How backends take models apart and put them together.

extension Schema {
    /// The row that a reader stands on, as a model.
    public func decode(_ row: RowReader) throws -> Record { try decodeRow(row) }

    /// The remaining rows of a reader, appended to an array.
    ///
    /// - Parameters:
    ///   - row: The reader; it stands before the first row.
    ///   - limit: How many rows at most.
    ///   - records: Where to append.
    public func decode(_ row: RowReader, limit: Int = .max, into records: inout [Record]) throws {
        try decodeRows(row, limit, &records)
    }

    /// Writes every field of a model, in order.
    public func encode(_ record: Record, to row: RowWriter) throws {
        try withUnsafePointer(to: record) { try encodeRow($0, row) }
    }

    /// One row of what fields hold that were not there when a row was stored.
    ///
    /// - Throws: What writing a default value throws.
    package func defaultRow() throws -> RowReader { try DefaultRow.reader(of: description, defaults: defaults) }

    /// Writes every field of a model where it is, without copying it first: for loops over an array's buffer.
    package func encode(at record: UnsafePointer<Record>, to row: RowWriter) throws { try encodeRow(record, row) }

    /// Reads a row, lets a closure make or change the model, and writes every field of what it leaves: in one step that is compiled in the
    /// application's module, since a backend would take the model apart by its metadata.
    ///
    /// - Parameters:
    ///   - stored: Stands on the stored row; nil when there is none.
    ///   - row: Takes the fields.
    ///   - change: Gets the stored model or nil; nil when it returns means that nothing is written.
    /// - Returns: Whether the fields were written.
    package func merge(_ stored: RowReader?, to row: RowWriter, _ change: (inout Record?) throws -> Void) throws -> Bool {
        try mergeRow(stored, row, change)
    }

    /// The primary key of a model. It may be too long to store; ``validKey(of:)`` checks.
    public func key(of record: Record) -> Key { keyOfRecord(record) }

    /// The primary key of a model, checked.
    ///
    /// - Throws: `.invalidKey` when it is longer than ``Key/maximumLength``.
    public func validKey(of record: Record) throws -> Key {
        let key = keyOfRecord(record)
        if case .string(let text) = key, text.utf8.count > Key.maximumLength {
            throw Key.tooLong(text.utf8.count, entity: description.name)
        }
        return key
    }

    /// Refuses a record whose key is not the one it was read or asked for by (contract K4).
    public func checkKey(of record: Record, is expected: Key) throws {
        let key = key(of: record)
        guard key == expected else {
            throw StorageError(
                .keyChanged,
                "the key of a stored '\(description.name)' was changed to '\(UniqueID(key).rawValue)': a key never changes",
                entity: description.name, key: UniqueID(expected), field: description.fields[description.keyIndex].name)
        }
    }
}
