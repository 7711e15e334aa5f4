/// One erasure of rows with what goes with them: their links in both directions, and the rows that lose their last parent where a relationship
/// says so.
///
/// It runs inside a transaction and ends on any graph: a row is erased once, and one that anybody else still refers to is kept.
final class GraphErase {
    let graph: StorageGraph
    private var pending: [any ErasableRows] = []
    /// The relationships of the database, by the entity they lead to; read when they are needed first.
    private var relations: [String: Set<RelationDescription>]?

    init(_ graph: StorageGraph) { self.graph = graph }

    /// Erases rows and what goes with them.
    ///
    /// - Returns: How many of the rows asked for there were.
    func erase<Record: Model>(_ model: Record.Type, keys: [Key]) throws -> Int {
        let count = try remove(model, keys: keys)
        try drain()
        return count
    }

    /// Erases those rows that no row refers to.
    func eraseOrphans(_ candidates: [any ErasableRows]) throws {
        pending += candidates
        try drain()
    }

    /// The relationships that lead to an entity.
    private func relations(to entity: String) throws -> Set<RelationDescription> {
        let known = try relations ?? graph.database.engineState.relations.relations(in: graph.database)
        relations = known
        return known[entity] ?? []
    }

    private func drain() throws {
        while let rows = pending.popLast() { try rows.eraseUnlinked(in: self) }
    }

    /// Removes rows and every link that begins or ends at them.
    private func remove<Record: Model>(_ model: Record.Type, keys: [Key]) throws -> Int {
        if keys.isEmpty { return 0 }
        for relation in Record.schema.relations {
            let links = try relation.links(in: graph)
            if relation.cascades {
                let children = Set(try links.children(of: keys).keys)
                if !children.isEmpty { pending.append(relation.orphans(children.sorted())) }
            }
            try links.remove(parents: keys)
        }
        for relation in try relations(to: Record.schema.description.name) {
            try graph.database.makeLinks(for: relation).remove(children: keys)
        }
        return try graph.rows(of: model).erase(keys: keys)
    }

    /// Rows of one model that may have to go.
    struct Rows<Record: Model>: ErasableRows {
        let keys: [Key]

        func eraseUnlinked(in erase: GraphErase) throws {
            var free = Set(keys)
            for relation in try erase.relations(to: Record.schema.description.name) {
                if free.isEmpty { return }
                free.subtract(try erase.graph.database.makeLinks(for: relation).linked(among: free.sorted()))
            }
            _ = try erase.remove(Record.self, keys: free.sorted())
        }
    }
}

/// Rows of one model that may have to go, with the model hidden.
protocol ErasableRows {
    /// Erases those of the rows that no row refers to.
    func eraseUnlinked(in erase: GraphErase) throws
}
