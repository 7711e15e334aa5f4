/// A relationship between two entities, without the application's types.
public struct RelationDescription: Sendable, Hashable {
    /// The entity whose field it is: that of the parents.
    public var entity: String
    /// The name of the field.
    public var field: String
    /// The kind of the parents' keys.
    public var keyKind: ValueKind
    /// The entity of the children.
    public var target: String
    /// The kind of the children's keys.
    public var targetKeyKind: ValueKind
    /// Whether a parent has one child at most.
    public var isToOne: Bool
    /// Whether a child goes with the last row that refers to it.
    public var cascades: Bool

    /// Describes a relationship.
    ///
    /// - Parameters:
    ///   - entity: The entity whose field it is.
    ///   - field: The name of the field.
    ///   - keyKind: The kind of the parents' keys.
    ///   - target: The entity of the children.
    ///   - targetKeyKind: The kind of the children's keys.
    ///   - isToOne: Whether a parent has one child at most.
    ///   - cascades: Whether a child goes with the last row that refers to it.
    public init(
        entity: String, field: String, keyKind: ValueKind, target: String, targetKeyKind: ValueKind, isToOne: Bool = false,
        cascades: Bool = false
    ) {
        self.entity = entity
        self.field = field
        self.keyKind = keyKind
        self.target = target
        self.targetKeyKind = targetKeyKind
        self.isToOne = isToOne
        self.cascades = cascades
    }
}

extension EntityDescription {
    /// The relationships that begin at this entity.
    ///
    /// - Parameter entities: The entities of the database, among which the related ones are.
    public func relations(among entities: [EntityDescription]) -> [RelationDescription] {
        fields.compactMap { field in
            guard let relation = field.relation, let target = entities.first(where: { $0.name == relation.entity }) else {
                return nil
            }
            return RelationDescription(
                entity: name, field: field.name, keyKind: keyKind, target: target.name, targetKeyKind: target.keyKind,
                isToOne: field.type.kind == .toOne, cascades: relation.cascades)
        }
    }
}

extension Schema {
    /// The description as a database keeps it: with the names of related entities.
    ///
    /// It is made on demand, since models may refer to each other in a circle.
    public var storedDescription: EntityDescription {
        var stored = description
        for relation in relations {
            stored.fields[relation.field].relation = RelationTarget(
                entity: relation.targetDescription.name, cascades: relation.cascades)
        }
        return stored
    }
}

extension Schema {
    /// The names of the entity and of all that its relationships reach.
    var reachedEntities: Set<String> {
        var names: Set<String> = []
        collect(&names)
        return names
    }

    private func collect(_ names: inout Set<String>) {
        guard names.insert(description.name).inserted else { return }
        for relation in relations { Self.collect(relation.target, &names) }
    }

    private static func collect<Target: Model>(_ model: Target.Type, _ names: inout Set<String>) {
        Target.schema.collect(&names)
    }
}
