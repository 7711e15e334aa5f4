extension DAO {

    // MARK: Totals

    /// Returns totals of the values that meet a condition, all from one read.
    ///
    /// ```swift
    /// let (open, flagged, due) = try reminders.totals(.count { !$0.isDone }, .count { $0.isFlagged }, .min(\.due))
    /// ```
    ///
    /// - Parameters:
    ///   - first: A total, such as `.count`.
    ///   - others: Further totals.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum.
    public func totals<First, each Other>(
        _ first: GroupTotal<Record, First>, _ others: repeat GroupTotal<Record, each Other>,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> (First, repeat each Other) {
        try allTotals(.once(condition), first, repeat each others)
    }

    /// Returns totals of the values that meet a prepared condition, all from one read; of all values without a condition.
    ///
    /// - Parameters:
    ///   - first: A total, such as `.count`.
    ///   - others: Further totals.
    ///   - condition: The condition; by default all values meet it.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum.
    public func totals<First, each Other>(
        _ first: GroupTotal<Record, First>, _ others: repeat GroupTotal<Record, each Other>,
        where condition: Condition<Record> = .all
    ) throws -> (First, repeat each Other) {
        try allTotals(condition, first, repeat each others)
    }

    func allTotals<First, each Other>(
        _ condition: Condition<Record>, _ first: GroupTotal<Record, First>, _ others: repeat GroupTotal<Record, each Other>
    ) throws -> (First, repeat each Other) {
        // Without a key, all rows are one group, also where there are none.
        let groups: [(First, repeat each Other)] = try storage.groups(GroupRequest(condition), totals: first, repeat each others)
        guard let group = groups.first else {
            throw StorageError(.invalidQuery, "totals without a group", entity: Record.schema.description.name)
        }
        return group
    }

    // MARK: Groups

    /// Returns totals of the values that meet a condition, for each combination of values of some fields.
    ///
    /// ```swift
    /// for (sender, count, size) in try messages.groups(by: \.sender, totals: .count, .sum(\.size), where: { !$0.isRead }) {
    ///     print(sender, count, size)
    /// }
    /// let busiest = try messages.groups(by: \.sender, totals: .count, orderedBy: .descending(.count), limit: 5)
    /// ```
    ///
    /// Values of a field are in one group when `==` in a condition finds them equal: nil equals nil, texts are compared
    /// by bytes, and NaN equals NaN.
    ///
    /// - Parameters:
    ///   - fields: Key paths to stored fields.
    ///   - first: A total of each group, such as `.count`.
    ///   - others: Further totals.
    ///   - order: The sort terms. Groups that are equal in them ascend by the fields in turn, nil first.
    ///   - limit: The maximum number of groups; nil for all.
    ///   - having: The condition on totals that groups must meet; nil for all groups.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: A tuple of the fields' values and the totals for each group.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum; `.invalidQuery` for a negative limit.
    public func groups<each Value: OrderedFieldValue, First, each Other>(
        by fields: repeat KeyPath<Record, each Value>, totals first: GroupTotal<Record, First>,
        _ others: repeat GroupTotal<Record, each Other>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(repeat each Value, First, repeat each Other)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try storage.groups(request, by: repeat GroupKey(each fields), totals: first, repeat each others)
    }

    /// Returns totals of the values that meet a prepared condition, for each combination of values of some fields; of all values
    /// without a condition.
    ///
    /// - Parameters:
    ///   - fields: Key paths to stored fields.
    ///   - first: A total of each group, such as `.count`.
    ///   - others: Further totals.
    ///   - order: The sort terms. Groups that are equal in them ascend by the fields in turn, nil first.
    ///   - limit: The maximum number of groups; nil for all.
    ///   - having: The condition on totals that groups must meet; nil for all groups.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: A tuple of the fields' values and the totals for each group.
    /// - Throws: As with a closure.
    public func groups<each Value: OrderedFieldValue, First, each Other>(
        by fields: repeat KeyPath<Record, each Value>, totals first: GroupTotal<Record, First>,
        _ others: repeat GroupTotal<Record, each Other>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) throws -> [(repeat each Value, First, repeat each Other)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try storage.groups(request, by: repeat GroupKey(each fields), totals: first, repeat each others)
    }

    /// Returns totals of the values that meet a condition, for each day, month or year of a field, and for each combination of
    /// values of further fields in it.
    ///
    /// ```swift
    /// let zone = TimeZone.current
    /// let perDay = try reminders.groups(per: .day(\.completedAt, in: zone), totals: .count) { $0.completedAt >= lastMonth }
    /// let byList = try reminders.groups(per: .month(\.completedAt, in: zone), by: \.list, totals: .count)
    /// ```
    ///
    /// - Parameters:
    ///   - part: The part of a date.
    ///   - fields: Key paths to further stored fields.
    ///   - first: A total of each group, such as `.count`.
    ///   - others: Further totals.
    ///   - order: The sort terms. Groups that are equal in them ascend by the part and the fields in turn, nil first.
    ///   - limit: The maximum number of groups; nil for all.
    ///   - having: The condition on totals that groups must meet; nil for all groups.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: A tuple of the first moment of the day, month or year, the fields' values and the totals for each group. There
    ///   is no group without rows.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum; `.invalidQuery` for a negative limit.
    public func groups<Part: OrderedFieldValue, each Value: OrderedFieldValue, First, each Other>(
        per part: DatePart<Record, Part>, by fields: repeat KeyPath<Record, each Value>,
        totals first: GroupTotal<Record, First>, _ others: repeat GroupTotal<Record, each Other>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil, having: GroupCondition<Record>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Part, repeat each Value, First, repeat each Other)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try storage.groups(request, by: part.key, repeat GroupKey(each fields), totals: first, repeat each others)
    }

    /// Returns totals of the values that meet a prepared condition, for each day, month or year of a field, and for each
    /// combination of values of further fields in it; of all values without a condition.
    ///
    /// - Parameters:
    ///   - part: The part of a date.
    ///   - fields: Key paths to further stored fields.
    ///   - first: A total of each group, such as `.count`.
    ///   - others: Further totals.
    ///   - order: The sort terms. Groups that are equal in them ascend by the part and the fields in turn, nil first.
    ///   - limit: The maximum number of groups; nil for all.
    ///   - having: The condition on totals that groups must meet; nil for all groups.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: As with a closure.
    /// - Throws: As with a closure.
    public func groups<Part: OrderedFieldValue, each Value: OrderedFieldValue, First, each Other>(
        per part: DatePart<Record, Part>, by fields: repeat KeyPath<Record, each Value>,
        totals first: GroupTotal<Record, First>, _ others: repeat GroupTotal<Record, each Other>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil, having: GroupCondition<Record>? = nil,
        where condition: Condition<Record> = .all
    ) throws -> [(Part, repeat each Value, First, repeat each Other)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try storage.groups(request, by: part.key, repeat GroupKey(each fields), totals: first, repeat each others)
    }

    // MARK: First values of groups

    /// Returns the first values of each group: of those that meet a condition and have the same values of some fields.
    ///
    /// ```swift
    /// for (sender, newest) in try messages.groups(by: \.sender, first: 3, orderedBy: .descending(\.date), where: { !$0.isRead }) {
    ///     print(sender, newest.map(\.text))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - fields: Key paths to stored fields.
    ///   - count: The maximum number of values of a group.
    ///   - order: The sort terms inside a group. Without terms, the order is that of the primary key.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: A tuple of the fields' values and the values of each group. They ascend by the fields in turn, nil first.
    /// - Throws: `.invalidQuery` for a relationship other than a Reference, and for a negative number.
    /// - Complexity: That of `distinct`, and of a query for each group, which an index over the fields and the order ends at
    ///   that number of rows.
    public func groups<each Value: OrderedFieldValue>(
        by fields: repeat KeyPath<Record, each Value>, first count: Int, orderedBy order: Sort<Record>...,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(repeat each Value, [Plain])] {
        try firstOfGroups(Query(where: .once(condition), orderedBy: order, limit: count), by: repeat each fields)
    }

    /// Returns the first values of each group of those that meet a prepared condition; of all values without a condition.
    ///
    /// - Parameters:
    ///   - fields: Key paths to stored fields.
    ///   - count: The maximum number of values of a group.
    ///   - order: The sort terms inside a group. Without terms, the order is that of the primary key.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: A tuple of the fields' values and the values of each group. They ascend by the fields in turn, nil first.
    /// - Throws: `.invalidQuery` for a relationship other than a Reference, and for a negative number.
    public func groups<each Value: OrderedFieldValue>(
        by fields: repeat KeyPath<Record, each Value>, first count: Int, orderedBy order: Sort<Record>...,
        where condition: Condition<Record> = .all
    ) throws -> [(repeat each Value, [Plain])] {
        try firstOfGroups(Query(where: condition, orderedBy: order, limit: count), by: repeat each fields)
    }

    func firstOfGroups<each Value: OrderedFieldValue>(
        _ query: Query<Record>, by fields: repeat KeyPath<Record, each Value>
    ) throws -> [(repeat each Value, [Plain])] {
        // The query is checked also when there are no groups.
        _ = try Record.schema.resolved(query, withRelated: true)
        var places: [Int] = []
        for field in repeat each fields { places.append(try Record.schema.position(of: field)) }
        return try storage.database.snapshot {
            var groups: [(repeat each Value, [Plain])] = []
            for values in try distinctFields(query.predicate, repeat each fields) {
                var conditions: [PredicateNode] = []
                for value in repeat each values {
                    conditions.append(.compare(field: places[conditions.count], .equal, value.fieldValue))
                }
                groups.append((repeat each values, try read(query.restricted(to: .and(conditions)))))
            }
            return groups
        }
    }
}
