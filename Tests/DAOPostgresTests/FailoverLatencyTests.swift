import DAOCore
import DAOPostgres
import DAOTestSupport
import Foundation
import Testing

/// A primary is killed while clients write, read and observe, its standby is promoted, and the killed one becomes the new
/// standby. `make failover` does it 50 times; `SEED=…` repeats the moments.
@Suite("L1, T6 · A fail-over loses no commit and repeats none", .enabled(if: Server.isThere, "there is no server"))
struct FailoverLatencyTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let rounds = environment["ROUNDS"].flatMap { Int($0) }
    private static let seed = environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)

    @Test func noCommitIsLostOrRepeated() async throws {
        try await onThread {
            let cluster = try Cluster()
            defer { cluster.remove() }
            let url = cluster.newURL("target_session_attrs=read-write&connect_timeout=1")
            try Self.failOver(cluster, [url, url + "&writers=many&pool=12", url + "&reads=standby"])
        }
    }

    /// The clients know the pooler alone, which is told of the new primary.
    @Test(.enabled(if: PgBouncer.isThere, "there is no PgBouncer"))
    func noCommitIsLostOrRepeatedBehindAPooler() async throws {
        try await onThread {
            let cluster = try Cluster()
            defer { cluster.remove() }
            let pooler = try PgBouncer(port: cluster.port, settings: "server_login_retry = 1")
            let url = pooler.newURL("pooler=transaction&connect_timeout=1")
            try Self.failOver(cluster, [url, url + "&writers=many&pool=12", url + "&pool=7"], pooler)
        }
    }

    /// Runs clients of three databases during the fail-overs of a cluster.
    private static func failOver(_ cluster: Cluster, _ urls: [String], _ pooler: PgBouncer? = nil) throws {
        var random = SeededGenerator(seed: seed)
        // The log goes on where books are written that say nothing of it.
        let logging = try DatabaseDrivers(.postgres).open(urls[0])
        _ = try logging.storage(for: LoggedBook.self)
        try logging.close()
        let databases = try urls.map { try DatabaseDrivers(.postgres).open($0) }
        let (one, many, third) = (databases[0], databases[1], databases[2])
        // The number of transactions that were stored.
        try one.books.create(Book(id: 0, title: "0", shelf: nil))

        let run = FailoverRun()
        let observers = try databases.map { database in
            let books = try database.books
            return Task { await run.observe(books) }
        }
        let threads = DispatchGroup()
        for (number, database) in [one, one, third, many, many, many].enumerated() {
            threads.start { try run.write(to: database, writer: number + 1) }
        }
        for database in databases { threads.start { try run.read(from: database) } }
        let consumer = DispatchGroup()
        consumer.start { try run.consume(from: many) }

        run.waitForObservations(observers.count)
        do {
            for round in 1...(rounds ?? 2) {
                run.begin(round)
                usleep(UInt32(random.below(400_000)))
                try cluster.killPrimary()
                run.didKill()
                // Sometimes nobody can be asked in time.
                if round % 10 == 2 { usleep(1_500_000) }
                run.willPromote()
                try cluster.promote()
                try pooler?.lead(to: cluster.port)
                run.waitForCommit()
                try cluster.addStandby()
                if run.hasFailed { break }
            }
        } catch {
            run.fail("\(error)")
        }
        run.stop()
        #expect(threads.wait(timeout: .now() + 90) == .success, "a writer or a reader does not end")
        run.writersHaveEnded()
        #expect(consumer.wait(timeout: .now() + 90) == .success, "a consumer of the log does not end")
        for observer in observers { observer.cancel() }

        let stored = try one.books.read()
        run.compare(with: Set(stored.map(\.id)).subtracting([0]), count: Int(stored.first?.title ?? ""))
        run.compareConsumed()
        for failure in Set(run.failures).sorted() { Issue.record("SEED=\(seed), \(failure)") }
        print("failover: \(run.summary), SEED=\(seed)")
        for database in databases { try database.close() }
    }
}

/// What the clients of a cluster know.
private final class FailoverRun: Sendable {
    private struct State {
        var round = 0
        var isOver = false
        var haveWritersEnded = false
        var failures: [String] = []
        /// The numbers of the acknowledged writes.
        var stored: Set<Int> = []
        /// The last of them, and their number; those of the client that reads from standbys also for themselves.
        var newest = [false: 0, true: 0]
        var count = [false: 0, true: 0]
        /// How many reads had to be done again.
        var failedReads = [false: 0, true: 0]
        /// How many of them are transactions.
        var transactions = 0
        /// The highest number of transactions that an observation has delivered.
        var observed = 0
        /// How often each row was inserted in the log that a consumer has read, and how many changes it has read.
        var consumed: [Int: Int] = [:]
        var changes = 0
        /// How many observations have delivered. Only those have to go on without a server.
        var observing = 0
        /// The end of the last kill, and the beginning of the last promotion, until a commit has followed.
        var kill: ContinuousClock.Instant?
        var promotion: ContinuousClock.Instant?
        /// From the kill to the first commit that began after it, and from the promotion.
        var gaps: [(kill: Duration, promotion: Duration)] = []
        /// How often the library threw each kind of error, how often it has found out that a cut commit is stored, and what
        /// became of those that it could not find out.
        var errors: [String: Int] = [:]
        var decided = 0
        var outcomes: [CommitOutcome: Int] = [:]
    }

    private let state = Lock(State())

    /// How long a client may go without an answer that it can use.
    private static let limit = Duration.seconds(60)

    // MARK: Rounds

    func begin(_ round: Int) { state.withLock { $0.round = round } }

    func didKill() { state.withLock { $0.kill = .now } }

    func willPromote() { state.withLock { $0.promotion = .now } }

    /// Waits until the first commit after the promotion has been observed.
    func waitForCommit() {
        let deadline = ContinuousClock.now + Self.limit
        var count: Int?
        while !hasFailed {
            let isDone = state.withLock { state in
                guard state.kill == nil else { return false }
                let target = count ?? state.transactions
                count = target
                return state.observed >= target
            }
            if isDone { return }
            if .now > deadline { return fail(count == nil ? "nobody commits any more" : "nobody observes any more") }
            usleep(1000)
        }
    }

    func stop() { state.withLock { $0.isOver = true } }

    func writersHaveEnded() { state.withLock { $0.haveWritersEnded = true } }

    var isOver: Bool { state.withLock { $0.isOver } }

    // MARK: Failures

    func fail(_ message: String) { state.withLock { $0.failures.append("round \($0.round): \(message)") } }

    var hasFailed: Bool { state.withLock { !$0.failures.isEmpty } }

    var failures: [String] { state.withLock { $0.failures } }

    // MARK: Clients

    /// Writes numbers, each with a transaction or a single call, until the run is over.
    func write(to database: any Database, writer: Int) throws {
        let postgres = try #require(database as? PostgresDatabase)
        let books = try database.books
        var number = 0
        while !isOver {
            number += 1
            let id = writer * 1_000_000 + number
            let book = Book(id: id, title: "\(id)", shelf: nil)
            let isCounted = number % 2 == 0
            try untilItWorks(postgres, id, isCounted: isCounted) {
                guard isCounted else { return try books.create(book) }
                try database.transaction {
                    try books.create(book)
                    let count = try #require(try books.read(byPrimaryKey: 0))
                    try books.persist(Book(id: 0, title: "\((Int(count.title) ?? -1) + 1)", shelf: nil))
                }
            }
            usleep(1000)
        }
    }

    /// Does what the errors advise until a write is stored.
    private func untilItWorks(
        _ database: PostgresDatabase, _ id: Int, isCounted: Bool, _ body: () throws -> Void
    ) throws {
        let deadline = ContinuousClock.now + Self.limit
        while .now < deadline {
            let start = ContinuousClock.now
            do {
                try body()
                return didStore(id, in: database, isCounted: isCounted, since: start)
            } catch let error as StorageError {
                note(error)
                switch error.kind {
                case .unreachable, .conflict: usleep(5000)
                case .outcomeUnknown:
                    guard let outcome = try outcome(of: error, database) else { return }
                    if outcome == .committed { return didStore(id, in: database, isCounted: isCounted, since: nil) }
                default: return fail("write \(id): \(error)")
                }
            }
        }
        fail("write \(id) was not stored in \(Self.limit)")
    }

    /// Asks for the outcome of a commit until it is told.
    private func outcome(of error: StorageError, _ database: PostgresDatabase) throws -> CommitOutcome? {
        let deadline = ContinuousClock.now + Self.limit
        while .now < deadline {
            do {
                let outcome = try database.outcome(of: error.commitToken ?? "")
                state.withLock { $0.outcomes[outcome, default: 0] += 1 }
                return outcome
            } catch let error as StorageError where error.kind == .unreachable || error.kind == .busy {
                usleep(20_000)
            }
        }
        fail("the outcome of \(error.commitToken ?? "-") was not told in \(Self.limit)")
        return nil
    }

    /// Reads what is acknowledged, until the run is over. A standby may not yet have what other clients have written.
    func read(from database: any Database) throws {
        let books = try database.books
        let isOwn = Self.readsFromStandby(database)
        var deadline = ContinuousClock.now + Self.limit
        while !isOver {
            let (newest, count) = state.withLock { ($0.newest[isOwn] ?? 0, $0.count[isOwn] ?? 0) }
            do {
                if newest != 0, try books.read(byPrimaryKey: newest) == nil {
                    fail("the acknowledged write \(newest) is not there")
                }
                let found = try books.count()
                if found < count + 1 { fail("\(count) writes were acknowledged, and \(found - 1) are there") }
                deadline = .now + Self.limit
            } catch let error as StorageError where error.kind == .unreachable && .now < deadline {
                state.withLock { $0.failedReads[isOwn, default: 0] += 1 }
                usleep(5000)
            }
            usleep(2000)
        }
    }

    /// Reads the log of changes until the writers have ended and all of their changes are read.
    func consume(from database: any Database) throws {
        var last: LogPosition?
        var deadline = ContinuousClock.now + Self.limit
        while true {
            do {
                // Nothing is written after the writers have ended, so that what is pending before the read is all there is.
                let isLast = try state.withLock(\.haveWritersEnded) && database.pendingChanges() == 0
                let changes = try database.changes(after: last, limit: 200)
                deadline = .now + Self.limit
                if isLast && changes.isEmpty { return }
                state.withLock { state in
                    for change in changes where change.kind == .inserted {
                        state.consumed[Int(change.key.rawValue) ?? -1, default: 0] += 1
                    }
                    state.changes += changes.count
                }
                last = changes.last?.position ?? last
                if changes.count < 200 { usleep(2000) }
            } catch let error as StorageError where error.kind == .unreachable && .now < deadline {
                usleep(5000)
            }
        }
    }

    /// Observes the number of transactions, until the task is cancelled.
    func observe(_ books: DAO<Book>) async {
        var last = 0
        var hasDelivered = false
        do {
            for try await book in books.observe(byPrimaryKey: 0) {
                if !hasDelivered {
                    hasDelivered = true
                    state.withLock { $0.observing += 1 }
                }
                let count = Int(book?.title ?? "") ?? -1
                if count < last { fail("\(last) transactions were observed, and then \(count)") }
                last = count
                state.withLock { $0.observed = max($0.observed, count) }
            }
        } catch is CancellationError {
            return
        } catch {
            fail("an observation ended: \(error)")
        }
    }

    /// Waits until a number of observations have delivered.
    func waitForObservations(_ count: Int) {
        let end = ContinuousClock.now + Self.limit
        while state.withLock({ $0.observing < count && $0.failures.isEmpty }) {
            if .now > end { return fail("an observation did not begin within \(Self.limit)") }
            usleep(1_000)
        }
    }

    private func note(_ error: StorageError) { state.withLock { $0.errors["\(error.kind)", default: 0] += 1 } }

    private static func readsFromStandby(_ database: any Database) -> Bool {
        database.configuration.options["reads"] == "standby"
    }

    private func didStore(
        _ id: Int, in database: any Database, isCounted: Bool, since start: ContinuousClock.Instant?
    ) {
        state.withLock { state in
            state.stored.insert(id)
            for isOwn in Set([false, Self.readsFromStandby(database)]) {
                state.newest[isOwn] = id
                state.count[isOwn, default: 0] += 1
            }
            if isCounted { state.transactions += 1 }
            guard let start, let kill = state.kill else { return }
            if start < kill {
                state.decided += 1
            } else if let promotion = state.promotion {
                state.gaps.append((.now - kill, .now - promotion))
                (state.kill, state.promotion) = (nil, nil)
            }
        }
    }

    // MARK: Results

    /// Compares what was acknowledged with what is stored.
    func compare(with found: Set<Int>, count: Int?) {
        let (stored, transactions) = state.withLock { ($0.stored, $0.transactions) }
        if let lost = stored.subtracting(found).min() {
            fail("\(stored.subtracting(found).count) commits are lost, such as \(lost)")
        }
        if let other = found.subtracting(stored).min() {
            fail("\(found.subtracting(stored).count) writes are there that were not acknowledged, such as \(other)")
        }
        if count != transactions { fail("\(transactions) transactions were acknowledged, and \(count ?? -1) were stored") }
    }

    /// Compares what was acknowledged with what a consumer of the log has read.
    func compareConsumed() {
        let (stored, consumed) = state.withLock { ($0.stored, $0.consumed) }
        let found = Set(consumed.keys).subtracting([0])
        if let lost = stored.subtracting(found).min() { fail("the consumer of the log has not read the write \(lost)") }
        if let other = found.subtracting(stored).min() {
            fail("the consumer of the log has read the write \(other), which is not stored")
        }
        if let twice = consumed.first(where: { $0.value != 1 }) {
            fail("the consumer of the log has read the write \(twice.key) \(twice.value) times")
        }
    }

    var summary: String {
        state.withLock { state in
            func milliseconds(_ durations: [Duration]) -> String {
                let sorted = durations.sorted().map { Int($0 / .milliseconds(1)) }
                return sorted.isEmpty ? "-" : "\(sorted[sorted.count / 2]) ms, at most \(sorted[sorted.count - 1]) ms"
            }
            let errors = state.errors.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
            return """
                \(state.round) rounds, \(state.stored.count) commits, \(state.changes) changes read from the log; from the kill to the next commit \
                \(milliseconds(state.gaps.map(\.kill))), from the promotion \(milliseconds(state.gaps.map(\.promotion))); \
                errors of writes: \(errors); reads done again: \(state.failedReads[false] ?? 0), with reads=standby \
                \(state.failedReads[true] ?? 0); after the kill \(state.decided) commits without an answer were found stored; later \
                \(state.outcomes[.committed] ?? 0) stored, \(state.outcomes[.rolledBack] ?? 0) not
                """
        }
    }
}

/// A book whose changes are logged.
private struct LoggedBook: Plain, Model {
    var id: Int
    var title: String
    var shelf: String?

    static let schema = Schema(
        "book", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .indexed), Field("shelf", \.shelf, .unique)
    ).logged()
}

extension DispatchGroup {
    /// Runs a closure on a thread of its own. Its error is an issue.
    fileprivate func start(_ body: @escaping @Sendable () throws -> Void) {
        enter()
        Thread.detachNewThread {
            do { try body() } catch { Issue.record(error) }
            self.leave()
        }
    }
}
