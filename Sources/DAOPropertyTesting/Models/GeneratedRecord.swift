import DAOCore

/// A row of a generated model: its slot says which.
struct GeneratedRecord<Slot: ModelSlot>: TestRecord {
    /// The fields, each of its type.
    private var fields: [any GeneratedValue]

    init(fields: [any GeneratedValue]) { self.fields = fields }

    var values: [Value] { fields.map(\.exactValue) }

    /// A field.
    subscript<Stored: GeneratedValue>(position: FieldPosition<Stored>) -> Stored {
        get { fields[position.index] as? Stored ?? position.blank }
        set { fields[position.index] = newValue }
    }

    private static var declaration: GeneratedDeclaration<Slot> {
        // No model has the slot any more: a schema that is refused.
        ModelSlots.declaration(of: Slot.self) as? GeneratedDeclaration
            ?? GeneratedDeclaration(PropertyTesting.GeneratedEntity("", []))
    }

    static var schema: Schema<Self> { declaration.schema }
    static var keptFields: Set<String> { declaration.keptFields }
    static var columns: [Column<Self>] { declaration.columns }
    static var blank: Self { declaration.blank }
}

/// Where a field of a generated model is.
struct FieldPosition<Stored: Sendable>: Hashable, Sendable {
    let index: Int
    /// The result for a value of another type. The reference model then reports a different row.
    let blank: Stored

    static func == (left: Self, right: Self) -> Bool { left.index == right.index }
    func hash(into hasher: inout Hasher) { hasher.combine(index) }
}
