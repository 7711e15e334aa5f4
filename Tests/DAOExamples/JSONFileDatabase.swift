import DAOCore
import Foundation

/// The open files, by identity.
private let engines = SharedInstances<FileIdentity, JSONEngine>()

extension DatabaseDriver {
    /// Opens databases whose rows are in a JSON file, as in `jsonfile:///path/app.json`.
    package static let jsonfile = DatabaseDriver(scheme: "jsonfile") { try JSONFileDatabase($0) }
}

/// A complete database of rows: one line of JSON in a file for each commit, and all rows in memory.
package final class JSONFileDatabase: Database {
    package let configuration: DatabaseConfiguration
    package let capabilities: Capabilities
    package var engineState: EngineState { lifetime.engineState }

    private let engine: JSONEngine
    private let lifetime: DatabaseLifetime<JSONTransaction>

    init(_ configuration: DatabaseConfiguration) throws {
        let configuration = try configuration.withAbsolutePath()
        self.configuration = configuration
        let file = try JSONFile(configuration)
        let identity = file.identity
        // A second database on the file shares the engine, and `file` is closed when this call ends.
        engine = try engines.acquire(identity) { try JSONEngine(file) }
        capabilities = Capabilities(
            engine: "JSON file", isPersistent: true, detectsTruncation: false,
            isReadOnly: configuration.isReadOnly || engine.file.isReadOnly)
        lifetime = DatabaseLifetime(engine.coordinator, path: configuration.path) {
            engines.release(identity) { $0.file.close() }
        }
    }

    package func makeStorage<Record: Model>(for model: Record.Type) throws -> any Storage<Record> {
        if let problem = Record.schema.problem { throw problem }
        let declaration = Record.schema.declaration
        let whole = declaration.whole
        let stored = try read { $0.tables[whole.name]?.entity }
        if stored == nil { try write(touching: whole.name) { try $0.createIfMissing(whole) } }
        let change = EntityChange(from: stored ?? whole, to: declaration)
        guard change.isEmpty, let layout = RowLayout(of: stored ?? whole, for: declaration) else {
            throw change.mismatch(path: configuration.path)
        }
        return JSONStorage<Record>(owner: self, whole: whole, layout: layout)
    }

    package func runTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        try lifetime.call {
            try checkWritable()
            return try engine.coordinator.write(.body) { _ in try body() }
        }
    }

    package func runSnapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try lifetime.call { try engine.coordinator.snapshot(body) }
    }

    package func entities() throws -> [EntityDescription] {
        try read { $0.tables.values.map(\.entity).sorted { $0.name < $1.name } }
    }

    package func runSuspension() throws {
        throw StorageError(.unsupported, "the file is locked as long as it is open; close the database", path: configuration.path)
    }

    package func close() throws { try lifetime.close() }

    /// Runs a read in the current transaction or snapshot, or in one of its own.
    fileprivate func read<Result>(_ body: (JSONTransaction) throws -> Result) throws -> Result { try lifetime.read(body) }

    /// Runs a write in the current transaction, or in one of its own.
    fileprivate func write<Result>(touching entity: String, _ body: (JSONTransaction) throws -> Result) throws -> Result {
        try lifetime.call {
            try checkWritable()
            return try engine.coordinator.write(.call, touching: entity, body)
        }
    }

    private func checkWritable() throws {
        if capabilities.isReadOnly { throw StorageError.readOnly(configuration.path) }
    }
}

// MARK: Rows

/// The rows of one model: the five required methods, and the keys of rows that cannot be read.
struct JSONStorage<Record: Model>: Storage {
    fileprivate let owner: JSONFileDatabase
    /// The entity as it is created. A model of a part of it has fewer fields.
    fileprivate let whole: EntityDescription
    /// Where the fields of the model are in the stored rows.
    fileprivate let layout: RowLayout

    var database: any Database { owner }

    func read(_ query: Query<Record>) throws -> [Record] {
        // Only matching rows are decoded, so an unreadable row does not affect queries for other rows.
        try matching(query).map { try Record.schema.decode($0.reader) }
    }

    func keys(_ query: Query<Record>) throws -> [Key] { try matching(query).map(\.key) }

    private func matching(_ query: Query<Record>) throws -> [(key: Key, reader: ValueRowReader)] {
        let resolved = try query.resolved()
        let rows = try owner.read { $0.tables[whole.name]?.rows ?? [:] }
        return try resolved.evaluate(over: rows.map { (key: $0, reader: layout.reader(of: $1)) }) { field, row in
            try row.reader.readValue(at: field)
        }
    }

    func read(keys: [Key], includesSubentities: Bool) throws -> [Record] {
        let rows = try owner.read { $0.tables[whole.name]?.rows ?? [:] }
        var seen: Set<Key> = []
        return try keys.filter { seen.insert($0).inserted }.compactMap { key in
            try rows[key].map { try Record.schema.decode(layout.reader(of: $0)) }
        }
    }

    func insert(_ records: [Record]) throws { try store(records, replacing: false) }

    func upsert(_ records: [Record]) throws { try store(records, replacing: true) }

    func erase(keys: [Key]) throws -> Int {
        try owner.write(touching: whole.name) { transaction in
            try keys.count { try transaction.erase($0, from: whole.name) }
        }
    }

    private func store(_ records: [Record], replacing: Bool) throws {
        let rows = try records.map { record in
            try Record.schema.checkOrder(with: record)
            let writer = ValueRowWriter(count: layout.declared.count)
            try Record.schema.encode(record, to: writer)
            return (key: try Record.schema.validKey(of: record), values: writer.values)
        }
        try owner.write(touching: whole.name) { transaction in
            // A transaction that was rolled back can have created the entity.
            try transaction.createIfMissing(whole)
            func stored() -> [Key: [Value]] { transaction.tables[whole.name]?.rows ?? [:] }
            try layout.store(
                rows, mayReplace: replacing, in: self, find: { stored()[$0] }, rows: { stored() },
                put: { try transaction.store($1, in: whole.name) })
        }
    }
}

/// The rows of one entity.
struct JSONTable: Sendable {
    let entity: EntityDescription
    var rows: [Key: [Value]] = [:]
}

// MARK: Transactions

/// The tables as a transaction sees them, and what it has changed.
final class JSONTransaction: TransactionHandle {
    /// A change, as a commit writes it.
    enum Change: Codable, Sendable {
        case create(EntityDescription)
        case store([Value], in: String)
        case erase(UniqueID, from: String)
    }

    private let file: JSONFile
    private(set) var tables: [String: JSONTable]
    private var changes: [Change] = []
    private var savepoints: [(tables: [String: JSONTable], changes: Int)] = []

    init(_ file: JSONFile) {
        self.file = file
        tables = file.tables
    }

    func createIfMissing(_ entity: EntityDescription) throws {
        if tables[entity.name] != nil { return }
        try entity.checkName(among: tables.values.map(\.entity), path: file.path)
        try make(.create(entity))
    }

    func store(_ values: [Value], in entity: String) throws { try make(.store(values, in: entity)) }

    func erase(_ key: Key, from entity: String) throws -> Bool {
        if tables[entity]?.rows[key] == nil { return false }
        try make(.erase(UniqueID(key), from: entity))
        return true
    }

    func commit() throws {
        try file.append(changes)
        file.tables = tables
    }

    func rollback() {}

    func beginSavepoint() throws { savepoints.append((tables, changes.count)) }

    func releaseSavepoint() throws { savepoints.removeLast() }

    func rollbackSavepoint() throws {
        let savepoint = savepoints.removeLast()
        tables = savepoint.tables
        changes.removeLast(changes.count - savepoint.changes)
    }

    private func make(_ change: Change) throws {
        try tables.make(change)
        changes.append(change)
    }
}

extension [String: JSONTable] {
    /// Makes a change. One that no transaction can have made is an error: the file is damaged.
    fileprivate mutating func make(_ change: JSONTransaction.Change) throws {
        switch change {
        case .create(let entity): self[entity.name] = JSONTable(entity: entity)
        case .store(let values, let name):
            guard let entity = self[name]?.entity, values.count == entity.fields.count else {
                throw CocoaError(.coderInvalidValue)
            }
            self[name]?.rows[try entity.key(of: values)] = values
        case .erase(let id, let name):
            guard let entity = self[name]?.entity else { throw CocoaError(.coderInvalidValue) }
            self[name]?.rows[try id.key(as: entity.fields[entity.keyIndex].type.kind, entity: name)] = nil
        }
    }
}

// MARK: The file

/// What the databases on one file share: its rows, and the lock of the writer.
private final class JSONEngine: Sendable {
    let file: JSONFile
    let coordinator: TransactionCoordinator<JSONTransaction>

    init(_ file: JSONFile) throws {
        try file.load()
        self.file = file
        coordinator = TransactionCoordinator(
            EngineState(name: "JSON file", sharesCommits: true), path: file.path,
            beginWriting: {
                try file.checkAttached()
                return JSONTransaction(file)
            }, beginReading: { JSONTransaction(file) })
    }
}

/// The file, with one line for each commit, and the rows that its lines make together.
final class JSONFile: Sendable {
    private static let header = Data("{\"format\":\"rows of swift-dao, a commit in each line\"}".utf8)

    let path: String
    let isReadOnly: Bool
    let identity: FileIdentity
    /// The rows of the last commit.
    var tables: [String: JSONTable] {
        get { lock.withLock { committed } }
        set { lock.withLock { committed = newValue } }
    }
    private let lock = NSLock()
    // For the thread that has the lock.
    private nonisolated(unsafe) var committed: [String: JSONTable] = [:]
    private let isDurable: Bool
    private let busyTimeout: Duration
    private let handle: FileHandle
    // Of the one write transaction.
    private nonisolated(unsafe) var length: UInt64 = 0
    private nonisolated(unsafe) var isDetached = false

    /// Opens the file, or creates it.
    init(_ configuration: DatabaseConfiguration) throws {
        path = configuration.path
        isDurable = configuration.durability == .full
        busyTimeout = configuration.busyTimeout
        if path.isEmpty || path.utf8.contains(0) { throw StorageError.invalidPath(path) }
        let creates = configuration.createsIfMissing && !configuration.isReadOnly
        var descriptor = open(path, O_RDWR | O_CLOEXEC | (creates ? O_CREAT : 0), 0o600)
        isReadOnly = descriptor < 0 && [EACCES, EROFS].contains(errno)
        if isReadOnly { descriptor = open(path, O_RDONLY | O_CLOEXEC) }
        let code = Int(errno)
        guard let identity = FileIdentity(descriptor: descriptor) else {
            switch Int32(code) {
            case EISDIR: throw StorageError.notADatabase(path, "a directory")
            case ENOENT where !creates: throw StorageError.notFound(path)
            case ENOENT, ENOTDIR: throw StorageError.directoryNotFound(path)
            case EACCES, EPERM: throw StorageError.notPermitted(path, engineCode: code, engineMessage: nil)
            default: throw StorageError(.io, "the file cannot be opened", path: path, engineCode: code)
            }
        }
        self.identity = identity
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    func close() { try? handle.close() }

    /// Reads every commit. A line without an end is what a process left that was killed while it wrote.
    func load() throws {
        // Another process would not see what this one writes. One that this process starts has the lock of a closed file until it
        // runs its program.
        let end = ContinuousClock.now + busyTimeout
        while flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) != 0 {
            guard .now < end else { throw StorageError.busy(path) }
            usleep(1000)
        }
        let lines = (try handle.readToEnd() ?? Data()).split(separator: 0x0A, omittingEmptySubsequences: false)
        if lines.allSatisfy(\.isEmpty), lines.count < 2 { return isReadOnly ? () : try append(Self.header) }
        guard lines[0] == Self.header, lines.count > 1 else { throw StorageError.notADatabase(path, "a file of another kind") }
        do {
            var tables: [String: JSONTable] = [:]
            for line in lines.dropFirst().dropLast() {
                for change in try JSONDecoder().decode([JSONTransaction.Change].self, from: line) { try tables.make(change) }
            }
            self.tables = tables
        } catch {
            throw StorageError.corrupted(path, engineMessage: "\(error)")
        }
        length = UInt64(lines.dropLast().reduce(0) { $0 + $1.count + 1 })
    }

    /// Throws `.detached` once the path no longer leads to this file, also when the file has its name back (contract L8).
    func checkAttached() throws {
        isDetached = isDetached || FileIdentity(path) != identity
        if isDetached { throw StorageError.detached(path) }
    }

    /// Writes the line of a commit.
    func append(_ changes: [JSONTransaction.Change]) throws {
        if !changes.isEmpty { try append(JSONEncoder().encode(changes)) }
    }

    private func append(_ line: Data) throws {
        do {
            // What a write left that failed, or was killed, is in the way.
            try handle.truncate(atOffset: length)
            try handle.write(contentsOf: line + [0x0A])
            if isDurable { try handle.synchronize() }
        } catch {
            try? handle.truncate(atOffset: length)
            let code = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError)?.code ?? 0
            let isFull = [ENOSPC, EDQUOT, EFBIG].contains(Int32(code))
            throw StorageError(
                isFull ? .outOfSpace : .io, "the commit could not be written, and is undone; try again", path: path,
                engineMessage: "\(error)")
        }
        length += UInt64(line.count + 1)
    }
}
