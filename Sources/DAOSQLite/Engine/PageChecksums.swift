import DAOCore
import DAOSQLiteChecksums
import DAOSystemSQLite

/// The checksums of the pages of a file, which a layer below SQLite keeps and verifies.
enum PageChecksums {
    /// How connections treat the checksums of a file.
    enum Use {
        /// The file has none.
        case none
        /// Checksums are computed for pages that are written, and not verified.
        case maintained
        /// Checksums are computed and verified, if the file has any. It can be empty when it is opened, and get them from
        /// another process.
        case verified
    }

    /// The name of the layer; nil when SQLite has no memory for it.
    static let layer = dao_checksums_register().map { String(cString: $0) }

    /// The result code of a read of a page that does not match its checksum.
    static let mismatch = SQLITE_IOERR | (32 << 8)

    /// Chooses how to treat the checksums of a file.
    ///
    /// - Parameters:
    ///   - wanted: The option of the configuration.
    ///   - exist: Whether the file has checksums; nil for an empty file.
    /// - Throws: `.invalidConfiguration` for a file without checksums that should have them.
    static func use(_ wanted: Bool?, exist: Bool?, path: String) throws -> Use {
        if exist == false, wanted == true { throw missing(path) }
        if exist == false { return .none }
        return wanted == false ? .maintained : .verified
    }

    static func missing(_ path: String) -> StorageError {
        StorageError(
            .invalidConfiguration,
            "the file was created without checksums, and they cannot be added to it; open it without checksums=true, and "
                + "copy it into a new file that has them with copy(to:)", path: path)
    }

    /// Returns the error for a page that does not match its checksum.
    ///
    /// - Parameters:
    ///   - page: The number of the page, from one; zero when it is not known.
    ///   - isInLog: Whether the page is in the write-ahead log.
    ///   - message: The message of SQLite.
    static func error(page: Int64, isInLog: Bool = false, path: String, entity: String? = nil, message: String? = nil)
        -> StorageError
    {
        let page = page == 0 ? "a page" : "page \(page)"
        return StorageError(
            .corrupted,
            """
            \(page) of the \(isInLog ? "file's write-ahead log" : "file") does not match its checksum: it is damaged, or another \
            program wrote it without checksums; restore the file from a backup, or open it with checksums=false to read it as \
            it is
            """,
            entity: entity, path: path, engineCode: Int(mismatch), engineMessage: message)
    }
}

extension SQLiteConnection {
    /// Reserves the bytes for checksums in each page of a file that is still empty.
    func reserveChecksums() {
        var length = Int32(DAO_CHECKSUM_LENGTH)
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &length)
    }

    /// Whether the file has checksums. A page was read before.
    var hasChecksums: Bool { dao_checksums_exist(handle) != 0 }

    /// Returns the error for the last page that did not match its checksum; nil when all pages did.
    ///
    /// - Parameter message: The message of SQLite.
    func damagedPage(_ message: String, entity: String? = nil) -> StorageError? {
        if let broken = brokenSeal(message, entity: entity) { return broken }
        let damage = dao_checksums_damage(handle)
        if damage.page == 0 { return nil }
        return PageChecksums.error(
            page: damage.page, isInLog: damage.is_in_log != 0, path: path, entity: entity, message: message)
    }
}
