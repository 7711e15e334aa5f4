import DAOCore

extension KeyValueStorage {

    // MARK: Whole rows

    func insert(_ records: [Record]) throws {
        if records.isEmpty { return }
        try write(records.count == 1 ? .statement : .call) { try insert(records, $0) }
    }

    func insert(making records: () throws -> [Record]) throws {
        try keyValueDatabase.write(.body, touching: schema.description.name) { handle in
            _ = try writtenTable(handle)
            let records = try records()
            try keyValueDatabase.withUpdate(of: try table(handle), handle, for: self) { try insert(records, $0) }
        }
    }

    func upsert(_ records: [Record]) throws {
        if records.isEmpty { return }
        try write(records.count == 1 ? .statement : .call) { try upsert(records, $0) }
    }

    func upsert(making records: () throws -> [Record]) throws {
        try keyValueDatabase.write(.body, touching: schema.description.name) { handle in
            _ = try writtenTable(handle)
            let records = try records()
            try keyValueDatabase.withUpdate(of: try table(handle), handle, for: self) { try upsert(records, $0) }
        }
    }

    private func insert(_ records: [Record], _ update: RowUpdate) throws {
        try update.withLaterEntries(ofRows: records.count) { later in
            try encodeAll(records, update) { try update.insert($0, later) }
        }
    }

    private func upsert(_ records: [Record], _ update: RowUpdate) throws {
        try encodeAll(records, update) { try update.upsert($0) }
    }

    /// Encodes records one at a time and passes them to a closure.
    private func encodeAll(_ records: [Record], _ update: RowUpdate, _ body: (RowUpdate.Encoded) throws -> Void) throws {
        // Uses pointers, because reading each record from the array would copy it.
        try records.withUnsafeBufferPointer { records in
            guard let first = records.baseAddress else { return }
            for position in records.indices {
                if checksOrder { try checkOrder(of: records[position]) }
                try body(try update.encode { try schema.encode(at: first + position, to: $0) })
            }
        }
    }

    // MARK: Merging

    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        if keys.isEmpty { return 0 }
        return try keyValueDatabase.write(.body, touching: schema.description.name) { handle in
            let table = try writtenTable(handle)
            let reader = reader(table)
            let timer = StatementTimer.begin()
            defer { timer?.end(table.byKey, runs: keys.count, rowsLookedAt: reader.lookedAt) }
            var stored = 0
            try keyValueDatabase.withUpdate(of: table, handle, for: self) { update in
                for (index, key) in keys.enumerated() {
                    let wasStored = try merge(update.storeKey(key), update, reader, isStoredAgain: true) { try body(index, &$0) }
                    if wasStored { stored += 1 }
                }
            }
            return stored
        }
    }

    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int {
        let resolved = try schema.resolved(query)
        return try keyValueDatabase.write(.body, touching: schema.description.name) { handle in
            let table = try writtenTable(handle)
            let keys = try collectKeys(resolved, table, handle)
            let reader = reader(table)
            var stored = 0
            try keyValueDatabase.withUpdate(of: table, handle, for: self) { update in
                for key in keys {
                    let wasStored = try key.withUnsafeBytes { key in
                        try merge(key, update, reader, isStoredAgain: false) { record in
                            guard var changed = record else { return }
                            try body(&changed)
                            record = changed
                        }
                    }
                    // The closure can have erased the row, and rows that follow.
                    if wasStored { stored += 1 }
                }
            }
            return stored
        }
    }

    /// Reads a row, lets a closure change it or make it, and stores the differences.
    ///
    /// - Parameters:
    ///   - key: The whole key in the store. Its bytes must not be in the store's memory.
    ///   - isStoredAgain: Whether a row is stored again that the application's code has erased.
    ///   - change: Gets nil when there is no row. When it leaves nil, nothing is stored. It can call application code.
    /// - Returns: Whether the row was stored.
    // In loops over rows, so that the type of an optional record is looked up once.
    @inline(__always) private func merge(
        _ key: UnsafeRawBufferPointer, _ update: RowUpdate, _ reader: RecordReader, isStoredAgain: Bool,
        _ change: (inout Record?) throws -> Void
    ) throws -> Bool {
        let found = try update.find(key, reader, keepsCopy: true)
        var record: Record?
        if found.isStored { try schema.decode(reader, to: &record) }
        let checksOrder = checksOrder
        try change(&record)
        guard let record = consume record else { return false }
        if checksOrder { try checkOrder(of: record) }
        try withUnsafePointer(to: record) { try schema.encode(at: $0, to: update.writer) }
        return try update.store(found, reader, isStoredAgain: isStoredAgain)
    }

    func set(_ changes: [StoredChange], counting counter: Int?, where condition: Condition<Record>) throws -> Int? {
        let resolved = try schema.resolved(Query(where: condition))
        var count = 0
        try keyValueDatabase.write(.call, touching: schema.description.name) { handle in
            let table = try writtenTable(handle)
            let keys = try collectKeys(resolved, table, handle)
            let reader = reader(table)
            try keyValueDatabase.withUpdate(of: table, handle, for: self) { update in
                for key in keys {
                    try key.withUnsafeBytes { try update.set(changes, counting: counter, $0, reader) }
                }
            }
            count = keys.count
        }
        return count
    }

    // MARK: Erasing

    func erase(keys: [Key]) throws -> Int {
        if keys.isEmpty { return 0 }
        var count = 0
        try write(keys.count == 1 ? .statement : .call) { update in
            count = 0
            for key in keys where try update.erase(update.storeKey(key)) { count += 1 }
        }
        return count
    }

    func erase(_ query: Query<Record>) throws -> Int {
        let resolved = try schema.resolved(query)
        var count = 0
        try keyValueDatabase.write(.call, touching: schema.description.name) { handle in
            count = 0
            let table = try writtenTable(handle)
            let keys = try collectKeys(resolved, table, handle)
            try keyValueDatabase.withUpdate(of: table, handle, for: self) { update in
                for key in keys where try key.withUnsafeBytes(update.erase) { count += 1 }
            }
        }
        return count
    }

    /// The whole keys of a query's rows, copied from the store, so that rows can be written during the
    /// iteration.
    private func collectKeys(_ query: ResolvedQuery, _ table: Table, _ handle: KeyValueHandle) throws -> [[UInt8]] {
        var keys: [[UInt8]] = []
        let prefix = table.keyspace.prefix
        try forEachKey(query, table, handle) { keys.append(prefix + $0.key) }
        return keys
    }

    // MARK: Shared functions

    /// Runs a closure that writes and does not call application code.
    private func write(_ kind: WriteKind, _ body: (RowUpdate) throws -> Void) throws {
        try keyValueDatabase.write(kind, touching: schema.description.name) { handle in
            try keyValueDatabase.withUpdate(of: try writtenTable(handle), handle, for: self, body)
        }
    }

    /// The table as the transaction of a write sees it.
    ///
    /// - Throws: ``LoggedEntity`` when whoever calls has to log what is written.
    @inline(__always) private func writtenTable(_ handle: KeyValueHandle) throws -> Table {
        let table = try table(handle)
        try keyValueDatabase.engineState.checkLog(of: table.description)
        return table
    }
}
