import DAOCore
import Foundation

/// An entity as the catalog keeps it: what it looks like, and where its rows and indexes are.
struct StoredEntity: Codable, Sendable {
    /// What the entity looks like.
    var description: EntityDescription
    /// The keyspace of its rows.
    var keyspace: UInt32
    /// The keyspaces of its indexes, by field name.
    var indexes: [String: UInt32]
    /// For every field its slot in records. A slot is never given to another field.
    var slots: [Int]
    /// How many slots there have ever been.
    var slotCount: Int
    /// A record of what fields read as in rows that were stored before the field was there; nil when every row has every field.
    var defaults: Data?

    /// An entity that is not in the database, in keyspaces that are always empty.
    static func absent(_ description: EntityDescription) -> StoredEntity {
        var next = UInt32.max - UInt32(truncatingIfNeeded: description.fields.count) - 1
        return StoredEntity(description) {
            next += 1
            return next
        }
    }

    /// A new entity.
    ///
    /// - Parameters:
    ///   - description: What it looks like.
    ///   - nextKeyspace: Gives keyspaces that are not in use.
    init(_ description: EntityDescription, nextKeyspace: () -> UInt32) {
        self.description = description
        keyspace = nextKeyspace()
        indexes = [:]
        for field in description.fields where field.isIndexed && !field.isPrimaryKey { indexes[field.name] = nextKeyspace() }
        slots = Array(description.fields.indices)
        slotCount = slots.count
        defaults = nil
    }
}

/// What the catalog says about the whole database.
struct StoredFormat: Codable, Sendable {
    /// The version that this library writes.
    static let currentVersion = 1

    /// The version of the format of everything in the database.
    var version: Int = currentVersion
    /// The first keyspace that was never given out.
    var nextKeyspace: UInt32 = 1
}
