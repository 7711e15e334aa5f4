import DAOCore
import Foundation

extension Generator {
    /// Rows of an entity.
    ///
    /// - Parameter isPlain: Whether their keys are ones that can be stored.
    mutating func rows(of entity: Entity, count: Int, isPlain: Bool = false) -> [Row] {
        var rows = (0..<count).map { _ in row(of: entity) }
        // Alone: what comes first of two things that are wrong with a call is nowhere said.
        if count == 1, !isPlain, entity.fields[entity.key].type.kind == .string, chance(2) {
            rows[0][entity.key] = Pools.tooLongKey
        }
        return rows
    }

    private mutating func row(of entity: Entity) -> Row {
        var row = entity.table.blank
        row[entity.key] = one(Pools.keys(entity.fields[entity.key].type.kind))
        for field in row.indices where field != entity.key {
            // A wide row has few values beside its defaults: most of what happens to it concerns one or two.
            if entity == .wide, chance(55) { continue }
            row[field] = value(of: entity.fields[field], in: entity, field)
        }
        for (field, twin) in entity.table.unindexedTwins { row[twin] = row[field] }
        return row
    }

    /// What an update sets; both of a pair of twins, or neither.
    mutating func changes(of entity: Entity) -> [Change] {
        var changes: [Change] = []
        for _ in 0..<1 + int(3) {
            let field = chance(4) ? entity.key : int(entity.fields.count)
            if changes.contains(where: { $0.field == field }) { continue }
            let value =
                field == entity.key
                ? one(Pools.keys(entity.fields[field].type.kind)) : value(of: entity.fields[field], in: entity, field)
            changes.append(Change(field: field, value: value))
            if let twin = entity.table.twins[field] { changes.append(Change(field: twin, value: value)) }
        }
        return changes
    }

    /// A key in its portable form, now and then of no key.
    mutating func id(of entity: Entity) -> String {
        let kind = entity.fields[entity.key].type.kind
        return chance(3) ? one(Pools.foreignIDs(kind)) : ReferenceState.id(one(Pools.keys(kind))).rawValue
    }

    /// A value that a field can hold.
    mutating func value(of field: FieldDescription, in entity: Entity, _ index: Int) -> Value {
        value(of: field, choices: entity.table.choices[index])
    }

    /// A value that a field can hold.
    ///
    /// - Parameter choices: The only values; nil when they are too many.
    mutating func value(of field: FieldDescription, choices: [Choice]?) -> Value {
        if field.type.isOptional, chance(30) { return .null }
        if let choices { return one(choices).value }
        switch field.type.kind {
        case .bool: return .bool(chance(50))
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
            let range = field.type.kind.integerRange ?? 0...0
            if field.isUnique { return .integer(Int64(int(40))) }
            return .integer(one(Pools.integers.filter { range.contains($0) } + [range.lowerBound, range.upperBound]))
        case .uint64: return (field.isUnique ? UInt64(int(60)) &* 0x0800_0000_0000_0001 : one(Pools.unsigned)).cell
        case .float: return one(Pools.floats).cell
        case .double: return .double(one(Pools.doubles))
        case .decimal: return .decimal(one(Pools.decimals))
        case .string: return .string(one(Pools.strings))
        case .data: return .data(one(Pools.data))
        case .uuid: return .uuid(one(Pools.uuids))
        case .url: return .string(one(Pools.urls))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: one(Pools.dates)))
        case .embedded, .toOne, .toMany: return .null
        }
    }

    /// A value to compare a field with: one that it can hold, or a number of another type.
    mutating func literal(for index: Int, in entity: Entity) -> Value {
        if chance(10) { return .null }
        let field = entity.fields[index]
        let kind = field.type.kind
        if index == entity.key, chance(70) { return one(Pools.keys(kind)) }
        if kind == .bool, chance(10) { return .integer(Int64(int(2))) }
        if kind == .uuid, chance(20) { return .string(one(Pools.uuids).uuidString) }
        if kind.isNumeric, chance(35) { return number(for: kind) }
        var required = field
        required.type.isOptional = false
        if kind == .string, chance(40) { return .string(one(["", "a", "b", "é", "\u{10000}", Pools.prefix + "a"])) }
        let value = ReferenceState.stored(value(of: required, in: entity, index))
        return value
    }

    private mutating func number(for kind: ValueKind) -> Value {
        switch int(4) {
        case 0: return .integer(one(Pools.integers))
        case 1: return one(Pools.unsigned).cell
        case 2:
            switch kind {
            // A decimal field and a floating-point literal meet where both mean the same number.
            case .decimal: return .double(one(Pools.dyadic + [.infinity, -.infinity, .nan]))
            // A literal for a `Float` is first rounded to one, as the compiler does.
            case .float: return .double(Double(one(Pools.floats)))
            default: return ReferenceState.stored(.double(one(Pools.doubles)))
            }
        default:
            if kind == .float || kind == .double { return .decimal(Decimal(string: one(Pools.dyadic).description) ?? 0) }
            return .decimal(one(Pools.decimals))
        }
    }
}
