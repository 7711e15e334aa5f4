// The asynchronous methods have the same names and meanings as the synchronous methods. They run on the
// threads of the database, so they do not block the thread of the calling task. A task that is cancelled
// before its work begins throws `CancellationError` and changes nothing.
//
// The methods with a condition make the condition in the isolation of the caller. The closure can therefore
// use the state of an actor, such as the main actor.

extension DAO {
    private func reading<Result: Sendable>(_ body: @escaping @Sendable (DAO) throws -> Result) async throws -> Result {
        try await storage.database.engineState.executor.read { try body(self) }
    }

    private func writing<Result: Sendable>(_ body: @escaping @Sendable (DAO) throws -> Result) async throws -> Result {
        try await storage.database.engineState.executor.write { try body(self) }
    }

    // MARK: Read

    /// Returns the values of a query, in its order.
    public func read(_ query: Query<Record>) async throws -> [Plain] { try await reading { try $0.read(query) } }

    /// Returns all values in an order, up to a limit.
    public func read(orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0) async throws -> [Plain] {
        try await read(Query(orderedBy: order, limit: limit, offset: offset))
    }

    /// Returns the values that meet a condition, in an order.
    public nonisolated(nonsending) func read(
        orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [Plain] {
        try await read(Query(where: Condition(condition), orderedBy: order, limit: limit, offset: offset))
    }

    /// Returns the first value that meets a condition; nil when there is none.
    public nonisolated(nonsending) func first(
        orderedBy order: Sort<Record>..., where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> Plain? {
        try await read(Query(where: Condition(condition), orderedBy: order, limit: 1)).first
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
    public func read(byPrimaryKey id: some UniqueIDConvertible) async throws -> Plain? {
        try await reading { try $0.read(byPrimaryKey: id) }
    }

    /// Returns the values with the given keys, in the given order, each key once. Keys that are not stored
    /// are skipped.
    public func read(byPrimaryKeys ids: some Sequence<some UniqueIDConvertible>) async throws -> [Plain] {
        let ids = Array(ids)
        return try await reading { try $0.read(byPrimaryKeys: ids) }
    }

    /// Returns a page of a query.
    public func page(_ query: Query<Record>, limit: Int) async throws -> Page<Plain> {
        try await reading { try $0.page(query, limit: limit) }
    }

    /// Returns a page of all values in an order.
    public func page(orderedBy order: Sort<Record>..., limit: Int, after: PageCursor? = nil) async throws -> Page<Plain> {
        try await page(Query(orderedBy: order, after: after), limit: limit)
    }

    /// Returns a page of the values that meet a condition, in an order.
    public nonisolated(nonsending) func page(
        orderedBy order: Sort<Record>..., limit: Int, after: PageCursor? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> Page<Plain> {
        try await page(Query(where: Condition(condition), orderedBy: order, after: after), limit: limit)
    }

    /// Returns the number of values of a query.
    public func count(_ query: Query<Record> = Query()) async throws -> Int { try await reading { try $0.count(query) } }

    /// Returns the number of values that meet a condition.
    public nonisolated(nonsending) func count(where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>)
        async throws -> Int
    {
        try await count(Query(where: Condition(condition)))
    }

    /// Returns the number of values that meet a predicate.
    public func count(predicatedBy predicate: Condition<Record>) async throws -> Int { try await count(Query(where: predicate)) }

    /// Returns whether any value meets a condition.
    public nonisolated(nonsending) func exists(where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>)
        async throws -> Bool
    {
        try await count(Query(where: Condition(condition), limit: 1)) > 0
    }

    /// Returns whether a key is stored.
    public func exists(byPrimaryKey id: some UniqueIDConvertible) async throws -> Bool {
        try await reading { try $0.exists(byPrimaryKey: id) }
    }

    /// Returns the smallest value of a field; nil when there is none. Nil values are ignored.
    public func min<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable, predicatedBy predicate: Condition<Record> = .all
    ) async throws -> Value? {
        try await reading { try $0.min(field, predicatedBy: predicate) }
    }

    /// Returns the smallest value of an optional field; nil when there is none. Nil values are ignored.
    public func min<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value?> & Sendable, predicatedBy predicate: Condition<Record> = .all
    ) async throws -> Value? {
        try await reading { try $0.min(field, predicatedBy: predicate) }
    }

    /// Returns the greatest value of a field; nil when there is none. Nil values are ignored.
    public func max<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable, predicatedBy predicate: Condition<Record> = .all
    ) async throws -> Value? {
        try await reading { try $0.max(field, predicatedBy: predicate) }
    }

    /// Returns the greatest value of an optional field; nil when there is none. Nil values are ignored.
    public func max<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value?> & Sendable, predicatedBy predicate: Condition<Record> = .all
    ) async throws -> Value? {
        try await reading { try $0.max(field, predicatedBy: predicate) }
    }

    /// Returns the sum of a field; zero when there are no values. Nil values are ignored.
    public func sum<Value: NumericFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable, predicatedBy predicate: Condition<Record> = .all
    ) async throws -> Value {
        try await reading { try $0.sum(field, predicatedBy: predicate) }
    }

    /// Returns the sum of an optional field; zero when there are no values. Nil values are ignored.
    public func sum<Value: NumericFieldValue>(
        _ field: any KeyPath<Record, Value?> & Sendable, predicatedBy predicate: Condition<Record> = .all
    ) async throws -> Value {
        try await reading { try $0.sum(field, predicatedBy: predicate) }
    }

    /// Returns the average of a field; nil when there are no values. Nil values are ignored.
    public func average<Value: NumericFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable, predicatedBy predicate: Condition<Record> = .all
    ) async throws -> Double? {
        try await reading { try $0.average(field, predicatedBy: predicate) }
    }

    /// Returns the average of an optional field; nil when there are no values. Nil values are ignored.
    public func average<Value: NumericFieldValue>(
        _ field: any KeyPath<Record, Value?> & Sendable, predicatedBy predicate: Condition<Record> = .all
    ) async throws -> Double? {
        try await reading { try $0.average(field, predicatedBy: predicate) }
    }

    // MARK: Write

    /// Stores a new value.
    public func create(_ plain: Plain) async throws { try await writing { try $0.create(plain) } }

    /// Stores new values, all or none.
    public func create(_ plains: [Plain]) async throws { try await writing { try $0.create(plains) } }

    /// Stores a value. A new value is created; a stored value is merged or replaced, as the translator
    /// defines.
    public func persist(_ plain: Plain) async throws { try await writing { try $0.persist(plain) } }

    /// Stores values, all or none. The last value of a repeated key wins.
    public func persist(_ plains: [Plain]) async throws { try await writing { try $0.persist(plains) } }

    /// Returns the stored value with a key, or stores and returns a new value.
    public func findOrCreate(
        byPrimaryKey id: some UniqueIDConvertible, _ make: @escaping @Sendable () throws -> Plain
    ) async throws -> Plain {
        try await writing { try $0.findOrCreate(byPrimaryKey: id, make) }
    }

    /// Changes the stored records that meet a condition, all or none.
    @discardableResult
    public nonisolated(nonsending) func update(
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>,
        _ change: @escaping @Sendable (inout Record) throws -> Void
    ) async throws -> Int {
        let query = Query(where: Condition(condition))
        return try await writing { try $0.storage.update(query, change) }
    }

    /// Erases all values.
    @discardableResult
    public func erase() async throws -> Int { try await writing { try $0.erase() } }

    /// Erases the stored value with the key of the given value.
    @discardableResult
    public func erase(_ plain: Plain) async throws -> Int { try await writing { try $0.erase(plain) } }

    /// Erases the stored values with the keys of the given values.
    @discardableResult
    public func erase(_ plains: [Plain]) async throws -> Int { try await writing { try $0.erase(plains) } }

    /// Erases the stored value with a key.
    @discardableResult
    public func erase(byPrimaryKey id: some UniqueIDConvertible) async throws -> Int {
        try await writing { try $0.erase(byPrimaryKey: id) }
    }

    /// Erases the stored values with the given keys.
    @discardableResult
    public func erase(byPrimaryKeys ids: some Sequence<some UniqueIDConvertible>) async throws -> Int {
        let ids = Array(ids)
        return try await writing { try $0.erase(byPrimaryKeys: ids) }
    }

    /// Erases the values that meet a condition.
    @discardableResult
    public nonisolated(nonsending) func erase(where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>)
        async throws -> Int
    {
        let query = Query(where: Condition(condition))
        return try await writing { try $0.storage.erase(query) }
    }

    /// Erases the values that meet a predicate.
    @discardableResult
    public func erase(predicatedBy predicate: Condition<Record>) async throws -> Int {
        try await writing { try $0.erase(predicatedBy: predicate) }
    }
}
