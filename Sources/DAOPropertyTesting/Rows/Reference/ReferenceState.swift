import DAOCore
import Foundation

/// All rows, in plain arrays. A copy of this value is a snapshot or a savepoint.
struct ReferenceState: Sendable {
    private var tables: [Int: [Row]] = [:]
    /// The rows of the running call that collide in their turn, and wait for its end (W6).
    private var waiting: [Row] = []

    /// The rows of an entity, in key order.
    subscript(entity: Entity) -> [Row] {
        get { tables[entity.rawValue, default: []] }
        set { tables[entity.rawValue] = newValue }
    }

    /// The position of a key, or nil.
    func position(of key: Value, in entity: Entity) -> Int? {
        self[entity].firstIndex { ReferenceOrder.compare($0[entity.key], key) == 0 }
    }

    /// The row with a key as the running call has left it; nil when there is none.
    func row(_ key: Value, in entity: Entity) -> Row? {
        waiting.first { ReferenceOrder.compare($0[entity.key], key) == 0 }
            ?? position(of: key, in: entity).map { self[entity][$0] }
    }

    /// Stores a row, new or over the one with its key, or lets it wait for the end of the call.
    ///
    /// - Throws: The error that the contract defines for keys.
    mutating func store(_ row: Row, in entity: Entity, mayReplace: Bool) throws {
        let row = row.map(Self.stored)
        let key = row[entity.key]
        try Self.checkKey(key, entity)
        if !mayReplace, self.row(key, in: entity) != nil {
            throw Outcome.Failure(kind: .duplicateKey, entity: entity.name, key: Self.id(key))
        }
        waiting.removeAll { ReferenceOrder.compare($0[entity.key], key) == 0 }
        if self[entity].collision(of: row, entity, without: []) == nil {
            self[entity].put(row, entity)
        } else {
            waiting.append(row)
        }
    }

    /// Ends a call: the rows that wait are taken out, and stored in the order of the call.
    ///
    /// - Throws: The error that the contract defines for unique fields.
    mutating func endCall(in entity: Entity) throws {
        var rest = waiting[...]
        waiting = []
        while let row = rest.popFirst() {
            if let failure = self[entity].collision(of: row, entity, without: Array(rest)) { throw failure }
            self[entity].put(row, entity)
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
            case .uuid: UUID(uuidString: id).map { .uuid($0) }
            case .string: id.utf8.count <= 256 ? .string(id) : nil
            case let kind: Int64(id).flatMap { String($0) == id && kind.integerRange?.contains($0) == true ? .integer($0) : nil }
            }
        guard let key else { throw Outcome.Failure(kind: .invalidKey, entity: entity.name) }
        return key
    }
}

extension [Row] {
    /// Returns the error that the contract defines for a row that has unique values of another one; nil when it has none.
    ///
    /// - Parameter absent: Rows whose keys do not count.
    func collision(of row: Row, _ entity: Entity, without absent: [Row]) -> Outcome.Failure? {
        let key = entity.key
        func isSame(_ left: Row, _ right: Row) -> Bool { ReferenceOrder.compare(left[key], right[key]) == 0 }
        for index in entity.table.uniqueIndexes {
            for other in self where !isSame(other, row) && !absent.contains(where: { isSame($0, other) }) {
                guard index.collides(other, row) else { continue }
                return Outcome.Failure(
                    kind: .uniqueViolation, entity: entity.name, key: ReferenceState.id(row[key]),
                    conflictingKey: ReferenceState.id(other[key]),
                    field: index.fields.map { entity.fields[$0].name }.joined(separator: ", "))
            }
        }
        return nil
    }

    /// Stores a row in key order, new or over the one with its key.
    mutating func put(_ row: Row, _ entity: Entity) {
        let key = entity.key
        let place = firstIndex { ReferenceOrder.compare($0[key], row[key]) >= 0 } ?? count
        let isThere = place < count && ReferenceOrder.compare(self[place][key], row[key]) == 0
        replaceSubrange(place..<place + (isThere ? 1 : 0), with: [row])
    }
}

extension Outcome.Failure: Error {}
