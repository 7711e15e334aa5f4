extension DAO {

    // MARK: Groups

    /// Returns totals of the values that meet a condition, for each value of a field.
    ///
    /// ```swift
    /// for (sender, count, size) in try messages.groups(by: \.sender, .count, .sum(\.size), where: { !$0.isRead }) {
    ///     print(sender, count, size)
    /// }
    /// ```
    ///
    /// Values of the field are in one group when `==` in a condition finds them equal: nil equals nil, texts are compared
    /// by bytes, and NaN equals NaN.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - first: A total of each group, such as `.count`.
    ///   - others: Further totals.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: A tuple of the field's value and the totals for each group. They ascend by the value, nil first.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum.
    public func groups<Value: OrderedFieldValue, First, each Other>(
        by field: KeyPath<Record, Value>, _ first: GroupTotal<Record, First>, _ others: repeat GroupTotal<Record, each Other>,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Value, First, repeat each Other)] {
        try totals(.once(condition), by: field, first, repeat each others)
    }

    /// Returns totals of the values that meet a prepared condition, for each value of a field; of all values without a
    /// condition.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - first: A total of each group, such as `.count`.
    ///   - others: Further totals.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: A tuple of the field's value and the totals for each group. They ascend by the value, nil first.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum.
    public func groups<Value: OrderedFieldValue, First, each Other>(
        by field: KeyPath<Record, Value>, _ first: GroupTotal<Record, First>, _ others: repeat GroupTotal<Record, each Other>,
        where condition: Condition<Record> = .all
    ) throws -> [(Value, First, repeat each Other)] {
        try totals(condition, by: field, first, repeat each others)
    }

    /// Returns the first values of each group: of those that meet a condition and have the same value of a field.
    ///
    /// ```swift
    /// for (sender, newest) in try messages.groups(by: \.sender, first: 3, orderedBy: .descending(\.date), where: { !$0.isRead }) {
    ///     print(sender, newest.map(\.text))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - count: The maximum number of values of a group.
    ///   - order: The sort terms inside a group. Without terms, the order is that of the primary key.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: A tuple of the field's value and the values of each group. They ascend by the field, nil first.
    /// - Throws: `.invalidQuery` for a relationship other than a Reference, and for a negative number.
    /// - Complexity: That of `distinct`, and of a query for each group, which an index over the field and the order ends at
    ///   that number of rows.
    public func groups<Value: OrderedFieldValue>(
        by field: KeyPath<Record, Value>, first count: Int, orderedBy order: Sort<Record>...,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Value, [Plain])] {
        try groups(by: field, Query(where: .once(condition), orderedBy: order, limit: count))
    }

    /// Returns the first values of each group of those that meet a prepared condition; of all values without a condition.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - count: The maximum number of values of a group.
    ///   - order: The sort terms inside a group. Without terms, the order is that of the primary key.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: A tuple of the field's value and the values of each group. They ascend by the field, nil first.
    /// - Throws: `.invalidQuery` for a relationship other than a Reference, and for a negative number.
    public func groups<Value: OrderedFieldValue>(
        by field: KeyPath<Record, Value>, first count: Int, orderedBy order: Sort<Record>...,
        where condition: Condition<Record> = .all
    ) throws -> [(Value, [Plain])] {
        try groups(by: field, Query(where: condition, orderedBy: order, limit: count))
    }

    func groups<Value: OrderedFieldValue>(
        by field: KeyPath<Record, Value>, _ query: Query<Record>
    ) throws -> [(Value, [Plain])] {
        // The query is checked also when there are no groups.
        _ = try Record.schema.resolved(query, withRelated: true)
        let place = try Record.schema.position(of: field)
        return try storage.database.snapshot {
            try distinctFields(query.predicate, field).map { value in
                (value, try read(query.restricted(to: .compare(field: place, .equal, value.fieldValue))))
            }
        }
    }

    func totals<Value: OrderedFieldValue, each Result>(
        _ condition: Condition<Record>, by field: KeyPath<Record, Value>, _ totals: repeat GroupTotal<Record, each Result>
    ) throws -> [(Value, repeat each Result)] {
        let place = try Record.schema.position(of: field)
        var fields = [place]
        for total in repeat each totals { if let place = try total.place() { fields.append(place) } }
        var groups: [Group<Value, repeat each Result>] = []
        /// Begins a group, and returns what rows are added to. The loops over rows are not over packs: these look up types.
        func begin(_ row: RowReader, _ stored: DAOCore.Value) throws -> [RowCounter] {
            groups.append(
                Group(value: try Value.read(from: row, at: place), stored: stored, running: (repeat try (each totals).begin())))
            let running = groups[groups.count - 1].running
            var counters: [RowCounter] = []
            for total in repeat each running { counters.append(total) }
            return counters
        }
        try readingGroups(by: [place]) {
            if fields.count == 1 {
                // A database counts by itself.
                return try storage.groups(of: fields, counted: true, where: condition) { row, count in
                    for counter in try begin(row, .null) { counter.count = count }
                }
            }
            var known: [DAOCore.Value: [RowCounter]] = [:]
            // Rows of one group often follow each other.
            var last: (stored: DAOCore.Value, counters: [RowCounter])?
            try storage.readFields(fields, Query(where: condition)) { row in
                let stored = try row.readValue(at: place)
                if last?.stored != stored {
                    let counters = try known[stored] ?? begin(row, stored)
                    known[stored] = counters
                    last = (stored, counters)
                }
                for counter in last?.counters ?? [] { try counter.add(row) }
            }
            groups.sort { DAOCore.Value.order($0.stored, $1.stored) < 0 }
        }
        return try groups.map { group in (group.value, repeat try (each group.running).result()) }
    }
}

/// A group of rows while its totals are computed.
private struct Group<Value, each Result> {
    let value: Value
    /// The value, for comparisons.
    let stored: DAOCore.Value
    let running: (repeat RunningTotal<each Result>)
}
