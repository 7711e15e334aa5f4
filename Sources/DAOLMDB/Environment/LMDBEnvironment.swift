import DAOCore
import DAOSystemLMDB
import Foundation

/// An open file: LMDB's environment, and the counting of who uses it that LMDB leaves to its caller.
///
/// One of a file and process, shared by all stores on the file. It hands out transactions, keeps idle readers to be used
/// again, lets one writer in at a time, and makes the map larger when no transaction runs.
final class LMDBEnvironment: @unchecked Sendable {
    // Unchecked because of the variables below, each of which is only touched with `state` locked, and of the handle, which
    // LMDB allows any thread to use; it is closed when no transaction is left that could use it.

    /// LMDB's own object.
    let handle: OpaquePointer
    /// The one unnamed database.
    let database: MDB_dbi
    /// The file.
    let identity: DatabaseFile.Identity
    /// Makes errors that name the file.
    let errors: LMDBErrors
    /// Whether it was opened only to be read.
    let isReadOnly: Bool
    /// How long to wait for others, in seconds.
    let timeout: Double
    /// The size of a page in bytes.
    let pageSize: Int

    // How many idle readers are kept; each holds a slot of the reader table that all processes share.
    private static let maximumIdleReaders = 32
    // Every so many write transactions the slots of killed processes are freed, so that they do not pin old pages.
    private static let writesBetweenReaderChecks = 128

    /// Guards all variables, and wakes those who wait for one of them to change.
    let state = NSCondition()
    /// The size of the address range.
    var mapSize: Int
    /// How much of it may be in use before it is made larger.
    var growthMark: Int
    /// How many transactions run, or are about to.
    var activeCount = 0
    /// Whether a write found no more room.
    var mustGrow = false
    /// Whether new readers wait so that the map can grow.
    var holdsReadersBack = false
    /// How many threads wait for `activeCount` to become zero.
    var waitingForQuiet = 0
    /// Why nothing can be done any more until the file is opened again; nil as long as all is well.
    var failure: StorageError?
    private var writer: pthread_t?
    private var idleReaders: [LMDBReadTransaction] = []
    private var writeCount = 0
    // The stores on the file; when there are none, the environment is closed.
    private var userCount = 0
    private var syncsFully: Bool

    /// Takes over an open environment.
    init(
        handle: OpaquePointer, database: MDB_dbi, mapSize: Int, identity: DatabaseFile.Identity, options: LMDBOptions,
        errors: LMDBErrors
    ) {
        self.handle = handle
        self.database = database
        self.identity = identity
        self.errors = errors
        var information = MDB_envinfo()
        mdb_env_info(handle, &information)
        self.mapSize = max(mapSize, information.me_mapsize)
        growthMark = self.mapSize / 2
        var statistics = MDB_stat()
        mdb_env_stat(handle, &statistics)
        pageSize = Int(statistics.ms_psize)
        isReadOnly = options.isReadOnly
        timeout = options.writeTimeout
        syncsFully = options.durability == .full
    }

    /// What LMDB says that it syncs.
    var syncing: LMDBSyncing {
        var flags: CUnsignedInt = 0
        mdb_env_get_flags(handle, &flags)
        if flags & CUnsignedInt(MDB_NOSYNC | MDB_MAPASYNC | MDB_WRITEMAP) != 0 { return .less }
        return flags & CUnsignedInt(MDB_NOMETASYNC) == 0 ? .everything : .dataOnly
    }

    // MARK: Users

    /// Lets another store use the environment.
    ///
    /// - Throws: `invalidConfiguration` if it wants to write and the environment was opened to be read.
    func join(_ user: EnvironmentUser, _ options: LMDBOptions) throws {
        state.lock()
        defer { state.unlock() }
        guard options.isReadOnly || !isReadOnly else {
            throw errors.error(
                .invalidConfiguration,
                "this process has the file open for reading only; close that database before opening one that writes")
        }
        if options.durability == .full, !syncsFully, !options.isReadOnly {
            // The strictest of all stores decides.
            let code = mdb_env_set_flags(handle, UInt32(MDB_NOMETASYNC), 0)
            guard code == 0 else { throw errors.error(code, "making the database durable") }
            syncsFully = true
        }
        user.isOpen = true
        userCount += 1
    }

    /// Ends the use by a store. After the last one everything is freed as soon as no transaction runs.
    ///
    /// - Returns: Whether it was the last.
    func leave(_ user: EnvironmentUser) -> Bool {
        state.lock()
        defer { state.unlock() }
        guard user.isOpen else { return false }
        user.isOpen = false
        userCount -= 1
        guard userCount == 0 else { return false }
        for reader in idleReaders { reader.discard() }
        idleReaders = []
        state.broadcast()
        if activeCount == 0 { mdb_env_close(handle) }
        return true
    }

    /// Makes sure, with `state` locked, that a store may begin a transaction.
    private func check(_ user: EnvironmentUser) throws {
        guard user.isOpen else {
            throw StorageError.closed
        }
        if let failure { throw failure }
    }

    // MARK: Readers

    /// Begins to read the newest snapshot.
    func beginReading(_ user: EnvironmentUser) throws -> LMDBReadTransaction {
        var deadline: Date?
        while true {
            var idle = try enterReader(user)
            let (transaction, code) = startReader(&idle)
            if code == 0, let transaction { return transaction }
            leave()
            switch code {
            case MDB_READERS_FULL where deadline.map { $0 > Date() } ?? true:
                deadline = deadline ?? Date(timeIntervalSinceNow: timeout)
                freeReaderSlots()
            case MDB_MAP_RESIZED:
                try growForOthers()
            default:
                throw errors.error(code, "beginning to read")
            }
        }
    }

    /// Counts a reader in, and hands it a transaction to use again if there is one.
    private func enterReader(_ user: EnvironmentUser) throws -> LMDBReadTransaction? {
        state.lock()
        defer { state.unlock() }
        while holdsReadersBack { state.wait() }
        try check(user)
        activeCount += 1
        return idleReaders.popLast()
    }

    private func startReader(_ idle: inout LMDBReadTransaction?) -> (LMDBReadTransaction?, CInt) {
        // Somebody who holds on to a transaction that has ended must not find it running again.
        if idle != nil, !isKnownUniquelyReferenced(&idle) { idle = idle?.successor() }
        if let reader = idle { return (reader, reader.renew()) }
        var handle: OpaquePointer?
        let code = mdb_txn_begin(self.handle, nil, UInt32(MDB_RDONLY), &handle)
        guard code == 0, let handle else { return (nil, code) }
        return (LMDBReadTransaction(handle, self), 0)
    }

    /// Takes a reader back that has become idle, to be used again.
    func endReading(_ reader: LMDBReadTransaction) {
        state.lock()
        defer { state.unlock() }
        if userCount > 0, idleReaders.count < Self.maximumIdleReaders {
            idleReaders.append(reader)
        } else {
            reader.discard()
        }
        countOut()
    }

    /// Frees what slots can be freed in the full table of readers, and waits a little.
    private func freeReaderSlots() {
        var dead: CInt = 0
        mdb_reader_check(handle, &dead)
        state.lock()
        let idle = idleReaders
        idleReaders = []
        state.unlock()
        for reader in idle { reader.discard() }
        if dead == 0, idle.isEmpty { usleep(1_000) }
    }

    // MARK: Counting

    /// Counts a transaction out.
    func leave() {
        state.lock()
        countOut()
        state.unlock()
    }

    private func countOut() {
        activeCount -= 1
        guard activeCount == 0 else { return }
        if waitingForQuiet > 0 { state.broadcast() }
        if userCount == 0 { mdb_env_close(handle) }
    }

    // MARK: The writer

    /// Begins the one write transaction.
    ///
    /// - Parameters:
    ///   - user: Who begins it.
    ///   - seconds: How long to wait; nil for as long as whoever opened the file first.
    /// - Throws: `busy` when another writer does not finish in time.
    func beginWriting(_ user: EnvironmentUser, within seconds: Double?) throws -> LMDBWriteTransaction {
        let seconds = seconds ?? timeout
        let deadline = Date(timeIntervalSinceNow: seconds)
        try enterWriter(user, deadline, seconds)
        do {
            try FileLock.acquire(handle, deadline: deadline, errors: errors)
        } catch {
            leaveWriter()
            throw error
        }
        do {
            return LMDBWriteTransaction(try startWriter(deadline), self)
        } catch {
            FileLock.release(handle)
            leaveWriter()
            throw error
        }
    }

    private func enterWriter(_ user: EnvironmentUser, _ deadline: Date, _ seconds: Double) throws {
        state.lock()
        defer { state.unlock() }
        try check(user)
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
            try check(user)
        }
        writer = pthread_self()
        writeCount += 1
        guard writeCount % Self.writesBetweenReaderChecks == 0 else { return }
        var dead: CInt = 0
        mdb_reader_check(handle, &dead)
    }

    private func startWriter(_ deadline: Date) throws -> OpaquePointer {
        for _ in 0..<10 {
            state.lock()
            do {
                // Growing waits for readers of this process, which is not what somebody means who does not want to wait.
                try growIfNeeded(max(deadline, Date(timeIntervalSinceNow: 1)))
            } catch {
                state.unlock()
                throw error
            }
            activeCount += 1
            state.unlock()

            var transaction: OpaquePointer?
            let code = mdb_txn_begin(handle, nil, 0, &transaction)
            if code == 0, let transaction { return transaction }
            leave()
            guard code == MDB_MAP_RESIZED else { throw errors.error(code, "beginning to write") }
            state.lock()
            mustGrow = true
            state.unlock()
        }
        throw errors.error(MDB_MAP_RESIZED, "beginning to write")
    }

    private func leaveWriter() {
        state.lock()
        writer = nil
        state.broadcast()
        state.unlock()
    }

    /// Ends the write transaction, which LMDB has already ended.
    ///
    /// - Parameters:
    ///   - foundMapFull: Whether it met the end of the map.
    ///   - failure: Why nothing should be written any more; nil when all is well.
    func endWriting(foundMapFull: Bool, failure: StorageError?) {
        FileLock.release(handle)
        state.lock()
        writer = nil
        if foundMapFull { mustGrow = true }
        if let failure, self.failure == nil { self.failure = failure }
        countOut()
        state.broadcast()
        state.unlock()
    }
}
