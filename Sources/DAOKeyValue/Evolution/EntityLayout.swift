import DAOCore
import Foundation

/// The slots and keyspaces of a changed entity. Remaining fields and indexes keep theirs; new fields and
/// indexes get slots and keyspaces that were never used.
struct EntityLayout {
    /// The keyspaces of removed indexes.
    private(set) var droppedKeyspaces: [UInt32]
    /// The keyspaces of indexes that have to be filled.
    private(set) var addedKeyspaces: Set<UInt32> = []

    private var entity: StoredEntity
    private let addedIndexes: [String]

    /// Assigns slots to the fields, and keyspaces to the remaining indexes.
    ///
    /// - Parameters:
    ///   - stored: The stored entity.
    ///   - change: The change.
    init(_ stored: StoredEntity, _ change: EntityChange) {
        entity = stored
        entity.description = change.wanted
        entity.slots = []
        for source in change.sources {
            switch source {
            case .stored(let origin): entity.slots.append(stored.slots[origin])
            case .value:
                entity.slots.append(entity.slotCount)
                entity.slotCount += 1
            }
        }
        entity.indexes = [:]
        var addedIndexes: [String] = []
        for (index, origin) in change.indexSources {
            if let origin, origin.isUnique || !index.isUnique, let keyspace = stored.indexes[origin.description] {
                entity.indexes[index.description] = keyspace
            } else {
                addedIndexes.append(index.description)
            }
        }
        self.addedIndexes = addedIndexes
        droppedKeyspaces = Set(stored.indexes.values).subtracting(entity.indexes.values).sorted()
    }

    /// Assigns keyspaces to the new indexes.
    mutating func addIndexes(_ nextKeyspace: () -> UInt32) {
        for name in addedIndexes {
            let keyspace = nextKeyspace()
            entity.indexes[name] = keyspace
            addedKeyspaces.insert(keyspace)
        }
    }

    /// Returns the catalog entry, with the values of fields that stored rows do not have.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - old: The current table.
    func finish(_ change: EntityChange, _ old: Table) throws -> StoredEntity {
        var entity = entity
        entity.defaults = nil
        let hasNewFields = change.sources.contains { if case .value = $0 { true } else { false } }
        guard hasNewFields || old.defaults != nil else { return entity }
        let oldDefaults = RecordReader(table: old, verifies: false) {
            throw StorageError.corrupted(
                nil, "the catalog entry of '\(old.description.name)' lacks a default", entity: old.description.name)
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
                // For a field that cannot be nil, null means that every row has the field.
                if value.isNull { try writer.writeNull(at: index) } else { try change.wanted.write(value, at: index, to: writer) }
            case .value(let value): try change.wanted.write(value, at: index, to: writer)
            }
        }
        entity.defaults = Data(try writer.finish(key: noKey))
        return entity
    }
}
