// Totals of a field. Nil values are ignored: the totals of an optional field are those of its values that are
// not nil.

extension DAO {

    // MARK: Minimum and maximum

    /// Returns the smallest value of a field among the rows that meet a condition; nil when there is none. Nil
    /// values are ignored. An index on the field speeds it up.
    ///
    /// ```swift
    /// let oldest = try messages.min(\.date) { !$0.isRead }
    /// ```
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - condition: A closure that makes the condition from the fields of the model.
    public func min<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value>, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> Value.Present? {
        try min(field, where: .once(condition))
    }

    /// Returns the smallest value of a field; nil when there is none. Nil values are ignored. An index on the
    /// field speeds it up.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - condition: The condition that rows must meet; by default all rows meet it.
    public func min<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value>, where condition: Condition<Record> = .all
    ) throws -> Value.Present? {
        try extreme(field, .ascending(field), condition)
    }

    /// Returns the greatest value of a field among the rows that meet a condition; nil when there is none. Nil
    /// values are ignored. An index on the field speeds it up.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - condition: A closure that makes the condition from the fields of the model.
    public func max<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value>, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> Value.Present? {
        try max(field, where: .once(condition))
    }

    /// Returns the greatest value of a field; nil when there is none. Nil values are ignored. An index on the
    /// field speeds it up.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - condition: The condition that rows must meet; by default all rows meet it.
    public func max<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value>, where condition: Condition<Record> = .all
    ) throws -> Value.Present? {
        try extreme(field, .descending(field), condition)
    }

    // MARK: Sum and average

    /// Returns the sum of a field over the rows that meet a condition; zero when there are no values. Nil values
    /// are ignored. Floating-point numbers are added in key order, so the sum is the same on every backend.
    ///
    /// ```swift
    /// let size = try messages.sum(\.size) { !$0.isRead }
    /// ```
    ///
    /// - Parameters:
    ///   - field: A key path to a stored numeric field.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Throws: `.arithmeticOverflow` when the type of the field cannot hold the sum.
    public func sum<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value>, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> Value.Present where Value.Present: NumericFieldValue {
        try sum(field, where: .once(condition))
    }

    /// Returns the sum of a field; zero when there are no values. Nil values are ignored. Floating-point numbers
    /// are added in key order, so the sum is the same on every backend.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored numeric field.
    ///   - condition: The condition that rows must meet; by default all rows meet it.
    /// - Throws: `.arithmeticOverflow` when the type of the field cannot hold the sum.
    public func sum<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value>, where condition: Condition<Record> = .all
    ) throws -> Value.Present where Value.Present: NumericFieldValue {
        let (total, name) = try total(of: field, condition)
        return try Value.Present(total: total, entity: Record.schema.description.name, field: name)
    }

    /// Returns the average of a field over the rows that meet a condition; nil when there are no values. Nil
    /// values are ignored.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored numeric field.
    ///   - condition: A closure that makes the condition from the fields of the model.
    public func average<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value>, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> Double? where Value.Present: NumericFieldValue {
        try average(field, where: .once(condition))
    }

    /// Returns the average of a field; nil when there are no values. Nil values are ignored.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored numeric field.
    ///   - condition: The condition that rows must meet; by default all rows meet it.
    public func average<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value>, where condition: Condition<Record> = .all
    ) throws -> Double? where Value.Present: NumericFieldValue {
        try total(of: field, condition).total.average
    }

    private func extreme<Value: OrderedFieldValue>(
        _ field: KeyPath<Record, Value>, _ order: Sort<Record>, _ condition: Condition<Record>
    ) throws -> Value.Present? {
        let isThere = FieldExpression(field).node { .compare(field: $0, .notEqual, .null) }
        let query = Query(where: condition && isThere, orderedBy: [order], limit: 1)
        return try storage.read(query).first?[keyPath: field].present
    }

    private func total<Value: FieldValue>(
        of field: KeyPath<Record, Value>, _ predicate: Condition<Record>
    ) throws -> (total: NumericTotal, field: String) {
        let index = try Record.schema.position(of: field)
        var total = NumericTotal()
        try storage.readFields([index], Query(where: predicate)) { row in
            total.add(try Value.read(from: row, at: index).fieldValue)
        }
        return (total, Record.schema.description.fields[index].name)
    }
}
