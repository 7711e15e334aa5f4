// The rows that refer to others.

extension GraphStorage {
    func read<Target: Model>(
        _ query: Query<Record>, referring inverse: InverseRelation<Target, Record>, to keys: [Key]
    ) throws -> [[Record]] {
        // The query is checked also when there are no keys.
        try Record.schema.check(query)
        return try database.reads {
            if query.limit != nil { return try keys.map { try read(query.restricted(to: referring(inverse, to: [$0]))) } }
            let records = try read(query.restricted(to: referring(inverse, to: keys)))
            var lists = Dictionary(keys.map { ($0, [Record]()) }, uniquingKeysWith: { $1 })
            let targets = try graph.links(of: Record.self, field: inverse.forward)
                .children(of: Record.schema.keys(of: records))
            for (record, targets) in zip(records, targets.lists) {
                for target in Set(targets) { lists[target]?.append(record) }
            }
            return keys.map { lists[$0] ?? [] }
        }
    }

    func relatedRows<Child: Model>(at position: Int, forward: Int?, of child: Child.Type) throws -> RelatedRows<Child> {
        let relation = try relation(at: position)
        let childGraph = try relation.childGraph(graph)
        // Links are read without the rows, also those beside them.
        ObservedReads.current?.willRead(TouchedEntities(names: Child.schema.reachedEntities), in: database.engineState)
        // A row that is read without related rows has the key of a Reference, and not that of an optional model.
        let isInRows =
            try forward.map { field in
                try Child.schema.relation(at: field)?.isReference == true
                    && childGraph.links(of: Child.self, field: field).isInRows
            } ?? false
        return RelatedRows(
            storage: try GraphStorage<Child>(graph: childGraph), links: try relation.links(in: graph),
            place: isInRows ? forward : nil)
    }

    /// Returns the condition of the rows that refer to one of some rows.
    private func referring<Target: Model>(_ inverse: InverseRelation<Target, Record>, to keys: [Key]) throws -> PredicateNode {
        try parents(relation(at: inverse.forward), of: keys)
    }
}

extension Query {
    /// Returns the query with a further condition.
    func restricted(to node: PredicateNode) -> Query {
        var query = self
        query.predicate = Condition(ConditionTree(resolved: .and([node, predicate.node])))
        return query
    }
}
