import DAOCore

/// What a generated model declares, for as long as it has its slot.
final class GeneratedDeclaration<Slot: ModelSlot>: Sendable {
    let schema: Schema<GeneratedRecord<Slot>>
    let columns: [Column<GeneratedRecord<Slot>>]
    let blank: GeneratedRecord<Slot>
    let keptFields: Set<String>

    init(_ entity: PropertyTesting.GeneratedEntity, partOf whole: (any TestRecord.Type)? = nil) {
        typealias Record = GeneratedRecord<Slot>
        func part<Whole: Model>(_ schema: Schema<Record>, of whole: Whole.Type) -> Schema<Record> {
            Schema(schema, partOf: whole)
        }
        let parts = entity.fields.enumerated().compactMap { GeneratedPart<Slot>($1, at: $0) }
        let blank = GeneratedRecord<Slot>(fields: parts.map(\.blank))
        // Storages throw `.invalidSchema` for an entity without a name.
        let schema = Schema<Record>(
            parts.count == entity.fields.count ? entity.name : "", fields: parts.map(\.field), indexes: entity.indexes
        ) { blank }
        .dropping(entity.dropped)
        self.schema = whole.map { part(schema, of: $0) } ?? schema
        columns = parts.map(\.column)
        keptFields = Set(entity.kept.map { entity.fields[$0].name })
        self.blank = blank
    }
}

/// What one field adds to a declaration.
private struct GeneratedPart<Slot: ModelSlot> {
    typealias Record = GeneratedRecord<Slot>
    let field: RuntimeField<Record>
    let column: Column<Record>
    let blank: any GeneratedValue

    /// Nil when the type of a required field has no empty value.
    init?(_ field: PropertyTesting.GeneratedField, at index: Int) {
        guard let part = Self.make(field, index, field.type.type) else { return nil }
        self = part
    }

    private init<Stored: GeneratedValue>(
        _ field: PropertyTesting.GeneratedField, _ options: [FieldOption<Stored>],
        _ path: any WritableKeyPath<Record, Stored> & Sendable,
        _ column: Column<Record>, _ blank: Stored
    ) {
        self.field = RuntimeField(field.name, path, options: options)
        self.column = column
        self.blank = blank
    }

    /// Opens the type of a field.
    private static func make<Stored: GeneratedValue>(_ field: PropertyTesting.GeneratedField, _ index: Int, _ type: Stored.Type)
        -> Self?
    {
        if let type = type as? any (ExactlyStored & NumericFieldValue).Type { return number(field, index, type) }
        if let type = type as? any (ExactlyStored & OrderedFieldValue).Type { return ordered(field, index, type) }
        return part(field, index, type, { Column($0) }, { Column($0) })
    }

    private static func ordered<Stored: ExactlyStored & OrderedFieldValue>(
        _ field: PropertyTesting.GeneratedField, _ index: Int, _ type: Stored.Type
    ) -> Self? {
        part(field, index, type, { Column($0) }, { Column($0) })
    }

    private static func number<Stored: ExactlyStored & NumericFieldValue>(
        _ field: PropertyTesting.GeneratedField, _ index: Int, _ type: Stored.Type
    ) -> Self? {
        part(field, index, type, { Column($0) }, { Column($0) })
    }

    /// The columns of an optional and of a required field are made where it is known what the type can do.
    private static func part<Stored: ExactlyStored & FieldValue>(
        _ field: PropertyTesting.GeneratedField, _ index: Int, _ type: Stored.Type,
        _ optional: (any WritableKeyPath<Record, Stored?> & Sendable) -> Column<Record>,
        _ required: (any WritableKeyPath<Record, Stored> & Sendable) -> Column<Record>
    ) -> Self? {
        if field.isOptional {
            let path = path(index, Stored?.none)
            return Self(field, options(of: field), path, optional(path), nil)
        }
        guard let blank = Stored.from(field.type.empty) else { return nil }
        let path = path(index, blank)
        return Self(field, options(of: field), path, required(path), blank)
    }

    private static func path<Stored: GeneratedValue>(
        _ index: Int, _ blank: Stored
    ) -> any WritableKeyPath<Record, Stored> & Sendable {
        \Record.[FieldPosition<Stored>(index: index, blank: blank)]
    }

    private static func options<Stored: GeneratedValue>(of field: PropertyTesting.GeneratedField) -> [FieldOption<Stored>] {
        var options = field.isKey ? key(Stored.self) : []
        if field.isIndexed { options.append(.indexed) }
        if field.isUnique { options.append(.unique) }
        if let value = field.defaultValue.flatMap({ Stored.from($0) }) { options.append(.default(value)) }
        return options + field.earlierNames.map { .renamed(from: $0) }
    }

    private static func key<Stored: GeneratedValue>(_ type: Stored.Type) -> [FieldOption<Stored>] {
        func option<KeyValue: PrimaryKeyValue>(_ type: KeyValue.Type) -> Any { FieldOption<KeyValue>.primaryKey }
        let option = (type as? any PrimaryKeyValue.Type).map { option($0) }
        return (option as? FieldOption<Stored>).map { [$0] } ?? []
    }
}
