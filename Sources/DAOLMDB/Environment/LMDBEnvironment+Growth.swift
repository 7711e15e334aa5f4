import DAOCore
import DAOSystemLMDB
import Foundation

// The map is replaced by a larger map only when no transaction of this process runs: pointers into the old
// map would become invalid. All functions here are called with `state` locked, unless their comment says
// otherwise.
extension LMDBEnvironment {

    /// The fraction of the timeout during which new readers can begin. Afterwards new readers are held back,
    /// so that the running readers are the last.
    private static let patientPart = 0.1
    /// The time to wait for readers, in seconds, when the map is not yet full.
    private static let shortWait = 0.1

    /// A size in whole pages of any machine, as LMDB requires.
    static func wholePages(_ size: Int) -> Int {
        let page = 65536
        return max(page, size > Int.max - page ? Int.max / page * page : (size + page - 1) / page * page)
    }

    /// Grows the map if the last writer found it full, or if more than half of it is in use and no readers
    /// prevent it.
    func growIfNeeded(_ deadline: Date) throws {
        if mustGrow {
            try growWhenQuiet(deadline)
            mustGrow = false
        } else if usedSize > growthMark {
            growAhead()
        }
    }

    /// Grows the map before it is full, unless long readers prevent it.
    private func growAhead() {
        do {
            try growWhenQuiet(Date(timeIntervalSinceNow: min(timeout, Self.shortWait)))
        } catch {
            // Growth is not required yet. The next attempt is made when half of the remaining space is used,
            // so that few writers wait.
            growthMark = usedSize + (mapSize - usedSize) / 2
        }
    }

    /// Adapts the map to a file that another process has made larger. Called without the lock.
    func growForOthers() throws {
        state.lock()
        defer { state.unlock() }
        try growWhenQuiet(Date(timeIntervalSinceNow: timeout), if: usedSize > mapSize)
    }

    /// The number of used bytes of the file.
    var usedSize: Int {
        var information = MDB_envinfo()
        mdb_env_info(handle, &information)
        return (information.me_last_pgno + 1) * pageSize
    }

    /// Grows the map as soon as no transaction runs.
    ///
    /// - Parameters:
    ///   - deadline: When to give up.
    ///   - isNeeded: Whether the map must grow; asked again after the wait, since another thread can have done it.
    private func growWhenQuiet(_ deadline: Date, if isNeeded: @autoclosure () -> Bool = true) throws {
        guard isNeeded() else { return }
        // This closes the lanes of readers.
        waitingForQuiet += 1
        var isHolding = false
        defer {
            waitingForQuiet -= 1
            if isHolding { letReadersGo() }
        }
        let patience = max(0, deadline.timeIntervalSinceNow) * Self.patientPart
        let patientDeadline = Date(timeIntervalSinceNow: patience)
        while readers.running.count > 0 {
            if !isHolding, Date() >= patientDeadline {
                isHolding = true
                holdsOnReaders += 1
            }
            guard Date() < deadline else {
                throw errors.error(
                    .outOfSpace,
                    "the address range of the file must grow, and reads that run all the time prevent it; "
                        + "end them, or open the database with a larger mapSize")
            }
            _ = state.wait(until: isHolding ? deadline : patientDeadline)
        }
        if let failure { throw failure }
        if isNeeded() { try grow() }
    }

    /// Lets the readers begin that one thread has held back.
    func letReadersGo() {
        holdsOnReaders -= 1
        if holdsOnReaders == 0 { state.broadcast() }
    }

    private func grow() throws {
        unparkReaders()
        let target = Self.wholePages(max(mapSize * 2, usedSize * 2))
        try probe(target - mapSize)
        let code = mdb_env_set_mapsize(handle, target)
        guard code == 0 else {
            // LMDB releases the old map before it requests the new map, so there is no map now.
            let failure = errors.error(code, "making the address range of the database larger")
            self.failure = failure
            throw failure
        }
        mapSize = target
        growthMark = target / 2
    }

    /// Checks that an address range of this size is available.
    private func probe(_ size: Int) throws {
        let range = mmap(nil, size, PROT_NONE, MAP_PRIVATE | CInt(MAP_ANONYMOUS) | CInt(MAP_NORESERVE), -1, 0)
        guard let range, range != MAP_FAILED else {
            throw errors.error(errno, "making the address range of the database larger by \(size) bytes")
        }
        munmap(range, size)
    }
}
