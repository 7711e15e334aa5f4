import DAOCore
import DAOSystemSQLite

/// The beginning of the index of the write-ahead log, in memory that all processes with the file open share.
///
/// It is where SQLite itself looks whether anything was committed: the layout is part of the file format.
/// Reading it takes no locks.
struct LogIndex {
    /// How many transactions were committed, modulo 2³², counted from some commit on.
    let change: UInt32
    /// A checksum of everything in the header, this count included.
    let checksum: UInt32

    private static let regionSize: Int32 = 32_768

    /// Reads the index that a connection has mapped; nil when it has none, as in a database without a log.
    init?(_ handle: OpaquePointer) {
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &pointer) == SQLITE_OK, let file = pointer,
            let methods = file.pointee.pMethods?.pointee, methods.iVersion >= 2, let map = methods.xShmMap
        else { return nil }
        // The region is mapped since the connection first read, so this only asks where.
        var region: UnsafeMutableRawPointer?
        guard map(file, 0, Self.regionSize, 0, &region) == SQLITE_OK, let region else { return nil }
        change = region.load(fromByteOffset: 8, as: UInt32.self)
        checksum = region.load(fromByteOffset: 40, as: UInt32.self)
    }

    /// Both in one number.
    var count: UInt64 { UInt64(checksum) << 32 | UInt64(change) }
}

/// Where the log was at one moment, and how much a connection had written by then.
struct CommitMark {
    private let index: LogIndex
    private let writtenPages: Int32

    /// The number that every commit changes.
    var count: UInt64 { index.count }

    /// Looks at a connection's log; nil when it has none.
    init?(_ connection: SQLiteConnection) {
        guard let index = LogIndex(connection.handle) else { return nil }
        self.index = index
        var highest: Int32 = 0
        var current: Int32 = 0
        sqlite3_db_status(connection.handle, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, 0)
        writtenPages = current
    }

    /// Whether the connection committed between a mark and this one, and nobody else did.
    func isNext(of earlier: CommitMark) -> Bool {
        writtenPages != earlier.writtenPages && index.change == earlier.index.change &+ 1
    }
}
