import DAOCore
import DAOSystemLMDB
import Foundation

/// The steps from a path to an open environment: inspect, refuse, create, map, check.
enum EnvironmentOpening {

    /// A file that can be opened. It is inspected but not yet mapped.
    struct Found {
        /// The path without symbolic links. LMDB names its lock file after it, so it must be the same for all
        /// processes.
        let path: String
        let file: DatabaseFile
        /// Whether no lock file is used, as for a file that only this thread can have open.
        var isAlone = false

        /// The path of LMDB's lock file.
        var lock: String { path + "-lock" }
        /// Whether the lock file can be written, or created.
        var canLock: Bool {
            !isAlone
                && (isWritable(lock)
                    || access(lock, F_OK) != 0 && isWritable(TemporaryFile.directory(of: path)))
        }
        /// Whether the file can be written.
        var canWrite: Bool { canLock && isWritable(path) }

        /// Whether the operating system lets this process write. When it cannot tell, opening the file reports the error.
        private func isWritable(_ path: String) -> Bool {
            access(path, W_OK) == 0 || ![EACCES, EPERM, EROFS, ENOENT, ENOTDIR, ELOOP].contains(errno)
        }
    }

    /// From this length of its used pages on, the pages of a file are only checked when the options require it.
    static let alwaysCheckedLength = 1 << 30

    private static let largestMap = 1 << 40
    private static let smallestMap = 1 << 20

    // MARK: The file

    /// Finds the file at a path and checks that it is a database. Creates it when the options allow that.
    ///
    /// - Parameter host: What LMDB runs on.
    static func find(path: String, options: LMDBOptions, errors: LMDBErrors, host: LMDBHost = .current) throws -> Found {
        guard options.maximumReaders > 0, options.initialMapSize ?? 1 > 0, options.writeTimeout >= 0 else {
            throw errors.error(
                .invalidConfiguration,
                "a number of readers or a map size is not positive, or a timeout is negative; use greater numbers")
        }
        if let refusal = host.refusal(errors) { throw refusal }
        let mayCreate = options.createIfMissing && !options.isReadOnly
        let deadline = Date(timeIntervalSinceNow: options.writeTimeout)
        if mayCreate { try NewFile.create(path: path, mode: options.fileMode.map { mode_t($0) }, errors: errors) }
        // Several processes can create the file at the same time. In each iteration the file can be a new
        // file of another process.
        for _ in 0..<100 {
            let resolved = try resolve(path, errors)
            let file = try DatabaseFile(path: resolved, errors: errors)
            let isNew = try file.isNew()
            if !isNew || file.status.st_size > 0 && !mayCreate { return Found(path: resolved, file: file) }
            guard mayCreate else {
                throw StorageError.notFound(errors.path)
            }
            try NewFile.replace(file, at: resolved, deadline: deadline, errors: errors)
        }
        throw errors.error(.busy, "something else replaces the file again and again; stop it, or use another path")
    }

    private static func resolve(_ path: String, _ errors: LMDBErrors) throws -> String {
        guard let resolved = realpath(path, nil) else {
            throw errno == ENOENT ? StorageError.notFound(errors.path) : errors.error(errno, "finding the database")
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    // MARK: The environment

    /// A mapped file.
    struct Map {
        /// LMDB's environment.
        let handle: OpaquePointer
        let trees: Trees
        /// The size of the address range in bytes.
        let size: Int
        /// What says in the lock file which file this is; nil without a lock file.
        let mark: FileMark?
    }

    /// Maps a file that was found, and checks its pages.
    ///
    /// - Returns: Nil when another file has come to the path since.
    static func open(_ found: Found, options: LMDBOptions, errors: LMDBErrors) throws -> LMDBEnvironment? {
        let isLocked = found.canLock
        if !isLocked {
            let deadline = Date(timeIntervalSinceNow: options.writeTimeout)
            try FileLock.acquire(found.file, isShared: true, deadline: deadline, errors: errors)
        }
        defer { if !isLocked { FileLock.release(found.file) } }
        guard let map = try map(found, options, errors) else { return nil }
        return LMDBEnvironment(found, map, options, errors)
    }

    /// Maps a file that was found, and checks its pages; nil when another file has come to the path since.
    ///
    /// - Parameter checksPages: Whether the pages are checked before LMDB follows them.
    static func map(
        _ found: Found, _ options: LMDBOptions, checksPages: Bool = true, _ errors: LMDBErrors
    ) throws -> Map? {
        let mark =
            try found.canLock
            ? LockFileMark.make(
                for: found.file, lock: found.lock, deadline: Date(timeIntervalSinceNow: options.writeTimeout), errors: errors)
            : nil
        let (handle, size) = try openHandle(found, options, errors)
        do {
            var descriptor: CInt = -1
            mdb_env_get_fd(handle, &descriptor)
            // A compaction by another process replaces the file.
            guard FileIdentity(descriptor: descriptor) == found.file.identity else {
                mdb_env_close(handle)
                return nil
            }
            closeOnExec([found.path, found.lock])
            var dead: CInt = 0
            // Readers of killed processes prevent the reuse of pages. A failure to find them is not fatal.
            mdb_reader_check(handle, &dead)
            // Before LMDB follows any page.
            if checksPages { try checkPages(found.file, handle, always: options.checksWholeFile, errors) }
            var information = MDB_envinfo()
            mdb_env_info(handle, &information)
            return Map(
                handle: handle, trees: try openTrees(handle, errors), size: max(size, information.me_mapsize), mark: mark)
        } catch {
            mdb_env_close(handle)
            throw error
        }
    }

    /// Opens the environment with the largest available address range.
    private static func openHandle(
        _ found: Found, _ options: LMDBOptions, _ errors: LMDBErrors
    ) throws -> (OpaquePointer, Int) {
        let deadline = Date(timeIntervalSinceNow: options.writeTimeout)
        var size = options.initialMapSize.map(LMDBEnvironment.wholePages) ?? largestMap
        var attempts = 0
        while true {
            try FileLock.waitForLockFile(found.lock, deadline: deadline, errors: errors)
            let (handle, code) = try attempt(found, size, options, errors)
            if let handle { return (handle, size) }
            switch code {
            case ENOMEM, EINVAL, EFBIG, EOVERFLOW:
                guard options.initialMapSize == nil, size > smallestMap else {
                    throw errors.error(code, "reserving \(size) bytes of addresses for the database")
                }
                size /= 2
            case EAGAIN, EBUSY, MDB_INVALID, EDEADLK:
                // Another process can open or close the lock file at this moment.
                attempts += 1
                guard attempts < 20 else { throw openingError(code, errors) }
                usleep(5_000)
            default:
                throw openingError(code, errors)
            }
        }
    }

    static func openingError(_ code: CInt, _ errors: LMDBErrors, host: LMDBHost = .current) -> StorageError {
        if host.lacksSemaphores(code) {
            return StorageError(
                .outOfSpace,
                "the system has no semaphores left for the locks of LMDB, which killed processes keep, or no space; end programs that "
                    + "use LMDB, free some space, or start the machine anew", path: errors.path, engineCode: Int(code),
                engineMessage: mdb_strerror(code).map { String(cString: $0) })
        }
        guard code == MDB_INVALID else { return errors.error(code, "opening the database") }
        // The database itself has been inspected, so the file that LMDB does not recognise is the lock file.
        return StorageError(
            .corrupted,
            "the lock file beside the database, whose name ends in -lock, is not a file of LMDB; remove it when nobody has "
                + "the database open", path: errors.path, engineCode: Int(code),
            engineMessage: mdb_strerror(code).map { String(cString: $0) })
    }

    private static func attempt(
        _ found: Found, _ size: Int, _ options: LMDBOptions, _ errors: LMDBErrors
    ) throws -> (OpaquePointer?, CInt) {
        var handle: OpaquePointer?
        var code = mdb_env_create(&handle)
        guard code == 0, let handle else { throw errors.error(code, "opening the database") }
        // A relaxed commit must survive a crash of the process. A power loss can lose the commit, but never
        // the file. MDB_NOSYNC guarantees the former but not the latter: pages reach the disk in any order,
        // and the meta page can be the first. MDB_NOMETASYNC syncs the data before it writes the meta page,
        // and leaves only the meta page to the system. A power loss then loses the last commit, never the
        // file.
        var flags = MDB_NOSUBDIR | MDB_NOTLS
        if options.durability == .relaxed { flags |= MDB_NOMETASYNC }
        FileSizeSignal.ignore()
        if options.isReadOnly || !found.canWrite { flags |= MDB_RDONLY }
        if !found.canLock { flags |= MDB_NOLOCK }
        code = mdb_env_set_maxreaders(handle, UInt32(clamping: options.maximumReaders))
        if code == 0 { code = mdb_env_set_maxdbs(handle, MDB_dbi(Trees.count)) }
        if code == 0 { code = mdb_env_set_mapsize(handle, size) }
        if code == 0 { code = mdb_env_open(handle, found.path, UInt32(flags), found.file.status.st_mode & 0o666 | 0o600) }
        if code == 0 { return (handle, 0) }
        mdb_env_close(handle)
        return (nil, code)
    }

    /// Lets no child process inherit LMDB's descriptors of files.
    private static func closeOnExec(_ paths: [String]) {
        for descriptor in FileIdentity.descriptors(of: Set(paths.compactMap { FileIdentity($0) })) {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
    }

    /// Opens the trees, once before the first use.
    private static func openTrees(_ handle: OpaquePointer, _ errors: LMDBErrors) throws -> Trees {
        var transaction: OpaquePointer?
        var code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        guard code == 0, let transaction else { throw errors.error(code, "opening the database") }
        let trees: Trees
        do {
            trees = try Trees(transaction, creates: false, errors: errors)
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        code = mdb_txn_commit(transaction)
        guard code == 0 else { throw errors.error(code, "opening the database") }
        return trees
    }

    /// Checks the number of trees and the pages of the newest snapshot; not the pages of a file that is large
    /// and complete.
    ///
    /// - Parameter always: Whether the pages of any file are checked.
    static func checkPages(
        _ file: DatabaseFile, _ handle: OpaquePointer, always: Bool, _ errors: LMDBErrors
    ) throws {
        guard FileMeta.isLayoutKnown else { return }
        // The transaction prevents writers of all processes from reusing the pages.
        var transaction: OpaquePointer?
        let code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        guard code == 0 else { throw errors.error(code, "opening the database") }
        defer { mdb_txn_abort(transaction) }
        // A writer overwrites the older of the two meta pages, so the meta page of the snapshot can be
        // overwritten before it is read. Then a newer snapshot is used.
        for _ in 0..<1_000 {
            let snapshot = UInt64(mdb_txn_id(transaction))
            if let meta = try file.checkMetas()?.first(where: { $0.transaction == snapshot }) {
                guard meta.main.entries == Trees.count else { throw Trees.foreign(errors) }
                let pages = Int(meta.lastPage) + 1
                let isWhole = try file.length() / Int(meta.pageSize) >= pages
                if pages * Int(meta.pageSize) < alwaysCheckedLength || always || !isWhole {
                    try PageCheck.run(file, meta)
                }
                return
            }
            mdb_txn_reset(transaction)
            let code = mdb_txn_renew(transaction)
            guard code == 0 else { throw errors.error(code, "opening the database") }
        }
        throw errors.error(.busy, "others commit faster than the database can be checked; try again later")
    }
}
