import DAOCore
import DAOSystemLMDB
import Foundation

/// Creates new databases. A crash at any moment leaves either no database or a complete database.
///
/// LMDB writes the first two pages of a file in place; a file torn at that moment can never be opened again.
/// The pages, and one with the empty trees, are therefore written to a temporary file in the same directory,
/// which then replaces the empty file. The process holds a lock on the empty file and checks that it is still
/// the file at the path, so only one of several processes succeeds.
enum NewFile {

    /// Creates a file at a path unless it exists. An empty file is a database that is about to be created.
    ///
    /// - Parameter mode: The permissions of the file; nil for those that the process gives its files.
    static func create(path: String, mode: mode_t?, errors: LMDBErrors) throws {
        // The second attempt is for a file that another process has created, which keeps its permissions.
        for flags in [O_EXCL, 0] {
            let descriptor = open(path, O_RDWR | O_CREAT | flags | O_NONBLOCK | O_CLOEXEC, mode ?? 0o644)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            guard flags == O_EXCL, let mode, fchmod(descriptor, mode) != 0 else { return }
            throw errors.error(errno, "creating the database")
        }
        let code = errno
        // An existing file is inspected, and refused, later. ENXIO means a FIFO without a reader.
        var status = stat()
        if stat(path, &status) == 0 {
            if [EISDIR, ENXIO, EACCES, EROFS].contains(code) { return }
        } else if errno == EACCES {
            throw errors.notPermitted(code)
        }
        guard code == ENOENT else { throw errors.error(code, "creating the database") }
        throw StorageError.directoryNotFound(
            errors.path, engineCode: Int(code), engineMessage: mdb_strerror(code).map { String(cString: $0) })
    }

    /// Replaces a file in which nothing was stored by a new database, unless another process does.
    ///
    /// - Parameters:
    ///   - path: The path of the file, without symbolic links.
    ///   - file: The file.
    ///   - deadline: How long to wait for another process that creates the database.
    static func replace(_ file: DatabaseFile, at path: String, deadline: Date, errors: LMDBErrors) throws {
        try FileLock.acquire(file, deadline: deadline, errors: errors)
        var status = stat()
        guard stat(path, &status) == 0, FileIdentity(status) == file.identity, try file.isNew() else { return }
        // Another program can be about to store something in a file that LMDB has created.
        if status.st_size > 0 {
            try FileLock.wait(until: deadline, errors) { try !isOpenElsewhere(path) || !file.isNew() }
            guard try file.isNew() else { return }
        }

        let temporary = "\(path).\(getpid())-\(UUID().uuidString).new"
        defer { unlink(temporary) }
        try writeEmptyDatabase(temporary, errors: errors)
        try sync(temporary, mode: status.st_mode & 0o777, errors: errors)
        guard rename(temporary, path) == 0 else { throw errors.error(errno, "creating the database") }
        TemporaryFile.syncDirectory(TemporaryFile.directory(of: path))
    }

    /// Whether another process has the file at a path open.
    private static func isOpenElsewhere(_ path: String) -> Bool {
        let lock = path + "-lock"
        // Closing the lock file would release the locks that this process has on it.
        if let identity = FileIdentity(lock), let descriptor = FileIdentity.descriptors(of: [identity]).first {
            return ProcessLock.isHeldElsewhere(descriptor, in: 0..<1) ?? true
        }
        return ProcessLock.isHeldElsewhere(lock, in: 0..<1)
    }

    private static func writeEmptyDatabase(_ path: String, errors: LMDBErrors) throws {
        var environment: OpaquePointer?
        var code = mdb_env_create(&environment)
        guard code == 0 else { throw errors.error(code, "creating the database") }
        defer { mdb_env_close(environment) }
        code = mdb_env_set_maxdbs(environment, MDB_dbi(Trees.count))
        if code == 0 { code = mdb_env_open(environment, path, UInt32(MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOTLS), 0o600) }
        var transaction: OpaquePointer?
        if code == 0 { code = mdb_txn_begin(environment, nil, 0, &transaction) }
        guard code == 0, let transaction else { throw errors.error(code, "creating the database") }
        do {
            _ = try Trees(transaction, creates: true, errors: errors)
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        code = mdb_txn_commit(transaction)
        guard code == 0 else { throw errors.error(code, "creating the database") }
    }

    private static func sync(_ path: String, mode: mode_t, errors: LMDBErrors) throws {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw errors.error(errno, "creating the database") }
        defer { close(descriptor) }
        guard fchmod(descriptor, mode) == 0 else { throw errors.error(errno, "creating the database") }
        let code = FileSync.current.sync(descriptor, for: .replacement)
        if code != 0 { throw errors.error(code, "creating the database") }
    }
}
