import DAOCore
import DAOTestSupport

extension RowGenerator {
    /// A model that can be stored.
    mutating func storableModel() -> GeneratedModel {
        let taken = Set(models.map { $0.entity.name.lowercased() })
        let names = HardNames.entities.filter { !taken.contains($0.lowercased()) }
        modelCount += 1
        return GeneratedModel(random.generatedEntity(named: random.pick(names)), number: modelCount - 1)
    }

    /// A model with one thing wrong.
    mutating func invalidModel() -> GeneratedModel {
        var entity = random.generatedEntity(named: random.pick(HardNames.entities))
        let key = entity.keyIndex
        var flaw = SchemaFlaw()
        func insert(_ field: PropertyTesting.GeneratedField, _ entity: inout PropertyTesting.GeneratedEntity) {
            entity.fields.append(field)
            flaw.field = field.name
        }
        switch random.below(8) {
        case 0: entity.fields[key].isKey = false
        case 1:
            // The second of the two is named.
            insert(
                PropertyTesting.GeneratedField("anotherKey", random.pick(PropertyTesting.GeneratedType.keys), isKey: true),
                &entity)
        case 2: insert(PropertyTesting.GeneratedField(random.pick(entity.fields).name, .string, isOptional: true), &entity)
        case 3:
            let name = random.pick(entity.fields).name
            let other = name == name.uppercased() ? name.lowercased() : name.uppercased()
            // Not every letter that is turned to upper case comes back: of 'ß' comes 'SS'.
            let turned = other.lowercased() == name.lowercased() ? other : name
            insert(PropertyTesting.GeneratedField(turned, .int), &entity)
        case 4: insert(PropertyTesting.GeneratedField(random.pick(HardNames.malformed), .int), &entity)
        case 5:
            insert(
                PropertyTesting.GeneratedField("list", random.pick([.strings, .optionalInts, .shape]), isIndexed: true), &entity)
        case 6:
            insert(PropertyTesting.GeneratedField("list", random.pick([.optionalStrings, .doubles]), isUnique: true), &entity)
        default: entity.name = random.pick(HardNames.malformed + HardNames.reserved)
        }
        modelCount += 1
        return GeneratedModel(entity, number: modelCount - 1, flaw: flaw)
    }
}
