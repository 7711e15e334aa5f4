/// Everything that a model's relationships reach, opened together: the rows of each model and the links of each relationship.
final class StorageGraph: Sendable {
    let database: any Database

    /// Where a relationship begins.
    private struct Field: Hashable {
        let model: ObjectIdentifier
        let position: Int
    }

    // Each is a storage of the model that its key stands for.
    private let storages: [ObjectIdentifier: any Sendable]
    private let links: [Field: any LinkStorage]
    /// The models from which a row may lead back to itself.
    private let recursive: Set<ObjectIdentifier>
    /// The models that are met in more than one place: one call may hold several values of one row, of which only the first counts.
    private let recurring: Set<ObjectIdentifier>

    /// Opens what a model reaches.
    ///
    /// - Throws: What opening a storage throws.
    init<Root: Model>(_ database: any Database, from root: Root.Type) throws {
        var walk = Walk(database)
        try walk.visit(root)
        self.database = database
        storages = walk.storages
        var links: [Field: any LinkStorage] = [:]
        for relation in walk.relations {
            links[Field(model: relation.model, position: relation.field)] = try database.makeLinks(for: relation.description)
        }
        self.links = links
        recursive = walk.recursive
        recurring = walk.recurring.union(recursive)
        try database.engineState.relations.add(walk.relations.map(\.description), in: database)
    }

    /// The rows of a model, without what is related to them.
    func rows<Record: Model>(of model: Record.Type) throws -> any Storage<Record> {
        guard let storage = storages[ObjectIdentifier(model)] as? any Storage<Record> else { throw unreached(model) }
        return storage
    }

    /// The links of a relationship.
    func links<Record: Model>(of model: Record.Type, field: Int) throws -> any LinkStorage {
        guard let links = links[Field(model: ObjectIdentifier(model), position: field)] else { throw unreached(model) }
        return links
    }

    /// Whether rows of a model may lead back to themselves.
    func isRecursive<Record: Model>(_ model: Record.Type) -> Bool { recursive.contains(ObjectIdentifier(model)) }

    /// Whether one call may hold several values of one row of a model.
    func isRecurring<Record: Model>(_ model: Record.Type) -> Bool { recurring.contains(ObjectIdentifier(model)) }

    private func unreached<Record: Model>(_ model: Record.Type) -> StorageError {
        let name = Record.schema.description.name
        return StorageError(.invalidSchema, "'\(name)' is not among the models that were opened together", entity: name)
    }

    /// Finds every model that can be reached.
    private struct Walk {
        let database: any Database
        var storages: [ObjectIdentifier: any Sendable] = [:]
        var relations: [(model: ObjectIdentifier, field: Int, description: RelationDescription)] = []
        /// The models that more than one relationship, or the root and one, lead to.
        private(set) var recurring: Set<ObjectIdentifier> = []
        private var targets: [ObjectIdentifier: Set<ObjectIdentifier>] = [:]

        init(_ database: any Database) { self.database = database }

        mutating func visit<Record: Model>(_ model: Record.Type) throws {
            let id = ObjectIdentifier(model)
            if storages[id] != nil { return }
            let schema = Record.schema
            if let problem = schema.problem { throw problem }
            storages[id] = try database.makeStorage(for: model)
            targets[id] = []
            for relation in schema.relations {
                let target = ObjectIdentifier(relation.target)
                targets[id]?.insert(target)
                if storages[target] != nil { recurring.insert(target) }
                try visit(relation.target)
                relations.append((id, relation.field, relation.description))
            }
        }

        /// The models that reach one which reaches itself.
        var recursive: Set<ObjectIdentifier> {
            let reached = targets.keys.reduce(into: [:]) { $0[$1] = reachable(from: $1) }
            let circular = targets.keys.filter { reached[$0]?.contains($0) == true }
            return Set(targets.keys.filter { model in circular.contains { $0 == model || reached[model]?.contains($0) == true } })
        }

        private func reachable(from model: ObjectIdentifier) -> Set<ObjectIdentifier> {
            var found: Set<ObjectIdentifier> = []
            var pending = Array(targets[model] ?? [])
            while let next = pending.popLast() {
                if found.insert(next).inserted { pending += targets[next] ?? [] }
            }
            return found
        }
    }
}

extension StorageGraph {
    /// Reads what is related to rows that were read alone, and puts it in.
    ///
    /// - Complexity: A fixed number of engine queries; for models that refer to themselves, that many for each level of depth.
    func attach<Record: Model>(to records: inout [Record], _ form: GraphForm) throws {
        let relations = Record.schema.relations
        if records.isEmpty || relations.isEmpty { return }
        if form == .whole, isRecursive(Record.self) { return try NodeGraph(self).attach(to: &records) }
        for relation in relations { try attach(relation, to: &records, form) }
    }

    private func attach<Field: Relation>(_ relation: Field, to records: inout [Field.Parent], _ form: GraphForm) throws {
        if form == .withoutLists, !relation.isToOne { return try relation.markUnread(&records) }
        try relation.attach(to: &records, form, in: self)
    }
}
