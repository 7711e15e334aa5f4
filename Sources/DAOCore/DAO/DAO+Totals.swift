// Totals of a field. Nil values are ignored: the totals of an optional field are those of its values that are
// not nil.

extension DAO {

    // MARK: Minimum and maximum

    /// Returns the smallest value of a field; nil when there is none. Nil values are ignored. An index on the
    /// field speeds it up.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - predicate: The predicate that rows must meet; by default all rows do.
    public func min<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value>, predicatedBy predicate: Condition<Record> = .all
    ) throws -> Value? {
        try extreme(field, .ascending(field), predicate)
    }

    /// Returns the smallest value of an optional field; nil when there is none. Nil values are ignored. An
    /// index on the field speeds it up.
    public func min<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value?>, predicatedBy predicate: Condition<Record> = .all
    ) throws -> Value? {
        try extreme(field, .ascending(field), predicate) ?? nil
    }

    /// Returns the greatest value of a field; nil when there is none. Nil values are ignored. An index on the
    /// field speeds it up.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - predicate: The predicate that rows must meet; by default all rows do.
    public func max<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value>, predicatedBy predicate: Condition<Record> = .all
    ) throws -> Value? {
        try extreme(field, .descending(field), predicate)
    }

    /// Returns the greatest value of an optional field; nil when there is none. Nil values are ignored. An
    /// index on the field speeds it up.
    public func max<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value?>, predicatedBy predicate: Condition<Record> = .all
    ) throws -> Value? {
        try extreme(field, .descending(field), predicate) ?? nil
    }

    // MARK: Sum and average

    /// Returns the sum of a field; zero when there are no values. Floating-point numbers are added in key
    /// order, so the sum is the same on every backend.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored numeric field.
    ///   - predicate: The predicate that rows must meet; by default all rows do.
    /// - Throws: `.arithmeticOverflow` when the type of the field cannot hold the sum.
    public func sum<Value: NumericFieldValue>(
        _ field: KeyPath<Record, Value>, predicatedBy predicate: Condition<Record> = .all
    ) throws -> Value {
        let (total, name) = try total(of: field, predicate)
        return try Value(total: total, entity: Record.schema.description.name, field: name)
    }

    /// Returns the sum of an optional field; zero when there are no values. Nil values are ignored.
    public func sum<Value: NumericFieldValue>(
        _ field: KeyPath<Record, Value?>, predicatedBy predicate: Condition<Record> = .all
    ) throws -> Value {
        let (total, name) = try total(of: field, predicate)
        return try Value(total: total, entity: Record.schema.description.name, field: name)
    }

    /// Returns the average of a field; nil when there are no values.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored numeric field.
    ///   - predicate: The predicate that rows must meet; by default all rows do.
    public func average<Value: NumericFieldValue>(
        _ field: KeyPath<Record, Value>, predicatedBy predicate: Condition<Record> = .all
    ) throws -> Double? {
        try total(of: field, predicate).total.average
    }

    /// Returns the average of an optional field; nil when there are no values. Nil values are ignored.
    public func average<Value: NumericFieldValue>(
        _ field: KeyPath<Record, Value?>, predicatedBy predicate: Condition<Record> = .all
    ) throws -> Double? {
        try total(of: field, predicate).total.average
    }

    private func extreme<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value>, _ order: Sort<Record>, _ predicate: Condition<Record>
    ) throws -> Value? {
        let isThere = FieldExpression(field).node { .compare(field: $0, .notEqual, .null) }
        let query = Query(where: predicate && isThere, orderedBy: [order], limit: 1)
        return try storage.read(query).first?[keyPath: field]
    }

    private func total<Value: FieldValue>(
        of field: KeyPath<Record, Value>, _ predicate: Condition<Record>
    ) throws -> (total: NumericTotal, field: String) {
        let entity = Record.schema.description
        guard let index = Record.schema.index(of: field) else {
            throw StorageError(.invalidQuery, "\(field) is not a stored field of '\(entity.name)'", entity: entity.name)
        }
        var total = NumericTotal()
        try storage.values(of: index, Query(where: predicate)) { total.add($0) }
        return (total, entity.fields[index].name)
    }
}
