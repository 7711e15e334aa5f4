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

    /// Whether every call fails until the file is opened again.
    var hasFailed: Bool { settings.outcome.isUnknown }

    let dialect: any SQLDialect = SQLiteDialect()

    /// The read transaction that is kept open.
    var parked: ParkedReader { settings.parked }

    /// Checks a file. It must not be open in this process.
    ///
    /// - Throws: The errors of ``DatabaseFile/checkHeader()``.
    init(_ file: DatabaseFile, _ settings: SQLiteSettings, writes: Bool) throws {
        let hasChecksums = try file.checkHeader()
        var settings = settings
        settings.checksums = try PageChecksums.use(settings.wantsChecksums, exist: hasChecksums, path: file.path)
        self.file = file
        attached = AttachedFiles([file.path], settings.detachment)
        self.settings = settings
        verifies = settings.checksums == .verified && (hasChecksums == true || settings.wantsChecksums == true)
        canWrite = file.isWritable && writes
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

    func suspend() {
        parked.mayBegin()
        settings.markedLog.release()
    }

    /// All connections are closed by then.
    func close() {
        parked.close()
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
        if other.wantsChecksums == true, !verifies {
            if settings.checksums != .maintained { throw PageChecksums.missing(file.path) }
            throw StorageError(
                .invalidConfiguration,
                "this process has the file open with checksums=false; close that database first", path: file.path)
        }
        if other.wantsChecksums == false, verifies {
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
        guard pages < 1024 else { return }
        guard let line = try connection.damage("quick_check(20)").first else { return }
        throw connection.damagedPage(line)
            ?? StorageError(
                .corrupted, "the database is damaged; restore it from a backup, or recover what is left with 'sqlite3 .recover'",
                path: file.path, engineCode: Int(SQLITE_CORRUPT), engineMessage: line)
    }

    func writeBackup(
        to path: String, from connection: any SQLConnection, onProgress: (BackupProgress) throws -> Void
    ) throws {
        guard let connection = connection as? SQLiteConnection else {
            throw StorageError.backupUnsupported(traits.name, path: file.path)
        }
        try BackupFile.replace(
            path, of: file.path, isOpen: SQLiteDatabase.isOpen, isDatabase: DatabaseFile.isDatabase
        ) { temporary, _ in try connection.copy(to: temporary, onProgress) }
    }
}
