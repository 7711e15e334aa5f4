// Totals over one field. Nil counts for nothing: an optional field has the same totals as one of its rows that are not nil.

extension DAO {

    // MARK: Least and greatest

    /// The least value of a field, nil aside; nil when there is none. An index serves it.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - predicate: Which rows; all by default.
    public func min<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value>, predicatedBy predicate: Condition<Record> = .all
    ) throws -> Value? {
        try extreme(field, .ascending(field), predicate)
    }

    /// The least value of an optional field, nil aside; nil when there is none. An index serves it.
    public func min<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value?>, predicatedBy predicate: Condition<Record> = .all
    ) throws -> Value? {
        try extreme(field, .ascending(field), predicate) ?? nil
    }

    /// The greatest value of a field, nil aside; nil when there is none. An index serves it.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - predicate: Which rows; all by default.
    public func max<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value>, predicatedBy predicate: Condition<Record> = .all
    ) throws -> Value? {
        try extreme(field, .descending(field), predicate)
    }

    /// The greatest value of an optional field, nil aside; nil when there is none. An index serves it.
    public func max<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value?>, predicatedBy predicate: Condition<Record> = .all
    ) throws -> Value? {
        try extreme(field, .descending(field), predicate) ?? nil
    }

    // MARK: Sum and mean

    /// The sum of a field; zero of no values. Floating-point numbers are added in key order, so every backend gives the same.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored number.
    ///   - predicate: Which rows; all by default.
    /// - Throws: `.arithmeticOverflow` when the field's type cannot hold the sum.
    public func sum<Value: NumericFieldValue>(
        _ field: KeyPath<Record, Value>, predicatedBy predicate: Condition<Record> = .all
    ) throws -> Value {
        let (total, name) = try total(of: field, predicate)
        return try Value(total: total, entity: Record.schema.description.name, field: name)
    }

    /// The sum of an optional field, nil aside; zero of no values.
    public func sum<Value: NumericFieldValue>(
        _ field: KeyPath<Record, Value?>, predicatedBy predicate: Condition<Record> = .all
    ) throws -> Value {
        let (total, name) = try total(of: field, predicate)
        return try Value(total: total, entity: Record.schema.description.name, field: name)
    }

    /// The mean of a field; nil of no values.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored number.
    ///   - predicate: Which rows; all by default.
    public func average<Value: NumericFieldValue>(
        _ field: KeyPath<Record, Value>, predicatedBy predicate: Condition<Record> = .all
    ) throws -> Double? {
        try total(of: field, predicate).total.average
    }

    /// The mean of an optional field, nil aside; nil of no values.
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
