import DAOCore
import Foundation

/// Where the fields and indexes of a changed entity are: what stays keeps its place, what is new gets one that was never in use.
struct EntityLayout {
    /// The keyspaces of indexes that are gone.
    private(set) var droppedKeyspaces: [UInt32]
    /// The keyspaces of indexes that have to be filled.
    private(set) var addedKeyspaces: Set<UInt32> = []

    private var entity: StoredEntity
    private let addedIndexes: [String]

    /// Finds places for the fields, and the indexes that stay.
    ///
    /// - Parameters:
    ///   - stored: The entity as the catalog has it.
    ///   - change: What it is to be.
    init(_ stored: StoredEntity, _ change: EntityChange) {
        entity = stored
        entity.description = change.wanted
        entity.slots = []
        entity.indexes = [:]
        var addedIndexes: [String] = []
        for (index, field) in change.wanted.fields.enumerated() {
            let hasIndex = field.isIndexed && !field.isPrimaryKey
            switch change.sources[index] {
            case .stored(let origin):
                let old = change.stored.fields[origin]
                entity.slots.append(stored.slots[origin])
                guard hasIndex else { continue }
                if let keyspace = stored.indexes[old.name], old.isUnique || !field.isUnique {
                    entity.indexes[field.name] = keyspace
                } else {
                    addedIndexes.append(field.name)
                }
            case .value:
                entity.slots.append(entity.slotCount)
                entity.slotCount += 1
                if hasIndex { addedIndexes.append(field.name) }
            }
        }
        self.addedIndexes = addedIndexes
        droppedKeyspaces = Set(stored.indexes.values).subtracting(entity.indexes.values).sorted()
    }

    /// Finds places for the indexes that are new.
    mutating func addIndexes(_ nextKeyspace: () -> UInt32) {
        for name in addedIndexes {
            let keyspace = nextKeyspace()
            entity.indexes[name] = keyspace
            addedKeyspaces.insert(keyspace)
        }
    }

    /// The catalog entry, with what rows that are stored read as in fields that they do not have.
    ///
    /// - Parameters:
    ///   - change: What the entity is to be.
    ///   - old: The table as it is.
    func finish(_ change: EntityChange, _ old: Table) throws -> StoredEntity {
        var entity = entity
        entity.defaults = nil
        let hasNewFields = change.sources.contains { if case .value = $0 { true } else { false } }
        guard hasNewFields || old.defaults != nil else { return entity }
        let oldDefaults = RecordReader(table: old, verifies: false) {
            throw StorageError(
                .corrupted, "the catalog entry of '\(old.description.name)' lacks a default; restore the database from a backup",
                entity: old.description.name)
        }
        let noKey = UnsafeRawBufferPointer(start: nil, count: 0)
        if let record = old.defaults { try oldDefaults.show(record.bytes, key: noKey) }
        let table = try Table(entity, state: .void)
        let writer = RecordWriter(table: table, isChecked: false)
        writer.begin(table)
        for index in change.wanted.fields.indices {
            switch change.sources[index] {
            case .stored(let origin):
                let value = old.defaults == nil ? .null : try oldDefaults.readValue(at: origin)
                // Null stands for "every row has it" too, where nil is not a value of the field.
                if value.isNull { try writer.writeNull(at: index) } else { try change.wanted.write(value, at: index, to: writer) }
            case .value(let value): try change.wanted.write(value, at: index, to: writer)
            }
        }
        entity.defaults = Data(try writer.finish(key: noKey))
        return entity
    }
}
