// The default implementations of a storage, based on its first five methods.

extension Storage {
    /// Makes and stores the rows in a transaction.
    public func insert(making records: () throws -> [Record]) throws { try database.transaction { try insert(records()) } }

    /// Makes and stores the rows in a transaction.
    public func upsert(making records: () throws -> [Record]) throws { try database.transaction { try upsert(records()) } }

    /// Reads the row.
    public func contains(key: Key) throws -> Bool { try read(key: key) != nil }

    /// Reads a list with one key.
    public func read(key: Key) throws -> Record? { try read(keys: [key], includesSubentities: true).first }

    /// Reads the rows and returns their keys.
    public func keys(_ query: Query<Record>) throws -> [Key] { try read(query).map { Record.schema.key(of: $0) } }

    /// Reads the rows and returns their number.
    public func count(_ query: Query<Record>) throws -> Int { try read(query).count }

    /// Reads the rows and passes each to the closure.
    public func readFields(_ fields: [Int], _ query: Query<Record>, _ body: (RowReader) throws -> Void) throws {
        var query = query
        query.includesSubentities = false
        for record in try read(query) { try body(Record.schema.reader(of: record)) }
    }

    /// Reads the fields of all rows and groups them.
    public func groups(_ query: GroupQuery<Record>, _ body: (RowReader, [Int]) throws -> Void) throws {
        try groupsInMemory(query, body)
    }

    package func groupsInMemory(_ query: GroupQuery<Record>, _ body: (RowReader, [Int]) throws -> Void) throws {
        var groups = try CountedGroups(query)
        try readFields(groups.fields, Query(where: query.condition)) { try groups.add($0) }
        try groups.forEach(body)
    }

    /// Reads the rows, changes them individually and stores them.
    public func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        try mergeEach(keys, isStoredAgain: true, body)
    }

    private func mergeEach(_ keys: [Key], isStoredAgain: Bool, _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        try database.transaction {
            try database.asOneCall {
                var stored = 0
                // The rows that wait for the end of the call, as the closure has left them.
                var left: [Key: Record] = [:]
                for (index, key) in keys.enumerated() {
                    let record = try changed(key, left: left.removeValue(forKey: key), isStoredAgain: isStoredAgain) { record in
                        try database.outsideCall { try body(index, &record) }
                    }
                    guard let record else { continue }
                    try upsert([record])
                    stored += 1
                    if let waiting = database.waitingRows, waiting[Record.schema.description.name, key] != nil {
                        left[key] = record
                    }
                }
                return stored
            }
        }
    }

    /// Reads a row, lets code of the application change it, and returns what is to be stored: the fields that the code has
    /// changed, and the others as they are stored when it has run (contract W9).
    ///
    /// - Parameters:
    ///   - key: The key of the row.
    ///   - left: The row as the code has left it before, where it waits for the end of the call.
    ///   - isStoredAgain: Whether a row is stored again that the code has erased.
    ///   - body: A closure that gets the row, or nil. It can write.
    /// - Returns: The row; nil when nothing is to be stored.
    /// - Throws: `.keyChanged` when the closure changed the key.
    package func changed(
        _ key: Key, left: Record? = nil, isStoredAgain: Bool, _ body: (inout Record?) throws -> Void
    ) throws -> Record? {
        let original = try read(key: key)
        let writes = database.writeCount
        var record = left ?? original
        try body(&record)
        guard var record else { return nil }
        try Record.schema.checkKey(of: record, is: key)
        guard var original, !database.hasWrittenNothing(since: writes) else { return record }
        if let stored = try read(key: key) {
            try Record.schema.follow(stored, in: &record, readAs: &original)
        } else if !isStoredAgain {
            return nil
        }
        return record
    }

    /// Merges the rows by their keys.
    public func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int {
        try database.transaction {
            try mergeEach(try keys(query), isStoredAgain: false) { _, record in
                guard var changed = record.take() else { return }
                try body(&changed)
                record = consume changed
            }
        }
    }

    /// Leaves the change to ``update(_:_:)``.
    public func set(_ changes: [StoredChange], counting counter: Int?, where condition: Condition<Record>) throws -> Int? {
        nil
    }

    /// Erases the rows by their keys.
    public func erase(_ query: Query<Record>) throws -> Int {
        try database.transaction { try erase(keys: try keys(query)) }
    }

    /// Reads all rows and returns them in batches. The memory use is not constant.
    public func cursor(_ query: Query<Record>) throws -> RowCursor<Record> {
        // Reading no keys is cheap and detects that the database was closed.
        ArrayCursor(try read(query)) { _ = try read(keys: [], includesSubentities: false) }
    }

    /// Returns a plan that scans all rows.
    public func explain(_ query: Query<Record>) throws -> QueryPlan {
        let resolved = try query.resolved()
        return QueryPlan(access: .scan, filtersRows: resolved.filter != .all, sortsRows: !resolved.isInKeyOrder)
    }
}

extension Database {
    /// The number of calls that could write in the running transaction; nil where the database does not tell.
    package var writeCount: Int? { AmbientTransaction.writeCount(of: engineState) }

    /// Whether no call has written in the running transaction since ``writeCount`` was asked for.
    package func hasWrittenNothing(since count: Int?) -> Bool { count != nil && count == writeCount }
}

extension [Value] {
    /// Whether the values come before others of the same fields.
    package func isOrdered(before other: [Value]) -> Bool {
        for (left, right) in zip(self, other) {
            let order = Value.order(left, right)
            if order != 0 { return order < 0 }
        }
        return false
    }
}
