/// The rows of a model, for writing. Where their changes are logged, it adds them to the log in the same transaction (contract D1), and
/// where their texts are in an index for searches, it keeps that (S8).
///
/// The storages of this library's databases refuse to write such rows (``LoggedEntity``), so that others cost nothing here. Of other databases the catalog is asked in the transaction of each write.
struct LoggedStorage<Record: Model>: ForwardingStorage {
    let base: any Storage<Record>
    private let state = State()
    /// Whether the storage refuses to write rows that are logged. Asked once: a cast costs as much as to store a row in memory.
    private let refuses: Bool

    /// What is known of the log.
    private final class State: Sendable {
        let isLogged = Atomic(false)
        let log = Lock<ChangeLog?>(nil)
        /// The index for searches that is known, and where it is.
        let index = Lock<(TextIndex, (any StoredTextIndex)?)?>(nil)
    }

    init(_ base: any Storage<Record>) {
        self.base = base
        refuses = base.database is any LogAwareDatabase
        let description = Record.schema.description
        guard description.log != nil || description.textIndex != nil, !AmbientTransaction.isWriting else { return }
        // Where writers run side by side, two that are the first to log would wait for each other to make the log. When it cannot be made
        // now, the first write says why.
        try? database.engineState.relations.prepare(description.name) {
            if description.log != nil {
                _ = try database.makeStorage(for: ChangeRow.self)
                try database.alignLog()
            }
            if description.textIndex != nil { try prepareIndex() }
        }
    }

    func insert(_ records: [Record]) throws { try write { try $0.insert(records) } }
    func insert(making records: () throws -> [Record]) throws { try write { try $0.insert(making: records) } }
    func upsert(_ records: [Record]) throws { try write { try $0.upsert(records) } }
    func upsert(making records: () throws -> [Record]) throws { try write { try $0.upsert(making: records) } }
    func merge(keys: [Key], _ body: (Int, inout Record?) throws -> Void) throws -> Int {
        try write { try $0.merge(keys: keys, body) }
    }
    func update(_ query: Query<Record>, _ body: (inout Record) throws -> Void) throws -> Int {
        try write { try $0.update(query, body) }
    }
    func set(_ changes: [StoredChange], counting counter: Int?, where condition: Condition<Record>) throws -> Int? {
        try write { try $0.set(changes, counting: counter, where: condition) }
    }
    func erase(keys: [Key]) throws -> Int { try write { try $0.erase(keys: keys) } }
    func erase(_ query: Query<Record>) throws -> Int { try write { try $0.erase(query) } }

    @inline(__always) private func write<Result>(_ call: (any Storage<Record>) throws -> Result) throws -> Result {
        if state.isLogged.load(ordering: .relaxed) { return try writeLogged(call) }
        if !refuses { return try writeAsking(call) }
        do {
            return try call(base)
        } catch is LoggedEntity {
            return try writeLogged(call)
        }
    }

    @inline(never) private func writeAsking<Result>(_ call: (any Storage<Record>) throws -> Result) throws -> Result {
        func write() throws -> Result {
            let relations = try relations()
            // A new entity is no place for rows either, when the others have moved.
            if let place = relations.moved.values.first { throw StorageError.moved(to: place, path: database.configuration.path) }
            return try relations.follows(entity) ? writeLogged(call) : call(base)
        }
        // Asked outside of the transaction, it could miss a log that begins meanwhile.
        return try AmbientTransaction.usable(of: database.engineState) == nil ? database.runStep(write) : write()
    }

    private var entity: String { Record.schema.description.name }

    private func relations() throws -> KnownRelations { try database.engineState.relations.relations(in: database) }

    @inline(never) private func writeLogged<Result>(_ call: (any Storage<Record>) throws -> Result) throws -> Result {
        try database.runTransaction {
            let relations = try relations()
            if let place = relations.moved[entity] { throw StorageError.moved(to: place, path: database.configuration.path) }
            guard relations.follows(entity) else {
                state.isLogged.store(false, ordering: .relaxed)
                return try call(base)
            }
            state.isLogged.store(true, ordering: .relaxed)
            var rows = LoggedRows(base: base, keepsValues: relations.logs[entity] == .values)
            if relations.logs[entity] != nil {
                rows.log = try state.log.withLock { log in
                    let known = try log ?? ChangeLog(database)
                    log = known
                    return known
                }
            }
            if let index = relations.textIndexes[entity], index.isCurrent {
                let reader = TextReader<Record>(index)
                let writer = try stored(index, TextIndexes.needed(for: entity))?.writer {
                    try reader.rows(base, after: $0, limit: $1)
                }
                if writer == nil { database.engineState.relations.willPrepareAgain() }
                rows.index = writer.map { IndexedRecords(reader: reader, writer: $0) }
            }
            return try call(rows)
        }
    }

    /// Makes the index for searches, so that the first write need not.
    func prepareIndex() throws {
        guard let index = try relations().textIndexes[entity], index.isCurrent, let indexing = TextIndexes.shared else { return }
        guard let stored = try stored(index, indexing), try !stored.isMade() else { return }
        let reader = TextReader<Record>(index)
        // As a migration: it would meet all writers beside it.
        try database.withEntityStore(.write) { _ in
            try database.runTransaction {
                // Somebody else can have made it meanwhile.
                if try !stored.isMade() {
                    _ = try stored.make { try reader.rows(base, after: $0, limit: $1) }
                }
            }
        }
    }

    /// Returns where an index is stored; nil where the database keeps none.
    private func stored(_ index: TextIndex, _ indexing: any TextIndexing) throws -> (any StoredTextIndex)? {
        if let known = state.index.withLock({ $0 }), known.0.id == index.id { return known.1 }
        let stored = try indexing.index(index, in: database)
        state.index.withLock { $0 = (index, stored) }
        return stored
    }
}

/// A database whose storages check with ``EngineState/checkLog(of:)`` whether the rows that they write are logged.
package protocol LogAwareDatabase: Database {
    /// The number of the running write transaction, where one can commit after others with greater numbers; nil where they run one after
    /// another.
    func logNumber() throws -> Int64?

    /// The number below which every write transaction has ended, as the running snapshot sees it, and one that none of those that it sees has
    /// reached; nil as ``logNumber()``.
    func logHorizon() throws -> (ended: Int64, next: Int64)?
}

extension LogAwareDatabase {
    package func logNumber() throws -> Int64? { nil }
    package func logHorizon() throws -> (ended: Int64, next: Int64)? { nil }
}

/// The rows of a model whose changes are logged or in an index, inside a transaction. What changes rows reads them first, and stores them.
private struct LoggedRows<Record: Model>: Storage {
    let base: any Storage<Record>
    /// The log; nil where changes are not logged.
    var log: ChangeLog?
    let keepsValues: Bool
    /// The index for searches; nil where there is none.
    var index: IndexedRecords<Record>?

    init(base: any Storage<Record>, keepsValues: Bool) { (self.base, self.keepsValues) = (base, keepsValues) }

    private var schema: Schema<Record> { Record.schema }
    var database: any Database { base.database }

    func read(_ query: Query<Record>) throws -> [Record] { try base.read(query) }
    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] {
        try base.read(keys: keys, includesSubentities: includesSubentities)
    }
    func read(key: Key) throws -> Record? { try base.read(key: key) }
    func contains(key: Key) throws -> Bool { try base.contains(key: key) }
    func keys(_ query: Query<Record>) throws -> [Key] { try base.keys(query) }
    func count(_ query: Query<Record>) throws -> Int { try base.count(query) }

    func insert(_ records: [Record]) throws {
        try writing { try base.insert(records) }
        try index?.add(records, in: database)
        guard log != nil else { return }
        try add(
            records.map { record in
                let after = try keepsValues ? text(of: record) : nil
                return ChangeLog.Entry(key: schema.key(of: record), kind: .inserted, after: after)
            })
    }

    func upsert(_ records: [Record]) throws {
        let keys = records.map { schema.key(of: $0) }
        var stored: [Key: Record] = [:]
        for record in try base.read(keys: keys, includesSubentities: false) { stored[schema.key(of: record)] = record }
        let texts = try texts(of: Array(stored.values))
        try writing { try base.upsert(records) }
        var entries: [ChangeLog.Entry] = []
        // The last row of a repeated key counts, in the place of the first.
        var last = Dictionary(zip(keys, records), uniquingKeysWith: { $1 })
        let written = keys.compactMap { key in last.removeValue(forKey: key).map { (key, $0) } }
        try index?.change(texts, to: written.map(\.1), in: database)
        guard log != nil else { return }
        for (key, record) in written {
            if let before = stored[key] {
                if let entry = try update(key, before, record) { entries.append(entry) }
            } else {
                let after = try keepsValues ? text(of: record) : nil
                entries.append(ChangeLog.Entry(key: key, kind: .inserted, after: after))
            }
        }
        try add(entries)
    }

    /// The number of rows that are in memory before and after a change. Those of a larger one are changed one by one.
    private static var most: Int { 10_000 }

    func set(_ changes: [StoredChange], counting counter: Int?, where condition: Condition<Record>) throws -> Int? {
        let changesTexts = index?.reader.reads(changes.map(\.field)) ?? false
        if log == nil, !changesTexts { return try writing { try base.set(changes, counting: counter, where: condition) } }
        let before = try base.read(Query(where: condition, limit: Self.most + 1))
        if before.count > Self.most { return nil }
        let texts = changesTexts ? try texts(of: before) : [:]
        guard let count = try writing({ try base.set(changes, counting: counter, where: condition) }) else { return nil }
        let keys = before.map { schema.key(of: $0) }
        var after: [Key: Record] = [:]
        for record in try base.read(keys: keys, includesSubentities: false) { after[schema.key(of: record)] = record }
        if changesTexts { try index?.change(texts, to: keys.compactMap { after[$0] }, in: database) }
        guard log != nil else { return count }
        try add(try zip(keys, before).compactMap { key, before in try after[key].flatMap { try update(key, before, $0) } })
        return count
    }

    func erase(keys: [Key]) throws -> Int {
        var entries: [ChangeLog.Entry] = []
        if keepsValues {
            for record in try base.read(keys: keys, includesSubentities: false) {
                entries.append(ChangeLog.Entry(key: schema.key(of: record), kind: .erased, before: try text(of: record)))
            }
        } else if log != nil {
            let condition = Condition<Record>(.isIn(field: schema.description.keyIndex, keys.map(\.value)))
            entries = try base.keys(Query(where: condition)).map { ChangeLog.Entry(key: $0, kind: .erased) }
        }
        let count = try writing { try base.erase(keys: keys) }
        try index?.writer.apply(erased: keys, added: [])
        try add(entries)
        return count
    }

    private func writing<Result>(_ body: () throws -> Result) throws -> Result {
        try AmbientTransaction.logging(in: database.engineState, body)
    }

    private func add(_ entries: [ChangeLog.Entry]) throws { try log?.add(entries, of: schema.description.name) }

    /// The texts of rows that are about to change, by their keys.
    private func texts(of records: [Record]) throws -> [Key: IndexedTexts] {
        guard let index else { return [:] }
        return Dictionary(try index.reader.texts(of: records, in: database).map { ($0.key, $0) }, uniquingKeysWith: { $1 })
    }

    /// The change from one row to another; nil when the rows are the same.
    private func update(_ key: Key, _ before: Record, _ after: Record) throws -> ChangeLog.Entry? {
        let (old, new) = (try schema.storedValues(of: before), try schema.storedValues(of: after))
        let fields = schema.description.fields
        let changed = fields.indices.filter { fields[$0].type.kind != .toMany && old[$0] != new[$0] }
        if changed.isEmpty { return nil }
        let shown = keepsValues ? fields.indices.filter { fields[$0].type.kind != .toMany } : changed
        return ChangeLog.Entry(
            key: key, kind: .updated, before: keepsValues ? ChangedValues.text(shown.map { (fields[$0].name, old[$0]) }) : nil,
            after: ChangedValues.text(shown.map { (fields[$0].name, new[$0]) }))
    }

    private func text(of record: Record) throws -> String {
        let (fields, values) = (schema.description.fields, try schema.storedValues(of: record))
        return ChangedValues.text(
            fields.indices.filter { fields[$0].type.kind != .toMany }.map { (fields[$0].name, values[$0]) })
    }
}
