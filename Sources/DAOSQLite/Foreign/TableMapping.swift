import DAOCore
import Foundation

/// What the tables of another program's SQLite file become: the entities of ``SQLiteDatabase/move(by:to:as:onProgress:)``, and where
/// the values of their fields come from.
///
/// ```swift
/// let mapping = try old.tableMapping()
/// try Data(mapping.text.utf8).write(to: URL(fileURLWithPath: "library.mapping.json"))
/// ```
///
/// It is read from the schema and the values of a file, then changed by hand. Its text is JSON with a line for each field.
public struct TableMapping: Codable, Sendable, Equatable {
    /// The program or the library that has made the file, such as `Core Data`; nil when it is not known.
    public var dialect: String?
    /// The time zone of dates that are stored without one, such as `UTC` or `Europe/Berlin`. It is nil until somebody says it.
    public var timeZone: String?
    /// The entities, in the order of their names.
    public var entities: [Entity]
    /// The tables and views whose rows stay behind.
    public var left: [Left]

    /// A table that becomes an entity.
    public struct Entity: Codable, Sendable, Equatable {
        /// The name of the entity.
        public var entity: String
        /// The name of the table.
        public var table: String
        /// The fields, in the order of the columns.
        public var fields: [Field]
        /// The indexes over several fields.
        public var indexes: [Index]?
    }

    /// A field, and where its values come from.
    public struct Field: Codable, Sendable, Equatable {
        /// The name of the field.
        public var field: String
        /// The type, as in `int64`, `date?`, `toOne` or `toMany`.
        public var type: String
        /// The column; nil for the number of the row, for a key of several columns, and for a list.
        public var column: String?
        /// The columns of a key that is derived from their values, or of a reference to such a key.
        public var columns: [String]?
        /// What the numbers or texts of a date are, or how a binary value is stored.
        public var form: StoredForm?
        /// What stored numbers mean, for a text that the other program stores as a number.
        public var names: [String: String]?
        /// Whether the field is the primary key.
        public var key: Bool?
        /// Whether the field has an index.
        public var indexed: Bool?
        /// Whether two rows cannot have the same value.
        public var unique: Bool?
        /// The entity that a relationship leads to.
        public var target: String?
        /// What erasing the related row means.
        public var erasure: TargetErasure?
        /// The table that has the elements of a list.
        public var list: List?
        /// What a person may want to change.
        public var note: String?

        /// The parsed type.
        var fieldType: FieldType? {
            let isOptional = type.hasSuffix("?")
            return ValueKind(rawValue: isOptional ? String(type.dropLast()) : type).map { FieldType($0, isOptional: isOptional) }
        }
    }

    /// The table that has the elements of a list.
    public struct List: Codable, Sendable, Equatable {
        /// The name of the table.
        public var table: String
        /// The column with the key of the row that has the list.
        public var parent: String
        /// The column with the key of an element.
        public var child: String
        /// The column by which the elements are ordered; nil for the order of the rows.
        public var order: String?
    }

    /// An index over several fields.
    public struct Index: Codable, Sendable, Equatable {
        /// The names of the fields.
        public var fields: [String]
        /// Whether two rows cannot have the same values.
        public var unique: Bool?
    }

    /// A table or a view whose rows stay behind.
    public struct Left: Codable, Sendable, Equatable {
        /// The name of the table.
        public var table: String
        /// Why its rows stay behind.
        public var why: String
        /// Whether its rows could not be read, as those of a damaged table.
        public var unreadable: Bool?
    }

    /// Reads the text of a mapping.
    ///
    /// - Throws: `.invalidConfiguration` for a text that is no mapping, with the place; `.invalidSchema` for entities that contradict
    ///   themselves.
    public init(text: String) throws {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
        } catch let error as DecodingError {
            let (what, path): (String, [any CodingKey]) =
                switch error {
                case .keyNotFound(let key, let context): ("'\(key.stringValue)' is missing", context.codingPath)
                case .dataCorrupted(let context), .typeMismatch(_, let context), .valueNotFound(_, let context):
                    (context.debugDescription, context.codingPath)
                @unknown default: ("it cannot be read", [])
                }
            let place = path.map { $0.intValue.map { "\($0 + 1)" } ?? $0.stringValue }.joined(separator: ".")
            throw StorageError(
                .invalidConfiguration,
                "the text is no mapping of tables: \(what)\(place.isEmpty ? "" : ", at \(place)"); correct it")
        }
        _ = try descriptions()
    }

    init(dialect: String?, timeZone: String?, entities: [Entity], left: [Left]) {
        (self.dialect, self.timeZone, self.entities, self.left) = (dialect, timeZone, entities, left)
    }

    /// The mapping as JSON, with a line for each field, for people to read and change.
    public var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        func json(_ value: some Encodable) -> String {
            (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
        }
        func lines(_ values: [some Encodable], _ indent: String) -> String {
            values.isEmpty ? "[]" : "[\n" + values.map { indent + "  " + json($0) }.joined(separator: ",\n") + "\n\(indent)]"
        }
        var text = "{\n"
        if let dialect { text += "  \"dialect\": \(json(dialect)),\n" }
        if let timeZone { text += "  \"timeZone\": \(json(timeZone)),\n" }
        text += "  \"entities\": ["
        for (number, entity) in entities.enumerated() {
            text +=
                "\(number == 0 ? "" : ",")\n    {\n      \"entity\": \(json(entity.entity)), \"table\": \(json(entity.table)),\n"
            text += "      \"fields\": \(lines(entity.fields, "      "))"
            if let indexes = entity.indexes { text += ",\n      \"indexes\": \(lines(indexes, "      "))" }
            text += "\n    }"
        }
        return text + "\n  ],\n  \"left\": \(lines(left, "  "))\n}\n"
    }

    // MARK: Entities

    /// The entities that the tables become.
    ///
    /// - Throws: `.invalidSchema` for an entity that contradicts itself.
    public func descriptions() throws -> [EntityDescription] {
        let described = try entities.map(described)
        if let twin = Dictionary(grouping: described, by: { $0.name.lowercased() }).values.first(where: { $0.count > 1 })?.last {
            throw invalid("the mapping has two entities '\(twin.name)'; rename one of them", twin.name)
        }
        // The same checks as for the catalog of a file.
        return try described.map { try JSONDecoder().decode(EntityDescription.self, from: JSONEncoder().encode($0)) }
    }

    private func described(_ entity: Entity) throws -> EntityDescription {
        let fields = try entity.fields.map { field in
            guard let type = field.fieldType else {
                throw invalid(
                    "'\(field.type)' is no type of a field; use one of \(ValueKind.allCases.map(\.rawValue).joined(separator: ", ")), with a question mark where nil can be",
                    entity.entity, field.field)
            }
            let isList = type.kind == .toMany
            guard isList == (field.list != nil), type.kind.isRelationship == (field.target != nil) else {
                throw invalid(
                    "a relationship needs 'target', and a list 'list' too; no other field has them", entity.entity, field.field)
            }
            var described = FieldDescription(
                name: field.field, type: isList ? FieldType(.toMany) : type,
                isPrimaryKey: field.key == true, isIndexed: field.indexed == true && !type.kind.isRelationship,
                isUnique: field.unique == true)
            if let name = field.target {
                guard let target = entities.first(where: { $0.entity == name }),
                    let key = target.fields.first(where: { $0.key == true })?.fieldType
                else {
                    throw invalid("it leads to '\(name)', which is no entity with a key", entity.entity, field.field)
                }
                described.relation = RelationTarget(
                    entity: name, keyKind: key.kind, cascades: false, targetErasure: field.erasure ?? .unlink)
            }
            return described
        }
        let indexes = (entity.indexes ?? []).map { index in
            IndexDescription(index.fields.map { IndexedField($0) }, isUnique: index.unique == true)
        }
        return EntityDescription(name: entity.entity, fields: fields, indexes: indexes)
    }

    private func invalid(_ message: String, _ entity: String, _ field: String? = nil) -> StorageError {
        let place = field.map { "the field '\($0)' of '\(entity)': " } ?? ""
        return StorageError(.invalidSchema, place + message, entity: entity, field: field)
    }

    /// Returns what keeps models from using the entities that the tables become, with the entity and the field; empty when they fit.
    ///
    /// A test calls it with the mapping that the application ships:
    ///
    /// ```swift
    /// #expect(try mapping.differences(from: Artist.self, Album.self).isEmpty)
    /// ```
    ///
    /// A model may declare more than comes: optional fields, fields with a default, and indexes.
    ///
    /// - Parameter models: The models.
    public func differences(from models: any Model.Type...) throws -> [String] { try differences(models) }

    func differences(_ models: [any Model.Type]) throws -> [String] {
        let moved = try descriptions()
        return models.flatMap { model in
            let declaration = Self.declaration(of: model)
            guard let entity = moved.first(where: { $0.name == declaration.description.name }) else {
                return ["'\(declaration.description.name)' comes from no table"]
            }
            return EntityChange(from: entity, to: declaration).obstacles.map { "'\(entity.name)': \($0)" }
        }
    }

    static func declaration<Record: Model>(of model: Record.Type) -> EntityDeclaration { model.schema.declaration }

    /// The time zone.
    ///
    /// - Throws: `.invalidConfiguration` for a name that is none.
    func zone() throws -> TimeZone? {
        try timeZone.map { name in
            guard let zone = TimeZone(identifier: name) else {
                throw StorageError(
                    .invalidConfiguration, "there is no time zone '\(name)'; name one as in 'UTC' or 'Europe/Berlin'")
            }
            return zone
        }
    }

    /// Whether a date of the mapping is stored without its zone, and nobody has said which it is.
    func datesWithoutZone() -> (entity: String, field: String)? {
        guard timeZone == nil else { return nil }
        for entity in entities {
            if let field = entity.fields.first(where: { $0.form == .localText }) { return (entity.entity, field.field) }
        }
        return nil
    }
}
