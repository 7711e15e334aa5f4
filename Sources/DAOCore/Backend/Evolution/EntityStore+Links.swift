/// The name of a relationship's links: the entity and the field that they begin at.
public struct LinkName: Sendable, Hashable {
    /// The parents' entity.
    public var entity: String
    /// Its field.
    public var field: String

    /// Creates a name.
    ///
    /// - Parameters:
    ///   - entity: The parents' entity.
    ///   - field: Its field.
    public init(entity: String, field: String) {
        self.entity = entity
        self.field = field
    }
}

/// Links that get another name, or go.
public struct LinkMove: Sendable, Hashable {
    /// The name that they have.
    public var old: LinkName
    /// The name that they are to have; nil when they go.
    public var new: LinkName?

    /// Describes a move.
    ///
    /// - Parameters:
    ///   - old: The name that the links have.
    ///   - new: The name that they are to have; nil when they go.
    public init(_ old: LinkName, to new: LinkName?) {
        self.old = old
        self.new = new
    }
}

extension EntityStore {
    /// Whether an entity has relationships, or others have some that lead to it.
    func isLinked(_ entity: EntityDescription) throws -> Bool { try !relations(of: entity).isEmpty }

    /// Lets links follow the renamed fields of an entity, and removes those of fields that are dropped.
    func moveLinks(_ change: EntityChange) throws {
        let stored = change.stored
        var moves: [LinkMove] = []
        for (origin, field) in stored.fields.enumerated() where field.type.kind.isRelationship {
            let position = change.sources.firstIndex(of: .stored(origin))
            let name = position.map { change.wanted.fields[$0].name }
            if let name, name.hasSameBytes(as: field.name) { continue }
            moves.append(
                LinkMove(
                    LinkName(entity: stored.name, field: field.name), to: name.map { LinkName(entity: stored.name, field: $0) }))
        }
        if !moves.isEmpty { try moveLinks(moves) }
    }

    /// Lets links, and the relationships that lead to it, follow an entity that was renamed.
    ///
    /// - Parameters:
    ///   - entity: The entity as it is now.
    ///   - name: The name that it had.
    func moveLinks(of entity: EntityDescription, from name: String) throws {
        for stored in try entities() {
            var wanted = stored
            for index in wanted.fields.indices where wanted.fields[index].relation?.entity == name {
                wanted.fields[index].relation?.entity = entity.name
            }
            if wanted != stored { _ = try alter(EntityChange(from: stored, to: EntityDeclaration(wanted))) }
        }
        let moves = entity.fields.filter(\.type.kind.isRelationship).map {
            LinkMove(LinkName(entity: name, field: $0.name), to: LinkName(entity: entity.name, field: $0.name))
        }
        if !moves.isEmpty { try moveLinks(moves) }
    }

    /// Removes the links of rows that are gone.
    func removeLinks(of entity: EntityDescription, _ keys: [Key]) throws {
        if keys.isEmpty { return }
        for relation in try relations(of: entity) {
            let links = try links(of: relation)
            if relation.entity == entity.name { try links.remove(parents: keys) }
            if relation.target == entity.name { try links.remove(children: keys) }
        }
    }

    /// Removes the links of all rows of an entity.
    func removeLinks(ofAllRowsOf entity: EntityDescription) throws {
        let moves = try relations(of: entity).map { LinkMove(LinkName(entity: $0.entity, field: $0.field), to: nil) }
        if !moves.isEmpty { try moveLinks(moves) }
    }

    /// The relationships that begin at an entity, and those that lead to it.
    private func relations(of entity: EntityDescription) throws -> [RelationDescription] {
        let entities = try entities()
        return entities.flatMap { $0.relations(among: entities) }.filter { $0.entity == entity.name || $0.target == entity.name }
    }
}

// MARK: Links that are rows of the hidden entity

extension EntityStore {
    /// Rewrites the rows of the hidden entity, which is where links are unless a database keeps them in a way of its own.
    public func moveLinks(_ moves: [LinkMove]) throws {
        let links = LinkRow.schema.description
        guard try entity(named: links.name) != nil else { return }
        let prefixes = moves.map { (old: HiddenLinks.prefix($0.old), new: $0.new.map(HiddenLinks.prefix)) }
        try forEachBatch(of: links.name) { batch in
            var changed: [[Value]] = []
            var gone: [Key] = []
            for (key, values) in batch.rows {
                guard case .string(let owner) = values[1], case .string(let target) = values[2],
                    let move = prefixes.first(where: { owner.utf8.starts(with: $0.old.utf8) })
                else { continue }
                guard let new = move.new else {
                    gone.append(key)
                    continue
                }
                // By bytes: a key may begin with a mark that would join the last character before it.
                func moved(_ text: String) -> Value {
                    .string(new + String(decoding: text.utf8.dropFirst(move.old.utf8.count), as: UTF8.self))
                }
                changed.append([values[0], moved(owner), moved(target), values[3]])
            }
            if !gone.isEmpty { try erase(gone, from: links.name) }
            if !changed.isEmpty { try store(changed, in: links.name, replaces: true) }
        }
    }
}

extension EntityDescription {
    /// The error for a key that links refer to.
    var linkedKeyChanged: StorageError {
        StorageError(
            .unsupported, "a row of '\(name)' would get another key, and relationships refer to it: that cannot be migrated yet",
            entity: name)
    }
}
