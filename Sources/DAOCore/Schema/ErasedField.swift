/// A ``Field`` whose value type is only known to its closures.
@usableFromInline struct ErasedField<Record: Model>: Sendable {
    @usableFromInline let description: FieldDescription
    let keyPath: any AnyKeyPath & Sendable
    let earlierName: String?
    let writeDefault: (@Sendable (RowWriter) throws -> Void)?
    let value: @Sendable (Record) -> Value
    let key: (@Sendable (Record) -> Key)?

    @usableFromInline init<Stored: FieldValue>(_ field: Field<Record, Stored>) {
        var isPrimaryKey = false
        var isIndexed = false
        var isUnique = false
        var earlierName: String?
        var writeDefault: (@Sendable (RowWriter) throws -> Void)?
        for option in field.options {
            switch option.meaning {
            case .primaryKey: isPrimaryKey = true
            case .indexed: isIndexed = true
            case .unique: isUnique = true
            case .cascade: break
            case .renamed(let name): earlierName = name
            case .default(let value): writeDefault = { try value.write(to: $0, at: 0) }
            }
        }
        description = FieldDescription(
            name: field.name, type: Stored.fieldType, isPrimaryKey: isPrimaryKey, isIndexed: isIndexed, isUnique: isUnique)
        keyPath = field.keyPath
        self.earlierName = earlierName
        self.writeDefault = writeDefault
        value = { record in withUnsafePointer(to: record) { field.value(of: $0).fieldValue } }
        if isPrimaryKey, let keyType = Stored.self as? any PrimaryKeyValue.Type {
            key = Self.keyReader(keyType, field)
        } else {
            key = nil
        }
    }

    /// Reads the key of a model. `KeyValue` is the field's own type, known here to be one that can be a key.
    private static func keyReader<KeyValue: PrimaryKeyValue, Stored: FieldValue>(
        _ type: KeyValue.Type, _ field: Field<Record, Stored>
    ) -> (@Sendable (Record) -> Key)? {
        guard let field = field as? Field<Record, KeyValue> else { return nil }
        return { record in withUnsafePointer(to: record) { field.value(of: $0).key } }
    }
}
