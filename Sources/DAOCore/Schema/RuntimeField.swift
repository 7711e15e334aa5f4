/// A field of a model whose fields are known only at run time. Only its closures know the type of the values.
///
/// Applications declare models with ``Schema/init(_:_:_:)``, whose closures are compiled for the model. These
/// closures ask the runtime for every value.
package struct RuntimeField<Record: Model>: Sendable {
    let erased: ErasedField<Record>
    let read: @Sendable (RowReader, Int, inout Record) throws -> Void
    let write: @Sendable (UnsafePointer<Record>, RowWriter, Int) throws -> Void

    /// Describes a field.
    ///
    /// - Parameters:
    ///   - name: The stored name.
    ///   - keyPath: The key path of the property. It can contain a subscript.
    ///   - options: The options of the field.
    package init<Stored: FieldValue>(
        _ name: String, _ keyPath: any WritableKeyPath<Record, Stored> & Sendable, options: [FieldOption<Stored>]
    ) {
        erased = ErasedField(Field(name, keyPath, options: options))
        read = { row, index, record in record[keyPath: keyPath] = try Stored.read(from: row, at: index) }
        write = { record, row, index in try record.pointee[keyPath: keyPath].write(to: row, at: index) }
    }
}

extension Field {
    /// Creates a field from an array of options. Its values are read through its key path.
    fileprivate init(_ name: String, _ keyPath: any KeyPath<Record, Value> & Sendable, options: [FieldOption<Value>]) {
        self.name = name
        self.keyPath = keyPath
        self.options = options
        offset = -1
    }
}

extension Schema {
    /// Declares a model whose fields are known only at run time.
    ///
    /// - Parameters:
    ///   - entity: The name of the entity.
    ///   - fields: The fields.
    ///   - indexes: The indexes over several fields.
    ///   - blank: Creates a model. Its fields are then set individually.
    package convenience init(
        _ entity: String, fields: [RuntimeField<Record>], indexes: [IndexDescription] = [],
        blank: @escaping @Sendable () -> Record
    ) {
        @Sendable func decode(_ row: RowReader) throws -> Record {
            var record = blank()
            for (index, field) in fields.enumerated() { try field.read(row, index, &record) }
            return record
        }
        @Sendable func encode(_ record: UnsafePointer<Record>, _ row: RowWriter) throws {
            for (index, field) in fields.enumerated() { try field.write(record, row, index) }
        }
        self.init(
            entity: entity, fields: fields.map(\.erased), indexes: indexes.map { Index($0) }, decode: decode, encode: encode)
    }

    /// Declares a model by closures that read and write one record. Nothing is specialised for the model.
    convenience init(
        entity: String, fields: [ErasedField<Record>], indexes: [Index<Record>], isOfStoredEntity: Bool = false,
        decode: @escaping @Sendable (RowReader) throws -> Record,
        encode: @escaping @Sendable (UnsafePointer<Record>, RowWriter) throws -> Void
    ) {
        self.init(
            entity: entity, fields: fields, indexes: indexes, isOfStoredEntity: isOfStoredEntity,
            decodeRow: { $1 = try decode($0) },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    records.append(try decode(row))
                    remaining -= 1
                }
            },
            encodeRow: encode)
    }
}
