// The encoding and decoding of models by backends.

extension Schema {
    /// Decodes the current row of a reader.
    public func decode(_ row: RowReader) throws -> Record {
        let record = try decodeWithoutCheck(row)
        if probe.needsRows { try probe.check(record, of: self, isRead: true) }
        return record
    }

    /// Decodes the current row of a reader into a variable. This is quicker than ``decode(_:)``: only the application's
    /// module, where the closure is compiled, has to know the layout of the model.
    package func decode(_ row: RowReader, to record: inout Record?) throws {
        try decodeRow(row, &record)
        if probe.needsRows { try checkOrder(of: record) }
    }

    // Apart from ``decode(_:to:)``, so that only the first rows pay for the metadata of the optional model.
    @inline(never) private func checkOrder(of record: Record?) throws {
        if let record { try probe.check(record, of: self, isRead: true) }
    }

    /// Decodes the current row of a reader, without a check of the order of the fields.
    func decodeWithoutCheck(_ row: RowReader) throws -> Record {
        var record: Record?
        try decodeRow(row, &record)
        return record!
    }

    /// Decodes the remaining rows of a reader and appends them to an array.
    ///
    /// - Parameters:
    ///   - row: The reader, before the first row.
    ///   - limit: The maximum number of rows.
    ///   - expected: The number of rows that memory is reserved for. An array reserves it more quickly here than outside: only the
    ///     application's module knows the layout of the model.
    ///   - records: The array that rows are appended to.
    public func decode(_ row: RowReader, limit: Int = .max, expecting expected: Int = 0, into records: inout [Record]) throws {
        let start = records.count
        try decodeRows(row, limit, expected, &records)
        if probe.needsRows { for record in records[start...] { try probe.check(record, of: self, isRead: true) } }
    }

    /// Writes all fields of a model, in order.
    public func encode(_ record: Record, to row: RowWriter) throws {
        try withUnsafePointer(to: record) { try encode(at: $0, to: row) }
    }

    /// Returns a row with the default values of fields that are missing in older rows.
    ///
    /// - Throws: Any error of writing a default value.
    package func defaultRow() throws -> RowReader { try DefaultRow.reader(of: description, defaults: defaults) }

    /// Writes all fields of a model in place, without a copy, for loops over the buffer of an array.
    package func encode(at record: UnsafePointer<Record>, to row: RowWriter) throws {
        if probe.needsRows { try probe.check(record.pointee, of: self, isRead: false) }
        try encodeRow(record, row)
    }

    /// Returns a reader at the row of a model, without its related models.
    package func reader(of record: Record) throws -> RowReader {
        ValueRowReader(entity: description, values: try fields(of: record).values)
    }

    /// Assigns a value of the type of a field.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - index: The position of the field.
    ///   - record: The model. It keeps its related models.
    func assign<Field: FieldValue>(_ value: Field, at index: Int, in record: inout Record) throws {
        let writer = try fields(of: record)
        try value.write(to: writer, at: index)
        record = try decodeWithoutCheck(ValueRowReader(entity: description, values: writer.values, related: writer.related))
    }

    /// Assigns a value to a field of a model.
    ///
    /// - Parameters:
    ///   - value: The value, in the form of ``RowReader/readValue(at:)``.
    ///   - index: The position of the field. It is not a relationship.
    ///   - record: The model. It keeps its related models.
    package func set(_ value: Value, at index: Int, in record: inout Record) throws {
        let writer = try fields(of: record)
        try description.write(value, at: index, to: writer)
        record = try decodeWithoutCheck(ValueRowReader(entity: description, values: writer.values, related: writer.related))
    }

    /// Gives the fields that code of the application has left as they were read what is stored in them since (contract W9).
    ///
    /// - Parameters:
    ///   - stored: The row as it is stored now.
    ///   - record: The record that the code has left.
    ///   - original: The record as it was read, in the same form as `stored`. Its fields follow too.
    package func follow(_ stored: Record, in record: inout Record, readAs original: inout Record) throws {
        let (new, old, now) = try (fields(of: record), fields(of: original), fields(of: stored))
        let relations = Dictionary(relations.map { ($0.field, $0) }, uniquingKeysWith: { $1 })
        for index in description.fields.indices where index != description.keyIndex {
            let isUnchanged =
                try relations[index].map { try $0.isUnchanged(in: record, since: original) }
                ?? (new.values[index] == old.values[index])
            guard isUnchanged else { continue }
            for row in [new, old] { (row.values[index], row.related[index]) = (now.values[index], now.related[index]) }
        }
        func decoded(_ row: ValueRowWriter) throws -> Record {
            try decodeWithoutCheck(ValueRowReader(entity: description, values: row.values, related: row.related))
        }
        (record, original) = try (decoded(new), decoded(old))
    }

    /// Gives a record that waits for the end of its call what other code has stored since (contract W6). Its `Revision` counts on
    /// from the stored one.
    package func catchUp(_ record: inout Record, with stored: Record, since original: inout Record) throws {
        let before = revision.map { $0.value(of: record).rawValue &- $0.value(of: original).rawValue }
        try follow(stored, in: &record, readAs: &original)
        if let revision, let before {
            try revision.set(Revision(rawValue: revision.value(of: stored).rawValue &+ before), in: &record)
        }
    }

    /// The position of the field that counts the writes of a row; nil when there is none.
    package var revisionIndex: Int? { revision?.index }

    /// Gives a record the fields of another one, except some, and except relationships.
    package func take(_ stored: Record, in record: inout Record, except isChanged: (Int) -> Bool) throws {
        let (new, now) = try (fields(of: record), fields(of: stored))
        let related = Set(relations.map(\.field))
        for index in description.fields.indices where !isChanged(index) && !related.contains(index) {
            new.values[index] = now.values[index]
        }
        record = try decodeWithoutCheck(ValueRowReader(entity: description, values: new.values, related: new.related))
    }

    /// Whether two records have the same stored form.
    package func isSame(_ left: Record, _ right: Record) throws -> Bool {
        try fields(of: left).values == fields(of: right).values
    }

    /// The values of a record in the form of ``RowReader/readValue(at:)``: the key of a related row, nil for a list.
    package func storedValues(of record: Record) throws -> [Value] {
        let row = ValueRowReader(entity: description, values: try fields(of: record).values)
        return try description.fields.indices.map { index in
            description.fields[index].type.kind == .toMany || row.isNull(at: index) ? .null : try row.readValue(at: index)
        }
    }

    private func fields(of record: Record) throws -> ValueRowWriter {
        let writer = ValueRowWriter(count: description.fields.count)
        try encode(record, to: writer)
        return writer
    }

    /// Returns the primary key of a model. It can be too long to store; ``validKey(of:)`` checks its length.
    public func key(of record: Record) -> Key { withUnsafePointer(to: record, keyOfRecord) }

    /// Returns the primary keys of models.
    func keys(of records: [Record]) -> [Key] {
        records.withUnsafeBufferPointer { records in
            guard let first = records.baseAddress else { return [] }
            return records.indices.map { keyOfRecord(first + $0) }
        }
    }

    /// Returns the primary key of a model, after checking its length.
    ///
    /// - Throws: `.invalidKey` when the key is longer than ``Key/maximumLength``.
    public func validKey(of record: Record) throws -> Key {
        let key = key(of: record)
        if case .string(let text) = key, text.utf8.count > Key.maximumLength {
            throw StorageError.keyTooLong(description.name, length: text.utf8.count)
        }
        return key
    }

    /// Throws `.keyChanged` when the key of a record is not the expected key (contract K4).
    public func checkKey(of record: Record, is expected: Key) throws {
        let key = key(of: record)
        guard key == expected else {
            throw StorageError.keyChanged(description, UniqueID(expected))
        }
    }
}

/// A database whose storages decode rows by their ``Schema`` in every read: lists in them are unread, and nothing has to be done
/// for them when a read does not include them.
///
/// A database is asked, and not a storage, because the run time looks through all conformances there are for each type of a
/// storage.
package protocol DecodingDatabase: Database {
    /// Whether a storage is one of those.
    func decodes<Record: Model>(_ storage: any Storage<Record>) -> Bool
    /// Returns a storage as one whose queries can contain conditions on related rows; nil when it is no such storage.
    func evaluating<Record: Model>(_ storage: any Storage<Record>) -> (any RelatedEvaluating<Record>)?
}

extension DecodingDatabase {
    package func evaluating<Record: Model>(_ storage: any Storage<Record>) -> (any RelatedEvaluating<Record>)? { nil }
}
