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
    @_disfavoredOverload
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
    @_disfavoredOverload
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

    /// Returns totals of the values that meet a condition, for each value of a field.
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
    ///   - field: A key path to a stored field.
    ///   - total: A total of each group, such as `.count`.
    ///   - others: Further totals.
    ///   - order: The sort terms. Groups that are equal in them ascend by what they are made by, in turn, nil first.
    ///   - limit: The maximum number of groups; nil for all.
    ///   - having: The condition on totals that groups must meet; nil for all groups.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: A tuple of the value of the field and the totals for each group.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum; `.invalidQuery` for a negative limit.
    @_disfavoredOverload
    public func groups<Value: OrderedFieldValue, Total, each Other>(
        by field: KeyPath<Record, Value>, totals total: GroupTotal<Record, Total>,
        _ others: repeat GroupTotal<Record, each Other>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Value, Total, repeat each Other)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try storage.groups(request, by: GroupKey(field), totals: total, repeat each others)
    }

    /// Returns totals of the values that meet a prepared condition, for each value of a field; of all values without a condition.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - total: A total of each group, such as `.count`.
    ///   - others: Further totals.
    ///   - order: The sort terms. Groups that are equal in them ascend by what they are made by, in turn, nil first.
    ///   - limit: The maximum number of groups; nil for all.
    ///   - having: The condition on totals that groups must meet; nil for all groups.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: A tuple of the value of the field and the totals for each group.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum; `.invalidQuery` for a negative limit.
    @_disfavoredOverload
    public func groups<Value: OrderedFieldValue, Total, each Other>(
        by field: KeyPath<Record, Value>, totals total: GroupTotal<Record, Total>,
        _ others: repeat GroupTotal<Record, each Other>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) throws -> [(Value, Total, repeat each Other)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try storage.groups(request, by: GroupKey(field), totals: total, repeat each others)
    }

    /// Returns totals of the values that meet a condition, for each combination of values of two fields.
    ///
    /// - Parameters:
    ///   - first: A key path to a stored field.
    ///   - second: A key path to a further stored field.
    ///   - total: A total of each group, such as `.count`.
    ///   - others: Further totals.
    ///   - order: The sort terms. Groups that are equal in them ascend by what they are made by, in turn, nil first.
    ///   - limit: The maximum number of groups; nil for all.
    ///   - having: The condition on totals that groups must meet; nil for all groups.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: A tuple of the values of the fields and the totals for each group.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum; `.invalidQuery` for a negative limit.
    @_disfavoredOverload
    public func groups<First: OrderedFieldValue, Second: OrderedFieldValue, Total, each Other>(
        by first: KeyPath<Record, First>, _ second: KeyPath<Record, Second>, totals total: GroupTotal<Record, Total>,
        _ others: repeat GroupTotal<Record, each Other>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(First, Second, Total, repeat each Other)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try storage.groups(request, by: GroupKey(first), GroupKey(second), totals: total, repeat each others)
    }

    /// Returns totals of the values that meet a prepared condition, for each combination of values of two fields; of all values without a condition.
    ///
    /// - Parameters:
    ///   - first: A key path to a stored field.
    ///   - second: A key path to a further stored field.
    ///   - total: A total of each group, such as `.count`.
    ///   - others: Further totals.
    ///   - order: The sort terms. Groups that are equal in them ascend by what they are made by, in turn, nil first.
    ///   - limit: The maximum number of groups; nil for all.
    ///   - having: The condition on totals that groups must meet; nil for all groups.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: A tuple of the values of the fields and the totals for each group.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum; `.invalidQuery` for a negative limit.
    @_disfavoredOverload
    public func groups<First: OrderedFieldValue, Second: OrderedFieldValue, Total, each Other>(
        by first: KeyPath<Record, First>, _ second: KeyPath<Record, Second>, totals total: GroupTotal<Record, Total>,
        _ others: repeat GroupTotal<Record, each Other>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) throws -> [(First, Second, Total, repeat each Other)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try storage.groups(request, by: GroupKey(first), GroupKey(second), totals: total, repeat each others)
    }

    /// Returns totals of the values that meet a condition, for each combination of values of three or more fields.
    ///
    /// - Parameters:
    ///   - first: A key path to a stored field.
    ///   - second: A key path to a further stored field.
    ///   - third: A key path to a further stored field.
    ///   - further: Key paths to further stored fields.
    ///   - total: A total of each group, such as `.count`.
    ///   - others: Further totals.
    ///   - order: The sort terms. Groups that are equal in them ascend by what they are made by, in turn, nil first.
    ///   - limit: The maximum number of groups; nil for all.
    ///   - having: The condition on totals that groups must meet; nil for all groups.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: A tuple of the values of the fields and the totals for each group.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum; `.invalidQuery` for a negative limit.
    @_disfavoredOverload
    public func groups<
        First: OrderedFieldValue, Second: OrderedFieldValue, Third: OrderedFieldValue, each Further: OrderedFieldValue, Total,
        each Other
    >(
        by first: KeyPath<Record, First>, _ second: KeyPath<Record, Second>, _ third: KeyPath<Record, Third>,
        _ further: repeat KeyPath<Record, each Further>, totals total: GroupTotal<Record, Total>,
        _ others: repeat GroupTotal<Record, each Other>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(First, Second, Third, repeat each Further, Total, repeat each Other)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try storage.groups(
            request, by: GroupKey(first), GroupKey(second), GroupKey(third), repeat GroupKey(each further), totals: total,
            repeat each others)
    }

    /// Returns totals of the values that meet a prepared condition, for each combination of values of three or more fields; of all values without a condition.
    ///
    /// - Parameters:
    ///   - first: A key path to a stored field.
    ///   - second: A key path to a further stored field.
    ///   - third: A key path to a further stored field.
    ///   - further: Key paths to further stored fields.
    ///   - total: A total of each group, such as `.count`.
    ///   - others: Further totals.
    ///   - order: The sort terms. Groups that are equal in them ascend by what they are made by, in turn, nil first.
    ///   - limit: The maximum number of groups; nil for all.
    ///   - having: The condition on totals that groups must meet; nil for all groups.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: A tuple of the values of the fields and the totals for each group.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum; `.invalidQuery` for a negative limit.
    @_disfavoredOverload
    public func groups<
        First: OrderedFieldValue, Second: OrderedFieldValue, Third: OrderedFieldValue, each Further: OrderedFieldValue, Total,
        each Other
    >(
        by first: KeyPath<Record, First>, _ second: KeyPath<Record, Second>, _ third: KeyPath<Record, Third>,
        _ further: repeat KeyPath<Record, each Further>, totals total: GroupTotal<Record, Total>,
        _ others: repeat GroupTotal<Record, each Other>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) throws -> [(First, Second, Third, repeat each Further, Total, repeat each Other)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try storage.groups(
            request, by: GroupKey(first), GroupKey(second), GroupKey(third), repeat GroupKey(each further), totals: total,
            repeat each others)
    }

    /// Returns totals of the values that meet a condition, for each day, month or year of a field.
    ///
    /// ```swift
    /// let perDay = try reminders.groups(per: .day(\.completedAt, in: .current), totals: .count) { $0.completedAt >= lastMonth }
    /// ```
    ///
    /// - Parameters:
    ///   - part: The part of a date.
    ///   - total: A total of each group, such as `.count`.
    ///   - others: Further totals.
    ///   - order: The sort terms. Groups that are equal in them ascend by what they are made by, in turn, nil first.
    ///   - limit: The maximum number of groups; nil for all.
    ///   - having: The condition on totals that groups must meet; nil for all groups.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: A tuple of the first moment of the day, month or year and the totals for each group. No group is without rows.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum; `.invalidQuery` for a negative limit.
    @_disfavoredOverload
    public func groups<Part: OrderedFieldValue, Total, each Other>(
        per part: DatePart<Record, Part>, totals total: GroupTotal<Record, Total>,
        _ others: repeat GroupTotal<Record, each Other>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Part, Total, repeat each Other)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try storage.groups(request, by: part.key, totals: total, repeat each others)
    }

    /// Returns totals of the values that meet a prepared condition, for each day, month or year of a field; of all values without a condition.
    ///
    /// - Parameters:
    ///   - part: The part of a date.
    ///   - total: A total of each group, such as `.count`.
    ///   - others: Further totals.
    ///   - order: The sort terms. Groups that are equal in them ascend by what they are made by, in turn, nil first.
    ///   - limit: The maximum number of groups; nil for all.
    ///   - having: The condition on totals that groups must meet; nil for all groups.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: A tuple of the first moment of the day, month or year and the totals for each group. No group is without rows.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum; `.invalidQuery` for a negative limit.
    @_disfavoredOverload
    public func groups<Part: OrderedFieldValue, Total, each Other>(
        per part: DatePart<Record, Part>, totals total: GroupTotal<Record, Total>,
        _ others: repeat GroupTotal<Record, each Other>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) throws -> [(Part, Total, repeat each Other)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try storage.groups(request, by: part.key, totals: total, repeat each others)
    }

    /// Returns totals of the values that meet a condition, for each day, month or year of a field and each value of another field.
    ///
    /// - Parameters:
    ///   - part: The part of a date.
    ///   - first: A key path to a further stored field.
    ///   - total: A total of each group, such as `.count`.
    ///   - others: Further totals.
    ///   - order: The sort terms. Groups that are equal in them ascend by what they are made by, in turn, nil first.
    ///   - limit: The maximum number of groups; nil for all.
    ///   - having: The condition on totals that groups must meet; nil for all groups.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: A tuple of the first moment of the day, month or year, the values of the fields and the totals for each group. No group is without rows.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum; `.invalidQuery` for a negative limit.
    @_disfavoredOverload
    public func groups<Part: OrderedFieldValue, First: OrderedFieldValue, Total, each Other>(
        per part: DatePart<Record, Part>, by first: KeyPath<Record, First>, totals total: GroupTotal<Record, Total>,
        _ others: repeat GroupTotal<Record, each Other>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Part, First, Total, repeat each Other)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try storage.groups(request, by: part.key, GroupKey(first), totals: total, repeat each others)
    }

    /// Returns totals of the values that meet a prepared condition, for each day, month or year of a field and each value of another field; of all values without a condition.
    ///
    /// - Parameters:
    ///   - part: The part of a date.
    ///   - first: A key path to a further stored field.
    ///   - total: A total of each group, such as `.count`.
    ///   - others: Further totals.
    ///   - order: The sort terms. Groups that are equal in them ascend by what they are made by, in turn, nil first.
    ///   - limit: The maximum number of groups; nil for all.
    ///   - having: The condition on totals that groups must meet; nil for all groups.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: A tuple of the first moment of the day, month or year, the values of the fields and the totals for each group. No group is without rows.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum; `.invalidQuery` for a negative limit.
    @_disfavoredOverload
    public func groups<Part: OrderedFieldValue, First: OrderedFieldValue, Total, each Other>(
        per part: DatePart<Record, Part>, by first: KeyPath<Record, First>, totals total: GroupTotal<Record, Total>,
        _ others: repeat GroupTotal<Record, each Other>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) throws -> [(Part, First, Total, repeat each Other)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try storage.groups(request, by: part.key, GroupKey(first), totals: total, repeat each others)
    }

    /// Returns totals of the values that meet a condition, for each day, month or year of a field and each combination of values of other fields.
    ///
    /// - Parameters:
    ///   - part: The part of a date.
    ///   - first: A key path to a further stored field.
    ///   - second: A key path to a further stored field.
    ///   - further: Key paths to further stored fields.
    ///   - total: A total of each group, such as `.count`.
    ///   - others: Further totals.
    ///   - order: The sort terms. Groups that are equal in them ascend by what they are made by, in turn, nil first.
    ///   - limit: The maximum number of groups; nil for all.
    ///   - having: The condition on totals that groups must meet; nil for all groups.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: A tuple of the first moment of the day, month or year, the values of the fields and the totals for each group. No group is without rows.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum; `.invalidQuery` for a negative limit.
    @_disfavoredOverload
    public func groups<
        Part: OrderedFieldValue, First: OrderedFieldValue, Second: OrderedFieldValue, each Further: OrderedFieldValue, Total,
        each Other
    >(
        per part: DatePart<Record, Part>, by first: KeyPath<Record, First>, _ second: KeyPath<Record, Second>,
        _ further: repeat KeyPath<Record, each Further>, totals total: GroupTotal<Record, Total>,
        _ others: repeat GroupTotal<Record, each Other>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Part, First, Second, repeat each Further, Total, repeat each Other)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try storage.groups(
            request, by: part.key, GroupKey(first), GroupKey(second), repeat GroupKey(each further), totals: total,
            repeat each others)
    }

    /// Returns totals of the values that meet a prepared condition, for each day, month or year of a field and each combination of values of other fields; of all values without a condition.
    ///
    /// - Parameters:
    ///   - part: The part of a date.
    ///   - first: A key path to a further stored field.
    ///   - second: A key path to a further stored field.
    ///   - further: Key paths to further stored fields.
    ///   - total: A total of each group, such as `.count`.
    ///   - others: Further totals.
    ///   - order: The sort terms. Groups that are equal in them ascend by what they are made by, in turn, nil first.
    ///   - limit: The maximum number of groups; nil for all.
    ///   - having: The condition on totals that groups must meet; nil for all groups.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: A tuple of the first moment of the day, month or year, the values of the fields and the totals for each group. No group is without rows.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum; `.invalidQuery` for a negative limit.
    @_disfavoredOverload
    public func groups<
        Part: OrderedFieldValue, First: OrderedFieldValue, Second: OrderedFieldValue, each Further: OrderedFieldValue, Total,
        each Other
    >(
        per part: DatePart<Record, Part>, by first: KeyPath<Record, First>, _ second: KeyPath<Record, Second>,
        _ further: repeat KeyPath<Record, each Further>, totals total: GroupTotal<Record, Total>,
        _ others: repeat GroupTotal<Record, each Other>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) throws -> [(Part, First, Second, repeat each Further, Total, repeat each Other)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try storage.groups(
            request, by: part.key, GroupKey(first), GroupKey(second), repeat GroupKey(each further), totals: total,
            repeat each others)
    }

    // MARK: First values of groups

    /// Returns the first values of each group of those that meet a condition and have the same value of a field.
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
    /// - Returns: A tuple of the value of the field and the values of each group. They ascend by the field, nil first.
    /// - Throws: `.invalidQuery` for a relationship other than a Reference, and for a negative number.
    /// - Complexity: That of `distinct`, and of a query for each group, which an index over the fields and the order ends at
    ///   that number of rows.
    public func groups<Value: OrderedFieldValue>(
        by field: KeyPath<Record, Value>, first count: Int, orderedBy order: Sort<Record>...,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Value, [Plain])] {
        let query = Query(where: .once(condition), orderedBy: order, limit: count)
        return try firstOfGroups(query, by: field)
    }

    /// Returns the first values of each group of those that meet a condition and have the same values of some fields.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - second: A key path to a further stored field.
    ///   - further: Key paths to further stored fields.
    ///   - count: The maximum number of values of a group.
    ///   - order: The sort terms inside a group. Without terms, the order is that of the primary key.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: A tuple of the values of the fields and the values of each group. They ascend by the fields in turn, nil first.
    /// - Throws: `.invalidQuery` for a relationship other than a Reference, and for a negative number.
    /// - Complexity: That of `distinct`, and of a query for each group, which an index over the fields and the order ends at
    ///   that number of rows.
    public func groups<Value: OrderedFieldValue, Second: OrderedFieldValue, each Further: OrderedFieldValue>(
        by field: KeyPath<Record, Value>, _ second: KeyPath<Record, Second>, _ further: repeat KeyPath<Record, each Further>,
        first count: Int, orderedBy order: Sort<Record>...,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Value, Second, repeat each Further, [Plain])] {
        let query = Query(where: .once(condition), orderedBy: order, limit: count)
        return try firstOfGroups(query, by: field, second, repeat each further)
    }

    /// Returns the first values of each group of those that meet a prepared condition and have the same value of a field.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - count: The maximum number of values of a group.
    ///   - order: The sort terms inside a group. Without terms, the order is that of the primary key.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: A tuple of the value of the field and the values of each group. They ascend by the field, nil first.
    /// - Throws: `.invalidQuery` for a relationship other than a Reference, and for a negative number.
    /// - Complexity: That of `distinct`, and of a query for each group, which an index over the fields and the order ends at
    ///   that number of rows.
    public func groups<Value: OrderedFieldValue>(
        by field: KeyPath<Record, Value>, first count: Int, orderedBy order: Sort<Record>...,
        where condition: Condition<Record> = .all
    ) throws -> [(Value, [Plain])] {
        let query = Query(where: condition, orderedBy: order, limit: count)
        return try firstOfGroups(query, by: field)
    }

    /// Returns the first values of each group of those that meet a prepared condition and have the same values of some fields.
    ///
    /// - Parameters:
    ///   - field: A key path to a stored field.
    ///   - second: A key path to a further stored field.
    ///   - further: Key paths to further stored fields.
    ///   - count: The maximum number of values of a group.
    ///   - order: The sort terms inside a group. Without terms, the order is that of the primary key.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: A tuple of the values of the fields and the values of each group. They ascend by the fields in turn, nil first.
    /// - Throws: `.invalidQuery` for a relationship other than a Reference, and for a negative number.
    /// - Complexity: That of `distinct`, and of a query for each group, which an index over the fields and the order ends at
    ///   that number of rows.
    public func groups<Value: OrderedFieldValue, Second: OrderedFieldValue, each Further: OrderedFieldValue>(
        by field: KeyPath<Record, Value>, _ second: KeyPath<Record, Second>, _ further: repeat KeyPath<Record, each Further>,
        first count: Int, orderedBy order: Sort<Record>..., where condition: Condition<Record> = .all
    ) throws -> [(Value, Second, repeat each Further, [Plain])] {
        let query = Query(where: condition, orderedBy: order, limit: count)
        return try firstOfGroups(query, by: field, second, repeat each further)
    }

    func firstOfGroups<each Value: OrderedFieldValue>(
        _ query: Query<Record>, by fields: repeat KeyPath<Record, each Value>
    ) throws -> [(repeat each Value, [Plain])] {
        // The query is checked also when there are no groups.
        try Record.schema.check(query)
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
