import DAOCore
import DAOSQL
import DAOSystemSQLite
import Foundation

/// How the snapshot of a read stays open for the next one, in its statements; see ``KeyFeed``.
private struct KeptSnapshot {
    /// The memory of the index of the log; nil before it is needed.
    var index: UnsafeRawPointer?
    /// The number of commits before the running read; nil when it may keep no snapshot.
    var count: UInt64?
    /// The parked transaction in which the snapshot began. It may be kept no longer than that.
    var number = 0
}

/// One connection to the file: SQLite's handle and the state of its transaction.
final class SQLiteConnection: @unchecked Sendable {
    // Sendable because one thread uses it at a time: that of its session, or that which counts commits.

    /// SQLite's handle. It is valid as long as this object exists.
    let handle: OpaquePointer
    /// The path in errors.
    let path: String
    /// Holds the bytes of a row while its statement runs. The statement ends before the next row is bound.
    let arena = BindArena(capacity: 1 << 12)

    /// Whether a transaction was begun and not ended.
    private(set) var isInTransaction = false
    /// The version of the schema in the snapshot of the running read transaction.
    @exclusivity(unchecked) private(set) var snapshotVersion: UInt64?
    /// The version of the schema that was read last, outside a transaction, with SQLite's number of what it had read, and the
    /// snapshot.
    @exclusivity(unchecked) private var look = (version: UInt64.max, number: UInt32.max, snapshot: -1)
    /// The number of snapshots that were read so far.
    @exclusivity(unchecked) private(set) var snapshots = 0
    /// The statements that are open until the snapshot ends.
    @exclusivity(unchecked) private var feeds: [KeyFeed] = []
    /// How snapshots outlive a read; nil for a connection that keeps none.
    @exclusivity(unchecked) private var kept: KeptSnapshot?
    /// The row of the table that they join; nil before the first one.
    private var nextKeyRow: UnsafeMutablePointer<NextKey>?
    /// Whether the running statement commits.
    private var isCommitting = false
    /// Whether a commit to the file has an unknown outcome.
    private let outcome: CommitOutcome
    /// The error that ended the transaction: SQLite has rolled it back. A call that finds none copies none, as it would a struct.
    private var fault: (any Error)?
    /// The key of an encrypted file, which its backups have, too; nil for a plain one.
    let cipher: PageCipher?
    /// Whether the log has to be moved into the file, because another program has written into it in its own way.
    var movesLog = false
    /// The settings of the last write; nil before the first one.
    private(set) var settings: SQLWriteSettings?
    /// What ends before each commit, of a connection that writes.
    let parked: ParkedReader
    /// The file and its log, of a connection that writes.
    var files: AttachedFiles?
    /// The file, of a connection that reads without locks.
    let unlocked: UnlockedFile?
    private let markedLog: MarkedLog
    /// How much memory the connection uses for pages.
    let cache: PageCache
    /// What the connection has written into the log.
    var growth = LogGrowth()
    /// Whether it is noted where the log ends when a snapshot begins.
    private let measuresSnapshots: Bool
    /// The number of pages in the log when the read transaction began; nil when it is not measured, and for a writer.
    private var pagesAtSnapshot: UInt32?
    /// The number of commits when ``rest()`` last looked.
    var commitsBeforeRest = 0
    /// The number of changed rows from which on the statistics of the planner are outdated.
    var statisticsLimit: Int32 = .max
    /// Tells instruments of statements; nil while the process has none.
    var trace: StatementTrace?
    /// Whether a running statement ends when its task is cancelled. One that writes does not: SQLite would undo its whole transaction,
    /// and other calls in it.
    private let isCancellable: Bool
    /// The statements that begin and end transactions, by their text.
    private var controls: [(text: StaticString, statement: OpaquePointer)] = []

    /// - Parameters:
    ///   - handle: An open handle, which this object closes.
    ///   - path: The path in errors.
    ///   - settings: Shared by all connections of an engine.
    ///   - unlocked: The file when it is read without locks.
    ///   - keepsSnapshots: Whether the connection may keep a snapshot for the next read.
    init(_ handle: OpaquePointer, path: String, _ settings: SQLiteSettings, _ unlocked: UnlockedFile?, keepsSnapshots: Bool) {
        if keepsSnapshots { kept = KeptSnapshot() }
        isCancellable = keepsSnapshots
        self.unlocked = unlocked
        self.handle = handle
        self.path = path
        outcome = settings.outcome
        parked = settings.parked
        markedLog = settings.markedLog
        cache = settings.cache
        cipher = settings.cipher
        measuresSnapshots = settings.measuresSnapshots
        asksForCancellation()
    }

    deinit {
        // The last connection of the last process removes the log, as SQLite does by itself.
        if files?.isAttached(log) ?? true, LogIndex.isOfThisProcessAlone(log) {
            _ = dao_keep_log(handle, 0)
            // Apple's would leave it empty.
            var persists: Int32 = 0
            sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &persists)
        }
        feeds = []
        // A statement that outlives this object must not tell it of its end.
        sqlite3_wal_hook(handle, nil, nil)
        if trace != nil { sqlite3_trace_v2(handle, 0, nil, nil) }
        for control in controls { sqlite3_finalize(control.statement) }
        // Remaining statements keep the handle open until they are finalized.
        sqlite3_close_v2(handle)
    }

    /// The path of the index of the log.
    var index: String { LogIndex.path(besideLog: log) }

    /// The path of the write-ahead log, beside the file that a symbolic link leads to.
    var log: String { sqlite3_filename_wal(sqlite3_db_filename(handle, "main")).map { String(cString: $0) } ?? path + "-wal" }

    // MARK: Errors

    /// Returns the error for a result code, with SQLite's message. Remembers when SQLite has ended the
    /// transaction because of it.
    ///
    /// - Returns: A `StorageError`, an `SQLMissingTable` that contains one, or a `CancellationError`.
    func failure(_ code: Int32, entity: String? = nil) -> any Error {
        if code & 0xFF == SQLITE_INTERRUPT { return CancellationError() }
        // A value that was refused before SQLite saw it gets the text of its code.
        let isSQLites = sqlite3_errcode(handle) & 0xFF == code & 0xFF
        let message = String(cString: isSQLites ? sqlite3_errmsg(handle) : sqlite3_errstr(code))
        let error =
            code == PageChecksums.mismatch
            ? mismatch(message, entity: entity)
            : SQLiteError.error(
                code, message, path: path, entity: entity,
                systemCode: [SQLITE_IOERR, SQLITE_CORRUPT].contains(code & 0xFF) ? lastSystemCode : 0)
        // The log has the whole commit by then, and whoever opens the file next reads it.
        if isCommitting, ExtendedCode.afterLogging.contains(code) { return outcome.becomeUnknown(error) }
        if isInTransaction, sqlite3_get_autocommit(handle) != 0 { fault = error }
        guard code == SQLITE_ERROR, let message = error.engineMessage else { return error }
        if message.hasPrefix("no such index") { return SQLMissingTable(error, isIndex: true) }
        if message.hasPrefix("no such table") { return SQLMissingTable(error) }
        if message.hasPrefix("no such column") || message.contains("has no column named") {
            return SQLMissingTable(error, isColumn: true)
        }
        return error
    }

    /// Returns the error for a page that does not match its checksum. Without locks, another process can have written it
    /// while it was read.
    private func mismatch(_ message: String, entity: String?) -> StorageError {
        do {
            try unlocked?.check()
        } catch let error as StorageError {
            return error
        } catch {}
        return damagedPage(message, entity: entity) ?? PageChecksums.error(page: 0, path: path, entity: entity, message: message)
    }

    /// The last error of the operating system for the log, or else for the file. SQLite's copy of it is lost
    /// in the rollback.
    private var lastSystemCode: Int32 {
        var log: UnsafeMutablePointer<sqlite3_file>?
        var code: Int32 = 0
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
        if let log, let control = log.pointee.pMethods?.pointee.xFileControl { _ = control(log, SQLITE_FCNTL_LAST_ERRNO, &code) }
        if code == 0 { sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &code) }
        return code
    }

    // MARK: Statements

    /// Prepares a statement, which the caller finalizes.
    func prepared(_ text: String, entity: String? = nil) throws -> OpaquePointer {
        var pointer: OpaquePointer?
        var text = text
        let code = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_prepare_v3(handle, $0.baseAddress, Int32($0.count), UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
            }
        }
        guard code == SQLITE_OK, let pointer else { throw failure(code, entity: entity) }
        return pointer
    }
}

// MARK: Transactions

extension SQLiteConnection: SQLConnection {
    func beginReading() throws {
        if isInTransaction { return }
        traceIfUsed()
        try outcome.check()
        try run("BEGIN")
        isInTransaction = true
        snapshots &+= 1
        do {
            // `BEGIN` alone takes no snapshot; the first read does.
            snapshotVersion = try schemaVersion()
        } catch {
            end()
            throw error
        }
        if measuresSnapshots { pagesAtSnapshot = LogIndex(handle)?.pages }
    }

    var pinnedBytes: Int? {
        guard measuresSnapshots, let log = LogIndex(handle) else { return nil }
        guard let before = pagesAtSnapshot else {
            return growth.isMoved ? Int(log.pages - min(log.movedPages, log.pages)) * log.pageSize : nil
        }
        // A log that is shorter than it was has begun anew.
        return Int(log.pages < before ? log.pages : log.pages - before) * log.pageSize
    }

    func beginWriting(_ write: SQLWrite) throws {
        if isInTransaction { return }
        traceIfUsed()
        try prepareWriting(write.settings)
        // A single statement is a transaction by itself. It needs a `BEGIN` when its commit has to be
        // distinguished from those of other processes.
        if write.scope == .statement, !write.isObserved {
            parked.willCommit()
            isCommitting = true
            return
        }
        try run("BEGIN IMMEDIATE")
        isInTransaction = true
    }

    /// Begins a write transaction of the library's own, unless another process writes.
    ///
    /// - Returns: False inside a transaction.
    func beginWritingAtOnce() throws -> Bool {
        if isInTransaction { return false }
        try outcome.check()
        try files?.check(path)
        try waiting(.zero) { try run("BEGIN IMMEDIATE") }
        isInTransaction = true
        return true
    }

    /// Checks that the connection can write to its file, and applies the settings of a configuration.
    func prepareWriting(_ settings: SQLWriteSettings) throws {
        try outcome.check()
        try files?.check(path)
        try apply(settings)
    }

    /// Applies the settings of a configuration. They last until the next write with different settings.
    private func apply(_ new: SQLWriteSettings) throws {
        guard settings != new else { return }
        sqlite3_busy_timeout(handle, new.busyTimeout.milliseconds)
        try execute("PRAGMA synchronous = \(new.durability == .full ? "FULL" : "NORMAL")")
        if markedLog.isSyncedAfterCommit { try execute("PRAGMA fullfsync = \(new.durability == .full ? "ON" : "OFF")") }
        settings = new
    }

    /// Runs a closure that waits for others no longer than a timeout. Before the first write there is no other timeout.
    func waiting<Result>(_ timeout: Duration, _ body: () throws -> Result) rethrows -> Result {
        sqlite3_busy_timeout(handle, timeout.milliseconds)
        defer { sqlite3_busy_timeout(handle, settings?.busyTimeout.milliseconds ?? 0) }
        return try body()
    }

    func commit(isObserved: Bool) throws -> (before: UInt64, after: UInt64)? {
        guard isInTransaction else {
            isCommitting = false
            parked.didCommit()
            try syncLog()
            return nil
        }
        if let fault {
            end()
            throw fault
        }
        let before = isObserved ? CommitMark(self) : nil
        do {
            parked.willCommit()
            isCommitting = true
            defer { isCommitting = false }
            try run("COMMIT")
            isInTransaction = false
            parked.didCommit()
            try syncLog()
        } catch {
            end()
            throw error
        }
        guard let before, let after = CommitMark(self), after.isNext(of: before) else { return nil }
        return (before.count, after.count)
    }

    /// Waits until the medium has a full commit (contract T6), where SQLite's own call does not wait for that. Others may have seen the
    /// commit by then.
    private func syncLog() throws {
        guard markedLog.isSyncedAfterCommit, settings?.durability == .full else { return }
        let code = markedLog.sync(log)
        if code == 0 { return }
        throw outcome.becomeUnknown(
            SQLiteError.error(ExtendedCode.logNotSynced, String(cString: strerror(code)), path: path, systemCode: code))
    }

    func rollback() {
        if isInTransaction || feeds.isEmpty || kept?.number != parked.number { end() }
        guard movesLog else { return }
        movesLog = false
        sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    }

    var keepsSnapshot: Bool { !feeds.isEmpty }

    func endSnapshot() { if keepsSnapshot { end() } }

    func canReadAgain() -> Bool {
        if let unlocked { return unlocked.isUnchanged && !unlocked.isShared }
        guard kept != nil else { return true }
        let count = parked.isParked && !StatementTimer.isUsed ? commitCount() : nil
        if count == nil || count != kept?.count {
            endSnapshot()
            kept?.count = count
            snapshots &+= 1
        }
        return true
    }

    /// The number of the last commit of any process; nil when there is no log.
    private func commitCount() -> UInt64? {
        if kept?.index == nil {
            // The first read maps the index of the log.
            kept?.index = (try? schemaVersion()).flatMap { _ in LogIndex.region(handle) }
            if kept?.index == nil { kept = nil }
        }
        let count = (kept?.index).map { LogIndex(region: $0).count }
        // The snapshot is looked for afterwards, so it is of this commit or a later one.
        acquiringFence()
        return count
    }

    /// Moves the contents of the log into the file and empties the log, unless others use it. A log that is not the one
    /// that was opened stays as it is: the pages that this connection knows could be older.
    func willClose() {
        parked.close()
        guard let files, files.isAttached(log) else { return }
        if needsOptimizing {
            try? optimize()
            if isInTransaction { _ = try? commit(isObserved: false) }
        }
        sqlite3_busy_timeout(handle, 0)
        sqlite3_exec(handle, "PRAGMA wal_checkpoint(TRUNCATE)", nil, nil, nil)
    }

    /// Whether statements may stay open for the rows that are read by key: in a transaction that reads, or where the snapshot of a
    /// read is kept, and while nobody is told of statements.
    var keepsStatementsOpen: Bool {
        (isInTransaction || kept?.count != nil) && files == nil && unlocked == nil && trace == nil
    }

    /// The row of the table `dao_next_key`.
    func nextKey() throws -> UnsafeMutablePointer<NextKey> {
        if let nextKeyRow { return nextKeyRow }
        let made = UnsafeMutablePointer<NextKey>.allocate(capacity: 1)
        made.initialize(to: NextKey())
        let code = NextKey.register(made, on: handle)
        if code != SQLITE_OK { throw failure(code) }
        nextKeyRow = made
        return made
    }

    /// Lets a feed find rows until the snapshot ends.
    func open(_ feed: KeyFeed) {
        if feed.isOpen { return }
        if feeds.isEmpty, !isInTransaction { kept?.number = parked.number }
        feed.open()
        feeds.append(feed)
    }

    /// Ends the transaction and discards its writes.
    private func end() {
        pagesAtSnapshot = nil
        snapshotVersion = nil
        if !feeds.isEmpty {
            for feed in feeds { feed.end() }
            feeds.removeAll(keepingCapacity: true)
        }
        if isInTransaction, sqlite3_get_autocommit(handle) == 0, let statement = try? control("ROLLBACK") {
            sqlite3_step(statement)
            sqlite3_reset(statement)
        }
        isInTransaction = false
        isCommitting = false
        fault = nil
    }

    func beginSavepoint() throws { try run("SAVEPOINT dao") }

    func releaseSavepoint() throws { try run("RELEASE dao") }

    func rollbackSavepoint() throws {
        // After a fault there is nothing left to undo, and the error of the fault is already being thrown.
        if fault != nil || sqlite3_get_autocommit(handle) != 0 { return }
        try run("ROLLBACK TO dao")
        try run("RELEASE dao")
    }

    func checkTransaction() throws {
        traceIfUsed()
        if let fault { throw fault }
        try outcome.check()
        guard isInTransaction, sqlite3_get_autocommit(handle) != 0 else { return }
        let error = StorageError(
            .invalidTransaction, "the transaction was ended through the handle of the engine; let the database end it",
            path: path)
        fault = error
        throw error
    }

    var underlyingHandle: (any UnderlyingHandle)? {
        if !isInTransaction { endSnapshot() }
        return SQLiteHandle(self)
    }

    // MARK: Statements

    func prepare(_ text: String, entity: String) throws -> SQLStatement {
        SQLiteStatement(try prepared(text, entity: entity), self, entity: entity)
    }

    func batch(_ write: SQLRowWrite, of table: SQLTable) throws -> SQLRowBatch { try SQLiteRowBatch(write, of: table, self) }

    func execute(_ text: String) throws {
        let code = sqlite3_exec(handle, text, nil, nil, nil)
        if code != SQLITE_OK { throw failure(code) }
    }

    func interrupting<Result>(afterSteps steps: Int, _ body: () throws -> Result) throws -> Result? {
        // SQLite calls back after each interval of a statement's steps, all its runs together.
        let interval = max(1, min(steps, 1_000))
        typealias Limit = (intervals: Int, isCancellable: Bool)
        var limit: Limit = (steps / interval, isCancellable)
        return try withUnsafeMutablePointer(to: &limit) { limit in
            sqlite3_progress_handler(
                handle, Int32(interval),
                { context in
                    guard let limit = context?.assumingMemoryBound(to: Limit.self) else { return 0 }
                    limit.pointee.intervals -= 1
                    let isCancelled = limit.pointee.isCancellable && CallCancellation.isRequested
                    return limit.pointee.intervals < 0 || isCancelled ? 1 : 0
                }, limit)
            defer { asksForCancellation() }
            do {
                return try body()
            } catch {
                guard limit.pointee.intervals < 0 else { throw error }
                return nil
            }
        }
    }

    /// Runs statements that end when the task is cancelled, also those that write.
    func cancellable<Result>(_ body: () throws -> Result) throws -> Result {
        asksForCancellation(alsoInWrites: true)
        defer { asksForCancellation() }
        let result = try body()
        try CallCancellation.check()
        return result
    }

    /// Lets SQLite ask every 4,000 instructions, some 40 µs, whether a read goes on. That takes 0.2 % of it.
    private func asksForCancellation(alsoInWrites: Bool = false) {
        let isAsked = isCancellable || alsoInWrites
        sqlite3_progress_handler(handle, isAsked ? 4_000 : 0, { _ in CallCancellation.isRequested ? 1 : 0 }, nil)
    }

    /// Runs a statement that is used repeatedly.
    private func run(_ text: StaticString) throws {
        if let fault { throw fault }
        let statement = try control(text)
        let code = sqlite3_step(statement)
        if code != SQLITE_DONE {
            let error = failure(code)
            sqlite3_reset(statement)
            throw error
        }
        sqlite3_reset(statement)
    }

    /// Returns a statement without parameters, prepared once.
    private func control(_ text: StaticString) throws -> OpaquePointer {
        if let known = controls.first(where: { $0.text.utf8Start == text.utf8Start }) { return known.statement }
        let statement = try prepared("\(text)")
        controls.append((text, statement))
        return statement
    }

    func hasRead(_ version: UInt64) throws -> Bool {
        if isInTransaction { return snapshotVersion == version }
        // Its statements are open, and see what they saw before.
        if keepsSnapshot, look.snapshot == snapshots { return look.version == version }
        // The number changes when the connection meets commits of others. The cookie of the schema is read only then.
        var number: UInt32 = 0
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &number)
        if look.number != number { (look.version, look.number) = (try schemaVersion(), number) }
        look.snapshot = snapshots
        return look.version == version
    }

    func schemaVersion() throws -> UInt64 {
        if let fault { throw fault }
        let statement = try control("PRAGMA schema_version")
        defer { sqlite3_reset(statement) }
        let code = sqlite3_step(statement)
        if code != SQLITE_ROW { throw failure(code) }
        return UInt64(bitPattern: sqlite3_column_int64(statement, 0))
    }
}
