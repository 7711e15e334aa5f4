import DAOCore
import Foundation

/// The catalog entry of an entity: its description, and the keyspaces of its rows and indexes.
struct StoredEntity: Codable, Sendable, Equatable {
    /// The description of the entity, with every field that any model has declared and none has dropped.
    var description: EntityDescription
    /// The keyspace of its rows.
    var keyspace: UInt32
    /// The keyspaces of its indexes, by their descriptions: the name of the field, for an index on one field.
    var indexes: [String: UInt32]
    /// The slot of every field in records. A slot is never reused for another field.
    var slots: [Int]
    /// The number of slots ever used.
    var slotCount: Int
    /// A record with the values of fields that older rows do not have; nil when every row has every field.
    var defaults: Data?

    /// Returns an entity that is not in the database, with keyspaces that are always empty.
    static func absent(_ description: EntityDescription) -> StoredEntity {
        var next = UInt32.max - UInt32(truncatingIfNeeded: description.fields.count + description.indexes.count) - 1
        return StoredEntity(description) {
            next += 1
            return next
        }
    }

    /// Creates a new entity.
    ///
    /// - Parameters:
    ///   - description: The description of the entity.
    ///   - nextKeyspace: Returns unused keyspaces.
    init(_ description: EntityDescription, nextKeyspace: () -> UInt32) {
        self.description = description
        keyspace = nextKeyspace()
        indexes = [:]
        for index in description.rowForm.allIndexes { indexes[index.description] = nextKeyspace() }
        slots = Array(description.fields.indices)
        slotCount = slots.count
        defaults = nil
    }
}

/// The catalog entry of the whole database.
struct StoredFormat: Codable, Sendable {
    /// The version that this library writes.
    static let currentVersion = 3
    /// The version of a database with an entity whose changes are logged: builds that know of no log must not write its rows.
    static let loggedVersion = 4
    /// The version of one with an index for searches, for the same reason. It is the newest version that this library reads.
    static let newestVersion = 5
    /// The earliest version that this library reads. The first transaction that writes raises it: earlier builds do not read the
    /// records that are written now.
    static let earliestVersion = 2
    /// The greatest keyspace of an entity that exists.
    static let lastKeyspace = UInt32.max - 1 << 20

    /// The version of the format of all data in the database.
    var version: Int = currentVersion
    /// The first keyspace that was never used.
    var nextKeyspace: UInt32 = 1
    /// What tells the database and its backups from others; nil in one that an earlier build has made.
    var identity: String?

    /// Returns the entry of a new database.
    static func new() -> StoredFormat { StoredFormat(identity: UUID().uuidString) }
}
