// The forms with a closure come first: the compiler reports a mistake in a closure as that of the first form.

extension DAO {

    // MARK: By condition

    /// Returns the values that meet a condition, in an order.
    ///
    /// ```swift
    /// let unread = try messages.read(orderedBy: .descending(\.date), limit: 50) { !$0.isRead }
    /// ```
    ///
    /// - Parameters:
    ///   - order: The sort terms. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of values; nil for all.
    ///   - offset: The number of values to skip.
    ///   - condition: A closure that makes the condition from the fields of the model.
    public func read(
        orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [Plain] {
        try read(Query(where: .once(condition), orderedBy: order, limit: limit, offset: offset))
    }

    /// Returns the values that meet a prepared condition, in an order; all values without a condition.
    ///
    /// - Parameters:
    ///   - order: The sort terms. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of values; nil for all.
    ///   - offset: The number of values to skip.
    ///   - condition: The condition; by default all values meet it.
    public func read(
        orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0, where condition: Condition<Record> = .all
    ) throws -> [Plain] {
        try read(Query(where: condition, orderedBy: order, limit: limit, offset: offset))
    }

    /// Returns the values of a query, in its order.
    public func read(_ query: Query<Record>) throws -> [Plain] { try translator.translate(models: storage.read(query)) }

    /// Returns the first value that meets a condition; nil when there is none.
    ///
    /// - Parameters:
    ///   - order: The sort terms. Without terms, the order is that of the primary key.
    ///   - condition: A closure that makes the condition from the fields of the model.
    public func first(
        orderedBy order: Sort<Record>..., where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> Plain? {
        try read(Query(where: .once(condition), orderedBy: order, limit: 1)).first
    }

    /// Returns the first value that meets a prepared condition; nil when there is none.
    ///
    /// - Parameters:
    ///   - order: The sort terms. Without terms, the order is that of the primary key.
    ///   - condition: The condition; by default all values meet it.
    public func first(orderedBy order: Sort<Record>..., where condition: Condition<Record> = .all) throws -> Plain? {
        try read(Query(where: condition, orderedBy: order, limit: 1)).first
    }

    // MARK: By key

    /// Returns the value with a key; nil when the key is not stored. The complexity is logarithmic in the
    /// number of rows.
    ///
    /// - Parameter id: A `UniqueID`, a string, an integer or a UUID.
    @inlinable public func read(byPrimaryKey id: any UniqueIDConvertible) throws -> Plain? {
        // Before the storage, which would have to be kept meanwhile: threads that count references to it wait for each other.
        let key = try key(id)
        guard let record = try storage.read(key: key) else { return nil }
        return try translator.translate(model: record)
    }

    /// Returns the values with the given keys, in the given order, each key once. Keys that are not stored
    /// are skipped (contract Q4).
    ///
    /// - Parameter ids: `UniqueID`s, strings, integers or UUIDs.
    public func read(byPrimaryKeys ids: [some UniqueIDConvertible]) throws -> [Plain] {
        try translator.translate(models: storage.read(keys: ids.map { try key($0) }, includesSubentities: true))
    }

    /// Returns the values with the keys of a set, in the order of the keys. Keys that are not stored are skipped.
    ///
    /// - Parameter ids: `UniqueID`s, strings, integers or UUIDs.
    public func read(byPrimaryKeys ids: Set<some UniqueIDConvertible>) throws -> [Plain] {
        try translator.translate(models: storage.read(keys: ids.map { try key($0) }.sorted(), includesSubentities: true))
    }

    // MARK: Pages

    /// Returns a page of the values that meet a condition, in an order.
    ///
    /// - Parameters:
    ///   - order: The sort terms. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of values on the page; at least 1.
    ///   - after: The cursor of the previous page; nil for the first page.
    ///   - withTotal: Whether the page has the number of rows of all pages, which are then counted.
    ///   - condition: A closure that makes the condition from the fields of the model.
    public func page(
        orderedBy order: Sort<Record>..., limit: Int, after: PageCursor? = nil, withTotal: Bool = false,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> Page<Plain> {
        try page(Query(where: .once(condition), orderedBy: order, after: after), limit: limit, withTotal: withTotal)
    }

    /// Returns a page of the values that meet a prepared condition, in an order.
    ///
    /// - Parameters:
    ///   - order: The sort terms. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of values on the page; at least 1.
    ///   - after: The cursor of the previous page; nil for the first page.
    ///   - withTotal: Whether the page has the number of rows of all pages, which are then counted.
    ///   - condition: The condition; by default all values meet it.
    public func page(
        orderedBy order: Sort<Record>..., limit: Int, after: PageCursor? = nil, withTotal: Bool = false,
        where condition: Condition<Record> = .all
    ) throws -> Page<Plain> {
        try page(Query(where: condition, orderedBy: order, after: after), limit: limit, withTotal: withTotal)
    }

    /// Returns a page of a query.
    ///
    /// - Parameters:
    ///   - query: The query, without a limit and an offset. The page begins after the row of its `after` cursor.
    ///   - limit: The maximum number of values on the page; at least 1.
    ///   - withTotal: Whether the page has the number of rows of all pages, which are then counted.
    /// - Throws: `.invalidQuery` for a limit below 1, a query with a limit or an offset, or a cursor of another query.
    public func page(_ query: Query<Record>, limit: Int, withTotal: Bool = false) throws -> Page<Plain> {
        func read() throws -> Page<Record> {
            let page = try storage.page(query, limit: limit)
            if !withTotal { return page }
            if query.after == nil, page.next == nil {
                return Page(elements: page.elements, next: nil, total: page.elements.count)
            }
            return Page(elements: page.elements, next: page.next, total: try storage.count(Query(where: query.predicate)))
        }
        let page = try withTotal ? storage.database.snapshot(read) : read()
        return Page(elements: try translator.translate(models: page.elements), next: page.next, total: page.total)
    }

    // MARK: Streaming

    /// Calls a closure with each value of a query, in its order. All reads use one snapshot. The memory use
    /// is constant where the key or an index supplies the order (contract Q6).
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - body: A closure that is called with each value. An error that it throws ends the read and is
    ///     rethrown.
    public func forEach(_ query: Query<Record> = Query(), _ body: (Plain) throws -> Void) throws {
        let cursor = try storage.cursor(query)
        defer { cursor.close() }
        while case let records = try cursor.next(256), !records.isEmpty {
            for record in records { try body(translator.translate(model: record)) }
        }
    }

    // MARK: Counts

    /// Returns the number of values that meet a condition.
    public func count(where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>) throws -> Int {
        try count(Query(where: .once(condition)))
    }

    /// Returns the number of values that meet a prepared condition; of all values without a condition.
    public func count(where condition: Condition<Record> = .all) throws -> Int { try count(Query(where: condition)) }

    /// Returns the number of values of a query.
    public func count(_ query: Query<Record>) throws -> Int { try storage.count(query) }

    /// Returns whether any value meets a condition. The search stops at the first value.
    public func exists(where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>) throws -> Bool {
        try exists(where: .once(condition))
    }

    /// Returns whether any value meets a prepared condition. The search stops at the first value.
    public func exists(where condition: Condition<Record>) throws -> Bool {
        try storage.count(Query(where: condition, limit: 1)) > 0
    }

    /// Returns whether a key is stored.
    public func exists(byPrimaryKey id: any UniqueIDConvertible) throws -> Bool {
        try storage.contains(key: key(id))
    }

    // MARK: Plans

    /// Returns how the values that meet a condition would be found: through which index, and what remains to be filtered and
    /// sorted.
    ///
    /// ```swift
    /// print(try messages.explain(orderedBy: .descending(\.date), limit: 50) { $0.sender == 5 })
    /// // through the index on 'sender, date'
    /// ```
    ///
    /// - Parameters:
    ///   - order: The sort terms. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of values; nil for all.
    ///   - condition: A closure that makes the condition from the fields of the model.
    public func explain(
        orderedBy order: Sort<Record>..., limit: Int? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> QueryPlan {
        try explain(Query(where: .once(condition), orderedBy: order, limit: limit))
    }

    /// Returns how the values of a query would be found.
    public func explain(_ query: Query<Record> = Query()) throws -> QueryPlan { try storage.explain(query) }
}

extension Storage {
    /// Returns a page of a query; see ``DAO/page(_:limit:)``.
    func page(_ query: Query<Record>, limit: Int) throws -> Page<Record> {
        guard limit > 0 else {
            throw StorageError(
                .invalidQuery, "a page has at least one row, not \(limit); use a limit of one or more",
                entity: Record.schema.description.name)
        }
        if query.limit != nil || query.offset != 0 {
            throw StorageError(
                .invalidQuery,
                "the query of a page has a limit or an offset of its own; only the page's limit counts, remove the others",
                entity: Record.schema.description.name)
        }
        var query = query
        // One row more tells whether any follows.
        query.limit = limit == .max ? limit : limit + 1
        func page(_ cursor: (Record) throws -> PageCursor) throws -> Page<Record> {
            var records = try read(query)
            guard records.count > limit else { return Page(elements: records, next: nil) }
            records.removeLast()
            return Page(elements: records, next: try records.last.map(cursor))
        }
        if query.sortsThroughRelations, let storage = self as? any IncludingStorage<Record> {
            return try database.snapshot { try page { try storage.pageCursor(after: $0, in: query) } }
        }
        let order = try query.orderTerms()
        if let after = query.after, let within = after.withinFirst, Record.schema.description.hasIndex(over: order.prefix(2)) {
            // The index begins right behind the row, where rows are equal in the first field. Mostly the page is full then.
            query.after = within
            let page = try page { PageCursor(after: $0, in: order) }
            if page.next != nil { return page }
            query.after = after
        }
        return try page { PageCursor(after: $0, in: order) }
    }
}

extension EntityDescription {
    /// Whether an index has the fields of some terms one after the other. The primary key follows the fields of each index.
    fileprivate func hasIndex(over terms: ArraySlice<SortTerm>) -> Bool {
        if terms.count == 2, let first = terms.first?.field, terms.last?.field == keyIndex {
            let field = fields[first]
            if field.isIndexed || field.type.kind == .toOne, !field.isUnique { return true }
        }
        let names = terms.compactMap { $0.field.map { fields[$0].name } }
        if names.count < terms.count { return false }
        return indexes.contains { index in
            let indexed = index.fields.map(\.name)
            return indexed.indices.contains { indexed[$0...].starts(with: names) }
        }
    }
}
