import Foundation

/// The one declaration of a model: entity name, initializer and fields.
///
/// From it come the table or records, the codec, typed queries and changes of the stored form. The fields stand in the order of the
/// initializer's parameters; a field of the wrong type, or one too few, is a compiler error at that place.
///
/// ```swift
/// static let schema = Schema(
///     "message", Self.init,
///     Field("id", \.id, .primaryKey),
///     Field("date", \.date, .indexed),
///     Field("text", \.text)
/// )
/// ```
///
/// A schema that contradicts itself does not trap: asking a database for its storage throws `.invalidSchema`.
public final class Schema<Record: Model>: Sendable {

    /// What the entity looks like, without the Swift type.
    public let description: EntityDescription
    /// What is wrong with the declaration, if anything.
    public let problem: StorageError?

    /// The kind of the primary key.
    public let keyKind: ValueKind

    /// The relationships among the fields, in order.
    let relations: [any Relation<Record>]
    /// Stands in a relationship field that was not read, so that nothing is written back for it (contract R6).
    ///
    /// It is empty, and told from other empty arrays by where it is in memory.
    let unread: [Record]

    /// The key paths of the fields, in order.
    let keyPaths: [any AnyKeyPath & Sendable]
    /// The earlier names of the fields, the newest first.
    let earlierNames: [[String]]
    /// Writes the default of a field: what was declared, else the type's empty value if it has one.
    let defaults: [(@Sendable (RowWriter) throws -> Void)?]

    let decodeRow: @Sendable (RowReader) throws -> Record
    let decodeRows: @Sendable (RowReader, Int, inout [Record]) throws -> Void
    let encodeRow: @Sendable (UnsafePointer<Record>, RowWriter) throws -> Void
    let mergeRow: @Sendable (RowReader?, RowWriter, (inout Record?) throws -> Void) throws -> Bool
    private let values: [@Sendable (Record) -> Value]
    let keyOfRecord: @Sendable (Record) -> Key

    /// Declares a model.
    ///
    /// - Parameters:
    ///   - entity: The name of the entity: a table, or a range of records. Letters, digits and underscores.
    ///   - make: The initializer that takes the fields, usually `Self.init`.
    ///   - fields: The fields in the order of the initializer's parameters.
    @inlinable public convenience init<each Stored: FieldValue>(
        _ entity: String,
        _ make: @escaping @Sendable (repeat each Stored) -> Record,
        _ fields: repeat Field<Record, each Stored>
    ) {
        var erased: [ErasedField<Record>] = []
        repeat erased.append(ErasedField(each fields))
        let places = FieldPlaces(erased)
        // The closures are made here, in an inlinable initializer, so that the application's own compiler run specialises
        // them for the model: the backend calls one closure a query, and a row costs no generic code. What they have in common is
        // written out in each, since a closure that captures another is not specialised.
        self.init(
            entity: entity, fields: erased,
            decodeRow: { row in
                var index = FieldCounter()
                return make(repeat try (each Stored).read(from: row, at: index.next()))
            },
            decodeRows: { row, limit, records in
                var remaining = limit
                while remaining > 0, try row.advance() {
                    var index = FieldCounter()
                    records.append(make(repeat try (each Stored).read(from: row, at: index.next())))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                var index = FieldCounter()
                repeat try places.value((each Stored).self, at: index.next(), of: record).write(to: row, at: index.index)
            },
            mergeRow: { stored, row, change in
                var record: Record?
                if let stored {
                    var index = FieldCounter()
                    record = make(repeat try (each Stored).read(from: stored, at: index.next()))
                }
                try change(&record)
                guard let changed = consume record else { return false }
                try withUnsafePointer(to: changed) { record in
                    var index = FieldCounter()
                    repeat try places.value((each Stored).self, at: index.next(), of: record).write(to: row, at: index.index)
                }
                return true
            })
    }

    @usableFromInline init(
        entity: String, fields: [ErasedField<Record>],
        decodeRow: @escaping @Sendable (RowReader) throws -> Record,
        decodeRows: @escaping @Sendable (RowReader, Int, inout [Record]) throws -> Void,
        encodeRow: @escaping @Sendable (UnsafePointer<Record>, RowWriter) throws -> Void,
        mergeRow: @escaping @Sendable (RowReader?, RowWriter, (inout Record?) throws -> Void) throws -> Bool
    ) {
        description = EntityDescription(name: entity, fields: fields.map { $0.description })
        problem = SchemaCheck.problem(entity: entity, fields: fields)
        keyKind = description.keyKind
        relations = fields.enumerated().compactMap { index, field in field.relation?(index) }
        var unread: [Record] = []
        unread.reserveCapacity(1)
        self.unread = unread
        keyPaths = fields.map { $0.keyPath }
        earlierNames = fields.map { $0.earlierNames }
        defaults = fields.map { $0.writeDefault }
        values = fields.map { $0.value }
        var keyOfRecord: @Sendable (Record) -> Key = { _ in Key.integer(0) }
        for field in fields {
            if let key = field.key { keyOfRecord = key }
        }
        self.keyOfRecord = keyOfRecord
        self.decodeRow = decodeRow
        self.decodeRows = decodeRows
        self.encodeRow = encodeRow
        self.mergeRow = mergeRow
    }
}

/// Counts the fields of a row while a parameter pack is walked.
@frozen @usableFromInline struct FieldCounter {
    @usableFromInline var index = -1
    @inlinable init() {}
    @inlinable mutating func next() -> Int {
        index &+= 1
        return index
    }
}

extension Schema {
    /// The stored form of a portable id.
    ///
    /// - Throws: `.invalidKey` when the id is not one of this model's keys.
    public func key(_ id: UniqueID) throws -> Key { try id.key(as: description.keyKind, entity: description.name) }

    /// One field of a model, as a value.
    ///
    /// - Parameters:
    ///   - index: The position of the field.
    ///   - record: The model.
    public func value(at index: Int, of record: Record) -> Value { values[index](record) }

    /// The position of the field that a key path leads to; nil when it leads to something that is not stored.
    public func index(of keyPath: AnyKeyPath) -> Int? { keyPaths.firstIndex { $0 == keyPath } }

    /// A model of defaults: what the fields declare, else zero, empty or nil.
    ///
    /// - Throws: `.invalidSchema` when a field has neither, such as an enumeration without a declared default.
    public func makeDefault() throws -> Record {
        do {
            return try decode(DefaultRow.reader(of: description, defaults: defaults))
        } catch let error as StorageError {
            throw StorageError(
                .invalidSchema,
                "the field '\(error.field ?? "?")' of '\(description.name)' has no default value: declare one with .default(…)",
                entity: description.name, field: error.field)
        }
    }
}
