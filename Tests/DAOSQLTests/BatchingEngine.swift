import DAOCore
import DAOExamples
import DAOSQL
import Foundation

@testable import DAOSQLite

/// SQLite with the behaviour of an engine behind a network: the rows of a batch are held back until it is
/// sent, and stored in one round trip.
///
/// It proves the freedoms of an engine that SQLite does not use: rows are written together, and a refused row
/// is identified by its number.
final class BatchingEngine: SQLEngine {
    let engine: SQLiteEngine
    let roundTrips: RoundTrips

    init(_ engine: SQLiteEngine, _ roundTrips: RoundTrips) {
        self.engine = engine
        self.roundTrips = roundTrips
    }

    var dialect: any SQLDialect { engine.dialect }
    var traits: SQLEngineTraits { engine.traits }
    var commitCounter: ObservationHub.OpenCounter? { engine.commitCounter }

    func didRead() { engine.didRead() }
    var allowsKeptSnapshots: Bool { engine.allowsKeptSnapshots }
    func useToEndSnapshots(_ end: @escaping @Sendable () -> Void) { engine.useToEndSnapshots(end) }
    func suspend() { engine.suspend() }
    func close() { engine.close() }

    func writeBackup(
        to path: String, from connection: any SQLConnection, onProgress: (BackupProgress) throws -> Void
    ) throws {
        let sent = try (connection as? BatchingConnection)?.sent() ?? connection
        try engine.writeBackup(to: path, from: sent, onProgress: onProgress)
    }

    func connect(_ access: SQLAccess) throws -> any SQLConnection {
        BatchingConnection(try engine.connect(access), roundTrips)
    }

    func connectToReplica() throws -> any SQLConnection { BatchingConnection(try engine.connectToReplica(), roundTrips) }

    func check(_ connection: any SQLConnection) throws {
        guard let connection = connection as? BatchingConnection else { return }
        try engine.check(connection.inner)
    }
}

/// Counts the round trips of all connections.
final class RoundTrips: Sendable {
    private let value = Atomic(0)
    var count: Int { value.load(ordering: .relaxed) }
    func add() { value.add(1, ordering: .relaxed) }
}

/// A connection that sends the rows that are held back before it runs another statement.
private final class BatchingConnection: SQLConnection {
    let inner: any SQLConnection
    let roundTrips: RoundTrips
    /// The batch that holds rows back.
    weak var holding: BatchingRows?

    init(_ inner: any SQLConnection, _ roundTrips: RoundTrips) {
        self.inner = inner
        self.roundTrips = roundTrips
    }

    /// Sends the rows that are held back, and counts the next round trip.
    func sent() throws -> any SQLConnection {
        try holding?.send()
        roundTrips.add()
        return inner
    }

    func beginReading() throws { try inner.beginReading() }
    func beginSnapshot() throws { try inner.beginSnapshot() }
    func lastWriteFollows() { inner.lastWriteFollows() }
    func beginWriting(_ write: SQLWrite) throws { try inner.beginWriting(write) }
    func commit(isObserved: Bool) throws -> (before: UInt64, after: UInt64)? {
        try holding?.send()
        return try inner.commit(isObserved: isObserved)
    }
    func rollback() {
        holding?.drop()
        inner.rollback()
    }
    func beginSavepoint() throws { try sent().beginSavepoint() }
    func releaseSavepoint() throws { try sent().releaseSavepoint() }
    func rollbackSavepoint() throws {
        holding?.drop()
        try inner.rollbackSavepoint()
    }
    func willClose() { inner.willClose() }
    var pinnedBytes: Int? { inner.pinnedBytes }
    var needsOptimizing: Bool { inner.needsOptimizing }
    func optimize() throws { try inner.optimize() }
    var needsRest: Bool { inner.needsRest }
    func rest() -> Bool { inner.rest() }
    func compact(_ settings: SQLWriteSettings) throws -> CompactionReport { try inner.compact(settings) }
    func canReadAgain() -> Bool { inner.canReadAgain() }
    var keepsSnapshot: Bool { inner.keepsSnapshot }
    func endSnapshot() { inner.endSnapshot() }
    func hasCaughtUp() -> Bool { inner.hasCaughtUp() }
    func shouldReadAgain(after error: any Error) -> Bool { inner.shouldReadAgain(after: error) }
    func checkTransaction() throws { try inner.checkTransaction() }
    var underlyingHandle: (any UnderlyingHandle)? {
        try? holding?.send()
        return inner.underlyingHandle
    }

    func prepare(_ text: String, entity: String) throws -> SQLStatement {
        BatchingStatement(try inner.prepare(text, entity: entity), self)
    }
    func batch(_ write: SQLRowWrite, of table: SQLTable) throws -> SQLRowBatch {
        BatchingRows(try inner.batch(write, of: table), self)
    }
    func execute(_ text: String) throws { try sent().execute(text) }
    func explain(_ query: SQLText, of entity: EntityDescription) throws -> QueryPlan { try sent().explain(query, of: entity) }
    // Looked up once for a table.
    func searchPaths(of table: SQLTable) throws -> [SQLSearchPath] { try inner.searchPaths(of: table) }

    // An engine behind a network fetches it together with the beginning of the transaction.
    func schemaVersion() throws -> UInt64 { try inner.schemaVersion() }
    func catalogDidChange() throws { try sent().catalogDidChange() }
    func hasTable(_ name: String) throws -> Bool { try sent().hasTable(name) }
    func storedTable(_ name: String) throws -> SQLStoredTable? { try sent().storedTable(name) }
    func takenNames() throws -> Set<String> { try sent().takenNames() }
    func makeRoom(for table: String) throws { try sent().makeRoom(for: table) }
    func ties(to table: String) throws -> [String] { try sent().ties(to: table) }
    func indexesToFillLater(of table: String) throws -> [SQLIndexStatements] { try sent().indexesToFillLater(of: table) }
    func problems() throws -> [SQLProblem] { try sent().problems() }
}

private final class BatchingStatement: SQLStatement {
    private let inner: SQLStatement
    private unowned let connection: BatchingConnection
    /// The keys that were announced and not bound yet. Their rows are read as they were at the announcement.
    private var prefetched: Set<Key> = []

    init(_ inner: SQLStatement, _ connection: BatchingConnection) {
        self.inner = inner
        self.connection = connection
        super.init()
    }

    override func bind(_ bindings: [SQLBinding]) throws {
        _ = try connection.sent()
        try inner.bind(bindings)
    }
    override func bind(_ key: Key) throws {
        if prefetched.remove(key) == nil { _ = try connection.sent() }
        try inner.bind(key)
    }
    override func stream() throws { try inner.stream() }
    override func prefetch(_ keys: [Key]) throws {
        _ = try connection.sent()
        prefetched = Set(keys)
    }
    override func makeReader(of entity: EntityDescription, firstField: Int, keyColumn: Int) -> SQLRowReader {
        inner.makeReader(of: entity, firstField: firstField, keyColumn: keyColumn)
    }
    override func run() throws -> Int { try inner.run() }
    override func run(forEach keys: [Key]) throws -> Int {
        _ = try connection.sent()
        return try inner.run(forEach: keys)
    }
    override func reset() { inner.reset() }
    override func finish() {
        prefetched = []
        inner.finish()
    }
}

/// Rows that are held back, each as the closures that write its fields.
private final class BatchingRows: SQLRowBatch {
    private let inner: SQLRowBatch
    private unowned let connection: BatchingConnection
    private var row: [(RowWriter) throws -> Void] = []
    private var rows: [(fields: [(RowWriter) throws -> Void], key: Key?)] = []

    init(_ inner: SQLRowBatch, _ connection: BatchingConnection) {
        self.inner = inner
        self.connection = connection
        super.init()
    }

    override var isHolding: Bool { !rows.isEmpty }
    override func begin() { row = [] }
    override func add() throws { try hold(nil) }
    override func add(changing key: Key) throws { try hold(key) }
    override func finish() {
        drop()
        inner.finish()
    }

    override func send() throws {
        connection.holding = nil
        if rows.isEmpty { return }
        connection.roundTrips.add()
        let sent = rows
        drop()
        for (number, row) in sent.enumerated() {
            inner.begin()
            for write in row.fields { try write(inner) }
            do {
                if let key = row.key { try inner.add(changing: key) } else { try inner.add() }
            } catch let refused as SQLRefusedRow {
                try refuse(SQLRefusedRow(refused.reason, number: number, refused.underlying))
            }
        }
    }

    func drop() { rows = [] }

    private func hold(_ key: Key?) throws {
        if connection.holding !== self { try connection.holding?.send() }
        rows.append((row, key))
        connection.holding = self
    }

    override func writeNull(at index: Int) throws { row.append { try $0.writeNull(at: index) } }
    override func writeInt64(_ value: Int64, at index: Int) throws { row.append { try $0.writeInt64(value, at: index) } }
    override func writeUInt64(_ value: UInt64, at index: Int) throws { row.append { try $0.writeUInt64(value, at: index) } }
    override func writeDouble(_ value: Double, at index: Int) throws { row.append { try $0.writeDouble(value, at: index) } }
    override func writeString(_ value: String, at index: Int) throws { row.append { try $0.writeString(value, at: index) } }
    override func writeData(_ value: Data, at index: Int) throws { row.append { try $0.writeData(value, at: index) } }
    override func writeUUID(_ value: UUID, at index: Int) throws { row.append { try $0.writeUUID(value, at: index) } }
}

extension DatabaseDriver {
    /// Opens SQLite files through a ``BatchingEngine``.
    static func batching(_ roundTrips: RoundTrips = RoundTrips()) -> DatabaseDriver {
        let driver = DatabaseDriver.sql("batching", identity: { try DatabaseFile($0, mode: nil).identity.description }) {
            configuration in
            let file = try DatabaseFile(configuration, mode: nil)
            do {
                return BatchingEngine(
                    try SQLiteEngine(file, SQLiteSettings(configuration), writes: !configuration.isReadOnly), roundTrips)
            } catch let error as StorageError where error.kind == .notPermitted && error.message.contains("encrypted") {
                // It takes no key, so that a file which could be encrypted is none of its databases.
                throw StorageError(.notADatabase, error.message, path: error.path)
            }
        }
        return DatabaseDriver(scheme: driver.scheme, optionNames: driver.optionNames) { try driver.open($0.withAbsolutePath()) }
    }
}
