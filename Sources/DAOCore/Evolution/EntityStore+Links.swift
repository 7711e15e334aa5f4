// The links of relationships are rows of a hidden entity: they begin with the names of the parents' entity and of its field, and follow them.
extension EntityStore {
    private static var links: EntityDescription { LinkRow.schema.description }

    /// Whether an entity has relationships, or others have some that lead to it.
    func isLinked(_ entity: EntityDescription) throws -> Bool { try !prefixes(of: entity, named: entity.name).isEmpty }

    /// Lets links follow the renamed fields of an entity, and removes those of fields that are dropped.
    func moveLinks(_ change: EntityChange) throws {
        let stored = change.stored
        var moves: [(old: String, new: String?)] = []
        for (origin, field) in stored.fields.enumerated() where field.type.kind.isRelationship {
            let position = change.sources.firstIndex(of: .stored(origin))
            let name = position.map { change.wanted.fields[$0].name }
            if let name, name.hasSameBytes(as: field.name) { continue }
            moves.append((Self.prefix(stored.name, field.name), name.map { Self.prefix(stored.name, $0) }))
        }
        try moveLinks(moves)
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
        try moveLinks(
            entity.fields.filter(\.type.kind.isRelationship).map {
                (Self.prefix(name, $0.name), Self.prefix(entity.name, $0.name))
            })
    }

    /// Removes the links of rows that are gone.
    func removeLinks(of entity: EntityDescription, _ keys: [Key]) throws {
        if keys.isEmpty { return }
        let (owned, targeted) = try (prefixes(of: entity, named: nil), prefixes(of: nil, named: entity.name))
        func texts(_ prefixes: [String]) -> Set<Key> {
            Set(prefixes.flatMap { prefix in keys.map { .string(prefix + UniqueID($0).rawValue) } })
        }
        let (owners, targets) = (texts(owned), texts(targeted))
        try forEachLink { owner, target in owners.contains(.string(owner)) || targets.contains(.string(target)) ? .gone : .same }
    }

    /// Removes the links of all rows of an entity.
    func removeLinks(ofAllRowsOf entity: EntityDescription) throws {
        try moveLinks(prefixes(of: entity, named: entity.name).map { ($0, nil) })
    }

    private static func prefix(_ entity: String, _ field: String) -> String { "\(entity).\(field):" }

    /// What links begin with: those of an entity's own fields, and of fields that lead to the one with a name.
    private func prefixes(of entity: EntityDescription?, named name: String?) throws -> [String] {
        var found = (entity?.fields ?? []).filter(\.type.kind.isRelationship).map { Self.prefix(entity?.name ?? "", $0.name) }
        guard let name else { return found }
        for other in try entities() {
            found += other.fields.filter { $0.relation?.entity == name }.map { Self.prefix(other.name, $0.name) }
        }
        return found
    }

    private func moveLinks(_ moves: [(old: String, new: String?)]) throws {
        if moves.isEmpty { return }
        try forEachLink { owner, target in
            guard let move = moves.first(where: { owner.utf8.starts(with: $0.old.utf8) }) else { return .same }
            guard let new = move.new else { return .gone }
            // By bytes: a key may begin with a mark that would join the last character before it.
            func moved(_ text: String) -> String {
                new + String(decoding: text.utf8.dropFirst(move.old.utf8.count), as: UTF8.self)
            }
            return .moved(owner: moved(owner), target: moved(target))
        }
    }

    private func forEachLink(_ body: (String, String) -> LinkChange) throws {
        let links = Self.links
        guard try entity(named: links.name) != nil else { return }
        try forEachBatch(of: links.name) { batch in
            var changed: [[Value]] = []
            var gone: [Key] = []
            for (key, values) in batch.rows {
                guard case .string(let owner) = values[1], case .string(let target) = values[2] else { continue }
                switch body(owner, target) {
                case .same: break
                case .gone: gone.append(key)
                case .moved(let owner, let target): changed.append([values[0], .string(owner), .string(target), values[3]])
                }
            }
            if !gone.isEmpty { try erase(gone, from: links.name) }
            if !changed.isEmpty { try store(changed, in: links.name, replaces: true) }
        }
    }
}

/// What becomes of a link.
private enum LinkChange {
    case same
    case gone
    case moved(owner: String, target: String)
}

extension EntityDescription {
    /// The error for a key that links refer to.
    var linkedKeyChanged: StorageError {
        StorageError(
            .unsupported, "a row of '\(name)' would get another key, and relationships refer to it: that cannot be migrated yet",
            entity: name)
    }
}
