/// The storages of all models that the relationships of a model reach, and the links of these relationships.
final class StorageGraph: Sendable {
    let database: any Database

    /// The field of a relationship.
    private struct Field: Hashable {
        let model: ObjectIdentifier
        let position: Int
    }

    /// A ``StorageBox`` of the model that the key identifies.
    private let storages: [ObjectIdentifier: AnyObject & Sendable]
    private let links: [Field: any LinkStorage]
    /// Erases rows without their links, by the name of the entity.
    private let erasers: [String: @Sendable ([Key]) throws -> Int]
    /// The models whose rows can lead back to themselves, directly or through other models.
    private let recursive: Set<ObjectIdentifier>
    /// The models that occur in more than one place. One call can contain several values of a row of such a
    /// model, and only the first value counts.
    private let recurring: Set<ObjectIdentifier>
    /// The graphs of models that are not reached, and were asked for.
    private let others = Lock<[ObjectIdentifier: StorageGraph]>([:])
    /// The models that once had many rows.
    private let large = Lock<Set<ObjectIdentifier>>([])

    /// Opens the storages of a model and of all models that it reaches.
    ///
    /// - Throws: The errors of opening a storage.
    init<Root: Model>(_ database: any Database, from root: Root.Type) throws {
        var walk = Walk(database)
        var links: [Field: any LinkStorage] = [:]
        do {
            try walk.declare(root)
            try walk.visit(root)
            try walk.checkCycles()
            for relation in walk.relations {
                links[Field(model: relation.model, position: relation.field)] = try database.makeLoggedLinks(
                    for: relation.description)
            }
            database.engineState.relations.didMakeStorages()
        } catch {
            walk.closeDeclarations()
            throw error
        }
        self.database = database
        storages = walk.storages
        erasers = walk.erasers
        self.links = links
        recursive = walk.recursive
        recurring = walk.recurring.union(recursive)
    }

    /// Returns the storage of a model without related rows, for reading.
    func rows<Record: Model>(of model: Record.Type) throws -> any Storage<Record> { try box(of: model).storage }

    /// Returns the storage of a model without related rows, for writing. It adds to the log of changes.
    func writes<Record: Model>(of model: Record.Type) throws -> any Storage<Record> { try box(of: model).writes }

    private func box<Record: Model>(of model: Record.Type) throws -> StorageBox<Record> {
        guard let box = storages[ObjectIdentifier(model)] as? StorageBox<Record> else { throw unreached(model) }
        return box
    }

    /// Returns a graph that reaches a model: this one, or one that is opened for it.
    func reaching<Record: Model>(_ model: Record.Type) throws -> StorageGraph {
        let id = ObjectIdentifier(model)
        if storages[id] != nil { return self }
        if let other = others.withLock({ $0[id] }) { return other }
        let other = try StorageGraph(database, from: model)
        return others.withLock { others in
            if let known = others[id] { return known }
            others[id] = other
            return other
        }
    }

    /// Returns those of the given keys that have a row.
    func stored<Record: Model>(among keys: some Sequence<Key>, of model: Record.Type) throws -> Set<Key> {
        let values = Set(keys).map(\.value)
        return Set(
            try rows(of: model).keys(Query(where: Condition(.isIn(field: Record.schema.description.keyIndex, values)))))
    }

    /// Erases rows of an entity without their links.
    ///
    /// A retired relationship, or a Reference that cascades, can lead to an entity that no model here reaches.
    func erase(_ entity: String, _ keys: [Key]) throws {
        if let erase = erasers[entity] { return _ = try erase(keys) }
        if database.capabilities.hasEvolution, try !relations().follows(entity) {
            return try database.withEntityStore(.rows) { try $0.erase(keys, from: entity) }
        }
        // A log can keep the values, an index for searches has the rows, and a database without an entity store has storages, also of models that are made of what is stored.
        try AllUntypedRows(database).rows(of: entity)?.erase(keys)
    }

    /// Returns the links of a relationship.
    func links<Record: Model>(of model: Record.Type, field: Int) throws -> any LinkStorage {
        guard let links = links[Field(model: ObjectIdentifier(model), position: field)] else { throw unreached(model) }
        return links
    }

    /// Returns whether a model has at most some rows. One that once had more is not asked again.
    func isSmall<Record: Model>(_ model: Record.Type, limit: Int) throws -> Bool {
        let id = ObjectIdentifier(model)
        if large.withLock({ $0.contains(id) }) { return false }
        if try rows(of: model).keys(Query(limit: limit + 1)).count <= limit { return true }
        _ = large.withLock { $0.insert(id) }
        return false
    }

    /// Returns whether rows of a model can lead back to themselves.
    func isRecursive<Record: Model>(_ model: Record.Type) -> Bool { recursive.contains(ObjectIdentifier(model)) }

    /// Returns whether one call can contain several values of a row of a model.
    func isRecurring<Record: Model>(_ model: Record.Type) -> Bool { recurring.contains(ObjectIdentifier(model)) }

    private func unreached<Record: Model>(_ model: Record.Type) -> StorageError {
        let name = Record.schema.description.name
        return StorageError(
            .invalidSchema, "'\(name)' is not among the models that were opened together; open it with them", entity: name)
    }

    /// Finds all models that a model reaches.
    private struct Walk {
        let database: any Database
        var storages: [ObjectIdentifier: AnyObject & Sendable] = [:]
        var erasers: [String: @Sendable ([Key]) throws -> Int] = [:]
        var relations: [(model: ObjectIdentifier, field: Int, description: RelationDescription)] = []
        /// The models that several relationships lead to, and the root when a relationship leads to it.
        private(set) var recurring: Set<ObjectIdentifier> = []
        private var targets: [ObjectIdentifier: Set<ObjectIdentifier>] = [:]
        /// The models whose storages were made.
        private var visited: [any Model.Type] = []
        /// The models whose declarations were opened.
        private var declared: [ObjectIdentifier: any Model.Type] = [:]

        init(_ database: any Database) { self.database = database }

        /// Checks and opens the declarations of a model and of all models that it reaches, before anything is
        /// stored.
        mutating func declare<Record: Model>(_ model: Record.Type) throws {
            let id = ObjectIdentifier(model)
            if declared[id] != nil { return }
            let schema = Record.schema
            if let problem = schema.problem { throw problem }
            // Its models declare what is stored already, and other models can be declared beside them.
            if schema.isOfStoredEntity { return }
            try schema.probe.run(schema)
            if let whole = schema.whole { return try declare(whole) }
            try database.engineState.declarations.open(model, in: database)
            declared[id] = model
            for relation in schema.relations { try declare(relation.target) }
        }

        /// Makes the storages of a model and of all models that it reaches.
        mutating func visit<Record: Model>(_ model: Record.Type) throws {
            let id = ObjectIdentifier(model)
            if storages[id] != nil { return }
            let schema = Record.schema
            if let whole = schema.whole {
                try visit(whole)
                // Its relationships can lead back to the part.
                if storages[id] != nil { return }
            }
            var storage = try database.makeStorage(for: model)
            if schema.whole != nil, let field = schema.declaration.requiredElsewhere.first {
                storage = PartStorage(base: storage, missing: field)
            }
            let box = StorageBox(storage)
            storages[id] = box
            visited.append(model)
            erasers[schema.description.name] = { try box.writes.erase(keys: $0) }
            targets[id] = []
            for relation in schema.relations {
                let target = ObjectIdentifier(relation.target)
                // The row of a Reference is neither read nor written with the row that has it.
                if !relation.isReference {
                    targets[id]?.insert(target)
                    if storages[target] != nil { recurring.insert(target) }
                }
                try visit(relation.target)
                relations.append((id, relation.field, relation.description))
            }
        }

        /// Closes the opened declarations, because a storage could not be made.
        func closeDeclarations() {
            for model in declared.values { database.engineState.declarations.close(model, in: database) }
        }

        /// The models that reach themselves, and the models that reach such a model.
        var recursive: Set<ObjectIdentifier> {
            let reached = targets.keys.reduce(into: [:]) { $0[$1] = reachable(from: $1) }
            let circular = targets.keys.filter { reached[$0]?.contains($0) == true }
            return Set(targets.keys.filter { model in circular.contains { $0 == model || reached[model]?.contains($0) == true } })
        }

        /// Throws `.invalidSchema` when a model that reaches itself has a list that is not optional: a row that is met again inside
        /// itself is read without its lists (contract R4).
        func checkCycles() throws {
            func check<Record: Model>(_ model: Record.Type) throws {
                for relation in Record.schema.relations where relation.isRequired {
                    throw relation.requiredListError(
                        .invalidSchema,
                        "rows of '\(Record.schema.description.name)' can be met again inside themselves, without it")
                }
            }
            for model in visited where reachable(from: ObjectIdentifier(model)).contains(ObjectIdentifier(model)) {
                try check(model)
            }
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

/// A storage as an object: the run time finds the type of an object at once, and that of an `any Storage` among all that there are.
private final class StorageBox<Record: Model>: Sendable {
    let storage: any Storage<Record>
    let writes: any Storage<Record>

    init(_ storage: any Storage<Record>) { (self.storage, writes) = (storage, LoggedStorage(storage)) }
}

extension StorageGraph {
    /// Reads the related rows of records that were read without them, and assigns them.
    ///
    /// - Complexity: A fixed number of engine queries. For models that refer to themselves, that number for
    ///   each level of depth.
    func attach<Record: Model>(to records: inout [Record], _ form: GraphForm) throws {
        let relations = Record.schema.relations
        if records.isEmpty || relations.isEmpty { return }
        if form == .whole, isRecursive(Record.self) { return try NodeGraph(self).attach(to: &records) }
        for relation in relations { try attach(relation, to: &records, form) }
    }

    /// Assigns the References of records, where their keys are beside the rows.
    func attachReferences<Record: Model>(to records: inout [Record]) throws {
        for relation in Record.schema.relations where relation.isReference { try attach(relation, to: &records, .withoutLists) }
    }

    private func attach<Field: Relation>(_ relation: Field, to records: inout [Field.Parent], _ form: GraphForm) throws {
        guard case .only(let fields) = form else { return try relation.attach(to: &records, .whole, in: self) }
        let isIncluded = fields.contains(relation.field)
        if !isIncluded, !relation.isToOne { return try relation.markUnread(&records) }
        try relation.attach(to: &records, .withoutLists, in: self)
        if isIncluded { try relation.attachRows(to: &records, in: self) }
    }
}
