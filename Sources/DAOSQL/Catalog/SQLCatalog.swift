import DAOCore
import Foundation

/// The table in which a database describes itself, with a row for each entity. Tools can read it without the
/// application's types.
struct SQLCatalog: Sendable {
    /// The name of the table.
    static let name = "dao_catalog"
    /// The newest version of the format of the descriptions that can be read.
    static let newestFormat: Int64 = 4

    /// The version of the format that a description needs: builds that know of no log must not write the rows of a logged entity, and those
    /// that know of no index for searches not the rows of one that has such an index.
    static func format(of entity: EntityDescription) -> Int64 { entity.needsTextIndex ? 4 : entity.needsLog ? 3 : 2 }

    /// The SQL dialect of the engine.
    private let dialect: any SQLDialect
    /// The descriptions that were decoded, by their texts. An entity is read several times while it is opened.
    private let decoded = DecodedDescriptions()

    /// Describes the catalog of an engine.
    ///
    /// - Parameter dialect: The SQL dialect of the engine.
    init(dialect: any SQLDialect) { self.dialect = dialect }

    private var table: String { dialect.quoted(Self.name) }

    /// Creates the table if it does not exist.
    var create: String {
        """
        CREATE TABLE IF NOT EXISTS \(table) (
          "entity" TEXT PRIMARY KEY,
          "description" TEXT NOT NULL,
          "format" INTEGER NOT NULL
        )
        """
    }

    /// Reads the description, the format and the name of every entity, by name.
    var selectAll: String { "\(selectAny) ORDER BY \"entity\"" }

    /// Reads the description, the format and the name of one entity; its name is bound.
    var select: String { "\(selectAny) WHERE \"entity\" = \(dialect.placeholder(1))" }

    private var selectAny: String { "SELECT \"description\", \"format\", \"entity\" FROM \(table)" }

    /// Stores or replaces an entity: name, description and format are bound.
    var upsert: String {
        let values = (1...3).map(dialect.placeholder).joined(separator: ", ")
        return "INSERT INTO \(table) (\"entity\", \"description\", \"format\") VALUES (\(values)) ON CONFLICT (\"entity\") "
            + "DO UPDATE SET \"description\" = excluded.\"description\", \"format\" = excluded.\"format\""
    }

    /// Removes an entity; its name is bound.
    var delete: String { "DELETE FROM \(table) WHERE \"entity\" = \(dialect.placeholder(1))" }

    /// Encodes a description as text.
    func encoded(_ entity: EntityDescription) throws -> String {
        // Foundation sorts keys otherwise on each of its platforms.
        try CanonicalEncoder.json(of: entity)
    }

    /// Decodes a description from text.
    ///
    /// - Throws: `.schemaIsNewer` for an unknown newer format, `.corrupted` for text that is not a
    ///   description of the entity with the name.
    func decoded(_ text: String, format: Int64, of name: String, path: String) throws -> EntityDescription {
        guard format <= Self.newestFormat else {
            throw StorageError.formatIsNewer(Int(format), supported: Int(Self.newestFormat), path: path)
        }
        let entity = try decoded.description(Array(text.utf8)) { bytes in
            let entity = bytes.withUnsafeBytes { try? NestedJSON.decode(EntityDescription.self, from: $0) }
            guard let entity else { throw unreadable(path) }
            return entity
        }
        guard entity.name.hasSameBytes(as: name) else { throw unreadable(path) }
        return entity
    }

    private func unreadable(_ path: String) -> StorageError {
        .corrupted(path, "the table '\(Self.name)' describes an entity in a way that cannot be read")
    }
}

/// Descriptions of entities by the texts that they were decoded from.
private final class DecodedDescriptions: Sendable {
    /// More are not kept.
    private static let limit = 1000
    /// By bytes: two texts that Unicode considers equal have different defaults.
    private let known = Lock<[[UInt8]: EntityDescription]>([:])

    /// The description of a text. A closure decodes it unless that is known.
    func description(_ text: [UInt8], _ decode: ([UInt8]) throws -> EntityDescription) rethrows -> EntityDescription {
        if let known = known.withLock({ $0[text] }) { return known }
        let description = try decode(text)
        known.withLock { known in
            if known.count >= Self.limit { known = [:] }
            known[text] = description
        }
        return description
    }
}
