import DAOCore

/// The rows of a model in a ``KeyValueDatabase``.
final class KeyValueStorage<Record: Model>: Storage, RecordReaders {
    let keyValueDatabase: KeyValueDatabase
    let schema = Record.schema
    var revisionIndex: Int? { schema.revisionIndex }
    private let declaration = Record.schema.declaration
    private let initialTable: Table
    /// The table that replaced the initial table, and the generation of the catalog that it belongs to.
    private let laterTable = Lock<(table: Table, generation: UInt64)?>(nil)
    /// The number of remaining records to check for swapped fields.
    private let recordsToCheck = Atomic<Int>(16)
    // To make a reader costs as much as to read a row.
    private let spareReaders = Spares<RecordReader>()
    // Made once, so that a reader does not allocate it.
    private let makeDefaults: @Sendable () throws -> RowReader = { try Record.schema.defaultRow() }

    init(database: KeyValueDatabase, table: Table) {
        keyValueDatabase = database
        initialTable = table
    }

    var database: any Database { keyValueDatabase }
    /// Whether checksums are written and verified.
    var verifies: Bool { keyValueDatabase.options.usesChecksums }

    // MARK: Reading

    func read(key: Key) throws -> Record? {
        var found: Record?
        try keyValueDatabase.read { handle in
            // Two calls, since threads that count references to a table wait for each other.
            if initialTable.isCurrent {
                try read(key, initialTable, handle, to: &found)
            } else {
                try read(key, currentTable(handle), handle, to: &found)
            }
        }
        return found
    }

    private func read(_ key: Key, _ table: Table, _ handle: KeyValueHandle, to found: inout Record?) throws {
        let reader = takeReader(table, handle)
        let timer = StatementTimer.begin()
        do {
            try KeyBuilder.with { builder in
                try builder.appendRow(key, of: table)
                guard let record = try handle.transaction.get(builder.bytes) else { return }
                try reader.show(record, key: builder.bytes.from(table.keyspace.length))
                try schema.decode(reader, to: &found)
            }
        } catch {
            timer?.end(table.byKey, rowsLookedAt: reader.lookedAt)
            throw error
        }
        timer?.end(table.byKey, rowsLookedAt: reader.lookedAt)
        giveBack(reader, handle)
    }

    func contains(key: Key) throws -> Bool {
        try keyValueDatabase.read { handle in
            let table = try table(handle)
            return try KeyBuilder.with { builder in
                try builder.appendRow(key, of: table)
                return try handle.transaction.get(builder.bytes) != nil
            }
        }
    }

    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] {
        var records: [Record] = []
        try keyValueDatabase.read { handle in
            let table = try table(handle)
            let reader = reader(table)
            let timer = StatementTimer.begin()
            defer { timer?.end(table.byKey, runs: keys.count, rowsLookedAt: reader.lookedAt) }
            reader.source = try KeyListSource(
                keys, RowAccess(transaction: handle.transaction, table: table, filter: nil, verifies: verifies))
            try schema.decode(reader, into: &records)
        }
        return records
    }

    func read(_ query: Query<Record>) throws -> [Record] {
        let resolved = try schema.resolved(query)
        var records: [Record] = []
        try keyValueDatabase.read { handle in
            let table = try table(handle)
            let reader = reader(table)
            let run = run(resolved, table, handle)
            try run.reporting(reader) {
                reader.source = try run.source(reader)
                let limit = resolved.limit ?? .max
                // A damaged file can tell any number.
                let expected = run.knownCount.map { min($0, limit, 1 << 20) } ?? (resolved.limit == nil ? 0 : min(limit, 64))
                try schema.decode(reader, limit: limit, expecting: expected, into: &records)
            }
        }
        return records
    }

    func keys(_ query: Query<Record>) throws -> [Key] {
        var keys: [Key] = []
        try forEachKey(schema.resolved(query)) { reader in
            guard let key = reader.currentKey else { throw reader.table.corruptedRecord(reader.key) }
            keys.append(key)
        }
        return keys
    }

    func count(_ query: Query<Record>) throws -> Int {
        let resolved = try schema.resolved(query)
        return try keyValueDatabase.read { handle in
            let table = try table(handle)
            let (reader, run) = (reader(table), run(resolved, table, handle))
            return try run.reporting(reader) { try run.count(reader) }
        }
    }

    func readFields(_ fields: [Int], _ query: Query<Record>, _ body: (RowReader) throws -> Void) throws {
        let resolved = try schema.resolved(query)
        try keyValueDatabase.read { handle in
            let table = try table(handle)
            let reader = reader(table)
            let run = run(resolved, table, handle)
            try run.reporting(reader) {
                guard let source = try run.source(reader) else { return }
                let entries = EntryReader(of: fields, run, reader)
                var remaining = resolved.limit ?? .max
                while remaining > 0, try entries == nil ? source.next(reader) : source.nextKey(reader) {
                    try entries?.show()
                    try body(entries ?? reader)
                    remaining -= 1
                }
            }
        }
    }

    func groups(_ query: GroupQuery<Record>, _ body: (RowReader, [Int]) throws -> Void) throws {
        let resolved = try schema.resolved(Query(where: query.condition))
        var counted = try CountedGroups(query)
        let isDone = try keyValueDatabase.read { handle in
            let table = try table(handle)
            let run = run(resolved, table, handle)
            if resolved.filter == .none { return true }
            let reader = reader(table)
            let countsRows = query.counts.allSatisfy { $0 == .rows }
            if query.fields.isEmpty, countsRows {
                let count = try run.reporting(reader) { try run.count(reader) }
                try body(reader, query.counts.map { _ in count })
                return true
            }
            if countsRows, let groups = IndexGroups(of: query.fields, run) {
                try run.reporting(reader) {
                    try groups.forEach(reader, counted: !query.counts.isEmpty) { row, count in
                        try body(row, query.counts.map { _ in count })
                    }
                }
                return true
            }
            guard let entries = IndexEntries(of: counted.fields, run, reader) else { return false }
            try run.reporting(reader) { try entries.forEach { try counted.add($0) } }
            try counted.forEach(body)
            return true
        }
        if !isDone { try groupsInMemory(query, body) }
    }

    func cursor(_ query: Query<Record>) throws -> RowCursor<Record> {
        let resolved = try schema.resolved(query)
        return try keyValueDatabase.lifetime.call {
            guard let handle = try keyValueDatabase.engine.coordinator.beginLongRead() else {
                return CollectedCursor(keyValueDatabase, try read(query))
            }
            do {
                let table = try table(handle)
                let reader = reader(table)
                reader.source = try run(resolved, table, handle).source(reader)
                return SnapshotCursor(keyValueDatabase, CursorSession(handle, reader), limit: resolved.limit ?? .max)
            } catch {
                handle.rollback()
                throw error
            }
        }
    }

    func explain(_ query: Query<Record>) throws -> QueryPlan {
        let resolved = try schema.resolved(query)
        return try keyValueDatabase.read { handle in
            let table = try table(handle)
            return try run(resolved, table, handle).explanation()
        }
    }

    // MARK: Helpers for the other files

    /// The table as a transaction sees it.
    ///
    /// The initial table is valid as long as its catalog entry. An entry of a rolled-back transaction no
    /// longer exists, and its keyspaces can belong to another entity now. Another model or process can have
    /// changed the entry.
    @inline(__always) func table(_ handle: KeyValueHandle) throws -> Table {
        initialTable.isCurrent ? initialTable : try currentTable(handle)
    }

    @inline(never) private func currentTable(_ handle: KeyValueHandle) throws -> Table {
        if let later = laterTable.withLock({ $0 }), later.generation == handle.generation, later.table.isCurrent {
            return later.table
        }
        let engine = keyValueDatabase.engine
        let table: Table
        if handle.canWrite, !keyValueDatabase.configuration.isReadOnly {
            table = try engine.makeTable(for: declaration, in: handle)
        } else {
            guard let stored = try engine.table(for: declaration, in: handle) else { return try initialTable.absent() }
            table = stored
        }
        // A table of this transaction can be rolled back.
        if table.entry.state.load(ordering: .acquiring) == .stored, engine.isCurrent(handle) {
            laterTable.withLock { $0 = (table, handle.generation) }
        }
        return table
    }

    /// Returns a reader before the first row.
    func reader(_ table: Table) -> RecordReader {
        if let spare = spareReaders.take(), spare.table === table { return spare }
        return RecordReader(table: table, of: ObjectIdentifier(Record.self), verifies: verifies, defaults: makeDefaults)
    }

    /// Returns a reader before the first row, which ``giveBack(_:_:)`` takes back.
    @inline(__always) private func takeReader(_ table: Table, _ handle: KeyValueHandle) -> RecordReader {
        // Taken, so that the reference is not counted.
        guard let spare = handle.spareReader.take() else { return reader(table) }
        if spare.table === table, spare.model == ObjectIdentifier(Record.self), spare.verifies == verifies { return spare }
        handle.spareReader = spare
        return reader(table)
    }

    /// Takes back a reader that the call no longer needs, for another call.
    @inline(__always) private func giveBack(_ reader: consuming RecordReader, _ handle: KeyValueHandle) {
        reader.rest()
        if handle.isKept, handle.spareReader == nil || handle.spareReader?.table.isCurrent == false {
            handle.spareReader = reader
        } else {
            _ = spareReaders.leave(reader)
        }
    }

    /// Returns the execution of a query on a transaction.
    func run(_ query: ResolvedQuery, _ table: Table, _ handle: KeyValueHandle) -> QueryRun {
        QueryRun(table: table, query: query, transaction: handle.transaction, verifies: verifies)
    }

    /// Calls a closure with a reader on the key of every row of a query.
    func forEachKey(_ query: ResolvedQuery, _ body: (RecordReader) throws -> Void) throws {
        try keyValueDatabase.read { try forEachKey(query, try table($0), $0, body) }
    }

    /// Calls a closure with a reader on the key of every row of a query, on a transaction.
    func forEachKey(
        _ query: ResolvedQuery, _ table: Table, _ handle: KeyValueHandle, _ body: (RecordReader) throws -> Void
    ) throws {
        let (reader, run) = (reader(table), run(query, table, handle))
        try run.reporting(reader) {
            guard let source = try run.source(reader) else { return }
            var remaining = query.limit ?? .max
            while remaining > 0, try source.nextKey(reader) {
                try body(reader)
                remaining -= 1
            }
        }
    }

    /// Whether ``checkOrder(of:)`` must still be called.
    var checksOrder: Bool { recordsToCheck.load(ordering: .relaxed) > 0 }

    /// Checks whether fields are swapped, for the first stored records.
    func checkOrder(of record: Record) throws {
        recordsToCheck.subtract(1, ordering: .relaxed)
        try schema.checkOrder(with: record)
    }
}

extension Table {
    /// What instruments are told of a row that is found by its key.
    var byKey: String { "\(description.name) \(QueryPlan(access: .primaryKey, filtersRows: false, sortsRows: false))" }

    /// The same entity with empty keyspaces.
    func absent() throws -> Table { try Table(.absent(description), state: .void) }
}

/// Makes readers of a table's rows.
protocol RecordReaders: AnyObject {
    var keyValueDatabase: KeyValueDatabase { get }
    /// The position of the field that counts the writes of a row; nil when there is none.
    var revisionIndex: Int? { get }

    /// Returns a reader before the first row.
    func reader(_ table: Table) -> RecordReader
}

extension KeyBuilder {
    /// Appends the whole key of a row.
    ///
    /// - Throws: `.invalidKey` when no row of the table can have the key.
    @inline(__always) mutating func appendRow(_ key: Key, of table: Table) throws {
        append(table.keyspace)
        guard append(key: key, as: table.keyForm) else { throw table.invalidKey(key) }
    }
}

extension KeyValueDatabase: DecodingDatabase {
    package func decodes<Record: Model>(_ storage: any Storage<Record>) -> Bool { storage is KeyValueStorage<Record> }
}
