/// The relationships of a database, by the entities at both ends.
struct KnownRelations: Sendable {
    private var bySource: [String: [RelationDescription]] = [:]
    private var byTarget: [String: [RelationDescription]] = [:]
    /// What the log of changes keeps, by the entities that are logged.
    private(set) var logs: [String: EntityLog] = [:]
    /// The indexes for searches, by their entities.
    private(set) var textIndexes: [String: TextIndex] = [:]
    /// The places of the databases that have taken over the rows of entities.
    private(set) var moved: [String: String] = [:]

    init() {}

    /// Creates what a catalog knows of relationships and logs.
    init(of entities: [EntityDescription]) {
        self.init(entities.flatMap { $0.relations(among: entities) })
        for entity in entities {
            (logs[entity.name], moved[entity.name]) = (entity.log, entity.movedTo)
            textIndexes[entity.name] = entity.textIndex
        }
    }

    /// Creates a set of relationships. Of several with one name the last counts.
    init(_ relations: [RelationDescription]) {
        var byName: [LinkName: RelationDescription] = [:]
        for relation in relations { byName[relation.name] = relation }
        bySource = Dictionary(grouping: byName.values, by: \.entity)
        byTarget = Dictionary(grouping: byName.values, by: \.target)
    }

    /// The relationships that begin at an entity.
    func from(_ entity: String) -> [RelationDescription] { bySource[entity] ?? [] }

    /// The relationships that lead to an entity.
    func to(_ entity: String) -> [RelationDescription] { byTarget[entity] ?? [] }

    /// Whether changes of an entity's rows are logged, or its texts are in an index.
    func follows(_ entity: String) -> Bool { logs[entity] != nil || textIndexes[entity] != nil }

    /// Whether a relationship begins at an entity or leads to it.
    func touches(_ entity: String) -> Bool { bySource[entity] != nil || byTarget[entity] != nil }
}

extension RelationDescription {
    /// The name of the relationship's links.
    fileprivate var name: LinkName { LinkName(entity: entity, field: field) }
}
