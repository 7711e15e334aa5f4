extension DAO {

    // MARK: By query

    /// The values of a query, in its order.
    public func read(_ query: Query<Record>) throws -> [Plain] { try translator.translate(models: storage.read(query)) }

    /// All values, or the first of them in an order.
    ///
    /// - Parameters:
    ///   - order: The sort terms; by primary key when there are none.
    ///   - limit: How many at most; nil for all.
    ///   - offset: How many of the first to leave out.
    public func read(orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0) throws -> [Plain] {
        try read(Query(orderedBy: order, limit: limit, offset: offset))
    }

    /// The values that meet a condition, in an order.
    ///
    /// ```swift
    /// let unread = try messages.read(orderedBy: .descending(\.date), limit: 50) { !$0.isRead }
    /// ```
    ///
    /// - Parameters:
    ///   - order: The sort terms; by primary key when there are none.
    ///   - limit: How many at most; nil for all.
    ///   - offset: How many of the first to leave out.
    ///   - condition: Makes the condition from the model's fields.
    public func read(
        orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [Plain] {
        try read(Query(where: Condition(condition), orderedBy: order, limit: limit, offset: offset))
    }

    /// The first value that meets a condition, or nil.
    ///
    /// - Parameters:
    ///   - order: Which one is first; by primary key when there are no terms.
    ///   - condition: Makes the condition from the model's fields.
    public func first(
        orderedBy order: Sort<Record>..., where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> Plain? {
        try read(Query(where: Condition(condition), orderedBy: order, limit: 1)).first
    }

    // MARK: By key

    /// The value with a key, or nil. Logarithmic in the number of rows.
    ///
    /// - Parameter id: A `UniqueID`, a string, an integer or a UUID.
    public func read(byPrimaryKey id: some UniqueIDConvertible) throws -> Plain? {
        guard let record = try storage.read(key: key(id)) else { return nil }
        return try translator.translate(model: record)
    }

    /// The values with these keys, in the order asked, each once; keys that are not there are left out (contract Q4).
    ///
    /// - Parameter ids: `UniqueID`s, strings, integers or UUIDs.
    public func read(byPrimaryKeys ids: some Sequence<some UniqueIDConvertible>) throws -> [Plain] {
        try translator.translate(models: storage.read(keys: ids.map { try key($0) }, includesSubentities: true))
    }

    // MARK: Page by page

    /// One page of a query.
    ///
    /// - Parameters:
    ///   - query: The query; its `after` is where the page begins.
    ///   - limit: How many values a page has; at least 1.
    /// - Throws: `.invalidQuery` for a limit below 1 or a cursor of another query.
    public func page(_ query: Query<Record>, limit: Int) throws -> Page<Plain> {
        guard limit > 0 else {
            throw StorageError(
                .invalidQuery, "a page has at least one row, not \(limit); use a limit of one or more",
                entity: Record.schema.description.name)
        }
        var query = query
        query.limit = limit
        let records = try storage.read(query)
        guard records.count == limit, let last = records.last else {
            return Page(elements: try translator.translate(models: records), next: nil)
        }
        let order = try query.orderTerms()
        let cursor = PageCursor(
            entity: Record.schema.description, order: order, values: order.map { Record.schema.value(at: $0.field, of: last) })
        return Page(elements: try translator.translate(models: records), next: cursor)
    }

    /// One page of all values in an order.
    ///
    /// - Parameters:
    ///   - order: The sort terms; by primary key when there are none.
    ///   - limit: How many values a page has; at least 1.
    ///   - after: The page to go on after; nil for the first.
    public func page(orderedBy order: Sort<Record>..., limit: Int, after: PageCursor? = nil) throws -> Page<Plain> {
        try page(Query(orderedBy: order, after: after), limit: limit)
    }

    /// One page of the values that meet a condition, in an order.
    ///
    /// - Parameters:
    ///   - order: The sort terms; by primary key when there are none.
    ///   - limit: How many values a page has; at least 1.
    ///   - after: The page to go on after; nil for the first.
    ///   - condition: Makes the condition from the model's fields.
    public func page(
        orderedBy order: Sort<Record>..., limit: Int, after: PageCursor? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> Page<Plain> {
        try page(Query(where: Condition(condition), orderedBy: order, after: after), limit: limit)
    }

    // MARK: One after another

    /// Calls a body with each value of a query, in its order, on one snapshot and in constant memory where an index or the key serves the
    /// order (contract Q6).
    ///
    /// - Parameters:
    ///   - query: Which values.
    ///   - body: Called with each; when it throws, reading ends and its error comes out.
    public func forEach(_ query: Query<Record> = Query(), _ body: (Plain) throws -> Void) throws {
        let cursor = try storage.cursor(query)
        defer { cursor.close() }
        while case let records = try cursor.next(256), !records.isEmpty {
            for record in records { try body(translator.translate(model: record)) }
        }
    }

    // MARK: Counts

    /// How many values a query has.
    public func count(_ query: Query<Record> = Query()) throws -> Int { try storage.count(query) }

    /// How many values meet a condition.
    public func count(where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>) throws -> Int {
        try count(Query(where: Condition(condition)))
    }

    /// Whether any value meets a condition. Stops at the first.
    public func exists(where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>) throws -> Bool {
        try storage.count(Query(where: Condition(condition), limit: 1)) > 0
    }

    /// Whether a key is stored.
    public func exists(byPrimaryKey id: some UniqueIDConvertible) throws -> Bool {
        try storage.contains(key: key(id))
    }
}
