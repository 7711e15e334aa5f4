import DAOCore

/// A generated model with a separate type, for the lifetime of this object.
final class GeneratedModel: Sendable {
    let entity: PropertyTesting.GeneratedEntity
    /// Its number among the models of its script.
    let number: Int
    let type: any TestRecord.Type
    let table: Entity.Table
    /// What is wrong with it; nil for one that can be stored.
    let flaw: SchemaFlaw?

    private let slot: any ModelSlot.Type

    /// Makes a type for a model.
    ///
    /// - Parameter whole: The model of the whole entity, when this one is a part of it.
    init(
        _ entity: PropertyTesting.GeneratedEntity, number: Int, partOf whole: (any TestRecord.Type)? = nil,
        flaw: SchemaFlaw? = nil
    ) {
        func declare<Slot: ModelSlot>(_ slot: Slot.Type) -> (any TestRecord.Type, Entity.Table) {
            ModelSlots.declare(GeneratedDeclaration<Slot>(entity, partOf: whole), in: slot)
            return (GeneratedRecord<Slot>.self, Entity.Table(GeneratedRecord<Slot>.self))
        }
        (self.entity, self.number, self.flaw) = (entity, number, flaw)
        slot = ModelSlots.claim()
        (type, table) = declare(slot)
    }

    deinit { ModelSlots.release(slot) }
}

extension GeneratedModel: Hashable {
    static func == (left: GeneratedModel, right: GeneratedModel) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// What contradicts itself in a model.
struct SchemaFlaw: Sendable {
    /// The field that the error names; nil for none.
    var field: String?
}
