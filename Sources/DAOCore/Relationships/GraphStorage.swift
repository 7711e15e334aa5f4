/// The rows of a model with everything related to them: what `Database.storage(for:)` gives.
///
/// It stands on the flat storages and the links that a database supplies, so relationships mean the same on every one. A model without
/// relationships, to which nobody refers either, goes straight through.
struct GraphStorage<Record: Model>: Storage {
    /// The rows alone.
    let flat: any Storage<Record>
    let graph: StorageGraph
    /// Whether rows stand for themselves alone. Kept, since to look at the schema's relationships in every call would cost more than reading a row:
    /// their type is put together at run time.
    private let isFlat: Bool

    /// Opens a model and everything it reaches.
    init(_ database: any Database) throws { try self.init(graph: StorageGraph(database, from: Record.self)) }

    /// Takes a model out of a graph that reaches it.
    init(graph: StorageGraph) throws {
        self.graph = graph
        flat = try graph.rows(of: Record.self)
        isFlat = Record.schema.relations.isEmpty
    }

    var database: any Database { flat.database }
}

// MARK: Reading

extension GraphStorage {
    func read(_ query: Query<Record>) throws -> [Record] {
        if isFlat { return try flat.read(query) }
        return try database.snapshot {
            if query.sortsThroughRelations {
                return try read(keys: sortedKeys(query), includesSubentities: query.includesSubentities)
            }
            var records = try flat.read(rewritten(query))
            try graph.attach(to: &records, query.form)
            return records
        }
    }

    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] {
        if isFlat { return try flat.read(keys: keys, includesSubentities: includesSubentities) }
        return try database.snapshot {
            var records = try flat.read(keys: keys, includesSubentities: includesSubentities)
            try graph.attach(to: &records, includesSubentities ? .whole : .withoutLists)
            return records
        }
    }

    func read(key: Key) throws -> Record? {
        isFlat ? try flat.read(key: key) : try read(keys: [key], includesSubentities: true).first
    }

    func contains(key: Key) throws -> Bool { try flat.contains(key: key) }

    func keys(_ query: Query<Record>) throws -> [Key] {
        if isFlat { return try flat.keys(query) }
        return try database.snapshot {
            try query.sortsThroughRelations ? sortedKeys(query) : flat.keys(rewritten(query))
        }
    }

    func count(_ query: Query<Record>) throws -> Int {
        if isFlat { return try flat.count(query) }
        return try database.snapshot {
            var query = query
            // How many there are does not depend on their order.
            if query.sortsThroughRelations { query.order = [] }
            return try flat.count(rewritten(query))
        }
    }

    func values(of field: Int, _ query: Query<Record>, _ body: (Value) throws -> Void) throws {
        if isFlat { return try flat.values(of: field, query, body) }
        try database.snapshot {
            guard query.sortsThroughRelations else { return try flat.values(of: field, rewritten(query), body) }
            for record in try flat.read(keys: sortedKeys(query), includesSubentities: false) {
                try body(Record.schema.value(at: field, of: record))
            }
        }
    }

    func explain(_ query: Query<Record>) throws -> QueryPlan {
        if isFlat { return try flat.explain(query) }
        return try database.snapshot {
            guard query.sortsThroughRelations else { return try flat.explain(rewritten(query)) }
            var unsorted = query
            (unsorted.order, unsorted.limit, unsorted.offset) = ([], nil, 0)
            var plan = try flat.explain(rewritten(unsorted))
            plan.sortsRows = true
            return plan
        }
    }

    func cursor(_ query: Query<Record>) throws -> RowCursor<Record> {
        if isFlat { return try flat.cursor(query) }
        // Conditions and sorts through relationships are answered on a snapshot; what is kept of it are keys.
        if query.reachesRelated {
            let snapshot = try flat.cursor(Query(limit: 1))
            if snapshot.holdsSnapshot { return try KeyCursor(self, query, snapshot) }
        } else {
            let cursor = try flat.cursor(query)
            if cursor.holdsSnapshot { return GraphCursor(cursor, graph, query.form) }
        }
        // As in the default of `Storage`: reading no keys costs little, and finds out whether the database was closed meanwhile.
        return ArrayCursor(try read(query)) { _ = try flat.read(keys: [], includesSubentities: false) }
    }
}

// MARK: Writing

extension GraphStorage {
    func insert(_ records: [Record]) throws {
        isFlat ? try flat.insert(records) : try insert(making: { records })
    }

    func upsert(_ records: [Record]) throws {
        isFlat ? try flat.upsert(records) : try upsert(making: { records })
    }

    func insert(making records: () throws -> [Record]) throws {
        if isFlat { return try flat.insert(making: records) }
        try database.transaction { try GraphWrite(graph).run(records(), flat.insert) }
    }

    func upsert(making records: () throws -> [Record]) throws {
        if isFlat { return try flat.upsert(making: records) }
        try database.transaction { try GraphWrite(graph).run(records(), flat.upsert) }
    }

    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        if isFlat { return try flat.merge(keys: keys, body) }
        return try database.transaction {
            var stored = 0
            // One by one: what the body does to a row may change those after it.
            for (index, key) in keys.enumerated() where try merge(key, { try body(index, &$0) }) { stored += 1 }
            return stored
        }
    }

    /// Merges the row with a key; the body finds its related rows in it.
    private func merge(_ key: Key, includesSubentities: Bool = true, _ body: (inout Record?) throws -> Void) throws -> Bool {
        let original = try read(keys: [key], includesSubentities: includesSubentities).first
        var record = original
        try body(&record)
        guard let record else { return false }
        try Record.schema.checkKey(of: record, is: key)
        try GraphWrite(graph).run([record], originals: original.map { [$0] }, flat.upsert)
        return true
    }

    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int {
        if isFlat { return try flat.update(query, body) }
        return try database.transaction {
            let keys = try keys(query)
            for key in keys {
                _ = try merge(key, includesSubentities: query.includesSubentities) { record in
                    guard var changed = record.take() else { return }
                    try body(&changed)
                    record = consume changed
                }
            }
            return keys.count
        }
    }

    func erase(keys: [Key]) throws -> Int {
        try erase(alone: { try flat.erase(keys: keys) }, withRelated: { try $0.erase(Record.self, keys: keys) })
    }

    func erase(_ query: Query<Record>) throws -> Int {
        try erase(alone: { try flat.erase(query) }, withRelated: { try $0.erase(Record.self, keys: keys(query)) })
    }

    /// Erases rows.
    ///
    /// - Parameters:
    ///   - alone: Erases them where that changes nothing else.
    ///   - withRelated: Erases them with their links and what goes with them.
    private func erase(alone: () throws -> Int, withRelated: (GraphErase) throws -> Int) throws -> Int {
        let relations = graph.database.engineState.relations
        let entity = Record.schema.description.name
        if isFlat, !database.capabilities.isMultiProcess, !relations.hasRelations(to: entity) { return try alone() }
        return try database.runStep {
            // Only in a write transaction is it certain that no other process declares a relationship meanwhile.
            if isFlat, try relations.relations(in: database)[entity] == nil { return try alone() }
            return try database.transaction { try withRelated(GraphErase(graph)) }
        }
    }
}

extension Query {
    /// How much of what is related the query wants.
    fileprivate var form: GraphForm { includesSubentities ? .whole : .withoutLists }
}

/// The rows of a cursor with what is related to them, read on the cursor's own snapshot.
private final class GraphCursor<Record: Model>: RowCursor<Record> {
    private let flat: RowCursor<Record>
    private let graph: StorageGraph
    private let form: GraphForm

    init(_ flat: RowCursor<Record>, _ graph: StorageGraph, _ form: GraphForm) {
        self.flat = flat
        self.graph = graph
        self.form = form
        super.init()
    }

    override func next(_ count: Int) throws -> [Record] {
        try flat.withSnapshot {
            var records = try flat.next(count)
            try graph.attach(to: &records, form)
            return records
        }
    }

    override func close() { flat.close() }
}

/// The rows of keys that were found on a snapshot, read on that snapshot a batch at a time.
private final class KeyCursor<Record: Model>: RowCursor<Record> {
    private let storage: GraphStorage<Record>
    /// Holds the snapshot; its own rows are not read.
    private let snapshot: RowCursor<Record>
    private let includesSubentities: Bool
    private var keys: ArraySlice<Key>

    init(_ storage: GraphStorage<Record>, _ query: Query<Record>, _ snapshot: RowCursor<Record>) throws {
        self.storage = storage
        self.snapshot = snapshot
        includesSubentities = query.includesSubentities
        keys = try snapshot.withSnapshot { try storage.keys(query) }[...]
        super.init()
    }

    override func next(_ count: Int) throws -> [Record] {
        let batch = keys.prefix(max(count, 0))
        keys = keys.dropFirst(batch.count)
        return try snapshot.withSnapshot {
            try storage.read(keys: Array(batch), includesSubentities: includesSubentities)
        }
    }

    override func close() {
        keys = []
        snapshot.close()
    }
}
