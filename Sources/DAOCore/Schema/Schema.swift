import Foundation

/// The declaration of a model: entity name, initializer and fields.
///
/// The table or records, the codec, typed queries and schema changes are derived from it. The fields have the
/// order of the initializer's parameters. A field of the wrong type, or a missing field, does not compile.
/// The name of the entity is that of a table: letters, digits, spaces and most signs. The initializer is usually `Self.init`. Indexes
/// over several fields follow the fields, in any order.
///
/// ```swift
/// static let schema = Schema(
///     "message", Self.init,
///     Field("id", \.id, .primaryKey),
///     Field("date", \.date, .indexed),
///     Field("text", \.text),
///     indexes: [Index(orderedBy: .ascending(\.text), .descending(\.date))]
/// )
/// ```
///
/// An inconsistent schema does not trap. ``Database/storage(for:)`` throws `.invalidSchema` for it.
public final class Schema<Record: Model>: Sendable {

    /// The description of the entity, without the Swift type, and without indexes whose conditions are closures.
    public let description: EntityDescription
    /// The fault of the declaration; nil when the declaration is valid.
    public var problem: StorageError? {
        if fault == nil, case .failure(let problem) = partialIndexes?.result { return problem }
        return fault
    }
    /// The fault of the declaration, apart from conditions of indexes.
    private let fault: StorageError?
    /// The indexes whose conditions are closures; nil when there are none.
    let partialIndexes: PartialIndexes?

    /// The kind of the primary key.
    public let keyKind: ValueKind

    /// The relationship fields, in order.
    let relations: Relations<Record>
    /// The inverse relationships that were used.
    let inverses: UsedInverses<Record>

    /// The key paths of the fields, in order.
    let keyPaths: [any AnyKeyPath & Sendable]
    /// The types of the elements of arrays of values, by the positions of their fields; nil for other fields.
    package let elementTypes: [FieldType?]
    /// For every embedded field, what writes its JSON as the type encodes it.
    let recodings: [EmbeddedRecoding?]
    /// The declared members of `Codable` values, by the positions of their fields.
    let members: [[EmbeddedMember]]
    /// What a search reads, by the positions of the fields; nil for a field that it does not look into.
    package let searchable: [SearchableField?]
    /// The earlier names of every field, the newest first.
    let earlierNames: [[String]]
    /// The names of the stored fields that the declaration drops.
    let dropped: [String]
    /// Whether the declaration ends the log of the entity's changes.
    let endsLog: Bool
    /// Whether the schema was made of an entity as it is stored.
    let isOfStoredEntity: Bool
    /// The model that the schema declares a part of; nil for a whole entity.
    let whole: (any Model.Type)?
    /// Writes the default of a field: the declared default, otherwise the empty value of its type; nil when
    /// there is neither.
    let defaults: [(@Sendable (RowWriter) throws -> Void)?]

    let decodeRow: @Sendable (RowReader, inout Record?) throws -> Void
    let decodeRows: @Sendable (RowReader, Int, Int, inout [Record]) throws -> Void
    let encodeRow: @Sendable (UnsafePointer<Record>, RowWriter) throws -> Void
    private let values: [@Sendable (Record) -> Value]
    let keyOfRecord: @Sendable (UnsafePointer<Record>) -> Key
    /// The field that counts the writes of a row; nil when there is none.
    let revision: RevisionField<Record>?
    /// Whether the fields are known to be as the initializer takes and keeps them.
    let probe: DeclarationProbe

    /// Declares a part of an entity, of any number of fields. The public initializers for models have the fields written out
    /// (`Schema+Arities.swift`): the compiler does not unroll a parameter pack.
    @inlinable convenience init<each Stored: FieldValue>(
        packing entity: String,
        _ make: @escaping @Sendable (repeat each Stored) -> Record,
        _ fields: repeat Field<Record, each Stored>,
        indexes: [Index<Record>] = []
    ) {
        var erased: [ErasedField<Record>] = []
        repeat erased.append(ErasedField(each fields))
        let places = FieldPlaces(erased)
        // The closures are made in an inlinable initializer, so that the application's compiler specialises
        // them for the model. The backend calls one closure for each query, and a row runs no generic code.
        // The closures repeat shared code, because a closure that captures another closure is not
        // specialised.
        self.init(
            entity: entity, fields: erased, indexes: indexes,
            decodeRow: { row, record in
                var index = FieldCounter()
                record = make(repeat try (each Stored).read(from: row, at: index.next()))
            },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    var index = FieldCounter()
                    records.append(make(repeat try (each Stored).read(from: row, at: index.next())))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                var index = FieldCounter()
                repeat try places.write((each Stored).self, at: index.next(), of: record, to: row)
            })
    }

    @usableFromInline init(
        entity: String, fields: [ErasedField<Record>], indexes: [Index<Record>] = [], isOfStoredEntity: Bool = false,
        decodeRow: @escaping @Sendable (RowReader, inout Record?) throws -> Void,
        decodeRows: @escaping @Sendable (RowReader, Int, Int, inout [Record]) throws -> Void,
        encodeRow: @escaping @Sendable (UnsafePointer<Record>, RowWriter) throws -> Void
    ) {
        var facts: [FieldFacts] = []
        var values: [@Sendable (Record) -> Value] = []
        var relations: [any Relation<Record>] = []
        var keyOfRecord: @Sendable (UnsafePointer<Record>) -> Key = { _ in Key.integer(0) }
        var revision: RevisionField<Record>?
        // The only loop over the fields of the model.
        for index in 0..<fields.count {
            let field = fields[index]
            facts.append(field.facts)
            values.append(field.value)
            if let make = field.relation { relations.append(make(index)) }
            if let key = field.key { keyOfRecord = key }
            if revision == nil, let field = field.revision { revision = RevisionField(field, at: index) }
        }
        var described = EntityDescription(
            name: entity, fields: facts.map(\.description),
            indexes: indexes.isEmpty ? [] : indexes.compactMap { $0.description(facts) })
        let searched = facts.compactMap { field in
            field.searchable.map { (name: field.description.name, weight: $0.weight) }
        }
        if !searched.isEmpty { described.textIndex = TextIndex(fields: searched) }
        description = described
        let hasUnknownIndex = !indexes.isEmpty && indexes.contains { $0.fields(facts) == nil }
        fault =
            Record.self is any OwnModel.Type || isOfStoredEntity && description.isOwn
            ? nil : SchemaCheck.problem(description, fields: facts, hasUnknownIndex: hasUnknownIndex)
        let partial = indexes.isEmpty ? [] : indexes.filter(\.isPartial)
        partialIndexes =
            partial.isEmpty ? nil : PartialIndexes { [description] in Index.descriptions(of: partial, in: description) }
        keyKind = description.keyKind
        self.relations = Relations(relations)
        inverses = UsedInverses(after: facts.count)
        keyPaths = facts.map(\.keyPath)
        elementTypes = facts.map(\.elementType)
        recodings = facts.map(\.recoding)
        members = facts.map(\.members)
        searchable = facts.map(\.searchable)
        earlierNames = facts.map(\.earlierNames)
        dropped = []
        endsLog = false
        self.isOfStoredEntity = isOfStoredEntity
        whole = nil
        defaults = facts.map(\.writeDefault)
        self.values = values
        self.keyOfRecord = keyOfRecord
        self.revision = revision
        probe = DeclarationProbe(description.fields, offsets: facts.map(\.offset))
        self.decodeRow = decodeRow
        self.decodeRows = decodeRows
        self.encodeRow = encodeRow
    }

    /// The initializers that are not available need a body.
    convenience init(neverMade entity: String) {
        self.init(
            entity: entity, fields: [], decodeRow: { _, _ in }, decodeRows: { _, _, _, _ in }, encodeRow: { _, _ in })
    }

    /// Copies a schema with some changes.
    private init(
        _ schema: Schema, description: EntityDescription, fault: StorageError?, partialIndexes: PartialIndexes?,
        dropped: [String] = [], endsLog: Bool = false, whole: (any Model.Type)?,
        defaults: [(@Sendable (RowWriter) throws -> Void)?]
    ) {
        self.description = description
        self.fault = fault
        self.partialIndexes = partialIndexes
        self.dropped = dropped
        self.endsLog = endsLog
        self.whole = whole
        self.defaults = defaults
        keyKind = description.keyKind
        relations = schema.relations
        inverses = schema.inverses
        keyPaths = schema.keyPaths
        elementTypes = schema.elementTypes
        recodings = schema.recodings
        members = schema.members
        searchable = schema.searchable
        earlierNames = schema.earlierNames
        isOfStoredEntity = schema.isOfStoredEntity
        values = schema.values
        keyOfRecord = schema.keyOfRecord
        revision = schema.revision
        probe = schema.probe
        decodeRow = schema.decodeRow
        decodeRows = schema.decodeRows
        encodeRow = schema.encodeRow
    }

    /// Makes a schema the part of an entity.
    @usableFromInline package convenience init<Whole: Model>(_ schema: Schema, partOf model: Whole.Type) {
        let fault: StorageError?
        var partialIndexes: PartialIndexes?
        var (description, defaults) = (schema.description, schema.defaults)
        if PartOf.isCircular(Record.self, model) {
            fault = PartOf.nested(schema.description.name, Record.self, model)
        } else {
            let whole = Whole.schema
            fault = schema.fault ?? whole.fault ?? PartOf.problem(schema, whole)
            // Indexes and defaults are those of the entity.
            for (index, field) in description.fields.enumerated() {
                guard let position = whole.description.index(of: field.name) else { continue }
                description.fields[index] = whole.description.fields[position]
                defaults[index] = whole.defaults[position]
            }
            let part = schema.description
            description.indexes = whole.description.indexes.filter(part.hasFields)
            description.textIndex = whole.description.textIndex
            partialIndexes = whole.partialIndexes.map { indexes in
                PartialIndexes { indexes.result.map { $0.filter(part.hasFields) } }
            }
        }
        self.init(
            schema, description: description, fault: fault, partialIndexes: partialIndexes, whole: model, defaults: defaults)
    }

    /// Drops stored fields with their values when the storage of the model is requested.
    ///
    /// A stored field that a model does not declare is retired: its values stay in the database, and return
    /// when a later version declares the field again. This method removes them for good:
    ///
    /// ```swift
    /// static let schema = Schema(
    ///     "message", Self.init,
    ///     Field("id", \.id, .primaryKey),
    ///     Field("title", \.title)
    /// ).dropped("body")
    /// ```
    ///
    /// - Parameter names: The stored names of the fields. A name that is not stored has no effect.
    public func dropped(_ names: String...) -> Schema { dropping(names) }

    /// Drops stored fields; see ``dropped(_:)``.
    package func dropping(_ names: [String]) -> Schema {
        if names.isEmpty { return self }
        let fault = fault ?? (whole == nil ? nil : PartOf.droppedField(names[0], description.name))
        return Schema(
            self, description: description, fault: fault ?? SchemaCheck.problem(dropping: names, of: description),
            partialIndexes: partialIndexes, dropped: dropped + names, endsLog: endsLog, whole: whole, defaults: defaults)
    }

    /// Begins or ends the log of the entity's changes.
    func logging(_ log: EntityLog?) -> Schema {
        var description = description
        (description.log, description.logSince) = (log, log.map { _ in Date() })
        return Schema(
            self, description: description, fault: fault, partialIndexes: partialIndexes, dropped: dropped, endsLog: log == nil,
            whole: whole, defaults: defaults)
    }
}

/// Counts the fields of a row while a parameter pack is expanded.
@frozen @usableFromInline struct FieldCounter {
    @usableFromInline var index: Int
    @inlinable init(after index: Int = -1) { self.index = index }
    @inlinable mutating func next() -> Int {
        index &+= 1
        return index
    }
}

extension Schema {
    /// Returns the stored form of a portable id.
    ///
    /// - Throws: `.invalidKey` when the id cannot be a key of this model.
    public func key(_ id: UniqueID) throws -> Key { try id.key(as: description.keyKind, entity: description.name) }

    /// Returns the value of a field of a model.
    ///
    /// - Parameters:
    ///   - index: The position of the field.
    ///   - record: The model.
    public func value(at index: Int, of record: Record) -> Value { values[index](record) }

    /// Returns the position of the field with a key path; nil when the key path does not lead to a stored
    /// field.
    public func index(of keyPath: AnyKeyPath) -> Int? { keyPaths.firstIndex { $0 == keyPath } }

    /// Returns the position of the field with a key path.
    ///
    /// - Throws: `.invalidQuery` when the key path does not lead to a stored field.
    func position(of keyPath: AnyKeyPath) throws -> Int {
        if let index = index(of: keyPath) { return index }
        let entity = description.name
        throw StorageError(
            .invalidQuery, "\(keyPath) is not a stored field of '\(entity)'; use one of its fields", entity: entity)
    }

    /// Returns a model with default values: the declared default of each field, otherwise zero, empty or nil.
    ///
    /// - Throws: `.invalidSchema` when a field has no default, such as an enumeration without a declared
    ///   default.
    public func makeDefault() throws -> Record {
        do {
            var record = try decode(DefaultRow.reader(of: description, defaults: defaults))
            // The default of a revision belongs to rows that were stored without it.
            try revision?.set(Revision(), in: &record)
            return record
        } catch let error as StorageError {
            throw StorageError(
                .invalidSchema,
                "the field '\(error.field ?? "?")' of '\(description.name)' has no default value; declare one with .default(…)",
                entity: description.name, field: error.field)
        }
    }
}
