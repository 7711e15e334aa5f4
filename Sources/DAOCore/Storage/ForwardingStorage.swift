/// A storage that leaves to another one whatever it does not do itself.
///
/// A method with a default in ``Storage``, such as `upsert(making:)`, goes to the other storage, too: a storage that changes `upsert`
/// says what that means for it.
protocol ForwardingStorage<Record>: Storage {
    /// The other storage.
    var base: any Storage<Record> { get }
}

extension ForwardingStorage {
    var database: any Database { base.database }

    func read(_ query: Query<Record>) throws -> [Record] { try base.read(query) }
    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] {
        try base.read(keys: keys, includesSubentities: includesSubentities)
    }
    func read(key: Key) throws -> Record? { try base.read(key: key) }
    func contains(key: Key) throws -> Bool { try base.contains(key: key) }
    func keys(_ query: Query<Record>) throws -> [Key] { try base.keys(query) }
    func count(_ query: Query<Record>) throws -> Int { try base.count(query) }
    func readFields(_ fields: [Int], _ query: Query<Record>, _ body: (RowReader) throws -> Void) throws {
        try base.readFields(fields, query, body)
    }
    func groups(_ query: GroupQuery<Record>, _ body: (RowReader, [Int]) throws -> Void) throws { try base.groups(query, body) }
    func cursor(_ query: Query<Record>) throws -> RowCursor<Record> { try base.cursor(query) }
    func explain(_ query: Query<Record>) throws -> QueryPlan { try base.explain(query) }

    func insert(_ records: [Record]) throws { try base.insert(records) }
    func insert(making records: () throws -> [Record]) throws { try base.insert(making: records) }
    func upsert(_ records: [Record]) throws { try base.upsert(records) }
    func upsert(making records: () throws -> [Record]) throws { try base.upsert(making: records) }
    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int { try base.merge(keys: keys, body) }
    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int { try base.update(query, body) }
    func set(_ changes: [StoredChange], counting counter: Int?, where condition: Condition<Record>) throws -> Int? {
        try base.set(changes, counting: counter, where: condition)
    }
    func erase(keys: [Key]) throws -> Int { try base.erase(keys: keys) }
    func erase(_ query: Query<Record>) throws -> Int { try base.erase(query) }
}

extension ForwardingStorage where Self: IncludingStorage {
    /// The other storage, as one that reads related rows.
    ///
    /// - Throws: `.unsupported` when it reads none.
    func related() throws -> any IncludingStorage<Record> {
        guard let base = base as? any IncludingStorage<Record> else {
            throw StorageError.readsNoRelatedRows(Record.schema.description.name)
        }
        return base
    }

    func read<Target: Model>(
        _ query: Query<Record>, referring inverse: InverseRelation<Target, Record>, to keys: [Key]
    ) throws -> [[Record]] {
        try related().read(query, referring: inverse, to: keys)
    }

    func relatedRows<Child: Model>(at position: Int, forward: Int?, of child: Child.Type) throws -> RelatedRows<Child> {
        try related().relatedRows(at: position, forward: forward, of: child)
    }

    func withoutRelated(_ condition: Condition<Record>) throws -> Condition<Record> {
        try (base as? any IncludingStorage<Record>)?.withoutRelated(condition) ?? condition
    }

    func readFields(_ fields: [RelatedField], _ query: Query<Record>, _ body: ([RowReader]) throws -> Void) throws {
        try related().readFields(fields, query, body)
    }

    func pageCursor(after record: Record, in query: Query<Record>) throws -> PageCursor {
        try (base as? any IncludingStorage<Record>)?.pageCursor(after: record, in: query)
            ?? PageCursor(after: record, in: query.orderTerms())
    }
}
