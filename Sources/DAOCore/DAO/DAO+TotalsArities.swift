// Written by Scripts/totals-arities.py.

extension DAO {

    /// Returns totals of the values that meet a condition, all from one read.
    @_documentation(visibility: private)
    public func totals<First, SecondTotal: OrderedFieldValue>(
        _ first: GroupTotal<Record, First>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> (First, SecondTotal) {
        try allTotals(.once(condition), first, secondTotal)
    }

    /// Returns totals of the values that meet a condition, all from one read.
    @_documentation(visibility: private)
    public func totals<First, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue>(
        _ first: GroupTotal<Record, First>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> (First, SecondTotal, ThirdTotal) {
        try allTotals(.once(condition), first, secondTotal, thirdTotal)
    }

    /// Returns totals of the values that meet a condition, all from one read.
    @_documentation(visibility: private)
    public func totals<First, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue, FourthTotal: OrderedFieldValue>(
        _ first: GroupTotal<Record, First>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        _ thirdTotal: GroupTotal<Record, ThirdTotal>, _ fourthTotal: GroupTotal<Record, FourthTotal>,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> (First, SecondTotal, ThirdTotal, FourthTotal) {
        try allTotals(.once(condition), first, secondTotal, thirdTotal, fourthTotal)
    }

    /// Returns totals of the values that meet a prepared condition, all from one read; of all values without a condition.
    @_documentation(visibility: private)
    public func totals<First, SecondTotal: OrderedFieldValue>(
        _ first: GroupTotal<Record, First>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        where condition: Condition<Record> = .all
    ) throws -> (First, SecondTotal) {
        try allTotals(condition, first, secondTotal)
    }

    /// Returns totals of the values that meet a prepared condition, all from one read; of all values without a condition.
    @_documentation(visibility: private)
    public func totals<First, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue>(
        _ first: GroupTotal<Record, First>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        where condition: Condition<Record> = .all
    ) throws -> (First, SecondTotal, ThirdTotal) {
        try allTotals(condition, first, secondTotal, thirdTotal)
    }

    /// Returns totals of the values that meet a prepared condition, all from one read; of all values without a condition.
    @_documentation(visibility: private)
    public func totals<First, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue, FourthTotal: OrderedFieldValue>(
        _ first: GroupTotal<Record, First>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        _ thirdTotal: GroupTotal<Record, ThirdTotal>, _ fourthTotal: GroupTotal<Record, FourthTotal>,
        where condition: Condition<Record> = .all
    ) throws -> (First, SecondTotal, ThirdTotal, FourthTotal) {
        try allTotals(condition, first, secondTotal, thirdTotal, fourthTotal)
    }

    /// Returns totals of the values that meet a condition, for each value of a field.
    @_documentation(visibility: private)
    public func groups<Value: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue>(
        by field: KeyPath<Record, Value>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Value, Total, SecondTotal)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try storage.groups(request, by: GroupKey(field), totals: total, secondTotal)
    }

    /// Returns totals of the values that meet a condition, for each value of a field.
    @_documentation(visibility: private)
    public func groups<Value: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue>(
        by field: KeyPath<Record, Value>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Value, Total, SecondTotal, ThirdTotal)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try storage.groups(request, by: GroupKey(field), totals: total, secondTotal, thirdTotal)
    }

    /// Returns totals of the values that meet a prepared condition, for each value of a field; of all values without a condition.
    @_documentation(visibility: private)
    public func groups<Value: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue>(
        by field: KeyPath<Record, Value>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) throws -> [(Value, Total, SecondTotal)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try storage.groups(request, by: GroupKey(field), totals: total, secondTotal)
    }

    /// Returns totals of the values that meet a prepared condition, for each value of a field; of all values without a condition.
    @_documentation(visibility: private)
    public func groups<Value: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue>(
        by field: KeyPath<Record, Value>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) throws -> [(Value, Total, SecondTotal, ThirdTotal)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try storage.groups(request, by: GroupKey(field), totals: total, secondTotal, thirdTotal)
    }

    /// Returns totals of the values that meet a condition, for each combination of values of two fields.
    @_documentation(visibility: private)
    public func groups<First: OrderedFieldValue, Second: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue>(
        by first: KeyPath<Record, First>, _ second: KeyPath<Record, Second>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(First, Second, Total, SecondTotal)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try storage.groups(request, by: GroupKey(first), GroupKey(second), totals: total, secondTotal)
    }

    /// Returns totals of the values that meet a condition, for each combination of values of two fields.
    @_documentation(visibility: private)
    public func groups<
        First: OrderedFieldValue, Second: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue
    >(
        by first: KeyPath<Record, First>, _ second: KeyPath<Record, Second>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(First, Second, Total, SecondTotal, ThirdTotal)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try storage.groups(request, by: GroupKey(first), GroupKey(second), totals: total, secondTotal, thirdTotal)
    }

    /// Returns totals of the values that meet a prepared condition, for each combination of values of two fields; of all values without a condition.
    @_documentation(visibility: private)
    public func groups<First: OrderedFieldValue, Second: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue>(
        by first: KeyPath<Record, First>, _ second: KeyPath<Record, Second>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) throws -> [(First, Second, Total, SecondTotal)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try storage.groups(request, by: GroupKey(first), GroupKey(second), totals: total, secondTotal)
    }

    /// Returns totals of the values that meet a prepared condition, for each combination of values of two fields; of all values without a condition.
    @_documentation(visibility: private)
    public func groups<
        First: OrderedFieldValue, Second: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue
    >(
        by first: KeyPath<Record, First>, _ second: KeyPath<Record, Second>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) throws -> [(First, Second, Total, SecondTotal, ThirdTotal)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try storage.groups(request, by: GroupKey(first), GroupKey(second), totals: total, secondTotal, thirdTotal)
    }

    /// Returns totals of the values that meet a condition, for each day, month or year of a field.
    @_documentation(visibility: private)
    public func groups<Part: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue>(
        per part: DatePart<Record, Part>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Part, Total, SecondTotal)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try storage.groups(request, by: part.key, totals: total, secondTotal)
    }

    /// Returns totals of the values that meet a condition, for each day, month or year of a field.
    @_documentation(visibility: private)
    public func groups<Part: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue>(
        per part: DatePart<Record, Part>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Part, Total, SecondTotal, ThirdTotal)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try storage.groups(request, by: part.key, totals: total, secondTotal, thirdTotal)
    }

    /// Returns totals of the values that meet a prepared condition, for each day, month or year of a field; of all values without a condition.
    @_documentation(visibility: private)
    public func groups<Part: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue>(
        per part: DatePart<Record, Part>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) throws -> [(Part, Total, SecondTotal)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try storage.groups(request, by: part.key, totals: total, secondTotal)
    }

    /// Returns totals of the values that meet a prepared condition, for each day, month or year of a field; of all values without a condition.
    @_documentation(visibility: private)
    public func groups<Part: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue>(
        per part: DatePart<Record, Part>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) throws -> [(Part, Total, SecondTotal, ThirdTotal)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try storage.groups(request, by: part.key, totals: total, secondTotal, thirdTotal)
    }

    /// Returns totals of the values that meet a condition, for each day, month or year of a field and each value of another field.
    @_documentation(visibility: private)
    public func groups<Part: OrderedFieldValue, First: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue>(
        per part: DatePart<Record, Part>, by first: KeyPath<Record, First>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Part, First, Total, SecondTotal)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try storage.groups(request, by: part.key, GroupKey(first), totals: total, secondTotal)
    }

    /// Returns totals of the values that meet a condition, for each day, month or year of a field and each value of another field.
    @_documentation(visibility: private)
    public func groups<
        Part: OrderedFieldValue, First: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue
    >(
        per part: DatePart<Record, Part>, by first: KeyPath<Record, First>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Part, First, Total, SecondTotal, ThirdTotal)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try storage.groups(request, by: part.key, GroupKey(first), totals: total, secondTotal, thirdTotal)
    }

    /// Returns totals of the values that meet a prepared condition, for each day, month or year of a field and each value of another field; of all values without a condition.
    @_documentation(visibility: private)
    public func groups<Part: OrderedFieldValue, First: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue>(
        per part: DatePart<Record, Part>, by first: KeyPath<Record, First>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) throws -> [(Part, First, Total, SecondTotal)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try storage.groups(request, by: part.key, GroupKey(first), totals: total, secondTotal)
    }

    /// Returns totals of the values that meet a prepared condition, for each day, month or year of a field and each value of another field; of all values without a condition.
    @_documentation(visibility: private)
    public func groups<
        Part: OrderedFieldValue, First: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue
    >(
        per part: DatePart<Record, Part>, by first: KeyPath<Record, First>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) throws -> [(Part, First, Total, SecondTotal, ThirdTotal)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try storage.groups(request, by: part.key, GroupKey(first), totals: total, secondTotal, thirdTotal)
    }

    /// Returns the values that meet a condition, each with totals of the rows that refer to it, also where there are none.
    @_documentation(visibility: private)
    public func read<Source: Model, First, SecondTotal: OrderedFieldValue>(
        with inverse: Inverse<Record, Source>, totals first: GroupTotal<Source, First>,
        _ secondTotal: GroupTotal<Source, SecondTotal>, orderedByTotals totalOrder: GroupOrder<Source>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<Source>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Plain, First, SecondTotal)] {
        try readWithTotals(
            Query(where: .once(condition), orderedBy: order, limit: limit), RelatedPlace(inverse), totalOrder, having, first,
            secondTotal)
    }

    /// Returns the values that meet a condition, each with totals of the rows that refer to it, also where there are none.
    @_documentation(visibility: private)
    public func read<Source: Model, First, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue>(
        with inverse: Inverse<Record, Source>, totals first: GroupTotal<Source, First>,
        _ secondTotal: GroupTotal<Source, SecondTotal>, _ thirdTotal: GroupTotal<Source, ThirdTotal>,
        orderedByTotals totalOrder: GroupOrder<Source>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<Source>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Plain, First, SecondTotal, ThirdTotal)] {
        try readWithTotals(
            Query(where: .once(condition), orderedBy: order, limit: limit), RelatedPlace(inverse), totalOrder, having, first,
            secondTotal, thirdTotal)
    }

    /// Returns the values that meet a prepared condition, each with totals of the rows that refer to it, also where there are none;
    @_documentation(visibility: private)
    public func read<Source: Model, First, SecondTotal: OrderedFieldValue>(
        with inverse: Inverse<Record, Source>, totals first: GroupTotal<Source, First>,
        _ secondTotal: GroupTotal<Source, SecondTotal>, orderedByTotals totalOrder: GroupOrder<Source>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<Source>? = nil,
        where condition: Condition<Record> = .all
    ) throws -> [(Plain, First, SecondTotal)] {
        try readWithTotals(
            Query(where: condition, orderedBy: order, limit: limit), RelatedPlace(inverse), totalOrder, having, first,
            secondTotal)
    }

    /// Returns the values that meet a prepared condition, each with totals of the rows that refer to it, also where there are none;
    @_documentation(visibility: private)
    public func read<Source: Model, First, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue>(
        with inverse: Inverse<Record, Source>, totals first: GroupTotal<Source, First>,
        _ secondTotal: GroupTotal<Source, SecondTotal>, _ thirdTotal: GroupTotal<Source, ThirdTotal>,
        orderedByTotals totalOrder: GroupOrder<Source>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<Source>? = nil,
        where condition: Condition<Record> = .all
    ) throws -> [(Plain, First, SecondTotal, ThirdTotal)] {
        try readWithTotals(
            Query(where: condition, orderedBy: order, limit: limit), RelatedPlace(inverse), totalOrder, having, first,
            secondTotal, thirdTotal)
    }

    /// Returns the values that meet a condition, each with totals of the rows in its list, also where there are none.
    @_documentation(visibility: private)
    public func read<List: ToManyValue, First, SecondTotal: OrderedFieldValue>(
        with list: KeyPath<Record, List>, totals first: GroupTotal<List.ListedRow, First>,
        _ secondTotal: GroupTotal<List.ListedRow, SecondTotal>, orderedByTotals totalOrder: GroupOrder<List.ListedRow>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<List.ListedRow>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Plain, First, SecondTotal)] {
        try readWithTotals(
            Query(where: .once(condition), orderedBy: order, limit: limit), RelatedPlace(list), totalOrder, having, first,
            secondTotal)
    }

    /// Returns the values that meet a condition, each with totals of the rows in its list, also where there are none.
    @_documentation(visibility: private)
    public func read<List: ToManyValue, First, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue>(
        with list: KeyPath<Record, List>, totals first: GroupTotal<List.ListedRow, First>,
        _ secondTotal: GroupTotal<List.ListedRow, SecondTotal>, _ thirdTotal: GroupTotal<List.ListedRow, ThirdTotal>,
        orderedByTotals totalOrder: GroupOrder<List.ListedRow>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<List.ListedRow>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) throws -> [(Plain, First, SecondTotal, ThirdTotal)] {
        try readWithTotals(
            Query(where: .once(condition), orderedBy: order, limit: limit), RelatedPlace(list), totalOrder, having, first,
            secondTotal, thirdTotal)
    }

    /// Returns the values that meet a prepared condition, each with totals of the rows in its list, also where there are none; all
    @_documentation(visibility: private)
    public func read<List: ToManyValue, First, SecondTotal: OrderedFieldValue>(
        with list: KeyPath<Record, List>, totals first: GroupTotal<List.ListedRow, First>,
        _ secondTotal: GroupTotal<List.ListedRow, SecondTotal>, orderedByTotals totalOrder: GroupOrder<List.ListedRow>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<List.ListedRow>? = nil,
        where condition: Condition<Record> = .all
    ) throws -> [(Plain, First, SecondTotal)] {
        try readWithTotals(
            Query(where: condition, orderedBy: order, limit: limit), RelatedPlace(list), totalOrder, having, first,
            secondTotal)
    }

    /// Returns the values that meet a prepared condition, each with totals of the rows in its list, also where there are none; all
    @_documentation(visibility: private)
    public func read<List: ToManyValue, First, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue>(
        with list: KeyPath<Record, List>, totals first: GroupTotal<List.ListedRow, First>,
        _ secondTotal: GroupTotal<List.ListedRow, SecondTotal>, _ thirdTotal: GroupTotal<List.ListedRow, ThirdTotal>,
        orderedByTotals totalOrder: GroupOrder<List.ListedRow>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<List.ListedRow>? = nil,
        where condition: Condition<Record> = .all
    ) throws -> [(Plain, First, SecondTotal, ThirdTotal)] {
        try readWithTotals(
            Query(where: condition, orderedBy: order, limit: limit), RelatedPlace(list), totalOrder, having, first,
            secondTotal, thirdTotal)
    }

    /// Returns totals of the values that meet a condition, all from one read.
    @_documentation(visibility: private)
    public nonisolated(nonsending) func totals<First, SecondTotal: OrderedFieldValue>(
        _ first: GroupTotal<Record, First>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> (First, SecondTotal) {
        let condition = Condition<Record>.once(condition)
        return try await reading { try $0.allTotals(condition, first, secondTotal) }
    }

    /// Returns totals of the values that meet a condition, all from one read.
    @_documentation(visibility: private)
    public nonisolated(nonsending) func totals<First, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue>(
        _ first: GroupTotal<Record, First>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> (First, SecondTotal, ThirdTotal) {
        let condition = Condition<Record>.once(condition)
        return try await reading { try $0.allTotals(condition, first, secondTotal, thirdTotal) }
    }

    /// Returns totals of the values that meet a condition, all from one read.
    @_documentation(visibility: private)
    public nonisolated(nonsending) func totals<
        First, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue, FourthTotal: OrderedFieldValue
    >(
        _ first: GroupTotal<Record, First>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        _ thirdTotal: GroupTotal<Record, ThirdTotal>, _ fourthTotal: GroupTotal<Record, FourthTotal>,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> (First, SecondTotal, ThirdTotal, FourthTotal) {
        let condition = Condition<Record>.once(condition)
        return try await reading { try $0.allTotals(condition, first, secondTotal, thirdTotal, fourthTotal) }
    }

    /// Returns totals of the values that meet a prepared condition, all from one read.
    @_documentation(visibility: private)
    public func totals<First, SecondTotal: OrderedFieldValue>(
        _ first: GroupTotal<Record, First>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        where condition: Condition<Record> = .all
    ) async throws -> (First, SecondTotal) {
        try await reading { try $0.allTotals(condition, first, secondTotal) }
    }

    /// Returns totals of the values that meet a prepared condition, all from one read.
    @_documentation(visibility: private)
    public func totals<First, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue>(
        _ first: GroupTotal<Record, First>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        where condition: Condition<Record> = .all
    ) async throws -> (First, SecondTotal, ThirdTotal) {
        try await reading { try $0.allTotals(condition, first, secondTotal, thirdTotal) }
    }

    /// Returns totals of the values that meet a prepared condition, all from one read.
    @_documentation(visibility: private)
    public func totals<First, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue, FourthTotal: OrderedFieldValue>(
        _ first: GroupTotal<Record, First>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        _ thirdTotal: GroupTotal<Record, ThirdTotal>, _ fourthTotal: GroupTotal<Record, FourthTotal>,
        where condition: Condition<Record> = .all
    ) async throws -> (First, SecondTotal, ThirdTotal, FourthTotal) {
        try await reading { try $0.allTotals(condition, first, secondTotal, thirdTotal, fourthTotal) }
    }

    /// Returns totals of the values that meet a condition, for each value of a field.
    @_documentation(visibility: private)
    public nonisolated(nonsending) func groups<Value: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue>(
        by field: any KeyPath<Record, Value> & Sendable, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(Value, Total, SecondTotal)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try await reading { try $0.storage.groups(request, by: GroupKey(field), totals: total, secondTotal) }
    }

    /// Returns totals of the values that meet a condition, for each value of a field.
    @_documentation(visibility: private)
    public nonisolated(nonsending) func groups<
        Value: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue
    >(
        by field: any KeyPath<Record, Value> & Sendable, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(Value, Total, SecondTotal, ThirdTotal)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try await reading { try $0.storage.groups(request, by: GroupKey(field), totals: total, secondTotal, thirdTotal) }
    }

    /// Returns totals of the values that meet a prepared condition, for each value of a field.
    @_documentation(visibility: private)
    public func groups<Value: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue>(
        by field: any KeyPath<Record, Value> & Sendable, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) async throws -> [(Value, Total, SecondTotal)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try await reading { try $0.storage.groups(request, by: GroupKey(field), totals: total, secondTotal) }
    }

    /// Returns totals of the values that meet a prepared condition, for each value of a field.
    @_documentation(visibility: private)
    public func groups<Value: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue>(
        by field: any KeyPath<Record, Value> & Sendable, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) async throws -> [(Value, Total, SecondTotal, ThirdTotal)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try await reading { try $0.storage.groups(request, by: GroupKey(field), totals: total, secondTotal, thirdTotal) }
    }

    /// Returns totals of the values that meet a condition, for each combination of values of two fields.
    @_documentation(visibility: private)
    public nonisolated(nonsending) func groups<
        First: OrderedFieldValue, Second: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue
    >(
        by first: any KeyPath<Record, First> & Sendable, _ second: any KeyPath<Record, Second> & Sendable,
        totals total: GroupTotal<Record, Total>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil, having: GroupCondition<Record>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(First, Second, Total, SecondTotal)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try await reading {
            try $0.storage.groups(request, by: GroupKey(first), GroupKey(second), totals: total, secondTotal)
        }
    }

    /// Returns totals of the values that meet a condition, for each combination of values of two fields.
    @_documentation(visibility: private)
    public nonisolated(nonsending) func groups<
        First: OrderedFieldValue, Second: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue
    >(
        by first: any KeyPath<Record, First> & Sendable, _ second: any KeyPath<Record, Second> & Sendable,
        totals total: GroupTotal<Record, Total>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil, having: GroupCondition<Record>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(First, Second, Total, SecondTotal, ThirdTotal)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try await reading {
            try $0.storage.groups(request, by: GroupKey(first), GroupKey(second), totals: total, secondTotal, thirdTotal)
        }
    }

    /// Returns totals of the values that meet a prepared condition, for each combination of values of two fields.
    @_documentation(visibility: private)
    public func groups<First: OrderedFieldValue, Second: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue>(
        by first: any KeyPath<Record, First> & Sendable, _ second: any KeyPath<Record, Second> & Sendable,
        totals total: GroupTotal<Record, Total>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil, having: GroupCondition<Record>? = nil,
        where condition: Condition<Record> = .all
    ) async throws -> [(First, Second, Total, SecondTotal)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try await reading {
            try $0.storage.groups(request, by: GroupKey(first), GroupKey(second), totals: total, secondTotal)
        }
    }

    /// Returns totals of the values that meet a prepared condition, for each combination of values of two fields.
    @_documentation(visibility: private)
    public func groups<
        First: OrderedFieldValue, Second: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue
    >(
        by first: any KeyPath<Record, First> & Sendable, _ second: any KeyPath<Record, Second> & Sendable,
        totals total: GroupTotal<Record, Total>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil, having: GroupCondition<Record>? = nil,
        where condition: Condition<Record> = .all
    ) async throws -> [(First, Second, Total, SecondTotal, ThirdTotal)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try await reading {
            try $0.storage.groups(request, by: GroupKey(first), GroupKey(second), totals: total, secondTotal, thirdTotal)
        }
    }

    /// Returns totals of the values that meet a condition, for each day, month or year of a field.
    @_documentation(visibility: private)
    public nonisolated(nonsending) func groups<Part: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue>(
        per part: DatePart<Record, Part>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(Part, Total, SecondTotal)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try await reading { try $0.storage.groups(request, by: part.key, totals: total, secondTotal) }
    }

    /// Returns totals of the values that meet a condition, for each day, month or year of a field.
    @_documentation(visibility: private)
    public nonisolated(nonsending) func groups<
        Part: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue
    >(
        per part: DatePart<Record, Part>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(Part, Total, SecondTotal, ThirdTotal)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try await reading { try $0.storage.groups(request, by: part.key, totals: total, secondTotal, thirdTotal) }
    }

    /// Returns totals of the values that meet a prepared condition, for each day, month or year of a field.
    @_documentation(visibility: private)
    public func groups<Part: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue>(
        per part: DatePart<Record, Part>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) async throws -> [(Part, Total, SecondTotal)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try await reading { try $0.storage.groups(request, by: part.key, totals: total, secondTotal) }
    }

    /// Returns totals of the values that meet a prepared condition, for each day, month or year of a field.
    @_documentation(visibility: private)
    public func groups<Part: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue>(
        per part: DatePart<Record, Part>, totals total: GroupTotal<Record, Total>,
        _ secondTotal: GroupTotal<Record, SecondTotal>, _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) async throws -> [(Part, Total, SecondTotal, ThirdTotal)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try await reading { try $0.storage.groups(request, by: part.key, totals: total, secondTotal, thirdTotal) }
    }

    /// Returns totals of the values that meet a condition, for each day, month or year of a field and each value of another field.
    @_documentation(visibility: private)
    public nonisolated(nonsending) func groups<
        Part: OrderedFieldValue, First: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue
    >(
        per part: DatePart<Record, Part>, by first: any KeyPath<Record, First> & Sendable,
        totals total: GroupTotal<Record, Total>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil, having: GroupCondition<Record>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(Part, First, Total, SecondTotal)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try await reading {
            try $0.storage.groups(request, by: part.key, GroupKey(first), totals: total, secondTotal)
        }
    }

    /// Returns totals of the values that meet a condition, for each day, month or year of a field and each value of another field.
    @_documentation(visibility: private)
    public nonisolated(nonsending) func groups<
        Part: OrderedFieldValue, First: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue
    >(
        per part: DatePart<Record, Part>, by first: any KeyPath<Record, First> & Sendable,
        totals total: GroupTotal<Record, Total>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil, having: GroupCondition<Record>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(Part, First, Total, SecondTotal, ThirdTotal)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try await reading {
            try $0.storage.groups(request, by: part.key, GroupKey(first), totals: total, secondTotal, thirdTotal)
        }
    }

    /// Returns totals of the values that meet a prepared condition, for each day, month or year of a field and each value of another field.
    @_documentation(visibility: private)
    public func groups<Part: OrderedFieldValue, First: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue>(
        per part: DatePart<Record, Part>, by first: any KeyPath<Record, First> & Sendable,
        totals total: GroupTotal<Record, Total>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil, having: GroupCondition<Record>? = nil,
        where condition: Condition<Record> = .all
    ) async throws -> [(Part, First, Total, SecondTotal)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try await reading {
            try $0.storage.groups(request, by: part.key, GroupKey(first), totals: total, secondTotal)
        }
    }

    /// Returns totals of the values that meet a prepared condition, for each day, month or year of a field and each value of another field.
    @_documentation(visibility: private)
    public func groups<
        Part: OrderedFieldValue, First: OrderedFieldValue, Total, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue
    >(
        per part: DatePart<Record, Part>, by first: any KeyPath<Record, First> & Sendable,
        totals total: GroupTotal<Record, Total>, _ secondTotal: GroupTotal<Record, SecondTotal>,
        _ thirdTotal: GroupTotal<Record, ThirdTotal>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil, having: GroupCondition<Record>? = nil,
        where condition: Condition<Record> = .all
    ) async throws -> [(Part, First, Total, SecondTotal, ThirdTotal)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try await reading {
            try $0.storage.groups(request, by: part.key, GroupKey(first), totals: total, secondTotal, thirdTotal)
        }
    }

    /// Returns the values that meet a condition, each with totals of the rows that refer to it.
    @_documentation(visibility: private)
    public nonisolated(nonsending) func read<Source: Model, First, SecondTotal: OrderedFieldValue>(
        with inverse: Inverse<Record, Source>, totals first: GroupTotal<Source, First>,
        _ secondTotal: GroupTotal<Source, SecondTotal>, orderedByTotals totalOrder: GroupOrder<Source>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<Source>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(Plain, First, SecondTotal)] {
        let query = Query(where: .once(condition), orderedBy: order, limit: limit)
        let place = RelatedPlace(inverse)
        return try await reading {
            try $0.readWithTotals(query, place, totalOrder, having, first, secondTotal)
        }
    }

    /// Returns the values that meet a condition, each with totals of the rows that refer to it.
    @_documentation(visibility: private)
    public nonisolated(nonsending) func read<Source: Model, First, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue>(
        with inverse: Inverse<Record, Source>, totals first: GroupTotal<Source, First>,
        _ secondTotal: GroupTotal<Source, SecondTotal>, _ thirdTotal: GroupTotal<Source, ThirdTotal>,
        orderedByTotals totalOrder: GroupOrder<Source>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<Source>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(Plain, First, SecondTotal, ThirdTotal)] {
        let query = Query(where: .once(condition), orderedBy: order, limit: limit)
        let place = RelatedPlace(inverse)
        return try await reading {
            try $0.readWithTotals(query, place, totalOrder, having, first, secondTotal, thirdTotal)
        }
    }

    /// Returns the values that meet a prepared condition, each with totals of the rows that refer to it.
    @_documentation(visibility: private)
    public func read<Source: Model, First, SecondTotal: OrderedFieldValue>(
        with inverse: Inverse<Record, Source>, totals first: GroupTotal<Source, First>,
        _ secondTotal: GroupTotal<Source, SecondTotal>, orderedByTotals totalOrder: GroupOrder<Source>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<Source>? = nil,
        where condition: Condition<Record> = .all
    ) async throws -> [(Plain, First, SecondTotal)] {
        let query = Query(where: condition, orderedBy: order, limit: limit)
        let place = RelatedPlace(inverse)
        return try await reading {
            try $0.readWithTotals(query, place, totalOrder, having, first, secondTotal)
        }
    }

    /// Returns the values that meet a prepared condition, each with totals of the rows that refer to it.
    @_documentation(visibility: private)
    public func read<Source: Model, First, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue>(
        with inverse: Inverse<Record, Source>, totals first: GroupTotal<Source, First>,
        _ secondTotal: GroupTotal<Source, SecondTotal>, _ thirdTotal: GroupTotal<Source, ThirdTotal>,
        orderedByTotals totalOrder: GroupOrder<Source>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<Source>? = nil,
        where condition: Condition<Record> = .all
    ) async throws -> [(Plain, First, SecondTotal, ThirdTotal)] {
        let query = Query(where: condition, orderedBy: order, limit: limit)
        let place = RelatedPlace(inverse)
        return try await reading {
            try $0.readWithTotals(query, place, totalOrder, having, first, secondTotal, thirdTotal)
        }
    }

    /// Returns the values that meet a condition, each with totals of the rows in its list.
    @_documentation(visibility: private)
    public nonisolated(nonsending) func read<List: ToManyValue, First, SecondTotal: OrderedFieldValue>(
        with list: any KeyPath<Record, List> & Sendable, totals first: GroupTotal<List.ListedRow, First>,
        _ secondTotal: GroupTotal<List.ListedRow, SecondTotal>, orderedByTotals totalOrder: GroupOrder<List.ListedRow>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<List.ListedRow>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(Plain, First, SecondTotal)] {
        let query = Query(where: .once(condition), orderedBy: order, limit: limit)
        let place = RelatedPlace<Record, List.ListedRow>(list)
        return try await reading {
            try $0.readWithTotals(query, place, totalOrder, having, first, secondTotal)
        }
    }

    /// Returns the values that meet a condition, each with totals of the rows in its list.
    @_documentation(visibility: private)
    public nonisolated(nonsending) func read<
        List: ToManyValue, First, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue
    >(
        with list: any KeyPath<Record, List> & Sendable, totals first: GroupTotal<List.ListedRow, First>,
        _ secondTotal: GroupTotal<List.ListedRow, SecondTotal>, _ thirdTotal: GroupTotal<List.ListedRow, ThirdTotal>,
        orderedByTotals totalOrder: GroupOrder<List.ListedRow>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<List.ListedRow>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(Plain, First, SecondTotal, ThirdTotal)] {
        let query = Query(where: .once(condition), orderedBy: order, limit: limit)
        let place = RelatedPlace<Record, List.ListedRow>(list)
        return try await reading {
            try $0.readWithTotals(query, place, totalOrder, having, first, secondTotal, thirdTotal)
        }
    }

    /// Returns the values that meet a prepared condition, each with totals of the rows in its list.
    @_documentation(visibility: private)
    public func read<List: ToManyValue, First, SecondTotal: OrderedFieldValue>(
        with list: any KeyPath<Record, List> & Sendable, totals first: GroupTotal<List.ListedRow, First>,
        _ secondTotal: GroupTotal<List.ListedRow, SecondTotal>, orderedByTotals totalOrder: GroupOrder<List.ListedRow>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<List.ListedRow>? = nil,
        where condition: Condition<Record> = .all
    ) async throws -> [(Plain, First, SecondTotal)] {
        let query = Query(where: condition, orderedBy: order, limit: limit)
        let place = RelatedPlace<Record, List.ListedRow>(list)
        return try await reading {
            try $0.readWithTotals(query, place, totalOrder, having, first, secondTotal)
        }
    }

    /// Returns the values that meet a prepared condition, each with totals of the rows in its list.
    @_documentation(visibility: private)
    public func read<List: ToManyValue, First, SecondTotal: OrderedFieldValue, ThirdTotal: OrderedFieldValue>(
        with list: any KeyPath<Record, List> & Sendable, totals first: GroupTotal<List.ListedRow, First>,
        _ secondTotal: GroupTotal<List.ListedRow, SecondTotal>, _ thirdTotal: GroupTotal<List.ListedRow, ThirdTotal>,
        orderedByTotals totalOrder: GroupOrder<List.ListedRow>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<List.ListedRow>? = nil,
        where condition: Condition<Record> = .all
    ) async throws -> [(Plain, First, SecondTotal, ThirdTotal)] {
        let query = Query(where: condition, orderedBy: order, limit: limit)
        let place = RelatedPlace<Record, List.ListedRow>(list)
        return try await reading {
            try $0.readWithTotals(query, place, totalOrder, having, first, secondTotal, thirdTotal)
        }
    }
}
