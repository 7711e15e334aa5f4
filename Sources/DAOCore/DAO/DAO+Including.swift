extension DAO {
    /// Returns the DAO with reads that bring only some lists and References (contract R11).
    ///
    /// ```swift
    /// let shown = try folders.including(\.parent, \.owner).read(limit: 20) { $0.owner.name == "Ada" }
    /// let titles = try articles.including().read()
    /// ```
    ///
    /// The rows of the named lists are read, without their own lists, and the named References have their
    /// ``Reference/row``. All other lists are nil, and are not written back (contract R6). Without this call, reads bring
    /// all lists and no rows of References. The row of an optional model is always read.
    ///
    /// Writes are those of the DAO itself: a translator that merges gets the stored record with all lists.
    ///
    /// - Parameter fields: The key paths of lists and References.
    /// - Throws: `.invalidQuery` when a key path does not lead to a stored field, and when a list that is left out is not optional; `.unsupported` when the storage is not
    ///   from ``Database/storage(for:)``.
    /// - Complexity: A read takes a fixed number of engine queries, also when the model refers to itself.
    public func including<each Included: RelationValue>(_ fields: repeat KeyPath<Record, each Included>) throws -> DAO {
        let schema = Record.schema
        var positions: Set<Int> = []
        for field in repeat each fields { positions.insert(try schema.position(of: field)) }
        guard let storage = try (storage as? any IncludingStorage<Record>)?.including(positions) else {
            throw StorageError.readsNoRelatedRows(schema.description.name)
        }
        return DAO(self, storage: storage)
    }
}

/// A storage that reads related rows.
protocol IncludingStorage<Record>: Storage {
    /// Returns the storage with reads that include the lists and References at some positions; nil when it reads none.
    func including(_ fields: Set<Int>) throws -> (any Storage<Record>)?

    /// Returns the rows of a query that refer to each of some rows, in the order of the query; its limit is that of each list.
    func read<Target: Model>(
        _ query: Query<Record>, referring inverse: InverseRelation<Target, Record>, to keys: [Key]
    ) throws -> [[Record]]

    /// Returns how rows of another model belong to these rows.
    ///
    /// - Parameters:
    ///   - position: The position of the relationship; of an inverse, after those of the fields.
    ///   - forward: The position of the field in the other model that an inverse belongs to; nil for a list.
    ///   - child: The other model.
    func relatedRows<Child: Model>(at position: Int, forward: Int?, of child: Child.Type) throws -> RelatedRows<Child>

    /// Returns a condition with its conditions on related rows resolved into sets of keys.
    func withoutRelated(_ condition: Condition<Record>) throws -> Condition<Record>

    /// Reads some fields of the rows of a query and of their related rows, in its order.
    ///
    /// - Parameter body: A closure that is called for each row, with a reader of each field.
    func readFields(_ fields: [RelatedField], _ query: Query<Record>, _ body: ([RowReader]) throws -> Void) throws

    /// Returns the cursor after a row of a query that sorts by fields of related rows.
    func pageCursor(after record: Record, in query: Query<Record>) throws -> PageCursor
}
