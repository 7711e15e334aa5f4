// The asynchronous forms: the same names and meanings, run on the database's own threads, so that the calling task's thread is free
// meanwhile. A task cancelled before its work began gets `CancellationError`, and nothing was done.
//
// Those with a condition run their first step, which makes the condition, where the caller is: its closure may use what an actor, such as
// the main one, has to itself.

extension DAO {
    private func reading<Result: Sendable>(_ body: @escaping @Sendable (DAO) throws -> Result) async throws -> Result {
        try await storage.database.engineState.executor.read { try body(self) }
    }

    private func writing<Result: Sendable>(_ body: @escaping @Sendable (DAO) throws -> Result) async throws -> Result {
        try await storage.database.engineState.executor.write { try body(self) }
    }

    // MARK: Read

    /// The values of a query, in its order.
    public func read(_ query: Query<Record>) async throws -> [Plain] { try await reading { try $0.read(query) } }

    /// All values, or the first of them in an order.
    public func read(orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0) async throws -> [Plain] {
        try await read(Query(orderedBy: order, limit: limit, offset: offset))
    }

    /// The values that meet a condition, in an order.
    public nonisolated(nonsending) func read(
        orderedBy order: Sort<Record>..., limit: Int? = nil, offset: Int = 0,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> [Plain] {
        try await read(Query(where: Condition(condition), orderedBy: order, limit: limit, offset: offset))
    }

    /// The first value that meets a condition, or nil.
    public nonisolated(nonsending) func first(
        orderedBy order: Sort<Record>..., where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> Plain? {
        try await read(Query(where: Condition(condition), orderedBy: order, limit: 1)).first
    }

    /// The values that meet a predicate, in key order.
    public func read(predicatedBy predicate: Condition<Record>) async throws -> [Plain] {
        try await read(Query(where: predicate))
    }

    /// All values in the order of a field.
    public func read(orderedBy field: String, ascending: Bool) async throws -> [Plain] {
        try await read(Query(orderedBy: [.by(field, ascending: ascending)]))
    }

    /// The values that meet a predicate, in the order of a field.
    public func read(
        predicatedBy predicate: Condition<Record>, orderedBy field: String, ascending: Bool
    ) async throws -> [Plain] {
        try await read(Query(where: predicate, orderedBy: [.by(field, ascending: ascending)]))
    }

    /// The value with a key, or nil.
    public func read(byPrimaryKey id: some UniqueIDConvertible) async throws -> Plain? {
        try await reading { try $0.read(byPrimaryKey: id) }
    }

    /// The values with these keys, in the order asked, each once; keys that are not there are left out.
    public func read(byPrimaryKeys ids: some Sequence<some UniqueIDConvertible>) async throws -> [Plain] {
        let ids = Array(ids)
        return try await reading { try $0.read(byPrimaryKeys: ids) }
    }

    /// One page of a query.
    public func page(_ query: Query<Record>, limit: Int) async throws -> Page<Plain> {
        try await reading { try $0.page(query, limit: limit) }
    }

    /// One page of all values in an order.
    public func page(orderedBy order: Sort<Record>..., limit: Int, after: PageCursor? = nil) async throws -> Page<Plain> {
        try await page(Query(orderedBy: order, after: after), limit: limit)
    }

    /// One page of the values that meet a condition, in an order.
    public nonisolated(nonsending) func page(
        orderedBy order: Sort<Record>..., limit: Int, after: PageCursor? = nil,
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>
    ) async throws -> Page<Plain> {
        try await page(Query(where: Condition(condition), orderedBy: order, after: after), limit: limit)
    }

    /// How many values a query has.
    public func count(_ query: Query<Record> = Query()) async throws -> Int { try await reading { try $0.count(query) } }

    /// How many values meet a condition.
    public nonisolated(nonsending) func count(where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>)
        async throws -> Int
    {
        try await count(Query(where: Condition(condition)))
    }

    /// How many values meet a predicate.
    public func count(predicatedBy predicate: Condition<Record>) async throws -> Int { try await count(Query(where: predicate)) }

    /// Whether any value meets a condition.
    public nonisolated(nonsending) func exists(where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>)
        async throws -> Bool
    {
        try await count(Query(where: Condition(condition), limit: 1)) > 0
    }

    /// Whether a key is stored.
    public func exists(byPrimaryKey id: some UniqueIDConvertible) async throws -> Bool {
        try await reading { try $0.exists(byPrimaryKey: id) }
    }

    /// The least value of a field, nil aside; nil when there is none.
    public func min<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable, predicatedBy predicate: Condition<Record> = .all
    ) async throws -> Value? {
        try await reading { try $0.min(field, predicatedBy: predicate) }
    }

    /// The least value of an optional field, nil aside.
    public func min<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value?> & Sendable, predicatedBy predicate: Condition<Record> = .all
    ) async throws -> Value? {
        try await reading { try $0.min(field, predicatedBy: predicate) }
    }

    /// The greatest value of a field, nil aside; nil when there is none.
    public func max<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable, predicatedBy predicate: Condition<Record> = .all
    ) async throws -> Value? {
        try await reading { try $0.max(field, predicatedBy: predicate) }
    }

    /// The greatest value of an optional field, nil aside.
    public func max<Value: OrderedFieldValue>(
        _ field: any KeyPath<Record, Value?> & Sendable, predicatedBy predicate: Condition<Record> = .all
    ) async throws -> Value? {
        try await reading { try $0.max(field, predicatedBy: predicate) }
    }

    /// The sum of a field, nil aside; zero of no values.
    public func sum<Value: NumericFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable, predicatedBy predicate: Condition<Record> = .all
    ) async throws -> Value {
        try await reading { try $0.sum(field, predicatedBy: predicate) }
    }

    /// The sum of an optional field, nil aside.
    public func sum<Value: NumericFieldValue>(
        _ field: any KeyPath<Record, Value?> & Sendable, predicatedBy predicate: Condition<Record> = .all
    ) async throws -> Value {
        try await reading { try $0.sum(field, predicatedBy: predicate) }
    }

    /// The mean of a field, nil aside; nil of no values.
    public func average<Value: NumericFieldValue>(
        _ field: any KeyPath<Record, Value> & Sendable, predicatedBy predicate: Condition<Record> = .all
    ) async throws -> Double? {
        try await reading { try $0.average(field, predicatedBy: predicate) }
    }

    /// The mean of an optional field, nil aside.
    public func average<Value: NumericFieldValue>(
        _ field: any KeyPath<Record, Value?> & Sendable, predicatedBy predicate: Condition<Record> = .all
    ) async throws -> Double? {
        try await reading { try $0.average(field, predicatedBy: predicate) }
    }

    // MARK: Write

    /// Stores a value whose key is not stored yet.
    public func create(_ plain: Plain) async throws { try await writing { try $0.create(plain) } }

    /// Stores values whose keys are not stored yet: all of them, or none.
    public func create(_ plains: [Plain]) async throws { try await writing { try $0.create(plains) } }

    /// Stores a value: a new one is created, a stored one merged or replaced as the translator says.
    public func persist(_ plain: Plain) async throws { try await writing { try $0.persist(plain) } }

    /// Stores values: all of them, or none. Of a repeated key the last wins.
    public func persist(_ plains: [Plain]) async throws { try await writing { try $0.persist(plains) } }

    /// The stored value with a key, or else a new one, which is stored.
    public func findOrCreate(
        byPrimaryKey id: some UniqueIDConvertible, _ make: @escaping @Sendable () throws -> Plain
    ) async throws -> Plain {
        try await writing { try $0.findOrCreate(byPrimaryKey: id, make) }
    }

    /// Changes the stored records that meet a condition: all of them, or none.
    @discardableResult
    public nonisolated(nonsending) func update(
        where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>,
        _ change: @escaping @Sendable (inout Record) throws -> Void
    ) async throws -> Int {
        let query = Query(where: Condition(condition))
        return try await writing { try $0.storage.update(query, change) }
    }

    /// Removes all values.
    @discardableResult
    public func erase() async throws -> Int { try await writing { try $0.erase() } }

    /// Removes the value with the same key as this one, if it is stored.
    @discardableResult
    public func erase(_ plain: Plain) async throws -> Int { try await writing { try $0.erase(plain) } }

    /// Removes the values with the same keys as these, as far as they are stored.
    @discardableResult
    public func erase(_ plains: [Plain]) async throws -> Int { try await writing { try $0.erase(plains) } }

    /// Removes the value with a key, if it is stored.
    @discardableResult
    public func erase(byPrimaryKey id: some UniqueIDConvertible) async throws -> Int {
        try await writing { try $0.erase(byPrimaryKey: id) }
    }

    /// Removes the values with these keys, as far as they are stored.
    @discardableResult
    public func erase(byPrimaryKeys ids: some Sequence<some UniqueIDConvertible>) async throws -> Int {
        let ids = Array(ids)
        return try await writing { try $0.erase(byPrimaryKeys: ids) }
    }

    /// Removes the values that meet a condition.
    @discardableResult
    public nonisolated(nonsending) func erase(where condition: (FieldProxy<Record>) -> some ConditionConvertible<Record>)
        async throws -> Int
    {
        let query = Query(where: Condition(condition))
        return try await writing { try $0.storage.erase(query) }
    }

    /// Removes the values that meet a predicate.
    @discardableResult
    public func erase(predicatedBy predicate: Condition<Record>) async throws -> Int {
        try await writing { try $0.erase(predicatedBy: predicate) }
    }
}
