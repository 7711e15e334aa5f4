/// A storage that reports every call.
struct ReportingStorage<Record: Model>: ForwardingStorage, IncludingStorage {
    let base: any Storage<Record>
    private let listeners: CallListeners

    /// Creates a storage on another one; nil when nobody is told of its calls.
    init?(_ storage: any Storage<Record>, _ listeners: CallListeners?) {
        guard let listeners else { return nil }
        base = storage
        self.listeners = listeners
    }

    func including(_ fields: Set<Int>) throws -> (any Storage<Record>)? {
        try (base as? any IncludingStorage<Record>)?.including(fields).flatMap { ReportingStorage($0, listeners) }
    }

    func read<Target: Model>(
        _ query: Query<Record>, referring inverse: InverseRelation<Target, Record>, to keys: [Key]
    ) throws -> [[Record]] {
        let related = try self.related()
        return try reporting(.read, rows: { $0.reduce(0) { $0 + $1.count } }) {
            try related.read(query, referring: inverse, to: keys)
        }
    }

    func readFields(_ fields: [RelatedField], _ query: Query<Record>, _ body: ([RowReader]) throws -> Void) throws {
        let related = try self.related()
        var count = 0
        try reporting(.readFields, rows: { _ in count }) {
            try related.readFields(fields, query) {
                count += 1
                try body($0)
            }
        }
    }

    private func reporting<Result>(
        _ operation: CallReport.Operation, rows: (Result) -> Int? = { _ in nil }, _ body: () throws -> Result
    ) rethrows -> Result {
        try CallTrace.run(operation, Record.schema.description.name, listeners, rows: rows, body)
    }

    func read(_ query: Query<Record>) throws -> [Record] { try reporting(.read, rows: \.count) { try base.read(query) } }

    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] {
        try reporting(.readByKey, rows: \.count) { try base.read(keys: keys, includesSubentities: includesSubentities) }
    }

    func read(key: Key) throws -> Record? {
        try reporting(.readByKey, rows: { $0 == nil ? 0 : 1 }) { try base.read(key: key) }
    }

    func contains(key: Key) throws -> Bool {
        try reporting(.readByKey, rows: { $0 ? 1 : 0 }) { try base.contains(key: key) }
    }

    func keys(_ query: Query<Record>) throws -> [Key] {
        try reporting(.readKeys, rows: \.count) { try base.keys(query) }
    }

    func count(_ query: Query<Record>) throws -> Int { try reporting(.count) { try base.count(query) } }

    func readFields(_ fields: [Int], _ query: Query<Record>, _ body: (RowReader) throws -> Void) throws {
        var count = 0
        try reporting(.readFields, rows: { _ in count }) {
            try base.readFields(fields, query) {
                count += 1
                try body($0)
            }
        }
    }

    func groups(_ query: GroupQuery<Record>, _ body: (RowReader, [Int]) throws -> Void) throws {
        var count = 0
        try reporting(.group, rows: { _ in count }) {
            try base.groups(query) {
                count += 1
                try body($0, $1)
            }
        }
    }

    func insert(_ records: [Record]) throws {
        try reporting(.insert, rows: { _ in records.count }) { try base.insert(records) }
    }

    func upsert(_ records: [Record]) throws {
        try reporting(.upsert, rows: { _ in records.count }) { try base.upsert(records) }
    }

    func insert(making records: () throws -> [Record]) throws {
        var count = 0
        try reporting(.insert, rows: { _ in count }) { try base.insert(making: { try counted(records, &count) }) }
    }

    func upsert(making records: () throws -> [Record]) throws {
        var count = 0
        try reporting(.upsert, rows: { _ in count }) { try base.upsert(making: { try counted(records, &count) }) }
    }

    private func counted(_ records: () throws -> [Record], _ count: inout Int) throws -> [Record] {
        let records = try records()
        count = records.count
        return records
    }

    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        try reporting(.merge, rows: { $0 }) { try base.merge(keys: keys, body) }
    }

    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int {
        try reporting(.update, rows: { $0 }) { try base.update(query, body) }
    }

    func set(_ changes: [StoredChange], counting counter: Int?, where condition: Condition<Record>) throws -> Int? {
        try reporting(.set, rows: { $0 }) { try base.set(changes, counting: counter, where: condition) }
    }

    func erase(keys: [Key]) throws -> Int { try reporting(.erase, rows: { $0 }) { try base.erase(keys: keys) } }

    func erase(_ query: Query<Record>) throws -> Int { try reporting(.erase, rows: { $0 }) { try base.erase(query) } }

    func cursor(_ query: Query<Record>) throws -> RowCursor<Record> {
        ReportingCursor(try reporting(.stream) { try base.cursor(query) }, listeners)
    }

    func explain(_ query: Query<Record>) throws -> QueryPlan { try reporting(.explain) { try base.explain(query) } }
}

/// A cursor that reports every batch.
private final class ReportingCursor<Record: Model>: RowCursor<Record> {
    private let cursor: RowCursor<Record>
    private let listeners: CallListeners

    init(_ cursor: RowCursor<Record>, _ listeners: CallListeners) {
        self.cursor = cursor
        self.listeners = listeners
        super.init()
    }

    override func next(_ count: Int) throws -> [Record] {
        try CallTrace.run(.stream, Record.schema.description.name, listeners, rows: \.count) {
            CallTrace.notePinned(cursor.pinnedBytes)
            return try cursor.next(count)
        }
    }

    override var holdsSnapshot: Bool { cursor.holdsSnapshot }

    override var pinnedBytes: Int? { cursor.pinnedBytes }

    override func withSnapshot<Result>(_ body: () throws -> Result) throws -> Result { try cursor.withSnapshot(body) }

    override func close() { cursor.close() }
}
