import DAOCore
import DAOSystemLMDB
import Foundation

/// An open file: LMDB's environment, and the count of its users, which LMDB leaves to the caller.
///
/// There is one for each file and process, shared by all stores on the file. It begins transactions, keeps
/// idle readers for reuse, admits one writer at a time, and grows the map when no transaction runs.
final class LMDBEnvironment: @unchecked Sendable {
    // Unchecked because of the variables below and the handle. Every access to the variables holds the lock
    // of `state`. LMDB allows any thread to use the handle; it is closed when no transaction is left that
    // could use it.

    // The next four change only when the file is replaced by its compact copy, while no transaction runs. A running
    // transaction therefore reads them without the lock.
    /// LMDB's environment handle.
    @exclusivity(unchecked) private(set) var handle: OpaquePointer
    /// The trees of the file.
    @exclusivity(unchecked) private(set) var trees: Trees
    /// Counts how often compaction has replaced the file, and with it the trees; only while no transaction runs.
    @exclusivity(unchecked) private(set) var replacements = 0
    /// The file and its lock file.
    @exclusivity(unchecked) private var files: AttachedFiles
    private let detachment = Detachment()
    private var mark: FileMark?
    /// Creates errors that name the file.
    let errors: LMDBErrors
    /// The path of the file without symbolic links.
    let resolvedPath: String
    /// The path of the lock file.
    let lock: String
    /// How the file was opened.
    private let options: LMDBOptions
    /// Whether the environment is read-only.
    let isReadOnly: Bool
    /// Whether the file or its lock file cannot be written.
    let isInReadOnlyPlace: Bool
    /// Whether LMDB's lock file is used. Otherwise the file is locked while any reader runs.
    let isLocked: Bool
    /// The timeout for other writers and readers, in seconds.
    let timeout: Double
    /// The size of a page in bytes.
    let pageSize: Int

    private static let laneOfWriter = 0
    // The number of write transactions after which the reader slots of killed processes are freed, so that
    // they do not pin old pages.
    private static let writesBetweenReaderChecks = 128

    /// Protects all variables, and wakes threads that wait for a change of them.
    let state = NSCondition()
    /// The size of the address range.
    var mapSize: Int
    /// The used size at which the map grows.
    var growthMark: Int
    /// Counts transactions, and has idle readers.
    let readers = ReaderLanes()
    /// Whether a write found the map full.
    var mustGrow = false
    /// The number of threads that hold new readers back, so that the map can grow or be replaced.
    var holdsOnReaders = 0 { didSet { updateLanes() } }
    /// The number of threads that wait until no transaction runs.
    var waitingForQuiet = 0 { didSet { updateLanes() } }
    /// The reason why all calls fail until the file is opened again; nil without a failure.
    var failure: StorageError? { didSet { updateLanes() } }
    @exclusivity(unchecked) private(set) var writer: pthread_t? {
        didSet {
            changedSnapshot = nil
            decideOnSnapshots()
        }
    }
    /// The number of the snapshot that the running write transaction changes.
    private(set) var changedSnapshot: UInt64?
    // The file, open for the lock of the writer until the environment is closed.
    private var file: DatabaseFile?
    // Whether LMDB's handle is open. It is not after a file was replaced and could not be opened.
    private var isMapped = true
    /// When idle readers keep their snapshots.
    var parking = ReaderParking()
    private var writeCount = 0
    // The number of stores on the file. When it is zero, the environment is closed.
    private(set) var userCount = 0 { didSet { updateLanes() } }
    private var syncsFully: Bool

    /// Takes over an open environment.
    init(_ found: EnvironmentOpening.Found, _ map: EnvironmentOpening.Map, _ options: LMDBOptions, _ errors: LMDBErrors) {
        isLocked = found.canLock
        isInReadOnlyPlace = !found.canWrite
        resolvedPath = found.path
        lock = found.lock
        self.options = options
        files = AttachedFiles([errors.path, lock], detachment)
        handle = map.handle
        trees = map.trees
        mark = map.mark
        file = found.file
        self.errors = errors
        mapSize = map.size
        growthMark = map.size / 2
        var statistics = MDB_stat()
        mdb_env_stat(handle, &statistics)
        pageSize = Int(statistics.ms_psize)
        isReadOnly = options.isReadOnly || !found.canWrite
        timeout = options.writeTimeout
        syncsFully = options.durability == .full
        updateLanes()
    }

    /// The syncing mode that LMDB reports.
    var syncing: LMDBSyncing {
        var flags: CUnsignedInt = 0
        mdb_env_get_flags(handle, &flags)
        if flags & CUnsignedInt(MDB_NOSYNC | MDB_MAPASYNC | MDB_WRITEMAP) != 0 { return .less }
        return flags & CUnsignedInt(MDB_NOMETASYNC) == 0 ? .everything : .dataOnly
    }

    /// Whether every call fails until the file is opened again.
    var hasFailed: Bool {
        state.lock()
        defer { state.unlock() }
        return failure != nil || isMapped && hasPanicked
    }

    /// Whether LMDB failed to write a meta page, or it cannot be told. The page can have reached the disk all the
    /// same, and LMDB refuses all transactions until the file is opened again.
    var hasPanicked: Bool {
        var transaction: OpaquePointer?
        let code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        if code == 0 { mdb_txn_abort(transaction) }
        return code != 0
    }

    /// Checks the pages of the newest snapshot. A read transaction is running.
    func checkPages() throws {
        state.lock()
        let file = file
        state.unlock()
        guard let file else { throw StorageError.closed(errors.path) }
        try EnvironmentOpening.checkPages(file, handle, always: true, errors)
    }

    // MARK: Users

    /// Adds a store as a user of the environment.
    ///
    /// - Throws: `invalidConfiguration` if the store writes and the environment is read-only.
    func join(_ user: EnvironmentUser, _ options: LMDBOptions) throws {
        state.lock()
        defer { state.unlock() }
        guard options.isReadOnly || !isReadOnly || isInReadOnlyPlace else {
            throw errors.error(
                .invalidConfiguration,
                "this process has the file open for reading only; close that database before opening one that writes")
        }
        if options.durability == .full, !syncsFully, !isReadOnly {
            // The strictest durability of all stores applies.
            let code = mdb_env_set_flags(handle, UInt32(MDB_NOMETASYNC), 0)
            guard code == 0 else { throw errors.error(code, "making the database durable") }
            syncsFully = true
        }
        user.isOpen.store(true, ordering: .relaxed)
        userCount += 1
    }

    /// Ends the use by a store. After the last store has left, the environment is freed as soon as no
    /// transaction runs.
    ///
    /// - Returns: Whether it was the last store.
    func leave(_ user: EnvironmentUser) -> Bool {
        state.lock()
        defer { state.unlock() }
        guard user.isOpen.exchange(false, ordering: .acquiringAndReleasing) else { return false }
        userCount -= 1
        guard userCount == 0 else { return false }
        stopParking()
        state.broadcast()
        if readers.running.count == 0 { close() }
        return true
    }

    private func close() {
        discardIdleReaders()
        if isMapped { mdb_env_close(handle) }
        isMapped = false
        mark = nil
        file = nil
    }

    /// Replaces the file by another one with the same content. No transaction runs, and `state` is locked.
    ///
    /// - Parameters:
    ///   - rename: A closure that renames the other file, whose pages were checked, to the path. When it throws, nothing has changed.
    /// - Throws: The error of `rename`, or of opening the new file. In the latter case all calls fail until the file is
    ///   opened again.
    func replaceFile(_ rename: () throws -> Void) throws {
        discardIdleReaders()
        try rename()
        // This releases the locks on the lock file. Other processes now open the new file.
        mdb_env_close(handle)
        isMapped = false
        mark = nil
        do {
            var options = options
            options.durability = syncsFully ? .full : .relaxed
            options.initialMapSize = mapSize
            let found = EnvironmentOpening.Found(path: resolvedPath, file: try DatabaseFile(path: resolvedPath, errors: errors))
            guard let map = try EnvironmentOpening.map(found, options, checksPages: false, errors) else {
                throw StorageError(.busy, "another process has replaced the file; open the database again", path: errors.path)
            }
            isMapped = true
            handle = map.handle
            trees = map.trees
            replacements += 1
            mark = map.mark
            mapSize = map.size
            growthMark = map.size / 2
            file = found.file
            files = AttachedFiles([errors.path, lock], detachment)
        } catch {
            failure = error as? StorageError
            throw error
        }
    }

    /// Checks, with `state` locked, that a store may begin a transaction.
    ///
    /// - Returns: The file.
    @discardableResult func check(_ user: EnvironmentUser) throws -> DatabaseFile {
        guard user.isOpen.load(ordering: .relaxed), let file else {
            throw StorageError.closed(errors.path)
        }
        if let failure { throw failure }
        return file
    }

    // MARK: Readers

    /// Begins to read the newest snapshot. ``leaveReader(_:)`` ends that.
    func takeReader(_ user: EnvironmentUser) throws -> LMDBReader {
        let lane = ThreadLanes.own
        if readers.running.enter(lane) {
            var idle = user.isOpen.load(ordering: .acquiring) ? readers.idle.take() : nil
            if idle != nil, start(&idle) == 0, let reader = idle.take() {
                reader.lane = lane
                return reader
            }
            leave(lane)
        }
        return try takeReader(user, lane)
    }

    /// Begins to read with the lock.
    private func takeReader(_ user: EnvironmentUser, _ lane: Int) throws -> LMDBReader {
        var deadline: Date?
        while true {
            try enterReader(user, lane)
            var reader = readers.idle.take()
            let code = start(&reader)
            if code == 0, let reader {
                reader.lane = lane
                return reader
            }
            leave(lane)
            switch code {
            case MDB_READERS_FULL where deadline.map { $0 > Date() } ?? true:
                deadline = deadline ?? Date(timeIntervalSinceNow: timeout)
                freeReaderSlots()
            case MDB_MAP_RESIZED:
                try growForOthers()
            case MDB_READERS_FULL:
                throw StorageError.tooManyReads(
                    errors.path, engineCode: Int(code), engineMessage: mdb_strerror(code).map { String(cString: $0) })
            default:
                throw errors.error(code, "beginning to read")
            }
        }
    }

    /// Counts a new reader.
    private func enterReader(_ user: EnvironmentUser, _ lane: Int) throws {
        state.lock()
        defer { state.unlock() }
        while holdsOnReaders > 0 { state.wait() }
        let file = try check(user)
        if !isLocked, readers.running.count == 0 {
            try FileLock.acquire(file, isShared: true, deadline: Date(timeIntervalSinceNow: timeout), errors: errors)
        }
        readers.running.enterClosed(lane)
    }

    /// Lets an idle reader begin again, or makes a reader.
    ///
    /// - Parameter reader: The idle reader, or nil. On return the reader that has begun.
    /// - Returns: LMDB's result code. Unless it is zero, there is no reader.
    @inline(__always) private func start(_ reader: inout LMDBReader?) -> CInt {
        if let code = reader?.renew(self) {
            if code != 0 { reader = nil }
            return code
        }
        var handle: OpaquePointer?
        let code = mdb_txn_begin(self.handle, nil, UInt32(MDB_RDONLY), &handle)
        if code == 0, let handle { reader = LMDBReader(handle) }
        return code
    }

    /// Takes back a reader for reuse.
    func leaveReader(_ reader: consuming LMDBReader) {
        let lane = reader.lane
        var kept = readers.kept
        if kept == .asked { kept = noteEnd() }
        let isKept = kept == .all || reader.number >= kept.rawValue
        reader.end(keepsSnapshot: isKept)
        // One without a place ends here, while it is still counted.
        if readers.idle.leave(reader) == nil {
            readers.use()
            // Decided in the meantime: the reader may be the one that was not found.
            if isKept, readers.kept != kept { readers.idle.forEach { $0.unpark() } }
        }
        leave(lane)
    }

    /// Frees slots in the full reader table where possible, and waits briefly. No transaction of the caller runs.
    private func freeReaderSlots() {
        state.lock()
        var dead: CInt = 0
        if isMapped { mdb_reader_check(handle, &dead) }
        let hadIdleReaders = discardIdleReaders()
        state.unlock()
        if dead == 0, !hadIdleReaders { usleep(1_000) }
    }

    /// Frees all idle readers.
    ///
    /// - Returns: Whether there were any.
    @discardableResult private func discardIdleReaders() -> Bool {
        var hadAny = false
        readers.idle.drain { _ in hadAny = true }
        return hadAny
    }

    // MARK: Counting

    /// Counts the end of a transaction.
    @inline(__always) func leave(_ lane: Int) {
        if readers.running.leave(lane) { tellOfEnd() }
    }

    private func tellOfEnd() {
        state.lock()
        defer { state.unlock() }
        guard readers.running.count == 0 else { return }
        if !isLocked, let file { FileLock.release(file) }
        if waitingForQuiet > 0 { state.broadcast() }
        if userCount == 0 { close() }
    }

    /// Closes the lanes where readers need the lock. `state` is locked.
    private func updateLanes() {
        readers.running.set(isClosed: holdsOnReaders > 0 || waitingForQuiet > 0 || userCount == 0 || failure != nil || !isLocked)
    }

    // MARK: The writer

    /// Begins the single write transaction.
    ///
    /// - Parameters:
    ///   - user: The user that begins it.
    ///   - seconds: The timeout; nil for the timeout of the store that opened the file first.
    /// - Throws: `busy` when another writer does not finish in time.
    func beginWriting(_ user: EnvironmentUser, within seconds: Double?) throws -> LMDBWriteTransaction {
        let seconds = seconds ?? timeout
        let deadline = Date(timeIntervalSinceNow: seconds)
        let file = try enterWriter(user, deadline)
        do {
            try FileLock.acquire(file, deadline: deadline, errors: errors)
        } catch {
            leaveWriter()
            throw error
        }
        do {
            try checkFiles()
            return LMDBWriteTransaction(try startWriter(deadline), self)
        } catch {
            FileLock.release(file)
            leaveWriter()
            throw error
        }
    }

    func enterWriter(_ user: EnvironmentUser, _ deadline: Date) throws -> DatabaseFile {
        state.lock()
        defer { state.unlock() }
        var file = try check(user)
        guard !isReadOnly else {
            throw StorageError.readOnly(errors.path)
        }
        while let writer {
            guard pthread_equal(writer, pthread_self()) == 0 else {
                throw StorageError.threadIsWriting(errors.path)
            }
            guard state.wait(until: deadline) else {
                throw StorageError.busy(errors.path)
            }
            file = try check(user)
        }
        writer = pthread_self()
        unparkReaders()
        writeCount += 1
        guard writeCount % Self.writesBetweenReaderChecks == 0 else { return file }
        var dead: CInt = 0
        mdb_reader_check(handle, &dead)
        return file
    }

    /// Checks that the paths still lead to the files. Otherwise every later call fails: processes that open the paths
    /// do not know the readers of this environment, and reuse the pages that they read.
    func checkFiles() throws {
        do {
            try files.check(errors.path)
        } catch let error as StorageError where error.kind == .detached {
            state.lock()
            failure = error
            state.unlock()
            // The next process that opens the path must not find the state of this environment in the lock file.
            if files.isAttached(lock) { unlink(lock) }
            throw error
        }
    }

    private func startWriter(_ deadline: Date) throws -> OpaquePointer {
        for _ in 0..<10 {
            state.lock()
            do {
                // Growth waits for readers of this process, which contradicts a timeout of zero.
                try growIfNeeded(max(deadline, Date(timeIntervalSinceNow: 1)))
            } catch {
                state.unlock()
                throw error
            }
            readers.running.enterClosed(Self.laneOfWriter)
            state.unlock()

            var transaction: OpaquePointer?
            let code = mdb_txn_begin(handle, nil, 0, &transaction)
            if code == 0, let transaction {
                state.lock()
                changedSnapshot = UInt64(mdb_txn_id(transaction)) - 1
                decideOnSnapshots()
                state.unlock()
                return transaction
            }
            leave(Self.laneOfWriter)
            guard code == MDB_MAP_RESIZED else { throw errors.error(code, "beginning to write") }
            state.lock()
            mustGrow = true
            state.unlock()
        }
        throw errors.error(MDB_MAP_RESIZED, "beginning to write")
    }

    func leaveWriter() {
        state.lock()
        writer = nil
        state.broadcast()
        state.unlock()
    }

    /// Ends the write transaction, after LMDB has ended it.
    ///
    /// - Parameters:
    ///   - foundMapFull: Whether it reached the end of the map.
    ///   - failure: The reason why no further writes are allowed; nil without a failure.
    func endWriting(foundMapFull: Bool, failure: StorageError?) {
        state.lock()
        if let file { FileLock.release(file) }
        writer = nil
        if foundMapFull { mustGrow = true }
        if let failure, self.failure == nil { self.failure = failure }
        state.broadcast()
        state.unlock()
        leave(Self.laneOfWriter)
    }
}
