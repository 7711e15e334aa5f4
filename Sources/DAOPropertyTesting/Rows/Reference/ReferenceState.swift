import DAOCore
import Foundation

/// Every row there is, in plain arrays. Being a value, a copy is a snapshot and a savepoint.
struct ReferenceState: Sendable {
    private var tables: [Int: [Row]] = [:]

    /// The rows of an entity, in key order.
    subscript(entity: Entity) -> [Row] {
        get { tables[entity.rawValue, default: []] }
        set { tables[entity.rawValue] = newValue }
    }

    /// The position of a key, or nil.
    func position(of key: Value, in entity: Entity) -> Int? {
        self[entity].firstIndex { ReferenceOrder.compare($0[entity.key], key) == 0 }
    }

    /// Stores a row, new or over the one with its key.
    ///
    /// - Throws: What the contract says of keys and unique fields.
    mutating func store(_ row: Row, in entity: Entity, mayReplace: Bool) throws {
        let row = row.map(Self.stored)
        let (keyIndex, key) = (entity.key, row[entity.key])
        try Self.checkKey(key, entity)
        let position = position(of: key, in: entity)
        if position != nil, !mayReplace {
            throw Outcome.Failure(kind: .duplicateKey, entity: entity.name, key: Self.id(key))
        }
        for field in entity.table.unique where !row[field].isNull {
            for other in self[entity] where !other[field].isNull && ReferenceOrder.compare(other[keyIndex], key) != 0 {
                guard ReferenceOrder.compare(other[field], row[field]) == 0 else { continue }
                throw Outcome.Failure(
                    kind: .uniqueViolation, entity: entity.name, key: Self.id(key), conflictingKey: Self.id(other[keyIndex]),
                    field: entity.fields[field].name)
            }
        }
        if let position {
            self[entity][position] = row
        } else {
            let place = self[entity].firstIndex { ReferenceOrder.compare($0[keyIndex], key) > 0 } ?? self[entity].count
            self[entity].insert(row, at: place)
        }
    }

    /// Removes the row with a key.
    ///
    /// - Returns: Whether there was one.
    mutating func erase(_ key: Value, in entity: Entity) -> Bool {
        guard let position = position(of: key, in: entity) else { return false }
        self[entity].remove(at: position)
        return true
    }

    /// A value as it is stored (V2).
    static func stored(_ value: Value) -> Value {
        func number(_ number: Double) -> Double { number.isNaN ? .nan : (number == 0 ? 0 : number) }
        return switch value {
        case .double(let value): .double(number(value))
        case .date(let date): .date(Date(timeIntervalSinceReferenceDate: number(date.timeIntervalSinceReferenceDate)))
        default: value
        }
    }

    static func checkKey(_ key: Value, _ entity: Entity) throws {
        if case .string(let text) = key, text.utf8.count > 256 { throw Outcome.Failure(kind: .invalidKey, entity: entity.name) }
    }

    /// The portable form of a key.
    static func id(_ key: Value) -> UniqueID {
        switch key {
        case .integer(let number): UniqueID(rawValue: String(number))
        case .unsigned(let number): UniqueID(rawValue: String(number))
        case .uuid(let uuid): UniqueID(rawValue: uuid.uuidString)
        case .string(let text): UniqueID(rawValue: text)
        default: UniqueID(rawValue: "")
        }
    }

    /// The key that a portable id stands for.
    ///
    /// - Throws: `invalidKey` when it is not one of the entity's.
    static func key(_ id: String, _ entity: Entity) throws -> Value {
        let key: Value? =
            switch entity.fields[entity.key].type.kind {
            case .uint64:
                UInt64(id).flatMap { String($0) == id ? (Int64(exactly: $0).map(Value.integer) ?? .unsigned($0)) : nil }
            case .uuid: UUID(uuidString: id).flatMap { $0.uuidString == id ? .uuid($0) : nil }
            case .string: id.utf8.count <= 256 ? .string(id) : nil
            case let kind: Int64(id).flatMap { String($0) == id && kind.integerRange?.contains($0) == true ? .integer($0) : nil }
            }
        guard let key else { throw Outcome.Failure(kind: .invalidKey, entity: entity.name) }
        return key
    }
}

extension Outcome.Failure: Error {}
