import DAOSystemSQLite
import Foundation

/// How much memory connections use for pages.
struct PageCache: Sendable {
    /// What a connection keeps while it does nothing, unless said, in bytes.
    static let usual = 16_000 << 10
    private static let largest = 256 << 20

    /// The limit of a connection that reads, in bytes.
    let reading: Int
    /// The limit of the connection that writes, in bytes.
    let writing: Int
    /// Whether the connection that writes gives memory back when it has nothing to do.
    let isGivenBack: Bool

    /// - Parameter size: The limit of a connection, in bytes; nil for a limit that follows the work.
    init(_ size: Int?) {
        // SQLite has no limit below one page.
        reading = max(size ?? Self.usual, 1 << 10)
        writing = max(size ?? min(Self.largest, Self.memory / 64), size == nil ? Self.usual : 1 << 10)
        isGivenBack = size == nil
    }

    /// The memory of the machine, or of the container, in bytes.
    private static let memory: Int = {
        let machine = Int(clamping: ProcessInfo.processInfo.physicalMemory)
        let container = try? String(contentsOfFile: "/sys/fs/cgroup/memory.max", encoding: .utf8)
        let limit = container.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        return min(machine, limit ?? machine)
    }()
}

/// The pages that a connection has written into the log.
struct LogGrowth {
    /// SQLite moves a log of so many pages into the file after each commit.
    static let usual: Int32 = 1000
    private static let largest: Int32 = 16_000
    /// How many times its limit a log may have before commits wait for the readers that keep it.
    private static let patience: Int32 = 4

    /// The number of pages in the log after the last commit.
    private(set) var pages: Int32 = 0
    /// From which number of pages on a commit waits for readers.
    private var waitsFrom: Int32 = 0
    /// The number of commits.
    private(set) var commits = 0
    /// Whether the log was to be moved after the last commit: what is left of it is kept by snapshots.
    private(set) var isMoved = false

    /// Notes a commit. Commits of many pages, as those of an import, often write the same pages: they are moved less often.
    ///
    /// - Parameter pages: The number of pages in the log.
    /// - Returns: How to move the log into the file now; nil when it stays.
    mutating func didCommit(_ pages: Int32) -> Move? {
        // A shorter log has begun anew.
        let isNew = pages <= self.pages
        let written = isNew ? pages : pages - self.pages
        self.pages = pages
        commits += 1
        if isNew { waitsFrom = 0 }
        let limit = min(max(Self.usual, written > Self.largest ? Self.largest : written * 16), Self.largest)
        isMoved = pages >= limit
        if !isMoved { return nil }
        if pages < max(waitsFrom, limit * Self.patience) { return .withoutWaiting }
        // A reader that is longer than the wait would delay every commit.
        waitsFrom = pages + limit
        return .afterReaders
    }

    /// How a log is moved into the file.
    enum Move {
        /// What readers are reading stays in the log.
        case withoutWaiting
        /// All of it, when the readers of the log have ended in time. Later readers do not use the log, so the next commit
        /// begins it anew.
        case afterReaders
    }

    /// Notes that the log was moved into the file: the next commit begins it anew.
    mutating func didMove() { (pages, waitsFrom) = (0, 0) }
}

extension SQLiteConnection {
    /// Lets the limit of the log follow the work of this connection.
    func limitLog() {
        sqlite3_wal_hook(
            handle,
            { context, handle, name, pages in
                guard let context else { return SQLITE_OK }
                // The connection outlives its hook; see `deinit`.
                let connection = Unmanaged<SQLiteConnection>.fromOpaque(context).takeUnretainedValue()
                // Others can be in the way. The next commit tries again.
                switch connection.growth.didCommit(pages) {
                case nil: break
                case .withoutWaiting: sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
                case .afterReaders: connection.moveLogAfterReaders()
                }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Moves all of the log, and waits at most 50 ms for those who read from it.
    ///
    /// Where processes read one after the other without a pause, there would always be a reader, and the log would grow without
    /// an end.
    private func moveLogAfterReaders() {
        waiting(.milliseconds(50)) {
            parked.without { _ = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_RESTART, nil, nil) }
        }
    }

    var needsRest: Bool { cache.isGivenBack && usedCache > PageCache.usual || growth.pages > LogGrowth.usual }

    func rest() -> Bool {
        guard growth.commits == commitsBeforeRest else {
            commitsBeforeRest = growth.commits
            return false
        }
        if cache.isGivenBack { sqlite3_db_release_memory(handle) }
        parked.without { _ = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, nil, nil) }
        growth.didMove()
        return true
    }

    /// The memory of the pages that the connection keeps, in bytes.
    private var usedCache: Int {
        var (used, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_USED, &used, &highest, 0)
        return Int(used)
    }
}
