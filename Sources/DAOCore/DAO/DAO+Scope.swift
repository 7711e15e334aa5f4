extension DAO {
    /// Returns the DAO with reads that see only the rows that meet a condition (contract Q14).
    ///
    /// ```swift
    /// let reminders = DAO(storage: try database.storage(for: Reminder.self))
    /// let visible = reminders.scoped { $0.deletedAt == nil }
    /// let flagged = try visible.read { $0.isFlagged }                   // without those in the trash
    /// ```
    ///
    /// The condition belongs to every read, count, total, group, page, stream and observation of the DAO, also by a key and by
    /// an inverse. Everything else sees all rows: lists, References, conditions on related rows, unique values, and all writes.
    /// So a parent that is read and persisted keeps its hidden children, and a value whose row is hidden is merged into it. An
    /// index that serves the condition serves the reads.
    ///
    /// - Parameter condition: A closure that makes the condition from the fields of the model.
    public func scoped(where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>) -> DAO {
        scoped(where: .once(condition))
    }

    /// Returns the DAO with reads that see only the rows that meet a prepared condition (contract Q14).
    ///
    /// - Parameter condition: The condition. That of a DAO which is scoped already counts, too.
    public func scoped(where condition: Condition<Record>) -> DAO {
        DAO(self, storage: ScopedStorage(storage, condition))
    }

    /// The DAO whose reads see every row, for the reads that are part of a write.
    package var withoutScope: DAO { (storage as? any ScopingStorage<Record>).map { DAO(self, storage: $0.unscoped) } ?? self }
}

extension DAO {
    /// Whether its reads see only some of the rows.
    package var isScoped: Bool { storage is any ScopingStorage<Record> }
}

/// A storage whose reads do not see every row.
private protocol ScopingStorage<Record>: Storage {
    /// The storage whose reads do.
    var unscoped: any Storage<Record> { get }
}

/// A storage whose reads see only the rows that meet a condition. Its writes see every row.
private struct ScopedStorage<Record: Model>: ForwardingStorage, IncludingStorage, ScopingStorage {
    let base: any Storage<Record>
    private let scope: Condition<Record>

    init(_ base: any Storage<Record>, _ scope: Condition<Record>) { (self.base, self.scope) = (base, scope) }

    var unscoped: any Storage<Record> { (base as? any ScopingStorage<Record>)?.unscoped ?? base }

    private func scoped(_ query: Query<Record>) -> Query<Record> {
        var query = query
        query.predicate = query.predicate && scope
        return query
    }

    private func query(_ keys: [Key]) -> Query<Record> {
        scoped(Query(where: Condition(.isIn(field: Record.schema.description.keyIndex, keys.map(\.value)))))
    }

    func read(_ query: Query<Record>) throws -> [Record] { try base.read(scoped(query)) }

    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] {
        var query = query(keys)
        query.includesSubentities = includesSubentities
        let schema = Record.schema
        var rows = Dictionary(try base.read(query).map { (schema.key(of: $0), $0) }, uniquingKeysWith: { $1 })
        return keys.compactMap { rows.removeValue(forKey: $0) }
    }

    func read(key: Key) throws -> Record? { try base.read(query([key])).first }
    func contains(key: Key) throws -> Bool { try base.count(query([key])) > 0 }
    func keys(_ query: Query<Record>) throws -> [Key] { try base.keys(scoped(query)) }
    func count(_ query: Query<Record>) throws -> Int { try base.count(scoped(query)) }

    func readFields(_ fields: [Int], _ query: Query<Record>, _ body: (RowReader) throws -> Void) throws {
        try base.readFields(fields, scoped(query), body)
    }

    func groups(_ query: GroupQuery<Record>, _ body: (RowReader, [Int]) throws -> Void) throws {
        var query = query
        query.condition = query.condition && scope
        try base.groups(query, body)
    }

    func cursor(_ query: Query<Record>) throws -> RowCursor<Record> { try base.cursor(scoped(query)) }
    func explain(_ query: Query<Record>) throws -> QueryPlan { try base.explain(scoped(query)) }

    func including(_ fields: Set<Int>) throws -> (any Storage<Record>)? {
        try (base as? any IncludingStorage<Record>)?.including(fields).map { ScopedStorage($0, scope) }
    }

    func readFields(_ fields: [RelatedField], _ query: Query<Record>, _ body: ([RowReader]) throws -> Void) throws {
        try related().readFields(fields, scoped(query), body)
    }

    func read<Target: Model>(
        _ query: Query<Record>, referring inverse: InverseRelation<Target, Record>, to keys: [Key]
    ) throws -> [[Record]] {
        try related().read(scoped(query), referring: inverse, to: keys)
    }
}
