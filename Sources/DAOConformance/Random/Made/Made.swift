import DAOCore

/// A model made at run time: what its slot says.
struct Made<Slot: MadeSlot>: RandomRecord {
    /// The values of the fields, each of its field's type.
    private var values: [any MadeValue]

    init(values: [any MadeValue]) { self.values = values }

    init(cells: [Value]) { self = Self.make(cells) }

    var cells: [Value] { values.map(\.cell) }

    /// A field.
    subscript<Stored: MadeValue>(place: Place<Stored>) -> Stored {
        get {
            guard let value = values[place.index] as? Stored else {
                // Places are made from the declaration that the values are made from.
                preconditionFailure("field \(place.index) of a made model is not \(Stored.self)")
            }
            return value
        }
        set { values[place.index] = newValue }
    }

    private static var declaration: MadeDeclaration<Slot> {
        // Nobody has the slot any more: a schema that is refused.
        MadeSlots.declaration(of: Slot.self) ?? MadeDeclaration(RandomProof.MadeEntity("", []))
    }

    static var schema: Schema<Self> { declaration.schema }
    static var keptFields: Set<String> { declaration.keptFields }
    static var columns: [Column<Self>] { declaration.columns }
    static var blank: Self { declaration.blank }
}

/// Where a field of a made model is.
struct Place<Stored>: Hashable, Sendable {
    let index: Int
}

/// What a made model declares, for as long as it has its slot.
final class MadeDeclaration<Slot: MadeSlot>: Sendable {
    let schema: Schema<Made<Slot>>
    let columns: [Column<Made<Slot>>]
    let blank: Made<Slot>
    let keptFields: Set<String>

    init(_ entity: RandomProof.MadeEntity) {
        let parts = entity.fields.enumerated().map { MadePart<Slot>($1, at: $0) }
        let blank = Made<Slot>(values: parts.map(\.blank))
        schema = Schema(entity.name, fields: parts.map(\.field)) { blank }
        columns = parts.map(\.column)
        keptFields = Set(entity.kept.map { entity.fields[$0].name })
        self.blank = blank
    }
}

/// What one field adds to a declaration.
private struct MadePart<Slot: MadeSlot> {
    typealias Record = Made<Slot>
    let field: RuntimeField<Record>
    let column: Column<Record>
    let blank: any MadeValue

    init(_ field: RandomProof.MadeField, at index: Int) {
        self = Self.make(field, index, field.type.type)
    }

    private init<Stored: MadeValue>(
        _ field: RandomProof.MadeField, _ options: [FieldOption<Stored>], _ path: any WritableKeyPath<Record, Stored> & Sendable,
        _ column: Column<Record>, _ blank: Stored
    ) {
        self.field = RuntimeField(field.name, path, options: options)
        self.column = column
        self.blank = blank
    }

    /// Opens the type of a field.
    private static func make<Stored: MadeValue>(_ field: RandomProof.MadeField, _ index: Int, _ type: Stored.Type) -> Self {
        if let type = type as? any (Cell & NumericFieldValue).Type { return number(field, index, type) }
        if let type = type as? any (Cell & OrderedFieldValue).Type { return ordered(field, index, type) }
        return part(field, index, type, { Column($0) }, { Column($0) })
    }

    private static func ordered<Stored: Cell & OrderedFieldValue>(
        _ field: RandomProof.MadeField, _ index: Int, _ type: Stored.Type
    ) -> Self {
        part(field, index, type, { Column($0) }, { Column($0) })
    }

    private static func number<Stored: Cell & NumericFieldValue>(
        _ field: RandomProof.MadeField, _ index: Int, _ type: Stored.Type
    ) -> Self {
        part(field, index, type, { Column($0) }, { Column($0) })
    }

    /// The columns of an optional and of a required field are made where it is known what the type can do.
    private static func part<Stored: Cell & FieldValue>(
        _ field: RandomProof.MadeField, _ index: Int, _ type: Stored.Type,
        _ optional: (any WritableKeyPath<Record, Stored?> & Sendable) -> Column<Record>,
        _ required: (any WritableKeyPath<Record, Stored> & Sendable) -> Column<Record>
    ) -> Self {
        if field.isOptional {
            let path = path(index, Stored?.self)
            return Self(field, options(of: field), path, optional(path), nil)
        }
        let path = path(index, type)
        return Self(field, options(of: field), path, required(path), empty(field))
    }

    private static func path<Stored: MadeValue>(
        _ index: Int, _ type: Stored.Type
    ) -> any WritableKeyPath<Record, Stored> & Sendable {
        \Record.[Place<Stored>(index: index)]
    }

    private static func empty<Stored: Cell>(_ field: RandomProof.MadeField) -> Stored {
        guard let value = Stored.from(field.type.empty) else {
            // `MadeType.empty` is a value of the type for every type there is.
            preconditionFailure("\(field.type) has no empty value")
        }
        return value
    }

    private static func options<Stored: MadeValue>(of field: RandomProof.MadeField) -> [FieldOption<Stored>] {
        var options = field.isKey ? key(Stored.self) : []
        if field.isIndexed { options.append(.indexed) }
        if field.isUnique { options.append(.unique) }
        if let value = field.standard.flatMap({ Stored.from($0) }) { options.append(.default(value)) }
        return options + field.earlierNames.map { .renamed(from: $0) }
    }

    private static func key<Stored: MadeValue>(_ type: Stored.Type) -> [FieldOption<Stored>] {
        func option<KeyValue: PrimaryKeyValue>(_ type: KeyValue.Type) -> Any { FieldOption<KeyValue>.primaryKey }
        let option = (type as? any PrimaryKeyValue.Type).map { option($0) }
        return (option as? FieldOption<Stored>).map { [$0] } ?? []
    }
}
