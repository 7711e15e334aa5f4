import DAOCore

extension Generator {
    /// A model that can be stored.
    mutating func storableModel() -> MadeModel {
        let taken = Set(models.map { $0.entity.name.lowercased() })
        let names = Names.entities.filter { !taken.contains($0.lowercased()) }
        modelCount += 1
        return MadeModel(madeEntity(named: one(names)), number: modelCount - 1)
    }

    /// A declaration without a fault: a key somewhere among up to eight fields, some of them with a twin.
    mutating func madeEntity(named name: String) -> RandomProof.MadeEntity {
        var names = Names.fields
        func isFree(_ name: String, _ fields: [RandomProof.MadeField]) -> Bool {
            !fields.contains { $0.name.lowercased() == name.lowercased() }
        }
        var fields: [RandomProof.MadeField] = []
        for _ in 0..<1 + int(8) {
            let name = names.remove(at: int(names.count))
            guard isFree(name, fields) else { continue }
            let field = madeField(name)
            fields.append(field)
            guard field.isIndexed, !field.isUnique, chance(40), name.utf8.count < 100, isFree(name + "Twin", fields)
            else { continue }
            fields.append(RandomProof.MadeField(name + "Twin", field.type, isOptional: field.isOptional))
        }
        names.removeAll { !isFree($0, fields) }
        let key = RandomProof.MadeField(one(names), one(RandomProof.MadeType.keys), isKey: true)
        fields.insert(key, at: int(fields.count + 1))
        var entity = RandomProof.MadeEntity(name, fields)
        for (index, field) in fields.enumerated() where !field.isKey && chance(30) {
            // A pair of twins is kept or carried together.
            let pair = field.name.hasSuffix("Twin") ? String(field.name.dropLast(4)) : field.name + "Twin"
            entity.kept.insert(index)
            if let twin = fields.firstIndex(where: { $0.name == pair }) { entity.kept.insert(twin) }
        }
        return entity
    }

    /// A field that is not the key.
    mutating func madeField(_ name: String) -> RandomProof.MadeField {
        var field = RandomProof.MadeField(name, one(RandomProof.MadeType.allCases), isOptional: chance(50))
        if field.type.kind.isOrdered {
            field.isIndexed = chance(40)
            // Of a field of two or three values hardly any row could be stored.
            field.isUnique = chance(20) && field.type.kind != .bool && (field.isOptional || field.type.choiceCount == nil)
        }
        if chance(20) { field.standard = field.isOptional && chance(50) ? .null : field.type.empty }
        return field
    }

    /// A model with one thing wrong.
    mutating func invalidModel() -> MadeModel {
        var entity = madeEntity(named: one(Names.entities))
        let key = entity.keyIndex
        var flaw = MadeFlaw()
        func insert(_ field: RandomProof.MadeField, _ entity: inout RandomProof.MadeEntity) {
            entity.fields.append(field)
            flaw.field = field.name
        }
        switch int(8) {
        case 0: entity.fields[key].isKey = false
        case 1:
            // The second of the two is named.
            insert(RandomProof.MadeField("anotherKey", one(RandomProof.MadeType.keys), isKey: true), &entity)
        case 2: insert(RandomProof.MadeField(one(entity.fields).name, .string, isOptional: true), &entity)
        case 3:
            let name = one(entity.fields).name
            let other = name == name.uppercased() ? name.lowercased() : name.uppercased()
            // Not every letter that is turned to upper case comes back: of 'ß' comes 'SS'.
            let turned = other.lowercased() == name.lowercased() ? other : name
            insert(RandomProof.MadeField(turned, .int), &entity)
        case 4: insert(RandomProof.MadeField(one(Names.malformed), .int), &entity)
        case 5: insert(RandomProof.MadeField("list", one([.strings, .optionalInts, .shape]), isIndexed: true), &entity)
        case 6: insert(RandomProof.MadeField("list", one([.optionalStrings, .doubles]), isUnique: true), &entity)
        default: entity.name = one(Names.malformed + Names.reserved)
        }
        modelCount += 1
        return MadeModel(entity, number: modelCount - 1, flaw: flaw)
    }
}

extension RandomProof.MadeType {
    /// How many values there are, where they are few.
    fileprivate var choiceCount: Int? { (type as? any ChosenCell.Type)?.choices.count }
}

/// Names of entities and fields: words of query languages, the engines' own names, the longest there may be, and letters of other scripts.
enum Names {
    static let entities = [
        "made", "select", "order", "table", "index", "Group", "a", "a_b", "main", "temp", "_", "__dao", "naïve", "имя", "link",
        "rowid",
        "random_note_title", "dao", String(repeating: "e", count: 60), String(repeating: "Long", count: 32),
    ]
    static let fields = [
        "order", "group", "select", "from", "where", "table", "index", "rowid", "_rowid_", "oid", "key", "value", "primary",
        "unique",
        "default", "null", "true", "limit", "offset", "case", "end", "in", "is", "not", "and", "or", "count", "max", "date",
        "parent",
        "position", "child", "b", "b_c", "c", "x1", "_", "__", "_id", "größe", "имя", "名前", "Self", "Type", "init", "cells",
        "schema",
        String(repeating: "f", count: 60), String(repeating: "Long", count: 32),
    ]
    /// Names that nothing can have.
    static let malformed = [
        "", " ", "1st", "a b", "a-b", "a.b", "a\"b", "'", "a;", "\0", "é!", String(repeating: "n", count: 129),
    ]
    /// Names that databases keep for themselves.
    static let reserved = ["dao_meta", "DAO_x", "sqlite_master", "SQLite_x"]
}
