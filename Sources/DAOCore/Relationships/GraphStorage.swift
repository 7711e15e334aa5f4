/// The storage of a model with all related rows. `Database.storage(for:)` returns it.
///
/// It uses the flat storages and the links that a database supplies, so relationships have the same meaning
/// on every database. Calls for a model go directly to its flat storage when the model has no relationships
/// and no relationship leads to it.
struct GraphStorage<Record: Model>: IncludingStorage {
    /// The rows of the model, without related rows.
    let flat: any Storage<Record>
    /// The same rows, for writes. It adds to the log of changes.
    private let logging: any Storage<Record>
    /// The same rows, for writes that count their revisions.
    private let counting: any Storage<Record>
    let graph: StorageGraph
    /// Whether the model has no relationships. The value is stored, because the type of the schema's
    /// relationships is built at run time: checking them in every call would cost more than reading a row.
    private let isFlat: Bool
    /// Whether rows without lists are complete as they are stored.
    private let isCompleteWithoutLists: Bool
    /// Whether all relationships are References in the rows, and none erases what it leads to: a changed row changes no other.
    private let hasOnlyReferences: Bool
    /// The References whose keys are beside the rows, as a database may keep them. The rows then have no value of them.
    private let referencesBesideRows: Set<Int>
    /// The storage of the rows, where it evaluates conditions on related rows.
    let evaluating: (any RelatedEvaluating<Record>)?
    /// Whether the schema decodes the rows, so that their lists are unread.
    private let decodesRows: Bool
    /// Why rows cannot be read without their lists; nil where they can.
    private let withoutListsFault: (any Error)?
    /// The last order by fields of related rows.
    let lastOrder = LastRelatedOrder<Record>()
    /// The lists and References that reads include; nil for all lists and no References.
    private var included: Set<Int>?

    /// Opens the storages of a model and of all models that its relationships reach.
    init(_ database: any Database) throws { try self.init(graph: StorageGraph(database, from: Record.self)) }

    /// Creates the storage of a model from a graph that reaches it.
    init(graph: StorageGraph) throws {
        self.graph = graph
        flat = try graph.rows(of: Record.self)
        logging = try graph.writes(of: Record.self)
        counting = CountingStorage.counting(logging)
        let decoding = flat.database as? any DecodingDatabase
        evaluating = decoding?.evaluating(flat)
        decodesRows = decoding?.decodes(flat) == true
        isFlat = Record.schema.relations.isEmpty
        do {
            try Record.schema.checkCanBeWithoutLists()
            withoutListsFault = nil
        } catch {
            withoutListsFault = error
        }
        isCompleteWithoutLists = try Record.schema.relations.allSatisfy { relation in
            try !relation.isToOne || (relation.isReference && relation.links(in: graph).isInRows)
        }
        referencesBesideRows = try Set(
            Record.schema.relations.filter { try $0.isReference && !$0.links(in: graph).isInRows }.map(\.field))
        hasOnlyReferences =
            isCompleteWithoutLists && !isFlat && Record.schema.relations.allSatisfy { $0.isReference && !$0.cascades }
    }

    var database: any Database { flat.database }

    func pageCursor(after record: Record, in query: Query<Record>) throws -> PageCursor {
        let terms = try Record.schema.terms(of: query.uncheckedOrder)
        return try PageCursor(
            after: terms.map { try value(of: $0, record, in: query) }, in: terms, of: Record.schema)
    }

    func including(_ fields: Set<Int>) throws -> (any Storage<Record>)? {
        try Record.schema.checkCanBeWithoutLists(including: fields)
        var storage = self
        storage.included = fields
        return storage
    }

    /// Assigns the related rows of records.
    private func attach(to records: inout [Record], _ form: GraphForm) throws {
        guard isCompleteWithoutLists, form.isWithoutLists else { return try graph.attach(to: &records, form) }
        if decodesRows { return }
        for relation in Record.schema.relations { try relation.markUnread(&records) }
    }

    /// Returns a query in whose order References whose keys are beside the rows are the keys of the related rows.
    private func sortable(_ query: Query<Record>) throws -> Query<Record> {
        if referencesBesideRows.isEmpty { return query }
        let schema = Record.schema
        let names = try Dictionary(
            uniqueKeysWithValues: referencesBesideRows.map { field in
                let name = schema.description.fields[field].name
                let target = try relation(at: field).targetDescription
                return (name, "\(name).\(target.fields[target.keyIndex].name)")
            })
        var query = query
        query.order = query.order.map { sort in
            guard sort.term.relation == nil, let index = sort.term.index, let name = names[schema.description.fields[index].name]
            else {
                return sort
            }
            return Sort(sort, by: name)
        }
        query.after = query.after?.renamed { names[$0] ?? $0 }
        return query
    }

    /// Returns what a read includes.
    ///
    /// - Throws: `.invalidQuery` when the rows cannot be without what it does not include.
    private func form(_ includesSubentities: Bool) throws -> GraphForm {
        if includesSubentities { return included.map { .only($0) } ?? .whole }
        if let withoutListsFault { throw withoutListsFault }
        return .withoutLists
    }
}

// MARK: Reading

extension GraphStorage {
    /// Returns whether a query needs more than the storage of the rows has: data that is not in the rows of the model, or an order
    /// that it cannot sort by. A model without relationships can have an inverse.
    private func reachesRelated(_ query: Query<Record>) throws -> Bool {
        let isAlone = isFlat && Record.schema.inverses.isEmpty
        return try (!isAlone && query.hasRelatedConditions) || sortsBeyondRows(query)
    }

    /// Tells the running observation what the next read depends on. Related rows belong to it, also where only
    /// their links do.
    private func willRead() {
        ObservedReads.current?.willRead(TouchedEntities(names: Record.schema.reachedEntities), in: database.engineState)
    }

    func read(_ query: Query<Record>) throws -> [Record] {
        willRead()
        if let rows = try rowsInParts(query) { return rows }
        if isFlat, try !reachesRelated(query) { return try flat.read(query) }
        return try read(query, form(query.includesSubentities))
    }

    private func read(_ query: Query<Record>, _ form: GraphForm) throws -> [Record] {
        // Without a copy of the query where it is read as it is.
        referencesBesideRows.isEmpty ? try readSortable(query, form) : try readSortable(sortable(query), form)
    }

    private func readSortable(_ query: Query<Record>, _ form: GraphForm) throws -> [Record] {
        let isSortedHere = try sortsBeyondRows(query)
        if isCompleteWithoutLists, form.isWithoutLists {
            let records =
                try isSortedHere
                ? sortedAtOnce(query) : query.hasRelatedConditions ? answeringAtOnce(query, flat.read) : flat.read(query)
            if var records {
                try attach(to: &records, form)
                return records
            }
        }
        return try database.reads {
            var records = try isSortedHere ? sortedRows(query) : flatRows(query)
            try attach(to: &records, form)
            return records
        }
    }

    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] {
        try read(keys: keys, form(includesSubentities))
    }

    private func read(keys: [Key], _ form: GraphForm) throws -> [Record] {
        willRead()
        if isFlat { return try flat.read(keys: keys, includesSubentities: false) }
        return try database.reads {
            var records = try flat.read(keys: keys, includesSubentities: false)
            try attach(to: &records, form)
            return records
        }
    }

    func read(key: Key) throws -> Record? {
        willRead()
        return isFlat ? try flat.read(key: key) : try read(keys: [key], includesSubentities: true).first
    }

    func contains(key: Key) throws -> Bool {
        willRead()
        return try flat.contains(key: key)
    }

    func keys(_ query: Query<Record>) throws -> [Key] {
        willRead()
        let query = try sortable(query)
        if try !reachesRelated(query) { return try flat.keys(query) }
        let isSortedHere = try sortsBeyondRows(query)
        if !isSortedHere, let keys = try answeringAtOnce(query, flat.keys) { return keys }
        return try database.reads {
            if isSortedHere {
                return try query.limit == nil ? sortedKeys(query) : sortedRows(query).map { Record.schema.key(of: $0) }
            }
            if evaluating == nil, query.limit != nil {
                return try flatRows(query).map { Record.schema.key(of: $0) }
            }
            return try answering(query, flat.keys)
        }
    }

    func count(_ query: Query<Record>) throws -> Int {
        willRead()
        if try !reachesRelated(query) { return try flat.count(query) }
        var query = query
        // The order does not affect the count.
        if try sortsBeyondRows(query) { query.order = [] }
        if let count = try answeringAtOnce(query, flat.count) { return count }
        return try database.reads {
            evaluating == nil && query.limit != nil ? try flatRows(query).count : try answering(query, flat.count)
        }
    }

    func readFields(_ fields: [Int], _ query: Query<Record>, _ body: (RowReader) throws -> Void) throws {
        willRead()
        if !referencesBesideRows.isDisjoint(with: fields) {
            for record in try read(query, .withoutLists) { try body(Record.schema.reader(of: record)) }
            return
        }
        let query = try sortable(query)
        if try !reachesRelated(query) { return try flat.readFields(fields, query, body) }
        try database.reads {
            guard try sortsBeyondRows(query) else {
                return try answering(query) { try flat.readFields(fields, $0, body) }
            }
            for record in try sortedRows(query) { try body(Record.schema.reader(of: record)) }
        }
    }

    func groups(_ query: GroupQuery<Record>, _ body: (RowReader, [Int]) throws -> Void) throws {
        willRead()
        let countsRelated = try query.countedConditions.contains { try reachesRelated(Query(where: $0)) }
        if isFlat, !countsRelated, try !reachesRelated(Query(where: query.condition)) { return try flat.groups(query, body) }
        try database.reads {
            var query = query
            if countsRelated { query.counts = try query.counts(changing: withoutRelated) }
            if query.uses(referencesBesideRows) { return try groupsInMemory(query, body) }
            try answering(Query(where: query.condition)) {
                query.condition = $0.predicate
                try flat.groups(query, body)
            }
        }
    }

    func explain(_ query: Query<Record>) throws -> QueryPlan {
        let query = try sortable(query)
        if let parts = try parts(of: query), let first = parts.first {
            var plan = try explain(first)
            // No row can be in the first part: all rows are in the next one.
            for part in parts.dropFirst() where plan.access == .nothing { plan = try explain(part) }
            plan.details.append("the first of several reads in the order, which follow each other up to the limit")
            return plan
        }
        if isFlat, try !reachesRelated(query) { return try flat.explain(query) }
        return try database.reads {
            guard try sortsBeyondRows(query) else { return try answering(query, flat.explain) }
            var unsorted = query
            (unsorted.order, unsorted.limit, unsorted.offset) = ([], nil, 0)
            var plan = try answering(unsorted, flat.explain)
            plan.sortsRows = true
            return plan
        }
    }

    func cursor(_ query: Query<Record>) throws -> RowCursor<Record> {
        willRead()
        let query = try sortable(query)
        if isFlat, try !reachesRelated(query) { return try flat.cursor(query) }
        // Conditions and sorts through relationships are resolved on a snapshot. Only keys outlive it.
        if evaluating != nil, try !sortsBeyondRows(query), let cursor = try cursorWithRelated(query) { return cursor }
        if try reachesRelated(query) {
            let snapshot = try flat.cursor(Query(limit: 1))
            if snapshot.holdsSnapshot { return try KeyCursor(self, query, snapshot) }
        } else {
            let cursor = try flat.cursor(query)
            if cursor.holdsSnapshot { return GraphCursor(cursor, graph, try form(query.includesSubentities)) }
        }
        // As in the default implementation of `Storage`: reading no keys is cheap and detects that the
        // database was closed.
        return ArrayCursor(try read(query)) { _ = try flat.read(keys: [], includesSubentities: false) }
    }

    /// Returns a cursor over rows whose storage evaluates the conditions on related rows; nil when it cannot.
    private func cursorWithRelated(_ query: Query<Record>) throws -> RowCursor<Record>? {
        do {
            let cursor = try flat.cursor(query)
            return cursor.holdsSnapshot ? GraphCursor(cursor, graph, try form(query.includesSubentities)) : nil
        } catch is RelatedConditionsUnavailable {
            return nil
        }
    }
}

// MARK: Writing

extension GraphStorage {
    func insert(_ records: [Record]) throws {
        isFlat ? try counting.insert(records) : try insert(making: { records })
    }

    func upsert(_ records: [Record]) throws {
        isFlat ? try counting.upsert(records) : try upsert(making: { records })
    }

    func insert(making records: () throws -> [Record]) throws {
        if isFlat { return try counting.insert(making: records) }
        try write(records, counting.insert)
    }

    func upsert(making records: () throws -> [Record]) throws {
        if isFlat { return try counting.upsert(making: records) }
        try write(records, counting.upsert)
    }

    /// Writes records, with a closure that writes their rows.
    private func write(_ records: () throws -> [Record], _ write: ([Record]) throws -> Void) throws {
        try database.transaction {
            let references = CallReferences()
            let records = try records()
            try database.asOneCall { try GraphWrite(graph, CallRevisions(), references).run(records, write) }
            try references.check()
        }
    }

    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        if isFlat { return try counting.merge(keys: keys, body) }
        if hasOnlyReferences {
            return try checkingReferences { note in
                try counting.merge(keys: keys) { index, record in
                    let original = record
                    let writes = database.writeCount
                    try body(index, &record)
                    guard let record else { return }
                    // A row that the closure has erased is stored again, with all of its References.
                    let isErased = try !database.hasWrittenNothing(since: writes) && !flat.contains(key: keys[index])
                    try note(isErased ? nil : original, record)
                }
            }
        }
        return try database.transaction {
            var stored = 0
            let call = GraphCall<Record>()
            try database.asOneCall {
                // Rows are merged individually, because the closure can change rows that follow.
                for (index, key) in keys.enumerated() {
                    if try merge(key, call, isStoredAgain: true, { try body(index, &$0) }) { stored += 1 }
                }
            }
            try call.references.check()
            return stored
        }
    }

    /// Merges the row with a key. The closure gets the row with its related rows.
    ///
    /// - Parameter isStoredAgain: Whether a row is stored again that the closure has erased.
    /// - Returns: Whether the row was stored.
    private func merge(
        _ key: Key, _ call: GraphCall<Record>, includesSubentities: Bool = true, isStoredAgain: Bool,
        _ body: (inout Record?) throws -> Void
    ) throws -> Bool {
        // A change of a list needs the list: what reads include does not concern writes.
        let form = includesSubentities || withoutListsFault != nil ? GraphForm.whole : .withoutLists
        var originals: [Key: Record] = [:]
        for record in try read(keys: [key], form) { originals[key] = record }
        var record = call.waiting.removeValue(forKey: key) ?? originals[key]
        let writes = database.writeCount
        try call.revisions.change(key, &record, in: flat) { record in try database.outsideCall { try body(&record) } }
        guard var record else { return false }
        try Record.schema.checkKey(of: record, is: key)
        let write = GraphWrite(graph, call.revisions, call.references)
        if var original = originals[key], !database.hasWrittenNothing(since: writes) {
            write.readsAgain = true
            if let stored = try read(keys: [key], form).first {
                try Record.schema.follow(stored, in: &record, readAs: &original)
                originals[key] = original
            } else if isStoredAgain {
                write.rewritesLinks = true
            } else {
                return false
            }
        }
        try write.run([record], originals: originals, logging.upsert)
        if let waiting = database.waitingRows, waiting[Record.schema.description.name, key] != nil { call.waiting[key] = record }
        return true
    }

    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int {
        if isFlat, try !reachesRelated(query) { return try counting.update(query, body) }
        if hasOnlyReferences, try !reachesRelated(query) {
            return try checkingReferences { note in
                try counting.update(query) { record in
                    let original = record
                    try body(&record)
                    try note(original, record)
                }
            }
        }
        return try database.transaction {
            var stored = 0
            let call = GraphCall<Record>()
            try database.asOneCall {
                for key in try keys(query) {
                    let wasStored = try merge(
                        key, call, includesSubentities: query.includesSubentities, isStoredAgain: false
                    ) { record in
                        guard var changed = record.take() else { return }
                        try body(&changed)
                        record = consume changed
                    }
                    // The closure can have erased the row, and rows that follow.
                    if wasStored { stored += 1 }
                }
            }
            try call.references.check()
            return stored
        }
    }

    /// Runs a call that changes rows, and checks the References that it changes.
    ///
    /// - Parameter body: A closure that gets another one, for a row before its change, nil for a new one, and after it.
    private func checkingReferences(_ body: ((Record?, Record) throws -> Void) throws -> Int) throws -> Int {
        try database.transaction {
            let write = GraphWrite(graph, CallRevisions(), CallReferences())
            let count = try body { original, record in
                let originals = original.map { [Record.schema.key(of: $0): $0] } ?? [:]
                for relation in Record.schema.relations { try relation.enqueue([record], originals: originals, in: write) }
            }
            try write.references.check()
            return count
        }
    }

    func set(_ changes: [StoredChange], counting counter: Int?, where condition: Condition<Record>) throws -> Int? {
        if isFlat, try !reachesRelated(Query(where: condition)) {
            return try counting.set(changes, counting: counter, where: condition)
        }
        return try database.transaction {
            try answering(Query(where: condition)) {
                try counting.set(changes, counting: counter, where: $0.predicate)
            }
        }
    }

    func erase(keys: [Key]) throws -> Int {
        try erase(alone: { try logging.erase(keys: keys) }, keys: keys)
    }

    func erase(_ query: Query<Record>) throws -> Int {
        try erase(
            alone: { try reachesRelated(query) ? try logging.erase(keys: keys(query)) : try logging.erase(query) },
            keys: keys(query))
    }

    /// Erases rows.
    ///
    /// - Parameters:
    ///   - alone: Erases the rows when the erasure changes nothing else.
    ///   - keys: The keys of the rows, to erase them together with their links and the related rows of cascades.
    /// - Returns: The number of rows that were stored.
    private func erase(alone: () throws -> Int, keys: @autoclosure () throws -> [Key]) throws -> Int {
        let relations = graph.database.engineState.relations
        let entity = Record.schema.description.name
        return try database.runStep {
            // A relationship can be declared at any time, except during a write transaction.
            if isFlat, try !relations.relations(in: database).touches(entity) { return try alone() }
            return try database.transaction {
                let keys = try keys()
                var count = 0
                try GraphErase(graph).erase(entity, keys: keys) { count = try logging.erase(keys: keys) }
                return count
            }
        }
    }
}

/// What a call knows that merges rows one after another.
private final class GraphCall<Record: Model> {
    let revisions = CallRevisions()
    let references = CallReferences()
    /// The rows that wait for the end of the call, as the code of the application has left them.
    var waiting: [Key: Record] = [:]
}

/// A cursor that adds related rows to the rows of another cursor, from the snapshot of that cursor.
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

    override var pinnedBytes: Int? { flat.pinnedBytes }

    override func close() { flat.close() }
}

/// A cursor over keys that were found on a snapshot. It reads the rows from that snapshot in batches.
private final class KeyCursor<Record: Model>: RowCursor<Record> {
    private let storage: GraphStorage<Record>
    /// Holds the snapshot. Its rows are not read.
    private let snapshot: RowCursor<Record>
    /// The query of the rows whose keys are not known yet; nil when all are.
    private var rest: Query<Record>?
    private let includesSubentities: Bool
    private var keys: ArraySlice<Key> = []
    /// The number of keys that are found at a time. Finding them can cost as much as finding all, so it grows.
    private var size = 256

    init(_ storage: GraphStorage<Record>, _ query: Query<Record>, _ snapshot: RowCursor<Record>) throws {
        self.storage = storage
        self.snapshot = snapshot
        rest = query
        includesSubentities = query.includesSubentities
        super.init()
        // Errors of the query are thrown here.
        try snapshot.withSnapshot { try findKeys() }
    }

    /// Finds the next keys.
    private func findKeys() throws {
        guard var query = rest else { return }
        let limit = query.limit
        query.limit = min(limit ?? size, size)
        let found = try storage.keys(query)
        keys = found[...]
        rest = nil
        guard found.count == query.limit, let last = found.last, let record = try storage.flat.read(key: last) else { return }
        query.after =
            query.sortsThroughRelations
            ? try storage.pageCursor(after: record, in: query) : try PageCursor(after: record, in: query.orderTerms())
        query.offset = 0
        query.limit = limit.map { $0 - found.count }
        size = size > .max / 8 ? .max : size * 8
        rest = query
    }

    override func next(_ count: Int) throws -> [Record] {
        try snapshot.withSnapshot {
            if keys.isEmpty { try findKeys() }
            let batch = keys.prefix(max(count, 0))
            keys = keys.dropFirst(batch.count)
            return try storage.read(keys: Array(batch), includesSubentities: includesSubentities)
        }
    }

    override var pinnedBytes: Int? { snapshot.pinnedBytes }

    override func close() {
        (keys, rest) = ([], nil)
        snapshot.close()
    }
}
