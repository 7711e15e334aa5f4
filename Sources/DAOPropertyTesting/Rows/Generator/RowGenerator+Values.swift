import DAOCore
import DAOTestSupport

extension RowGenerator {
    /// Rows of an entity.
    ///
    /// - Parameter isPlain: Whether their keys are ones that can be stored.
    mutating func rows(of entity: Entity, count: Int, isPlain: Bool = false) -> [Row] {
        var rows = (0..<count).map { _ in row(of: entity) }
        // Only one fault: the contract does not say which of two faults is reported.
        if count == 1, !isPlain, entity.fields[entity.key].type.kind == .string, random.chance(2) {
            rows[0][entity.key] = HardValues.tooLongKey
        }
        return rows
    }

    private mutating func row(of entity: Entity) -> Row {
        var row = entity.table.blank
        row[entity.key] = random.pick(HardValues.keys(entity.fields[entity.key].type.kind))
        for field in row.indices where field != entity.key {
            // A wide row has few values beside its defaults: most of what happens to it concerns one or two.
            if entity == .wide, random.chance(55) { continue }
            row[field] = value(of: entity.fields[field], in: entity, field)
        }
        for (field, twin) in entity.table.unindexedTwins { row[twin] = row[field] }
        return row
    }

    /// What an update sets; both of a pair of twins, or neither.
    mutating func changes(of entity: Entity) -> [FieldChange] {
        var changes: [FieldChange] = []
        for _ in 0..<1 + random.below(3) {
            let field = random.chance(4) ? entity.key : random.below(entity.fields.count)
            if changes.contains(where: { $0.field == field }) { continue }
            let value =
                field == entity.key
                ? random.pick(HardValues.keys(entity.fields[field].type.kind))
                : value(of: entity.fields[field], in: entity, field)
            changes.append(FieldChange(field: field, value: value))
            if let twin = entity.table.twins[field] { changes.append(FieldChange(field: twin, value: value)) }
        }
        return changes
    }

    /// A key in its portable form, now and then of no key.
    mutating func id(of entity: Entity) -> String {
        let kind = entity.fields[entity.key].type.kind
        return random.chance(3)
            ? random.pick(HardValues.foreignIDs(kind)) : ReferenceState.id(random.pick(HardValues.keys(kind))).rawValue
    }

    /// A value that a field can hold.
    mutating func value(of field: FieldDescription, in entity: Entity, _ index: Int) -> Value {
        random.value(of: field, choices: entity.table.choices[index])
    }
}
