// Reads of some fields of the rows.

extension DAO {

    // MARK: Fields

    /// Returns a field of the values that meet a condition, in an order. Nothing else of the rows is read.
    ///
    /// ```swift
    /// let texts = try messages.read(\.text, orderedBy: .descending(\.date), limit: 50) { !$0.isRead }
    /// ```
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - order: The sort terms, of any fields. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of rows; nil for all.
    ///   - offset: The number of rows to skip.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Throws: `.invalidQuery` for a relationship other than a Reference.
    public func read<Value: FieldValue>(
        _ field: KeyPath<Record, Value>, orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [Value] {
        try readFields(of: Query(where: .once(condition), orderedBy: order, limit: limit, offset: offset), field)
    }

    /// Returns a field of the values that meet a prepared condition, in an order; of all values without a condition.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - order: The sort terms, of any fields. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of rows; nil for all.
    ///   - offset: The number of rows to skip.
    ///   - condition: The condition; by default all values meet it.
    /// - Throws: `.invalidQuery` for a relationship other than a Reference.
    public func read<Value: FieldValue>(
        _ field: KeyPath<Record, Value>, orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0,
        where condition: Condition<Record> = .all
    ) throws -> [Value] {
        try readFields(of: Query(where: condition, orderedBy: order, limit: limit, offset: offset), field)
    }

    /// Returns some fields of the values that meet a condition, in an order. Nothing else of the rows is read.
    ///
    /// ```swift
    /// for (id, text) in try messages.read(\.id, \.text, orderedBy: .descending(\.date), limit: 50, where: { !$0.isRead }) {
    ///     print(id, text)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - first: A key path to a stored field.
    ///   - second: A key path to a stored field.
    ///   - others: Key paths to further stored fields.
    ///   - order: The sort terms, of any fields. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of rows; nil for all.
    ///   - offset: The number of rows to skip.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: A tuple of the fields for each row.
    /// - Throws: `.invalidQuery` for a relationship other than a Reference.
    public func read<First: FieldValue, Second: FieldValue, each Other: FieldValue>(
        _ first: KeyPath<Record, First>, _ second: KeyPath<Record, Second>, _ others: repeat KeyPath<Record, each Other>,
        orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(First, Second, repeat each Other)] {
        let query = Query(where: .once(condition), orderedBy: order, limit: limit, offset: offset)
        return try readFields(of: query, first, second, repeat each others)
    }

    /// Returns some fields of the values that meet a prepared condition, in an order; of all values without a condition.
    ///
    /// - Parameters:
    ///   - first: A key path to a stored field.
    ///   - second: A key path to a stored field.
    ///   - others: Key paths to further stored fields.
    ///   - order: The sort terms, of any fields. Without terms, the order is that of the primary key.
    ///   - limit: The maximum number of rows; nil for all.
    ///   - offset: The number of rows to skip.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: A tuple of the fields for each row.
    /// - Throws: `.invalidQuery` for a relationship other than a Reference.
    public func read<First: FieldValue, Second: FieldValue, each Other: FieldValue>(
        _ first: KeyPath<Record, First>, _ second: KeyPath<Record, Second>, _ others: repeat KeyPath<Record, each Other>,
        orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0, where condition: Condition<Record> = .all
    ) throws -> [(First, Second, repeat each Other)] {
        let query = Query(where: condition, orderedBy: order, limit: limit, offset: offset)
        return try readFields(of: query, first, second, repeat each others)
    }

    func readFields<First: FieldValue, each Other: FieldValue>(
        of query: Query<Record>, _ first: KeyPath<Record, First>, _ others: repeat KeyPath<Record, each Other>
    ) throws -> [(First, repeat each Other)] {
        let places = try positions(of: first, repeat each others)
        var rows: [(First, repeat each Other)] = []
        try storage.readFields(places, query) { row in
            var next = FieldCounter()
            rows.append(
                (
                    try First.read(from: row, at: places[next.next()]),
                    repeat try (each Other).read(from: row, at: places[next.next()])
                ))
        }
        return rows
    }

    // MARK: Distinct

    /// Returns the different values of a field among the values that meet a condition, once each.
    ///
    /// ```swift
    /// let dates = try messages.distinct(\.date) { !$0.isRead }
    /// ```
    ///
    /// Values are the same when `==` in a condition finds them equal: nil equals nil, texts are compared by bytes, and NaN
    /// equals NaN.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: The values, ascending, nil first.
    public func distinct<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value>, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [Value] {
        try distinctFields(.once(condition), field)
    }

    /// Returns the different values of a field among the values that meet a prepared condition, once each; among all values
    /// without a condition.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: The values, ascending, nil first.
    public func distinct<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value>, where condition: Condition<Record> = .all
    ) throws -> [Value] {
        try distinctFields(condition, field)
    }

    /// Returns the different combinations of some fields among the values that meet a condition, once each.
    ///
    /// - Parameters:
    ///   - first: A key path to a stored field.
    ///   - second: A key path to a stored field.
    ///   - others: Key paths to further stored fields.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: A tuple of the fields for each combination. They ascend by the fields in turn, nil first.
    public func distinct<First: OrderedFieldValue, Second: OrderedFieldValue, each Other: OrderedFieldValue>(
        _ first: KeyPath<Record, First>, _ second: KeyPath<Record, Second>, _ others: repeat KeyPath<Record, each Other>,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(First, Second, repeat each Other)] {
        try distinctFields(.once(condition), first, second, repeat each others)
    }

    /// Returns the different combinations of some fields among the values that meet a prepared condition, once each; among
    /// all values without a condition.
    ///
    /// - Parameters:
    ///   - first: A key path to a stored field.
    ///   - second: A key path to a stored field.
    ///   - others: Key paths to further stored fields.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: A tuple of the fields for each combination. They ascend by the fields in turn, nil first.
    public func distinct<First: OrderedFieldValue, Second: OrderedFieldValue, each Other: OrderedFieldValue>(
        _ first: KeyPath<Record, First>, _ second: KeyPath<Record, Second>, _ others: repeat KeyPath<Record, each Other>,
        where condition: Condition<Record> = .all
    ) throws -> [(First, Second, repeat each Other)] {
        try distinctFields(condition, first, second, repeat each others)
    }

    func distinctFields<each Value: OrderedFieldValue>(
        _ condition: Condition<Record>, _ fields: repeat KeyPath<Record, each Value>
    ) throws -> [(repeat each Value)] {
        let places = try positions(of: repeat each fields)
        var groups: [(repeat each Value)] = []
        try storage.readingGroups(by: places) {
            try storage.groups(GroupQuery(by: places, where: condition)) { row, _ in
                var next = FieldCounter()
                groups.append((repeat try (each Value).read(from: row, at: places[next.next()])))
            }
        }
        return groups
    }

    /// Returns the positions of fields that rows contain.
    ///
    /// - Throws: `.invalidQuery` for a relationship other than a Reference, and for a key path that does not lead to a stored
    ///   field.
    private func positions<each Value>(of fields: repeat KeyPath<Record, each Value>) throws -> [Int] {
        var places: [Int] = []
        for field in repeat each fields { places.append(try Record.schema.position(of: field)) }
        let entity = Record.schema.description
        for place in places where Record.schema.relation(at: place).map({ !$0.isReference }) == true {
            let field = entity.fields[place]
            throw StorageError(
                .invalidQuery, "'\(field.name)' of '\(entity.name)' is a relationship; read whole values", entity: entity.name,
                field: field.name)
        }
        return places
    }
}
