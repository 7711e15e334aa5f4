// Reads of rows with totals of their related rows.

extension DAO {

    // MARK: With totals of related rows

    /// Returns the values that meet a condition, each with totals of the rows that refer to it, also where there are none.
    ///
    /// ```swift
    /// let shown = try lists.read(with: List.reminders, totals: .count { !$0.isDone }, orderedBy: .ascending(\.position))
    /// let top = try tags.read(
    ///     with: Tag.reminders, totals: .count, orderedByTotals: .descending(.count), limit: 5, having: .count > 0)
    /// ```
    ///
    /// - Parameters:
    ///   - inverse: The relationship, as these values see it. A row that has a value several times in a list refers to it once.
    ///   - first: A total of the rows of each value, such as `.count`.
    ///   - others: Further totals.
    ///   - totalOrder: The sort terms that are totals.
    ///   - order: The sort terms of values that are equal in these, of their own fields. Without terms, the order is that of the
    ///     primary key.
    ///   - limit: The maximum number of values; nil for all.
    ///   - having: The condition on totals that values must meet; nil for all values.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: A tuple of the value and the totals for each value.
    /// - Throws: `.arithmeticOverflow` when the type of a field cannot hold a sum; `.invalidQuery` for a negative limit, or when the
    ///   inverse does not lead to a stored field; `.unsupported` when the storage is not from ``Database/storage(for:)``.
    /// - Complexity: A fixed number of engine queries.
    @_disfavoredOverload
    public func read<Source: Model, First, each Other>(
        with inverse: Inverse<Record, Source>, totals first: GroupTotal<Source, First>,
        _ others: repeat GroupTotal<Source, each Other>, orderedByTotals totalOrder: GroupOrder<Source>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<Source>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Plain, First, repeat each Other)] {
        try readWithTotals(
            Query(where: .once(condition), orderedBy: order, limit: limit), RelatedPlace(inverse), totalOrder, having, first,
            repeat each others)
    }

    /// Returns the values that meet a prepared condition, each with totals of the rows that refer to it, also where there are none;
    /// all values without a condition.
    ///
    /// - Parameters:
    ///   - inverse: The relationship, as these values see it.
    ///   - first: A total of the rows of each value, such as `.count`.
    ///   - others: Further totals.
    ///   - totalOrder: The sort terms that are totals.
    ///   - order: The sort terms of values that are equal in these, of their own fields.
    ///   - limit: The maximum number of values; nil for all.
    ///   - having: The condition on totals that values must meet; nil for all values.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: As with a closure.
    /// - Throws: As with a closure.
    @_disfavoredOverload
    public func read<Source: Model, First, each Other>(
        with inverse: Inverse<Record, Source>, totals first: GroupTotal<Source, First>,
        _ others: repeat GroupTotal<Source, each Other>, orderedByTotals totalOrder: GroupOrder<Source>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<Source>? = nil,
        where condition: Condition<Record> = .all
    ) throws -> [(Plain, First, repeat each Other)] {
        try readWithTotals(
            Query(where: condition, orderedBy: order, limit: limit), RelatedPlace(inverse), totalOrder, having, first,
            repeat each others)
    }

    /// Returns the values that meet a condition, each with totals of the rows in its list, also where there are none.
    ///
    /// ```swift
    /// let albums = try albums.read(with: \.tracks, totals: .count, .sum(\.seconds), where: { $0.year > 1999 })
    /// ```
    ///
    /// - Parameters:
    ///   - list: A key path to a list of models. A row that is in it several times counts as often.
    ///   - first: A total of the rows of each value, such as `.count`.
    ///   - others: Further totals.
    ///   - totalOrder: The sort terms that are totals.
    ///   - order: The sort terms of values that are equal in these, of their own fields.
    ///   - limit: The maximum number of values; nil for all.
    ///   - having: The condition on totals that values must meet; nil for all values.
    ///   - condition: A closure that makes the condition from the fields of the model.
    /// - Returns: A tuple of the value and the totals for each value.
    /// - Throws: As with an inverse.
    @_disfavoredOverload
    public func read<List: ToManyValue, First, each Other>(
        with list: KeyPath<Record, List>, totals first: GroupTotal<List.ListedRow, First>,
        _ others: repeat GroupTotal<List.ListedRow, each Other>, orderedByTotals totalOrder: GroupOrder<List.ListedRow>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<List.ListedRow>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Plain, First, repeat each Other)] {
        try readWithTotals(
            Query(where: .once(condition), orderedBy: order, limit: limit), RelatedPlace(list), totalOrder, having, first,
            repeat each others)
    }

    /// Returns the values that meet a prepared condition, each with totals of the rows in its list, also where there are none; all
    /// values without a condition.
    ///
    /// - Parameters:
    ///   - list: A key path to a list of models. A row that is in it several times counts as often.
    ///   - first: A total of the rows of each value, such as `.count`.
    ///   - others: Further totals.
    ///   - totalOrder: The sort terms that are totals.
    ///   - order: The sort terms of values that are equal in these, of their own fields.
    ///   - limit: The maximum number of values; nil for all.
    ///   - having: The condition on totals that values must meet; nil for all values.
    ///   - condition: The condition; by default all values meet it.
    /// - Returns: As with a closure.
    /// - Throws: As with an inverse.
    @_disfavoredOverload
    public func read<List: ToManyValue, First, each Other>(
        with list: KeyPath<Record, List>, totals first: GroupTotal<List.ListedRow, First>,
        _ others: repeat GroupTotal<List.ListedRow, each Other>, orderedByTotals totalOrder: GroupOrder<List.ListedRow>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<List.ListedRow>? = nil,
        where condition: Condition<Record> = .all
    ) throws -> [(Plain, First, repeat each Other)] {
        try readWithTotals(
            Query(where: condition, orderedBy: order, limit: limit), RelatedPlace(list), totalOrder, having, first,
            repeat each others)
    }

    func readWithTotals<Child: Model, each Result: OrderedFieldValue>(
        _ query: Query<Record>, _ place: RelatedPlace<Record, Child>, _ totalOrder: [GroupOrder<Child>],
        _ having: GroupCondition<Child>?, _ totals: repeat GroupTotal<Child, each Result>
    ) throws -> [(Plain, repeat each Result)] {
        guard let including = storage as? any IncludingStorage<Record> else {
            throw StorageError.readsNoRelatedRows(Record.schema.description.name)
        }
        // Also where no row is read by the query.
        if let limit = query.limit, limit < 0 { throw StorageError.negative("limit", limit, Record.schema.description.name) }
        let isChosenByTotals = !totalOrder.isEmpty || having != nil
        let request = GroupRequest<Child>(
            .all, order: totalOrder, limit: isChosenByTotals ? query.limit : nil, having: having)
        let (position, forward) = (try place.position.get(), place.forward)
        return try storage.database.snapshot {
            let related = try including.relatedRows(at: position, forward: forward, of: Child.self)
            var (rows, keys): ([Record], [Key]) = ([], [])
            if isChosenByTotals {
                var all = query
                all.limit = nil
                keys = try storage.keys(all)
            } else {
                rows = try storage.read(query)
                keys = Record.schema.keys(of: rows)
            }
            let groups = try related.storage.totals(request, of: related, for: keys, repeat each totals)
            if isChosenByTotals { rows = try storage.read(keys: groups.map { keys[$0.parent] }, includesSubentities: true) }
            var results: [(Plain, repeat each Result)] = []
            for (plain, group) in zip(try translator.translate(models: rows), groups) {
                let totals = group.totals
                results.append((plain, repeat each totals))
            }
            return results
        }
    }
}

/// A relationship as the rows see it that have totals of their related rows.
struct RelatedPlace<Record: Model, Child: Model>: Sendable {
    /// The position of the relationship; of an inverse, after those of the fields. The error says that there is none.
    let position: Swift.Result<Int, any Error>
    /// The position of the field that an inverse belongs to; nil for a list.
    let forward: Int?

    init(_ inverse: Inverse<Record, Child>) {
        let relation = inverse.relation
        position = Swift.Result {
            guard let relation else {
                throw StorageError(.invalidQuery, inverse.problem.message, entity: Record.schema.description.name)
            }
            return relation.field
        }
        forward = relation?.forward
    }

    init<List: ToManyValue>(_ list: KeyPath<Record, List>) where List.ListedRow == Child {
        position = Swift.Result { try Record.schema.position(of: list) }
        forward = nil
    }
}
