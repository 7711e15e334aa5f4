import DAOCore
import DAOSystemSQLite
import Foundation

/// The beginning of the index of the write-ahead log. All processes that have the file open share this
/// memory.
///
/// SQLite itself looks here for new commits: the layout is part of the file format. Reading it takes no
/// locks.
struct LogIndex {
    /// The number of committed transactions since some commit, modulo 2³².
    let change: UInt32
    /// The size of a page, in bytes.
    let pageSize: Int
    /// The number of pages in the log.
    let pages: UInt32
    /// How many of them are in the file, too.
    let movedPages: UInt32
    /// A checksum of the complete header, including the number of transactions.
    let checksum: UInt32

    private static let regionSize: Int32 = 32_768

    /// Reads the index that a connection has mapped; nil when there is none, as in a database without a log.
    init?(_ handle: OpaquePointer) {
        guard let region = Self.region(handle) else { return nil }
        self.init(region: region)
    }

    /// Reads the index from its memory.
    @inline(__always) init(region: UnsafeRawPointer) {
        change = region.load(fromByteOffset: 8, as: UInt32.self)
        // 65,536 does not fit.
        let size = Int(region.load(fromByteOffset: 14, as: UInt16.self))
        pageSize = size == 1 ? 65_536 : size
        pages = region.load(fromByteOffset: 16, as: UInt32.self)
        movedPages = region.load(fromByteOffset: 96, as: UInt32.self)
        checksum = region.load(fromByteOffset: 40, as: UInt32.self)
    }

    /// The memory of the index that a connection has mapped; nil when there is none. It is there for as long as the connection,
    /// unless that could only read the index when it opened it.
    static func region(_ handle: OpaquePointer) -> UnsafeRawPointer? {
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &pointer) == SQLITE_OK, let file = pointer,
            let methods = file.pointee.pMethods?.pointee, methods.iVersion >= 2, let map = methods.xShmMap
        else { return nil }
        // The region was mapped when the connection first read. This call only returns its address.
        var region: UnsafeMutableRawPointer?
        return map(file, 0, regionSize, 0, &region) == SQLITE_OK ? region.map { UnsafeRawPointer($0) } : nil
    }

    /// The byte of the file of the index that every process locks while it has the index open. It is part of the
    /// protocol that all versions of SQLite keep to.
    static let presence = 128..<129

    /// The byte of the file of the index that a process locks while it moves pages of the log into the file, or waits for the
    /// readers that keep it from doing so.
    static let checkpoint = 121..<122

    /// Whether no other process has the index of a log open; false when it cannot be told.
    ///
    /// The locks on the database's file do not tell: a process loses them when it opens and closes the file by other
    /// means. The locks on the index are asked for through the descriptor that SQLite has, because closing another one
    /// would release those of this process.
    static func isOfThisProcessAlone(_ log: String) -> Bool {
        guard let index = FileIdentity(path(besideLog: log)),
            let descriptor = FileIdentity.descriptors(of: [index]).first
        else { return false }
        return ProcessLock.isHeldElsewhere(descriptor, in: presence) == false
    }

    /// The path of the file of the index of a log.
    static func path(besideLog log: String) -> String { (log.hasSuffix("-wal") ? String(log.dropLast(4)) : log) + "-shm" }

    /// The checksum and the number of transactions in one number.
    var count: UInt64 { UInt64(checksum) << 32 | UInt64(change) }
}

/// The state of the log at one point in time, and how much a connection had written by then.
struct CommitMark {
    private let index: LogIndex
    private let writtenPages: Int32

    /// The number that every commit changes.
    var count: UInt64 { index.count }

    /// Reads the state of a connection's log; nil when there is no log.
    init?(_ connection: SQLiteConnection) {
        guard let index = LogIndex(connection.handle) else { return nil }
        self.index = index
        var highest: Int32 = 0
        var current: Int32 = 0
        sqlite3_db_status(connection.handle, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, 0)
        writtenPages = current
    }

    /// Whether only this connection committed between an earlier mark and this mark.
    func isNext(of earlier: CommitMark) -> Bool {
        writtenPages != earlier.writtenPages && index.change == earlier.index.change &+ 1
    }
}
