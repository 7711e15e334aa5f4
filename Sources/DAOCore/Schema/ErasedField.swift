/// A ``Field`` whose value type is only known to its closures.
@usableFromInline struct ErasedField<Record: Model>: Sendable {
    @usableFromInline let description: FieldDescription
    let keyPath: any AnyKeyPath & Sendable
    let offset: Int
    let earlierNames: [String]
    let writeDefault: (@Sendable (RowWriter) throws -> Void)?
    let value: @Sendable (Record) -> Value
    let key: (@Sendable (Record) -> Key)?
    /// Makes the relationship that the field is, of its position; nil for a field that is none.
    let relation: (@Sendable (Int) -> any Relation<Record>)?
    /// Whether it holds models in a form that is neither `[SomeModel]` nor `SomeModel?`.
    let hasUnknownRelation: Bool

    @usableFromInline init<Stored: FieldValue>(_ field: Field<Record, Stored>) {
        var isPrimaryKey = false
        var isIndexed = false
        var isUnique = false
        var cascades = false
        var earlierNames: [String] = []
        var writeDefault: (@Sendable (RowWriter) throws -> Void)?
        for option in field.options {
            switch option.meaning {
            case .primaryKey: isPrimaryKey = true
            case .indexed: isIndexed = true
            case .unique: isUnique = true
            case .cascade: cascades = true
            case .renamed(let name): earlierNames.append(name)
            case .default(let value): writeDefault = { try value.write(to: $0, at: 0) }
            }
        }
        description = FieldDescription(
            name: field.name, type: Stored.fieldType, isPrimaryKey: isPrimaryKey, isIndexed: isIndexed, isUnique: isUnique)
        keyPath = field.keyPath
        offset = field.offset
        self.earlierNames = earlierNames
        self.writeDefault = writeDefault
        value = { record in withUnsafePointer(to: record) { field.value(of: $0).fieldValue } }
        if isPrimaryKey, let keyType = Stored.self as? any PrimaryKeyValue.Type {
            key = Self.keyReader(keyType, field)
        } else {
            key = nil
        }
        let related = Stored.relatedModel
        relation = related.flatMap { Self.relation($0, field, cascades) }
        hasUnknownRelation = related != nil && relation == nil
    }

    /// The relationship that a field is. `Child` is the model that the field's own type says it refers to.
    private static func relation<Child: Model, Stored: FieldValue>(
        _ type: Child.Type, _ field: Field<Record, Stored>, _ cascades: Bool
    ) -> (@Sendable (Int) -> any Relation<Record>)? {
        if let field = field as? Field<Record, [Child]> {
            return { TypedRelation(.toMany(field), at: $0, cascades: cascades) }
        }
        if let field = field as? Field<Record, Child?> {
            return { TypedRelation(.toOne(field), at: $0, cascades: cascades) }
        }
        return nil
    }

    /// Reads the key of a model. `KeyValue` is the field's own type, known here to be one that can be a key.
    private static func keyReader<KeyValue: PrimaryKeyValue, Stored: FieldValue>(
        _ type: KeyValue.Type, _ field: Field<Record, Stored>
    ) -> (@Sendable (Record) -> Key)? {
        guard let field = field as? Field<Record, KeyValue> else { return nil }
        return { record in withUnsafePointer(to: record) { field.value(of: $0).key } }
    }
}

/// Where the fields of a model are, without their types.
///
/// A closure that captured the fields themselves would ask the runtime for the type of each, every time it is called.
@usableFromInline struct FieldPlaces<Record: Model>: Sendable {
    /// How far into the model a stored property is; -1 for a computed one.
    @usableFromInline let offsets: [Int]
    @usableFromInline let keyPaths: [any AnyKeyPath & Sendable]

    @usableFromInline init(_ fields: [ErasedField<Record>]) {
        offsets = fields.map(\.offset)
        keyPaths = fields.map(\.keyPath)
    }

    /// The field of a model.
    ///
    /// - Parameter type: The type that the field at this position was declared with.
    @inlinable @inline(__always) func value<Value>(_ type: Value.Type, at index: Int, of record: UnsafePointer<Record>) -> Value {
        let offset = offsets[index]
        // `offset(of:)` answers only for stored properties, whose bytes at that offset are a `Value`.
        if offset >= 0 { return UnsafeRawPointer(record).advanced(by: offset).assumingMemoryBound(to: Value.self).pointee }
        return computed(type, at: index, of: record)
    }

    /// The field of a model that has to be asked through its key path.
    @inline(never) @usableFromInline func computed<Value>(
        _ type: Value.Type, at index: Int, of record: UnsafePointer<Record>
    ) -> Value {
        // The key path at this position was declared with this type.
        record.pointee[keyPath: unsafeDowncast(keyPaths[index] as AnyKeyPath, to: KeyPath<Record, Value>.self)]
    }
}
