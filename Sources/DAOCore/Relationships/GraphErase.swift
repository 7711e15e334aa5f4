/// The erasure of rows, of their links in both directions, and of related rows that lose their last parent in
/// a relationship with `.cascade`.
///
/// A ``Reference`` to an erased row erases the row that has it, or prevents the erasure, when its field says so. Rows that
/// are erased in the same call prevent nothing (contract R10).
///
/// It works on the relationships in the catalog, because a model of the entity that the application has not
/// opened can have declared more of them. It runs inside a transaction and terminates on any graph: every row
/// is erased once, and a row that another row still refers to is kept.
final class GraphErase {
    private let place: any ErasurePlace
    private var pending: [Rows] = []
    /// The erased rows that restricted References lead to.
    private var restricted: [(relation: RelationDescription, keys: [Key])] = []
    /// The relationships of the database. They are read on first use.
    private var relations: KnownRelations?

    /// Rows of one entity that may be erased.
    struct Rows {
        let entity: String
        let keys: [Key]
        /// Whether they are erased even if another row refers to them.
        var isCertain = false
    }

    init(_ place: any ErasurePlace) { self.place = place }

    /// Erases rows, their links and the related rows of cascades.
    ///
    /// - Parameters:
    ///   - entity: The entity of the rows.
    ///   - keys: The keys of the rows.
    ///   - rows: Erases the rows alone; their links are gone by then.
    func erase(_ entity: String, keys: [Key], _ rows: () throws -> Void) throws {
        try remove(entity, keys: keys, rows)
        try drain()
    }

    /// Follows the erasure of rows that are gone.
    ///
    /// - Parameters:
    ///   - entity: The entity of the rows.
    ///   - keys: The keys of the rows.
    ///   - related: The rows that fields with `.cascade` of the rows led to.
    func didErase(_ entity: String, keys: [Key], related: [Rows]) throws {
        pending += related
        try erase(entity, keys: keys) {}
    }

    /// Erases the candidates that no row refers to.
    func eraseOrphans(_ candidates: [Rows]) throws {
        pending += candidates
        try drain()
    }

    /// Returns the relationships of the database.
    private func known() throws -> KnownRelations {
        let known = try relations ?? place.relations()
        relations = known
        return known
    }

    private func drain() throws {
        while let rows = pending.popLast() {
            var free = Set(rows.keys)
            // A Reference that cascades does not hold the row that it leads to.
            let holding = rows.isCertain ? [] : try known().to(rows.entity).filter { $0.targetErasure != .cascade }
            for relation in holding where !free.isEmpty {
                free.subtract(try place.links(of: relation).linked(among: free.sorted()))
            }
            let keys = free.sorted()
            try remove(rows.entity, keys: keys) { try place.erase(rows.entity, keys) }
        }
        for (relation, keys) in restricted {
            let links = try place.links(of: relation)
            for (target, parents) in zip(keys, try links.parents(ofEach: keys, limit: 1).lists) {
                if let parent = parents.first { throw StorageError.restrictedTarget(relation, key: parent, target: target) }
            }
        }
    }

    /// Removes rows and all links that begin or end at them.
    private func remove(_ entity: String, keys: [Key], _ erase: () throws -> Void) throws {
        if keys.isEmpty { return }
        for relation in try known().from(entity) {
            let links = try place.links(of: relation)
            if relation.cascades {
                let children = Set(try links.children(of: keys).keys)
                if !children.isEmpty { pending.append(Rows(entity: relation.target, keys: children.sorted())) }
            }
            if !links.isInRows { try links.remove(parents: keys) }
        }
        for relation in try known().to(entity) {
            let links = try place.links(of: relation)
            switch relation.targetErasure {
            case .unlink: try links.remove(children: keys)
            case .restrict: restricted.append((relation, keys))
            case .cascade:
                pending.append(Rows(entity: relation.entity, keys: try links.parents(of: keys), isCertain: true))
            }
        }
        try erase()
    }
}

/// Where rows are erased: a database, or the entities of one that is migrated.
protocol ErasurePlace {
    /// Returns the relationships of the database.
    func relations() throws -> KnownRelations

    /// Returns the links of a relationship.
    func links(of relation: RelationDescription) throws -> any LinkStorage

    /// Erases rows of an entity without their links.
    func erase(_ entity: String, _ keys: [Key]) throws
}

extension StorageGraph: ErasurePlace {
    func relations() throws -> KnownRelations { try database.engineState.relations.relations(in: database) }

    func links(of relation: RelationDescription) throws -> any LinkStorage { try database.makeLoggedLinks(for: relation) }
}
