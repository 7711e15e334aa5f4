import DAOCore
import DAOTestSupport

extension SeededGenerator {
    /// A declaration without a fault: a key somewhere among up to eight fields, some of them with a twin.
    mutating func generatedEntity(named name: String) -> PropertyTesting.GeneratedEntity {
        var names = HardNames.fields
        func isFree(_ name: String, _ fields: [PropertyTesting.GeneratedField]) -> Bool {
            !fields.contains { $0.name.lowercased() == name.lowercased() }
        }
        var fields: [PropertyTesting.GeneratedField] = []
        for _ in 0..<1 + below(8) {
            let name = names.remove(at: below(names.count))
            guard isFree(name, fields) else { continue }
            let field = generatedField(name)
            fields.append(field)
            guard field.isIndexed, !field.isUnique, chance(40), name.utf8.count < 100, isFree(name + "Twin", fields)
            else { continue }
            fields.append(PropertyTesting.GeneratedField(name + "Twin", field.type, isOptional: field.isOptional))
        }
        names.removeAll { !isFree($0, fields) }
        let key = PropertyTesting.GeneratedField(pick(names), pick(PropertyTesting.GeneratedType.keys), isKey: true)
        fields.insert(key, at: below(fields.count + 1))
        var entity = PropertyTesting.GeneratedEntity(name, fields)
        for (index, field) in fields.enumerated() where !field.isKey && chance(30) {
            // A pair of twins is kept or carried together.
            let pair = field.name.hasSuffix("Twin") ? String(field.name.dropLast(4)) : field.name + "Twin"
            entity.kept.insert(index)
            if let twin = fields.firstIndex(where: { $0.name == pair }) { entity.kept.insert(twin) }
        }
        for _ in 0..<weighted([(4, 0), (4, 1), (2, 2)]) {
            if let index = generatedIndex(of: entity) { entity.indexes.append(index) }
        }
        return entity
    }

    /// An index over several fields, or on the elements of an array; nil when the entity cannot have another one.
    mutating func generatedIndex(of entity: PropertyTesting.GeneratedEntity) -> IndexDescription? {
        let arrays = entity.fields.filter { $0.type.elements != nil }
        if !arrays.isEmpty, chance(40) {
            let array = pick(arrays)
            let index = IndexDescription([IndexedField(array.name, elements: array.type.elements)])
            return entity.indexes.contains(index) ? nil : index
        }
        var fields = entity.fields.filter(\.type.kind.isOrdered)
        fields.shuffle(using: &self)
        let condition = chance(40) ? generatedCondition(of: entity) : nil
        let count = condition == nil ? 2 + below(2) : 1 + below(3)
        let terms = fields.prefix(count).map { IndexedField($0.name, isAscending: chance(50)) }
        guard terms.count > 1 || condition != nil && !terms.isEmpty || terms.contains(where: { !$0.isAscending }),
            !entity.indexes.contains(where: { $0.fields == terms && $0.condition == condition })
        else { return nil }
        return IndexDescription(terms, isUnique: chance(30), condition: condition)
    }

    /// A field that is not the key.
    mutating func generatedField(_ name: String) -> PropertyTesting.GeneratedField {
        var field = PropertyTesting.GeneratedField(name, pick(PropertyTesting.GeneratedType.allCases), isOptional: chance(50))
        if field.type.kind.isOrdered {
            field.isIndexed = chance(40)
            // Of a field of two or three values hardly any row could be stored.
            field.isUnique = chance(20) && field.type.kind != .bool && (field.isOptional || field.type.choiceCount == nil)
        }
        if chance(20) { field.defaultValue = field.isOptional && chance(50) ? .null : field.type.empty }
        return field
    }
}

extension PropertyTesting.GeneratedType {
    /// How many values there are, where they are few.
    fileprivate var choiceCount: Int? { (type as? any EnumeratedFieldValue.Type)?.choices.count }
}
