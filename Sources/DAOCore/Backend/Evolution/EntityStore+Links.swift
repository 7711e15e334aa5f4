/// The name of a relationship's links: the entity of the parents and the field.
public struct LinkName: Sendable, Hashable {
    /// The entity of the parents.
    public var entity: String
    /// The name of the field.
    public var field: String

    /// Creates a name.
    ///
    /// - Parameters:
    ///   - entity: The entity of the parents.
    ///   - field: The name of the field.
    public init(entity: String, field: String) {
        self.entity = entity
        self.field = field
    }
}

/// The renaming or removal of links.
public struct LinkMove: Sendable, Hashable {
    /// The current name of the links.
    public var old: LinkName
    /// The new name of the links; nil when the links are removed.
    public var new: LinkName?

    /// Creates a move.
    ///
    /// - Parameters:
    ///   - old: The current name of the links.
    ///   - new: The new name of the links; nil when the links are removed.
    public init(_ old: LinkName, to new: LinkName?) {
        self.old = old
        self.new = new
    }
}

extension EntityStore {
    /// Renames the links of renamed fields and removes the links of dropped fields.
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

    /// Renames the links of a renamed entity, and updates the relationships that lead to it.
    ///
    /// - Parameters:
    ///   - entity: The current description of the entity.
    ///   - name: The previous name of the entity.
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

    /// Removes the links of all rows of an entity, which is dropped.
    ///
    /// - Throws: `.referenceViolation` when a Reference of another entity leads to one of them and cannot be nil.
    func removeLinks(ofAllRowsOf entity: EntityDescription) throws {
        var moves: [LinkMove] = []
        for relation in try relations(of: entity.name) {
            let links = try links(of: relation)
            if relation.entity != entity.name, relation.targetErasure != .unlink,
                let (parent, _) = try links.counts().first, let target = try links.children(of: [parent]).keys.first
            {
                throw StorageError.restrictedTarget(relation, key: parent, target: target)
            }
            if links.isInRows {
                // A link in a row goes with the row.
                if relation.entity == entity.name { continue }
                try links.remove(parents: links.counts().map(\.parent))
            } else {
                moves.append(LinkMove(LinkName(entity: relation.entity, field: relation.field), to: nil))
            }
        }
        if !moves.isEmpty { try moveLinks(moves) }
    }

    /// Returns the relationships of an entity, and those that lead to it.
    fileprivate func relations(of entity: String) throws -> [RelationDescription] {
        try relations().filter { $0.entity == entity || $0.target == entity }
    }

    fileprivate func relations() throws -> [RelationDescription] {
        let entities = try entities()
        return entities.flatMap { $0.relations(among: entities) }
    }
}

/// The rows of an entity that a migration step erases while it walks them. Their links follow when the walk has ended: a
/// link in a row that is still to come would be stored again with it.
struct WalkedErasure {
    /// Whether the entity has relationships, or relationships lead to it.
    let isLinked: Bool
    private let entity: EntityDescription
    /// The fields of one related row that is erased with the last row that leads to it, and the entity of that row.
    private let cascades: [(field: Int, target: RelationTarget)]
    private var keys: [Key] = []
    private var related: [String: Set<Key>] = [:]

    init(of entity: EntityDescription, in store: any EntityStore) throws {
        self.entity = entity
        isLinked = try !store.relations(of: entity.name).isEmpty
        cascades = entity.fields.enumerated().compactMap { position, field in
            guard field.type.kind == .toOne, let relation = field.relation, relation.cascades else { return nil }
            return (position, relation)
        }
    }

    /// Notes a row that is erased.
    mutating func note(_ key: Key, _ values: [Value]) {
        guard isLinked else { return }
        keys.append(key)
        for (field, target) in cascades {
            if let key = Key(values[field], of: target.keyKind) { related[target.entity, default: []].insert(key) }
        }
    }

    /// Unlinks the rows, and erases what goes with them (contract R3, R4 and R10).
    ///
    /// - Throws: `.referenceViolation` when a restricted Reference leads to one of the rows.
    func follow(in store: any EntityStore) throws {
        if keys.isEmpty { return }
        try GraphErase(StoredRows(store: store)).didErase(
            entity.name, keys: keys, related: related.map { GraphErase.Rows(entity: $0.key, keys: $0.value.sorted()) })
    }
}

/// The rows of a database that is migrated.
private struct StoredRows: ErasurePlace {
    let store: any EntityStore

    func relations() throws -> KnownRelations { KnownRelations(try store.relations()) }

    func links(of relation: RelationDescription) throws -> any LinkStorage { try store.links(of: relation) }

    func erase(_ entity: String, _ keys: [Key]) throws { try store.erase(keys, from: entity) }
}

// MARK: Links that are rows of the hidden entity

extension EntityStore {
    /// Rewrites the rows of the hidden entity. It contains the links, unless a database stores links in a
    /// different form.
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
                // The prefix is removed as bytes: a key can begin with a combining mark, which would join the
                // last character of the prefix.
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
    /// The error for a change of a key that links refer to.
    var linkedKeyChanged: StorageError {
        StorageError(
            .unsupported, "a row of '\(name)' would get another key, and relationships refer to it; remove the links first",
            entity: name)
    }
}
