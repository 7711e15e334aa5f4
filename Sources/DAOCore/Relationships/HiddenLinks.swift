import Foundation

/// A model of the library itself, whose entity has a reserved name.
package protocol OwnModel: Model {}

/// A link as a row of a hidden entity. Databases without a more efficient form store links in this form.
struct LinkRow: OwnModel {
    /// The id of the link.
    var id: UUID
    /// The relationship and the parent's key.
    var owner: String
    /// The relationship and the child's key.
    var target: String
    /// The position of the child among the children of its parent.
    var position: Int

    static let schema = Schema(
        "dao_links", Self.init,
        Field("id", \.id, .primaryKey),
        Field("owner", \.owner, .indexed),
        Field("target", \.target, .indexed),
        Field("position", \.position)
    )
}

/// The links of one relationship as rows of the hidden entity.
struct HiddenLinks: LinkStorage {
    private let rows: any Storage<LinkRow>
    private let relation: RelationDescription
    private let prefix: String

    init(_ relation: RelationDescription, in database: any Database) throws {
        rows = try database.makeStorage(for: LinkRow.self)
        self.relation = relation
        prefix = Self.prefix(LinkName(entity: relation.entity, field: relation.field))
    }

    /// Returns the prefix of the owners and targets of a relationship's links.
    static func prefix(_ name: LinkName) -> String {
        // Names do not contain these characters.
        "\(name.entity).\(name.field):"
    }

    func children(of parents: [Key]) throws -> LinkedKeys {
        let owners = parents.map(text)
        let found = try rows.read(Query(where: Condition { $0.owner.in(owners) }, orderedBy: [.ascending(\.position)]))
        let lists = byOwner(found)
        var linked = LinkedKeys()
        for owner in owners {
            linked.append(try (lists[.string(owner)] ?? []).map { try key($0.target, relation.targetKeyKind) })
        }
        return linked
    }

    func parents(of children: [Key]) throws -> [Key] {
        Set(try found(children).map { try key($0.owner, relation.keyKind) }).sorted()
    }

    func counts() throws -> [(parent: Key, count: Int)] {
        let prefix = prefix
        var counts: [Key: Int] = [:]
        let query = GroupQuery<LinkRow>(by: [1], counting: [.rows], where: Condition { $0.owner.hasPrefix(prefix) })
        try rows.groups(query) { row, numbers in counts[try key(row.readString(at: 1), relation.keyKind)] = numbers[0] }
        return counts.map { ($0, $1) }.sorted { $0.0 < $1.0 }
    }

    func set(_ children: LinkedKeys, of parents: [Key]) throws {
        let lists = Dictionary(zip(parents, children.lists), uniquingKeysWith: { $1 })
        try rows.database.transaction {
            let owners = lists.keys.map(text)
            let stored = byOwner(
                try rows.read(Query(where: Condition { $0.owner.in(owners) }, orderedBy: [.ascending(\.position)])))
            var fresh: [LinkRow] = []
            var gone: [Key] = []
            for (parent, list) in lists {
                let owner = text(parent)
                let before = stored[.string(owner)] ?? []
                let targets = list.map(text)
                // The common prefix of both lists remains unchanged.
                let same = zip(before, targets).prefix { $0.target.hasSameBytes(as: $1) }.count
                gone += before.dropFirst(same).map { .uuid($0.id) }
                let start = same == 0 ? 0 : before[same - 1].position &+ 1
                for (offset, target) in targets.dropFirst(same).enumerated() {
                    fresh.append(LinkRow(id: UUID(), owner: owner, target: target, position: start &+ offset))
                }
            }
            _ = try rows.erase(keys: gone)
            try rows.insert(fresh)
        }
    }

    func remove(children: [Key]) throws {
        let targets = children.map(text)
        _ = try rows.erase(Query(where: Condition { $0.target.in(targets) }))
    }

    func remove(parents: [Key]) throws {
        let owners = parents.map(text)
        _ = try rows.erase(Query(where: Condition { $0.owner.in(owners) }))
    }

    func linked(among children: [Key]) throws -> Set<Key> {
        Set(try found(children).map { try key($0.target, relation.targetKeyKind) })
    }

    private func found(_ children: [Key]) throws -> [LinkRow] {
        let targets = children.map(text)
        return try rows.read(Query(where: Condition { $0.target.in(targets) }))
    }

    /// Returns rows by their owners. Owners are equal when their bytes are equal.
    private func byOwner(_ rows: [LinkRow]) -> [Key: [LinkRow]] { Dictionary(grouping: rows) { .string($0.owner) } }

    private func text(_ key: Key) -> String { prefix + UniqueID(key).rawValue }

    private func key(_ text: String, _ kind: ValueKind) throws -> Key {
        // The prefix is removed as bytes: a key can begin with a combining mark, which would join the last
        // character of the prefix.
        let id = String(decoding: text.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
        let entity = LinkRow.schema.description.name
        switch kind {
        case .string: return .string(id)
        case .uuid: if let id = UUID(uuidString: id) { return .uuid(id) }
        default:
            if let number = Int64(id) { return .integer(number) }
            if let number = UInt64(id) { return .unsigned(number) }
        }
        throw StorageError(
            .corruptedValue, "a link does not end in a key of type \(kind.rawValue); restore the database from a backup",
            entity: entity)
    }
}

extension Database {
    /// Creates a storage of links as rows of a hidden entity.
    public func makeLinks(for relation: RelationDescription) throws -> any LinkStorage {
        try makeHiddenLinks(for: relation)
    }

    /// Creates a storage of links as rows of a hidden entity, for a database that stores only some relationships in a
    /// different form.
    public func makeHiddenLinks(for relation: RelationDescription) throws -> any LinkStorage {
        try HiddenLinks(relation, in: self)
    }
}
