/// A model that is made of a stored entity, for rows without the application's types.
protocol UntypedModel: Model {
    /// The values of the fields, in order; a to-one relationship is the key of the related row, a list null.
    var values: [Value] { get }

    /// Creates a row.
    init(values: [Value])
}

/// A row of a stored entity. The slot tells which entity.
struct UntypedRecord<Slot: ModelSlot>: UntypedModel {
    var values: [Value]

    /// A field.
    subscript(position: Int) -> Value {
        get { values[position] }
        set { values[position] = newValue }
    }

    static var schema: Schema<Self> {
        // No entity has the slot any more: a schema that is refused.
        ModelSlots.declaration(of: Slot.self) as? Schema<Self> ?? Schema(EntityDescription(name: "", fields: []), fields: [])
    }
}

extension Schema {
    /// Declares the records of an entity as it is stored.
    ///
    /// - Parameters:
    ///   - entity: The stored entity.
    ///   - fields: Its fields.
    fileprivate convenience init<Slot: ModelSlot>(_ entity: EntityDescription, fields: [ErasedField<Record>])
    where Record == UntypedRecord<Slot> {
        let types = entity.rowForm.fields.map(\.type)
        @Sendable func decode(_ row: RowReader) throws -> Record {
            var values: [Value] = []
            values.reserveCapacity(types.count)
            for (index, type) in types.enumerated() {
                let isNil = type.kind.isRelationship || type.isOptional && row.isNull(at: index)
                values.append(isNil ? .null : try row.readValue(at: index, as: type.kind))
            }
            return Record(values: values)
        }
        @Sendable func encode(_ record: UnsafePointer<Record>, _ row: RowWriter) throws {
            try entity.write(record.pointee.values, to: row)
        }
        self.init(
            entity: entity.name, fields: fields, indexes: entity.indexes.map { Index($0) }, isOfStoredEntity: true,
            decode: decode, encode: encode)
    }
}

/// The models of all entities of a database, for as long as this object exists.
final class UntypedModels: Sendable {
    /// The entities as they are stored.
    let entities: [EntityDescription]
    private let slots: [String: any ModelSlot.Type]

    /// Makes the models.
    init(_ entities: [EntityDescription]) {
        self.entities = entities
        slots = Dictionary(entities.map { ($0.name, ModelSlots.claim()) }, uniquingKeysWith: { $1 })
        for entity in entities {
            if let slot = slots[entity.name] { declare(entity, in: slot) }
        }
    }

    deinit { for slot in slots.values { ModelSlots.release(slot) } }

    /// The slot of an entity; nil when it is not stored.
    func slot(of entity: String) -> (any ModelSlot.Type)? { slots[entity] }

    private func declare<Slot: ModelSlot>(_ entity: EntityDescription, in slot: Slot.Type) {
        typealias Record = UntypedRecord<Slot>
        // A relationship whose target is gone is like a retired field: not read at all.
        let known = EntityDescription(
            name: entity.name,
            fields: entity.fields.filter { field in
                !field.type.kind.isRelationship || field.relation.flatMap { slots[$0.entity] } != nil
            })
        let entity = EntityDescription(
            name: entity.name, fields: known.fields,
            indexes: entity.indexes.filter(known.hasFields), log: entity.log)
        let fields = entity.fields.enumerated().map { position, field in
            let path: any WritableKeyPath<Record, Value> & Sendable = \Record.[position]
            return ErasedField<Record>(
                field, path, value: { $0.values[position] },
                relation: field.relation.flatMap { target in slots[target.entity].map { relation(field, target, path, $0) } })
        }
        let schema = Schema<Record>(entity, fields: fields)
        ModelSlots.declare(entity.log.map(schema.logging) ?? schema, in: slot)
    }

    /// Returns a closure that makes the relationship of a field. `Child` is the slot of the related entity.
    private func relation<Parent: ModelSlot, Child: ModelSlot>(
        _ field: FieldDescription, _ target: RelationTarget,
        _ path: any WritableKeyPath<UntypedRecord<Parent>, Value> & Sendable, _ child: Child.Type
    ) -> (@Sendable (Int) -> any Relation<UntypedRecord<Parent>>) {
        typealias ToOne = ReferenceRelation<UntypedRecord<Parent>, UntypedRecord<Child>>
        typealias List = UntypedList<UntypedRecord<Parent>, UntypedRecord<Child>>
        if field.type.kind == .toMany {
            return { List(field: $0, cascades: target.cascades, targetErasure: target.targetErasure) }
        }
        return { ToOne(.value(path), at: $0, targetErasure: target.targetErasure, cascades: target.cascades) }
    }
}

/// A list of related rows that is neither read nor written with the row that has it.
struct UntypedList<Parent: Model, Child: Model>: Relation {
    let field: Int
    let cascades: Bool
    let targetErasure: TargetErasure
    var isToOne: Bool { false }
    var isReference: Bool { true }
}
