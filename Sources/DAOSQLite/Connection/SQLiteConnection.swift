import DAOCore
import DAOSQL
import DAOSystemSQLite
import Foundation

/// One connection to the file: SQLite's handle, its prepared statements, and the transaction it is in.
///
/// It is what a ``DAOCore/TransactionCoordinator`` runs: the writer for every write, or a reader that somebody has taken from the pool.
final class SQLiteConnection: @unchecked Sendable {
    // Sendable because one thread uses it at a time: the writer under the coordinator's lock, a reader between being taken from the pool
    // and put back, both of which order memory.

    /// SQLite's handle, for as long as this object.
    let handle: OpaquePointer
    /// The path that errors name.
    let path: String
    /// Where the bytes of a row are kept while its statement runs, which is before anybody else binds one.
    let arena = BindArena(capacity: 1 << 12)
    /// Whether it is the one that writes.
    let isWriter: Bool
    /// Learns which commits this connection made; only the writer's.
    var observations: ObservationHub?
    /// What to do with a reader that is not needed any more.
    var release: ((SQLiteConnection) -> Void)?

    /// Whether a transaction was begun and not ended.
    private(set) var isInTransaction = false
    /// Why the transaction cannot go on: SQLite has undone it by itself.
    private var fault: StorageError?
    /// The statements that storages use for every row, by table.
    private var rowStatements: [RowStatements?] = []
    /// The statements of queries, by their text, which is their shape.
    private var cache = StatementCache()
    /// The settings of the last write.
    private var settings: WriteSettings?

    /// - Parameters:
    ///   - handle: An open handle, which this object closes.
    ///   - path: The path that errors name.
    ///   - isWriter: Whether it is the one that writes.
    init(_ handle: OpaquePointer, path: String, isWriter: Bool) {
        self.handle = handle
        self.path = path
        self.isWriter = isWriter
    }

    deinit {
        // Statements go first: the handle outlives them.
        rowStatements = []
        cache.removeAll()
        sqlite3_close_v2(handle)
    }

    // MARK: Errors

    /// The error for a result code, with SQLite's words. Notes when SQLite has ended the transaction because of it.
    ///
    /// - Returns: A `StorageError`, or a `MissingTable` around one.
    func failure(_ code: Int32, entity: String? = nil) -> any Error {
        // What was refused before SQLite saw it has the words for its code.
        let isSQLites = sqlite3_errcode(handle) & 0xFF == code & 0xFF
        let error = SQLiteError.error(
            code, String(cString: isSQLites ? sqlite3_errmsg(handle) : sqlite3_errstr(code)), path: path, entity: entity,
            systemCode: code & 0xFF == SQLITE_IOERR ? lastSystemCode : 0)
        if isInTransaction, sqlite3_get_autocommit(handle) != 0 { fault = error }
        if code == SQLITE_ERROR, error.engineMessage?.hasPrefix("no such table") == true {
            return MissingTable(underlying: error)
        }
        return error
    }

    /// What the operating system last said about the log, or else about the file; SQLite's own note of it does not outlive the rollback.
    private var lastSystemCode: Int32 {
        var log: UnsafeMutablePointer<sqlite3_file>?
        var code: Int32 = 0
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
        if let log, let control = log.pointee.pMethods?.pointee.xFileControl { _ = control(log, SQLITE_FCNTL_LAST_ERRNO, &code) }
        if code == 0 { sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &code) }
        return code
    }

    /// Says that the transaction cannot go on when whoever had the handle ended it.
    ///
    /// - Throws: `.invalidTransaction`; so does every later call in the transaction, and its commit.
    func checkTransaction() throws {
        guard isInTransaction, fault == nil, sqlite3_get_autocommit(handle) != 0 else { return }
        let error = StorageError(
            .invalidTransaction, "the transaction was ended through the handle of the engine; let the database end it",
            path: path)
        fault = error
        throw error
    }

    // MARK: Statements

    /// Runs statements that give no rows and take no values.
    func execute(_ sql: String) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        if code != SQLITE_OK { throw failure(code) }
    }

    /// The statements of a table's rows.
    ///
    /// - Parameters:
    ///   - number: The table's small number in this engine.
    ///   - table: Makes the statements' text.
    @inline(__always) func rows(_ number: Int, _ table: SQLTable) throws -> RowStatements {
        if let fault { throw fault }
        if number < rowStatements.count, let statements = rowStatements[number] { return statements }
        while rowStatements.count <= number { rowStatements.append(nil) }
        let statements = RowStatements(self, table)
        rowStatements[number] = statements
        return statements
    }

    /// A statement for a query, bound: from the cache when one of its shape is free. ``Statement/finish()`` has to follow.
    func statement(_ sql: SQLText, entity: String) throws -> Statement {
        let statement = try statement(sql.text, entity: entity)
        do {
            statement.arena.reset()
            for (index, binding) in sql.bindings.enumerated() { try bind(binding, at: Int32(index + 1), of: statement) }
            return statement
        } catch {
            statement.finish()
            throw error
        }
    }

    /// A statement from the cache, or a new one. ``Statement/finish()`` has to follow.
    func statement(_ text: String, entity: String) throws -> Statement {
        if let fault { throw fault }
        if let statement = cache.take(text) { return statement }
        let statement = try prepare(text, entity: entity)
        statement.isInUse = true
        cache.add(statement, text)
        return statement
    }

    /// How often a query's statement was found and not found in the cache.
    var cacheStatistics: (hits: Int, misses: Int) { (cache.hits, cache.misses) }

    /// Prepares a statement.
    func prepare(_ text: String, entity: String) throws -> Statement {
        var pointer: OpaquePointer?
        var text = text
        let code = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_prepare_v3(handle, $0.baseAddress, Int32($0.count), UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
            }
        }
        guard code == SQLITE_OK, let pointer else { throw failure(code, entity: entity) }
        return Statement(pointer)
    }

    private func bind(_ binding: SQLBinding, at position: Int32, of statement: Statement) throws {
        let pointer = statement.pointer
        let arena = statement.arena
        let code =
            switch binding {
            case .value(let value): Bind.value(pointer, position, value, arena)
            case .count(let count): Bind.integer(pointer, position, count.map(Int64.init) ?? -1)
            case .textBytes(let bytes): bytes.withUnsafeBufferPointer { Bind.text(pointer, position, $0, arena) }
            case .pattern(let pattern): Bind.object(pointer, position, BoundObject(pattern), BoundType.pattern)
            case .set(let set): Bind.object(pointer, position, BoundObject(set), BoundType.values)
            case .list(let values): Bind.object(pointer, position, BoundObject(values), BoundType.list)
            case .filter(let filter, let columns):
                Bind.object(pointer, position, BoundObject(BoundFilter(filter: filter, columns: columns)), BoundType.filter)
            }
        if code != SQLITE_OK { throw failure(code) }
    }
}

/// What a database's configuration says about its writes.
struct WriteSettings: Equatable {
    let durability: DatabaseConfiguration.Durability
    let busyTimeout: Int32
}

// MARK: Transactions

extension SQLiteConnection: TransactionHandle {
    /// Takes a configuration's settings over; they last until the next write with others.
    func apply(_ new: WriteSettings) throws {
        guard !isInTransaction, settings != new else { return }
        sqlite3_busy_timeout(handle, new.busyTimeout)
        try execute("PRAGMA synchronous = \(new.durability == .full ? "FULL" : "NORMAL")")
        settings = new
    }

    /// Begins the write transaction, unless it was begun.
    func beginWriting() throws {
        if isInTransaction { return }
        try run("BEGIN IMMEDIATE")
        isInTransaction = true
    }

    /// Begins a read transaction on the last commit, unless a transaction was begun.
    func beginSnapshot() throws {
        if isInTransaction { return }
        try run("BEGIN")
        isInTransaction = true
        do {
            // Only reading takes the snapshot.
            _ = try schemaVersion()
        } catch {
            end()
            throw error
        }
    }

    /// The number that every change of the file's tables changes.
    func schemaVersion() throws -> Int64 {
        let statement = try statement("PRAGMA schema_version", entity: "")
        defer { statement.finish() }
        let code = sqlite3_step(statement.pointer)
        if code != SQLITE_ROW { throw failure(code) }
        return sqlite3_column_int64(statement.pointer, 0)
    }

    func commit() throws {
        guard isInTransaction else { return }
        if let fault {
            end()
            throw fault
        }
        let before = observations?.isObserved == true ? CommitMark(self) : nil
        do {
            try run("COMMIT")
            isInTransaction = false
        } catch {
            end()
            throw error
        }
        if let before, let after = CommitMark(self), after.isNext(of: before) {
            observations?.didCommitHere(from: before.count, to: after.count)
        }
    }

    func rollback() {
        end()
        release?(self)
    }

    /// Ends the transaction without keeping its writes.
    private func end() {
        if isInTransaction, sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
        isInTransaction = false
        fault = nil
    }

    func beginSavepoint() throws { try run("SAVEPOINT dao") }

    func releaseSavepoint() throws { try run("RELEASE dao") }

    func rollbackSavepoint() throws {
        // After a fault there is nothing left to undo, and the error that is on its way says why.
        if fault != nil || sqlite3_get_autocommit(handle) != 0 { return }
        try run("ROLLBACK TO dao")
        try run("RELEASE dao")
    }

    /// Runs a statement that is used again and again.
    private func run(_ text: String) throws {
        let statement = try statement(text, entity: "")
        defer { statement.finish() }
        let code = sqlite3_step(statement.pointer)
        if code != SQLITE_DONE { throw failure(code) }
    }
}
