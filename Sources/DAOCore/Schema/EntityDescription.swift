/// What an entity looks like, without the application's type: names, types, key and indexes.
///
/// Every backend keeps it in its catalog and interprets queries by it; a tool can read it from a file it knows nothing about.
public struct EntityDescription: Sendable, Hashable, Codable {
    /// The entity's name.
    public var name: String
    /// The fields, in the order of the schema.
    public var fields: [FieldDescription]

    /// Creates a description.
    ///
    /// - Parameters:
    ///   - name: The entity's name.
    ///   - fields: The fields, in the order of the schema.
    public init(name: String, fields: [FieldDescription]) {
        self.name = name
        self.fields = fields
    }

    /// The position of the primary key. Zero when there is none, which only an invalid schema has.
    public var keyIndex: Int { fields.firstIndex { $0.isPrimaryKey } ?? 0 }

    /// The kind of the primary key.
    public var keyKind: ValueKind { fields.isEmpty ? .int64 : fields[keyIndex].type.kind }

    /// The position of a field.
    ///
    /// - Parameter name: The field's name, by bytes.
    public func index(of name: String) -> Int? { fields.firstIndex { $0.name.hasSameBytes(as: name) } }
}

/// What a field looks like, without the application's type.
public struct FieldDescription: Sendable, Hashable, Codable {
    /// The field's name: a column, or a slot of a record.
    public var name: String
    /// The field's type.
    public var type: FieldType
    /// Whether it is the primary key.
    public var isPrimaryKey: Bool
    /// Whether an index serves queries on it.
    public var isIndexed: Bool
    /// Whether no two rows may have the same value in it.
    public var isUnique: Bool
    /// Where a relationship leads; nil for a field that is none, and in ``Schema/description``, which knows no other model.
    public var relation: RelationTarget?

    /// Creates a description.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - type: The field's type.
    ///   - isPrimaryKey: Whether it is the primary key.
    ///   - isIndexed: Whether an index serves queries on it; true for a unique field too.
    ///   - isUnique: Whether no two rows may have the same value in it.
    public init(
        name: String, type: FieldType, isPrimaryKey: Bool = false, isIndexed: Bool = false, isUnique: Bool = false
    ) {
        self.name = name
        self.type = type
        self.isPrimaryKey = isPrimaryKey
        self.isIndexed = isIndexed || isUnique
        self.isUnique = isUnique
    }
}

/// Where a relationship leads.
public struct RelationTarget: Sendable, Hashable, Codable {
    /// The name of the related entity.
    public var entity: String
    /// Whether a related row goes with the last row that refers to it.
    public var cascades: Bool

    /// Creates a target.
    ///
    /// - Parameters:
    ///   - entity: The name of the related entity.
    ///   - cascades: Whether a related row goes with the last row that refers to it.
    public init(entity: String, cascades: Bool) {
        self.entity = entity
        self.cascades = cascades
    }
}
