import DAOCore

/// A made model with a type of its own, for as long as this lives.
final class MadeModel: Sendable {
    let entity: RandomProof.MadeEntity
    /// Its number among the models of its script.
    let number: Int
    let type: any RandomRecord.Type
    let table: Entity.Table
    /// What is wrong with it; nil for one that can be stored.
    let flaw: MadeFlaw?

    private let slot: any MadeSlot.Type

    init(_ entity: RandomProof.MadeEntity, number: Int, flaw: MadeFlaw? = nil) {
        func declare<Slot: MadeSlot>(_ slot: Slot.Type) -> (any RandomRecord.Type, Entity.Table) {
            MadeSlots.declare(MadeDeclaration<Slot>(entity))
            return (Made<Slot>.self, Entity.Table(Made<Slot>.self))
        }
        (self.entity, self.number, self.flaw) = (entity, number, flaw)
        slot = MadeSlots.claim()
        (type, table) = declare(slot)
    }

    deinit { MadeSlots.release(slot) }
}

extension MadeModel: Hashable {
    static func == (left: MadeModel, right: MadeModel) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// What contradicts itself in a model.
struct MadeFlaw: Sendable {
    /// The field that the error names; nil for none.
    var field: String?
}
