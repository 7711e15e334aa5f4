import DAOCore
import DAOSystemLMDB
import Foundation

/// The steps from a path to an open environment: look, refuse, create, map, check.
enum EnvironmentOpening {

    /// A file that may be opened, looked at but not yet mapped.
    struct Found {
        /// The path without symbolic links: the one that LMDB's lock file is named after, the same for everybody.
        let path: String
        let file: DatabaseFile
    }

    /// From this length on a file's pages are only checked when the options ask for it.
    static let alwaysCheckedLength = 1 << 30

    private static let largestMap = 1 << 40
    private static let smallestMap = 1 << 20

    // MARK: The file

    /// Finds the file at a path and makes sure that it is a database, creating it where the options say so.
    static func find(path: String, options: LMDBOptions, errors: LMDBErrors) throws -> Found {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw StorageError.invalidPath(path)
        }
        guard options.maximumReaders > 0, options.initialMapSize ?? 1 > 0, options.writeTimeout >= 0 else {
            throw errors.error(
                .invalidConfiguration,
                "a number of readers or a map size is not positive, or a timeout is negative; use greater numbers")
        }
        let mayCreate = options.createIfMissing && !options.isReadOnly
        if mayCreate { try NewFile.create(path: path, errors: errors) }
        // Several processes may create the file at once; each time round it is one that some process has put there.
        for _ in 0..<100 {
            let resolved = try resolve(path, errors)
            let file = try DatabaseFile(path: resolved, errors: errors)
            if file.status.st_size > 0 {
                try file.checkMetas()
                return Found(path: resolved, file: file)
            }
            guard mayCreate else {
                throw StorageError.notFound(errors.path)
            }
            try NewFile.replace(file, at: resolved, errors: errors)
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

    /// Maps a file that was found and checks its pages.
    static func open(_ found: Found, options: LMDBOptions, errors: LMDBErrors) throws -> LMDBEnvironment {
        let (handle, mapSize) = try map(found.path, options, errors)
        do {
            var dead: CInt = 0
            // Readers of processes that were killed keep pages from being reused; failing to find them is not fatal.
            mdb_reader_check(handle, &dead)
            let database = try openDatabase(handle, errors)
            try checkPages(found.file, handle, options, errors)
            return LMDBEnvironment(
                handle: handle, database: database, mapSize: mapSize, identity: found.file.identity, options: options,
                errors: errors)
        } catch {
            mdb_env_close(handle)
            throw error
        }
    }

    /// Opens the environment with the largest range of addresses that there is room for.
    private static func map(_ path: String, _ options: LMDBOptions, _ errors: LMDBErrors) throws -> (OpaquePointer, Int) {
        var size = options.initialMapSize.map(LMDBEnvironment.wholePages) ?? largestMap
        var attempts = 0
        while true {
            let (handle, code) = try attempt(path, size, options, errors)
            if let handle { return (handle, size) }
            switch code {
            case ENOMEM, EINVAL, EFBIG, EOVERFLOW:
                guard options.initialMapSize == nil, size > smallestMap else {
                    throw errors.error(code, "reserving \(size) bytes of addresses for the database")
                }
                size /= 2
            case EAGAIN, EBUSY, MDB_INVALID, EDEADLK:
                // Another process may be opening or closing the lock file at this very moment.
                attempts += 1
                guard attempts < 20 else { throw openingError(code, errors) }
                usleep(5_000)
            default:
                throw openingError(code, errors)
            }
        }
    }

    private static func openingError(_ code: CInt, _ errors: LMDBErrors) -> StorageError {
        guard code == MDB_INVALID else { return errors.error(code, "opening the database") }
        // The database itself has been looked at; what LMDB does not recognise is the other file.
        return StorageError(
            .corrupted,
            "the lock file beside the database, whose name ends in -lock, is not a file of LMDB; remove it when nobody has "
                + "the database open", path: errors.path, engineCode: Int(code),
            engineMessage: mdb_strerror(code).map { String(cString: $0) })
    }

    private static func attempt(
        _ path: String, _ size: Int, _ options: LMDBOptions, _ errors: LMDBErrors
    ) throws -> (OpaquePointer?, CInt) {
        var handle: OpaquePointer?
        var code = mdb_env_create(&handle)
        guard code == 0, let handle else { throw errors.error(code, "opening the database") }
        // A relaxed commit must survive a crash of the process and may be lost with the power, but the file may not.
        // MDB_NOSYNC keeps the first promise and breaks the second: pages reach the disk in any order, and the page that
        // points to the others may be the first. MDB_NOMETASYNC syncs the data before that page is written and leaves only
        // that page to the system: what is lost is the last commit, never the file.
        var flags = MDB_NOSUBDIR | MDB_NOTLS
        if options.durability == .relaxed { flags |= MDB_NOMETASYNC }
        if options.isReadOnly { flags |= MDB_RDONLY }
        code = mdb_env_set_maxreaders(handle, UInt32(clamping: options.maximumReaders))
        if code == 0 { code = mdb_env_set_mapsize(handle, size) }
        if code == 0 { code = mdb_env_open(handle, path, UInt32(flags), 0o644) }
        if code == 0 { return (handle, 0) }
        mdb_env_close(handle)
        return (nil, code)
    }

    /// Opens the one unnamed database, which LMDB wants done once before the first use.
    private static func openDatabase(_ handle: OpaquePointer, _ errors: LMDBErrors) throws -> MDB_dbi {
        var transaction: OpaquePointer?
        var code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        guard code == 0 else { throw errors.error(code, "opening the database") }
        var database: MDB_dbi = 0
        code = mdb_dbi_open(transaction, nil, 0, &database)
        guard code == 0 else {
            mdb_txn_abort(transaction)
            throw errors.error(code, "opening the database")
        }
        code = mdb_txn_commit(transaction)
        guard code == 0 else { throw errors.error(code, "opening the database") }
        return database
    }

    /// Checks the pages of the newest snapshot, unless the file is large and whole.
    private static func checkPages(
        _ file: DatabaseFile, _ handle: OpaquePointer, _ options: LMDBOptions, _ errors: LMDBErrors
    ) throws {
        guard FileMeta.isLayoutKnown else { return }
        // The transaction keeps writers, also of other processes, from reusing the pages.
        var transaction: OpaquePointer?
        let code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        guard code == 0 else { throw errors.error(code, "opening the database") }
        defer { mdb_txn_abort(transaction) }
        // A writer overwrites the older of the two metas, so the snapshot's may be gone when it is read; then a newer
        // snapshot is taken.
        for _ in 0..<1_000 {
            let snapshot = UInt64(mdb_txn_id(transaction))
            if let meta = try file.checkMetas()?.first(where: { $0.transaction == snapshot }) {
                let length = try file.length()
                let isWhole = length / Int(meta.pageSize) > Int(meta.lastPage)
                if length < alwaysCheckedLength || options.checksWholeFile || !isWhole { try PageCheck.run(file, meta) }
                return
            }
            mdb_txn_reset(transaction)
            let code = mdb_txn_renew(transaction)
            guard code == 0 else { throw errors.error(code, "opening the database") }
        }
        throw errors.error(.busy, "others commit faster than the database can be checked; try again later")
    }
}
