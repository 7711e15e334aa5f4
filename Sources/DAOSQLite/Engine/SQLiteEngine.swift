import DAOCore
import DAOSQL
import DAOSystemSQLite

/// An SQLite engine with one file.
final class SQLiteEngine: SQLEngine {
    /// The file.
    private let file: DatabaseFile
    /// Whether the connections for reading may repair what is beside the file.
    private let canWrite: Bool
    private let settings: SQLiteSettings
    /// Whether the pages of the file have checksums that are verified.
    private let verifies: Bool
    private let attached: AttachedFiles
    /// Whether the file had pages when it was opened.
    private let hadPages: Bool
    /// Whether a log was beside the file when it was opened.
    private let hadLog: Bool
    /// Whether another program has made the file, and it is not adopted; nil as long as nobody wants to write.
    private let foreign = Lock<Bool?>(nil)

    /// Whether every call fails until the file is opened again.
    var hasFailed: Bool { settings.outcome.isUnknown }

    let dialect: any SQLDialect = SQLiteDialect()

    /// The read transaction that is kept open.
    var parked: ParkedReader { settings.parked }

    /// Checks a file. It must not be open in this process.
    ///
    /// - Throws: The errors of ``DatabaseFile/checkHeader()`` and ``isForeign(_:)``.
    init(_ file: DatabaseFile, _ settings: SQLiteSettings, writes: Bool) throws {
        let hasChecksums = try file.checkHeader(settings.cipher, writes: file.isWritable && writes)
        var settings = settings
        // The tags of an encrypted file are verified whatever is wanted.
        settings.checksums =
            settings.cipher != nil
            ? .none : try PageChecksums.use(settings.wantsChecksums, exist: hasChecksums, path: file.path)
        self.file = file
        attached = AttachedFiles([file.path], settings.detachment)
        self.settings = settings
        verifies =
            settings.cipher != nil
            || settings.checksums == .verified && (hasChecksums == true || settings.wantsChecksums == true)
        hadPages = hasChecksums != nil
        hadLog = file.isLogThere
        let mayWrite = file.isWritable && writes
        let isForeign = try mayWrite && !settings.adopts && hadPages && Self.looksForeign(file, settings)
        canWrite = mayWrite && !isForeign
        if mayWrite { foreign.withLock { $0 = isForeign } }
        if canWrite, settings.adopts, hadPages { try checkBeforeAdopting() }
    }

    /// Refuses a damaged file of another program before anything is changed.
    private func checkBeforeAdopting() throws {
        do {
            let connection = try SQLiteConnection.open(file.path, .readOnly, settings)
            if try BackupFile.Content(of: connection, dialect) == .other { try check(connection) }
        } catch let error as StorageError where error.engineCode == Int(ExtendedCode.readOnlyRollback) {
            // Only a connection that writes can undo what another program has left, and see what there is then.
        }
    }

    /// Whether nothing may be written to the file, because another program has made it and the configuration does not adopt it.
    ///
    /// - Parameter other: The settings of a database that wants to write.
    /// - Throws: `.invalidConfiguration` when it adopts the file, which this process has open without that.
    func isForeign(_ other: SQLiteSettings) throws -> Bool {
        let known = foreign.withLock { $0 }
        if other.adopts, known == true {
            throw StorageError(
                .invalidConfiguration,
                "this process has the file open without adopt=true; close that database first", path: file.path)
        }
        let isForeign = try known ?? (!other.adopts && hadPages && Self.looksForeign(file, settings))
        foreign.withLock { $0 = isForeign }
        return isForeign
    }

    /// Looks into a file without changing it.
    private static func looksForeign(_ file: DatabaseFile, _ settings: SQLiteSettings) throws -> Bool {
        let connection = try SQLiteConnection.open(file.path, .readOnly, settings)
        return switch try BackupFile.Content(of: connection, SQLiteDialect()) {
        case .database: false
        case .other: true
        // A file of this library has a log from its first page on, which another process may have undone since.
        case .nothing: try connection.integers("PRAGMA page_count") != [0] && connection.texts("PRAGMA journal_mode") != ["wal"]
        }
    }

    var writeRefusal: StorageError? {
        guard foreign.withLock({ $0 }) == true else { return nil }
        return StorageError(
            .readOnly,
            "another program has made the file, so nothing is written to it; open it with adopt=true to use it with this library "
                + "too, which gives it a write-ahead log and the tables 'dao_catalog' and 'dao_properties'. Nothing was changed",
            path: file.path)
    }

    /// Removes the log that a connection has made which may not write, and could not remove it. What others have written into
    /// it meanwhile is moved into the file, as when the last connection of any program is closed.
    private func removeNewLog() {
        guard !canWrite, !hadLog, file.isWritable, file.isLogThere, (try? attached.check(file.path)) != nil else { return }
        var handle: OpaquePointer?
        let layer = settings.checksums == .none ? nil : PageChecksums.layer
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
        if (settings.cipher?.open(file.path, &handle, flags) ?? sqlite3_open_v2(file.path, &handle, flags, layer)) == SQLITE_OK {
            sqlite3_exec(handle, "PRAGMA schema_version", nil, nil, nil)
        }
        sqlite3_close_v2(handle)
    }

    /// How a connection for reading is opened now.
    private var readingMode: ConnectionMode {
        if canWrite { return .reader }
        if file.isDirectoryWritable || file.hasLog || file.isShared { return .readOnly }
        return file.isOnReadOnlyVolume ? .immutable : .unlocked
    }

    var traits: SQLEngineTraits {
        SQLEngineTraits(
            name: "SQLite \(String(cString: sqlite3_libversion()))", path: file.path, isMultiProcess: true,
            maximumValueLength: Bind.longestValue, maximumReaders: settings.maximumReaders, busyTimeout: settings.busyTimeout,
            hasChecksums: verifies, hasBackup: true, sharesCommits: true, hasSearchPaths: true,
            underlyingType: UnderlyingType(SQLiteHandle.self))
    }

    func connect(_ access: SQLAccess) throws -> any SQLConnection {
        let mode = access == .write ? .writer : readingMode
        if mode == .immutable || mode == .unlocked { return try SQLiteConnection.open(file.path, mode, settings) }
        // SQLite finds the file and its log by the path.
        try attached.check(file.path)
        try settings.markedLog.set(for: file)
        let connection = try SQLiteConnection.open(file.path, mode, settings)
        // The log may be new.
        try settings.markedLog.set(for: file)
        return connection
    }

    /// Opens a connection that copies everything into another file.
    func connectForCopy() throws -> SQLiteConnection {
        try attached.check(file.path)
        return try SQLiteConnection.open(file.path, .copying, settings)
    }

    func suspend() {
        parked.mayBegin()
        settings.markedLog.release()
    }

    /// All connections are closed by then.
    func close() {
        parked.close()
        removeNewLog()
        settings.markedLog.release()
    }

    func didRead() { parked.didRead(on: self) }

    var allowsKeptSnapshots: Bool { parked.isParked }

    func useToEndSnapshots(_ end: @escaping @Sendable () -> Void) { parked.useToEndSnapshots(end) }

    /// A file that is read without locks is not written by any process.
    var commitCounter: ObservationHub.OpenCounter? {
        let (path, mode, settings) = (file.path, readingMode, settings)
        if mode == .immutable { return nil }
        if mode == .unlocked { return { { FileVersion.count(path) } } }
        return { [attached] in
            try attached.check(path)
            return try CommitCounter.open(path, mode, settings)
        }
    }

    /// Checks that a further database can use the engine.
    ///
    /// - Throws: `.invalidConfiguration` when it trusts the schema and the engine does not, or wants another treatment of
    ///   checksums.
    func check(_ other: SQLiteSettings) throws {
        switch (settings.cipher, other.cipher) {
        case (nil, nil): break
        case (nil, _?): throw PageCipher.plain(file.path)
        case (_?, nil): throw PageCipher.missing(file.path)
        case (let own?, let others?): if !own.isSame(as: others) { throw PageCipher.wrongKey(file.path) }
        }
        if other.wantsChecksums == true, !verifies {
            if settings.checksums != .maintained { throw PageChecksums.missing(file.path) }
            throw StorageError(
                .invalidConfiguration,
                "this process has the file open with checksums=false; close that database first", path: file.path)
        }
        if other.wantsChecksums == false, verifies, settings.cipher == nil {
            throw StorageError(
                .invalidConfiguration,
                "this process has the file open and verifies its checksums; close that database first", path: file.path)
        }
        guard other.trustsSchema, !settings.trustsSchema else { return }
        throw StorageError(
            .invalidConfiguration,
            "this process has the file open without trustedSchema=true; close that database, or open it so too",
            path: file.path)
    }

    /// Reads the schema, and checks every page of a small file.
    func check(_ connection: any SQLConnection) throws {
        guard let connection = connection as? SQLiteConnection else { return }
        _ = try connection.integers("PRAGMA schema_version")
        _ = try connection.integers("SELECT count(*) FROM sqlite_master")
        let pages = try connection.integers("PRAGMA page_count").first ?? 0
        guard pages < 1024, let line = try firstDamage(connection) else { return }
        throw connection.damagedPage(line)
            ?? StorageError(
                .corrupted, "the database is damaged; restore it from a backup, or recover what is left with 'sqlite3 .recover'",
                path: file.path, engineCode: Int(SQLITE_CORRUPT), engineMessage: line)
    }

    private func firstDamage(_ connection: SQLiteConnection) throws -> String? {
        do {
            return try connection.damage("quick_check(20)").first
        } catch let error as StorageError where error.engineCode.map({ $0 & 0xFF }) == Int(SQLITE_ERROR) {
            // An index of another program has a collation or a function that only that program knows.
            return nil
        }
    }

    func writeBackup(
        to path: String, from connection: any SQLConnection, onProgress: (BackupProgress) throws -> Void
    ) throws {
        guard let connection = connection as? SQLiteConnection else {
            throw StorageError.backupUnsupported(traits.name, path: file.path)
        }
        try BackupFile.replace(
            path, of: file.path, with: BackupFile.Content(of: connection, dialect), isOpen: SQLiteDatabase.isOpen,
            isDatabase: { [settings] in DatabaseFile.isDatabase($0, at: path, settings.cipher) },
            content: { [settings] in try SQLiteConnection.content(at: $0, settings) }
        ) { temporary, _ in try connection.copy(to: temporary, onProgress) }
    }
}
