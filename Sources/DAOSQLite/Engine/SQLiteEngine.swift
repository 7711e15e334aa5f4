import DAOCore
import DAOSQL
import DAOSystemSQLite
import Foundation
import Synchronization

/// What all databases on one file share in this process: one connection that writes, a pool that reads, and the tables that are known.
final class SQLiteEngine: Sendable {
    /// The engines that are open, by what their files are: two paths to one file give one engine.
    static let shared = SharedInstances<SQLiteEngine>()

    /// The file.
    let file: DatabaseFile
    /// Transactions and their rules.
    let coordinator: TransactionCoordinator<SQLiteConnection>
    /// The entities whose tables were found or made, by name.
    let tables = Mutex<[String: KnownTable]>([:])
    /// The relationships whose links were found or made.
    let links = Mutex<[RelationDescription: SQLLinks]>([:])
    /// Counts the tables.
    let numbers = Atomic<Int>(0)

    private let writer: WriterConnection
    private let readers: ReaderPool

    /// Opens a file. Nobody else in this process has it open.
    ///
    /// - Throws: What ``DatabaseFile/checkHeader()`` throws; `.corrupted`, `.busy`, `.io`.
    init(_ file: DatabaseFile, writes: Bool) throws {
        try file.checkHeader()
        self.file = file
        let state = EngineState(name: file.path)
        let writer = WriterConnection(file, state.observations)
        let mode: ConnectionMode
        if file.isWritable, writes {
            mode = .reader
        } else {
            mode = file.isDirectoryWritable || file.hasLog ? .readOnly : .immutable
        }
        let readers = ReaderPool { try SQLiteConnection.open(file.path, mode) }
        self.writer = writer
        self.readers = readers
        coordinator = TransactionCoordinator(
            state, beginWriting: { try writer.get() }, beginReading: { try readers.take() })
        // A file that is read without locks is one that nobody writes.
        if mode != .immutable { state.observations.watchOthers { try CommitCounter.open(file.path, mode) } }
        if writes { try writer.open() }
        try check()
    }

    /// Opens the connection that writes, if only readers had the file open so far.
    func openWriter() throws { try writer.open() }

    /// Closes the connections; the writer last, so that it empties the log.
    func close() {
        coordinator.engineState.observations.stopWatchingOthers()
        readers.close()
        writer.close()
    }

    /// Reads the schema, and in a small file checks every page.
    private func check() throws {
        try coordinator.read { connection in
            _ = try connection.integers("PRAGMA schema_version")
            _ = try connection.integers("SELECT count(*) FROM sqlite_master")
            let pages = try connection.integers("PRAGMA page_count").first ?? 0
            guard pages < 1024 else { return }
            for line in try connection.texts("PRAGMA quick_check(20)") where line != "ok" {
                // These are about values, which reading a row finds by itself.
                if line.hasPrefix("NULL value in") || line.hasPrefix("CHECK constraint") || line.contains(" value in ") {
                    continue
                }
                throw StorageError(
                    .corrupted, "the file is damaged: restore it from a backup, or recover what is left with 'sqlite3 .recover'",
                    path: file.path, engineCode: Int(SQLITE_CORRUPT), engineMessage: line)
            }
        }
    }
}

/// The one connection that writes, opened when it is first wanted.
private final class WriterConnection: Sendable {
    private let file: DatabaseFile
    private let observations: ObservationHub
    private let connection = Mutex<SQLiteConnection?>(nil)

    init(_ file: DatabaseFile, _ observations: ObservationHub) {
        self.file = file
        self.observations = observations
    }

    func open() throws {
        try connection.withLock { connection in
            guard connection == nil else { return }
            let opened = try SQLiteConnection.open(file.path, .writer)
            opened.observations = observations
            connection = opened
        }
    }

    func get() throws -> SQLiteConnection {
        guard let connection = connection.withLock({ $0 }) else {
            throw StorageError(.readOnly, "the database can only be read", path: file.path)
        }
        return connection
    }

    func close() { connection.withLock { $0 = nil } }
}
