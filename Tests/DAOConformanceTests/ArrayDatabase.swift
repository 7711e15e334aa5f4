import DAOCore
import Foundation

/// The simplest database: every entity is an array of rows in key order, and every transaction is a copy.
///
/// Its storage implements only the five required methods, so it also proves the methods derived from them.
final class ArrayDatabase: Database {
    let configuration: DatabaseConfiguration
    let capabilities: Capabilities
    var engineState: EngineState { lifetime.engineState }

    let engine: ArrayEngine
    private let lifetime: DatabaseLifetime<ArrayTransaction>
    private let limits: Limits

    /// The features that a database declares not to have, for the negative cases.
    struct Limits: Sendable {
        var isPersistent = false
        var maximumValueLength: Int?
        var hasEvolution = true
        /// Whether a to-one is in the rows; otherwise all links are rows of the hidden entity, as in a new custom database.
        var hasReferencesInRows = true
    }

    private static let engines = SharedInstances<String, ArrayEngine>()

    /// Opens the database with a name. Databases with the same name share their rows while one of them is
    /// open.
    init(_ name: String, limits: Limits = Limits()) throws {
        configuration = DatabaseConfiguration(scheme: "array", path: name)
        self.limits = limits
        capabilities = Capabilities(
            engine: "array", isPersistent: limits.isPersistent, hasEvolution: limits.hasEvolution,
            maximumValueLength: limits.maximumValueLength)
        engine = try Self.engines.acquire(name) { ArrayEngine() }
        lifetime = DatabaseLifetime(engine.coordinator, path: nil) { Self.engines.release(name) { _ in } }
        // An additional reference that is never released keeps the rows, as a file would.
        if limits.isPersistent { _ = try Self.engines.acquire(name) { engine } }
    }

    func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> {
        if let problem = Record.schema.problem { throw problem }
        return try lifetime.call {
            let declaration = Record.schema.declaration
            let entity = declaration.whole
            let stored = try read({ $0.tables[entity.name]?.entity })
            if let stored, limits.hasEvolution {
                let change = EntityChange(from: stored, to: declaration)
                guard change.obstacles.isEmpty else { throw change.mismatch() }
                if !change.isEmpty, !(change.canWait && engine.coordinator.isInside) {
                    if engine.coordinator.isInside { throw change.insideTransaction() }
                    try withEntityStore(.write) { try $0.apply(change) }
                }
            }
            if stored == nil || !limits.hasEvolution {
                try engine.coordinator.write(.call, touching: entity.name) { transaction in
                    if transaction.tables[entity.name]?.entity == nil {
                        try entity.checkName(among: transaction.tables.values.compactMap(\.entity), path: nil)
                    }
                    transaction.tables[entity.name, default: .init()].entity = entity
                }
            }
            return ArrayStorage<Record>(array: self, declaration: declaration)
        }
    }

    /// The links of a to-one relationship are in the rows; lists are rows of the hidden entity.
    func makeLinks(for relation: RelationDescription) throws -> any LinkStorage {
        relation.isToOne && limits.hasReferencesInRows
            ? ArrayReferences(array: self, relation: relation) : try makeHiddenLinks(for: relation)
    }

    func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        try lifetime.call { try engine.coordinator.write(.body) { _ in try body() } }
    }

    func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try lifetime.call { try engine.coordinator.snapshot(body) }
    }

    func entities() throws -> [EntityDescription] {
        try read { try ArrayEntityStore($0, self).entities() }
    }

    func close() throws { try lifetime.close() }

    func read<Result>(_ body: (ArrayTransaction) throws -> Result) throws -> Result {
        try lifetime.read(body)
    }

    func write<Result>(touching entity: String, _ body: (ArrayTransaction) throws -> Result) throws -> Result {
        try lifetime.call { try engine.coordinator.write(.call, touching: entity, body) }
    }

    fileprivate func check(length: Int, entity: String) throws {
        guard let maximum = limits.maximumValueLength, length > maximum else { return }
        throw StorageError(.unsupported, "a value of \(length) bytes is longer than the \(maximum) there may be", entity: entity)
    }
}

/// The rows of one entity, in key order.
struct ArrayTable: Sendable {
    struct Row: Sendable {
        var key: Key
        var values: [Value]
    }

    var entity: EntityDescription?
    var rows: [Row] = []

    /// Returns the position of a key, or the position where it would be inserted.
    func position(of key: Key) -> (index: Int, isThere: Bool) {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return (low, low < rows.count && rows[low].key == key)
    }

    /// Stores a row in its place. A method of the table, since a table that is looked up first has two owners, and all rows are copied.
    mutating func put(_ row: Row) {
        let place = position(of: row.key)
        if place.isThere { rows[place.index] = row } else { rows.insert(row, at: place.index) }
    }
}

/// The committed tables, and the lock of the writer.
final class ArrayEngine: Sendable {
    let coordinator: TransactionCoordinator<ArrayTransaction>
    let committed: CommittedTables

    init() {
        let committed = CommittedTables()
        let begin: @Sendable () throws -> ArrayTransaction = { ArrayTransaction(committed) }
        coordinator = TransactionCoordinator(
            EngineState(name: "array", sharesCommits: true), beginWriting: begin, beginReading: begin)
        self.committed = committed
    }
}

/// The state with which new transactions begin.
final class CommittedTables: Sendable {
    let tables = Lock<[String: ArrayTable]>([:])
}

/// A copy of the tables, and further copies for savepoints.
final class ArrayTransaction: TransactionHandle {
    private let committed: CommittedTables
    private var savepoints: [[String: ArrayTable]] = []
    var tables: [String: ArrayTable]

    init(_ committed: CommittedTables) {
        self.committed = committed
        tables = committed.tables.withLock { $0 }
    }

    func commit() throws { committed.tables.withLock { $0 = tables } }
    func rollback() {}
    func beginSavepoint() throws { savepoints.append(tables) }
    func releaseSavepoint() throws { savepoints.removeLast() }
    func rollbackSavepoint() throws { tables = savepoints.removeLast() }
}

/// The five required methods on arrays, and the keys of rows that cannot be read.
struct ArrayStorage<Record: Model>: Storage {
    fileprivate let array: ArrayDatabase
    /// What the model declares.
    fileprivate let declaration: EntityDeclaration
    private var entity: EntityDescription { declaration.description }

    var database: any Database { array }

    func read(_ query: Query<Record>) throws -> [Record] {
        // Only matching rows are decoded, so an unreadable row does not affect queries for other rows.
        let (rows, layout) = try matching(query)
        return try rows.map { try decode($0, layout) }
    }

    func keys(_ query: Query<Record>) throws -> [Key] { try matching(query).rows.map(\.key) }

    private func matching(_ query: Query<Record>) throws -> (rows: [ArrayTable.Row], layout: RowLayout) {
        let resolved = try query.resolved()
        return try array.read { transaction in
            let (table, layout) = try table(transaction)
            let rows = try resolved.evaluate(over: table.rows.map { ($0, layout.reader(of: $0.values)) }) { field, row in
                try row.1.readValue(at: field)
            }
            return (rows.map(\.0), layout)
        }
    }

    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] {
        try array.read { transaction in
            let (table, layout) = try table(transaction)
            var seen: Set<Key> = []
            return try keys.compactMap { key in
                let place = table.position(of: key)
                guard place.isThere, seen.insert(key).inserted else { return nil }
                return try decode(table.rows[place.index], layout)
            }
        }
    }

    func insert(_ records: [Record]) throws { try store(records, replacing: false) }

    func upsert(_ records: [Record]) throws { try store(records, replacing: true) }

    func erase(keys: [Key]) throws -> Int {
        try array.write(touching: entity.name) { transaction in
            var erased = 0
            for key in keys {
                let place = try table(transaction).table.position(of: key)
                guard place.isThere else { continue }
                transaction.tables[entity.name]?.rows.remove(at: place.index)
                erased += 1
            }
            return erased
        }
    }

    /// The table, and the order of its values for the model.
    private func table(_ transaction: ArrayTransaction) throws -> (table: ArrayTable, layout: RowLayout) {
        let table = transaction.tables[entity.name] ?? ArrayTable()
        guard let layout = RowLayout(of: table.entity ?? declaration.whole, for: declaration) else {
            throw StorageError.outdated(entity.name, path: nil)
        }
        return (table, layout)
    }

    private func decode(_ row: ArrayTable.Row, _ layout: RowLayout) throws -> Record {
        try Record.schema.decode(layout.reader(of: row.values))
    }

    private func store(_ records: [Record], replacing: Bool) throws {
        let rows = try records.map { record in
            let writer = ValueRowWriter(count: entity.fields.count)
            try Record.schema.encode(record, to: writer)
            for value in writer.values { try array.check(length: value.length, entity: entity.name) }
            try Record.schema.checkOrder(with: record)
            return (key: try Record.schema.validKey(of: record), values: writer.values)
        }
        try array.write(touching: entity.name) { transaction in
            let (name, whole) = (entity.name, declaration.whole)
            if transaction.tables[name] == nil { transaction.tables[name] = ArrayTable(entity: whole) }
            func table() -> ArrayTable { transaction.tables[name] ?? ArrayTable() }
            try self.table(transaction).layout.store(
                rows, mayReplace: replacing, in: self,
                find: { key in
                    let place = table().position(of: key)
                    return place.isThere ? table().rows[place.index].values : nil
                },
                rows: { table().rows.lazy.map { (key: $0.key, value: $0.values) } },
                put: { key, values in transaction.tables[name]?.put(ArrayTable.Row(key: key, values: values)) })
        }
    }
}

extension Value {
    fileprivate var length: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .data(let data): data.count
        default: 0
        }
    }
}
