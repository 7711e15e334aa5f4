/// A relationship between two entities, without the application's types.
public struct RelationDescription: Sendable, Hashable {
    /// The entity with the field, which is the entity of the parents.
    public var entity: String
    /// The name of the field.
    public var field: String
    /// The name of the parents' primary key.
    public var keyField: String
    /// The kind of the parents' keys.
    public var keyKind: ValueKind
    /// The entity of the children.
    public var target: String
    /// The kind of the children's keys.
    public var targetKeyKind: ValueKind
    /// Whether a parent has at most one child.
    public var isToOne: Bool
    /// Whether a child is erased with the last row that refers to it.
    public var cascades: Bool
    /// What erasing the child means for the rows that refer to it.
    public var targetErasure: TargetErasure

    /// Creates a description.
    ///
    /// - Parameters:
    ///   - entity: The entity with the field.
    ///   - field: The name of the field.
    ///   - keyField: The name of the parents' primary key.
    ///   - keyKind: The kind of the parents' keys.
    ///   - target: The entity of the children.
    ///   - targetKeyKind: The kind of the children's keys.
    ///   - isToOne: Whether a parent has at most one child.
    ///   - cascades: Whether a child is erased with the last row that refers to it.
    ///   - targetErasure: What erasing the child means for the rows that refer to it.
    public init(
        entity: String, field: String, keyField: String, keyKind: ValueKind, target: String, targetKeyKind: ValueKind,
        isToOne: Bool = false, cascades: Bool = false, targetErasure: TargetErasure = .unlink
    ) {
        self.entity = entity
        self.field = field
        self.keyField = keyField
        self.keyKind = keyKind
        self.target = target
        self.targetKeyKind = targetKeyKind
        self.isToOne = isToOne
        self.cascades = cascades
        self.targetErasure = targetErasure
    }
}

extension EntityDescription {
    /// Returns the relationships of this entity.
    ///
    /// - Parameter entities: The entities of the database, including the related entities.
    public func relations(among entities: [EntityDescription]) -> [RelationDescription] {
        fields.compactMap { field in
            guard let relation = field.relation, let target = entities.first(where: { $0.name == relation.entity }) else {
                return nil
            }
            return RelationDescription(
                entity: name, field: field.name, keyField: fields[keyIndex].name, keyKind: keyKind, target: target.name,
                targetKeyKind: target.keyKind, isToOne: field.type.kind == .toOne, cascades: relation.cascades,
                targetErasure: relation.targetErasure)
        }
    }
}

extension Schema {
    /// The description in its stored form, with the names of related entities.
    ///
    /// It is computed on demand, because models can refer to each other in a cycle.
    public var storedDescription: EntityDescription {
        var stored = description
        if case .success(let indexes) = partialIndexes?.result { stored.indexes += indexes }
        for relation in relations {
            let target = relation.targetDescription
            stored.fields[relation.field].relation = RelationTarget(
                entity: target.name, keyKind: target.keyKind, cascades: relation.cascades, targetErasure: relation.targetErasure)
        }
        return stored
    }
}

extension Schema {
    /// The names of the entity and of all entities that its relationships reach.
    var reachedEntities: Set<String> {
        var names: Set<String> = []
        collect(&names)
        return names
    }

    private func collect(_ names: inout Set<String>) {
        guard names.insert(description.name).inserted else { return }
        for relation in relations + inverses.all { Self.collect(relation.target, &names) }
    }

    private static func collect<Target: Model>(_ model: Target.Type, _ names: inout Set<String>) {
        Target.schema.collect(&names)
    }
}
