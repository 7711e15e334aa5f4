// The asynchronous methods have the same names and meanings as the synchronous methods. They run on the
// threads of the database, so they do not block the thread of the calling task. A task that is cancelled
// before its work begins throws `CancellationError` and changes nothing.
//
// The methods with a condition make the condition in the isolation of the caller. The closure can therefore
// use the state of an actor, such as the main actor.

extension DAO {
    /// Runs reads on a reader thread of the database. A closure can make several calls, such as
    /// `try $0.forEach { … }`; each call reads the last commit, unless they are in a `snapshot`.
    ///
    /// - Throws: Any error of the closure, unchanged; `CancellationError`.
    public func reading<Result: Sendable>(_ body: @escaping @Sendable (DAO) throws -> Result) async throws -> Result {
        try await storage.reading { _ in try body(self) }
    }

    /// Runs writes on the writer thread of the database. A closure can make several calls; each call is atomic,
    /// all of them together are atomic in a `transaction`.
    ///
    /// - Throws: Any error of the closure, unchanged; `CancellationError`.
    public func writing<Result: Sendable>(_ body: @escaping @Sendable (DAO) throws -> Result) async throws -> Result {
        try await storage.writing { _ in try body(self) }
    }

    /// Runs a single atomic call that writes.
    ///
    /// - Parameters:
    ///   - isOwn: Whether it runs no code of the application, neither a closure nor a translator.
    ///   - body: The call.
    private func writingOnce<Result: Sendable>(
        isOwn: Bool = false, _ body: @escaping @Sendable (DAO) throws -> Result
    ) async throws -> Result {
        try await storage.database.writeOnce(mayRunAgain: isOwn) { try body(self) }
    }

    /// Whether values are models, so that storing them runs no translator of the application.
    private var storesModels: Bool { translator is any OwnTranslator }

    // MARK: Read

    /// Returns the values that meet a condition, in an order.
    public nonisolated(nonsending) func read(
        orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [Plain] {
        try await read(Query(where: .once(condition), orderedBy: order, limit: limit, offset: offset))
    }

    /// Returns the values that meet a prepared condition, in an order; all values without a condition.
    public func read(
        orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0, where condition: Condition<Record> = .all
    ) async throws -> [Plain] {
        try await read(Query(where: condition, orderedBy: order, limit: limit, offset: offset))
    }

    /// Returns the values of a query, in its order.
    public func read(_ query: Query<Record>) async throws -> [Plain] { try await reading { try $0.read(query) } }

    /// Returns the values that refer to each of some rows and meet a condition.
    public nonisolated(nonsending) func read<Target: Model>(
        _ inverse: Inverse<Target, Record>, of keys: [some UniqueIDConvertible & Sendable], orderedBy order: Sort<Record>...,
        first: Int? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [[Plain]] {
        let query = Query(where: .once(condition), orderedBy: order, limit: first)
        return try await reading { try $0.read(inverse, of: keys, query) }
    }

    /// Returns the values that refer to each of some rows and meet a prepared condition; all of them without a condition.
    public func read<Target: Model>(
        _ inverse: Inverse<Target, Record>, of keys: [some UniqueIDConvertible & Sendable], orderedBy order: Sort<Record>...,
        first: Int? = nil, where condition: Condition<Record> = .all
    ) async throws -> [[Plain]] {
        let query = Query(where: condition, orderedBy: order, limit: first)
        return try await reading { try $0.read(inverse, of: keys, query) }
    }

    /// Returns the first value that meets a condition; nil when there is none.
    public nonisolated(nonsending) func first(
        orderedBy order: Sort<Record>..., where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> Plain? {
        try await read(Query(where: .once(condition), orderedBy: order, limit: 1)).first
    }

    /// Returns the first value that meets a prepared condition; nil when there is none.
    public func first(orderedBy order: Sort<Record>..., where condition: Condition<Record> = .all) async throws -> Plain? {
        try await read(Query(where: condition, orderedBy: order, limit: 1)).first
    }

    /// Returns the values that meet a predicate, in key order.
    public func read(predicatedBy predicate: Condition<Record>) async throws -> [Plain] {
        try await read(Query(where: predicate))
    }

    /// Returns all values in the order of a field.
    public func read(orderedBy field: String, ascending: Bool) async throws -> [Plain] {
        try await read(Query(orderedBy: [.by(field, ascending: ascending)]))
    }

    /// Returns the values that meet a predicate, in the order of a field.
    public func read(
        predicatedBy predicate: Condition<Record>, orderedBy field: String, ascending: Bool
    ) async throws -> [Plain] {
        try await read(Query(where: predicate, orderedBy: [.by(field, ascending: ascending)]))
    }

    /// Returns the value with a key; nil when the key is not stored.
    public func read(byPrimaryKey id: any UniqueIDConvertible) async throws -> Plain? {
        try await reading { try $0.read(byPrimaryKey: id) }
    }

    /// Returns the values with the given keys, in the given order, each key once. Keys that are not stored
    /// are skipped.
    public func read(byPrimaryKeys ids: [some UniqueIDConvertible]) async throws -> [Plain] {
        try await reading { try $0.read(byPrimaryKeys: ids) }
    }

    /// Returns the values with the keys of a set, in the order of the keys. Keys that are not stored are skipped.
    public func read(byPrimaryKeys ids: Set<some UniqueIDConvertible>) async throws -> [Plain] {
        try await reading { try $0.read(byPrimaryKeys: ids) }
    }

    /// Returns a page of the values that meet a condition, in an order.
    public nonisolated(nonsending) func page(
        orderedBy order: Sort<Record>..., limit: Int, after: PageCursor? = nil, withTotal: Bool = false,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> Page<Plain> {
        try await page(Query(where: .once(condition), orderedBy: order, after: after), limit: limit, withTotal: withTotal)
    }

    /// Returns a page of the values that meet a prepared condition, in an order.
    public func page(
        orderedBy order: Sort<Record>..., limit: Int, after: PageCursor? = nil, withTotal: Bool = false,
        where condition: Condition<Record> = .all
    ) async throws -> Page<Plain> {
        try await page(Query(where: condition, orderedBy: order, after: after), limit: limit, withTotal: withTotal)
    }

    /// Returns a page of a query.
    public func page(_ query: Query<Record>, limit: Int, withTotal: Bool = false) async throws -> Page<Plain> {
        try await reading { try $0.page(query, limit: limit, withTotal: withTotal) }
    }

    /// Returns the number of values that meet a condition.
    public nonisolated(nonsending) func count(
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> Int {
        try await count(Query(where: .once(condition)))
    }

    /// Returns the number of values that meet a prepared condition; of all values without a condition.
    public func count(where condition: Condition<Record> = .all) async throws -> Int {
        try await count(Query(where: condition))
    }

    /// Returns the number of values of a query.
    public func count(_ query: Query<Record>) async throws -> Int { try await reading { try $0.count(query) } }

    /// Returns the number of values that meet a predicate.
    public func count(predicatedBy predicate: Condition<Record>) async throws -> Int { try await count(Query(where: predicate)) }

    /// Returns whether any value meets a condition.
    public nonisolated(nonsending) func exists(
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> Bool {
        try await exists(where: .once(condition))
    }

    /// Returns whether any value meets a prepared condition.
    public func exists(where condition: Condition<Record>) async throws -> Bool {
        try await reading { try $0.exists(where: condition) }
    }

    /// Returns whether a key is stored.
    public func exists(byPrimaryKey id: any UniqueIDConvertible) async throws -> Bool {
        try await reading { try $0.exists(byPrimaryKey: id) }
    }

    /// Calls a closure with each value of a query, in its order. All reads use one snapshot.
    ///
    /// The closure runs on a reader thread of the database. A loop over ``stream(_:endsAtPinnedLimit:)`` runs in the calling
    /// task.
    public func forEach(
        _ query: Query<Record> = Query(), _ body: @escaping @Sendable (Plain) throws -> Void
    ) async throws {
        try await reading { try $0.forEach(query, body) }
    }

    /// Returns a field of the values that meet a condition, in an order.
    public nonisolated(nonsending) func read<Value: FieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable,
        orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [Value] {
        let query = Query(where: .once(condition), orderedBy: order, limit: limit, offset: offset)
        return try await reading { try $0.readFields(of: query, field) }
    }

    /// Returns a field of the values that meet a prepared condition, in an order.
    public func read<Value: FieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable,
        orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0,
        where condition: Condition<Record> = .all
    ) async throws -> [Value] {
        let query = Query(where: condition, orderedBy: order, limit: limit, offset: offset)
        return try await reading { try $0.readFields(of: query, field) }
    }

    /// Returns some fields of the values that meet a condition, in an order.
    public nonisolated(nonsending) func read<First: FieldValue, Second: FieldValue, each Other: FieldValue>(
        _ first: any KeyPath<Record, First> & Sendable, _ second: any KeyPath<Record, Second> & Sendable,
        _ others: repeat any KeyPath<Record, each Other> & Sendable,
        orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(First, Second, repeat each Other)] {
        let query = Query(where: .once(condition), orderedBy: order, limit: limit, offset: offset)
        return try await reading { try $0.readFields(of: query, first, second, repeat each others) }
    }

    /// Returns some fields of the values that meet a prepared condition, in an order.
    public func read<First: FieldValue, Second: FieldValue, each Other: FieldValue>(
        _ first: any KeyPath<Record, First> & Sendable, _ second: any KeyPath<Record, Second> & Sendable,
        _ others: repeat any KeyPath<Record, each Other> & Sendable,
        orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0,
        where condition: Condition<Record> = .all
    ) async throws -> [(First, Second, repeat each Other)] {
        let query = Query(where: condition, orderedBy: order, limit: limit, offset: offset)
        return try await reading { try $0.readFields(of: query, first, second, repeat each others) }
    }

    /// Returns some fields of the values that meet a condition, and of the rows that they lead to, in an order.
    public nonisolated(nonsending) func read<each Value: FieldValue>(
        fields: (FieldProxy<Record>) -> (repeat FieldExpression<Record, each Value>), orderedBy order: Sort<Record>...,
        limit: Int? = nil, offset: Int = 0, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(repeat each Value)] {
        let query = Query(where: .once(condition), orderedBy: order, limit: limit, offset: offset)
        let fields = fields(FieldProxy())
        return try await reading { try $0.readFields(query, repeat each fields) }
    }

    /// Returns some fields of the values that meet a prepared condition, and of the rows that they lead to, in an order.
    public func read<each Value: FieldValue>(
        fields: (FieldProxy<Record>) -> (repeat FieldExpression<Record, each Value>), orderedBy order: Sort<Record>...,
        limit: Int? = nil, offset: Int = 0, where condition: Condition<Record>
    ) async throws -> [(repeat each Value)] {
        let query = Query(where: condition, orderedBy: order, limit: limit, offset: offset)
        let fields = fields(FieldProxy())
        return try await reading { try $0.readFields(query, repeat each fields) }
    }

    /// Returns two fields of all values, and of the rows that they lead to, in an order.
    public nonisolated(nonsending) func read<First: FieldValue, Second: FieldValue>(
        fields: (FieldProxy<Record>) -> (
            FieldExpression<Record, First>, FieldExpression<Record, Second>
        ), orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0
    ) async throws -> [(First, Second)] {
        let query = Query(orderedBy: order, limit: limit, offset: offset)
        let (first, second) = fields(FieldProxy())
        return try await reading { try $0.readFields(query, first, second) }
    }

    /// Returns three fields of all values, and of the rows that they lead to, in an order.
    public nonisolated(nonsending) func read<First: FieldValue, Second: FieldValue, Third: FieldValue>(
        fields: (FieldProxy<Record>) -> (
            FieldExpression<Record, First>, FieldExpression<Record, Second>, FieldExpression<Record, Third>
        ), orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0
    ) async throws -> [(First, Second, Third)] {
        let query = Query(orderedBy: order, limit: limit, offset: offset)
        let (first, second, third) = fields(FieldProxy())
        return try await reading { try $0.readFields(query, first, second, third) }
    }

    /// Returns four fields of all values, and of the rows that they lead to, in an order.
    public nonisolated(nonsending) func read<First: FieldValue, Second: FieldValue, Third: FieldValue, Fourth: FieldValue>(
        fields: (FieldProxy<Record>) -> (
            FieldExpression<Record, First>, FieldExpression<Record, Second>, FieldExpression<Record, Third>,
            FieldExpression<Record, Fourth>
        ), orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0
    ) async throws -> [(First, Second, Third, Fourth)] {
        let query = Query(orderedBy: order, limit: limit, offset: offset)
        let (first, second, third, fourth) = fields(FieldProxy())
        return try await reading { try $0.readFields(query, first, second, third, fourth) }
    }

    /// Returns the different values of a field among the values that meet a condition, once each.
    public nonisolated(nonsending) func distinct<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [Value] {
        let condition = Condition<Record>.once(condition)
        return try await reading { try $0.distinctFields(condition, field) }
    }

    /// Returns the different values of a field among the values that meet a prepared condition, once each.
    public func distinct<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable,
        where condition: Condition<Record> = .all
    ) async throws -> [Value] {
        try await reading { try $0.distinctFields(condition, field) }
    }

    /// Returns the different combinations of some fields among the values that meet a condition, once each.
    public nonisolated(nonsending) func distinct<
        First: OrderedFieldValue, Second: OrderedFieldValue, each Other: OrderedFieldValue
    >(
        _ first: any KeyPath<Record, First> & Sendable, _ second: any KeyPath<Record, Second> & Sendable,
        _ others: repeat any KeyPath<Record, each Other> & Sendable,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(First, Second, repeat each Other)] {
        let condition = Condition<Record>.once(condition)
        return try await reading { try $0.distinctFields(condition, first, second, repeat each others) }
    }

    /// Returns the different combinations of some fields among the values that meet a prepared condition, once each.
    public func distinct<First: OrderedFieldValue, Second: OrderedFieldValue, each Other: OrderedFieldValue>(
        _ first: any KeyPath<Record, First> & Sendable, _ second: any KeyPath<Record, Second> & Sendable,
        _ others: repeat any KeyPath<Record, each Other> & Sendable,
        where condition: Condition<Record> = .all
    ) async throws -> [(First, Second, repeat each Other)] {
        try await reading { try $0.distinctFields(condition, first, second, repeat each others) }
    }

    // MARK: Totals

    /// Returns totals of the values that meet a condition, all from one read.
    @_disfavoredOverload
    public nonisolated(nonsending) func totals<First, each Other>(
        _ first: GroupTotal<Record, First>, _ others: repeat GroupTotal<Record, each Other>,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> (First, repeat each Other) {
        let condition = Condition<Record>.once(condition)
        return try await reading { try $0.allTotals(condition, first, repeat each others) }
    }

    /// Returns totals of the values that meet a prepared condition, all from one read.
    @_disfavoredOverload
    public func totals<First, each Other>(
        _ first: GroupTotal<Record, First>, _ others: repeat GroupTotal<Record, each Other>,
        where condition: Condition<Record> = .all
    ) async throws -> (First, repeat each Other) {
        try await reading { try $0.allTotals(condition, first, repeat each others) }
    }

    /// Returns totals of the values that meet a condition, for each value of a field.
    @_disfavoredOverload
    public nonisolated(nonsending) func groups<Value: OrderedFieldValue, Total, each Other>(
        by field: any KeyPath<Record, Value> & Sendable, totals total: GroupTotal<Record, Total>,
        _ others: repeat GroupTotal<Record, each Other>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(Value, Total, repeat each Other)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try await reading { try $0.storage.groups(request, by: GroupKey(field), totals: total, repeat each others) }
    }

    /// Returns totals of the values that meet a prepared condition, for each value of a field.
    @_disfavoredOverload
    public func groups<Value: OrderedFieldValue, Total, each Other>(
        by field: any KeyPath<Record, Value> & Sendable, totals total: GroupTotal<Record, Total>,
        _ others: repeat GroupTotal<Record, each Other>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) async throws -> [(Value, Total, repeat each Other)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try await reading { try $0.storage.groups(request, by: GroupKey(field), totals: total, repeat each others) }
    }

    /// Returns totals of the values that meet a condition, for each combination of values of two fields.
    @_disfavoredOverload
    public nonisolated(nonsending) func groups<First: OrderedFieldValue, Second: OrderedFieldValue, Total, each Other>(
        by first: any KeyPath<Record, First> & Sendable, _ second: any KeyPath<Record, Second> & Sendable,
        totals total: GroupTotal<Record, Total>, _ others: repeat GroupTotal<Record, each Other>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil, having: GroupCondition<Record>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(First, Second, Total, repeat each Other)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try await reading {
            try $0.storage.groups(request, by: GroupKey(first), GroupKey(second), totals: total, repeat each others)
        }
    }

    /// Returns totals of the values that meet a prepared condition, for each combination of values of two fields.
    @_disfavoredOverload
    public func groups<First: OrderedFieldValue, Second: OrderedFieldValue, Total, each Other>(
        by first: any KeyPath<Record, First> & Sendable, _ second: any KeyPath<Record, Second> & Sendable,
        totals total: GroupTotal<Record, Total>, _ others: repeat GroupTotal<Record, each Other>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil, having: GroupCondition<Record>? = nil,
        where condition: Condition<Record> = .all
    ) async throws -> [(First, Second, Total, repeat each Other)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try await reading {
            try $0.storage.groups(request, by: GroupKey(first), GroupKey(second), totals: total, repeat each others)
        }
    }

    /// Returns totals of the values that meet a condition, for each combination of values of three or more fields.
    @_disfavoredOverload
    public nonisolated(nonsending) func groups<
        First: OrderedFieldValue, Second: OrderedFieldValue, Third: OrderedFieldValue, each Further: OrderedFieldValue, Total,
        each Other
    >(
        by first: any KeyPath<Record, First> & Sendable, _ second: any KeyPath<Record, Second> & Sendable,
        _ third: any KeyPath<Record, Third> & Sendable, _ further: repeat any KeyPath<Record, each Further> & Sendable,
        totals total: GroupTotal<Record, Total>, _ others: repeat GroupTotal<Record, each Other>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil, having: GroupCondition<Record>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(First, Second, Third, repeat each Further, Total, repeat each Other)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try await reading {
            try $0.storage.groups(
                request, by: GroupKey(first), GroupKey(second), GroupKey(third), repeat GroupKey(each further), totals: total,
                repeat each others)
        }
    }

    /// Returns totals of the values that meet a prepared condition, for each combination of values of three or more fields.
    @_disfavoredOverload
    public func groups<
        First: OrderedFieldValue, Second: OrderedFieldValue, Third: OrderedFieldValue, each Further: OrderedFieldValue, Total,
        each Other
    >(
        by first: any KeyPath<Record, First> & Sendable, _ second: any KeyPath<Record, Second> & Sendable,
        _ third: any KeyPath<Record, Third> & Sendable, _ further: repeat any KeyPath<Record, each Further> & Sendable,
        totals total: GroupTotal<Record, Total>, _ others: repeat GroupTotal<Record, each Other>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil, having: GroupCondition<Record>? = nil,
        where condition: Condition<Record> = .all
    ) async throws -> [(First, Second, Third, repeat each Further, Total, repeat each Other)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try await reading {
            try $0.storage.groups(
                request, by: GroupKey(first), GroupKey(second), GroupKey(third), repeat GroupKey(each further), totals: total,
                repeat each others)
        }
    }

    /// Returns totals of the values that meet a condition, for each day, month or year of a field.
    @_disfavoredOverload
    public nonisolated(nonsending) func groups<Part: OrderedFieldValue, Total, each Other>(
        per part: DatePart<Record, Part>, totals total: GroupTotal<Record, Total>,
        _ others: repeat GroupTotal<Record, each Other>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(Part, Total, repeat each Other)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try await reading { try $0.storage.groups(request, by: part.key, totals: total, repeat each others) }
    }

    /// Returns totals of the values that meet a prepared condition, for each day, month or year of a field.
    @_disfavoredOverload
    public func groups<Part: OrderedFieldValue, Total, each Other>(
        per part: DatePart<Record, Part>, totals total: GroupTotal<Record, Total>,
        _ others: repeat GroupTotal<Record, each Other>, orderedBy order: GroupOrder<Record>..., limit: Int? = nil,
        having: GroupCondition<Record>? = nil, where condition: Condition<Record> = .all
    ) async throws -> [(Part, Total, repeat each Other)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try await reading { try $0.storage.groups(request, by: part.key, totals: total, repeat each others) }
    }

    /// Returns totals of the values that meet a condition, for each day, month or year of a field and each value of another field.
    @_disfavoredOverload
    public nonisolated(nonsending) func groups<Part: OrderedFieldValue, First: OrderedFieldValue, Total, each Other>(
        per part: DatePart<Record, Part>, by first: any KeyPath<Record, First> & Sendable,
        totals total: GroupTotal<Record, Total>, _ others: repeat GroupTotal<Record, each Other>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil, having: GroupCondition<Record>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(Part, First, Total, repeat each Other)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try await reading {
            try $0.storage.groups(request, by: part.key, GroupKey(first), totals: total, repeat each others)
        }
    }

    /// Returns totals of the values that meet a prepared condition, for each day, month or year of a field and each value of another field.
    @_disfavoredOverload
    public func groups<Part: OrderedFieldValue, First: OrderedFieldValue, Total, each Other>(
        per part: DatePart<Record, Part>, by first: any KeyPath<Record, First> & Sendable,
        totals total: GroupTotal<Record, Total>, _ others: repeat GroupTotal<Record, each Other>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil, having: GroupCondition<Record>? = nil,
        where condition: Condition<Record> = .all
    ) async throws -> [(Part, First, Total, repeat each Other)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try await reading {
            try $0.storage.groups(request, by: part.key, GroupKey(first), totals: total, repeat each others)
        }
    }

    /// Returns totals of the values that meet a condition, for each day, month or year of a field and each combination of values of other fields.
    @_disfavoredOverload
    public nonisolated(nonsending) func groups<
        Part: OrderedFieldValue, First: OrderedFieldValue, Second: OrderedFieldValue, each Further: OrderedFieldValue, Total,
        each Other
    >(
        per part: DatePart<Record, Part>, by first: any KeyPath<Record, First> & Sendable,
        _ second: any KeyPath<Record, Second> & Sendable, _ further: repeat any KeyPath<Record, each Further> & Sendable,
        totals total: GroupTotal<Record, Total>, _ others: repeat GroupTotal<Record, each Other>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil, having: GroupCondition<Record>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(Part, First, Second, repeat each Further, Total, repeat each Other)] {
        let request = GroupRequest(.once(condition), order: order, limit: limit, having: having)
        return try await reading {
            try $0.storage.groups(
                request, by: part.key, GroupKey(first), GroupKey(second), repeat GroupKey(each further), totals: total,
                repeat each others)
        }
    }

    /// Returns totals of the values that meet a prepared condition, for each day, month or year of a field and each combination of values of other fields.
    @_disfavoredOverload
    public func groups<
        Part: OrderedFieldValue, First: OrderedFieldValue, Second: OrderedFieldValue, each Further: OrderedFieldValue, Total,
        each Other
    >(
        per part: DatePart<Record, Part>, by first: any KeyPath<Record, First> & Sendable,
        _ second: any KeyPath<Record, Second> & Sendable, _ further: repeat any KeyPath<Record, each Further> & Sendable,
        totals total: GroupTotal<Record, Total>, _ others: repeat GroupTotal<Record, each Other>,
        orderedBy order: GroupOrder<Record>..., limit: Int? = nil, having: GroupCondition<Record>? = nil,
        where condition: Condition<Record> = .all
    ) async throws -> [(Part, First, Second, repeat each Further, Total, repeat each Other)] {
        let request = GroupRequest(condition, order: order, limit: limit, having: having)
        return try await reading {
            try $0.storage.groups(
                request, by: part.key, GroupKey(first), GroupKey(second), repeat GroupKey(each further), totals: total,
                repeat each others)
        }
    }

    /// Returns the first values of each group of those that meet a condition and have the same value of a field.
    public nonisolated(nonsending) func groups<Value: OrderedFieldValue>(
        by field: any KeyPath<Record, Value> & Sendable, first count: Int, orderedBy order: Sort<Record>...,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(Value, [Plain])] {
        let query = Query(where: .once(condition), orderedBy: order, limit: count)
        return try await reading { try $0.firstOfGroups(query, by: field) }
    }

    /// Returns the first values of each group of those that meet a condition and have the same values of some fields.
    public nonisolated(nonsending) func groups<
        Value: OrderedFieldValue, Second: OrderedFieldValue, each Further: OrderedFieldValue
    >(
        by field: any KeyPath<Record, Value> & Sendable, _ second: any KeyPath<Record, Second> & Sendable,
        _ further: repeat any KeyPath<Record, each Further> & Sendable, first count: Int, orderedBy order: Sort<Record>...,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(Value, Second, repeat each Further, [Plain])] {
        let query = Query(where: .once(condition), orderedBy: order, limit: count)
        return try await reading { try $0.firstOfGroups(query, by: field, second, repeat each further) }
    }

    /// Returns the first values of each group of those that meet a prepared condition and have the same value of a field.
    public func groups<Value: OrderedFieldValue>(
        by field: any KeyPath<Record, Value> & Sendable, first count: Int, orderedBy order: Sort<Record>...,
        where condition: Condition<Record> = .all
    ) async throws -> [(Value, [Plain])] {
        let query = Query(where: condition, orderedBy: order, limit: count)
        return try await reading { try $0.firstOfGroups(query, by: field) }
    }

    /// Returns the first values of each group of those that meet a prepared condition and have the same values of some fields.
    public func groups<Value: OrderedFieldValue, Second: OrderedFieldValue, each Further: OrderedFieldValue>(
        by field: any KeyPath<Record, Value> & Sendable, _ second: any KeyPath<Record, Second> & Sendable,
        _ further: repeat any KeyPath<Record, each Further> & Sendable, first count: Int, orderedBy order: Sort<Record>...,
        where condition: Condition<Record> = .all
    ) async throws -> [(Value, Second, repeat each Further, [Plain])] {
        let query = Query(where: condition, orderedBy: order, limit: count)
        return try await reading { try $0.firstOfGroups(query, by: field, second, repeat each further) }
    }

    /// Returns the values that meet a condition, each with totals of the rows that refer to it.
    @_disfavoredOverload
    public nonisolated(nonsending) func read<Source: Model, First, each Other>(
        with inverse: Inverse<Record, Source>, totals first: GroupTotal<Source, First>,
        _ others: repeat GroupTotal<Source, each Other>, orderedByTotals totalOrder: GroupOrder<Source>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<Source>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(Plain, First, repeat each Other)] {
        let query = Query(where: .once(condition), orderedBy: order, limit: limit)
        let place = RelatedPlace(inverse)
        return try await reading {
            try $0.readWithTotals(query, place, totalOrder, having, first, repeat each others)
        }
    }

    /// Returns the values that meet a prepared condition, each with totals of the rows that refer to it.
    @_disfavoredOverload
    public func read<Source: Model, First, each Other>(
        with inverse: Inverse<Record, Source>, totals first: GroupTotal<Source, First>,
        _ others: repeat GroupTotal<Source, each Other>, orderedByTotals totalOrder: GroupOrder<Source>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<Source>? = nil,
        where condition: Condition<Record> = .all
    ) async throws -> [(Plain, First, repeat each Other)] {
        let query = Query(where: condition, orderedBy: order, limit: limit)
        let place = RelatedPlace(inverse)
        return try await reading {
            try $0.readWithTotals(query, place, totalOrder, having, first, repeat each others)
        }
    }

    /// Returns the values that meet a condition, each with totals of the rows in its list.
    @_disfavoredOverload
    public nonisolated(nonsending) func read<List: ToManyValue, First, each Other>(
        with list: any KeyPath<Record, List> & Sendable, totals first: GroupTotal<List.ListedRow, First>,
        _ others: repeat GroupTotal<List.ListedRow, each Other>, orderedByTotals totalOrder: GroupOrder<List.ListedRow>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<List.ListedRow>? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [(Plain, First, repeat each Other)] {
        let query = Query(where: .once(condition), orderedBy: order, limit: limit)
        let place = RelatedPlace<Record, List.ListedRow>(list)
        return try await reading {
            try $0.readWithTotals(query, place, totalOrder, having, first, repeat each others)
        }
    }

    /// Returns the values that meet a prepared condition, each with totals of the rows in its list.
    @_disfavoredOverload
    public func read<List: ToManyValue, First, each Other>(
        with list: any KeyPath<Record, List> & Sendable, totals first: GroupTotal<List.ListedRow, First>,
        _ others: repeat GroupTotal<List.ListedRow, each Other>, orderedByTotals totalOrder: GroupOrder<List.ListedRow>...,
        orderedBy order: Sort<Record>..., limit: Int? = nil, having: GroupCondition<List.ListedRow>? = nil,
        where condition: Condition<Record> = .all
    ) async throws -> [(Plain, First, repeat each Other)] {
        let query = Query(where: condition, orderedBy: order, limit: limit)
        let place = RelatedPlace<Record, List.ListedRow>(list)
        return try await reading {
            try $0.readWithTotals(query, place, totalOrder, having, first, repeat each others)
        }
    }

    /// Returns the smallest value of a field among the rows that meet a condition; nil when there is none.
    public nonisolated(nonsending) func min<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> Value.Present? {
        try await min(field, where: .once(condition))
    }

    /// Returns the smallest value of a field; nil when there is none.
    public func min<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable, where condition: Condition<Record> = .all
    ) async throws -> Value.Present? {
        try await reading { try $0.min(field, where: condition) }
    }

    /// Returns the greatest value of a field among the rows that meet a condition; nil when there is none.
    public nonisolated(nonsending) func max<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> Value.Present? {
        try await max(field, where: .once(condition))
    }

    /// Returns the greatest value of a field; nil when there is none.
    public func max<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable, where condition: Condition<Record> = .all
    ) async throws -> Value.Present? {
        try await reading { try $0.max(field, where: condition) }
    }

    /// Returns the sum of a field over the rows that meet a condition; zero when there are no values.
    public nonisolated(nonsending) func sum<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> Value.Present where Value.Present: NumericFieldValue {
        try await sum(field, where: .once(condition))
    }

    /// Returns the sum of a field; zero when there are no values.
    public func sum<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable, where condition: Condition<Record> = .all
    ) async throws -> Value.Present where Value.Present: NumericFieldValue {
        try await reading { try $0.sum(field, where: condition) }
    }

    /// Returns the average of a field over the rows that meet a condition; nil when there are no values.
    public nonisolated(nonsending) func average<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> Double? where Value.Present: NumericFieldValue {
        try await average(field, where: .once(condition))
    }

    /// Returns the average of a field; nil when there are no values.
    public func average<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable, where condition: Condition<Record> = .all
    ) async throws -> Double? where Value.Present: NumericFieldValue {
        try await reading { try $0.average(field, where: condition) }
    }

    // MARK: Write

    /// Stores a new value.
    public func create(_ plain: Plain) async throws { try await writingOnce(isOwn: storesModels) { try $0.create(plain) } }

    /// Stores new values, all or none.
    public func create(_ plains: [Plain]) async throws { try await writingOnce(isOwn: storesModels) { try $0.create(plains) } }

    /// Stores a value. A new value is created; a stored value is merged or replaced, as the translator
    /// defines.
    public func persist(_ plain: Plain) async throws { try await writingOnce(isOwn: storesModels) { try $0.persist(plain) } }

    /// Stores values, all or none. The last value of a repeated key wins.
    public func persist(_ plains: [Plain]) async throws { try await writingOnce(isOwn: storesModels) { try $0.persist(plains) } }

    /// Returns the stored value with a key, or stores and returns a new value.
    public func findOrCreate(
        byPrimaryKey id: any UniqueIDConvertible, _ make: @escaping @Sendable () throws -> Plain
    ) async throws -> Plain {
        try await writingOnce { try $0.findOrCreate(byPrimaryKey: id, make) }
    }

    /// Returns the first stored value, in key order, that meets a condition, or stores and returns a new value.
    public nonisolated(nonsending) func findOrCreate(
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>,
        _ make: @escaping @Sendable () throws -> Plain
    ) async throws -> Plain {
        try await findOrCreate(where: Condition(condition), make)
    }

    /// Returns the first stored value, in key order, that meets a prepared condition, or stores and returns a new value.
    public func findOrCreate(
        where condition: Condition<Record>, _ make: @escaping @Sendable () throws -> Plain
    ) async throws -> Plain {
        try await writingOnce { try $0.findOrCreate(where: condition, make) }
    }

    /// Stores a new value with the next number among the values that meet a condition.
    @discardableResult
    public nonisolated(nonsending) func append<Value: OrderedFieldValue>(
        _ plain: Plain, by field: any KeyPath<Record, Value> & Sendable,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> Plain where Value.Present: NumericFieldValue & FixedWidthInteger {
        try await append(plain, by: field, where: .once(condition))
    }

    /// Stores a new value with the next number among the values that meet a prepared condition.
    @discardableResult
    public func append<Value: OrderedFieldValue>(
        _ plain: Plain, by field: any KeyPath<Record, Value> & Sendable, where condition: Condition<Record> = .all
    ) async throws -> Plain where Value.Present: NumericFieldValue & FixedWidthInteger {
        try await writingOnce(isOwn: storesModels) { try $0.append(plain, by: field, where: condition) }
    }

    /// Changes the stored records that meet a condition, all or none.
    @discardableResult
    public nonisolated(nonsending) func update(
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>,
        _ change: @escaping @Sendable (inout Record) throws -> Void
    ) async throws -> Int {
        try await update(where: .once(condition), change)
    }

    /// Changes the stored records that meet a prepared condition, all or none.
    @discardableResult
    public func update(
        where condition: Condition<Record>, _ change: @escaping @Sendable (inout Record) throws -> Void
    ) async throws -> Int {
        try await writingOnce { try $0.update(where: condition, change) }
    }

    /// Changes the first records of an order that meet a condition, all or none, and returns them.
    @discardableResult
    public nonisolated(nonsending) func update(
        orderedBy order: Sort<Record>..., limit: Int,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>,
        _ change: @escaping @Sendable (inout Record) throws -> Void
    ) async throws -> [Plain] {
        let query = Query(where: .once(condition), orderedBy: order, limit: limit)
        return try await writingOnce { try $0.updateFirst(query, change) }
    }

    /// Changes the first records of an order that meet a prepared condition, all or none, and returns them.
    @discardableResult
    public func update(
        orderedBy order: Sort<Record>..., limit: Int, where condition: Condition<Record>,
        _ change: @escaping @Sendable (inout Record) throws -> Void
    ) async throws -> [Plain] {
        let query = Query(where: condition, orderedBy: order, limit: limit)
        return try await writingOnce { try $0.updateFirst(query, change) }
    }

    /// Sets a field of the stored records that meet a condition, all or none.
    @discardableResult
    public nonisolated(nonsending) func set<Value: FieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable, to value: Value,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> Int {
        try await set(field, to: value, where: .once(condition))
    }

    /// Sets a field of the stored records that meet a prepared condition, all or none.
    @discardableResult
    public func set<Value: FieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable, to value: Value, where condition: Condition<Record>
    ) async throws -> Int {
        try await writingOnce(isOwn: true) { try $0.set(field, to: value, where: condition) }
    }

    /// Changes fields of the stored records that meet a condition, all or none.
    @discardableResult
    public nonisolated(nonsending) func update(
        _ change: FieldChange<Record>, _ others: FieldChange<Record>...,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> Int {
        let (changes, condition) = ([change] + others, Condition<Record>.once(condition))
        return try await writingOnce(isOwn: true) { try $0.update(changes, where: condition) }
    }

    /// Changes fields of the stored records that meet a prepared condition, all or none.
    @discardableResult
    public func update(
        _ change: FieldChange<Record>, _ others: FieldChange<Record>..., where condition: Condition<Record>
    ) async throws -> Int {
        let changes = [change] + others
        return try await writingOnce(isOwn: true) { try $0.update(changes, where: condition) }
    }

    /// Erases the values that meet a condition.
    @discardableResult
    public nonisolated(nonsending) func erase(
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> Int {
        try await erase(where: .once(condition))
    }

    /// Erases the values that meet a prepared condition.
    @discardableResult
    public func erase(where condition: Condition<Record>) async throws -> Int {
        try await writingOnce(isOwn: true) { try $0.erase(where: condition) }
    }

    /// Erases the first values of an order that meet a condition, all or none, and returns them.
    @discardableResult
    public nonisolated(nonsending) func erase(
        orderedBy order: Sort<Record>..., limit: Int,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [Plain] {
        let query = Query(where: .once(condition), orderedBy: order, limit: limit)
        return try await writingOnce { try $0.eraseFirst(query) }
    }

    /// Erases the first values of an order that meet a prepared condition, all or none, and returns them.
    @discardableResult
    public func erase(
        orderedBy order: Sort<Record>..., limit: Int, where condition: Condition<Record> = .all
    ) async throws -> [Plain] {
        let query = Query(where: condition, orderedBy: order, limit: limit)
        return try await writingOnce { try $0.eraseFirst(query) }
    }

    /// Erases all values.
    @discardableResult
    public func erase() async throws -> Int { try await writingOnce(isOwn: true) { try $0.erase() } }

    /// Erases the stored value with the key of the given value.
    @discardableResult
    public func erase(_ plain: Plain) async throws -> Int { try await writingOnce(isOwn: true) { try $0.erase(plain) } }

    /// Erases the stored values with the keys of the given values.
    @discardableResult
    public func erase(_ plains: [Plain]) async throws -> Int { try await writingOnce(isOwn: true) { try $0.erase(plains) } }

    /// Erases the stored value with a key.
    @discardableResult
    public func erase(byPrimaryKey id: any UniqueIDConvertible) async throws -> Int {
        try await writingOnce(isOwn: true) { try $0.erase(byPrimaryKey: id) }
    }

    /// Erases the stored values with the given keys.
    @discardableResult
    public func erase(byPrimaryKeys ids: [some UniqueIDConvertible]) async throws -> Int {
        try await writingOnce(isOwn: true) { try $0.erase(byPrimaryKeys: ids) }
    }

    /// Erases the stored values with the keys of a set.
    @discardableResult
    public func erase(byPrimaryKeys ids: Set<some UniqueIDConvertible>) async throws -> Int {
        try await writingOnce(isOwn: true) { try $0.erase(byPrimaryKeys: ids) }
    }

    /// Erases the values that meet a predicate.
    @discardableResult
    public func erase(predicatedBy predicate: Condition<Record>) async throws -> Int {
        try await writingOnce(isOwn: true) { try $0.erase(predicatedBy: predicate) }
    }
}
