import DAOCore
import Foundation

/// The catalog in keyspace 0: the format of the database and the entities in it, as JSON after an eight-byte
/// checksum.
///
/// Every key begins with the keyspace. It continues with `F` for the format, with `E` and the entity's name
/// for an entity, with `L` and the names of entity and field separated by a dot for the links of a
/// relationship, and with `P` and the name for a property. After the first change of an entity, the key `C`
/// holds the number of changes in eight bytes, little-endian.
struct Catalog {
    private let transaction: any KeyValueTransaction
    private let path: String?

    /// Creates a catalog that is read through a transaction.
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
    /// - Throws: `.schemaIsNewer` when a newer version of this library wrote it, `.notADatabase` when the
    ///   store was not created by this library.
    func format() throws -> StoredFormat? {
        if let format: StoredFormat = try read(kind: "F", name: "") {
            guard format.version <= StoredFormat.newestVersion else {
                throw StorageError.formatIsNewer(format.version, supported: StoredFormat.newestVersion, path: path)
            }
            guard format.version >= StoredFormat.earliestVersion, (1...StoredFormat.lastKeyspace).contains(format.nextKeyspace)
            else { throw damaged("") }
            return format
        }
        let cursor = try transaction.cursor()
        var first: UInt8 = 0
        if try withUnsafeBytes(of: &first, { try cursor.seek($0) }) {
            throw StorageError.notADatabase(path, "a store that swift-dao did not create")
        }
        return nil
    }

    /// What the store has.
    func content() throws -> BackupFile.Content {
        do {
            return try format().map { .database(identity: $0.identity) } ?? .nothing
        } catch let error as StorageError where error.kind == .notADatabase {
            return .other
        }
    }

    /// Raises the format of a database to the one that this library writes.
    ///
    /// - Returns: Whether it had that format before the transaction.
    func raiseFormat() throws -> Bool {
        guard var format = try format() else { return false }
        if format.version >= StoredFormat.currentVersion { return true }
        format.version = StoredFormat.currentVersion
        try write(format, kind: "F", name: "")
        return false
    }

    /// Checks the format, and that every keyspace belongs to one entity, index or relationship. An entry that
    /// cannot be read is refused when it is used.
    ///
    /// - Throws: `.corrupted`, and the errors of ``format()``.
    func check() throws {
        guard let format = try format() else { return }
        var taken: Set<UInt32> = []
        let cursor = try transaction.cursor()
        let prefix = Keyspace.catalog.prefix
        var isThere = try prefix.withUnsafeBytes(cursor.seek)
        while isThere, cursor.key.begins(with: prefix) {
            let (kind, name) = (cursor.key.dropFirst(prefix.count).first, cursor.key.dropFirst(prefix.count + 1))
            if kind == UInt8(ascii: "E") || kind == UInt8(ascii: "L"),
                let stored: StoredKeyspaces = try? decode(cursor.value, name: "")
            {
                let numbers = [stored.keyspace] + (stored.indexes.map { Array($0.values) } ?? [stored.keyspace &+ 1])
                for number in numbers {
                    guard (1..<format.nextKeyspace).contains(number), taken.insert(number).inserted else {
                        throw damaged(String(decoding: name, as: UTF8.self))
                    }
                }
            }
            isThere = try cursor.next()
        }
    }

    /// The catalog entry of an entity.
    func entity(named name: String) throws -> StoredEntity? { try read(kind: "E", name: name).map { try check($0, name) } }

    /// Returns an entry, after checking that it is that of its name.
    private func check(_ entity: StoredEntity, _ name: String) throws -> StoredEntity {
        guard entity.description.name.hasSameBytes(as: name) else { throw damaged(name) }
        return entity
    }

    /// The entries of all entities, ordered by the bytes of their names.
    func entities() throws -> [StoredEntity] {
        guard try format() != nil else { return [] }
        let cursor = try transaction.cursor()
        var found: [StoredEntity] = []
        let prefix = Self.key(kind: "E", name: "")
        var isThere = try prefix.withUnsafeBytes { try cursor.seek($0) }
        while isThere, cursor.key.starts(with: prefix) {
            let name = String(decoding: cursor.key.dropFirst(prefix.count), as: UTF8.self)
            found.append(try check(decode(cursor.value, name: name), name))
            isThere = try cursor.next()
        }
        return found
    }

    /// Writes an entry for a new entity.
    ///
    /// - Throws: `.schemaMismatch` when an entity exists whose name differs only in case.
    func add(_ description: EntityDescription) throws -> StoredEntity {
        try description.checkName(among: entities().map(\.description), path: path)
        return try store { nextKeyspace in StoredEntity(description.asNew, nextKeyspace: nextKeyspace) }
    }

    /// Writes the entry of an entity.
    ///
    /// - Parameter make: Makes the entry, with keyspaces that were never used.
    func store(_ make: (() -> UInt32) throws -> StoredEntity) throws -> StoredEntity {
        var format = try format() ?? StoredFormat.new()
        let entity = try make {
            defer { format.nextKeyspace += 1 }
            return format.nextKeyspace
        }
        if entity.description.needsLog { format.version = max(format.version, StoredFormat.loggedVersion) }
        if entity.description.needsTextIndex { format.version = StoredFormat.newestVersion }
        try write(format, kind: "F", name: "")
        try write(entity, kind: "E", name: entity.description.name)
        return entity
    }

    /// Removes the entry of an entity.
    func remove(_ name: String) throws {
        try Self.key(kind: "E", name: name).withUnsafeBytes { _ = try transaction.delete($0) }
    }

    // MARK: Links

    /// The entry of a relationship's links, by its name.
    func links(named name: String) throws -> StoredLinks? { try read(kind: "L", name: name) }

    /// Writes an entry for the links of a relationship, with keyspaces that were never used.
    func addLinks(_ relation: RelationDescription) throws -> StoredLinks {
        var format = try format() ?? StoredFormat.new()
        let links = StoredLinks(relation, keyspace: format.nextKeyspace)
        format.nextKeyspace += 2
        try write(format, kind: "F", name: "")
        try setLinks(StoredLinks.name(of: relation), to: links)
        return links
    }

    /// Writes the entry of a relationship's links; nil removes it.
    func setLinks(_ name: String, to links: StoredLinks?) throws {
        if let links { return try write(links, kind: "L", name: name) }
        try Self.key(kind: "L", name: name).withUnsafeBytes { _ = try transaction.delete($0) }
    }

    // MARK: Properties and changes

    /// The text of a property; nil when there is none.
    func property(_ name: String) throws -> String? {
        let stored: StoredText? = try read(kind: "P", name: name)
        return stored?.text
    }

    /// Sets the text of a property; nil removes it.
    func setProperty(_ name: String, to text: String?) throws {
        if let text {
            if try format() == nil { try write(StoredFormat.new(), kind: "F", name: "") }
            try write(StoredText(text: text), kind: "P", name: name)
        } else {
            try Self.key(kind: "P", name: name).withUnsafeBytes { _ = try transaction.delete($0) }
        }
    }

    /// The number of changes of entities. Cached entities of a process are valid while it is unchanged.
    func changeCount() throws -> UInt64 {
        try Self.changesKey.withUnsafeBytes { key in
            guard let bytes = try transaction.get(key), bytes.count == 8 else { return 0 }
            return UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
        }
    }

    /// Counts a change of an entity.
    func countChange() throws {
        let count = try changeCount() &+ 1
        try Self.changesKey.withUnsafeBytes { key in
            try withUnsafeBytes(of: count.littleEndian) { try transaction.put(key, $0) }
        }
    }

    /// A version that changes with every added or changed entity or relationship. Each of them takes
    /// keyspaces from the format, or counts as a change.
    func version() throws -> UInt64 {
        let format = try Self.formatKey.withUnsafeBytes { key -> UInt64 in
            // The checksum of the entry identifies the format.
            guard let bytes = try transaction.get(key), bytes.count > 8 else { return 0 }
            return UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
        }
        return format &+ (try changeCount() &* 0x9E37_79B9_7F4A_7C15)
    }

    // Every erasure looks for both.
    private static let formatKey = key(kind: "F", name: "")
    private static let changesKey = key(kind: "C", name: "")

    private static func key(kind: Unicode.Scalar, name: String) -> [UInt8] {
        Keyspace.catalog.prefix + [UInt8(ascii: kind)] + Array(name.utf8)
    }

    private func read<Entry: Decodable>(kind: Unicode.Scalar, name: String) throws -> Entry? {
        try Self.key(kind: kind, name: name).withUnsafeBytes { key in try transaction.get(key).map { try decode($0, name: name) }
        }
    }

    private func decode<Entry: Decodable>(_ bytes: UnsafeRawBufferPointer, name: String) throws -> Entry {
        let json = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(8))
        guard bytes.count > 8, UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)) == XXH64.hash(json),
            let entry = try? NestedJSON.decode(Entry.self, from: json)
        else { throw damaged(name) }
        return entry
    }

    /// The error for an entry with invalid contents.
    private func damaged(_ name: String) -> StorageError {
        .corrupted(
            path, (name.isEmpty ? "the catalog's head" : "the catalog entry of '\(name)'") + " is damaged",
            entity: name.isEmpty ? nil : name)
    }

    private func write(_ entry: some Encodable, kind: Unicode.Scalar, name: String) throws {
        // Foundation sorts keys otherwise on each of its platforms.
        let json = Data(try CanonicalEncoder.json(of: entry).utf8)
        var bytes = Data(count: 8)
        let hash = json.withUnsafeBytes { XXH64.hash($0) }
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: hash.littleEndian, as: UInt64.self) }
        bytes += json
        try Self.key(kind: kind, name: name).withUnsafeBytes { key in
            try bytes.withUnsafeBytes { try transaction.put(key, $0) }
        }
    }
}

extension BackupFile.Content {
    /// What a store has, as a transaction sees it.
    package init(of transaction: any KeyValueTransaction, path: String?) throws {
        self = try Catalog(transaction, path: path).content()
    }
}

/// The keyspaces in the catalog entry of an entity, or of links, which have two successive keyspaces.
private struct StoredKeyspaces: Decodable {
    var keyspace: UInt32
    var indexes: [String: UInt32]?
}

/// The catalog entry of a property.
private struct StoredText: Codable {
    var text: String
}
