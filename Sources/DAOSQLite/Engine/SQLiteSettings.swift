import DAOCore
import DAOSQL

/// What all connections of an engine have in common. The database that opens the file first decides.
struct SQLiteSettings: Sendable {
    /// The maximum time to wait for other processes.
    let busyTimeout: Duration
    /// The number of reads that may run at the same time.
    let maximumReaders: Int
    /// Whether the schema may use functions and virtual tables that are not known to be harmless.
    let trustsSchema: Bool
    /// Whether the file of another program becomes a database of this library too.
    let adopts: Bool
    /// The permissions of a file that is created; nil for those that the process gives its files.
    let fileMode: UInt16?
    /// The key of an encrypted file; nil for a plain one.
    let cipher: PageCipher?
    /// Whether pages have checksums; nil when the file decides.
    let wantsChecksums: Bool?
    /// How much memory connections use for pages.
    let cache: PageCache
    /// Whether it is noted where the log ends when a snapshot begins.
    let measuresSnapshots: Bool
    /// How connections treat checksums. The engine decides it when it has seen the file.
    var checksums = PageChecksums.Use.none
    /// Whether a commit has an unknown outcome.
    let outcome = CommitOutcome()
    /// Whether the paths of the files once led elsewhere.
    let detachment = Detachment()
    /// The read transaction that is kept open.
    let parked = ParkedReader()
    /// The mark on the log, and how a commit reaches the medium.
    let markedLog = MarkedLog()

    /// Reads the settings of a configuration.
    ///
    /// - Throws: `.invalidConfiguration` for an option with a wrong value.
    init(_ configuration: DatabaseConfiguration) throws {
        busyTimeout = configuration.busyTimeout
        maximumReaders = try configuration.count("maxReaders", in: 1...100_000) ?? 120
        trustsSchema = try configuration.flag("trustedSchema") ?? false
        adopts = try configuration.flag("adopt") ?? false
        fileMode = try configuration.fileMode()
        wantsChecksums = try configuration.flag("checksums")
        cipher = try configuration.encryption.map { try PageCipher($0, path: configuration.path) }
        cache = PageCache(try configuration.size("cache"))
        measuresSnapshots = try configuration.size("pinnedLimit") != nil
    }
}
