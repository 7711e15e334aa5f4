import DAOCore
import DAOSQL
import DAOSystemSQLite
import Dispatch

/// A read transaction that an engine keeps open while its process reads, so that other read transactions begin and end
/// without a system call.
///
/// SQLite counts the locks of a process on the index of the log, and asks the operating system only for the first lock and
/// for the release of the last. No rows are read in the parked transaction: every read begins its own, on the last commit, or goes
/// on with the snapshot of the read before it on its connection when there was no commit since. No connection keeps a snapshot
/// longer than the parked transaction.
///
/// The transaction is begun again every 5 ms and after each commit of the process, and ends when the process has not read in the
/// meantime. It ends before a commit that can begin the log anew or is to move it into the file. It is not begun while another
/// process moves the log into the file, or while the log is longer than its limit and has pages that are not in the file.
final class ParkedReader: Sendable {
    /// The longest duration of the transaction, in milliseconds.
    private static let interval = 5
    /// How many reads begin the transaction. Fewer would not gain what its thread costs.
    private static let patience = 16
    /// The limit of the log, in pages: SQLite then moves it into the file after each commit.
    private static let longestLog: UInt32 = 1000
    /// With how many pages fewer the log is so near to its limit that a commit may reach it.
    private static let margin: UInt32 = 100

    private struct State {
        var connection: SQLiteConnection?
        /// A descriptor of the index of the log, which belongs to SQLite. It is valid as long as the connection.
        var index: CInt?
        /// Runs while the process reads.
        var timer: (any DispatchSourceTimer)?
        /// How many closures of ``without(_:)`` are running.
        var pauses = 0
        var isClosed = false
        /// The number of transactions that were begun.
        var begun = 0
        /// Ends the snapshots that idle connections have kept.
        var endSnapshots: (@Sendable () -> Void)?
    }

    private let state = Lock(State())
    private let queue = DispatchQueue(label: "dao.parked", qos: .userInitiated)
    /// The number of reads since the timer has stopped.
    private let reads = Atomic(0)
    private let isRunning = Atomic(false)
    /// Whether the process has read since the timer last fired.
    private let isUsed = Atomic(false)
    private let begun = Atomic(0)

    /// The number of the transaction that is open now; zero when none is.
    // Sequentially consistent, so that a connection that has kept a snapshot sees that there is no transaction any more, or whoever
    // ends it finds the connection.
    @inline(__always) var number: Int { begun.load(ordering: .sequentiallyConsistent) }

    /// Whether the transaction is open now.
    var isParked: Bool { number != 0 }

    /// Sets what ends the snapshots that idle connections have kept.
    func useToEndSnapshots(_ end: @escaping @Sendable () -> Void) { state.withLock { $0.endSnapshots = end } }

    /// Notes a read of the process, on a connection of an engine.
    @inline(__always) func didRead(on engine: SQLiteEngine) {
        if isRunning.load(ordering: .relaxed) {
            // Many threads read; a store each would move the memory between the processors.
            if !isUsed.load(ordering: .relaxed) { isUsed.store(true, ordering: .relaxed) }
        } else if reads.add(1, ordering: .relaxed).newValue >= Self.patience {
            start(on: engine)
        }
    }

    /// Ends the transaction before a commit of the process, unless the log only grows.
    func willCommit() {
        guard isParked else { return }
        state.withLock { state in
            if let log = state.connection.flatMap({ LogIndex($0.handle) }), log.pages > log.movedPages,
                log.pages < Self.longestLog - Self.margin
            {
                return
            }
            end(state)
        }
    }

    /// Begins the transaction again after a commit of the process: readers of that share no lock with those of earlier ones.
    func didCommit() {
        guard isRunning.load(ordering: .relaxed) else { return }
        state.withLock { state in
            // Nobody goes on with a snapshot from before the commit.
            endTransaction(state)
            // The timer tries again.
            if state.timer != nil, state.connection != nil { try? begin(&state) }
        }
    }

    /// Runs a closure that needs all of the log. The transaction ends before it, and is not begun before its end.
    func without<Result>(_ body: () throws -> Result) rethrows -> Result {
        state.withLock { state in
            end(state)
            state.pauses += 1
        }
        defer { state.withLock { $0.pauses -= 1 } }
        return try body()
    }

    /// Lets later reads begin the transaction again that ``close()`` has ended.
    func mayBegin() { state.withLock { $0.isClosed = false } }

    /// Ends the transaction, closes its connection, and lets no read begin it again.
    func close() {
        state.withLock { state in
            stop(&state)
            state.connection = nil
            state.isClosed = true
        }
    }

    private func start(on engine: SQLiteEngine) {
        state.withLock { state in
            reads.store(0, ordering: .relaxed)
            guard state.timer == nil, !state.isClosed else { return }
            let timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
            timer.schedule(deadline: .now(), repeating: .milliseconds(Self.interval), leeway: .nanoseconds(0))
            timer.setEventHandler { [weak self, weak engine] in
                if let engine { self?.renew(on: engine) }
            }
            state.timer = timer
            isUsed.store(true, ordering: .relaxed)
            isRunning.store(true, ordering: .relaxed)
            timer.resume()
        }
    }

    private func stop(_ state: inout State) {
        end(state)
        state.timer?.cancel()
        state.timer = nil
        isRunning.store(false, ordering: .relaxed)
    }

    private func renew(on engine: SQLiteEngine) {
        state.withLock { state in
            guard state.timer != nil else { return }
            end(state)
            guard isUsed.exchange(false, ordering: .relaxed) else { return stop(&state) }
            do {
                try open(&state, on: engine)
                try begin(&state)
            } catch {
                // Reads work without it. What cannot be opened now is not tried again.
                if state.connection == nil {
                    stop(&state)
                    state.isClosed = true
                }
            }
        }
    }

    private func open(_ state: inout State, on engine: SQLiteEngine) throws {
        guard state.connection == nil, let connection = try engine.connect(.read) as? SQLiteConnection else { return }
        // Commits of the process wait while this object is locked.
        sqlite3_busy_timeout(connection.handle, 0)
        // The first read maps the index of the log.
        _ = try connection.schemaVersion()
        state.connection = connection
        state.index = FileIdentity(connection.index).flatMap { FileIdentity.descriptors(of: [$0]).first }
    }

    private func begin(_ state: inout State) throws {
        guard state.pauses == 0, let connection = state.connection, let index = state.index,
            let log = LogIndex(connection.handle), log.pages <= Self.longestLog || log.pages == log.movedPages,
            ProcessLock.isHeldElsewhere(index, in: LogIndex.checkpoint) == false
        else { return }
        try connection.beginReading()
        state.begun += 1
        begun.store(state.begun, ordering: .sequentiallyConsistent)
    }

    private func end(_ state: State) {
        endTransaction(state)
        state.endSnapshots?()
    }

    private func endTransaction(_ state: State) {
        guard isParked else { return }
        begun.store(0, ordering: .sequentiallyConsistent)
        state.connection?.rollback()
    }
}
