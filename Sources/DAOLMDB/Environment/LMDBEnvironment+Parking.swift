import DAOSystemLMDB
import Dispatch

/// When idle readers of an environment keep their snapshots.
struct ReaderParking {
    /// The longest time for which they do, in milliseconds.
    fileprivate static let interval = 5
    /// How many reads it takes until they do. Fewer would not gain what the timer costs.
    fileprivate static let patience = 16

    /// Runs while the process reads.
    fileprivate var timer: (any DispatchSourceTimer)?
    /// The number of reads since the timer has stopped.
    fileprivate var reads = 0
}

// Beginning a read transaction and looking up the roots of the trees takes LMDB as long as finding a row. While a process
// reads, an idle reader therefore keeps its snapshot, and the next read goes on with it when no commit has been made since. All
// snapshots are given up every 5 ms, and before each write transaction of the process, so that pages can be reused. While that
// runs, idle readers keep the snapshot that it changes: no page of it can be reused before the next one. All functions are called
// with `state` locked, unless their comment says otherwise.
extension LMDBEnvironment {
    /// The number of the last commit of any process, which need not be reported as made yet. Called without the lock.
    var lastCommit: UInt64 {
        var information = MDB_envinfo()
        mdb_env_info(handle, &information)
        return UInt64(information.me_last_txnid)
    }

    /// Notes the end of a read while idle readers do not keep their snapshots, and returns which ones they keep now. Called
    /// without the lock.
    func noteEnd() -> ReaderLanes.Kept {
        state.lock()
        defer { state.unlock() }
        parking.reads += 1
        // Without LMDB's lock file, a snapshot is nobody's to keep.
        guard parking.timer == nil, parking.reads >= ReaderParking.patience, isLocked, userCount > 0 else { return .none }
        let timer = DispatchSource.makeTimerSource(flags: .strict, queue: .global(qos: .userInitiated))
        timer.schedule(
            deadline: .now() + .milliseconds(ReaderParking.interval), repeating: .milliseconds(ReaderParking.interval),
            leeway: .nanoseconds(0))
        timer.setEventHandler { [weak self] in self?.parkingTimeIsOver() }
        parking.timer = timer
        decideOnSnapshots()
        timer.resume()
        return readers.kept
    }

    /// Tells readers what to do with their snapshots when they end.
    func decideOnSnapshots() {
        guard parking.timer != nil else { return readers.keep(.asked) }
        guard writer != nil else { return readers.keep(.all) }
        readers.keep(changedSnapshot.map { ReaderLanes.Kept(rawValue: $0) } ?? .none)
    }

    /// Lets all idle readers give up their snapshots.
    func unparkReaders() {
        if parking.timer != nil { readers.idle.forEach { $0.unpark() } }
    }

    /// Lets idle readers give up their snapshots from now on, until the process reads again.
    func stopParking() {
        readers.keep(.asked)
        unparkReaders()
        parking.timer?.cancel()
        parking = ReaderParking()
    }

    /// Called without the lock.
    private func parkingTimeIsOver() {
        state.lock()
        defer { state.unlock() }
        guard parking.timer != nil else { return }
        if readers.takeUse() { unparkReaders() } else { stopParking() }
    }
}
