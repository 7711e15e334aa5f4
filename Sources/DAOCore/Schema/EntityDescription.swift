import Foundation

/// The description of an entity without the application's type: names, types, key and indexes.
///
/// Every backend stores it in its catalog and interprets queries by it. A tool can read it from a file
/// without the application's models.
///
/// ```swift
/// for entity in try database.entities() { print(entity.name, entity.fields.map(\.name)) }
/// ```
public struct EntityDescription: Sendable, Hashable, Codable {
    /// The entity's name.
    public var name: String
    /// The fields, in the order of the schema.
    public var fields: [FieldDescription]
    /// The indexes over several fields, and those that descend, in the order of their descriptions. A field's own
    /// index is ``FieldDescription/isIndexed``.
    public var indexes: [IndexDescription] {
        didSet { indexes.sort { $0.description < $1.description } }
    }
    /// What the log of changes keeps of the rows; nil where their changes are not logged.
    public var log: EntityLog?
    /// The place of the database that has taken over the rows, which are not written here any more; nil before that
    /// (contract D6).
    public internal(set) var movedTo: String?
    /// The index for searches; nil where there is none.
    public package(set) var textIndex: TextIndex?
    /// Since when the log has everything that has changed the rows: it began then, or the entity got other fields, whose values no log
    /// has. It is no part of what descriptions are compared by.
    var logSince: Date?

    /// Creates a description.
    ///
    /// - Parameters:
    ///   - name: The entity's name.
    ///   - fields: The fields, in the order of the schema.
    ///   - indexes: The indexes over several fields, and those that descend, in any order.
    ///   - log: What the log of changes keeps of the rows.
    public init(name: String, fields: [FieldDescription], indexes: [IndexDescription] = [], log: EntityLog? = nil) {
        self.name = name
        self.fields = fields
        self.indexes = indexes.sorted { $0.description < $1.description }
        self.log = log
    }

    /// Whether two entities are declared alike.
    public static func == (left: EntityDescription, right: EntityDescription) -> Bool {
        left.name == right.name && left.fields == right.fields && left.indexes == right.indexes && left.log == right.log
            && left.movedTo == right.movedTo && left.textIndex == right.textIndex
    }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(fields)
        hasher.combine(indexes)
        hasher.combine(log)
        hasher.combine(movedTo)
        hasher.combine(textIndex)
    }

    /// Decodes a description. One without ``indexes`` has none.
    ///
    /// - Throws: `DecodingError`; `.invalidSchema` for a description that no schema has: one without fields, with a name that no
    ///   field can have, with an index on a field that is missing, and so on. A catalog in a file can be of any origin, and nothing
    ///   that reads one has to expect such a description.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        fields = try container.decode([FieldDescription].self, forKey: .fields)
        indexes = try container.decodeIfPresent([IndexDescription].self, forKey: .indexes) ?? []
        log = try container.decodeIfPresent(EntityLog.self, forKey: .log)
        movedTo = try container.decodeIfPresent(String.self, forKey: .movedTo)
        textIndex = try container.decodeIfPresent(TextIndex.self, forKey: .textIndex)
        logSince = try container.decodeIfPresent(Date.self, forKey: .logSince)
        try SchemaCheck.check(stored: self)
    }

    /// The position of the primary key. It is zero when the schema is invalid and has no key.
    public var keyIndex: Int { fields.firstIndex { $0.isPrimaryKey } ?? 0 }

    /// The kind of the primary key.
    public var keyKind: ValueKind { fields.isEmpty ? .int64 : fields[keyIndex].type.kind }

    /// Returns the position of a field; nil when there is no such field.
    ///
    /// - Parameter name: The name of the field, compared by bytes.
    public func index(of name: String) -> Int? { fields.firstIndex { $0.name.hasSameBytes(as: name) } }
}

/// The description of a field without the application's type.
public struct FieldDescription: Sendable, Hashable, Codable {
    /// The name of the field.
    public var name: String
    /// The field's type.
    public var type: FieldType
    /// Whether the field is the primary key.
    public var isPrimaryKey: Bool
    /// Whether the field has an index.
    public var isIndexed: Bool
    /// Whether two rows cannot have the same value, apart from nil.
    public var isUnique: Bool
    /// The value of the field in rows that are inserted by a model without the field; nil when there is none.
    public var defaultValue: Value?
    /// What an embedded value contains; nil for a field of another kind, and for one whose model was never asked for.
    public var content: EmbeddedContent?
    /// The target of a relationship; nil for other fields, and in ``Schema/description``, which does not know
    /// other models.
    public var relation: RelationTarget?

    /// Creates a description.
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - type: The type of the field.
    ///   - isPrimaryKey: Whether the field is the primary key.
    ///   - isIndexed: Whether the field has an index. It is true for a unique field.
    ///   - isUnique: Whether two rows cannot have the same value, apart from nil.
    ///   - defaultValue: The value of the field in rows that are inserted by a model without the field.
    ///   - content: What an embedded value contains.
    public init(
        name: String, type: FieldType, isPrimaryKey: Bool = false, isIndexed: Bool = false, isUnique: Bool = false,
        defaultValue: Value? = nil, content: EmbeddedContent? = nil
    ) {
        self.name = name
        self.type = type
        self.isPrimaryKey = isPrimaryKey
        self.isIndexed = isIndexed || isUnique
        self.isUnique = isUnique
        self.defaultValue = defaultValue
        self.content = content
    }
}

/// The target of a relationship.
public struct RelationTarget: Sendable, Hashable, Codable {
    /// The name of the related entity.
    public var entity: String
    /// The kind of the related rows' keys.
    public var keyKind: ValueKind
    /// Whether a related row is erased with the last row that refers to it.
    public var cascades: Bool
    /// What erasing a related row means for the rows that refer to it.
    public var targetErasure: TargetErasure

    /// Creates a target.
    ///
    /// - Parameters:
    ///   - entity: The name of the related entity.
    ///   - keyKind: The kind of the related rows' keys.
    ///   - cascades: Whether a related row is erased with the last row that refers to it.
    ///   - targetErasure: What erasing a related row means for the rows that refer to it.
    public init(entity: String, keyKind: ValueKind, cascades: Bool, targetErasure: TargetErasure = .unlink) {
        self.entity = entity
        self.keyKind = keyKind
        self.cascades = cascades
        self.targetErasure = targetErasure
    }

    /// Decodes a target. One without ``targetErasure`` unlinks.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        entity = try container.decode(String.self, forKey: .entity)
        keyKind = try container.decode(ValueKind.self, forKey: .keyKind)
        cascades = try container.decode(Bool.self, forKey: .cascades)
        targetErasure = try container.decodeIfPresent(TargetErasure.self, forKey: .targetErasure) ?? .unlink
    }
}

/// What erasing a related row means for the rows that refer to it (contract R4, R10).
public enum TargetErasure: String, Sendable, Hashable, Codable {
    /// They no longer refer to it.
    case unlink
    /// They keep it from being erased.
    case restrict
    /// They are erased with it.
    case cascade
}

// MARK: Text

extension EntityDescription: CustomStringConvertible {
    /// The name and the fields, as in `article(id int64 key, title string, writer → person, comments → [comment])`, then the
    /// indexes over several fields.
    public var description: String {
        let longIndexes = indexes.map { ($0.isUnique ? ", unique index (" : ", index (") + "\($0))" }
        return "\(name)(\(fields.map(\.description).joined(separator: ", ")))" + longIndexes.joined()
    }
}

extension FieldDescription: CustomStringConvertible {
    /// The name, the type or the target of a relationship, and the index.
    public var description: String {
        if let relation { return "\(name) → " + (type.kind == .toMany ? "[\(relation.entity)]" : relation.entity) }
        var text = "\(name) \(type)"
        if isPrimaryKey { text += " key" } else if isUnique { text += " unique" } else if isIndexed { text += " indexed" }
        return text
    }
}

// MARK: Rows

extension EntityDescription {
    /// The entity as its rows contain it: the field of a to-one relationship is an indexed field with the key of the
    /// related row, optional unless it is a required ``Reference``. An ordered list of models is not in the row, and its
    /// field is unchanged.
    public var rowForm: EntityDescription {
        var form = self
        form.fields = fields.map(\.rowForm)
        return form
    }
}

extension FieldDescription {
    /// The field as a row contains it; see ``EntityDescription/rowForm``.
    var rowForm: FieldDescription {
        guard type.kind == .toOne, let relation else { return self }
        var field = self
        field.type = FieldType(relation.keyKind, isOptional: type.isOptional)
        field.isIndexed = true
        return field
    }
}
