import DAOCore
import DAOSystemLMDB
import Foundation

/// Creates errors for a file from the codes of LMDB and of the operating system.
struct LMDBErrors: Sendable {

    /// The path of the file, as the application named it.
    let path: String

    /// Creates an error without a code.
    func error(_ kind: StorageError.Kind, _ message: String) -> StorageError {
        StorageError(kind, message, path: path)
    }

    /// Creates an error for a result code of LMDB, which is `errno` when it is positive.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - action: What failed, to begin the message with: "opening the database".
    func error(_ code: CInt, _ action: String) -> StorageError {
        let kind = kind(of: code)
        if kind == .outcomeUnknown { return outcomeUnknown(code) }
        return StorageError(
            kind, "\(action) failed: \(advice(kind, code))", path: path, engineCode: Int(code),
            engineMessage: mdb_strerror(code).map { String(cString: $0) })
    }

    /// Creates the error for a commit whose meta page could not be written.
    func outcomeUnknown(_ code: CInt) -> StorageError {
        .outcomeUnknown(path, engineCode: Int(code), engineMessage: mdb_strerror(code).map { String(cString: $0) })
    }

    /// Creates the error for a file that may not be read.
    func notPermitted(_ code: CInt) -> StorageError {
        .notPermitted(path, engineCode: Int(code), engineMessage: mdb_strerror(code).map { String(cString: $0) })
    }

    /// The kind of a code of LMDB, or of the operating system.
    ///
    /// Only what a sound file never gives is damage: a page that is not there or is of another type, a tree that is deeper than
    /// LMDB's stack, a page without the space that it declares.
    func kind(of code: CInt) -> StorageError.Kind {
        switch code {
        case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_CURSOR_FULL, MDB_PAGE_FULL: .corrupted
        // A meta page could not be written: the file has the last commit or not, and is not damaged.
        case MDB_PANIC: .outcomeUnknown
        case MDB_MAP_FULL, MDB_MAP_RESIZED, MDB_TXN_FULL, ENOSPC, EDQUOT, EFBIG, ENOMEM: .outOfSpace
        case MDB_VERSION_MISMATCH: .schemaIsNewer
        case MDB_INVALID, MDB_INCOMPATIBLE, MDB_BAD_DBI: .notADatabase
        case MDB_BAD_TXN, MDB_BAD_RSLOT: .invalidTransaction
        case MDB_BAD_VALSIZE: .invalidKey
        case MDB_READERS_FULL, EBUSY, EAGAIN, ETIMEDOUT: .busy
        case EACCES, EPERM, EROFS: .readOnly
        case ENOENT, ENOTDIR: .notFound
        case EISDIR, ELOOP: .notADatabase
        // On a full disk LMDB's write is short, which LMDB reports as EIO.
        case EIO: isDiskFull || isAtLimit ? .outOfSpace : .io
        // Answers of LMDB that its callers expect, and limits of the process.
        case MDB_KEYEXIST, MDB_NOTFOUND, MDB_DBS_FULL, MDB_TLS_FULL: .io
        default: .io
        }
    }

    private func advice(_ kind: StorageError.Kind, _ code: CInt) -> String {
        switch kind {
        case .outOfSpace where code == MDB_MAP_FULL || code == MDB_MAP_RESIZED:
            "the address range for the file is full; undo this transaction, the next one begins with a larger range"
        case .outOfSpace: "there is no space, and nothing was written; free some space and try again"
        case .schemaIsNewer: "the file was written by a newer LMDB; open it with that, or with a newer version of this library"
        case .corrupted: "the file is damaged; restore it from a backup"
        case .notADatabase: "the file is not a database of this kind; check the path. Nothing was changed"
        case .invalidTransaction: "the transaction cannot be used any more; undo it and begin another"
        case .invalidKey: "a stored key has 1 to 511 bytes; use a shorter key"
        case .busy: "others are using the database; try again later"
        case .readOnly: "the file, its lock file or their directory may not be written to; check their permissions"
        case .notFound: "there is no such file; check the path, or allow it to be created"
        default: "the operating system refused; see the words of the engine"
        }
    }

    /// Whether the file system of the file has less than one mebibyte of free space.
    private var isDiskFull: Bool {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return false }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize) < 1 << 20
    }

    /// Whether the file has the maximum length that this process is allowed to write.
    private var isAtLimit: Bool {
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        #else
            let resource = RLIMIT_FSIZE
        #endif
        var limit = rlimit()
        var status = stat()
        guard getrlimit(resource, &limit) == 0, stat(path, &status) == 0 else { return false }
        return UInt64(status.st_size) >= UInt64(limit.rlim_cur)
    }
}
