import DAOCore
import Foundation

/// The table in which a database describes itself: a row for each entity, so that a tool can read it without
/// the application's types.
struct SQLCatalog: Sendable {
    /// The name of the table.
    static let name = "dao_catalog"
    /// The form of the descriptions that this version writes, and the newest it reads.
    static let format: Int64 = 2

    /// The engine's way of writing.
    private let dialect: any SQLDialect

    /// Describes the catalog of an engine.
    ///
    /// - Parameter dialect: The engine's way of writing.
    init(dialect: any SQLDialect) { self.dialect = dialect }

    private var table: String { dialect.quoted(Self.name) }

    /// Creates the table if it is not there.
    var create: String {
        """
        CREATE TABLE IF NOT EXISTS \(table) (
          "entity" TEXT PRIMARY KEY,
          "description" TEXT NOT NULL,
          "format" INTEGER NOT NULL
        )
        """
    }

    /// Reads the description and the format of every entity, by name.
    var selectAll: String { "SELECT \"description\", \"format\" FROM \(table) ORDER BY \"entity\"" }

    /// Reads the description and the format of one entity; its name is bound.
    var select: String { "SELECT \"description\", \"format\" FROM \(table) WHERE \"entity\" = \(dialect.placeholder(1))" }

    /// Stores or replaces an entity: name, description and format are bound.
    var upsert: String {
        let values = (1...3).map(dialect.placeholder).joined(separator: ", ")
        return "INSERT INTO \(table) (\"entity\", \"description\", \"format\") VALUES (\(values)) ON CONFLICT (\"entity\") "
            + "DO UPDATE SET \"description\" = excluded.\"description\", \"format\" = excluded.\"format\""
    }

    /// Removes an entity; its name is bound.
    var delete: String { "DELETE FROM \(table) WHERE \"entity\" = \(dialect.placeholder(1))" }

    /// The text that stands for a description.
    func encoded(_ entity: EntityDescription) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(entity), as: UTF8.self)
    }

    /// The description that a text stands for.
    ///
    /// - Throws: `.schemaIsNewer` for a format that this version does not know, `.corrupted` for text that is
    ///   no description.
    func decoded(_ text: String, format: Int64) throws -> EntityDescription {
        guard format <= Self.format else {
            throw StorageError.formatIsNewer(Int(format), supported: Int(Self.format), path: nil)
        }
        guard let entity = try? JSONDecoder().decode(EntityDescription.self, from: Data(text.utf8)) else {
            throw StorageError(
                .corrupted,
                "the table '\(Self.name)' describes an entity in a way that cannot be read; restore the database from a backup")
        }
        return entity
    }
}
