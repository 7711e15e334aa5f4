import DAOCore
import Foundation

/// The catalog in keyspace 0: the format of the database and the entities in it, as JSON after an eight-byte checksum.
///
/// The key of the format is the keyspace and `F`; that of an entity is the keyspace, `E` and the entity's name; that of a relationship's links is
/// the keyspace, `L` and the names of entity and field with a dot between them.
struct Catalog {
    private let transaction: any KeyValueTransaction
    private let path: String?

    /// Looks at the catalog through a transaction.
    ///
    /// - Parameters:
    ///   - transaction: A running transaction.
    ///   - path: The database's file, for errors.
    init(_ transaction: any KeyValueTransaction, path: String?) {
        self.transaction = transaction
        self.path = path
    }

    /// The format; nil in a new database.
    ///
    /// - Throws: `.schemaIsNewer` when a newer version of this library wrote it, `.notADatabase` when something else did.
    func format() throws -> StoredFormat? {
        if let format: StoredFormat = try read(kind: "F", name: "") {
            guard format.version <= StoredFormat.currentVersion else {
                throw StorageError(
                    .schemaIsNewer,
                    "the database has format \(format.version), this library reads up to \(StoredFormat.currentVersion): update it",
                    path: path)
            }
            return format
        }
        let cursor = try transaction.cursor()
        var first: UInt8 = 0
        if try withUnsafeBytes(of: &first, { try cursor.seek($0) }) {
            throw StorageError(.notADatabase, "the store holds data that is not of this library", path: path)
        }
        return nil
    }

    /// The catalog entry of an entity.
    func entity(named name: String) throws -> StoredEntity? { try read(kind: "E", name: name) }

    /// The entries of all entities, by the bytes of their names.
    func entities() throws -> [StoredEntity] {
        guard try format() != nil else { return [] }
        let cursor = try transaction.cursor()
        var found: [StoredEntity] = []
        let prefix = Self.key(kind: "E", name: "")
        var isThere = try prefix.withUnsafeBytes { try cursor.seek($0) }
        while isThere, cursor.key.starts(with: prefix) {
            found.append(try decode(cursor.value, name: String(decoding: cursor.key.dropFirst(prefix.count), as: UTF8.self)))
            isThere = try cursor.next()
        }
        return found
    }

    /// Writes an entry for a new entity.
    func add(_ description: EntityDescription) throws -> StoredEntity {
        var format = try format() ?? StoredFormat()
        let entity = StoredEntity(description) {
            defer { format.nextKeyspace += 1 }
            return format.nextKeyspace
        }
        try write(format, kind: "F", name: "")
        try write(entity, kind: "E", name: description.name)
        return entity
    }

    /// The catalog entry of a relationship's links.
    func links(of relation: RelationDescription) throws -> StoredLinks? {
        try read(kind: "L", name: StoredLinks.name(of: relation))
    }

    /// Writes an entry for the links of a relationship.
    func add(_ relation: RelationDescription) throws -> StoredLinks {
        var format = try format() ?? StoredFormat()
        let links = StoredLinks(relation, keyspace: format.nextKeyspace)
        format.nextKeyspace += 2
        try write(format, kind: "F", name: "")
        try write(links, kind: "L", name: StoredLinks.name(of: relation))
        return links
    }

    private static func key(kind: Unicode.Scalar, name: String) -> [UInt8] {
        [0, 0, 0, 0, UInt8(ascii: kind)] + Array(name.utf8)
    }

    private func read<Entry: Decodable>(kind: Unicode.Scalar, name: String) throws -> Entry? {
        try Self.key(kind: kind, name: name).withUnsafeBytes { key in try transaction.get(key).map { try decode($0, name: name) }
        }
    }

    private func decode<Entry: Decodable>(_ bytes: UnsafeRawBufferPointer, name: String) throws -> Entry {
        let json = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(8))
        guard bytes.count > 8, UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)) == XXH64.hash(json),
            let entry = try? JSONDecoder().decode(Entry.self, from: Data(json))
        else {
            throw StorageError(
                .corrupted, name.isEmpty ? "the catalog's head is damaged" : "the catalog entry of '\(name)' is damaged",
                entity: name.isEmpty ? nil : name, path: path)
        }
        return entry
    }

    private func write(_ entry: some Encodable, kind: Unicode.Scalar, name: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let json = try encoder.encode(entry)
        var bytes = Data(count: 8)
        let hash = json.withUnsafeBytes { XXH64.hash($0) }
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: hash.littleEndian, as: UInt64.self) }
        bytes += json
        try Self.key(kind: kind, name: name).withUnsafeBytes { key in
            try bytes.withUnsafeBytes { try transaction.put(key, $0) }
        }
    }
}
